"""What a model has learned: the neighbours of sentences, a map of them, and the pieces that it listens to."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from paraphrastic.base.arrays import Float32, Float64
from paraphrastic.base.errors import InputError
from paraphrastic.base.text import clean
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.folder import open_folder
from paraphrastic.model.vocabulary import SPACE, ordinary_pieces
from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.corpus.blocks import read_table

NEIGHBOURS_COLUMNS = ("sentence", "rank", "after_training", "cosine", "before_training", "cosine_before")
PIECES_COLUMNS = ("rank", "longest", "length", "times", "shortest", "length_of_shortest", "times_of_shortest")
MAP_COLUMNS = ("source", "x", "y", "sentence")
DROPPED_COLUMNS = ("filter", "corpus", "source", "target")
# Neighbours of a sentence, sentences that are chosen if none are given, pieces of each kind, and examples of
# what each filter dropped.
_NEIGHBOURS, _CHOSEN, _PIECES, _EXAMPLES = 3, 8, 20, 3
# A piece should occur this often to be shown, because the rarest ones have hardly been trained.
_LEAST_TIMES = 3
# UMAP looks at 15 neighbours of each sentence.
_LEAST_OF_UMAP = 15
# Longer sentences would fill the table.
_MOST_CHARACTERS = 120

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Inspected:
    """What is looked at: a model, the same model before training, and sentences by their source.

    Attributes:
        after: the model.
        before: the model before its training; None if it is not at hand.
        sources: sentences by the name of their source, each sentence once.
        language: language of the sentences, for models that keep languages apart.
    """

    after: SentenceEncoder
    before: SentenceEncoder | None
    sources: Mapping[str, Sequence[str]]
    language: str | None = None

    @property
    def sentences(self) -> list[str]:
        """All sentences; an `InputError` if there are fewer than two."""
        distinct = list(dict.fromkeys(text for texts in self.sources.values() for text in texts))
        if len(distinct) < 2:
            raise InputError(f"{', '.join(self.sources)}: at least two different sentences are needed")
        return distinct


def neighbours(inspected: Inspected, asked: Sequence[str] | None = None) -> Rows:
    """The nearest sentences of some sentences, before and after training, as rows of `NEIGHBOURS_COLUMNS`.

    If no sentences are `asked`, they are some of the inspected ones, which do not depend on the model.
    """
    candidates = inspected.sentences
    if asked is None:
        short = [text for text in candidates if len(text) <= _MOST_CHARACTERS] or candidates
        asked = random.Random(0).sample(short, min(_CHOSEN, len(short)))
    after = _nearest(inspected.after, asked, candidates, inspected.language)
    before: list[list[tuple[str, float]]] = [[] for _ in asked]
    if inspected.before:
        before = _nearest(inspected.before, asked, candidates, inspected.language)
    rows = []
    for sentence, trained, untrained in zip(asked, after, before, strict=True):
        for rank, (text, cosine) in enumerate(trained, 1):
            row = {"sentence": _shown(sentence), "rank": rank, "after_training": _shown(text)}
            row["cosine"] = f"{cosine:.2f}"
            if untrained:
                other, cosine_before = untrained[rank - 1]
                row |= {"before_training": _shown(other), "cosine_before": f"{cosine_before:.2f}"}
            rows.append(row)
    return rows


def _nearest(
    model: SentenceEncoder, asked: Sequence[str], candidates: Sequence[str], language: str | None
) -> list[list[tuple[str, float]]]:
    """The nearest other sentences of each sentence, with their cosines."""
    queries, vectors = (
        model.embed_raw_text(texts, normalize=True, language=language) for texts in (asked, candidates)
    )
    places = {text: place for place, text in enumerate(candidates)}
    rows = []
    products = queries.astype(np.float32) @ vectors.astype(np.float32).T
    for sentence, cosines in zip(asked, products, strict=True):
        if sentence in places:
            cosines[places[sentence]] = -np.inf
        best = np.argsort(-cosines, kind="stable")[: min(_NEIGHBOURS, len(candidates) - 1)]
        rows.append([(candidates[place], float(cosines[place])) for place in best])
    return rows


def _shown(text: str) -> str:
    """A text on one line, without control characters, and cut if it is long."""
    return " ".join(clean(text).split())[:_MOST_CHARACTERS]


def pieces(inspected: Inspected) -> Rows:
    """The pieces with the longest and the shortest embeddings, as rows of `PIECES_COLUMNS`.

    A sentence is the average of its pieces, so a long embedding counts for more in it than a short one. The
    pieces that occur several times in the sentences are shown, or all if these are few. A piece that begins
    no word begins with `…`.

    Raises:
        InputError: the model is not a single average.
    """
    model = inspected.after
    if not isinstance(model, AverageEncoder):
        raise InputError(f"{model.config['model']}: is not a single average, so its pieces have no length")
    counts = np.zeros(len(model.known), np.int64)
    np.add.at(counts, model.tokenize(inspected.sentences).ids, 1)
    factors = 1.0 if model.weights is None else model.weights
    lengths = np.linalg.norm(model.embeddings.astype(np.float32), axis=1) * factors
    ordinary = np.zeros(len(counts), np.bool_)
    ordinary[ordinary_pieces(model.processor)] = True
    often = ordinary & (counts >= _LEAST_TIMES)
    shown = np.flatnonzero(often if often.sum() >= 2 * _PIECES else ordinary & (counts > 0))
    order = shown[np.argsort(-lengths[shown], kind="stable")]
    count = min(_PIECES, len(order) // 2)

    def cells(piece: int) -> tuple[str, str, int]:
        text = model.processor.id_to_piece(int(piece))
        name = clean(text.removeprefix(SPACE) if text.startswith(SPACE) else f"…{text}")
        return name or "(space)", f"{lengths[piece]:.2f}", int(counts[piece])

    return [
        dict(zip(PIECES_COLUMNS, (rank, *cells(order[rank - 1]), *cells(order[-rank])), strict=True))
        for rank in range(1, count + 1)
    ]


def positions(inspected: Inspected) -> tuple[Rows, str]:
    """Places of all sentences in two dimensions, as rows of `MAP_COLUMNS`, and the name of the method.

    UMAP (McInnes et al. 2018) is used where it is installed and has enough sentences, and otherwise the two
    directions in which the vectors differ most (PCA).
    """
    rows = [(source, text) for source, texts in inspected.sources.items() for text in texts]
    vectors = inspected.after.embed_raw_text(
        [text for _, text in rows], normalize=True, language=inspected.language
    )
    if len(rows) > _LEAST_OF_UMAP and find_spec("umap"):
        from umap import UMAP

        # With a seed, it uses one thread in any case, and warns unless it is told to.
        mapper = UMAP(metric="cosine", random_state=0, n_jobs=1)
        method, places = "UMAP", mapper.fit_transform(vectors)
    else:
        method, places = "PCA", _principal(vectors)
    points = [
        {"source": source, "x": f"{x:.4f}", "y": f"{y:.4f}", "sentence": _shown(text)}
        for (source, text), (x, y) in zip(rows, places, strict=True)
    ]
    return points, method


def _principal(vectors: Float32) -> Float64:
    """The vectors in the two directions in which they differ most, [n, 2]."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    two = directions[:, :-3:-1]
    # The sign of a direction is arbitrary; this makes it the same everywhere.
    two = two * np.sign(two[np.abs(two).argmax(axis=0), range(two.shape[1])])
    return centred @ two


def dropped_examples(files: Sequence[tuple[str | Path, str]]) -> Rows:
    """Some pairs that each filter dropped, as rows of `DROPPED_COLUMNS`, from samples of dropped pairs.

    The files are the TSV files that the selection writes, each with the name of its corpus.
    """
    rows = []
    for path, corpus in files:
        lines = [line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines()]
        dropped = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
        for reason, group in groupby(dropped, itemgetter("reason")):
            for row in islice(group, _EXAMPLES):
                shown = _shown(row["source"]), _shown(row["target"])
                rows.append(dict(zip(DROPPED_COLUMNS, (reason, corpus, *shown), strict=True)))
    return sorted(rows, key=lambda row: row["filter"])


def sample_corpora(files: Sequence[tuple[str | Path, str]], count: int) -> dict[str, list[str]]:
    """The first distinct sentences of each corpus, at most `count`, those of its first side first.

    The files are Parquet files of pairs in random order, each with the name of its corpus.
    """
    sentences = {}
    for path, corpus in files:
        pairs = read_table(path, columns=["source", "target"], rows=count)
        sides = (pairs[side].to_pylist() for side in ("source", "target"))
        sentences[corpus] = list(dict.fromkeys(chain.from_iterable(sides)))[:count]
    return sentences


def inspect_model(
    after: Path,
    before: Path | None,
    selected: Sequence[tuple[str | Path, str]],
    dropped: Sequence[tuple[str | Path, str]],
    tables: Mapping[str, str | Path],
    *,
    sentences: Sequence[str] | None,
    candidates: int,
) -> None:
    """Write what a model has learned, and what the filters kept away from it.

    Args:
        after: the model's folder.
        before: folder of the model before training, or None.
        selected: files of training pairs, see `sample_corpora`.
        dropped: samples of dropped pairs, see `dropped_examples`.
        tables: CSV files to write: `neighbours`, `pieces`, `map` and `dropped`.
        sentences: sentences whose neighbours are shown; None for some of the training sentences.
        candidates: number of sentences of each corpus.

    Raises:
        InputError: a file is damaged, or the model is not a single average.
    """
    sources = sample_corpora(selected, candidates)
    inspected = Inspected(open_folder(after), open_folder(before) if before else None, sources)
    write_csv(tables["neighbours"], NEIGHBOURS_COLUMNS, neighbours(inspected, sentences))
    write_csv(tables["pieces"], PIECES_COLUMNS, pieces(inspected))
    write_csv(tables["map"], MAP_COLUMNS, positions(inspected)[0])
    write_csv(tables["dropped"], DROPPED_COLUMNS, dropped_examples(dropped))


def as_text(title: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A table for a terminal: tabs between columns, a title above, and no column that all rows lack."""
    rows = list(rows)
    columns = [name for name in columns if not rows or any(name in row for row in rows)]
    lines = ["\t".join(name.replace("_", " ") for name in columns)]
    lines += ["\t".join(clean(str(row.get(name, ""))) for name in columns) for row in rows]
    return "\n".join([title, "", *lines, ""])
