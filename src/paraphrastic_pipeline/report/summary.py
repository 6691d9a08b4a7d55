"""Summaries on the page: the headline, the speed, and the provenance of the results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.counts import WITHOUT_PAIRS
from paraphrastic_pipeline.report.shown_tables import plain_system, read_rows, readable


@dataclass(frozen=True, slots=True)
class Gain:
    """A system's mean on STS 2012–2016, its interval if known, and its mean before training.

    `without` has the data that the mean is without, such as `2013 without SMT`.
    """

    system: str
    after: float
    before: float | None
    interval: tuple[float, float] | None
    without: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Headline:
    """The main result.

    Attributes:
        gains: one entry per system, the best first.
        published: the best published mean and its system; None if the table has no published row.
        sample: whether any system was evaluated on sample data instead of the official test data.
        axis: low and high end of a scale that contains all figures.
    """

    gains: Sequence[Gain]
    published: tuple[float, str] | None
    sample: bool
    axis: tuple[int, int]

    def place(self, value: float) -> str:
        """Position of a value on the scale, in per cent."""
        low, high = self.axis
        return f"{100 * (value - low) / (high - low):.2f}%"


def read_headline(path: Path) -> Headline:
    """Read the headline of a run from `sts.csv`, and from its file of intervals if there is one.

    Raises:
        InputError: the table is missing or damaged, or nothing was measured.
    """
    rows = [row for row in read_rows(path) if row.get("avg")]
    measured = [row for row in rows if row["source"] == "measured"]
    if not measured:
        raise InputError(f"{path}: no system has a mean over all years")
    before = {row["system"]: float(row["avg"]) for row in rows if row["source"] == "untrained"}
    intervals = path.parent / "intervals" / path.name
    around = {
        row["system"]: (float(row["low"]), float(row["high"]))
        for row in (read_rows(intervals) if intervals.is_file() else ())
        if row["source"] == "measured" and row["column"] == "avg" and row["low"]
    }
    gains = []
    for row in sorted(measured, key=lambda row: -float(row["avg"])):
        system, (name, without) = row["system"], plain_system(row["system"])
        gains.append(Gain(name, float(row["avg"]), before.get(system), around.get(system), without))
    published = max(
        ((float(row["avg"]), row["system"]) for row in rows if row["source"] == "published"), default=None
    )
    ends = [float(row["avg"]) for row in rows if row["source"] != "published"]
    ends += [end for gain in gains for end in gain.interval or ()]
    ends += [published[0]] if published else []
    # A scale is easier to read if it begins and ends at a multiple of ten.
    axis = (10 * floor(min(ends) / 10), 10 * ceil(max(ends) / 10 + 1e-9))
    return Headline(gains, published, any(row["data"] == "sample" for row in measured), axis)


def read_pairs(path: Path) -> tuple[str, str]:
    """Read from `funnel.csv` how many training pairs there are, and how many pairs were read.

    Text without pairs does not count. Models that share their pairs have equal rows, which count once.
    """
    every = [
        {key: cell for key, cell in row.items() if key != "model"}
        for row in read_rows(path)
        if not row["corpus"].endswith(WITHOUT_PAIRS)
    ]
    rows = list({tuple(row.items()): row for row in every}.values())
    kept, read = (readable(str(sum(int(row[name] or 0) for row in rows))) for name in ("kept", "read"))
    return kept, read


def read_speeds(path: Path) -> list[tuple[str, str]]:
    """Read speeds from `speed.csv`, each as a figure and its description; none if none was measured.

    They are the best one on each device of this run, and the best one that is published for one core.
    """
    # Users wait for the preprocessing too.
    counted = {"source": "measured", "preprocessing": "counted"}
    rows = read_rows(path)
    best: dict[tuple[str, str], dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: -float(row["sentences_per_second"])):
        if counted.items() <= row.items():
            best.setdefault((row["device"], row["cores"]), row)
    speeds = []
    for (device, cores), row in best.items():
        where = f"{cores} core{'s' * (cores != '1')}" if device == "cpu" else device.upper()
        what = (
            f"sentences per second on {where} of this machine, from raw text to vectors, by {row['system']}"
        )
        speeds.append((readable(row["sentences_per_second"]), what))
    single = {"source": "published", "device": "cpu", "cores": "1"}
    printed = [row for row in rows if single.items() <= row.items()]
    if speeds and printed:
        best_printed = max(printed, key=lambda row: float(row["sentences_per_second"]))
        without = "" if best_printed["preprocessing"] == "counted" else ", without cutting the text"
        what = f"is the best figure that the papers print for one core: {best_printed['system']}{without}"
        speeds.append((readable(best_printed["sentences_per_second"]), what))
    return speeds


def trained_models(content: Mapping[str, Any]) -> dict[str, list[str]]:
    """The corpora of the models of a run by their names, from the content of its `provenance.json`."""
    config = content["config"]
    found = {}
    for model in config.get("models", ()):
        corpora = config["definitions"][model].get("corpora") or []
        found[model] = [
            corpus if isinstance(corpus, str) else Path(corpus.get("name") or corpus["path"]).name
            for corpus in corpora
        ]
    return found


def provenance_facts(content: Mapping[str, Any]) -> dict[str, str]:
    """Facts about a whole run as text, by their names, from the content of its `provenance.json`."""
    written = content["written"]
    return {
        "Written": f"{_time(written['time'])} on {written['host']}, {written['platform']}",
        "Processor": written["processor"],
        "Commit": written["commit"] or "none: the pipeline is not in a git repository",
        "Seed": str(content["seed"]),
        "Python": written["python"],
        "Configuration": f"SHA-256 {content['config_digest']}",
    }


def _time(text: str) -> str:
    return text.replace("T", " ").replace("+00:00", " UTC")
