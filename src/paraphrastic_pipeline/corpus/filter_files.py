"""The files that a step writes which leaves pairs out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraphrastic.base.files import Json, write_json
from paraphrastic_pipeline.base.tables import write_tsv


@dataclass(frozen=True, slots=True)
class FilterFiles:
    """Where a step that leaves pairs out writes the others, and what it says about those that it left out.

    Attributes:
        pairs: Parquet file with the pairs that stay.
        counts: JSON file with their number, and with the number of the others by reason.
        examples: TSV file with random pairs for each reason, for people to read.
    """

    pairs: str | Path
    counts: str | Path
    examples: str | Path

    def describe(self, counts: Json, columns: Sequence[str], examples: Iterable[Sequence[Any]]) -> None:
        """Write the counts and the examples, which only a step that left pairs has."""
        write_tsv(self.examples, columns, examples)
        write_json(self.counts, counts)
