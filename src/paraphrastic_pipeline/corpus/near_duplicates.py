"""Find pairs that are nearly the same as an earlier one with MinHash, without comparing all pairs."""

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
from rensa import RMinHash

from paraphrastic.base.arrays import Int64
from paraphrastic_pipeline.corpus.blocks import BLOCK_ROWS
from paraphrastic_pipeline.corpus.database import drop_rows, insert, integer
from paraphrastic_pipeline.corpus.normal_form import ngrams_of, words_of

_PERMUTATIONS = 128
# The largest share of pairs exactly at the least similarity that may be missed.
_MISSED = 0.05
# Pairs times bands that are processed together, since DuckDB must hold all of them in memory.
_SLICE_ROWS = 10_000_000


def drop_near_duplicates(
    database: duckdb.DuckDBPyConnection, *, ngram: int, min_similarity: float, seed: int
) -> None:
    """Remove the pairs that are nearly the same as an earlier one from the table `kept`.

    The similarity of two pairs is the Jaccard index of their word n-grams in the normal form of `words_of`,
    each marked with its side. A side with fewer than `ngram` words is one n-gram. MinHash (Broder, 1997) with
    locality-sensitive hashing proposes pairs to compare, and the n-grams themselves decide. Every dropped
    pair is therefore at least `min_similarity` similar to an earlier one, and two such pairs share a bucket
    with a probability of at least 95 %. Within a bucket, a pair is compared only with its predecessor and
    with the first pair, so the work grows linearly with the number of pairs. A chain of small changes counts
    as one sentence.

    Args:
        database: a database with the view `rows` and the table `kept`.
        ngram: number of words in an n-gram.
        min_similarity: least similarity, above 0 and at most 1.
        seed: seed for the hash functions.
    """
    rows = rows_per_band(min_similarity)
    database.execute("CREATE TABLE near_buckets (place BIGINT, bucket BIGINT)")
    pairs = "SELECT place, source, target FROM rows SEMI JOIN kept USING (place)"
    for block in _read(database, pairs):
        buckets = _buckets(block, ngram=ngram, rows=rows, seed=seed)
        places = np.repeat(block["place"].to_numpy(), buckets.shape[1])
        insert(database, "near_buckets", pa.table({"place": places, "bucket": buckets.reshape(-1)}))
    _propose(database)
    database.execute("DROP TABLE near_buckets")
    candidates = """
        WITH proposed AS (SELECT DISTINCT * FROM near_candidates)
        SELECT later.place AS place, later.source AS source, later.target AS target,
               first.source AS first_source, first.target AS first_target
        FROM proposed
        JOIN rows AS later ON later.place = proposed.place
        JOIN rows AS first ON first.place = proposed.earlier
        """
    database.execute("CREATE TABLE near_rows (place BIGINT)")
    for block in _read(database, candidates):
        later = _ngrams(block, "source", "target", ngram=ngram)
        first = _ngrams(block, "first_source", "first_target", ngram=ngram)
        both = zip(later, first, strict=True)
        similarities = np.array([len(one & other) / len(one | other) for one, other in both])
        near = block["place"].to_numpy()[similarities >= min_similarity]
        insert(database, "near_rows", pa.table({"place": np.unique(near)}))
    drop_rows(database, "near_rows")


def _propose(database: duckdb.DuckDBPyConnection) -> None:
    """Make the table `near_candidates` of pairs to compare: `place`, and an `earlier` place in its bucket."""
    database.execute("CREATE TABLE near_candidates (place BIGINT, earlier BIGINT)")
    slices = 1 + integer(database, "SELECT count(*) FROM near_buckets") // _SLICE_ROWS
    for number in range(slices):
        # The work of comparing all pairs of a bucket would grow with the square of its size.
        database.execute(
            f"""
            INSERT INTO near_candidates
            SELECT DISTINCT place, earlier FROM (
                SELECT place, unnest([lag(place) OVER bucket_mates, first(place) OVER bucket_mates])
                       AS earlier
                FROM near_buckets
                SEMI JOIN (
                    SELECT bucket FROM near_buckets WHERE bucket % {slices} IN ({number}, {number - slices})
                    GROUP BY bucket HAVING count(*) > 1
                ) USING (bucket)
                WINDOW bucket_mates AS (PARTITION BY bucket ORDER BY place)
            ) WHERE earlier < place
            """  # noqa: S608 - numbers of ours
        )


def _read(database: duckdb.DuckDBPyConnection, query: str) -> Iterator[pa.RecordBatch]:
    """Stream a result in blocks; its own cursor allows writing to the database meanwhile."""
    with database.cursor() as cursor:
        yield from cursor.sql(query).to_arrow_reader(BLOCK_ROWS)


def rows_per_band(min_similarity: float) -> int:
    """The most hashes per band that still miss at most a share `_MISSED` of the similar pairs."""
    rows = 1
    while rows < _PERMUTATIONS // 2 and (
        (1 - min_similarity ** (rows + 1)) ** (_PERMUTATIONS // (rows + 1)) <= _MISSED
    ):
        rows += 1
    return rows


def pair_ngrams(source: str, target: str, n: int) -> set[str]:
    """The word n-grams of a pair, each marked with its side; a side with fewer words is one n-gram."""
    sides = (("<", words_of(source)), (">", words_of(target)))
    return {side + " ".join(gram) for side, words in sides for gram in ngrams_of(words, n) or (words,)}


def _buckets(block: pa.RecordBatch, *, ngram: int, rows: int, seed: int) -> Int64:
    """The buckets of each pair, int64 [pairs, bands]: hashes of the band's number and its minima."""
    grams = list(map(list, _ngrams(block, "source", "target", ngram=ngram)))
    minima = np.array(RMinHash.digests_from_token_sets(grams, _PERMUTATIONS, seed), np.uint64)
    bands = _PERMUTATIONS // rows
    minima = minima[:, : bands * rows].reshape(len(grams), bands, rows)
    hashes = np.broadcast_to(np.arange(bands, dtype=np.uint64), minima.shape[:2])
    for row in range(rows):
        # The multiplication spreads bits upwards, and the shift carries them back down.
        hashes = (hashes ^ minima[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
        hashes = hashes ^ (hashes >> np.uint64(29))
    return hashes.view(np.int64)


def _ngrams(block: pa.RecordBatch, source: str, target: str, *, ngram: int) -> Iterator[set[str]]:
    for texts in zip(block[source].to_pylist(), block[target].to_pylist(), strict=True):
        yield pair_ngrams(*texts, ngram)
