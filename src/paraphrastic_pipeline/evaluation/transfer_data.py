"""The transfer tasks, SentEval's and the Polish ones of Dadas 2022, and readers of their data."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import pandas as pd
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.evaluation.labelled_file import LabelledFile
from paraphrastic_pipeline.registry.archive import files_in

_MAX_BYTES = 1 << 30

Suite = Literal["senteval", "polish"]
# `nested` cross-validates all rows; `folds` cross-validates the training rows and has test rows of its own;
# `split` has training, development and test rows; `relatedness` too, but with scores instead of classes.
Protocol = Literal["nested", "folds", "split", "relatedness"]
# The parts of the data that a protocol needs.
SPLITS: dict[Protocol, tuple[str, ...]] = {
    "nested": ("all",),
    "folds": ("train", "test"),
    "split": ("train", "dev", "test"),
    "relatedness": ("train", "dev", "test"),
}


@dataclass(frozen=True, slots=True)
class TransferTask:
    """One task.

    Attributes:
        name: name in the papers' tables.
        dataset: name of the data, which two tasks can share.
        protocol: how classifiers are trained and tested.
        classes: names of the classes, in the order of their numbers; empty for a task with scores.
    """

    name: str
    dataset: str
    protocol: Protocol
    classes: tuple[str, ...] = ()


_POLARITY = ("negative", "positive")
_BINARY = ("0", "1")
# SentEval's order: its toolkit sorts sentences of equal length by class.
ENTAILMENT = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
QUESTIONS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
_REVIEWS = ("0", "1", "2", "3")
_TAGS = ("0", "1", "2", "3", "4", "5", "6", "7")

TRANSFER_TASKS: dict[Suite, tuple[TransferTask, ...]] = {
    "senteval": (
        TransferTask("MR", "MR", "nested", _POLARITY),
        TransferTask("CR", "CR", "nested", _POLARITY),
        TransferTask("SUBJ", "SUBJ", "nested", ("subjective", "objective")),
        TransferTask("MPQA", "MPQA", "nested", _POLARITY),
        TransferTask("SST-2", "SST", "split", _BINARY),
        TransferTask("TREC", "TREC", "folds", QUESTIONS),
        TransferTask("MRPC", "MRPC", "folds", _BINARY),
        TransferTask("SICK-R", "SICK", "relatedness"),
        TransferTask("SICK-E", "SICK", "split", ENTAILMENT),
    ),
    "polish": (
        TransferTask("PPC", "ppc", "split", ("1", "2", "3")),
        TransferTask("CR-H", "cr_h", "split", _REVIEWS),
        TransferTask("CR-M", "cr_m", "split", _REVIEWS),
        TransferTask("CDSC-E", "cds", "split", ENTAILMENT),
        TransferTask("SICK-E", "sick", "split", ENTAILMENT),
        TransferTask("CDSC-R", "cds", "relatedness"),
        TransferTask("SICK-R", "sick", "relatedness"),
        TransferTask("8TAGS", "8tags", "split", _TAGS),
    ),
}
LANGUAGES: dict[Suite, str] = {"senteval": "en", "polish": "pl"}

_SCHEMA = pa.schema(
    {
        "dataset": pa.string(),
        "part": pa.string(),
        "line": pa.int32(),
        "sentence1": pa.string(),
        "sentence2": pa.string(),
        "label": pa.int64(),
        "score": pa.float64(),
    }
)


@dataclass(frozen=True, slots=True)
class _Lines:
    """How the lines of a file are written.

    Attributes:
        pattern: a line; its groups are the columns `sentence1`, `sentence2`, `label` and `score`.
        expected: the pattern in words.
        header: lines before the first row.
        lowest: the lowest score.
        latin: whether a file that is not in UTF-8 is read as ISO 8859-1.
        label: the class of all lines, if the file is of one; it may then have empty sentences.
    """

    pattern: str
    expected: str = ""
    header: int = 0
    lowest: float = 0.0
    latin: bool = False
    label: int | None = None

    def rows(self, file: LabelledFile, classes: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The rows of a file; a line that is written otherwise is an `InputError`."""
        lines = list(enumerate(file.lines(latin=self.latin), start=1))[self.header :]
        while self.label is None and lines and not lines[-1][1].strip():
            lines.pop()
        for number, line in lines:
            match = re.fullmatch(self.pattern, line.strip())
            if not match:
                raise file.fault(number, f"expected {self.expected}")
            row: dict[str, Any] = {name: text.strip() for name, text in match.groupdict().items()}
            if "score" in row:
                row["score"] = file.score(number, row["score"], lowest=self.lowest)
            label = row.pop("label", None)
            if label is not None and label not in classes:
                raise file.fault(number, f"{label!r} is not one of the classes {', '.join(classes)}")
            yield {**row, "line": number, "label": self.label if label is None else classes.index(label)}


def _columns(*names: str, lowest: float = 0.0) -> _Lines:
    """A header, and columns with tabs between them; those without a name and further ones are skipped."""
    cells = {"": "[^\t]*", "sentence1": "[^\t]*\\S[^\t]*", "sentence2": "[^\t]*\\S[^\t]*"}
    groups = [f"(?P<{name}>{cells.get(name, cells[''])})" if name else cells[""] for name in names]
    expected = f"{len(names)} columns with tabs between them, of which the sentences are not empty"
    return _Lines("\t".join(groups) + "(\t.*)?", expected, header=1, lowest=lowest)


_POSITIVE, _NEGATIVE = (_Lines("(?P<sentence1>.*)", latin=True, label=label) for label in (1, 0))
_QUESTIONS = _Lines("(?P<label>[^:]*):[^ ]* (?P<sentence1>.+)", "CLASS:kind and a sentence", latin=True)
_SENTIMENTS = _Lines(
    "(?P<sentence1>.+)\t(?P<label>[^\t]*)", "a sentence and its class with a tab between them"
)
_TOPICS = _Lines("(?P<label>[^ ]*) (?P<sentence1>.+)", "a class and a sentence with a space between them")
_PARAPHRASES = _columns("label", "", "", "sentence1", "sentence2")
_POLISH_PARAPHRASES = _columns("sentence1", "sentence2", "label")
_JUDGED = _columns("", "sentence1", "sentence2", "score", "label")
_JUDGED_FROM_ONE = _columns("", "sentence1", "sentence2", "score", "label", lowest=1)


# Part, file in the archive's folder, and its lines, in the order in which SentEval reads the files.
_SENTEVAL: dict[str, tuple[tuple[str, str, _Lines], ...]] = {
    "MR": (("all", "MR/rt-polarity.pos", _POSITIVE), ("all", "MR/rt-polarity.neg", _NEGATIVE)),
    "CR": (("all", "CR/custrev.pos", _POSITIVE), ("all", "CR/custrev.neg", _NEGATIVE)),
    "SUBJ": (("all", "SUBJ/subj.objective", _POSITIVE), ("all", "SUBJ/subj.subjective", _NEGATIVE)),
    "MPQA": (("all", "MPQA/mpqa.pos", _POSITIVE), ("all", "MPQA/mpqa.neg", _NEGATIVE)),
    "SST": tuple((part, f"SST/binary/sentiment-{part}", _SENTIMENTS) for part in ("train", "dev", "test")),
    "TREC": (("train", "TREC/train_5500.label", _QUESTIONS), ("test", "TREC/TREC_10.label", _QUESTIONS)),
    "MRPC": tuple((part, f"MRPC/msr_paraphrase_{part}.txt", _PARAPHRASES) for part in ("train", "test")),
    "SICK": tuple(
        (part, f"SICK/SICK_{name}.txt", _JUDGED_FROM_ONE)
        for part, name in (("train", "train"), ("dev", "trial"), ("test", "test_annotated"))
    ),
}
_POLISH: dict[str, _Lines] = {
    "ppc": _POLISH_PARAPHRASES,
    "cr_h": _TOPICS,
    "cr_m": _TOPICS,
    "cds": _JUDGED,
    "sick": _JUDGED_FROM_ONE,
    "8tags": _TOPICS,
}
# Words by which the name of a file tells its part.
_PARTS = {"train": ("train",), "dev": ("dev", "trial"), "test": ("test",)}


def prepare_transfer(suite: Suite, files: Mapping[str, Sequence[str | Path]], testsets: Path) -> None:
    """Gather the data of a suite's tasks in one Parquet file.

    Columns: `dataset`; `part`, which is train, dev, test or all; `line` in the file; `sentence1`;
    `sentence2`, for pairs; `label`, the number of the class; and `score`, for relatedness.

    Args:
        suite: the suite.
        files: files by data set. `senteval` has one file, a zip or tar archive of its folder
            `data/downstream`. `polish` has train, dev and test files, told apart by their names.
        testsets: the Parquet file.

    Raises:
        InputError: a damaged archive, a missing file, a bad line.
    """
    paths = {name: list(map(Path, given)) for name, given in files.items()}
    tables = _read_senteval(paths[suite][0]) if suite == "senteval" else _read_polish(paths)
    write_table(testsets, pa.concat_tables(tables))


def _read_senteval(archive: Path) -> Iterator[pa.Table]:
    names = [name for files in _SENTEVAL.values() for _, name, _ in files]

    members = {}
    for path, stream in files_in(archive, max_bytes=_MAX_BYTES):
        member = PurePosixPath(path)
        # macOS adds files of its own under the same names.
        if "__MACOSX" not in member.parts and any(member.match(name) for name in names):
            members[member] = stream.read()
    for dataset, files in _SENTEVAL.items():
        for part, name, lines in files:
            content = next((members[member] for member in members if member.match(name)), None)
            if content is None:
                raise InputError(f"{archive}: {name} is missing")
            yield _part_table("senteval", dataset, part, lines, LabelledFile(f"{archive}: {name}", content))


def _read_polish(files: Mapping[str, Sequence[Path]]) -> Iterator[pa.Table]:
    for dataset, lines in _POLISH.items():
        for part, words in _PARTS.items():
            paths = [path for path in files[dataset] if any(word in path.name for word in words)]
            if len(paths) != 1:
                names = ", ".join(str(path) for path in files[dataset])
                raise InputError(f"{names}: expected one file with {' or '.join(words)} in its name")
            yield _part_table(
                "polish", dataset, part, lines, LabelledFile(str(paths[0]), paths[0].read_bytes())
            )


def _part_table(suite: Suite, dataset: str, part: str, lines: _Lines, file: LabelledFile) -> pa.Table:
    classes = next(task.classes for task in TRANSFER_TASKS[suite] if task.dataset == dataset and task.classes)
    rows = [{"dataset": dataset, "part": part, **row} for row in lines.rows(file, classes)]
    if not any(row["sentence1"] for row in rows):
        raise InputError(f"{file.name}: contains no sentence")
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def transfer_digest(task: TransferTask, rows: pd.DataFrame) -> str:
    """SHA-256 of a task's sentences and gold, whichever archive they came in.

    White space is ignored, because SentEval's script leaves the tokenization of sentences to the user.
    """
    gold = "label" if task.classes else "score"
    digest = hashlib.sha256()
    rows = rows.fillna({"sentence2": ""})
    for part, first, second, said in rows[["part", "sentence1", "sentence2", gold]].itertuples(index=False):
        sentences = "\t".join("".join(text.split()) for text in (first, second))
        digest.update(f"{part}\t{sentences}\t{said:g}\n".encode())
    return digest.hexdigest()
