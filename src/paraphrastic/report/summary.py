"""What the page says in short: the headline, the ledger by verdict, and where the results come from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic.report.provenance import read_provenance
from paraphrastic.report.tables import read_rows, readable

VERDICTS = ("reproduced", "better", "worse", "not run")
_LEDGER = ("table", "paper", "printed_in", "system", "row", "column", "published", "measured", "low", "high",
           "difference", "verdict", "why")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Gain:
    """A system's mean over STS 2012–2016, its interval if there is one, and what it was before training."""

    system: str
    after: float
    before: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Headline:
    """The main result.

    Attributes:
        gains: of the systems, the best first.
        published: the best published mean and its system; None where none stands in the table.
        sample: whether the test data are the sample's.
        axis: ends of a scale on which all of these are.
    """

    gains: Sequence[Gain]
    published: tuple[float, str] | None
    sample: bool
    axis: tuple[int, int]

    def place(self, value: float) -> str:
        """Where a value is on the scale, in per cent."""
        low, high = self.axis
        return f"{100 * (value - low) / (high - low):.2f}%"


def read_headline(path: Path) -> Headline:
    """The headline of a run, from `sts.csv`, and from its intervals if they are there.

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
    gains = [
        Gain(row["system"], float(row["avg"]), before.get(row["system"]), around.get(row["system"]))
        for row in sorted(measured, key=lambda row: -float(row["avg"]))
    ]
    published = max(
        ((float(row["avg"]), row["system"]) for row in rows if row["source"] == "published"), default=None
    )
    ends = [float(row["avg"]) for row in rows if row["source"] != "published"]
    ends += [end for gain in gains for end in gain.interval or ()]
    ends += [published[0]] if published else []
    # Whole tens, since a scale that begins anywhere is hard to read.
    axis = (10 * floor(min(ends) / 10), 10 * ceil(max(ends) / 10 + 1e-9))
    return Headline(gains, published, any(row["data"] == "sample" for row in measured), axis)


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Pairs that models are trained on, as a figure and what it is of, from `funnel.csv`."""
    rows = read_rows(path)
    kept, read = (readable(str(sum(int(row[name] or 0) for row in rows))) for name in ("kept", "read"))
    return [(kept, f"training pairs, of {read} that were read")]


def read_speed(path: Path) -> list[tuple[str, str]]:
    """The fastest system, as a figure and what it is of, from `speed.csv`; none where none was measured."""
    # What a user waits for.
    counted = {"source": "measured", "preprocessing": "counted"}
    speeds = [row for row in read_rows(path) if counted.items() <= row.items()]
    if not speeds:
        return []
    best = max(speeds, key=lambda row: float(row["sentences_per_second"]))
    cores = f"{best['cores']} CPU core{'s' * (best['cores'] != '1')}"
    where = cores if best["device"] == "cpu" else best["device"].upper()
    fact = f"sentences embedded a second at best, by {best['system']} on {where}"
    return [(readable(best["sentences_per_second"]), fact)]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Published figures, how many of them have each verdict, and the same of each published table."""

    rows: Sequence[Mapping[str, str]]
    counts: Mapping[str, int]
    tables: Mapping[str, "Ledger"]

    @property
    def size(self) -> int:
        """Number of published figures."""
        return len(self.rows)


def read_ledger(path: Path) -> Ledger:
    """Read the ledger; an `InputError` if it is missing or damaged."""
    rows = read_rows(path)
    if lacking := [name for name in _LEDGER if name not in rows[0]]:
        raise InputError(f"{path}: has no column {lacking[0]}")
    # What was compared is what a reader looks for.
    rows.sort(key=lambda row: row["verdict"] == "not run")
    by_table: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        by_table.setdefault(row["table"], []).append(row)
    # A table's first row was compared if any was.
    names = sorted(by_table, key=lambda name: by_table[name][0]["verdict"] == "not run")
    tables = {name: Ledger(by_table[name], _verdicts(by_table[name]), {}) for name in names}
    return Ledger(rows, _verdicts(rows), tables)


def _verdicts(rows: Sequence[Mapping[str, str]]) -> dict[str, int]:
    counts = Counter(row["verdict"] for row in rows)
    return {verdict: counts[verdict] for verdict in (*VERDICTS, *sorted(set(counts) - set(VERDICTS)))}


def summarise_provenance(path: Path) -> dict[str, Mapping[str, Any]]:
    """Read `provenance.json`: its `content`, and for reading, the `facts` of the whole run by what they are.

    Raises:
        InputError: the file is missing or damaged.
    """
    content = read_provenance(path)
    written = content["written"]
    results = content["results"].values()
    hosts = Counter(about["host"] for about in results if about.get("host"))
    commits = Counter(about["commit"] for about in results if about.get("commit"))
    times = sorted(about["time"] for about in results)
    facts = {
        "Written": f"{_time(written['time'])} on {written['host']}, {written['platform']}",
        "Results made": f"{_time(times[0])} to {_time(times[-1])}" if times else "none",
        "Made on": ", ".join(sorted(hosts)) or "not recorded",
        "Commit": written["commit"] or "none: the pipeline is not in a git repository",
        "Commits of the results": ", ".join(commits) if set(commits) - {written["commit"]} else "",
        "Seed": str(content["seed"]),
        "Python": written["python"],
        "Configuration": f"SHA-256 {content['config_digest']}",
        "Checked by": "paraphrastic verify",
    }
    return {"facts": {name: text for name, text in facts.items() if text}, "content": content}


def _time(text: str) -> str:
    return text.replace("T", " ").replace("+00:00", " UTC")
