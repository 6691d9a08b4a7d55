"""The training loop."""

import hashlib
import json
import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece
import torch

from paraphrastic.code_version import code_version
from paraphrastic.dataset import PairDataset, Sentences
from paraphrastic.errors import InputError
from paraphrastic.files import sha256
from paraphrastic.model import RawTextEncoder, save_model
from paraphrastic.structure import Structure
from paraphrastic.training.batches import MegaBatch, megabatches
from paraphrastic.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from paraphrastic.training.compiled import Team
from paraphrastic.training.encoder import CombinedEncoder, initial_encoder
from paraphrastic.training.engine import Engine, build_engine, choose_engine
from paraphrastic.training.inference import inference_model
from paraphrastic.training.initial import use_word_vectors
from paraphrastic.training.mining import hardest_negatives
from paraphrastic.training.settings import TrainingSettings
from paraphrastic.vocabulary import load_sentencepiece

log = logging.getLogger(__name__)

SECONDS_BETWEEN_LINES = 10.0
EMBED_BLOCK = 8192

Rows = npt.NDArray[np.int64]
Processors = dict[str, list[sentencepiece.SentencePieceProcessor]]

AVERAGE = Structure()


def train_model(
    dataset: Path,
    sentencepiece_model: Path,
    output: Path,
    *,
    structure: Structure = AVERAGE,
    more_vocabularies: Sequence[Path] = (),
    initial_vectors: Path | None = None,
    settings: TrainingSettings,
    config: Mapping[str, Any],
    threads: int,
) -> None:
    """Train a model and write its folder to `output`.

    A checkpoint is kept in `output` after each epoch. A run that is started again with the same data and
    settings goes on from it, and ends in the same parameters as one that was never interrupted.

    Args:
        dataset: HDF5 file of `encode_dataset`.
        sentencepiece_model: the model that `dataset` was encoded with, of several the first.
        structure: what the encoder is made of.
        more_vocabularies: the other sentencepiece models, in the order of units and languages.
        initial_vectors: text file with the word vectors that tables of words begin with.
        output: folder of the model; see `paraphrastic.model.save_model`.
        settings: hyperparameters.
        config: entries of the model's `config.json` beside the ones about training.
        threads: to work with. The fused engine ends in the same digits with every number of them; autograd
            sums in another order, and ends in slightly other digits.
    """
    settings = replace(settings, engine=choose_engine(settings, structure))
    torch.set_num_threads(threads if settings.engine == "autograd" else 1)
    torch.use_deterministic_algorithms(True)
    with PairDataset(dataset) as pairs, closing(Team(threads)) as team:
        processors = _processors(pairs, structure, [sentencepiece_model, *more_vocabularies])
        encoder, anchors, counts = _initial(pairs, processors, structure, settings, initial_vectors)
        engine = build_engine(encoder, settings, team, anchors=anchors)
        # The fused engine has copied what it needs.
        del encoder, anchors
        identity: dict[str, Any] = {"structure": structure.to_json()}
        if initial_vectors:
            identity["initial_vectors_sha256"] = sha256(initial_vectors)
            config = {**config, "initial_vectors": counts}
        run = _Run(pairs, settings, team, engine, identity, checkpoint=output / "checkpoint.safetensors")
        weights = run.finish()
        config = {**config, "training": asdict(settings), "pairs": len(pairs)}
        model = inference_model(weights, pairs.units, processors, structure, config)
        save_model(model, output, config=model.config)
    run.checkpoint.unlink(missing_ok=True)


def untrained_model(
    dataset: Path,
    sentencepiece_model: Path,
    *,
    structure: Structure = AVERAGE,
    more_vocabularies: Sequence[Path] = (),
    initial_vectors: Path | None = None,
    settings: TrainingSettings,
    config: Mapping[str, Any],
) -> RawTextEncoder:
    """The model that `train_model` starts from, with the same random parameters."""
    with PairDataset(dataset) as pairs:
        processors = _processors(pairs, structure, [sentencepiece_model, *more_vocabularies])
        encoder, *_ = _initial(pairs, processors, structure, settings, initial_vectors)
        weights = {name: value.detach().numpy() for name, value in encoder.named_parameters()}
        return inference_model(weights, pairs.units, processors, structure, config)


def _initial(
    pairs: PairDataset,
    processors: Processors,
    structure: Structure,
    settings: TrainingSettings,
    vectors: Path | None,
) -> tuple[CombinedEncoder, dict[str, torch.Tensor], dict[str, int]]:
    """The encoder before training; tables that began with word vectors, and how many words had one."""
    encoder = initial_encoder(pairs.units, settings, structure)
    if vectors is None:
        return encoder, {}, {}
    return encoder, *use_word_vectors(encoder, vectors, pairs.units, processors, structure)


def _processors(pairs: PairDataset, structure: Structure, models: Sequence[Path]) -> Processors:
    """The sentencepiece models by unit, after a check that the data were encoded with them."""
    if tuple(unit.unit for unit in pairs.units) != structure.units:
        raise InputError(f"{pairs.path}: was not encoded in {' and '.join(structure.units)}")
    expected = [digest for unit in pairs.units for digest in unit.sentencepiece_sha256]
    if [sha256(model) for model in models] != expected:
        raise InputError(f"{pairs.path}: was not encoded with {' and '.join(map(str, models))}")
    loaded = iter(load_sentencepiece(model) for model in models)
    return {unit.unit: [next(loaded) for _ in unit.sentencepiece_sha256] for unit in pairs.units}


class _Run:
    """State of one training run."""

    def __init__(
        self,
        pairs: PairDataset,
        settings: TrainingSettings,
        team: Team,
        engine: Engine,
        identity: Mapping[str, Any],
        *,
        checkpoint: Path,
    ) -> None:
        self.pairs = pairs
        self.settings = settings
        self.team = team
        self.checkpoint = checkpoint
        self.engine = engine
        state = {**identity, "code": code_version(__name__), "pairs": sha256(pairs.path)}
        if settings.engine == "autograd":
            # Another number of threads sums in another order.
            state["threads"] = team.size
        self.identity = _digest({**asdict(settings), **state})

    def finish(self) -> Mapping[str, npt.NDArray[np.float32]]:
        """Train what is left of the run; the parameters by name."""
        progress = Progress()
        if found := load_checkpoint(self.checkpoint, identity=self.identity):
            progress, state = found
            self.engine.restore(state)
        report = _Report(len(self.pairs), self.settings.epochs, first_epoch=progress.epoch)
        for epoch in range(progress.epoch, self.settings.epochs):
            progress = self._train_epoch(epoch, progress.batches_read, report)
            save_checkpoint(self.checkpoint, self.engine.state(), progress, identity=self.identity)
        return self.engine.weights()

    def _train_epoch(self, epoch: int, batches_read: int, report: "_Report") -> Progress:
        report.start_epoch(epoch)
        for megabatch in megabatches(self.pairs, self.settings, epoch=epoch, batches_read=batches_read):
            sentences = Sentences.concatenate([megabatch.source, megabatch.target])
            negatives = self._mine(sentences)
            for start in range(0, len(megabatch), self.settings.batch_size):
                pairs = np.arange(start, min(len(megabatch), start + self.settings.batch_size))
                loss = self._step(sentences, negatives, pairs, n_pairs=len(megabatch))
                batches_read += 1
                report.step(loss, pairs=len(pairs), megabatch=megabatch)
                if not np.isfinite(loss):
                    raise InputError(
                        f"{self.pairs.path}: the loss is {loss} in epoch {epoch + 1}, mini-batch "
                        f"{batches_read}: lower training.learning_rate ({self.settings.learning_rate})"
                    )
        report.end_epoch()
        return Progress(epoch + 1, batches_read)

    def _mine(self, sentences: Sentences) -> Rows:
        """Negatives of all sentences of a mega-batch, by the parameters of the moment, without dropout."""
        return hardest_negatives(
            self.engine.embed(sentences),
            sentences.fingerprints().view(np.int64),
            self.team,
            either_side=self.settings.negatives == "either_side",
            exclude_duplicates=self.settings.exclude_duplicates,
            precision=self.settings.mining_precision,
        )

    def _step(self, sentences: Sentences, negatives: Rows, pairs: Rows, *, n_pairs: int) -> float:
        """One mini-batch of the mega-batch; its loss."""
        own = np.concatenate([pairs, pairs + n_pairs])
        chosen = negatives[own]
        valid = chosen >= 0
        # A sentence without a negative stands in for it; its term of the loss is masked.
        chosen = np.concatenate([own, np.where(valid, chosen, own)])
        return self.engine.step(sentences, chosen, valid.reshape(2, -1))


def _digest(value: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class _Report:
    """Lines for a person to follow a run by."""

    def __init__(self, n_pairs: int, epochs: int, *, first_epoch: int) -> None:
        self.n_pairs = n_pairs
        self.epochs = epochs
        self.first_epoch = first_epoch
        self.started = time.monotonic()
        self.pairs_done = 0

    def start_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        self.epoch_started = self.last_line = time.monotonic()
        self.epoch_pairs = 0
        self.loss_sum = 0.0
        self.megabatch = 1

    def step(self, loss: float, *, pairs: int, megabatch: MegaBatch) -> None:
        self.pairs_done += pairs
        self.epoch_pairs += pairs
        self.loss_sum += loss * pairs
        self.megabatch = megabatch.size
        if time.monotonic() - self.last_line > SECONDS_BETWEEN_LINES:
            self._line(f"{100 * self.epoch_pairs // self.n_pairs:3d} %")

    def end_epoch(self) -> None:
        self._line("done ")

    def _line(self, state: str) -> None:
        self.last_line = time.monotonic()
        elapsed = self.last_line - self.started
        pairs_left = (self.epochs - self.first_epoch) * self.n_pairs - self.pairs_done
        log.info(
            "epoch %d/%d %s  M %d  loss %.4f  %.0f pairs/s  %s left",
            self.epoch + 1,
            self.epochs,
            state,
            self.megabatch,
            self.loss_sum / self.epoch_pairs,
            self.epoch_pairs / (self.last_line - self.epoch_started),
            _duration(elapsed / self.pairs_done * pairs_left),
        )


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02d}m" if hours else f"{minutes}m{seconds:02d}s"
