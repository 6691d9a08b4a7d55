"""Test what the selection does with noise in ParaNMT's format that is known line by line."""

import gzip
import re
import zipfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from configurations import checked, load
from pair_files import filter_files, settings_of
from test_corpus_merge import merge

from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs

MEMBER = "para-nmt-50m/para-nmt-50m.txt"
EVERY = 8


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def captions(mirror: Path, language: str) -> dict[str, set[Any]]:
    """The images that each caption belongs to; captions are compared by their words."""
    images = defaultdict(set)
    (data,) = mirror.glob("raw.githubusercontent.com/multi30k/dataset/*/data")
    for path in sorted(data.glob(f"task[12]/raw/*.{language}.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                images[words(line)].add((path.name.split(".")[0], number))
    return images


def kind(source: str, target: str, english: dict[str, set[Any]], german: dict[str, set[Any]]) -> str:
    one, other = source.split(), target.split()
    if len(one) == len(other) and one[:-1] == other[:-1]:
        return "near copy"
    if len(one) < 5 and one[: len(other)] == other:
        return "short"
    if any(words(text) in german and words(text) not in english for text in (source, target)):
        return "wrong language"
    return "paraphrase" if english[words(source)] & english[words(target)] else "mismatched"


@pytest.fixture(scope="module")
def noisy(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], list[str]]:
    """Every eighth block of the file, with the scores and the kind of each line."""
    folder = tmp_path_factory.mktemp("noise")
    with zipfile.ZipFile(mirror / "phontron.com/data/para-nmt-50m.zip") as archive:
        rows = archive.read(MEMBER).decode("utf-8").split("\n")[:-1]
    # Blocks of consecutive lines are taken, because a duplicate stands near its copy.
    rows = [row for block in range(0, len(rows), 800 * EVERY) for row in rows[block : block + 800]]
    rows += [row for row, count in Counter(rows).items() if count > 1]
    with zipfile.ZipFile(folder / "noisy.zip", "w") as archive:
        archive.writestr(MEMBER, "".join(f"{row}\n" for row in rows))
    file, languages = CorpusFile(folder / "noisy.zip", ("en",), (MEMBER,)), ("en", "en")
    extract_corpus("paranmt", [file], languages, folder / "pairs", max_member_bytes=1 << 30)
    lid = mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"
    text = TextSettings(segmentation={}, folding={}, lowercase=True)
    score_pairs(folder / "pairs", folder / "scored", languages=languages, identifier=lid, text=text)
    english, german = captions(mirror, "en"), captions(mirror, "de")
    return folder, rows, [kind(*row.split("\t")[:2], english, german) for row in rows]


@pytest.mark.slow("scores an eighth of a sample of ParaNMT")
@pytest.mark.parametrize("name", ["paper", "small"])
def test_noise_is_dropped_and_paraphrases_are_not(
    noisy: tuple[Path, list[str], list[str]], name: str
) -> None:
    folder, rows, kinds = noisy
    config, files = checked(load(name)), filter_files(folder)
    selection, languages = settings_of(config["selection"]["paraphrase"]), ("en", "en")
    select_pairs(
        [folder / "scored"], files, languages=languages, selection=selection,
        preparation={"lowercase": True}, seed=1, raw=True,
    )  # fmt: skip
    total = Counter(kinds)
    assert min(total[each] for each in ("wrong language", "near copy", "short", "mismatched")) > 400
    kept = Counter(kinds[line - 1] for line in pq.read_table(files.pairs)["line"].to_pylist())
    shares = {each: kept[each] / total[each] for each in total}
    assert max(shares["wrong language"], shares["short"]) <= 0.03
    # The paper has no filter of near copies, so those that share few trigrams remain.
    assert shares["near copy"] <= (0.1 if name == "paper" else 0.03)
    # These bounds are as strict as the corpus's own score allows.
    assert shares["mismatched"] < 0.3 < shares["paraphrase"]
    merged, pairs = merge(folder, [files.pairs], duplicates=config["duplicates"])
    assert merged["duplicates"] > 100
    texts = [rows[pair["line"] - 1] for pair in pairs]
    assert len(set(texts)) == len(texts)
