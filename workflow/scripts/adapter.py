"""What every script shares: where its words and its record go, how it fails, how downloads are verified."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# This checkout's library, whatever the environment of the job has.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from paraphrastic.base.errors import InputError, is_out_of_memory
from paraphrastic.base.records import recorded
from paraphrastic.config.architecture import Architecture
from paraphrastic.config.local_files import named_datasets
from paraphrastic.registry.datasets import read_registry
from paraphrastic.registry.download import fetch
from paraphrastic.training.settings import TrainingSettings


@contextmanager
def step(snakemake: Any) -> Iterator[None]:
    """Log into the rule's file, and record the outputs; a fault of input or machine is one line."""
    logging.raiseExceptions = False  # a full disk takes no log either; what matters goes to the terminal
    log_file = logging.FileHandler(snakemake.log[0], mode="w", encoding="utf-8")
    log_file.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[log_file])
    try:
        with recorded(
            snakemake.rule,
            inputs=list(snakemake.input),
            outputs=list(snakemake.output),
            config=snakemake.config,
            code=snakemake.params.get("code"),
        ):
            yield
    except (InputError, OSError) as error:
        cause = f"{error.filename}: {error.strerror}" if getattr(error, "filename", None) else str(error)
        logging.error("error: %s", cause)
        sys.exit(f"error in {snakemake.rule}: {cause}")
    except BaseException as error:
        logging.exception("failed")
        if is_out_of_memory(error):
            sys.exit(f"error in {snakemake.rule}: not enough memory: {' '.join(str(error).split())}")
        raise


def fetched(snakemake: Any, paths: list[str]) -> None:
    """Verify the downloads among the paths, and fetch again what is damaged."""
    registry = read_registry(snakemake.config["registry"])
    registry |= named_datasets(snakemake.config, registry)
    every = (file for dataset in registry.values() for file in dataset.files)
    files = {file.location: file for file in every if file.path is None}
    for path in paths:
        if path in files:
            fetch(files[path], path, mirror=snakemake.config["mirror"])


def training_inputs(snakemake: Any) -> dict[str, Any]:
    """What a model is trained on and made of, by the names of the library's parameters."""
    fetched(snakemake, list(snakemake.input.vectors))
    first, *others = map(Path, snakemake.input.sentencepiece)
    return {
        "dataset": Path(snakemake.input.dataset),
        "sentencepiece_model": first,
        "more_vocabularies": others,
        "initial_vectors": next(map(Path, snakemake.input.vectors), None),
        "architecture": Architecture.from_json(snakemake.params.architecture),
        "settings": TrainingSettings(**snakemake.params.settings),
        "config": snakemake.params.about,
    }
