"""Classification and regression on fixed vectors: SentEval's tasks, and the Polish ones of Dadas 2022."""

from dataclasses import dataclass
from typing import Literal

Suite = Literal["senteval", "polish"]
# `nested` cross-validation of all rows; `folds` of the training data, with test data apart; a `split` into
# training, development and test data; and the same with scores instead of classes.
Protocol = Literal["nested", "folds", "split", "relatedness"]
# The parts of the data that a protocol takes.
PARTS: dict[Protocol, tuple[str, ...]] = {
    "nested": ("all",),
    "folds": ("train", "test"),
    "split": ("train", "dev", "test"),
    "relatedness": ("train", "dev", "test"),
}


@dataclass(frozen=True, slots=True)
class TransferTask:
    """One task.

    Attributes:
        name: as the papers' tables have it.
        dataset: the data, which two tasks can share.
        protocol: how it is trained and tested.
        classes: names, in the order of their numbers; none of a task with scores.
    """

    name: str
    dataset: str
    protocol: Protocol
    classes: tuple[str, ...] = ()


_POLARITY = ("negative", "positive")
_BINARY = ("0", "1")
# In SentEval's order, by which its toolkit sorts sentences of one length.
ENTAILMENT = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
QUESTIONS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
_REVIEWS = ("0", "1", "2", "3")
_TAGS = ("0", "1", "2", "3", "4", "5", "6", "7")

TASKS: dict[Suite, tuple[TransferTask, ...]] = {
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
