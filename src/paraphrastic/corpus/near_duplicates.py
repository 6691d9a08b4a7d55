"""Pairs that are nearly the same as an earlier one, found by MinHash without comparing all with all."""

from collections.abc import Iterator

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rensa import RMinHash

from paraphrastic.corpus.blocks import BLOCK_ROWS
from paraphrastic.corpus.database import insert, integer
from paraphrastic.corpus.normal_form import ngrams_of, words_of

_PERMUTATIONS = 128
# Of the pairs that are just as similar as asked for, at most this share may go unseen.
_MISSED = 0.05
# Pairs times bands that are looked at together: what is done with them must be in memory as a whole.
_SLICE_ROWS = 10_000_000


def drop_near_duplicates(
    database: duckdb.DuckDBPyConnection, *, ngram: int, min_similarity: float, seed: int
) -> None:
    """Make the table `distinct_rows`: the unique pairs that are not nearly the same as an earlier one.

    The similarity of two pairs is Jaccard's of their word n-grams, each together with the side that it stands
    on, in the normal form of `words_of`. A side of fewer than `ngram` words is one n-gram. MinHash (Broder,
    1997) with locality-sensitive hashing proposes which pairs to compare, and the n-grams themselves decide:
    every pair that is dropped is as similar as asked for to an earlier one, and at least 95 % of those that
    are will be dropped. In a bucket, a pair is compared with the one before it and with the first, so that
    the work grows with the number of pairs and a chain of small changes counts as one sentence.

    Args:
        database: with the view `rows` (`place`, `source`, `target`), and the table `unique_rows` (`place`,
            `number`) of the pairs to look at.
        ngram: words of an n-gram.
        min_similarity: above 0, at most 1.
        seed: of the hash functions.
    """
    rows = rows_per_band(min_similarity)
    database.execute("CREATE TABLE near_buckets (place BIGINT, bucket BIGINT)")
    pairs = "SELECT place, source, target FROM rows SEMI JOIN unique_rows USING (place)"
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
    database.execute("CREATE TABLE distinct_rows AS FROM unique_rows ANTI JOIN near_rows USING (place)")


def _propose(database: duckdb.DuckDBPyConnection) -> None:
    """Make the table `near_candidates` of what to compare: `place`, and an `earlier` one of its bucket."""
    database.execute("CREATE TABLE near_candidates (place BIGINT, earlier BIGINT)")
    slices = 1 + integer(database, "SELECT count(*) FROM near_buckets") // _SLICE_ROWS
    for number in range(slices):
        # Comparing all pairs of a bucket would take the square of its size.
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
    """Blocks of a result, during which the database can be written to."""
    with database.cursor() as cursor:
        yield from cursor.sql(query).to_arrow_reader(BLOCK_ROWS)


def rows_per_band(min_similarity: float) -> int:
    """Hashes that two pairs must share to be compared: as many as miss few enough of the similar ones."""
    rows = 1
    while (1 - min_similarity ** (rows + 1)) ** (_PERMUTATIONS // (rows + 1)) <= _MISSED:
        rows += 1
        if rows == _PERMUTATIONS // 2:
            break
    return rows


def pair_ngrams(source: str, target: str, n: int) -> set[str]:
    """The word n-grams of a pair, each with its side; a side of fewer words is one n-gram."""
    sides = (("<", words_of(source)), (">", words_of(target)))
    return {side + " ".join(gram) for side, words in sides for gram in ngrams_of(words, n) or (words,)}


def _buckets(block: pa.RecordBatch, *, ngram: int, rows: int, seed: int) -> npt.NDArray[np.int64]:
    """The buckets of each pair, [pairs, bands]: a hash of the band's number and of its minima."""
    grams = list(map(list, _ngrams(block, "source", "target", ngram=ngram)))
    minima = np.array(RMinHash.digests_from_token_sets(grams, _PERMUTATIONS, seed), np.uint64)
    bands = _PERMUTATIONS // rows
    minima = minima[:, : bands * rows].reshape(len(grams), bands, rows)
    hashes = np.broadcast_to(np.arange(bands, dtype=np.uint64), minima.shape[:2])
    for row in range(rows):
        # A multiplication that spreads the bits upwards, and a shift that carries them down.
        hashes = (hashes ^ minima[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
        hashes = hashes ^ (hashes >> np.uint64(29))
    return hashes.view(np.int64)


def _ngrams(block: pa.RecordBatch, source: str, target: str, *, ngram: int) -> Iterator[set[str]]:
    for texts in zip(block[source].to_pylist(), block[target].to_pylist(), strict=True):
        yield pair_ngrams(*texts, ngram)
