"""The sentences of the test sets, gathered from their files, to look for in training data."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import polars as pl

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic.base.lines import text_lines
from paraphrastic.base.text import prepare_text
from paraphrastic.corpus.normal_form import words_of
from paraphrastic.registry.archive import open_members, open_stream, read_members

_MAX_BYTES = 1 << 30

# Where the test sentences of SentEval's tasks stand: file, and columns from 0. Tasks without a test part are
# cross-validated, so that all of their sentences are test sentences.
_SENTEVAL = {
    "MR": (("MR/rt-polarity.neg", (0,)), ("MR/rt-polarity.pos", (0,))),
    "CR": (("CR/custrev.neg", (0,)), ("CR/custrev.pos", (0,))),
    "SUBJ": (("SUBJ/subj.objective", (0,)), ("SUBJ/subj.subjective", (0,))),
    "MPQA": (("MPQA/mpqa.neg", (0,)), ("MPQA/mpqa.pos", (0,))),
    "SST": (("SST/binary/sentiment-test", (0,)), ("SST/fine/sentiment-test", (0,))),
    "TREC": (("TREC/TREC_10.label", (0,)),),
    "MRPC": (("MRPC/msr_paraphrase_test.txt", (3, 4)),),
    "SICK": (("SICK/SICK_test_annotated.txt", (1, 2)),),
}
# Lines of these begin with a label and a space.
_LABELLED = ("TREC/TREC_10.label", "SST/fine/sentiment-test")
_HEADED = ("MRPC", "SICK")
_TRACK = re.compile(r"STS\.input\.track\w+\.([a-z]{2})-([a-z]{2})\.txt")
_COLUMNS = {"testset": pl.String, "dataset": pl.String, "language": pl.String, "sentence": pl.String}

# Language, where it is known, and sentence.
_Sentences = Iterator[tuple[str | None, str]]


@dataclass(frozen=True, slots=True)
class TestFile:
    """One downloaded file of a test set.

    `testset` says how it is read: `sts` (the archive of STS 2012–2017, with STS-B's test where it has that),
    `tatoeba` (a sentence a line, in the first of `languages`), `bucc` (an archive whose first two `members`
    have lines `id TAB sentence`, in the two `languages`) or `senteval` (an archive of `data/downstream`).
    """

    # Not a test of pytest's, in spite of its name.
    __test__ = False

    testset: str
    path: Path
    languages: tuple[str, ...] = ()
    members: tuple[str, ...] = ()


def gather_testsets(
    files: Sequence[TestFile], output: str | Path, *, segmentation: Mapping[str, str]
) -> dict[str, int]:
    """Write the sentences of all test sets: `testset`, `dataset`, `language` or null, `sentence`, `words`.

    `words` are those of the sentence's normal form (`normal_form.words_of`), after it was segmented as the
    training data are. A sentence that stands in a data set more than once is written once; one without a
    letter or digit is left out. Without files the table is empty.

    Args:
        files: of all test sets.
        output: the Parquet file.
        segmentation: mode of `text.segment` by language.

    Returns:
        Sentences by test set.

    Raises:
        InputError: a damaged archive, a missing member, a line that is not UTF-8 or has too few columns, a
            test set without a sentence.
    """
    frames = [pl.DataFrame(schema=_COLUMNS)]
    for file in files:
        rows = [
            (file.testset, dataset, language, sentence)
            for dataset, sentences in _READERS[file.testset](file)
            for language, sentence in sentences
        ]
        if not rows:
            raise InputError(f"{file.path}: there is no test sentence in it")
        frames.append(pl.DataFrame(rows, schema=_COLUMNS, orient="row"))
    sentences = pl.concat(frames).unique(maintain_order=True)
    words = [words_of(text) for text in _segmented(sentences, segmentation)]
    sentences = sentences.with_columns(words=pl.Series(words, dtype=pl.List(pl.String)))
    sentences = sentences.filter(pl.col("words").list.len() > 0)
    with atomic_output(output) as temporary:
        sentences.write_parquet(temporary)
    return dict(sentences.group_by("testset", maintain_order=True).len().iter_rows())


def _segmented(sentences: pl.DataFrame, segmentation: Mapping[str, str]) -> list[str]:
    texts = sentences["sentence"].to_list()
    for language in segmentation:
        rows = (sentences["language"] == language).fill_null(False).arg_true().to_list()
        found = [texts[row] for row in rows]
        prepared = prepare_text(found, language=language, segmentation=segmentation)
        for row, text in zip(rows, prepared, strict=True):
            texts[row] = text
    return texts


def _read_sts(file: TestFile) -> Iterator[tuple[str, _Sentences]]:
    def wanted(member: PurePosixPath) -> bool:
        return member.name.startswith("STS.input.") or member.name == "sts-test.csv"

    for member, content in read_members(file.path, wanted, max_bytes=_MAX_BYTES).items():
        label = f"{file.path}: {member.parent.name}/{member.name}"
        lines = text_lines(content, label)
        if member.name == "sts-test.csv":
            yield "STS-B", _cells(lines, (5, 6), ("en", "en"), label)
        else:
            dataset = f"20{member.parent.name[3:5]}/{member.name[10:-4]}"
            track = _TRACK.fullmatch(member.name)
            codes = set(track.groups()) if track else {"en"}
            # Which side of a cross-lingual track is in which language differs from track to track.
            language = codes.pop() if len(codes) == 1 else None
            yield dataset, _cells(lines, (0, 1), (language,) * 2, label)


def _read_tatoeba(file: TestFile) -> Iterator[tuple[str, _Sentences]]:
    with open_stream(file.path, max_bytes=_MAX_BYTES) as stream:
        lines = text_lines(stream, str(file.path))
    yield "-".join(sorted(file.languages)), ((file.languages[0], line) for line in lines)


def _read_bucc(file: TestFile) -> Iterator[tuple[str, _Sentences]]:
    with open_members(file.path, file.members[:2], max_bytes=_MAX_BYTES) as streams:
        for stream, name, language in zip(streams, file.members, file.languages, strict=False):
            label = f"{file.path}: {name}"
            yield "-".join(file.languages), _cells(text_lines(stream, label), (1,), (language,), label)


def _read_senteval(file: TestFile) -> Iterator[tuple[str, _Sentences]]:
    for task, parts in _SENTEVAL.items():
        for name, columns in parts:
            member = f"data/downstream/{name}"
            with open_members(file.path, [member], max_bytes=_MAX_BYTES) as (stream,):
                lines = text_lines(stream, f"{file.path}: {member}")
            if name in _LABELLED:
                lines = [line.partition(" ")[2] for line in lines]
            elif task in _HEADED:
                lines = lines[1:]
            first = 2 if task in _HEADED else 1
            yield task, _cells(lines, columns, ("en", "en"), f"{file.path}: {member}", first=first)


_READERS = {"sts": _read_sts, "tatoeba": _read_tatoeba, "bucc": _read_bucc, "senteval": _read_senteval}


def _cells(
    lines: Sequence[str],
    columns: tuple[int, ...],
    languages: Sequence[str | None],
    label: str,
    *,
    first: int = 1,
) -> _Sentences:
    """The cells of these columns, each in its language; `first` is the number of the first line."""
    for number, line in enumerate(lines, start=first):
        cells = line.split("\t")
        if len(cells) <= max(columns):
            raise InputError(f"{label}:{number}: {len(cells)} columns, expected {max(columns) + 1} or more")
        for column, language in zip(columns, languages, strict=False):
            yield language, cells[column]
