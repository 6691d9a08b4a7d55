"""Select scored pairs by thresholds, and say what was dropped and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic.base.text import collapse_spaces, prepare_text
from paraphrastic.corpus.blocks import open_parquet, read_blocks, write_blocks
from paraphrastic.corpus.filters import Filter, build_filters
from paraphrastic.corpus.sampling import Samples, write_examples

_SELECTED_SCHEMA = pa.schema([("source", pa.string()), ("target", pa.string()), ("line", pa.int64())])
_SAMPLE_COLUMNS = (
    "line", "source_tokens", "target_tokens", "source_language", "source_confidence", "target_language",
    "target_confidence", "trigram_overlap", "changed_words", "paraphrase_score", "source", "target",
)  # fmt: skip


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
        dropped: TSV for reading: of each reason, 20 random pairs with their scores.
        languages: that the sources and the targets have to be in.
        settings: thresholds, as in `filters.build_filters`.
        folding: of characters, as in `text.fold`; applied to the output before lower-casing.
        lowercase: whether the output is lower-cased. White space is always collapsed.
        seed: of the sample.
        keep: further columns to write, of scores.

    Returns:
        The counts.

    Raises:
        InputError: nothing is left (with the counts by reason), or a threshold is on a score that the
            corpus does not have; then nothing is written.
    """
    filters = build_filters(settings, languages)
    name = str(scored[0]) if len(scored) == 1 else str(Path(scored[0]).parent)
    _check_scores(scored, name, filters)
    samples = Samples([each.reason for each in filters], seed)
    fails_both = np.zeros((len(filters), len(filters)), np.int64)
    kept_fields = [pa.field(name, pa.float32()) for name in keep]
    with write_blocks(output, pa.schema([*_SELECTED_SCHEMA, *kept_fields])) as writer:
        for block in chain.from_iterable(map(read_blocks, scored)):
            accepted = np.stack([each.accept(each.score(block)) for each in filters])
            failed = (~accepted).astype(np.int64)
            fails_both += failed @ failed.T
            kept = accepted.all(axis=0)
            samples.add(block.select(_SAMPLE_COLUMNS), np.where(kept, -1, accepted.argmin(axis=0)))
            writer.write(_kept_pairs(block, np.asarray(kept), folding, lowercase, keep))
        result = _counts(samples, fails_both)
        if not result["kept"]:
            reasons = ", ".join(f"{reason} {n}" for reason, n in result["dropped"].items() if n)
            raise InputError(f"{name}: no pair is left of {result['read']} read; dropped: {reasons}")
    examples = [[reason, *row.values()] for reason, row in samples.rows("line")]
    write_examples(dropped, ("reason", *_SAMPLE_COLUMNS), examples)
    write_json(counts, result)
    return result


def _counts(samples: Samples[str], fails_both: npt.NDArray[np.int64]) -> dict[str, Any]:
    """What `select_pairs` returns; `fails_both` is [reasons, reasons]."""
    reasons = list(samples.counts)
    return {
        "read": samples.read,
        "kept": samples.read - sum(samples.counts.values()),
        "dropped": samples.counts,
        "fails": dict(zip(reasons, fails_both.diagonal().tolist(), strict=True)),
        "fails_both": {
            reason: dict(zip(reasons[later:], fails_both[later - 1, later:].tolist(), strict=True))
            for later, reason in enumerate(reasons[:-1], start=1)
        },
    }


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
