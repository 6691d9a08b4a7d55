"""The transfer tasks, SentEval's and the Polish ones of Dadas 2022, and readers of their data."""

import hashlib
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Literal

import pandas as pd
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.evaluation.labelled_file import LabelledFile
from paraphrastic_pipeline.registry.archive import files_in

log = logging.getLogger(__name__)

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
# The values of a line by column.
_Row = Mapping[str, str | float | None]
# Reads the rows of a file, given the names of the classes.
_Reader = Callable[[LabelledFile, Sequence[str]], Iterator[_Row]]


def _sentences(file: LabelledFile, _: Sequence[str], *, label: int) -> Iterator[_Row]:
    """One sentence per line, all of one class. Empty sentences occur in official files and are kept."""
    lines = file.lines(latin=True)
    if empty := sum(not line.strip() for line in lines):
        log.info("%s: %d of %d sentences are empty", file.name, empty, len(lines))
    for number, line in enumerate(lines, start=1):
        yield {"line": number, "sentence1": line.strip(), "label": label}


def _labelled(
    file: LabelledFile, classes: Sequence[str], *, pattern: str, expected: str, latin: bool = False
) -> Iterator[_Row]:
    """One sentence and its class per line; both are groups of the pattern."""
    for number, line in _numbered(file, latin=latin):
        match = re.fullmatch(pattern, line.strip())
        if not match:
            raise file.fault(number, f"expected {expected}")
        label = _label(file, number, match["label"], classes)
        yield {"line": number, "sentence1": match["sentence1"].strip(), "label": label}


def _table(
    file: LabelledFile, classes: Sequence[str], *, columns: Sequence[str], lowest: float = 0.0
) -> Iterator[_Row]:
    """One pair of sentences per line, after a header. Columns are tab-separated; unnamed ones are skipped."""
    for number, line in _numbered(file, header=1):
        texts = line.split("\t")
        if len(texts) < len(columns):
            raise file.fault(number, f"{len(texts)} columns, expected {len(columns)}")
        cells = dict(zip(columns, texts, strict=False))
        pair = {name: cells[name].strip() for name in ("sentence1", "sentence2")}
        if not all(pair.values()):
            raise file.fault(number, "a sentence is empty")
        label = _label(file, number, cells["label"], classes)
        score = file.score(number, cells["score"], lowest=lowest) if "score" in cells else None
        yield {"line": number, **pair, "label": label, "score": score}


def _numbered(file: LabelledFile, *, header: int = 0, latin: bool = False) -> list[tuple[int, str]]:
    """Lines with their numbers, counted from 1, without the header and without blank lines at the end."""
    lines = file.lines(latin=latin)
    while not lines[-1].strip():
        lines.pop()
    if len(lines) == header:
        raise InputError(f"{file.name}: contains no sentence")
    return list(enumerate(lines, start=1))[header:]


def _label(file: LabelledFile, number: int, text: str, classes: Sequence[str]) -> int:
    if text.strip() not in classes:
        raise file.fault(number, f"{text.strip()!r} is not one of the classes {', '.join(classes)}")
    return classes.index(text.strip())


_POSITIVE, _NEGATIVE = partial(_sentences, label=1), partial(_sentences, label=0)
_QUESTIONS = partial(
    _labelled,
    pattern="(?P<label>[^:]*):[^ ]* (?P<sentence1>.+)",
    expected="CLASS:kind and a sentence",
    latin=True,
)
_SENTIMENTS = partial(
    _labelled,
    pattern="(?P<sentence1>.+)\t(?P<label>[^\t]*)",
    expected="a sentence and its class with a tab between them",
)
_TOPICS = partial(
    _labelled,
    pattern="(?P<label>[^ ]*) (?P<sentence1>.+)",
    expected="a class and a sentence with a space between them",
)
_PARAPHRASES = partial(_table, columns=("label", "", "", "sentence1", "sentence2"))
_POLISH_PARAPHRASES = partial(_table, columns=("sentence1", "sentence2", "label"))
_JUDGED = partial(_table, columns=("", "sentence1", "sentence2", "score", "label"))


# Part, file in the archive's folder, and reader, in the order in which SentEval reads the files.
_SENTEVAL: dict[str, tuple[tuple[str, str, _Reader], ...]] = {
    "MR": (("all", "MR/rt-polarity.pos", _POSITIVE), ("all", "MR/rt-polarity.neg", _NEGATIVE)),
    "CR": (("all", "CR/custrev.pos", _POSITIVE), ("all", "CR/custrev.neg", _NEGATIVE)),
    "SUBJ": (("all", "SUBJ/subj.objective", _POSITIVE), ("all", "SUBJ/subj.subjective", _NEGATIVE)),
    "MPQA": (("all", "MPQA/mpqa.pos", _POSITIVE), ("all", "MPQA/mpqa.neg", _NEGATIVE)),
    "SST": tuple((part, f"SST/binary/sentiment-{part}", _SENTIMENTS) for part in ("train", "dev", "test")),
    "TREC": (("train", "TREC/train_5500.label", _QUESTIONS), ("test", "TREC/TREC_10.label", _QUESTIONS)),
    "MRPC": tuple((part, f"MRPC/msr_paraphrase_{part}.txt", _PARAPHRASES) for part in ("train", "test")),
    "SICK": tuple(
        (part, f"SICK/SICK_{name}.txt", partial(_JUDGED, lowest=1))
        for part, name in (("train", "train"), ("dev", "trial"), ("test", "test_annotated"))
    ),
}
_POLISH: dict[str, _Reader] = {
    "ppc": _POLISH_PARAPHRASES,
    "cr_h": _TOPICS,
    "cr_m": _TOPICS,
    "cds": _JUDGED,
    "sick": partial(_JUDGED, lowest=1),
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
        for part, name, reader in files:
            content = next((members[member] for member in members if member.match(name)), None)
            if content is None:
                raise InputError(f"{archive}: {name} is missing")
            yield _part_table("senteval", dataset, part, reader, LabelledFile(f"{archive}: {name}", content))


def _read_polish(files: Mapping[str, Sequence[Path]]) -> Iterator[pa.Table]:
    for dataset, reader in _POLISH.items():
        for part, words in _PARTS.items():
            paths = [path for path in files[dataset] if any(word in path.name for word in words)]
            if len(paths) != 1:
                names = ", ".join(str(path) for path in files[dataset])
                raise InputError(f"{names}: expected one file with {' or '.join(words)} in its name")
            yield _part_table(
                "polish", dataset, part, reader, LabelledFile(str(paths[0]), paths[0].read_bytes())
            )


def _part_table(suite: Suite, dataset: str, part: str, reader: _Reader, file: LabelledFile) -> pa.Table:
    if not file.content.strip():
        raise InputError(f"{file.name}: contains no sentence")
    classes = next(task.classes for task in TRANSFER_TASKS[suite] if task.dataset == dataset and task.classes)
    rows = [{"dataset": dataset, "part": part, **row} for row in reader(file, classes)]
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
