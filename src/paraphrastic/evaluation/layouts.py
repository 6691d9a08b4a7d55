"""What each table of systems shows of their results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log10
from typing import Any

from paraphrastic.evaluation.tasks import BENCHMARK, TRACKS, YEARS

# The track of translation quality, apart from the others.
TRANSLATION_QUALITY = "es-en-4b"
# Columns of XSTS, in the order of the contract.
_TRACKS = [track for track in TRACKS if track != TRANSLATION_QUALITY]


@dataclass(frozen=True, slots=True)
class Line:
    """One row that a table has of a result.

    Attributes:
        columns: names of measurements by column.
        fields: what other columns say.
        suffix: of the system's name.
    """

    columns: Mapping[str, str]
    fields: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A table of systems.

    Attributes:
        task: whose results it shows.
        lines: the rows of a result, from the content of its JSON file.
        columns: all columns of figures, from the contents of all results.
        fields: other columns, between `data` and the figures.
        average: whether a column `avg` has the mean of a row's figures.
        scale: what figures are multiplied by.
        digits: after the point.
        published_scale: what published figures of a column are multiplied by, to be in the table's unit.
    """

    task: str
    lines: Callable[[Mapping[str, Any]], Sequence[Line]]
    columns: Callable[[Sequence[Mapping[str, Any]]], Sequence[str]]
    fields: tuple[str, ...] = ()
    average: bool = False
    scale: float = 100.0
    digits: int = 1
    published_scale: Mapping[str, float] = field(default_factory=dict)

    def published(self, column: str, printed: str) -> str:
        """A published figure in the table's unit, with as many digits as are printed."""
        if not printed or column not in self.published_scale:
            return printed
        scale = self.published_scale[column]
        digits = len(printed.partition(".")[2]) - round(log10(scale))
        return f"{scale * float(printed):.{max(0, digits)}f}"


def _fixed(task: str, columns: Mapping[str, str], fields: tuple[str, ...] = (), *, digits: int = 1) -> Layout:
    """A table with a row for each result, and the same columns whatever these have."""
    return Layout(
        task=task,
        lines=lambda _: [Line(columns)],
        columns=lambda _: list(columns),
        fields=fields,
        digits=digits,
    )


def _named(task: str, prefix: str) -> Layout:
    """A table with a column for every measurement whose name is a word and one more, and their mean."""

    def names(contents: Sequence[Mapping[str, Any]]) -> list[str]:
        split = [name.split(" ") for content in contents for name in content["measurements"]]
        return sorted({words[1] for words in split if words[0] == prefix and "-" not in words[1]})

    return Layout(
        task=task,
        lines=lambda content: [Line({name: f"{prefix} {name}" for name in names([content])})],
        columns=lambda contents: [*names(contents), "avg"],
        average=True,
    )


def _bucc(content: Mapping[str, Any]) -> list[Line]:
    """A row for each pair of languages and way of scoring."""
    return [
        Line(
            {figure: f"{figure} {pair} {scoring}" for figure in ("precision", "recall", "f1")},
            {"pair": pair, "threshold": f"{found['threshold']:.4f}"},
            f" ({scoring})",
        )
        for pair, scorings in content["pairs"].items()
        for scoring, found in scorings.items()
    ]


def _tracks(statistic: str, tracks: Sequence[str]) -> dict[str, str]:
    return {track: f"{statistic} 2017/{track}" for track in tracks}


def _parts(statistic: str) -> dict[str, str]:
    genres = {"": "", "_captions": " captions", "_no_captions": " others"}
    return {
        f"{part}{column}": f"{statistic} {BENCHMARK}/{part.replace('_', ' ')}{genre}"
        for part in ("dev", "test", "test_trained")
        for column, genre in genres.items()
    }


_SENTEVAL = {
    **{name: f"accuracy {name}" for name in ("MR", "CR", "SUBJ", "MPQA")},
    "SST": "accuracy SST-2",
    "TREC": "accuracy TREC",
    "MRPC": "accuracy MRPC",
    "MRPC-F1": "f1 MRPC",
    "SICK-R": "pearson SICK-R",
    "SICK-E": "accuracy SICK-E",
}
_POLISH = {
    "avg": "avg",
    **{name: f"accuracy {name}" for name in ("PPC", "CR-H", "CR-M", "CDSC-E", "SICK-E")},
    **{name: f"spearman {name}" for name in ("CDSC-R", "SICK-R")},
    "8TAGS": "accuracy 8TAGS",
}

LAYOUTS = {
    "sts": _fixed("sts", {name: f"pearson {name}" for name in (*YEARS, "avg")}),
    "sts_spearman": _fixed("sts", {name: f"spearman {name}" for name in (*YEARS, "avg")}),
    "xling_sts": _fixed("xling_sts", _tracks("pearson", _TRACKS), ("dim",)),
    "xling_sts_spearman": _fixed("xling_sts", _tracks("spearman", _TRACKS), ("dim",)),
    "xling_sts_4b": _fixed(
        "xling_sts",
        {statistic: f"{statistic} 2017/{TRANSLATION_QUALITY}" for statistic in ("pearson", "spearman")},
        ("dim",),
    ),
    "stsb": _fixed("stsb", _parts("pearson"), ("dim",)),
    "stsb_spearman": _fixed("stsb", _parts("spearman"), ("dim",)),
    "tatoeba": _named("tatoeba", "error"),
    "bucc": Layout(
        task="bucc",
        lines=_bucc,
        columns=lambda _: ["precision", "recall", "f1", "threshold"],
        fields=("pair",),
    ),
    # The papers print it as a share, beside accuracies in per cent.
    "senteval": replace(_fixed("senteval", _SENTEVAL, ("dim",)), published_scale={"SICK-R": 100.0}),
    "polish": _fixed("polish", _POLISH, ("dim",), digits=2),
}
