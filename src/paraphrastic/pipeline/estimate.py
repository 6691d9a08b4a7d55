"""What corpora of OPUS will cost: disk, memory and time, from rates measured once.

Measured on one core of an AMD EPYC, on 174,000 pairs of English and German captions (Multi30k; 12 words and
62 characters a side), with language identification by lid.176.ftz. Training: 1024 dimensions, 50,000 pieces,
mini-batches of 128 and mega-batches of 60, as in the paper. Merging's temporary data: 1.7 million pairs in
200 MB of memory. The vocabulary's memory and time: 1.8 million sentences.
"""

from collections.abc import Sequence

from paraphrastic.registry.opus import OpusCorpus

# Bytes a pair.
_ARCHIVE = 40
_ARCHIVE_LEAST = 20
_BETWEEN_STEPS = {"pairs": 49, "scored": 52, "selected": 47, "merged": 51, "encoded": 121}
_MERGING = 130
# Pairs a second of one core, in the steps from the archive to the training data, and in training.
_STEPS = {"extract": 208_000, "score": 31_300, "select": 309_000, "merge": 311_000, "encode": 46_500}
_TRAINING = 750
# The vocabulary is trained on up to so many sentences, by default.
_VOCABULARY_SENTENCES = 10_000_000
VOCABULARY_BYTES = 1_500
_VOCABULARY_RATE = 45_000
_TRAINING_BYTES = 1_500_000_000


def estimate(corpora: Sequence[OpusCorpus]) -> list[str]:
    """Lines that say what it takes to make training data of `corpora`, and to train on it.

    Corpora whose number of pairs OPUS does not say are named and left out.
    """
    known = [(corpus, corpus.pairs) for corpus in corpora if corpus.pairs]
    lines = []
    if unknown := [corpus.name for corpus in corpora if not corpus.pairs]:
        lines.append(f"not in the estimate, since OPUS does not say their size: {', '.join(unknown)}")
    if not known:
        return lines
    pairs = sum(number for _, number in known)
    archives = sum(archive_bytes(corpus) or 0 for corpus, _ in known)
    names = ", ".join(f"{corpus.name} {corpus.version} {'-'.join(corpus.languages)}" for corpus, _ in known)
    sentences = min(2 * pairs, _VOCABULARY_SENTENCES)
    kept = archives + pairs * sum(_BETWEEN_STEPS.values())
    merging, vocabulary = pairs * _MERGING, sentences * VOCABULARY_BYTES
    seconds = sum(pairs / rate for rate in _STEPS.values()) + sentences / _VOCABULARY_RATE
    epoch = pairs / _TRAINING
    return [
        *lines,
        f"estimate for {names}: {pairs:,} pairs",
        f"  disk    {size(archives)} to download, {size(kept)} in all, and {size(merging)} more in merging",
        f"  memory  {size(vocabulary)} for the vocabulary, {size(_TRAINING_BYTES)} in training, 1 GB before",
        f"  time    {duration(seconds)} of one core to training data, {duration(epoch)} an epoch of training",
        "  if no filter drops a pair; by rates for sentences of 12 words, 1024 dimensions and 50,000 pieces",
    ]


def archive_bytes(corpus: OpusCorpus) -> int | None:
    """Size of a corpus's archive; by its pairs where the list has none, or one that cannot be true."""
    if corpus.pairs is None:
        return corpus.size
    if corpus.size is None or corpus.size < corpus.pairs * _ARCHIVE_LEAST:
        return corpus.pairs * _ARCHIVE
    return corpus.size


def size(count: int) -> str:
    """Bytes in a unit that is easy to read."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6)):
        if count >= scale:
            return f"{count / scale:,.1f} {unit}"
    return f"{count / 1000:,.1f} kB"


def duration(seconds: float) -> str:
    """Seconds in a unit that is easy to read."""
    for unit, scale in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * scale:
            return f"{seconds / scale:,.1f} {unit}"
    return f"{seconds:,.0f} seconds"
