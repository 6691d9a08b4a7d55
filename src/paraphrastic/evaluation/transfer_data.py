"""The data of the transfer tasks: read from their files, identified by their content."""

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

import polars as pl

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic.base.lines import text_lines
from paraphrastic.evaluation.transfer_tasks import ENTAILMENT, QUESTIONS, Suite, TransferTask
from paraphrastic.registry.archive import read_members

log = logging.getLogger(__name__)

MAX_BYTES = 1 << 30

_SCHEMA = {
    "dataset": pl.String,
    "part": pl.String,
    "line": pl.Int32,
    "sentence1": pl.String,
    "sentence2": pl.String,
    "label": pl.Int64,
    "score": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class _Row:
    """A line: the sentence, or two of them, and what people said of it."""

    line: int
    sentence1: str
    sentence2: str | None = None
    label: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class _File:
    """The content of a file, and what errors call it."""

    content: bytes
    name: str

    def lines(self, *, latin: bool = False) -> list[str]:
        """Its lines, in UTF-8; with `latin`, in ISO 8859-1 if they are not."""
        content = self.content
        if not content.strip():
            raise InputError(f"{self.name}: there is no sentence in it")
        if latin and not _is_utf8(content):
            log.info("%s: read as ISO 8859-1, since it is not UTF-8", self.name)
            content = content.decode("latin-1").encode()
        return text_lines(content, self.name)

    def rows(self, *, latin: bool = False) -> list[str]:
        """Its lines without blank ones at the end."""
        lines = self.lines(latin=latin)
        while not lines[-1].strip():
            lines.pop()
        return lines

    def fault(self, number: int, cause: str) -> InputError:
        return InputError(f"{self.name}:{number}: {cause}")


_Reader = Callable[[_File], Iterator[_Row]]


def _sentences(file: _File, *, label: int) -> Iterator[_Row]:
    """A sentence a line, all of one class. Official files have empty ones, which count like all others."""
    lines = file.lines(latin=True)
    if empty := sum(not line.strip() for line in lines):
        log.info("%s: %d of %d sentences are empty", file.name, empty, len(lines))
    for number, line in enumerate(lines, start=1):
        yield _Row(number, line.strip(), label=label)


def _questions(file: _File) -> Iterator[_Row]:
    """Lines `CLASS:kind sentence`."""
    for number, line in enumerate(file.rows(latin=True), start=1):
        name, _, rest = line.partition(":")
        _, _, sentence = rest.partition(" ")
        if not sentence.strip():
            raise file.fault(number, "CLASS:kind and a sentence expected")
        yield _Row(number, sentence.strip(), label=_label(file, number, name, QUESTIONS))


def _sentiments(file: _File) -> Iterator[_Row]:
    """Lines `sentence TAB class`."""
    for number, line in enumerate(file.rows(), start=1):
        sentence, _, name = line.strip().rpartition("\t")
        if not sentence.strip():
            raise file.fault(number, "a sentence and its class with a tab between them expected")
        yield _Row(number, sentence.strip(), label=_label(file, number, name, ("0", "1")))


def _topics(file: _File, *, classes: Sequence[str]) -> Iterator[_Row]:
    """Lines `class sentence`."""
    for number, line in enumerate(file.rows(), start=1):
        name, _, sentence = line.strip().partition(" ")
        if not sentence.strip():
            raise file.fault(number, "a class and a sentence with a space between them expected")
        yield _Row(number, sentence.strip(), label=_label(file, number, name, classes))


def _paraphrases(file: _File) -> Iterator[_Row]:
    """After a header, `class TAB id TAB id TAB sentence TAB sentence`."""
    for number, cells in _cells(file, 5):
        label = _label(file, number, cells[0], ("0", "1"))
        yield _Row(number, *_pair(file, number, cells[3:5]), label=label)


def _polish_paraphrases(file: _File) -> Iterator[_Row]:
    """After a header, `sentence TAB sentence TAB class`."""
    for number, cells in _cells(file, 3):
        label = _label(file, number, cells[2], ("1", "2", "3"))
        yield _Row(number, *_pair(file, number, cells[:2]), label=label)


def _judged(file: _File, *, lowest: float) -> Iterator[_Row]:
    """After a header, `id TAB sentence TAB sentence TAB relatedness TAB entailment`."""
    for number, cells in _cells(file, 5):
        label = _label(file, number, cells[4], ENTAILMENT)
        score = _score(file, number, cells[3], lowest)
        yield _Row(number, *_pair(file, number, cells[1:3]), label=label, score=score)


# Part, file in the archive's folder, reader; in the order in which SentEval reads them.
_SENTEVAL: dict[str, tuple[tuple[str, str, _Reader], ...]] = {
    "MR": (
        ("all", "MR/rt-polarity.pos", partial(_sentences, label=1)),
        ("all", "MR/rt-polarity.neg", partial(_sentences, label=0)),
    ),
    "CR": (
        ("all", "CR/custrev.pos", partial(_sentences, label=1)),
        ("all", "CR/custrev.neg", partial(_sentences, label=0)),
    ),
    "SUBJ": (
        ("all", "SUBJ/subj.objective", partial(_sentences, label=1)),
        ("all", "SUBJ/subj.subjective", partial(_sentences, label=0)),
    ),
    "MPQA": (
        ("all", "MPQA/mpqa.pos", partial(_sentences, label=1)),
        ("all", "MPQA/mpqa.neg", partial(_sentences, label=0)),
    ),
    "SST": tuple((part, f"SST/binary/sentiment-{part}", _sentiments) for part in ("train", "dev", "test")),
    "TREC": (("train", "TREC/train_5500.label", _questions), ("test", "TREC/TREC_10.label", _questions)),
    "MRPC": (
        ("train", "MRPC/msr_paraphrase_train.txt", _paraphrases),
        ("test", "MRPC/msr_paraphrase_test.txt", _paraphrases),
    ),
    "SICK": (
        ("train", "SICK/SICK_train.txt", partial(_judged, lowest=1)),
        ("dev", "SICK/SICK_trial.txt", partial(_judged, lowest=1)),
        ("test", "SICK/SICK_test_annotated.txt", partial(_judged, lowest=1)),
    ),
}
_POLISH: dict[str, _Reader] = {
    "ppc": _polish_paraphrases,
    "cr_h": partial(_topics, classes=tuple("0123")),
    "cr_m": partial(_topics, classes=tuple("0123")),
    "cds": partial(_judged, lowest=0),
    "sick": partial(_judged, lowest=1),
    "8tags": partial(_topics, classes=tuple("01234567")),
}
# What the names of a data set's files have in them.
_PARTS = {"train": ("train",), "dev": ("dev", "trial"), "test": ("test",)}


def prepare_transfer(suite: Suite, files: Mapping[str, Sequence[Path]], output: Path) -> None:
    """Gather the data of a suite's tasks in one Parquet file.

    Columns: `dataset`; `part`: train, dev or test, or all; `line` of the file; `sentence1`, and of pairs
    `sentence2`; `label`, the number of the class; of relatedness also `score`.

    Args:
        suite: of `senteval`, there is one file, a zip or tar archive of its folder `data/downstream`; of
            `polish`, train, dev and test data of each data set, told by the names of the files.
        files: by data set.
        output: the Parquet file.

    Raises:
        InputError: a damaged archive, a missing file, a bad line.
    """
    frames = _read_senteval(files[suite][0]) if suite == "senteval" else _read_polish(files)
    data = pl.concat(frames)
    with atomic_output(output) as temporary:
        data.write_parquet(temporary)


def _read_senteval(archive: Path) -> list[pl.DataFrame]:
    names = {PurePosixPath(name).parts for files in _SENTEVAL.values() for _, name, _ in files}

    def wanted(member: PurePosixPath) -> bool:
        # macOS adds files of its own under the same names.
        return "__MACOSX" not in member.parts and any(member.parts[-len(name) :] == name for name in names)

    members = read_members(archive, wanted, max_bytes=MAX_BYTES)
    frames = []
    for dataset, files in _SENTEVAL.items():
        for part, name, reader in files:
            parts = PurePosixPath(name).parts
            member = next((each for each in members if each.parts[-len(parts) :] == parts), None)
            if member is None:
                raise InputError(f"{archive}: {name} is missing")
            frames.append(_frame(dataset, part, reader(_File(members[member], f"{archive}: {name}"))))
    return frames


def _read_polish(files: Mapping[str, Sequence[Path]]) -> list[pl.DataFrame]:
    frames = []
    for dataset, reader in _POLISH.items():
        for part, words in _PARTS.items():
            paths = [path for path in files[dataset] if any(word in path.name for word in words)]
            if len(paths) != 1:
                names = ", ".join(str(path) for path in files[dataset])
                raise InputError(f"{names}: one file with {' or '.join(words)} in its name expected")
            frames.append(_frame(dataset, part, reader(_File(paths[0].read_bytes(), str(paths[0])))))
    return frames


def content_digest(task: TransferTask, rows: pl.DataFrame) -> str:
    """SHA-256 of a task's sentences and gold, whatever archive they came in.

    White space does not count, since SentEval's script leaves it to the user how sentences are tokenized.
    """
    gold = "label" if task.classes else "score"
    digest = hashlib.sha256()
    for part, first, second, said in rows.select("part", "sentence1", "sentence2", gold).iter_rows():
        sentences = "\t".join("".join(text.split()) for text in (first, second or ""))
        digest.update(f"{part}\t{sentences}\t{said:g}\n".encode())
    return digest.hexdigest()


def _frame(dataset: str, part: str, rows: Iterator[_Row]) -> pl.DataFrame:
    cells = [(dataset, part, row.line, row.sentence1, row.sentence2, row.label, row.score) for row in rows]
    return pl.DataFrame(cells, schema=_SCHEMA, orient="row")


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _cells(file: _File, count: int) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of each line after the header."""
    lines = file.rows()
    if len(lines) < 2:
        raise InputError(f"{file.name}: there is no sentence in it")
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) < count:
            raise file.fault(number, f"{len(cells)} columns, {count} expected")
        yield number, cells


def _pair(file: _File, number: int, cells: Sequence[str]) -> tuple[str, str]:
    first, second = (cell.strip() for cell in cells)
    if not first or not second:
        raise file.fault(number, "a sentence is empty")
    return first, second


def _label(file: _File, number: int, text: str, classes: Sequence[str]) -> int:
    if text.strip() not in classes:
        raise file.fault(number, f"{text.strip()!r} is none of the classes {', '.join(classes)}")
    return classes.index(text.strip())


def _score(file: _File, number: int, text: str, lowest: float) -> float:
    try:
        score = float(text)
    except ValueError:
        score = float("nan")
    if not lowest <= score <= 5:
        raise file.fault(number, f"{text.strip()!r} is no score from {lowest:g} to 5")
    return score
