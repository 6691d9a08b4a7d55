"""What all steps share: they log, and report failures."""

import gc
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic_pipeline.base.errors import LogFormatter, is_out_of_memory, spelled_out

# What to do if memory runs out.
FEWER_STEPS = "run fewer steps at a time (--cores, --resources mem_mb=...)"


@contextmanager
def step(snakemake: Any) -> Iterator[None]:
    """Log into the rule's file.

    If the input or the machine is at fault, the step ends with a one-line message.
    """
    # What the imports have made stays until the end.
    gc.freeze()
    gc.enable()
    logging.raiseExceptions = False  # a full disk cannot take a log; what matters goes to the terminal
    log_file = logging.FileHandler(snakemake.log[0], mode="w", encoding="utf-8")
    log_file.setFormatter(LogFormatter("%(asctime)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[log_file])
    try:
        yield
    except BaseException as error:
        if is_out_of_memory(error):
            cause = f"not enough memory: {on_one_line(error)}; {FEWER_STEPS}"
        elif isinstance(error, InputError):
            cause = str(error)
        elif isinstance(error, OSError):
            cause = str(InputError(f"{error.filename}: {error.strerror}" if error.filename else str(error)))
        else:
            logging.exception("failed")
            raise
        logging.error("error: %s", cause)
        sys.exit(spelled_out(f"error in {snakemake.rule}: {cause}"))
