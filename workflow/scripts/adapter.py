"""What every script shares: its log, its record, how it fails, and that its downloads are verified."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# This checkout's library, whatever the environment of the job has.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from paraphrastic.base.errors import InputError, is_out_of_memory
from paraphrastic.base.opened_files import undeclared_logged
from paraphrastic.base.records import recorded
from paraphrastic.registry.lock import verify_downloads


@contextmanager
def step(snakemake: Any) -> Iterator[None]:
    """Verify the downloads, log into the rule's file, and record the outputs.

    A fault of input or machine is one line.
    """
    logging.raiseExceptions = False  # a full disk takes no log either; what matters goes to the terminal
    log_file = logging.FileHandler(snakemake.log[0], mode="w", encoding="utf-8")
    log_file.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[log_file])
    inputs, outputs = list(snakemake.input), list(snakemake.output)
    record = recorded(
        snakemake.rule,
        inputs=inputs,
        outputs=outputs,
        config=snakemake.config,
        code=snakemake.params.get("code"),
    )
    try:
        verify_downloads(inputs)
        with undeclared_logged([*inputs, *outputs, *snakemake.log]), record:
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
