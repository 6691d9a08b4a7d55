"""The command `paraphrastic mine`: mines translations from two files."""

from functools import partial

from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import Source
from paraphrastic.base.text import clean, visible
from paraphrastic.base.text_files import text_output
from paraphrastic.model.encoder import Encoder, OnProgress, finite_vectors
from paraphrastic.neighbours.bitext import NEIGHBOURS, Margin, best_pairs
from paraphrastic.neighbours.nearest import nearest_neighbours


def mine_files(
    encoder: Encoder,
    source: Source,
    target: Source,
    output: str,
    *,
    k: int | None = None,
    margin: Margin = "ratio",
    min_score: float | None = None,
    languages: tuple[str | None, str | None] = (None, None),
    with_ids: bool = False,
    threads: int = 1,
    progress: OnProgress | None = None,
) -> int:
    """Mine translations from two files; return the number of pairs.

    Writes TSV without a header, best first: score, source, target. A repeated sentence counts once, with its
    first row. Blank lines and white space around a sentence are ignored.

    A pair's cosine is compared with `k` neighbours, 4 by default; pairs with a lower score than `min_score`
    are left out. `with_ids` adds two columns with the ids of the rows.

    Raises:
        InputError: a file cannot be read or written, is not UTF-8, or has no sentence; or a vector is not
            finite.
    """
    if source.path == target.path == "-":
        raise InputError("source and target cannot both be standard input")
    if k and margin == "cosine":
        raise InputError("--k: is of no use with --margin cosine")
    # The output is opened first: if it cannot be written, that is reported before hours of work are lost.
    with text_output(output) as file:
        (sources, source_ids), (targets, target_ids) = map(_read_sentences, (source, target))
        x, y = (
            finite_vectors(encoder, texts, language, name=side.path, progress=progress)
            for texts, side, language in zip((sources, targets), (source, target), languages, strict=True)
        )
        tell = progress and partial(progress, "searching")
        pairs = best_pairs(*nearest_neighbours(x, y, k or NEIGHBOURS, threads=threads, progress=tell), margin)
        count = len(pairs.scores) if min_score is None else int((pairs.scores >= min_score).sum())
        columns = (column[:count].tolist() for column in (pairs.sources, pairs.targets, pairs.scores))
        for i, j, score in zip(*columns, strict=True):
            ids = f"\t{source_ids[i]}\t{target_ids[j]}" if with_ids else ""
            file.write(f"{score:.6f}\t{sources[i]}\t{targets[j]}{ids}\n")
    return count


def _read_sentences(source: Source) -> tuple[list[str], list[str]]:
    """Return the different sentences of a file, and the ids of the rows where they first occur.

    Sentences that differ in what nobody sees are one.
    """
    sentences: dict[str, tuple[str, str]] = {}
    for batch in source.batches():
        texts = batch.columns[0]
        for name, text, seen in zip(batch.ids, texts, visible(texts), strict=True):
            if key := seen.strip():
                sentences.setdefault(key, (clean(text).strip(), clean(str(name))))
    if not sentences:
        raise InputError(f"{source.path}: has no sentence")
    return [text for text, _ in sentences.values()], [name for _, name in sentences.values()]
