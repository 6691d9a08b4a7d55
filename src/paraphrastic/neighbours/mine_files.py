"""The command `paraphrastic mine`: mines translations from two files."""

from collections.abc import Callable
from functools import partial

from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import Source
from paraphrastic.base.text import clean, visible
from paraphrastic.base.text_files import text_output
from paraphrastic.model.encoder import Encoder, finite_vectors
from paraphrastic.neighbours.bitext import NEIGHBOURS, Margin, best_pairs
from paraphrastic.neighbours.nearest import nearest_neighbours

# Is called with the current task and the share of it that is done.
OnProgress = Callable[[str, float], None]


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
        sides = [_read_sentences(side) for side in (source, target)]
        x, y = (
            finite_vectors(
                encoder,
                [text for text, _ in sentences],
                language,
                name=side.path,
                progress=progress and partial(progress, f"embedding {side.path}"),
            )
            for sentences, side, language in zip(sides, (source, target), languages, strict=True)
        )
        tell = progress and partial(progress, "searching")
        pairs = best_pairs(*nearest_neighbours(x, y, k or NEIGHBOURS, threads=threads, progress=tell), margin)
        count = len(pairs.scores) if min_score is None else int((pairs.scores >= min_score).sum())
        mined = zip(pairs.sources.tolist(), pairs.targets.tolist(), pairs.scores.tolist(), strict=True)
        for (i, j, score), _ in zip(mined, range(count), strict=False):
            (source_text, source_id), (target_text, target_id) = sides[0][i], sides[1][j]
            ids = f"\t{source_id}\t{target_id}" if with_ids else ""
            file.write(f"{score:.6f}\t{source_text}\t{target_text}{ids}\n")
    return count


def _read_sentences(source: Source) -> list[tuple[str, str]]:
    """Return the different sentences of a file and the id of the row where each first occurs.

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
    return list(sentences.values())
