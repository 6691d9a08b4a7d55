"""Quality, speed and size of systems: `python benchmarks/front.py SYSTEM ... --pairs FILE ...`.

Measures every system by its average on STS 2012–2016, by the sentences that it embeds per second on one core
(in batches of 128, from raw text), and by the megabytes of its files. Each model that is an average is also
measured in smaller versions, and the models in the package take part. One system is measured at a time.

A system is a model's folder, a folder that sentence-transformers saved, or `sentence_transformers=PLACE` or
`model2vec=PLACE` with a folder or a name on the Hugging Face Hub.

Writes into the folder of the output: front.json, with all that was measured; front.csv, in which `front`
marks the systems that nothing beats in all three; and a picture of it. An example in a folder in which
`snakemake` has made the model `en` of config/open.yaml:

  python benchmarks/front.py results/models/en --pairs results/corpora/en/pairs.parquet
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from front_figure import plot_front

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json, read_json, write_json
from paraphrastic.interop.compression import with_dtype
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.folder import find_folder, is_ours, open_folder, shipped_models
from paraphrastic.systems.open import open_encoder
from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.results import Evaluation
from paraphrastic_pipeline.evaluation.speed import choose_sentences, measure_in_own_process
from paraphrastic_pipeline.evaluation.sts import evaluate_sts

_ROOT = Path(__file__).resolve().parents[1]
OFFICIAL = _ROOT / "config/published/sts_digests.json"
# Figures of systems that are not measured: by Pearson's r and by Spearman's ρ, and those that no paper of the
# project prints.
PUBLISHED = (
    _ROOT / "config/published/sts.csv",
    _ROOT / "config/published/sts_spearman.csv",
    _ROOT / "benchmarks/other_models.csv",
)
VERSIONS = ("float16", "int8", "int4")
# The kinds of other people's systems that the command line takes.
_KINDS = ("sentence_transformers", "model2vec")

FRONT_COLUMNS = (
    "system", "source", "version", "sts", "sts_low", "sts_high", "sts_spearman", "sentences_per_second",
    "megabytes", "front", "note",
)  # fmt: skip
_BATCH = 128
# What systems are compared by; a system of which one is unknown can be neither on the front nor beat another.
_COMPARED = ("sts", "sentences_per_second", "megabytes")
# What a model consists of; a card, or files for other libraries, are not needed to use it.
_WEIGHTS = (".safetensors", ".model", ".bin", ".json", ".txt", ".npy")


def main() -> None:
    """Do what the command line asks for; an error is one line."""
    options = parsed()
    protocol = Protocol(
        options.testsets,
        OFFICIAL,
        options.bootstrap_samples,
        options.sentences,
        options.seconds,
        options.repeats,
    )
    output = Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    try:
        systems = {place: system_at(place) for place in options.systems}
        corpora = [(pairs, options.columns) for pairs in options.pairs]
        measure_front(systems, corpora, output / "front.json", protocol, versions=options.versions)
        tabulate_front(output / "front.json", PUBLISHED, output / "front.csv")
        plot_front(output / "front.csv", [output / "front.svg", output / "front.png"])
    except InputError as error:
        raise SystemExit(f"front.py: error: {error}") from None


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help="see above")
    parser.add_argument(
        "--pairs", type=Path, nargs="+", required=True, help="Parquet files with the sentences to embed"
    )
    parser.add_argument(
        "--columns", nargs="+", choices=("source", "target"), default=["source", "target"],
        help="the columns in English (both)",
    )  # fmt: skip
    parser.add_argument(
        "--testsets", type=Path, default=Path("results/testsets/sts.parquet"), help="STS (%(default)s)"
    )
    parser.add_argument(
        "--versions", nargs="*", choices=VERSIONS, default=["int8", "int4"],
        help="number formats of the smaller versions (%(default)s)",
    )  # fmt: skip
    parser.add_argument("--bootstrap-samples", type=int, default=1000, help="for intervals (%(default)s)")
    parser.add_argument("--sentences", type=int, default=120_000, help="to embed, at most (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a repeat, about (%(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="of which the median counts (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/front"), help="folder")
    return parser.parse_args()


def system_at(text: str) -> Any:
    """A system of the command line, in the form that `open_encoder` takes."""
    kind, is_named, place = text.partition("=")
    if not is_named or kind not in _KINDS:
        return text
    return {kind: place, "label": Path(place).name if Path(place).is_dir() else place}


@dataclass(frozen=True, slots=True)
class Protocol:
    """How quality and speed are measured.

    Attributes:
        testsets: Parquet file of `prepare_sts`.
        official: JSON file with the digests of the official data, by data set.
        bootstrap_samples: number of resamples of the test data, for the intervals.
        sentences: largest number of distinct sentences to embed.
        seconds: approximate time that a repeat of a measurement of speed may take.
        repeats: how often each measurement of speed is repeated.
    """

    testsets: Path
    official: Path
    bootstrap_samples: int
    sentences: int
    seconds: float
    repeats: int


def measure_front(
    systems: Mapping[str, Any],
    corpora: Sequence[tuple[str | Path, Sequence[str]]],
    output: str | Path,
    protocol: Protocol,
    *,
    versions: Sequence[str],
) -> None:
    """Measure systems, smaller versions of those that are averages, and the models in the package.

    Args:
        systems: systems by name, in the form that `open_encoder` takes.
        corpora: Parquet files with pairs in random order, each with its English columns.
        output: JSON file with a list of `system`, `version`, `measurements` (Pearson's r and Spearman's ρ on
            STS 2012–2016, with intervals), `sentences_per_second` on one core, and `megabytes`; the last two
            are null if they are unknown.
        protocol: how quality and speed are measured.
        versions: types of the tables of smaller versions, such as `int8`.

    Raises:
        InputError: there is no sentence, or a system cannot be opened.
    """
    sentences = choose_sentences(corpora, protocol.sentences)
    if not sentences:
        raise InputError(f"{corpora[0][0]}: contains no sentence to embed")
    rows: list[Json] = []
    for name, place in systems.items():
        rows.append(_row(name, place, "", protocol, sentences))
        for dtype, folder in _versions(place, versions):
            rows.append({**_row(name, folder, dtype, protocol, sentences), "system": rows[-1]["system"]})
    for name in shipped_models():
        rows.append({**_row(name, name, "", protocol, sentences), "system": f"{name}, in the package"})
    write_json(output, rows)


def _row(name: str, place: Any, version: str, protocol: Protocol, sentences: Sequence[str]) -> Json:
    """One system's measurements."""
    encoder = open_encoder(place, device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "sts.json")
        evaluation = Evaluation(encoder, result, protocol.official, "measured", protocol.bootstrap_samples)
        evaluate_sts(evaluation, protocol.testsets)
        scores = read_json(result)
    speed = None
    if hasattr(encoder, "embed_tokens"):
        job = {
            "system": place, "device": "cpu", "cores": 1, "sentences": sentences, "language": "en",
            "seconds": protocol.seconds, "repeats": protocol.repeats, "batch_sizes": [_BATCH],
        }  # fmt: skip
        row = next(
            row for row in measure_in_own_process(name, job)["rows"] if row["preprocessing"] == "counted"
        )
        speed = row["sentences"] / median(row["seconds"])
    measurements = {
        statistic: {key: scores["measurements"][f"{statistic} avg"][key] for key in ("value", "interval")}
        for statistic in ("pearson", "spearman")
    }
    rate = "speed unknown" if speed is None else f"{speed:,.0f} sentences per second"
    print(
        f"{name} {version}".strip(),
        f"{100 * measurements['pearson']['value']:.1f}",
        rate,
        sep=", ",
        flush=True,
    )
    return {
        "system": encoder.label,
        "version": version,
        "missing": scores["missing"],
        "measurements": measurements,
        "sentences_per_second": speed,
        "megabytes": _megabytes(place),
    }


def _megabytes(place: Any) -> float | None:
    """Size of the files that a system needs; None if it has no folder."""
    path = place
    if isinstance(place, Mapping):
        kinds = ("path", "sentence_transformers", "model2vec")
        path = next((place[kind] for kind in kinds if kind in place), None)
    if path is None or not (folder := find_folder(path)).is_dir():
        return None
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix in _WEIGHTS)
    return sum(file.stat().st_size for file in files) / 1e6


def _versions(place: Any, dtypes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Smaller versions of an average, each with the folder in which it is until the next one is asked for."""
    if isinstance(place, Mapping) or not is_ours(find_folder(place)):
        return
    model = open_folder(place)
    if not isinstance(model, AverageEncoder):
        return
    for dtype in dtypes:
        with tempfile.TemporaryDirectory() as folder:
            with_dtype(model, dtype).write(Path(folder, "model"))
            yield dtype, str(Path(folder, "model"))


def tabulate_front(measured: str | Path, published: Sequence[str | Path], table: str | Path) -> None:
    """Write the table of quality, speed and size; `front` marks what no other row beats in all three.

    Args:
        measured: JSON file of `measure_front`.
        published: CSV files of figures of systems that are not measured here: those of the papers by
            Pearson's r and by Spearman's ρ, and those of others. They have no speed on this machine.
        table: the CSV file.
    """
    rows = []
    for row in read_json(measured):
        pearson, spearman = (row["measurements"][statistic] for statistic in ("pearson", "spearman"))
        low, high = pearson["interval"]
        rows.append(
            {
                **{key: row[key] for key in ("system", "version", "sentences_per_second", "megabytes")},
                "source": "measured",
                "sts": 100 * pearson["value"],
                "sts_low": 100 * low,
                "sts_high": 100 * high,
                "sts_spearman": 100 * spearman["value"],
                "note": f"without {row['missing'][0].partition('/')[2]}" if row["missing"] else "",
            }
        )
    # What is printed decides, so that the column follows from the table.
    written = [{key: _printed(key, value) for key, value in row.items()} for row in rows]
    for row in written:
        known = all(row[name] != "" for name in _COMPARED)
        row["front"] = "yes" if known and not any(_beats(other, row) for other in written) else ""
    write_csv(table, FRONT_COLUMNS, [*written, *_published(published)])


def _beats(one: Json, other: Json) -> bool:
    """Whether a row is at least as good as another in quality, speed and size, and better in one of them."""
    if any(row[name] == "" for row in (one, other) for name in _COMPARED):
        return False
    mine, theirs = ([float(row[name]) for name in _COMPARED] for row in (one, other))
    quality, speed, size = zip(mine, theirs, strict=True)
    not_worse = quality[0] >= quality[1] and speed[0] >= speed[1] and size[0] <= size[1]
    return bool(not_worse and mine != theirs)


def _printed(key: str, value: Any) -> Any:
    if not isinstance(value, float):
        return "" if value is None else value
    return f"{value:.0f}" if key == "sentences_per_second" and value >= 100 else f"{value:.1f}"


def _published(files: Sequence[str | Path]) -> list[Json]:
    """Rows of published systems: a system's figures of several files stand in one row."""
    rows: dict[str, Json] = {}
    for path in files:
        for row in read_csv(path):
            column = "sts_spearman" if "spearman" in Path(path).stem else "sts"
            figures = {key: row[key] for key in ("sts", "sts_spearman", "megabytes", "note") if row.get(key)}
            if row.get("avg") and not row.get("group"):
                figures = {column: row["avg"], "note": f"{row['paper']}, {row['table']}"}
            if figures:
                entry = {"system": row["system"], "source": "published", "front": ""}
                rows.setdefault(row["system"], entry).update(figures)
    return [row for row in rows.values() if row.keys() & {"sts", "sts_spearman", "megabytes"}]


if __name__ == "__main__":
    main()
