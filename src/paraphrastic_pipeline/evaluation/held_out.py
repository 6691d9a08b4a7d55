"""Retrieval of a model's own held-out pairs, on which it was not trained."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from paraphrastic.base.arrays import Bool
from paraphrastic.base.files import Json
from paraphrastic.model.encoder import Encoder
from paraphrastic.quality.retrieval import NEAREST, PairVectors, Retrieval
from paraphrastic_pipeline.corpus.blocks import read_blocks, read_table
from paraphrastic_pipeline.evaluation.figures import Data, Figures, share
from paraphrastic_pipeline.evaluation.testset_names import OTHERS

# Sentences with what they find, for the page, which chooses among them.
_EXAMPLES = 60
_DIRECTIONS = ("forward", "backward")


class HeldOut(NamedTuple):
    """The held-out pairs in one pair of languages, and the sentences among which partners are hidden."""

    languages: tuple[str, str]
    sides: tuple[list[str], list[str]]
    others: tuple[list[str], list[str]] = ([], [])

    @property
    def name(self) -> str:
        """The languages, such as `de-en`."""
        return "-".join(self.languages)

    def data(self, name: str) -> Data:
        """These sentences as a data set, which counts them."""
        content = repr([self.languages, self.sides, self.others])
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        return Data(name=name, digest=digest, about={"n": len(self.sides[0]), "others": len(self.others[0])})

    def vectors(self, encoder: Encoder) -> PairVectors:
        """The vectors of all sentences; an `InputError` if one is not finite."""
        name = f"held-out pairs {self.name}"
        return PairVectors(encoder, self.sides, self.languages, name=name, others=self.others)


def read_held_out(
    held_out: Path, pairs: Path | None = None, languages: Sequence[Sequence[str]] = ()
) -> list[HeldOut]:
    """Read the held-out pairs of `corpus.held_out.hold_out_pairs` by their languages.

    `pairs` are the merged training data, whose first `OTHERS` pairs in the same languages hide the partners;
    None hides them among nothing else. `languages` are source and target of each corpus that they count.
    """
    table = read_table(held_out).to_pandas()
    found = []
    for (source, target), rows in table.groupby(["source_language", "target_language"], sort=False):
        wanted = [tuple(codes) == (source, target) for codes in languages]
        others = _others(pairs, wanted) if pairs else ([], [])
        found.append(HeldOut((source, target), (list(rows.source), list(rows.target)), others))
    return found


def _others(pairs: Path, wanted: Sequence[bool]) -> tuple[list[str], list[str]]:
    """Sources and targets of the first `OTHERS` pairs of the corpora that are wanted."""
    sides: tuple[list[str], list[str]] = ([], [])
    for block in read_blocks(pairs, columns=["source", "target", "corpus"]):
        rows = np.flatnonzero(np.array(wanted)[block["corpus"].to_numpy()])[: OTHERS - len(sides[0])]
        for side, name in zip(sides, ("source", "target"), strict=True):
            side += block[name].take(pa.array(rows)).to_pylist()
        if len(sides[0]) >= OTHERS:
            break
    return sides


def held_out_score(encoder: Encoder, held_out: Sequence[HeldOut]) -> float:
    """Share × 100 of held-out sentences, at least one, whose nearest sentence is their partner."""
    hits = [found.hits for pairs in held_out for found in pairs.vectors(encoder).retrieve()]
    return 100.0 * float(np.concatenate(hits).mean())


def evaluate_held_out(
    encoder: Encoder, testsets: Path, pairs: Path, *, languages: Sequence[Sequence[str]]
) -> Figures:
    """Measure how often the sentence nearest to a held-out sentence is its partner.

    Each pair of languages has the figures `forward de-en` (what German sentences find among the English
    ones) and `backward de-en`, and `forward hidden de-en` and `backward hidden de-en`, where partners are
    hidden among up to 10,000 sentences of the training data, too. `found` and `found hidden` are the shares
    of all sentences of all pairs in both directions. Without held-out pairs, there are no figures.

    Each data set has the number of held-out pairs and of other sentences, and `examples`: some sentences with
    their partner and what they find among all sentences. The arguments are those of `read_held_out`.
    """
    read = read_held_out(testsets, pairs, languages)
    figures: Figures = {}
    hits: dict[str, list[Bool]] = {"": [], " hidden": []}
    every: list[Data] = []
    for each in read:
        vectors, data = each.vectors(encoder), each.data(each.name)
        found = {suffix: vectors.retrieve(among_others=bool(suffix)) for suffix in hits}
        examples = list(_examples(each, found[" hidden"][0], most=_EXAMPLES // len(read)))
        every.append(replace(data, about={**data.about, "examples": examples}))
        for suffix, both in found.items():
            for direction, retrieval in zip(_DIRECTIONS, both, strict=True):
                hits[suffix].append(retrieval.hits)
                figure = share(retrieval.hits, seed=f"held out {each.name}", data=every[-1:])
                figures[f"{direction}{suffix} {each.name}"] = figure
    for suffix, of_all in hits.items() if read else ():
        figures[f"found{suffix}"] = share(np.concatenate(of_all), seed="held out", data=every)
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


def evaluate_retrieval(
    encoder: Encoder,
    testsets: Sequence[Path],
    pairs: Sequence[Path],
    *,
    definitions: Sequence[str],
    languages: Sequence[Sequence[Sequence[str]]],
) -> Figures:
    """Measure how often partners are among the nearest sentences, for the held-out pairs of definitions.

    For each definition, and each pair of languages if it has several, there are the figures `forward 1`,
    `forward 10`, `backward 1` and `backward 10`: the share of sentences with a partner among so many nearest
    sentences, where partners are hidden among up to 10,000 sentences of the same corpora. The other arguments
    are those of `read_held_out` for each of the `definitions`.
    """
    figures: Figures = {}
    for definition, held_out, others, codes in zip(definitions, testsets, pairs, languages, strict=True):
        read = read_held_out(held_out, others, codes)
        for each in read:
            name = definition if len(read) == 1 else f"{definition} {each.name}"
            data, found = [each.data(name)], each.vectors(encoder).retrieve(among_others=True)
            for direction, retrieval in zip(_DIRECTIONS, found, strict=True):
                for most, hits in ((1, retrieval.hits), (NEAREST, retrieval.hits_among_nearest)):
                    figures[f"{direction} {most} {name}"] = share(hits, seed=f"retrieval {name}", data=data)
    return figures
