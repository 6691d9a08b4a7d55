"""The tasks that systems are evaluated on: which systems they are for, what they take, and their tables.

`TASKS` is the one place in the library that names a task. A rule and its script evaluate a system on it; the
catalogue of the pipeline, the page, the ledger and the plan take from here whatever else they need.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log10
from typing import Any, Literal

from paraphrastic.evaluation.tasks import BENCHMARK, TRACKS, YEARS

# The track of translation quality, apart from the others.
TRANSLATION_QUALITY = "es-en-4b"


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
        title: above it in the page of results.
        caption: which statistic it shows, of what.
        lines: the rows of a result, from the content of its JSON file.
        columns: all columns of figures, from the contents of all results.
        fields: other columns, between `data` and the figures.
        average: whether a column `avg` has the mean of a row's figures.
        digits: after the point.
        published_scale: what published figures of a column are multiplied by, to be in the table's unit.
        lower_is_better: whether the figures count errors.
        needs: the part of the task that a system must be evaluated on to have a row; any if it is empty.
        task: whose results it shows; `LAYOUTS` has filled it in.
    """

    title: str
    caption: str
    lines: Callable[[Mapping[str, Any]], Sequence[Line]]
    columns: Callable[[Sequence[Mapping[str, Any]]], Sequence[str]]
    fields: tuple[str, ...] = ()
    average: bool = False
    digits: int = 1
    published_scale: Mapping[str, float] = field(default_factory=dict)
    lower_is_better: bool = False
    needs: str = ""
    task: str = ""

    def published(self, column: str, printed: str) -> str:
        """A published figure in the table's unit, with as many digits as are printed."""
        if not printed or column not in self.published_scale:
            return printed
        scale = self.published_scale[column]
        digits = len(printed.partition(".")[2]) - round(log10(scale))
        return f"{scale * float(printed):.{max(0, digits)}f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task that systems are evaluated on.

    Attributes:
        tables: the tables of its results, by name.
        memory_mb: what evaluating a system takes at most, beside the system's weights.
        seconds: of one core, usually; both measured as `pipeline/resources.py` says.
        testsets: the prepared test sets; `{part}` in the path is a part of the task.
        languages: a system must know them.
        related: whether a system that `evaluation.only` names may know a related language instead.
        parts: what a task in several languages is made of, of which a system is evaluated on those in its
            languages: `tracks` of STS 2017; `languages` or `pairs` of the data set in the section
            `evaluation.TASK`, whose key of that name may choose among them.
    """

    tables: Mapping[str, Layout]
    memory_mb: float
    seconds: float
    testsets: str
    languages: tuple[str, ...] = ("en",)
    related: bool = False
    parts: Literal["", "tracks", "languages", "pairs"] = ""


def _fixed(
    title: str, caption: str, columns: Mapping[str, str], fields: tuple[str, ...] = (), **others: Any
) -> Layout:
    """A table with a row for each result, and the same columns whatever these have."""
    return Layout(
        title=title,
        caption=caption,
        lines=lambda _: [Line(columns)],
        columns=lambda _: list(columns),
        fields=fields,
        **others,
    )


def _named(title: str, caption: str, prefix: str, **others: Any) -> Layout:
    """A table with a column for every measurement whose name is a word and one more, and their mean."""

    def names(contents: Sequence[Mapping[str, Any]]) -> list[str]:
        split = [name.split(" ") for content in contents for name in content["measurements"]]
        return sorted({words[1] for words in split if words[0] == prefix and "-" not in words[1]})

    return Layout(
        title=title,
        caption=caption,
        lines=lambda content: [Line({name: f"{prefix} {name}" for name in names([content])})],
        columns=lambda contents: [*names(contents), "avg"],
        average=True,
        **others,
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


def _correlations(
    name: str,
    title: str,
    columns: Mapping[str, str],
    *captions: str,
    fields: tuple[str, ...] = ("dim",),
) -> dict[str, Layout]:
    """A table of Pearson's r and one of Spearman's ρ, with columns by the data; one caption, or one each."""
    return {
        f"{name}{end}": _fixed(
            title.partition(",")[0] + more if more else title,
            f"{statistic} × 100 {caption}",
            {column: f"{kind} {data}" for column, data in columns.items()},
            fields,
        )
        for end, more, statistic, kind, caption in (
            ("", "", "Pearson's r", "pearson", captions[0]),
            ("_spearman", ", ranks", "Spearman's ρ", "spearman", captions[-1]),
        )
    }


_PARTS = {
    f"{part}{column}": f"{BENCHMARK}/{part.replace('_', ' ')}{genre}"
    for part in ("dev", "test", "test_trained")
    for column, genre in {"": "", "_captions": " captions", "_no_captions": " others"}.items()
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

# In the order of the tables.
TASKS = {
    "sts": Task(
        tables=_correlations(
            "sts",
            "English STS 2012–2016",
            {name: name for name in (*YEARS, "avg")},
            "on STS 2012–2016: mean over the datasets of a year, then over the years",
            "on STS 2012–2016: over each year's concatenated datasets without 2013's SMT",
            fields=(),
        ),
        memory_mb=680,
        seconds=5,
        testsets="results/testsets/sts.parquet",
    ),
    "xling_sts": Task(
        tables={
            **_correlations(
                "xling_sts",
                "STS 2017, in and across languages",
                {track: f"2017/{track}" for track in TRACKS if track != TRANSLATION_QUALITY},
                "on the tracks of STS 2017",
            ),
            "xling_sts_4b": _fixed(
                "STS 2017, quality of translations",
                "Pearson's r and Spearman's ρ × 100 on STS 2017's track 4b, Spanish and English, of "
                "translation quality",
                {name: f"{name} 2017/{TRANSLATION_QUALITY}" for name in ("pearson", "spearman")},
                ("dim",),
                needs=TRANSLATION_QUALITY,
            ),
        },
        memory_mb=500,
        seconds=2.4,
        testsets="results/testsets/sts.parquet",
        parts="tracks",
    ),
    "stsb": Task(
        tables=_correlations(
            "stsb",
            "STS Benchmark",
            _PARTS,
            "on STS Benchmark: all pairs, captions only, and without captions",
        ),
        memory_mb=590,
        seconds=25,
        testsets="results/testsets/sts.parquet",
    ),
    "tatoeba": Task(
        tables={
            "tatoeba": _named(
                "Tatoeba",
                "Error rate × 100 on Tatoeba: sentences whose nearest English neighbour is not their "
                "translation",
                "error",
                lower_is_better=True,
            )
        },
        memory_mb=580,
        seconds=1.5,
        testsets="results/testsets/tatoeba/{part}.parquet",
        parts="languages",
    ),
    "bucc": Task(
        tables={
            "bucc": Layout(
                title="BUCC 2018",
                caption="Precision, recall and F1 × 100 of the translations mined from BUCC 2018's "
                "sentences, "
                "at the threshold of the highest F1",
                lines=_bucc,
                columns=lambda _: ["precision", "recall", "f1", "threshold"],
                fields=("pair",),
            )
        },
        # For so many sentences that they do not count.
        memory_mb=690,
        seconds=4,
        testsets="results/testsets/bucc/{part}.parquet",
        parts="pairs",
    ),
    "senteval": Task(
        tables={
            "senteval": _fixed(
                "SentEval",
                "SentEval's tasks, a logistic regression on fixed vectors: accuracy × 100, of MRPC also "
                "F1 × 100; of SICK-R Pearson's r × 100",
                _SENTEVAL,
                ("dim",),
                # The papers print it as a share, beside accuracies in per cent.
                published_scale={"SICK-R": 100.0},
            )
        },
        memory_mb=1070,
        seconds=60,
        testsets="results/testsets/senteval.parquet",
        related=True,
    ),
    "polish": Task(
        tables={
            "polish": _fixed(
                "Polish tasks",
                "Polish tasks, a network with a hidden layer on fixed vectors: accuracy × 100; of CDSC-R and "
                "SICK-R Spearman's ρ × 100",
                _POLISH,
                ("dim",),
                digits=2,
            )
        },
        memory_mb=670,
        seconds=200,
        testsets="results/testsets/polish.parquet",
        languages=("pl",),
        related=True,
    ),
}
LAYOUTS = {
    table: replace(layout, task=name) for name, task in TASKS.items() for table, layout in task.tables.items()
}
