"""Test that every step of the way, from a corpus to a vector, treats hard texts as `hard_texts` wants it."""

import argparse
import csv
import json
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import polars as pl
import pytest
import sentencepiece
from hard_texts import NOTHING, TEXTS, HardText

from paraphrastic import load_model
from paraphrastic.base.files import read_json
from paraphrastic.base.rows import Source
from paraphrastic.base.text import as_read, collapse_spaces, prepare_text
from paraphrastic.cli import build_parser
from paraphrastic.interop.export import export_model
from paraphrastic.interop.formats import FORMATS
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.embed_files import embed_file, score_file
from paraphrastic.neighbours.dedup_files import dedup_file
from paraphrastic.neighbours.mine_files import MiningOptions, mine_files
from paraphrastic.neighbours.search_files import Index, SearchOptions, search_files
from paraphrastic.quality.evaluate_files import evaluate_pairs
from paraphrastic.quality.labelled_pairs import read_pairs
from paraphrastic.systems.open import system_of
from paraphrastic_pipeline.corpus.contamination import mark_contamination
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier
from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs
from paraphrastic_pipeline.corpus.sentence_groups import Drawing
from paraphrastic_pipeline.corpus.testset_sentences import TestFile, gather_testsets
from paraphrastic_pipeline.registry.datasets import KINDS
from paraphrastic_pipeline.training.vocabulary import train_sentencepiece

PREPARATION: dict[str, Any] = {
    "segmentation": {}, "folding": {"ar": "marks", "ru": "yo", "tr": "dotted"}, "lowercase": True,
}  # fmt: skip
FOLDED = {key: PREPARATION[key] for key in ("folding", "lowercase")}
ALL, PLAIN = [each.text for each in TEXTS], [each.plain for each in TEXTS]
# Steps before sentencepiece see the same text.
EARLY = [each for each in TEXTS if not each.form]
named = pytest.mark.parametrize("hard", TEXTS, ids=lambda hard: hard.name)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> AverageEncoder:
    """A model with random numbers that knows most characters of the texts, and the others by their bytes."""
    lines = [*prepare_text(PLAIN, **PREPARATION), "dogs and cats", "people live here"] * 20
    content = train_sentencepiece(
        iter(lines), "", model_type="unigram", vocab_size=700, hard_vocab_limit=False, byte_fallback=True,
        character_coverage=0.98,
    )  # fmt: skip
    processor = sentencepiece.SentencePieceProcessor(model_proto=content)
    size = processor.get_piece_size()
    generator = np.random.default_rng(0)
    table = generator.normal(size=(size, 32)).astype(np.float32)
    known = np.arange(size) >= 3
    config = {"model": "hard", "languages": ["en"], "unit": "subword", **PREPARATION}
    return AverageEncoder(table, known, table[0], processor, config)


def write(path: Path, lines: Sequence[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def pairs_of(folder: Path, texts: Sequence[str]) -> Path:
    """Extract a corpus of two files whose second side is plain."""
    files = [write(folder / "a.txt", texts), write(folder / "b.txt", ["a plain text"] * len(texts))]
    source = [CorpusFile(Path(path), (language,)) for path, language in zip(files, ("xx", "en"), strict=True)]
    extract_corpus("aligned", source, ("xx", "en"), folder / "pairs.parquet", max_member_bytes=1 << 20)
    return folder / "pairs.parquet"


def zipped(path: Path, **members: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)


def corpus_of(kind: str, folder: Path, texts: Sequence[str]) -> tuple[list[CorpusFile], tuple[str, str]]:
    """The files of a corpus of a kind whose sources are the texts, and the languages of its sides."""
    # Tatoeba's files have English first.
    codes = ("en", "xx") if kind == "manythings" else ("xx", "en")
    if kind in ("captions", "groups", "paranmt", "text"):
        codes = ("xx", "xx")
    if kind in ("aligned", "captions", "groups"):
        files = [Path(write(folder / f"{side}.txt", texts)) for side in "ab"]
        if kind != "captions":
            files[1].write_text("a plain text\n" * len(texts))
        members = ("lines:*.txt",) if kind == "groups" else ()
        return [CorpusFile(path, (code,), members) for path, code in zip(files, codes, strict=True)], codes
    path = folder / f"c.{kind}"
    if kind == "opus":
        zipped(path, **{"c.xx": "".join(f"{text}\n" for text in texts), "c.en": "plain\n" * len(texts)})
        return [CorpusFile(path, codes, ("c.xx", "c.en"))], codes
    if kind == "manythings":
        zipped(path, **{"c.txt": "".join(f"a plain text\t{text}\n" for text in texts)})
        return [CorpusFile(path, codes, ("c.txt",))], codes
    columns = "".join(f"{text}\ta plain text\t0.5\n" for text in texts)
    if kind == "paranmt":
        zipped(path, **{"c.txt": columns})
        return [CorpusFile(path, ("xx",), ("c.txt",))], codes
    if kind == "text":
        return [CorpusFile(Path(write(path, texts)), ("xx",))], codes
    if kind == "tsv":
        path.write_text(columns, encoding="utf-8")
    elif kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([text, "a plain text", "0.5"] for text in texts)
    elif kind == "jsonl":
        rows = (json.dumps({"xx": text, "en": "a plain text"}, ensure_ascii=False) for text in texts)
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    elif kind == "parquet":
        pl.DataFrame({"xx": texts, "en": ["a plain text"] * len(texts)}).write_parquet(path)
    else:
        units = (
            f'<tu><tuv xml:lang="xx"><seg>{escape(text)}</seg></tuv>'
            '<tuv xml:lang="en"><seg>a plain text</seg></tuv></tu>'
            for text in texts
        )
        path.write_text(f'<tmx version="1.4"><body>{"".join(units)}</body></tmx>', encoding="utf-8")
    return [CorpusFile(path, codes)], codes


def selected(folder: Path, texts: Sequence[str], **settings: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The scores of texts, and the text that training sees of those that the selection keeps."""
    score_pairs(
        pairs_of(folder, texts), folder / "scored.parquet", languages=("xx", "en"), identifier=None,
        word_vectors=None, text=TextSettings(segmentation={}, **FOLDED),
    )  # fmt: skip
    select_pairs(
        [folder / "scored.parquet"],
        FilterFiles(folder / "selected.parquet", folder / "counts.json", folder / "dropped.tsv"),
        languages=("xx", "en"), settings=settings, seed=1,
        preparation=PREPARATION,
    )  # fmt: skip
    return pl.read_parquet(folder / "scored.parquet"), pl.read_parquet(folder / "selected.parquet")


def assert_alike(ours: Any, theirs: Any) -> None:
    for hard, first, second in zip(TEXTS, ours, theirs, strict=True):
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-5, err_msg=hard.name)


@named
def test_a_text_is_prepared_like_the_plain_one(hard: HardText) -> None:
    text, plain = collapse_spaces(prepare_text([hard.text, hard.plain], **PREPARATION))
    assert (text == plain) is not hard.form


def test_extraction_filters_and_training_see_plain_texts(tmp_path: Path) -> None:
    texts = [each.text for each in EARLY]
    scored, kept = selected(tmp_path, texts)
    assert kept["source"].to_list() == collapse_spaces(prepare_text([e.plain for e in EARLY], **PREPARATION))
    counts = dict(zip([each.name for each in EARLY], scored["source_tokens"].to_list(), strict=True))
    assert counts == {each.name: each.words for each in EARLY}
    # A filter counts the same.
    for least in (4, 6, 12):
        _, kept = selected(tmp_path, texts, length={"min": least, "max": 100, "count": "first"})
        assert len(kept) == sum(each.words >= least for each in EARLY)


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.is_corpus])
def test_every_kind_of_corpus_gives_the_plain_texts(tmp_path: Path, kind: str) -> None:
    texts = [each.text for each in EARLY]
    if kind == "tmx":
        # XML allows no control characters, whatever program writes it.
        texts = [text for text in texts if not set(text) & set(map(chr, [*range(32), 127, 0x85]))]
    files, languages = corpus_of(kind, tmp_path, texts)
    memory = {"memory_mb": 200, "threads": 1, "temporary": tmp_path / "temporary"}
    extract_corpus(
        kind, files, languages, tmp_path / "pairs.parquet", max_member_bytes=1 << 20,
        drawing=Drawing(1, 1, memory) if kind == "groups" else None,
    )  # fmt: skip
    rows = pl.read_parquet(tmp_path / "pairs.parquet").sort("line")
    # The sides of a group have no order.
    sides = rows.select("source", "target").iter_rows()
    found = [next(side for side in pair if side != "a plain text") for pair in sides]
    plain = dict(zip(ALL, PLAIN, strict=True))
    expected = prepare_text([plain[text] for text in texts], **PREPARATION)
    assert collapse_spaces(prepare_text(found, **PREPARATION)) == collapse_spaces(expected)


def test_no_command_reads_sentences_that_is_not_tested_here() -> None:
    """If a new command takes sentences, add it to a test above, and then to this list."""
    (commands,) = (
        action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    of_text = {"--input", "--sentences", "--sentence", "--source", "--target", "--text", "--pairs"}
    found = {
        name
        for name, command in commands.choices.items()
        if any(of_text & set(action.option_strings) for action in command._actions)
    }
    # The pages of `demo`, `inspect` and `negatives` show sentences that `read_sentences` reads, as `search`
    # does, and the pairs of `plan` are a number.
    tested = {"embed", "score", "evaluate", "search", "dedup", "mine", "export"}
    assert found == {*tested, "demo", "inspect", "negatives", "plan"}


def test_texts_of_nothing_are_empty(tmp_path: Path, model: AverageEncoder) -> None:
    _, kept = selected(tmp_path, [*NOTHING, "a text"])
    assert kept["source"].to_list() == ["a text"]
    assert read_json(tmp_path / "counts.json")["dropped"]["empty"] == len(NOTHING)
    assert not model.embed_raw_text(NOTHING).any()
    assert not any(map(words_of, NOTHING))


@pytest.mark.parametrize("hard", [each for each in TEXTS if each.language], ids=lambda hard: hard.name)
def test_the_language_is_that_of_the_plain_text(mirror: Path, hard: HardText) -> None:
    lid = LanguageIdentifier(mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz")
    texts = as_read(prepare_text([hard.text, hard.plain], **FOLDED))
    found = lid.identify(texts, hard.language)
    assert found.probabilities[0] >= 0.1
    assert texts[0] == texts[1]


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
        found = pl.read_parquet(tmp_path / "found.parquet").filter(side="source")["row"].to_list()
        missing = [TEXTS[row].name for row in range(len(TEXTS)) if row not in found]
        assert missing == []


def test_vectors_are_those_of_the_plain_texts(tmp_path: Path, model: AverageEncoder) -> None:
    vectors, plain = model.embed_raw_text(ALL), model.embed_raw_text(PLAIN)
    assert_alike(vectors, plain)
    different = [each.text for each in TEXTS if each.like is None]
    assert len(np.unique(model.embed_raw_text(different).round(4), axis=0)) == len(different)
    # The shell reads the same text as Python, and so does a folder.
    model.write(tmp_path / "model")
    assert_alike(load_model(tmp_path / "model").embed_raw_text(ALL), vectors)
    embed_file(model, write(tmp_path / "texts.txt", ALL), str(tmp_path / "v.npy"))
    assert_alike(np.load(tmp_path / "v.npy"), vectors)


def test_scores_of_a_file_and_of_python_are_one(tmp_path: Path, model: AverageEncoder) -> None:
    pairs = list(zip(ALL, PLAIN, strict=True))
    assert_alike(model.score_raw_text(pairs), np.ones(len(pairs)))
    lines = write(tmp_path / "pairs.tsv", ["\t".join(pair) for pair in pairs])
    score_file(model, lines, str(tmp_path / "scores.tsv"))
    scores = [line.split("\t")[0] for line in (tmp_path / "scores.tsv").read_text("utf-8").split("\n")[:-1]]
    assert_alike(list(map(float, scores)), np.ones(len(pairs)))


def test_evaluation_reads_the_plain_texts(tmp_path: Path, model: AverageEncoder) -> None:
    results = []
    for texts in (ALL, PLAIN):
        lines = ["\t".join(pair) for pair in zip(texts, PLAIN, strict=True)]
        pairs = read_pairs(write(tmp_path / "pairs.tsv", lines))
        results.append(evaluate_pairs(system_of(model), pairs, model="hard"))
    assert results[0]["forward"]["nearest"] == results[1]["forward"]["nearest"] == 1


def test_search_mining_and_deduplication_find_the_plain_texts(tmp_path: Path, model: AverageEncoder) -> None:
    system = system_of(model)
    distinct = list(dict.fromkeys(PLAIN))
    plain, hard = write(tmp_path / "plain.txt", distinct), write(tmp_path / "hard.txt", ALL)
    embed_file(model, plain, str(tmp_path / "plain.npy"))
    search_files(
        system,
        Index(str(tmp_path / "plain.npy")),
        Source(hard),
        str(tmp_path / "found.tsv"),
        options=SearchOptions(k=1),
    )
    rows = [line.split("\t") for line in (tmp_path / "found.tsv").read_text("utf-8").split("\n")[:-1]]
    assert_alike([float(score) for score, *_ in rows], np.ones(len(ALL)))
    assert [distinct[int(row) - 1] for *_, row in rows] == PLAIN
    mine_files(
        system,
        Source(hard),
        Source(plain),
        str(tmp_path / "mined.tsv"),
        options=MiningOptions(margin="cosine"),
        with_identities=True,
    )
    mined = [line.split("\t") for line in (tmp_path / "mined.tsv").read_text("utf-8").split("\n")[:-1]]
    assert len(mined) == len(distinct)
    for score, *_, source, target in mined:
        assert float(score) == pytest.approx(1, abs=1e-5)
        assert distinct[int(target) - 1] == TEXTS[int(source) - 1].plain
    both = write(tmp_path / "both.txt", [*distinct, *ALL])
    kept, dropped = dedup_file(system, Source(both), str(tmp_path / "kept.txt"), threshold=0.9999)
    assert (kept, dropped) == (len(distinct), len(ALL))


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_exports_agree(tmp_path: Path, model: AverageEncoder, form: str) -> None:
    needed = {"sentence-transformers": "sentence_transformers", "onnx": "onnxruntime"}.get(form, form)
    if form == "javascript":
        if not shutil.which("node"):
            pytest.skip("Node.js is not installed")
    elif form != "text":
        pytest.importorskip(needed.replace("-", "_"), reason=f"{needed} is not installed")
    text = write(tmp_path / "texts.txt", [*ALL, *PLAIN])
    parity = export_model(model, form, tmp_path / "export", text=Path(text)).parity
    assert (parity.different, parity.apart) == ([], [])
    other = FORMATS[form].open(model, tmp_path / "export")
    assert_alike(other.embed(ALL), other.embed(PLAIN))
