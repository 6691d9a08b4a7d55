"""Test what the selection does with noise in ParaNMT's format that is known line by line."""

import gzip
import re
import zipfile
from collections import Counter, defaultdict

import pyarrow.parquet as pq
import pytest
from configurations import checked, load
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from test_corpus_merge import merge

from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs

MEMBER = "para-nmt-50m/para-nmt-50m.txt"
EVERY = 8


def captions(mirror, language):
    """Return the images that each caption belongs to; captions are compared by their words."""
    images = defaultdict(set)
    (data,) = mirror.glob("raw.githubusercontent.com/multi30k/dataset/*/data")
    for path in sorted(data.glob(f"task[12]/raw/*.{language}.gz")):
        split = path.name.split(".")[0]
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                images[words(line)].add((split, number))
    return images


def words(text):
    return " ".join(re.findall(r"\w+", text.lower()))


def kind(source, target, english, german):
    one, other = source.split(), target.split()
    if len(one) == len(other) and one[:-1] == other[:-1]:
        return "near copy"
    if len(one) < 5 and one[: len(other)] == other:
        return "short"
    if any(words(text) in german and words(text) not in english for text in (source, target)):
        return "wrong language"
    same = english[words(source)] & english[words(target)]
    return "paraphrase" if same else "mismatched"


@pytest.fixture(scope="module")
def noisy(mirror, tmp_path_factory):
    """Every eighth block of the file, with the scores and the kind of each line."""
    folder = tmp_path_factory.mktemp("noise")
    with zipfile.ZipFile(mirror / "phontron.com/data/para-nmt-50m.zip") as archive:
        rows = archive.read(MEMBER).decode("utf-8").split("\n")[:-1]
    # Blocks of consecutive lines are taken, because a duplicate stands near its copy.
    rows = [row for block in range(0, len(rows), 800 * EVERY) for row in rows[block : block + 800]]
    rows += [row for row, count in Counter(rows).items() if count > 1]
    with zipfile.ZipFile(folder / "noisy.zip", "w") as archive:
        archive.writestr(MEMBER, "".join(f"{row}\n" for row in rows))
    file = CorpusFile(folder / "noisy.zip", ("en",), (MEMBER,))
    extract_corpus("paranmt", [file], ("en", "en"), folder / "pairs")
    score_pairs(
        folder / "pairs",
        folder / "scored",
        languages=("en", "en"),
        identifier=mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz",
        word_vectors=mirror / "www.cs.cmu.edu/~jwieting/paragram-phrase.txt.gz",
        text=TextSettings(segmentation={}, folding={}, lowercase=True),
    )
    english, german = captions(mirror, "en"), captions(mirror, "de")
    kinds = [kind(*row.split("\t")[:2], english, german) for row in rows]
    return folder, rows, kinds


@pytest.mark.slow("scores an eighth of a sample of ParaNMT")
@pytest.mark.parametrize("name", ["paper", "small"])
def test_noise_is_dropped_and_paraphrases_are_not(noisy, name, request):
    folder, rows, kinds = noisy
    config = checked(load(name))
    counts = select_pairs(
        [folder / "scored"],
        FilterFiles(folder / "selected", folder / "counts.json", folder / "dropped.tsv"),
        languages=("en", "en"),
        settings=config["selection"]["paraphrase"],
        preparation={"lowercase": True},
        seed=1,
        raw=True,
    )
    total = Counter(kinds)
    assert min(total[each] for each in ("wrong language", "near copy", "short", "mismatched")) > 400
    kept = Counter(kinds[line - 1] for line in pq.read_table(folder / "selected")["line"].to_pylist())
    for each in ("wrong language", "short"):
        assert kept[each] <= 0.03 * total[each], each
    # The paper has no filter of near copies, so those that share few trigrams remain.
    assert kept["near copy"] <= (0.1 if name == "paper" else 0.03) * total["near copy"]
    # These bounds are as strict as the score allows, which comes from small word vectors.
    assert kept["mismatched"] / total["mismatched"] < 0.3 < kept["paraphrase"] / total["paraphrase"]
    assert counts["dropped"]["language"] - total["wrong language"] <= 0.01 * total["paraphrase"]
    merged, pairs = merge(folder, [folder / "selected"], duplicates=config["duplicates"])
    assert merged["duplicates"] > 100
    texts = [rows[pair["line"] - 1] for pair in pairs]
    assert len(set(texts)) == len(texts)
