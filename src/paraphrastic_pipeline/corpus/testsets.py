"""Gather the sentences of the test sets from their files, to look for them in training data."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import polars as pl

from paraphrastic.base.compressed import open_stream
from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import text_lines
from paraphrastic.base.text import prepare_text
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.corpus.normal_form import words_of
from paraphrastic_pipeline.registry.archive import open_members, read_members

_MAX_BYTES = 1 << 30

# Files and columns (from 0) of the test sentences of SentEval's tasks. Tasks without a test part are
# cross-validated, so all of their sentences are test sentences.
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
# In these files, every line begins with a label and a space.
_LABELLED = ("TREC/TREC_10.label", "SST/fine/sentiment-test")
_HEADED = ("MRPC", "SICK")
_TRACK = re.compile(r"STS\.input\.track\w+\.([a-z]{2})-([a-z]{2})\.txt")
_COLUMNS = {"testset": pl.String, "dataset": pl.String, "language": pl.String, "sentence": pl.String}

# Data set, language (None if unknown), and sentence.
_Sentences = Iterator[tuple[str, str | None, str]]


@dataclass(frozen=True, slots=True)
class TestFile:
    """One downloaded file of a test set.

    `testset` decides how it is read: `sts` (the archive of STS 2012–2017, perhaps with STS-B's test part),
    `tatoeba` (one sentence per line, in the first of `languages`), `bucc` (an archive whose first two
    `members` have lines `id TAB sentence`, in the two `languages`), `senteval` (its archive).
    """

    # Keeps pytest from collecting the class because of its name.
    __test__ = False

    testset: str
    path: Path
    languages: tuple[str, ...] = ()
    members: tuple[str, ...] = ()


def gather_testsets(
    files: Sequence[TestFile], output: str | Path, *, segmentation: Mapping[str, str], lowercase: bool
) -> dict[str, int]:
    """Write the sentences of all test sets: `testset`, `dataset`, `language` or null, `sentence`, `words`.

    `words` are the words of the sentence's normal form (`normal_form.words_of`), after it was segmented like
    the training data. A sentence that occurs several times in a data set is written once, and a sentence
    without letters or digits is left out. Without files, the table is empty.

    Args:
        files: the files of all test sets.
        output: the Parquet file.
        segmentation: mode of `text.segment` by language.
        lowercase: whether text is lower-cased before it is segmented.

    Returns:
        Number of sentences by test set.

    Raises:
        InputError: an archive is damaged or lacks a member, a line is not UTF-8 or has too few columns, or a
            file has no test sentence.
    """
    frames = [pl.DataFrame(schema=_COLUMNS)]
    for file in files:
        rows = [(file.testset, *row) for row in _READERS[file.testset](file)]
        if not rows:
            raise InputError(f"{file.path}: contains no test sentence")
        frames.append(pl.DataFrame(rows, schema=_COLUMNS, orient="row"))
    sentences = pl.concat(frames).unique(maintain_order=True)

    def prepared(text: str, language: str) -> str:
        return prepare_text([text], language=language, segmentation=segmentation, lowercase=lowercase)[0]

    words = [
        words_of(prepared(text, language) if language in segmentation else text)
        for language, text in sentences.select("language", "sentence").iter_rows()
    ]
    sentences = sentences.with_columns(words=pl.Series(words, dtype=pl.List(pl.String)))
    sentences = sentences.filter(pl.col("words").list.len() > 0)
    write_table(output, sentences.to_arrow())
    return dict(sentences.group_by("testset", maintain_order=True).len().iter_rows())


def _read_sts(file: TestFile) -> _Sentences:
    def wanted(member: PurePosixPath) -> bool:
        return member.name.startswith("STS.input.") or member.name == "sts-test.csv"

    for member, content in read_members(file.path, wanted, max_bytes=_MAX_BYTES).items():
        label = f"{file.path}: {member.parent.name}/{member.name}"
        lines = text_lines(content, label)
        if member.name == "sts-test.csv":
            yield from _cells("STS-B", lines, (5, 6), "en", label)
        else:
            dataset = f"20{member.parent.name[3:5]}/{member.name[10:-4]}"
            track = _TRACK.fullmatch(member.name)
            codes = set(track.groups()) if track else {"en"}
            # In cross-lingual tracks, the language of each side differs from track to track.
            yield from _cells(dataset, lines, (0, 1), codes.pop() if len(codes) == 1 else None, label)


def _read_tatoeba(file: TestFile) -> _Sentences:
    with open_stream(file.path, max_bytes=_MAX_BYTES) as stream:
        for line in text_lines(stream, str(file.path)):
            yield "-".join(sorted(file.languages)), file.languages[0], line


def _read_bucc(file: TestFile) -> _Sentences:
    with open_members(file.path, file.members[:2], max_bytes=_MAX_BYTES) as streams:
        for stream, name, language in zip(streams, file.members, file.languages, strict=False):
            label = f"{file.path}: {name}"
            yield from _cells("-".join(file.languages), text_lines(stream, label), (1,), language, label)


def _read_senteval(file: TestFile) -> _Sentences:
    for task, parts in _SENTEVAL.items():
        for name, columns in parts:
            member = f"data/downstream/{name}"
            label = f"{file.path}: {member}"
            with open_members(file.path, [member], max_bytes=_MAX_BYTES) as (stream,):
                lines = text_lines(stream, label)
            if name in _LABELLED:
                lines = [line.partition(" ")[2] for line in lines]
            yield from _cells(task, lines, columns, "en", label, header=int(task in _HEADED))


_READERS = {"sts": _read_sts, "tatoeba": _read_tatoeba, "bucc": _read_bucc, "senteval": _read_senteval}


def _cells(
    dataset: str,
    lines: list[str],
    columns: tuple[int, ...],
    language: str | None,
    label: str,
    header: int = 0,
) -> _Sentences:
    """The cells in these columns, from the lines below a header."""
    for number, line in enumerate(lines[header:], start=header + 1):
        cells = line.split("\t")
        if len(cells) <= max(columns):
            raise InputError(f"{label}:{number}: {len(cells)} columns, expected {max(columns) + 1} or more")
        yield from ((dataset, language, cells[column]) for column in columns)
