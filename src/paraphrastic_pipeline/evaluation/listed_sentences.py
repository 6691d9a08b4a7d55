"""All sentences of the test sets, to be embedded by other programs."""

import logging
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic_pipeline.evaluation.testsets import read_testsets

log = logging.getLogger(__name__)


def gather_sentences(testsets: Sequence[str | Path], output: str | Path) -> None:
    """Write every sentence of prepared test sets once, one per line, in the order of first appearance.

    The sentences of the Parquet files are in the column `english` and in text columns whose names begin with
    `sentence`. `systems.external.open_vectors` takes the text file together with a vector for each line.

    Raises:
        InputError: a file is damaged or has no such column, or a sentence contains a line break.
    """
    sentences: dict[str, None] = {}
    for path in testsets:
        table = read_testsets(Path(path))
        texts = table.select(pl.col(pl.String)).columns
        columns = [name for name in texts if name.startswith("sentence") or name == "english"]
        if not columns:
            raise InputError(f"{path}: has no column with sentences")
        sentences |= dict.fromkeys(text for name in columns for text in table[name].drop_nulls())
        if broken := next((text for text in sentences if "\n" in text or text.endswith("\r")), None):
            raise InputError(f"{path}: a sentence is not a line of text: {broken!r}")
    log.info("%d distinct sentences", len(sentences))
    with atomic_output(output) as temporary:
        temporary.write_text("".join(f"{text}\n" for text in sentences), encoding="utf-8", newline="")
