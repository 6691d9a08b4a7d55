"""Select scored pairs with thresholds, and report what was dropped and why."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import md5
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paraphrastic.base.arrays import Bool, Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.text import prepare_text
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, noted, open_parquet, read_blocks, write_blocks
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from paraphrastic_pipeline.corpus.filters import Filter, build_filters, selection_key
from paraphrastic_pipeline.corpus.losses import UNREADABLE, filter_loss, warn
from paraphrastic_pipeline.corpus.sampling import Samples
from paraphrastic_pipeline.corpus.text import collapse_spaces
from paraphrastic_pipeline.registry.language_labels import labels_of

_SAMPLE_COLUMNS = (
    "line", "source_tokens", "target_tokens", "source_language", "source_confidence", "source_probability",
    "target_language", "target_confidence", "target_probability", "trigram_overlap", "changed_words",
    "paraphrase_score", "source", "target",
)  # fmt: skip
_PROBABILITIES = ("source_probability", "target_probability")
# Digests of pairs as the corpus has them: they tell copies of a line from pairs that become equal later.
_RAW = pa.field("raw", pa.binary(16))


def select_pairs(
    scored: Sequence[str | Path],
    files: FilterFiles,
    *,
    languages: tuple[str, str],
    settings: Mapping[str, Any],
    is_text: bool = False,
    preparation: Mapping[str, Any],
    seed: int,
    keep: Sequence[str] = (),
    raw: bool = False,
) -> dict[str, Any]:
    """Write the pairs that every filter accepts: `source`, `target`, `line` and `keep`, in the same order.

    A dropped pair's reason is the first filter that rejects it, in the order empty, rank, length, language,
    trigram_overlap, near_copy, paraphrase_score. A pair without a score fails a threshold on that score.

    Args:
        scored: Parquet files made by `score_pairs`: the shards of a corpus, in order.
        files: the files to write. The counts, which are also returned, are pairs `read` and `kept`, pairs
            `dropped` by reason, `fails` (pairs that a filter rejects, whatever the others do), and
            `fails_both` (pairs that two filters both reject, by the earlier filter and then by the later
            one); and `unreadable`, rows that the extraction left out, if there are any. The examples are 20
            dropped pairs for each reason, with their scores.
        languages: the languages that the sources and the targets must be in.
        settings: thresholds, as in `filters.build_filters`.
        is_text: whether they are those of bitext, since the corpus has sentences without pairs.
        preparation: how the model prepares text in training and in use: `segmentation`, `folding` and
            `lowercase`, as `text.prepare_text` takes them. White space is always collapsed.
        seed: seed for the sample, and for the ranks of pairs with equal scores.
        keep: columns of further scores to write.
        raw: whether to write `raw`, the digest of each pair's text as the corpus has it, which tells copies
            of a line from pairs that only become equal in lower case.

    Raises:
        InputError: no pair is left. The message gives the counts by reason, or names a score that a threshold
            needs but the corpus lacks. Nothing is written.
    """
    tally = _Tally(build_filters(settings, languages), seed)
    section = "selection.bitext" if is_text else selection_key(languages)
    with open_parquet(scored[0]) as first:
        kept_fields = [first.schema_arrow.field(name) for name in keep] + ([_RAW] if raw else [])
    blocks = _ranked(scored, settings["rank"], seed) if settings.get("rank") else _blocks(scored)
    with write_blocks(files.pairs, pa.schema([*PAIR_SCHEMA, *kept_fields])) as writer:
        for block in blocks:
            rows = block.select([*PAIR_SCHEMA.names, *keep]).filter(pa.array(tally.accepted(block)))
            sides = (
                prepare_text(rows[name].to_pylist(), language=language, **preparation)
                for name, language in zip(("source", "target"), languages, strict=True)
            )
            texts = [pa.array(collapse_spaces(side), pa.string()) for side in sides]
            columns = [*texts, *rows.columns[2:], *([_raw_digests(rows)] if raw else [])]
            writer.write(pa.RecordBatch.from_arrays(columns, schema=writer.schema))
        result = tally.counts()
        if unreadable := sum(noted(path, UNREADABLE) for path in scored):
            result[UNREADABLE] = unreadable
        if not result["kept"]:
            raise InputError(f"{_name(scored)}: {tally.why_none_is_left(result, languages, section)}")
    files.describe(result, ("reason", *_SAMPLE_COLUMNS), tally.examples())
    warn(filter_loss(str(_name(scored)), result["read"], result["dropped"], section))
    return result


class _Tally:
    """Applies the filters, and counts and samples the pairs that they reject."""

    def __init__(self, filters: Sequence[Filter], seed: int) -> None:
        self.filters = filters
        self.samples = Samples([one.reason for one in filters], seed)
        self.nulls = Counter[str]()
        # How many pairs two filters both reject, [filters, filters].
        self.fails_both = np.zeros((len(filters), len(filters)), np.int64)

    def accepted(self, block: pa.RecordBatch) -> Bool:
        """Whether all filters accept each pair of a block, [pairs]."""
        needed = {*_PROBABILITIES, *(column for one in self.filters for column in one.needs)}
        self.nulls.update({column: block[column].null_count for column in needed})
        accepted = np.stack([one.accept(one.score(block)) for one in self.filters])
        failed = (~accepted).astype(np.int64)
        self.fails_both += failed @ failed.T
        kept = np.asarray(accepted.all(axis=0))
        self.samples.add(block.select(_SAMPLE_COLUMNS), np.where(kept, -1, accepted.argmin(axis=0)))
        return kept

    def counts(self) -> dict[str, Any]:
        """The counts that `select_pairs` writes."""
        dropped = self.samples.counts
        reasons = list(dropped)
        return {
            "read": self.samples.read,
            "kept": self.samples.read - sum(dropped.values()),
            "dropped": dropped,
            "fails": dict(zip(reasons, self.fails_both.diagonal().tolist(), strict=True)),
            "fails_both": {
                reason: dict(zip(reasons[later:], self.fails_both[later - 1, later:].tolist(), strict=True))
                for later, reason in enumerate(reasons[:-1], start=1)
            },
        }

    def examples(self) -> list[list[Any]]:
        """The sampled pairs, each with its reason."""
        return [[reason, *row.values()] for reason, row in self.samples.rows("line")]

    def why_none_is_left(self, counts: Mapping[str, Any], languages: tuple[str, str], section: str) -> str:
        """Why the filters have left no pair, and what to do about it."""
        if not counts["read"]:
            return "the corpus is empty: no pairs"
        for one in self.filters:
            if any(self.nulls[column] == counts["read"] for column in one.needs):
                return f"has no {one.missing}"
        reasons = ", ".join(f"{reason} {n}" for reason, n in counts["dropped"].items() if n)
        cause = f"no pair is left of {counts['read']} read; dropped: {reasons}"
        if counts["fails"].get("language") == counts["read"]:
            unknown = [self.nulls[column] == counts["read"] for column in _PROBABILITIES]
            return f"{cause}; {_language_hint(languages, unknown, section)}"
        most = max(counts["dropped"], key=counts["dropped"].get)
        return f"{cause}; see {section}.{most}" if most != "empty" else cause


def _name(scored: Sequence[str | Path]) -> Path:
    """The corpus, for messages."""
    return Path(scored[0]) if len(scored) == 1 else Path(scored[0]).parent


def _language_hint(languages: tuple[str, str], unknown: Sequence[bool], section: str) -> str:
    """What to do if every pair is in another language; `unknown` says which ones have no label."""
    key = f"{section}.language"
    for language, is_unknown in zip(languages, unknown, strict=True):
        if is_unknown:
            labels = " or ".join(labels_of(language) or (language,))
            return (
                f"the language identifier does not know {language}, as it has no label {labels}; "
                f"set {key} to null, or give an identifier that knows it"
            )
    labels = " and ".join(dict.fromkeys("+".join(labels_of(code) or (code,)) for code in languages))
    return f"no text has enough of the labels {labels}; set {key} to null to keep text in other languages"


def _raw_digests(pairs: pa.RecordBatch) -> pa.Array:
    """The MD5 of each pair's text, whose sides a tab separates, as in `paste`."""
    lines = map("\t".join, zip(pairs["source"].to_pylist(), pairs["target"].to_pylist(), strict=True))
    return pa.array([md5(line.encode(), usedforsecurity=False).digest() for line in lines], _RAW.type)


def _blocks(scored: Sequence[str | Path]) -> Iterator[pa.RecordBatch]:
    return chain.from_iterable(map(read_blocks, scored))


def _ranked(scored: Sequence[str | Path], settings: Mapping[str, Any], seed: int) -> Iterator[pa.RecordBatch]:
    """Yield all blocks with the column `rank`: whether a pair is in the range of the whole corpus's ranking.

    Pairs with equal scores are ranked at random. Pairs without a score are not in the range. Only the scores
    are held in memory, twice, and in float32, which is half as large as the column.
    """
    score = settings["by"]
    blocks = (block for path in scored for block in read_blocks(path, columns=[score]))
    ordered = np.concatenate([_in_float32(block[score]) for block in blocks] or [np.empty(0, np.float32)])
    ordered.sort()  # NaN, which stands for null, comes last
    n = len(ordered) - int(np.isnan(ordered).sum())
    first, end = (_place(settings[bound], n) for bound in ("min", "max"))
    lowest, highest = (ordered[first], ordered[end - 1]) if first < end else (np.inf, -np.inf)
    # Of the pairs with the score at an end of the range, a random choice is in it.
    generator, chosen = np.random.default_rng([seed, n]), {}
    for value in {lowest, highest} if first < end else ():
        start, stop = (int(np.searchsorted(ordered[:n], value, side)) for side in ("left", "right"))
        among = np.arange(start, stop)
        chosen[value] = generator.permutation((among >= first) & (among < end))
    del ordered
    for block in _blocks(scored):
        scores = _in_float32(block[score])
        inside = (scores > lowest) & (scores < highest)
        for value, choice in list(chosen.items()):
            here = scores == value
            inside[here], chosen[value] = np.split(choice, [int(here.sum())])
        yield block.append_column("rank", pa.array(inside))


def _in_float32(column: pa.Array) -> Float32:
    values: Float32 = column.to_numpy(zero_copy_only=False).astype(np.float32)
    return values


def _place(share: float, n: int) -> int:
    """The first place of a ranking of n that has at least this share of all places below it."""
    return next((place for place in range(max(0, int(share * n) - 1), n) if place / n >= share), n)
