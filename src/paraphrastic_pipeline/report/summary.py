"""What the page of a run says first: the headline, how fast the models are, and what they learned from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraphrastic_pipeline.corpus.counts import WITHOUT_PAIRS
from paraphrastic_pipeline.report.shown_tables import plain_system, read_records, read_rows, readable


@dataclass(frozen=True, slots=True)
class Gain:
    """A system's mean on STS 2012–2016, before and after training, and the interval of the latter.

    `without` has the data that the mean is without, such as `2013 without SMT`.
    """

    system: str
    after: float
    before: float | None
    interval: tuple[float, float] | None
    without: Sequence[str]


@dataclass(frozen=True, slots=True)
class Headline:
    """The main result.

    Attributes:
        gains: one entry per system, the best first.
        published: the best published mean and its system; None if the table has no published row.
        sample: whether any system was evaluated on sample data instead of the official test data.
    """

    gains: Sequence[Gain]
    published: tuple[float, str] | None
    sample: bool


def read_headline(tables: Path) -> Headline | None:
    """Read the headline of a run from its tables `sts`; None if no system has a mean over all years."""
    rows = [row for row in read_records(tables / "sts.csv") if row.avg]
    measured = [row for row in rows if row.source == "measured"]
    if not measured:
        return None
    before = {row.system: float(row.avg) for row in rows if row.source == "untrained"}
    around = {
        row.system: (float(row.low), float(row.high))
        for row in read_records(tables / "intervals" / "sts.csv")
        if row.source == "measured" and row.column == "avg" and row.low
    }
    gains = []
    for row in sorted(measured, key=lambda row: -float(row.avg)):
        name, without = plain_system(row.system)
        gains.append(Gain(name, float(row.avg), before.get(row.system), around.get(row.system), without))
    printed = [(float(row.avg), row.system) for row in rows if row.source == "published"]
    return Headline(gains, max(printed, default=None), any(row.data == "sample" for row in measured))


def read_pairs(tables: Path) -> tuple[str, str]:
    """Read from the table `funnel` how many training pairs there are, and how many pairs were read.

    Text without pairs does not count. Models that share their pairs have equal rows, which count once.
    """
    rows = {
        tuple(cell for name, cell in row.items() if name != "model"): row
        for row in read_rows(tables / "funnel.csv")
        if not row["corpus"].endswith(WITHOUT_PAIRS)
    }
    kept, read = (sum(int(row[name]) for row in rows.values()) for name in ("kept", "read"))
    return f"{kept:,}", f"{read:,}"


def read_speeds(tables: Path) -> list[tuple[str, str]]:
    """Read from the table `speed` the best speed on each device of this run, as a figure and in words."""
    rows = sorted(read_records(tables / "speed.csv"), key=lambda row: -float(row.sentences_per_second))
    best: dict[str, tuple[str, str]] = {}
    for row in rows:
        # Users wait for the preprocessing too.
        if row.source == "measured" and row.preprocessing == "counted":
            where = "the GPU" if row.device == "gpu" else f"cores: {row.cores}"
            what = f"sentences per second from raw text to vectors, by {row.system} ({where})"
            best.setdefault(where, (readable(row.sentences_per_second), what))
    return list(best.values())


def trained_models(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """The names of the corpora that each model of a configuration learns from, by the model's name."""
    return {
        model: [
            corpus if isinstance(corpus, str) else corpus.get("name") or Path(corpus["path"]).name
            for corpus in config["definitions"][model]["corpora"] or ()
        ]
        for model in config["models"]
    }
