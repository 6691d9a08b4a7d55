"""Select scored pairs by thresholds, and say what was dropped and why."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic.base.text import collapse_spaces, prepare_text
from paraphrastic.corpus.blocks import BLOCK_ROWS, open_parquet, read_blocks, write_blocks
from paraphrastic.corpus.filters import Filter, build_filters
from paraphrastic.corpus.sampling import StreamSample, write_examples

_SELECTED_SCHEMA = pa.schema([("source", pa.string()), ("target", pa.string()), ("line", pa.int64())])
_SAMPLE_COLUMNS = (
    "line",
    "source_tokens",
    "target_tokens",
    "source_language",
    "source_confidence",
    "target_language",
    "target_confidence",
    "trigram_overlap",
    "changed_words",
    "paraphrase_score",
    "source",
    "target",
)


def select_pairs(
    scored: Sequence[str | Path],
    output: str | Path,
    *,
    counts: str | Path,
    dropped: str | Path,
    languages: tuple[str, str],
    settings: Mapping[str, Any],
    folding: Mapping[str, str],
    lowercase: bool,
    seed: int,
    keep: Sequence[str] = (),
    sample_size: int = 20,
    block_rows: int = BLOCK_ROWS,
) -> dict[str, Any]:
    """Write the pairs that every filter accepts: `source`, `target`, `line` and `keep`, in the same order.

    A dropped pair's reason is the first filter that does not accept it, in the order empty, length,
    language, trigram_overlap, near_copy, paraphrase_score. A pair without a score fails a threshold on
    that score.

    Args:
        scored: made by `score_pairs`; the shards of a corpus, in order.
        output: the Parquet file.
        counts: JSON: pairs `read` and `kept`, `dropped` by reason, `fails`: how many pairs each filter alone
            does not accept, and `fails_both`: how many neither of two filters accepts, by the earlier filter
            and then by the later one.
        dropped: TSV for reading: of each reason, `sample_size` random pairs with their scores.
        languages: that the sources and the targets have to be in.
        settings: thresholds, as in `filters.build_filters`.
        folding: of characters, as in `text.fold`; applied to the output before lower-casing.
        lowercase: whether the output is lower-cased. White space is always collapsed.
        seed: of the sample.
        keep: further columns to write, of scores.
        sample_size: pairs of each reason in the sample.
        block_rows: pairs held in memory; no output depends on it.

    Returns:
        The counts.

    Raises:
        InputError: nothing is left (with the counts by reason), or a threshold is on a score that the
            corpus does not have; then nothing is written.
    """
    filters = build_filters(settings, languages)
    name = str(scored[0]) if len(scored) == 1 else str(Path(scored[0]).parent)
    _check_scores(scored, name, filters)
    tally = _Tally([each.reason for each in filters], sample_size, seed)
    kept_fields = [pa.field(name, pa.float32()) for name in keep]
    with write_blocks(output, pa.schema([*_SELECTED_SCHEMA, *kept_fields])) as writer:
        for block in chain.from_iterable(read_blocks(shard, rows=block_rows) for shard in scored):
            accepted = np.stack([each.accept(each.score(block)) for each in filters])
            tally.add(block, accepted)
            writer.write(_kept_pairs(block, np.asarray(accepted.all(axis=0)), folding, lowercase, keep))
        result = tally.counts()
        if not result["kept"]:
            reasons = ", ".join(f"{reason} {n}" for reason, n in result["dropped"].items() if n)
            raise InputError(f"{name}: no pair is left of {result['read']} read; dropped: {reasons}")
    write_examples(dropped, ("reason", *_SAMPLE_COLUMNS), tally.examples())
    write_json(counts, result)
    return result


class _Tally:
    """Counts by reason, and a sample of what was dropped for each."""

    def __init__(self, reasons: Sequence[str], sample_size: int, seed: int) -> None:
        self._reasons = reasons
        self._read = 0
        self._dropped = np.zeros(len(reasons), np.int64)
        self._fails_both = np.zeros((len(reasons), len(reasons)), np.int64)
        self._random = np.random.default_rng(seed)
        self._samples = [StreamSample(sample_size) for _ in reasons]

    def add(self, block: pa.RecordBatch, accepted: npt.NDArray[np.bool_]) -> None:
        """Count a block; `accepted` is [filters, pairs]."""
        self._read += block.num_rows
        failed = (~accepted).astype(np.int64)
        self._fails_both += failed @ failed.T
        # One key a pair, dropped or not: the sample does not depend on how the pairs came in blocks.
        keys = self._random.random(block.num_rows)
        first = np.where(accepted.all(axis=0), -1, accepted.argmin(axis=0))
        shown = block.select(_SAMPLE_COLUMNS)
        for number, sample in enumerate(self._samples):
            rows = np.flatnonzero(first == number)
            self._dropped[number] += len(rows)
            sample.offer(keys[rows], shown, rows)

    def counts(self) -> dict[str, Any]:
        """What `select_pairs` returns."""
        return {
            "read": self._read,
            "kept": self._read - int(self._dropped.sum()),
            "dropped": dict(zip(self._reasons, self._dropped.tolist(), strict=True)),
            "fails": dict(zip(self._reasons, self._fails_both.diagonal().tolist(), strict=True)),
            "fails_both": {
                reason: {
                    self._reasons[other]: int(self._fails_both[number, other])
                    for other in range(number + 1, len(self._reasons))
                }
                for number, reason in enumerate(self._reasons[:-1])
            },
        }

    def examples(self) -> Iterator[list[Any]]:
        """Rows of the samples, by reason, then by line."""
        for reason, sample in zip(self._reasons, self._samples, strict=True):
            for row in sorted(sample.rows(), key=lambda row: row["line"]):
                yield [reason, *row.values()]


def _check_scores(scored: Sequence[str | Path], name: str, filters: Sequence[Filter]) -> None:
    """Refuse a threshold on a column that has no values at all; no text is read for that."""
    rows, nulls = 0, Counter[str]()
    for shard in scored:
        with open_parquet(shard) as file:
            metadata = file.metadata
        rows += metadata.num_rows
        for index in range(metadata.num_row_groups):
            group = metadata.row_group(index)
            if not group.num_rows:
                continue
            columns = (group.column(number) for number in range(group.num_columns))
            nulls.update({column.path_in_schema: column.statistics.null_count for column in columns})
    if not rows:
        raise InputError(f"{name}: the corpus is empty: no pairs")
    for each in filters:
        if any(nulls[column] == rows for column in each.needs):
            raise InputError(f"{name}: has no {each.missing}")


def _kept_pairs(
    block: pa.RecordBatch,
    kept: npt.NDArray[np.bool_],
    folding: Mapping[str, str],
    lowercase: bool,
    keep: Sequence[str],
) -> pa.RecordBatch:
    block = block.select([*_SELECTED_SCHEMA.names, *keep]).filter(pa.array(kept))
    sides = []
    for name in ("source", "target"):
        texts = prepare_text(block[name].to_pylist(), folding=folding, lowercase=lowercase)
        sides.append(pa.array(collapse_spaces(texts), pa.string()))
    return pa.RecordBatch.from_arrays([*sides, *block.columns[2:]], schema=block.schema)
