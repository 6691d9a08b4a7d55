"""How many sentences systems embed a second: all of them in one run, one after the other."""

import logging
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_csv, read_json, write_csv, write_json

log = logging.getLogger(__name__)

Json = dict[str, Any]

# Of the papers: "Paraphrastic Representations at Scale", section 7, and "Simple and Effective Paraphrastic
# Similarity from Parallel Translations", section 4.1.
BATCH_SIZES = (64, 128)
COLUMNS = (
    "system", "source", "dim", "device", "cores", "batch_size", "preprocessing", "sentences",
    "sentences_per_second",
)  # fmt: skip
# What numerical libraries read their number of threads from.
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")


def measure_speed(
    systems: Mapping[str, str | Mapping[str, Any]],
    corpora: Sequence[tuple[str | Path, Sequence[str]]],
    output: str | Path,
    *,
    language: str,
    cores: int,
    sentences: int,
    seconds: float,
    repeats: int,
) -> None:
    """Measure systems on the same sentences: on one core, on all cores, and on a GPU where torch sees one.

    Each has a process of its own, and no two run at a time. What cannot be measured is left out, and the log
    says why.

    Args:
        systems: as `open_system` takes them, by name.
        corpora: Parquet files with pairs in random order, each with its columns in the language.
        output: JSON file with the machine, the `rows` of `speed_process.measure`, each with `system`, `dim`,
            `device` and `cores` (null for a GPU), and what was `left_out`.
        language: of the sentences.
        cores: all that may be used.
        sentences: distinct ones that are embedded, at most; fewer where there are not as many.
        seconds: that a repeat may take, about; see `speed_process.measure`.
        repeats: of each measurement.

    Raises:
        InputError: there is no sentence, or a system cannot be opened.
    """
    chosen = choose_sentences(corpora, sentences)
    if not chosen:
        raise InputError(f"{corpora[0][0]}: there is no sentence to embed in it")
    log.info("%d distinct sentences of %d asked for", len(chosen), sentences)
    gpu = _gpu()
    if gpu is None:
        log.info("torch sees no GPU: speed is measured on the processor alone")
    setups = [("cpu", count) for count in sorted({1, cores})] + ([("gpu", cores)] if gpu else [])
    job = {"sentences": chosen, "language": language, "seconds": seconds, "repeats": repeats}
    job["batch_sizes"] = BATCH_SIZES
    rows: list[Json] = []
    left_out: list[Json] = []
    for name, encoder in systems.items():
        for device, count in setups:
            found = _in_own_process(name, {**job, "encoder": encoder, "device": device, "cores": count})
            if why := found.get("left_out"):
                log.info("%s: left out on %s: %s", name, device, why)
                left_out.append({"system": name, "device": device, "cores": count, "why": why})
                continue
            about = {"system": found["system"], "dim": found["dim"], "device": device}
            about["cores"] = count if device == "cpu" else None
            rows += [{**about, **row} for row in found["rows"]]
    machine = {"processor": _processor(), "cores": cores, "gpu": gpu}
    write_json(
        output, {"machine": machine, "distinct_sentences": len(chosen), "rows": rows, "left_out": left_out}
    )


def choose_sentences(corpora: Sequence[tuple[str | Path, Sequence[str]]], count: int) -> list[str]:
    """Distinct sentences from the beginnings of all corpora, as many of each: their order is random."""
    columns = [
        pl.scan_parquet(path).select(column).head(count).collect()[column].to_list()
        for path, names in corpora
        for column in names
    ]
    alternating = (text for text in chain.from_iterable(zip_longest(*columns)) if text is not None)
    return list(dict.fromkeys(alternating))[:count]


def _in_own_process(name: str, job: Json) -> Json:
    """What `speed_process.measure_job` returns, from a process that has these cores from its start."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        **dict.fromkeys(_THREADS, str(job["cores"])),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder, "job.json"), Path(folder, "result.json")
        write_json(question, job)
        module = "paraphrastic.evaluation.speed_process"
        command = [sys.executable, "-m", module, str(question), str(answer)]
        run = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603
        if run.returncode:
            raise RuntimeError(f"{name}: the process ended with {run.returncode}:\n{run.stderr[-4000:]}")
        found: Json = read_json(answer)
    if "error" in found:
        raise InputError(f"{name}: {found['error']}")
    return found


def _gpu() -> str | None:
    """Name of the first GPU that torch sees."""
    # Not at the top: it takes seconds to import, and tables need none of it.
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def tabulate_speed(measured: str | Path, published: str | Path, output: str | Path) -> None:
    """Write the table of speeds: sentences a second, the median of all repeats; published ones first.

    Args:
        measured: JSON file of `measure_speed`.
        published: CSV file of published figures, with some of the table's columns.
        output: the CSV file.
    """
    rows: list[Json] = [{**row, "source": "published"} for row in read_csv(published)]
    for row in read_json(measured)["rows"]:
        speed = row["sentences"] / median(row["seconds"])
        printed = f"{speed:.0f}" if speed >= 100 else f"{speed:.1f}"
        rows.append({**row, "source": "measured", "sentences_per_second": printed})
    write_csv(output, COLUMNS, rows)
