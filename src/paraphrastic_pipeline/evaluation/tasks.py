"""The tasks that systems are evaluated on: which systems they suit, and their tables.

`TASKS` is the one place that names a task. To add one, add it here, and write the function that evaluates a
system. The rules and the page take everything from here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from paraphrastic_pipeline.evaluation.testset_names import BENCHMARK, TRACKS, YEARS


@dataclass(frozen=True, slots=True)
class Layout:
    """A table of systems.

    Attributes:
        title: the heading above the table in the page of results.
        caption: which statistic the table shows, and on which data.
        columns: names of measurements by column.
        fields: other columns, between `data` and the figures. If `pair` is one of them, a result has a row
            for each pair of languages and way of scoring, which end the names of their measurements.
        prefix: if not empty, there is a column for each measurement named `{prefix} {column}`, where the
            column has no hyphen, and `avg`, the mean of a row's figures.
        digits: decimal places.
        task: the task whose results the table shows; filled in by `LAYOUTS`.
    """

    title: str
    caption: str
    columns: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    prefix: str = ""
    digits: int = 1
    task: str = ""

    def columns_of(self, measurements: Iterable[str]) -> Mapping[str, str]:
        """Names of measurements by column; with a `prefix`, those among the `measurements` of all results."""
        if not self.prefix:
            return self.columns
        start = f"{self.prefix} "
        names = {name for name in measurements if name.startswith(start) and "-" not in name}
        return {name.removeprefix(start): name for name in sorted(names)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task that systems are evaluated on.

    Attributes:
        tables: the tables of its results, by name.
        function: what evaluates a system, as `module:function`; see `workflow.functions`. It takes the
            encoder and the `testsets`, a list of them if there is one per part, and returns figures by name.
            If the task has `gold` or `parts`, it also takes these, under the name of their kind; and it can
            take `threads`.
        settings: its other arguments.
        testsets: path of the prepared test sets; `{part}` in it stands for a part of the task.
        gold: path of what is to be found in the test sets, if they do not have it.
        languages: languages that a system must know.
        related: whether a system named in `evaluation.only` may know a related language instead.
        parts: the kind of parts that a task in several languages has. A system is evaluated on those in its
            languages. They are the `tracks` of STS 2017, the `languages` or `pairs` of the data set in
            section `evaluation.TASK`, where the key of the same name can choose some of them, or the
            `definitions` that the configuration names.
        pairs: path of pairs whose sentences are candidates beside those of the test sets. Such a task is
            about the held-out pairs of a definition, which `{part}` stands for.
        of_models: whether only our models are evaluated, each on its own held-out pairs.
    """

    tables: Mapping[str, Layout]
    function: str
    settings: Mapping[str, str] = field(default_factory=dict)
    testsets: str
    gold: str = ""
    languages: tuple[str, ...] = ("en",)
    related: bool = False
    parts: Literal["", "tracks", "languages", "pairs", "definitions"] = ""
    pairs: str = ""
    of_models: bool = False


def _same(*names: str) -> dict[str, str]:
    """Columns that are named as their measurements."""
    return dict(zip(names, names, strict=True))


def _correlations(
    name: str,
    title: str,
    columns: Mapping[str, str],
    on: str,
    on_ranks: str = "",
    *,
    fields: tuple[str, ...] = ("dim",),
) -> dict[str, Layout]:
    """A table of Pearson's r and one of Spearman's ρ, with a column per data set."""
    pearson, spearman = (
        {column: f"{kind} {data}" for column, data in columns.items()} for kind in ("pearson", "spearman")
    )
    ranks = f"{title.partition(',')[0]}, ranks"
    return {
        name: Layout(title, f"Pearson's r × 100 {on}", pearson, fields),
        f"{name}_spearman": Layout(ranks, f"Spearman's ρ × 100 {on_ranks or on}", spearman, fields),
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

_HELD_OUT, _PAIRS = "results/held_out/{part}.parquet", "results/corpora/{part}/pairs.parquet"

# The order of the tables on the page.
TASKS = {
    "held_out": Task(
        tables={
            "held_out": Layout(
                "Held-out pairs",
                "Share × 100 of held-out sentences whose nearest sentence on the other side is their "
                "partner, from the first language to the second (forward) and back; in the last two "
                "columns, there are up to 10,000 sentences of the training data among the candidates",
                {
                    **_same("forward", "backward"),
                    "forward among distractors": "forward 1",
                    "backward among distractors": "backward 1",
                },
                ("pair", "n"),
            )
        },
        function="evaluation.held_out:evaluate_held_out",
        testsets=_HELD_OUT,
        pairs=_PAIRS,
        parts="definitions",
        languages=(),
        of_models=True,
    ),
    "retrieval": Task(
        tables={
            "retrieval": Layout(
                "Retrieval",
                "Share × 100 of held-out sentences whose partner is the nearest sentence on the other side, "
                "or among the ten nearest, from the first side to the second (forward) and back, where "
                "there are up to 10,000 sentences of the same corpora among the candidates",
                _same("forward 1", "forward 10", "backward 1", "backward 10"),
                ("pair", "n"),
            )
        },
        function="evaluation.held_out:evaluate_held_out",
        testsets=_HELD_OUT,
        pairs=_PAIRS,
        parts="definitions",
    ),
    "sts": Task(
        tables=_correlations(
            "sts",
            "English STS 2012–2016",
            _same(*YEARS, "avg"),
            "on STS 2012–2016: mean over the datasets of a year, then over the years",
            "on STS 2012–2016: over the concatenated datasets of each year, without SMT of 2013",
            fields=(),
        ),
        function="evaluation.sts:evaluate_sts",
        testsets="results/testsets/sts.parquet",
    ),
    "xling_sts": Task(
        tables=_correlations(
            "xling_sts",
            "STS 2017, in and across languages",
            {track: f"2017/{track}" for track in TRACKS},
            "on the tracks of STS 2017",
        ),
        function="evaluation.sts:evaluate_tracks",
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
        function="evaluation.sts:evaluate_benchmark",
        testsets="results/testsets/sts.parquet",
    ),
    "tatoeba": Task(
        tables={
            "tatoeba": Layout(
                "Tatoeba",
                "Error rate × 100 on Tatoeba: sentences whose nearest English neighbour is not their "
                "translation",
                prefix="error",
            )
        },
        function="evaluation.bitext:evaluate_tatoeba",
        testsets="results/testsets/tatoeba/{part}.parquet",
        parts="languages",
    ),
    "bucc": Task(
        tables={
            "bucc": Layout(
                "BUCC 2018",
                "Precision, recall and F1 × 100 of the translations mined from BUCC 2018's sentences, at the "
                "threshold with the highest F1",
                _same("precision", "recall", "f1", "threshold"),
                ("pair",),
            )
        },
        function="evaluation.bitext:evaluate_bucc",
        testsets="results/testsets/bucc/{part}.parquet",
        gold="results/testsets/bucc/{part}.gold.parquet",
        parts="pairs",
    ),
    "senteval": Task(
        tables={
            "senteval": Layout(
                "SentEval",
                "SentEval's tasks, solved by a logistic regression on fixed vectors: accuracy × 100, for "
                "MRPC also F1 × 100, and for SICK-R Pearson's r × 100",
                _SENTEVAL,
                ("dim",),
            )
        },
        function="evaluation.transfer:evaluate_transfer",
        settings={"suite": "senteval"},
        testsets="results/testsets/senteval.parquet",
        related=True,
    ),
    "polish": Task(
        tables={
            "polish": Layout(
                "Polish tasks",
                "Polish tasks, solved by a network with one hidden layer on fixed vectors: accuracy × 100, "
                "and for CDSC-R and SICK-R Spearman's ρ × 100",
                _POLISH,
                ("dim",),
                digits=2,
            )
        },
        function="evaluation.transfer:evaluate_transfer",
        settings={"suite": "polish"},
        testsets="results/testsets/polish.parquet",
        languages=("pl",),
        related=True,
    ),
}
LAYOUTS = {
    table: replace(layout, task=name) for name, task in TASKS.items() for table, layout in task.tables.items()
}
