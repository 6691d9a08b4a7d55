"""The transfer tasks, SentEval's and the Polish ones of Dadas 2022, and readers of their data."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.evaluation.labelled_file import LabelledFile, labelled_files

Suite = Literal["senteval", "polish"]
# Rows of the part `all` are cross-validated, and so are training rows without development data.
PARTS = ("all", "train", "dev", "test")


class TransferTask(NamedTuple):
    """A task: its name in the papers' tables, its data, which two tasks can share, and its classes.

    The classes are in the order of their numbers. A task without classes has scores.
    """

    name: str
    dataset: str
    classes: tuple[str, ...] = ()


_POLARITY = ("negative", "positive")
_BINARY = tuple("01")
# SentEval's order: its toolkit sorts sentences of equal length by class.
ENTAILMENT = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
QUESTIONS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")

TRANSFER_TASKS: dict[Suite, tuple[TransferTask, ...]] = {
    "senteval": (
        TransferTask("MR", "MR", _POLARITY),
        TransferTask("CR", "CR", _POLARITY),
        TransferTask("SUBJ", "SUBJ", ("subjective", "objective")),
        TransferTask("MPQA", "MPQA", _POLARITY),
        TransferTask("SST-2", "SST", _BINARY),
        TransferTask("TREC", "TREC", QUESTIONS),
        TransferTask("MRPC", "MRPC", _BINARY),
        TransferTask("SICK-R", "SICK"),
        TransferTask("SICK-E", "SICK", ENTAILMENT),
    ),
    "polish": (
        TransferTask("PPC", "ppc", tuple("123")),
        TransferTask("CR-H", "cr_h", tuple("0123")),
        TransferTask("CR-M", "cr_m", tuple("0123")),
        TransferTask("CDSC-E", "cds", ENTAILMENT),
        TransferTask("SICK-E", "sick", ENTAILMENT),
        TransferTask("CDSC-R", "cds"),
        TransferTask("SICK-R", "sick"),
        TransferTask("8TAGS", "8tags", tuple("01234567")),
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


class _Lines(NamedTuple):
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

    `files` by data set are one for `senteval`, a zip or tar archive of its folder `data/downstream`. `polish`
    has train, dev and test files, told apart by their names. A missing file or a bad line is an `InputError`.
    """
    paths = {name: list(map(Path, given)) for name, given in files.items()}
    parts = _senteval_parts(paths[suite][0]) if suite == "senteval" else _polish_parts(paths)
    classes = {task.dataset: task.classes for task in TRANSFER_TASKS[suite] if task.classes}
    rows: list[Json] = []
    for dataset, part, lines, file in parts:
        of_part = [{"dataset": dataset, "part": part, **row} for row in _rows(file, lines, classes[dataset])]
        if not any(row["sentence1"] for row in of_part):
            raise InputError(f"{file.name}: contains no sentence")
        rows += of_part
    write_table(testsets, pa.Table.from_pylist(rows, schema=_SCHEMA))


# A data set, a part of it, and the file of this part.
_Part = tuple[str, str, _Lines, LabelledFile]


def _senteval_parts(archive: Path) -> Iterator[_Part]:
    names = [name for files in _SENTEVAL.values() for _, name, _ in files]
    found = labelled_files(archive, names)
    if missing := [name for name in names if name not in found]:
        raise InputError(f"{archive}: {missing[0]} is missing")
    for dataset, files in _SENTEVAL.items():
        for part, name, lines in files:
            yield dataset, part, lines, found[name]


def _polish_parts(files: Mapping[str, Sequence[Path]]) -> Iterator[_Part]:
    for dataset, lines in _POLISH.items():
        for part, words in _PARTS.items():
            paths = [path for path in files[dataset] if any(word in path.name for word in words)]
            if len(paths) != 1:
                names = ", ".join(map(str, files[dataset]))
                raise InputError(f"{names}: expected one file with {' or '.join(words)} in its name")
            yield dataset, part, lines, LabelledFile(str(paths[0]), paths[0].read_bytes())


def _rows(file: LabelledFile, written: _Lines, classes: Sequence[str]) -> Iterator[Json]:
    """The rows of a file; a line that is written otherwise is an `InputError`."""
    lines = list(enumerate(file.lines(latin=written.latin), start=1))[written.header :]
    while written.label is None and lines and not lines[-1][1].strip():
        lines.pop()
    for number, line in lines:
        match = re.fullmatch(written.pattern, line.strip())
        if not match:
            raise file.fault(number, f"expected {written.expected}")
        cells: Json = {name: text.strip() for name, text in match.groupdict().items()}
        label, score = cells.get("label"), cells.get("score")
        if written.label is None and label not in classes:
            raise file.fault(number, f"{label!r} is not one of the classes {', '.join(classes)}")
        cells |= {"line": number, "label": written.label if label is None else classes.index(label)}
        yield cells | ({} if score is None else {"score": file.score(number, score, lowest=written.lowest)})


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
