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
from paraphrastic_pipeline.corpus.counts import FEWEST, LEAST, loss, warn
from paraphrastic_pipeline.corpus.filters import build_filters
from paraphrastic_pipeline.corpus.sampling import Samples
from paraphrastic_pipeline.registry.language_labels import labels_of
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
    allow_few: bool = False,
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
        seed: seed for the sample.
        allow_few: whether the filters may leave next to nothing: less than 5 % of the corpus, or fewer than
            50 pairs of a larger one.
        raw: whether to write `raw`, the digest of each pair's text as the corpus has it, which tells copies
            of a line from pairs that only become equal in lower case.

    Raises:
        InputError: no pair is left, or too few. The message gives the counts by reason. Nothing is written.
    """
    settings = parsed(ParaphraseSelection if "rank" in selection else BitextSelection, selection)
    filters = build_filters(settings, languages)
    samples = Samples([one.name for one in filters], seed)
    rank = getattr(settings, "rank", None)
    blocks = _ranked(scored, rank) if rank else chain.from_iterable(map(read_blocks, scored))
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
        read, left = samples.read, samples.read - sum(reasons.values())
        result = {"read": read, "kept": left, "dropped": reasons}
        name = Path(scored[0]) if len(scored) == 1 else Path(scored[0]).parent
        ranked = read - reasons.get("rank", 0)
        few = left < LEAST * ranked or left < FEWEST <= ranked
        foreign = [row for reason, row in samples.rows("line") if reason == "language"]
        swapped = _swapped(languages, foreign) if reasons.get("language", 0) > read / 2 else ""
        if not left or (few and not allow_few):
            raise InputError(f"{name}: {_why_few_are_left(languages, read, left, reasons, swapped)}")
    examples = ([reason, *row.values()] for reason, row in samples.rows("line"))
    write_tsv(dropped, ("reason", *_SAMPLE_COLUMNS), examples)
    write_json(counts, result)
    warn(loss(str(name), samples.read, reasons))
    warn(swapped and f"{name}: {swapped}")
    return result


def _swapped(languages: Sequence[str], foreign: Sequence[Any]) -> str:
    """What to do if most of these pairs, which their languages cost, have those of the other side."""
    source, target = languages
    pairs = [
        row["source_language"] in labels_of(target) and row["target_language"] in labels_of(source)
        for row in foreign
    ]
    if source == target or sum(pairs) <= len(pairs) / 2:
        return ""
    return f"the columns seem to be swapped: give the corpus `languages: [{target}, {source}]`"


def _why_few_are_left(
    languages: Sequence[str], read: int, left: int, dropped: Mapping[str, int], swapped: str
) -> str:
    """Why the filters have left next to nothing, and which setting decides."""
    if not read:
        return "the corpus is empty: no pairs"
    section = "selection.paraphrase" if languages[0] == languages[1] else "selection.bitext"
    reasons = ", ".join(f"{reason} {n}" for reason, n in dropped.items() if n)
    most = max(dropped, key=lambda reason: dropped[reason])
    allowed = "; to train on them all the same, set `allow_few: true` in the definition" if left else ""
    setting = swapped or f"the setting is {section}.{most}{allowed}"
    return f"{left} of {read} pairs are left; dropped: {reasons}; {setting}"


def _raw_digests(pairs: pa.RecordBatch) -> pa.Array:
    """The MD5 of each pair's text, whose sides a tab separates, as in `paste`."""
    lines = map("\t".join, zip(*(side.to_pylist() for side in pairs.columns[:2]), strict=True))
    return pa.array([md5(line.encode(), usedforsecurity=False).digest() for line in lines], _RAW.type)


def _ranked(scored: Sequence[str | Path], rank: Any) -> Iterator[pa.RecordBatch]:
    """Yield all blocks with the column `rank`: whether a pair is in the range of the whole corpus's ranking.

    Places are from 0, the lowest score, to 1; a pair is in the range from `rank.min` to below `rank.max`, or
    up to the highest if that is 1. Pairs with equal scores are in it or out of it together, and pairs without
    a score are not in it. Only the scores are held in memory.
    """
    scores = pa.concat_tables(read_table(path, columns=[rank.by]) for path in scored)[rank.by]
    ordered = np.sort(scores.drop_null().cast(pa.float32()).to_numpy())
    ordered = ordered[~np.isnan(ordered)]
    # Rounded, since the product of a share and n may be a little more than the number that it stands for.
    first, end = (math.ceil(round(share * len(ordered), 6)) for share in (rank.min, rank.max))
    low, high = (ordered[place] if place < len(ordered) else np.inf for place in (first, end))
    for block in chain.from_iterable(map(read_blocks, scored)):
        scores = block[rank.by].cast(pa.float32()).to_numpy(zero_copy_only=False)
        yield block.append_column("rank", pa.array((scores >= low) & (scores < high)))
