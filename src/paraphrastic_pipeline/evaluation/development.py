"""The score on development data, used to watch training and to choose models."""

import logging
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paraphrastic.base.files import write_json
from paraphrastic.model.encoder import SentenceEncoder, cosines
from paraphrastic.model.files import ModelFiles
from paraphrastic.model.folder import open_files, open_folder
from paraphrastic.quality.correlation import pearson
from paraphrastic_pipeline.evaluation.held_out import held_out_score, read_held_out
from paraphrastic_pipeline.evaluation.testset_names import DEVELOPMENT
from paraphrastic_pipeline.evaluation.testsets import read_testsets
from paraphrastic_pipeline.training.inputs import Development
from paraphrastic_pipeline.training.model_selection import MANY

log = logging.getLogger(__name__)


class DevelopmentData(NamedTuple):
    """What a model is scored on while it is trained, and what runs are chosen by.

    Attributes:
        choose_by: what decides, as in the configuration: `held_out`, `sts2017`, or the `mean` of both.
        held_out: Parquet file of `corpus.held_out.hold_out_pairs`; None if the model holds out none.
        testsets: Parquet file with STS 2017; None if the model does not know English.
    """

    choose_by: str
    held_out: Path | None
    testsets: Path | None

    def scores(self, model: SentenceEncoder) -> dict[str, float]:
        """Every score of a model, × 100, and the one that decides, `development`.

        `held_out` is the share of held-out sentences whose nearest sentence is their partner, of so many
        `held_out_pairs`, and `sts2017`
        is Pearson's r on STS 2017 en-en, by which Wieting et al. (2021, section 5.1) choose models.
        """
        found: dict[str, float] = {}
        model.threads = 1
        if pairs := read_held_out(self.held_out) if self.held_out else []:
            found["held_out"] = held_out_score(model, pairs)
        if self.testsets:
            found["sts2017"] = sts2017_score(model, self.testsets)
        decisive = [value for name, value in found.items() if self.choose_by in ("mean", name)]
        if pairs:
            found["held_out_pairs"] = sum(len(each.sides[0]) for each in pairs)
        return {**found, "development": float(np.mean(decisive))} if decisive else found

    def in_training(self) -> Development | None:
        """How `train_model` scores a model; None if there is nothing to score it on."""
        number = sum(len(each.sides[0]) for each in read_held_out(self.held_out)) if self.held_out else 0
        held_out = self.held_out if number else None
        wanted = {"held_out": held_out, "sts2017": self.testsets}
        data = [path for name, path in wanted.items() if path and self.choose_by in ("mean", name)]
        if data and number < MANY:
            log.warning("warning: training is scored on only %d held-out pairs", number)
        return Development(self._score, data) if data else None

    def _score(self, files: Any) -> float:
        model = open_files(files) if isinstance(files, ModelFiles) else files
        return self.scores(model)["development"]


def evaluate_run(
    weights: Path,
    score: Path,
    *,
    choose_by: str,
    held_out: Path | None = None,
    testsets: Path | None = None,
) -> None:
    """Write the scores of a run of a sweep as JSON; the model's other files lie beside its weights.

    The other arguments are the attributes of `DevelopmentData`.
    """
    data = DevelopmentData(choose_by, held_out, testsets)
    write_json(score, data.scores(open_folder(weights.parent)))


def sts2017_score(model: SentenceEncoder, testsets: Path) -> float:
    """Pearson's r × 100 on STS 2017 en-en."""
    pairs = read_testsets(testsets).dropna(subset="gold")
    pairs = pairs[(pairs.year == "2017") & (pairs.dataset == DEVELOPMENT)]
    first, second = (
        model.embed_raw_text(list(side), language="en", threads=1)
        for side in (pairs.sentence1, pairs.sentence2)
    )
    name = f"{testsets}: STS 2017 en-en"
    return 100.0 * pearson(cosines(first, second), pairs.gold.to_numpy(), name=name)
