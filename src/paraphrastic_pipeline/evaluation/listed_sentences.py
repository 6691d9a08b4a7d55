"""All sentences of the test sets, to be embedded by other programs."""

import logging
from collections.abc import Sequence
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic_pipeline.corpus.blocks import read_table

log = logging.getLogger(__name__)


def gather_sentences(testsets: Sequence[str | Path], output: str | Path) -> None:
    """Write every sentence of prepared test sets once, one per line, in the order of first appearance.

    The sentences of the Parquet files are in the column `english` and in columns whose names begin with
    `sentence`. `systems.external.open_vectors` takes the text file together with a vector for each line.

    Raises:
        InputError: a sentence contains a line break.
    """
    sentences: dict[str, None] = {}
    for path in testsets:
        table = read_table(path)
        columns = [name for name in table.column_names if name.startswith("sentence") or name == "english"]
        for name in columns:
            sentences |= dict.fromkeys(table[name].drop_null().to_pylist())
        if broken := next((text for text in sentences if "\n" in text or text.endswith("\r")), None):
            raise InputError(f"{path}: a sentence is not a line of text: {broken!r}")
    log.info("%d distinct sentences", len(sentences))
    with atomic_output(output) as temporary:
        temporary.write_text("".join(f"{text}\n" for text in sentences), encoding="utf-8", newline="")
