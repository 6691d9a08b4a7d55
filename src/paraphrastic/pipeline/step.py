"""What every script of the workflow shares: the check of its downloads, its log, its record, how it fails."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paraphrastic.base.errors import InputError, is_out_of_memory
from paraphrastic.base.opened_files import undeclared_logged
from paraphrastic.base.records import recorded
from paraphrastic.registry.lock import verify_downloads


@contextmanager
def step(snakemake: Any) -> Iterator[None]:
    """Verify the downloads, log into the rule's file, and record the outputs.

    A fault of the input or of the machine ends the script with one line.
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
    except BaseException as error:
        if isinstance(error, InputError):
            cause = str(error)
        elif is_out_of_memory(error):
            cause = f"not enough memory: {' '.join(str(error).split())}"
        elif isinstance(error, OSError):
            cause = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        else:
            logging.exception("failed")
            raise
        logging.error("error: %s", cause)
        sys.exit(f"error in {snakemake.rule}: {cause}")
