"""How many sentences per second systems embed; all are measured in one run, one after the other."""

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

from pyarrow.dataset import dataset

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json, read_json, write_json
from paraphrastic_pipeline.base.tables import read_csv, write_csv

log = logging.getLogger(__name__)


# The batch sizes of "Paraphrastic Representations at Scale", section 7, and of "Simple and Effective
# Paraphrastic Similarity from Parallel Translations", section 4.1.
BATCH_SIZES = (64, 128)
SPEED_COLUMNS = (
    "system", "source", "dim", "device", "cores", "batch_size", "preprocessing", "sentences",
    "sentences_per_second",
)  # fmt: skip
# Variables from which numerical libraries read their number of threads.
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
    """Measure systems on the same sentences: on one core, on all cores, and on a GPU if torch sees one.

    Each measurement has its own process, and only one runs at a time. If a system cannot be measured on a
    device, it is left out there, and the log says why.

    Args:
        systems: systems by name, in the form that `open_encoder` takes.
        corpora: Parquet files with pairs in random order, each with its columns in the language.
        output: JSON file with the machine, the `rows` of `speed_process.measure`, each with `system`, `dim`,
            `device` and `cores` (null for a GPU), and the systems that were `left_out`.
        language: language of the sentences.
        cores: number of cores that may be used.
        sentences: largest number of distinct sentences to embed.
        seconds: approximate time that a repeat may take; see `speed_process.measure`.
        repeats: how often each measurement is repeated.

    Raises:
        InputError: there is no sentence, or a system cannot be opened.
    """
    chosen = choose_sentences(corpora, sentences)
    if not chosen:
        raise InputError(f"{corpora[0][0]}: contains no sentence to embed")
    log.info("%d distinct sentences (%d asked for)", len(chosen), sentences)
    gpu = _gpu()
    if gpu is None:
        log.info("torch finds no GPU, so speed is measured on the processor only")
    setups = [("cpu", count) for count in sorted({1, cores})] + ([("gpu", cores)] if gpu else [])
    settings = {"language": language, "seconds": seconds, "repeats": repeats, "batch_sizes": BATCH_SIZES}
    rows: list[Json] = []
    left_out: list[Json] = []
    for name, system in systems.items():
        for device, count in setups:
            job = {"system": system, "device": device, "cores": count, "sentences": chosen, **settings}
            result = measure_in_own_process(name, job)
            if why := result.get("left_out"):
                log.info("%s: left out on %s: %s", name, device, why)
                left_out.append({"system": name, "device": device, "cores": count, "why": why})
            else:
                about = {"system": result["system"], "dim": result["dim"], "device": device}
                about["cores"] = count if device == "cpu" else None
                rows += [{**about, **row} for row in result["rows"]]
    machine = {"processor": processor_name(), "cores": cores, "gpu": gpu}
    write_json(
        output, {"machine": machine, "distinct_sentences": len(chosen), "rows": rows, "left_out": left_out}
    )


def choose_sentences(corpora: Sequence[tuple[str | Path, Sequence[str]]], count: int) -> list[str]:
    """Distinct sentences, taken in turn from the beginning of each corpus, whose order is random."""
    columns = [
        dataset(path).head(count, columns=[column])[column].to_pylist()
        for path, names in corpora
        for column in names
    ]
    alternating = (text for text in chain.from_iterable(zip_longest(*columns)) if text is not None)
    return list(dict.fromkeys(alternating))[:count]


def measure_in_own_process(name: str, job: Json) -> Json:
    """Run `speed_process.measure_job` in a process that starts with this number of threads."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        **dict.fromkeys(_THREADS, str(job["cores"])),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder, "job.json"), Path(folder, "result.json")
        write_json(question, job)
        module = "paraphrastic_pipeline.evaluation.speed_process"
        command = [sys.executable, "-m", module, str(question), str(answer)]
        run = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603
        if run.returncode:
            raise RuntimeError(
                f"{name}: the process ended with status {run.returncode}:\n{run.stderr[-4000:]}"
            )
        result: Json = read_json(answer)
    if "error" in result:
        raise InputError(f"{name}: {result['error']}")
    return result


def _gpu() -> str | None:
    """Name of the first GPU that torch sees."""
    # Not imported at the top: torch takes seconds to load, and tables do not need it.
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def processor_name() -> str:
    """The name of this machine's processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def tabulate_speed(measured: str | Path, published: str | Path, table: str | Path) -> None:
    """Write a CSV table of sentences per second, the median of all repeats, below the published figures.

    The published CSV file has some of the table's columns; the measured figures are JSON of `measure_speed`.
    """
    rows: list[Json] = [{**row, "source": "published"} for row in read_csv(published)]
    for row in read_json(measured)["rows"]:
        speed = row["sentences"] / median(row["seconds"])
        printed = f"{speed:.0f}" if speed >= 100 else f"{speed:.1f}"
        rows.append({**row, "source": "measured", "sentences_per_second": printed})
    write_csv(table, SPEED_COLUMNS, rows)
