"""Gather the sentences of the test sets, to look for them in training data."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import prepare_text
from paraphrastic_pipeline.corpus.blocks import read_blocks, write_table
from paraphrastic_pipeline.corpus.lines import readable_lines
from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.registry.archive import open_stream

_MAX_BYTES = 1 << 30
_TEXTS = ("testset", "dataset", "language", "sentence")
_SCHEMA = pa.schema([*((name, pa.string()) for name in _TEXTS), ("words", pa.list_(pa.string()))])

# Data set, language (None if unknown), and sentence.
_Sentences = Iterator[tuple[str, str | None, str]]


def gather_testsets(
    testsets: Sequence[Path],
    sentences: str | Path,
    *,
    files: Sequence[Mapping[str, Any]],
    segmentation: Mapping[str, str],
    lowercase: bool,
) -> dict[str, int]:
    """Write the sentences of all test sets: `testset`, `dataset`, `language` or null, `sentence`, `words`.

    `words` are the words of the sentence's normal form (`normal_form.words_of`), after it was segmented like
    the training data. A sentence that occurs several times in a data set is written once, and a sentence
    without letters or digits is left out. Without files, the table is empty.

    Args:
        testsets: the files of all test sets.
        sentences: the Parquet file.
        files: the `testset` and the `languages` of each. `sts`, `bucc` and `senteval` are Parquet files that
            were prepared for evaluation. `tatoeba` is text as it was downloaded, with one sentence per line
            in the first of its languages, because sentences without an English translation count, too.
        segmentation: mode of `text.segment` by language.
        lowercase: whether text is lower-cased before it is segmented.

    Returns:
        Number of sentences by test set.

    Raises:
        InputError: a file is damaged or has no test sentence, or a line is not UTF-8.
    """
    rows: dict[tuple[str, str, str | None, str], None] = {}
    for path, file in zip(testsets, files, strict=True):
        testset, languages = file["testset"], file.get("languages", ())
        found = dict.fromkeys((testset, *row) for row in _READERS[testset](path, languages))
        if not found:
            raise InputError(f"{path}: contains no test sentence")
        rows |= found
    table = []
    for row in rows:
        *_, language, text = row
        if language in segmentation:
            (text,) = prepare_text([text], language=language, segmentation=segmentation, lowercase=lowercase)
        if words := words_of(text):
            table.append(dict(zip(_SCHEMA.names, (*row, words), strict=True)))
    write_table(sentences, pa.Table.from_pylist(table, schema=_SCHEMA))
    return dict(Counter(row["testset"] for row in table))


def _sts(path: Path, _languages: Sequence[str]) -> _Sentences:
    for row in _rows(path):
        if row.year == "stsb" and row.dataset != "test":
            continue
        codes = {*row.dataset.split("-")[:2]} if row.year == "2017" else {"en"}
        # In cross-lingual tracks, the language of each side differs from track to track.
        language = codes.pop() if len(codes) == 1 else None
        yield f"{row.year}/{row.dataset}", language, row.sentence1
        yield f"{row.year}/{row.dataset}", language, row.sentence2


def _tatoeba(path: Path, languages: Sequence[str]) -> _Sentences:
    with open_stream(path, max_bytes=_MAX_BYTES) as stream:
        for _, line in readable_lines(stream, str(path)):
            yield "-".join(sorted(languages)), languages[0], line


def _bucc(path: Path, languages: Sequence[str]) -> _Sentences:
    return (("-".join(languages), row.language, row.sentence) for row in _rows(path))


def _senteval(path: Path, _languages: Sequence[str]) -> _Sentences:
    # Tasks without a test part are cross-validated, so all of their sentences are test sentences.
    rows = (row for row in _rows(path) if row.part in ("test", "all"))
    sentences = ((row.dataset, "en", text) for row in rows for text in (row.sentence1, row.sentence2))
    return (each for each in sentences if each[2] is not None)


_READERS = {"sts": _sts, "tatoeba": _tatoeba, "bucc": _bucc, "senteval": _senteval}


def _rows(path: Path) -> Iterator[Any]:
    # As objects, rows take much more memory than in the file, so few are held at a time.
    return (SimpleNamespace(**row) for block in read_blocks(path, rows=1000) for row in block.to_pylist())
