"""Test that every step of the way, from a corpus to a vector, treats hard texts as `hard_texts` wants it.

`test_exports` does so with the exports of models, and `test_rows` with the formats of tables.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hard_texts import NOTHING, TEXTS, HardText
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from small_models import model_of, trained

from paraphrastic.base.files import read_json
from paraphrastic.base.text import prepare_text
from paraphrastic.cli import main
from paraphrastic.model.average import AverageEncoder
from paraphrastic_pipeline.corpus.contamination import mark_contamination
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs
from paraphrastic_pipeline.corpus.testset_sentences import TestFile, gather_testsets
from paraphrastic_pipeline.corpus.text import as_read

PREPARATION: dict[str, Any] = {
    "segmentation": {}, "folding": {"ar": "marks", "ru": "yo", "tr": "dotted"}, "lowercase": True,
}  # fmt: skip
FOLDED = {key: PREPARATION[key] for key in ("folding", "lowercase")}
ALL, PLAIN = [each.text for each in TEXTS], [each.plain for each in TEXTS]
# Steps before sentencepiece see the same text.
EARLY = [each for each in TEXTS if not each.form]
named = pytest.mark.parametrize("hard", TEXTS, ids=lambda hard: hard.name)


@pytest.fixture(scope="module")
def model() -> AverageEncoder:
    """A model with random numbers that knows most characters of the texts, and the others by their bytes."""
    processor = trained(prepare_text(PLAIN, **PREPARATION), vocab_size=700, byte_fallback=True)
    return model_of(processor, gaps=False, config=PREPARATION)


def write(path: Path, lines: Sequence[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def prepared(texts: Sequence[str]) -> list[str]:
    """Texts as the model sees them; sentencepiece collapses spaces."""
    return [" ".join(text.split()) for text in prepare_text(texts, **PREPARATION)]


def selected(folder: Path, texts: Sequence[str], **settings: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scores of texts, and the text that training sees of those that the selection keeps."""
    files = [write(folder / "a.txt", texts), write(folder / "b.txt", ["a plain text"] * len(texts))]
    source = [CorpusFile(Path(path), (code,)) for path, code in zip(files, ("xx", "en"), strict=True)]
    extract_corpus("aligned", source, ("xx", "en"), folder / "pairs.parquet")
    score_pairs(
        folder / "pairs.parquet", folder / "scored.parquet", languages=("xx", "en"), identifier=None,
        word_vectors=None, text=TextSettings(segmentation={}, **FOLDED),
    )  # fmt: skip
    select_pairs(
        [folder / "scored.parquet"],
        FilterFiles(folder / "selected.parquet", folder / "counts.json", folder / "dropped.tsv"),
        languages=("xx", "en"), settings=settings, seed=1, preparation=PREPARATION,
    )  # fmt: skip
    return pd.read_parquet(folder / "scored.parquet"), pd.read_parquet(folder / "selected.parquet")


@named
def test_a_text_is_prepared_like_the_plain_one(hard: HardText) -> None:
    text, plain = prepared([hard.text, hard.plain])
    assert (text == plain) is not hard.form


def test_extraction_filters_and_training_see_plain_texts(tmp_path: Path) -> None:
    texts = [each.text for each in EARLY]
    scored, kept = selected(tmp_path, texts)
    assert kept["source"].to_list() == prepared([each.plain for each in EARLY])
    counts = dict(zip([each.name for each in EARLY], scored["source_tokens"].to_list(), strict=True))
    assert counts == {each.name: each.words for each in EARLY}
    # A filter counts the same.
    _, kept = selected(tmp_path, texts, length={"min": 6, "max": 100, "count": "first"})
    assert len(kept) == sum(each.words >= 6 for each in EARLY)


def test_texts_of_nothing_are_empty(tmp_path: Path, model: AverageEncoder) -> None:
    _, kept = selected(tmp_path, [*NOTHING, "a text"])
    assert kept["source"].to_list() == ["a text"]
    assert read_json(tmp_path / "counts.json")["dropped"]["empty"] == len(NOTHING)
    assert not model.embed_raw_text(NOTHING).any()


@pytest.mark.parametrize("hard", [each for each in TEXTS if each.language], ids=lambda hard: hard.name)
def test_the_language_is_that_of_the_plain_text(mirror: Path, hard: HardText) -> None:
    lid = LanguageIdentifier(mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz")
    found = lid.identify(as_read(prepare_text([hard.text, hard.plain], **FOLDED)), hard.language)
    assert found.probabilities[0] >= 0.1
    assert found.probabilities[0] == found.probabilities[1]


def test_contamination_finds_hard_texts(tmp_path: Path) -> None:
    # Tests have the plain texts and training the others, and the other way round.
    for texts, tests in ((ALL, PLAIN), (PLAIN, ALL)):
        selected(tmp_path, texts)
        test = TestFile("tatoeba", Path(write(tmp_path / "test.txt", tests)), ("xx", "en"))
        gather_testsets([test], tmp_path / "tests.parquet", segmentation={}, lowercase=True)
        mark_contamination(
            tmp_path / "selected.parquet", tmp_path / "tests.parquet", tmp_path / "found.parquet",
            counts=tmp_path / "c.json", examples=tmp_path / "e.tsv", near_duplicates=None, seed=1,
        )  # fmt: skip
        found = pd.read_parquet(tmp_path / "found.parquet").query("side == 'source'")["row"].to_list()
        assert [TEXTS[row].name for row in range(len(TEXTS)) if row not in found] == []


def test_commands_see_the_plain_texts(
    tmp_path: Path, model: AverageEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, plain = model.embed_raw_text(ALL), model.embed_raw_text(PLAIN)
    np.testing.assert_allclose(vectors, plain, rtol=0, atol=1e-5)
    distinct = list(dict.fromkeys(PLAIN))
    assert len(np.unique(model.embed_raw_text(distinct).round(4), axis=0)) == len(distinct)
    monkeypatch.chdir(tmp_path)
    model.write(Path("model"))
    write(Path("hard.txt"), ALL)
    write(Path("plain.txt"), distinct)
    write(Path("pairs.tsv"), ["\t".join(pair) for pair in zip(ALL, PLAIN, strict=True)])
    write(Path("both.txt"), [*distinct, *ALL])

    def run(command: str) -> list[list[str]]:
        assert main([*command.split(), "--model", "model"]) == 0
        path = Path("out.tsv")
        return (
            [line.split("\t") for line in path.read_text("utf-8").split("\n")[:-1]] if path.exists() else []
        )

    run("embed --input hard.txt --output hard.npy")
    np.testing.assert_allclose(np.load("hard.npy"), vectors, rtol=0, atol=1e-6)
    run("embed --input plain.txt --output plain.npy")
    scores = [float(score) for score, *_ in run("score --input pairs.tsv --output out.tsv")]
    np.testing.assert_allclose(scores, np.ones(len(ALL)), atol=1e-4)
    rows = run("search --index plain.npy --input hard.txt --output out.tsv --k 1")
    assert [distinct[int(row[-1]) - 1] for row in rows] == PLAIN
    mined = run("mine --source hard.txt --target plain.txt --output out.tsv --margin cosine --ids")
    assert len(mined) == len(distinct)
    assert all(distinct[int(row[-1]) - 1] == TEXTS[int(row[-2]) - 1].plain for row in mined)
    run("dedup --input both.txt --output kept.txt --threshold 0.9999")
    assert Path("kept.txt").read_text("utf-8").split("\n")[:-1] == distinct
    run("evaluate --pairs pairs.tsv --output figures.json")
    assert read_json("figures.json")["models"]
