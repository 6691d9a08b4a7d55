"""Retrieval of a model's own held-out pairs, on which it was not trained."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pyarrow.dataset import dataset, field

from paraphrastic.base.files import Json
from paraphrastic.model.encoder import Encoder
from paraphrastic.quality.retrieval import NEAREST, PairVectors, Retrieval
from paraphrastic_pipeline.corpus.blocks import read_table
from paraphrastic_pipeline.evaluation.figures import Data, Figures, share
from paraphrastic_pipeline.evaluation.testset_names import DISTRACTORS

# Sentences with what they find, for the page, which chooses among them.
_EXAMPLES = 60


class HeldOut(NamedTuple):
    """The held-out pairs in one pair of languages, and more sentences to choose from."""

    languages: tuple[str, str]
    sides: tuple[list[str], list[str]]
    distractors: tuple[list[str], list[str]] = ([], [])

    @property
    def name(self) -> str:
        """The languages, such as `de-en`."""
        return "-".join(self.languages)

    def data(self, name: str, **about: Any) -> Data:
        """These sentences as a data set, which counts them."""
        content = repr([self.languages, self.sides, self.distractors])
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        counts = {"n": len(self.sides[0]), "distractors": len(self.distractors[0])}
        return Data(name=name, digest=digest, about=counts | about)

    def vectors(self, encoder: Encoder) -> PairVectors:
        """The vectors of all sentences; an `InputError` if one is not finite."""
        name = f"held-out pairs {self.name}"
        return PairVectors(encoder, self.sides, self.languages, name=name, distractors=self.distractors)


def read_held_out(
    held_out: Path, pairs: Path | None = None, languages: Sequence[Sequence[str]] = ()
) -> list[HeldOut]:
    """Read the held-out pairs of `corpus.held_out.hold_out_pairs` by their languages.

    `pairs` are the merged training data, whose first `DISTRACTORS` pairs in the same languages are the
    distractors; without them there are none. `languages` are source and target of each corpus in them.
    """
    table = read_table(held_out).to_pandas()
    found = []
    for (source, target), rows in table.groupby(["source_language", "target_language"], sort=False):
        own = HeldOut((source, target), (list(rows.source), list(rows.target)))
        if pairs:
            corpora = [number for number, codes in enumerate(languages) if tuple(codes) == (source, target)]
            chosen = field("corpus").isin(corpora)
            more = dataset(pairs).head(DISTRACTORS, columns=["source", "target"], filter=chosen)
            own = own._replace(distractors=tuple(column.to_pylist() for column in more.columns))
        found.append(own)
    return found


def held_out_score(encoder: Encoder, held_out: Sequence[HeldOut]) -> float:
    """Share × 100 of held-out sentences, at least one, whose nearest sentence is their partner."""
    hits = [found.hits for pairs in held_out for found in pairs.vectors(encoder).retrieve()]
    return 100.0 * float(np.concatenate(hits).mean())


def evaluate_held_out(
    encoder: Encoder,
    testsets: Sequence[Path],
    pairs: Sequence[Path],
    *,
    definitions: Sequence[str],
    languages: Sequence[Sequence[Sequence[str]]],
) -> Figures:
    """Measure how often the partner of a held-out sentence is the nearest sentence, or among the nearest.

    Each pair of languages has the figures `forward de-en`, the share of German sentences whose nearest
    sentence among the English ones is their partner, and `backward de-en`. In `forward 1 de-en`,
    `forward 10 de-en` and so on, up to 10,000 sentences of the training data are among the candidates as
    distractors, and the partner is the nearest one or among the ten nearest. Each data set has the number of
    held-out pairs and of distractors, and `examples`: some sentences with their partner and what they find
    among all candidates. Without held-out pairs, there are no figures.

    The names of figures end in the name of the definition, if it is not empty, and in the languages if this
    is empty or the definition has several pairs of languages. The other arguments are those of
    `read_held_out` for each of the `definitions`.
    """
    figures: Figures = {}
    for definition, held_out, merged, codes in zip(definitions, testsets, pairs, languages, strict=True):
        read = read_held_out(held_out, merged, codes)
        for each in read:
            name = definition if definition and len(read) == 1 else f"{definition} {each.name}".strip()
            vectors = each.vectors(encoder)
            both = vectors.retrieve(), vectors.retrieve(among_distractors=True)
            examples = list(_examples(each, both[1][0], most=_EXAMPLES // len(read)))
            data = each.data(name, examples=examples)
            for direction, plain, harder in zip(("forward", "backward"), *both, strict=True):
                hits = {"": plain.hits, " 1": harder.hits, f" {NEAREST}": harder.hits_among_nearest}
                for suffix, right in hits.items():
                    figure = share(right, seed=f"held out {name}", data=[data])
                    figures[f"{direction}{suffix} {name}"] = figure
    return figures


def _examples(pairs: HeldOut, found: Retrieval, *, most: int) -> Iterator[Json]:
    """The first sentences with their partner and what they find; the pairs are in random order."""
    sides = zip(*pairs.sides, found.found[:, 0], found.cosines[:, 0], found.hits, strict=True)
    for sentence, partner, nearest, cosine, right in list(sides)[:most]:
        yield {
            "languages": pairs.name,
            "sentence": sentence,
            "partner": partner,
            "found": found.candidates[nearest],
            "cosine": round(float(cosine), 4),
            "right": bool(right),
        }
