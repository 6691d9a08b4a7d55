"""Select scored pairs with thresholds, and report what was dropped and why."""

import math
from collections.abc import Iterator, Mapping, Sequence
from hashlib import md5
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic.base.text import prepare_text
from paraphrastic_pipeline.base.tables import write_tsv
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, read_blocks, read_table, write_blocks
from paraphrastic_pipeline.corpus.counts import loss, warn
from paraphrastic_pipeline.corpus.filters import build_filters
from paraphrastic_pipeline.corpus.sampling import Samples
from paraphrastic_pipeline.settings.faults import parsed
from paraphrastic_pipeline.settings.sections.selection import BitextSelection, ParaphraseSelection

_SAMPLE_COLUMNS = (
    "line", "source_tokens", "target_tokens", "source_language", "source_confidence", "source_probability",
    "target_language", "target_confidence", "target_probability", "trigram_overlap", "changed_words",
    "paraphrase_score", "source", "target",
)  # fmt: skip
# Digests of pairs as the corpus has them: they tell copies of a line from pairs that become equal later.
_RAW = pa.field("raw", pa.binary(16))


def select_pairs(
    scored: Sequence[str | Path],
    selected: str | Path,
    counts: str | Path,
    dropped: str | Path,
    *,
    languages: Sequence[str],
    selection: Mapping[str, Any],
    preparation: Mapping[str, Any],
    seed: int,
    raw: bool = False,
) -> dict[str, Any]:
    """Write the pairs that every filter accepts: `source`, `target` and `line`, in the same order.

    A dropped pair's reason is the first filter that rejects it, in the order of `filters.FILTERS`. A pair
    without a score fails a threshold on that score.

    Args:
        scored: Parquet files made by `score_pairs`: the shards of a corpus, in order.
        selected: the Parquet file.
        counts: JSON file with the result, which is also returned: pairs `read` and `kept`, and pairs
            `dropped` by reason.
        dropped: TSV file for people to read: 20 dropped pairs for each reason, with their scores.
        languages: the languages that the sources and the targets must be in.
        selection: the settings of the filters, `BitextSelection` or `ParaphraseSelection`.
        preparation: how the model prepares text in training and in use: `segmentation`, `folding` and
            `lowercase`, as `text.prepare_text` takes them. White space is always collapsed.
        seed: seed for the sample, and for the ranks of pairs with equal scores.
        raw: whether to write `raw`, the digest of each pair's text as the corpus has it, which tells copies
            of a line from pairs that only become equal in lower case.

    Raises:
        InputError: no pair is left. The message gives the counts by reason. Nothing is written.
    """
    settings = parsed(ParaphraseSelection if "rank" in selection else BitextSelection, selection)
    filters = build_filters(settings, languages)
    samples = Samples([one.name for one in filters], seed)
    rank = getattr(settings, "rank", None)
    blocks = _ranked(scored, rank, seed) if rank else chain.from_iterable(map(read_blocks, scored))
    with write_blocks(selected, pa.schema([*PAIR_SCHEMA, *([_RAW] if raw else [])])) as writer:
        for block in blocks:
            accepted = np.stack([one.accept(one.score(block)) for one in filters])
            kept = accepted.all(axis=0)
            samples.add(block.select(_SAMPLE_COLUMNS), np.where(kept, -1, accepted.argmin(axis=0)))
            rows = block.select(PAIR_SCHEMA.names).filter(pa.array(kept))
            sides = (
                prepare_text(rows[name].to_pylist(), language=language, **preparation)
                for name, language in zip(("source", "target"), languages, strict=True)
            )
            texts = [pa.array([" ".join(text.split()) for text in side], pa.string()) for side in sides]
            columns = [*texts, *rows.columns[2:], *([_raw_digests(rows)] if raw else [])]
            writer.write(pa.RecordBatch.from_arrays(columns, schema=writer.schema))
        reasons = samples.counts
        result = {"read": samples.read, "kept": samples.read - sum(reasons.values()), "dropped": reasons}
        name = Path(scored[0]) if len(scored) == 1 else Path(scored[0]).parent
        if not result["kept"]:
            raise InputError(f"{name}: {_why_none_is_left(languages, samples.read, reasons)}")
    examples = ([reason, *row.values()] for reason, row in samples.rows("line"))
    write_tsv(dropped, ("reason", *_SAMPLE_COLUMNS), examples)
    write_json(counts, result)
    warn(loss(str(name), samples.read, reasons))
    return result


def _why_none_is_left(languages: Sequence[str], read: int, dropped: Mapping[str, int]) -> str:
    """Why the filters have left no pair, and which setting decides."""
    if not read:
        return "the corpus is empty: no pairs"
    section = "selection.paraphrase" if languages[0] == languages[1] else "selection.bitext"
    reasons = ", ".join(f"{reason} {n}" for reason, n in dropped.items() if n)
    most = max(dropped, key=lambda reason: dropped[reason])
    return f"no pair is left of {read} read; dropped: {reasons}; the setting is {section}.{most}"


def _raw_digests(pairs: pa.RecordBatch) -> pa.Array:
    """The MD5 of each pair's text, whose sides a tab separates, as in `paste`."""
    lines = map("\t".join, zip(*(side.to_pylist() for side in pairs.columns[:2]), strict=True))
    return pa.array([md5(line.encode(), usedforsecurity=False).digest() for line in lines], _RAW.type)


def _ranked(scored: Sequence[str | Path], rank: Any, seed: int) -> Iterator[pa.RecordBatch]:
    """Yield all blocks with the column `rank`: whether a pair is in the range of the whole corpus's ranking.

    Places are from 0, the lowest score, to 1; a pair is in the range from `rank.min` to below `rank.max`, or
    up to the highest if that is 1. Pairs with equal scores are ranked at random, and pairs without a score
    are not in the range. Only the scores are held in memory.
    """
    scores = pa.concat_tables(read_table(path, columns=[rank.by]) for path in scored)[rank.by]
    # NaN, which stands for null, comes last.
    ordered = np.sort(scores.cast(pa.float32()).to_numpy())
    n = len(ordered) - int(np.isnan(ordered).sum())
    # Rounded, since the product of a share and n may be a little more than the number that it stands for.
    first, end = (math.ceil(round(share * n, 6)) for share in (rank.min, rank.max))
    lowest, highest = (ordered[first], ordered[end - 1]) if first < end else (np.inf, -np.inf)
    # A random choice of the pairs with the score at an end of the range is in it.
    generator, chosen = np.random.default_rng([seed, n]), {}
    for value in {lowest, highest} if first < end else ():
        start, stop = (int(np.searchsorted(ordered[:n], value, side)) for side in ("left", "right"))
        among = np.arange(start, stop)
        chosen[value] = generator.permutation((among >= first) & (among < end))
    del scores, ordered
    for block in chain.from_iterable(map(read_blocks, scored)):
        scores = block[rank.by].cast(pa.float32()).to_numpy(zero_copy_only=False)
        inside = (scores > lowest) & (scores < highest)
        for value, choice in list(chosen.items()):
            here = scores == value
            inside[here], chosen[value] = np.split(choice, [int(here.sum())])
        yield block.append_column("rank", pa.array(inside))
