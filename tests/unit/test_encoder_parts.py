"""Test what LSTMs, mixed models and separate languages compute in training."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from encoder_corpus import ARCHITECTURES, SHORT, Data, random_tokens, recurrent

from paraphrastic import load_model
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.encoder_modules import (
    TrainableEncoder,
    initial_encoder,
    scrambled,
)
from paraphrastic_pipeline.training.initialization import untrained_model
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.same_meaning import sentence_ids
from paraphrastic_pipeline.training.sentences import Sentences


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return Data(tmp_path_factory.mktemp("data"))


def test_the_engine_embeds_in_blocks_of_like_lengths_and_in_the_given_order() -> None:
    sentences = random_tokens(list(np.random.default_rng(1).integers(1, 20, 1200)))
    encoder = TrainableEncoder([recurrent(), recurrent()], [0, 0])
    vectors = AutogradEngine(encoder, replace(SHORT, engine="autograd"), steps=0).embed(sentences)
    with torch.no_grad():
        expected = torch.nn.functional.normalize(encoder.eval()(sentences))
    torch.testing.assert_close(vectors, expected)


def test_scrambling_keeps_the_tokens_of_a_sentence_and_moves_those_of_its_share() -> None:
    sentences = random_tokens([12] * 2000)
    torch.manual_seed(0)
    places = scrambled(sentences, 0.3).numpy().reshape(2000, 12)
    assert (np.sort(places, axis=1) == np.arange(24_000).reshape(2000, 12)).all()
    moved = (places != np.arange(24_000).reshape(2000, 12)).any(axis=1)
    assert moved.mean() == pytest.approx(0.3, abs=0.04)
    # A token is equally likely to move to any place.
    assert abs(np.corrcoef((places - places.min(axis=1)[:, None])[moved].mean(axis=0), range(12))[0, 1]) < 0.9
    unchanged = scrambled(sentences, 0.0).numpy()
    assert (unchanged == np.arange(24_000)).all()


def test_scrambling_is_for_training_alone() -> None:
    sentences = random_tokens([9] * 200)
    encoder, still = recurrent(scramble=0.3), recurrent()
    with torch.no_grad():
        torch.testing.assert_close(encoder.eval()(sentences), still(sentences), rtol=0, atol=0)
        torch.manual_seed(0)
        changed = (encoder.train()(sentences) - still(sentences)).abs().amax(dim=1) > 1e-6
    assert changed.float().mean().item() == pytest.approx(0.3, abs=0.1)


def test_parts_are_concatenated_or_added(data: Data) -> None:
    architecture = ARCHITECTURES["mixed"]
    with PairDataset(data(architecture)[0]) as pairs:
        sentences, _ = pairs.read(0, 20)
        added = initial_encoder(pairs.units, SHORT, architecture).eval()
        joined = initial_encoder(pairs.units, SHORT, replace(architecture, combine="concatenate")).eval()
    (trigrams, words) = sentences, sentences.others[0]
    assert trigrams.lengths.sum() > 3 * words.lengths.sum()
    with torch.no_grad():
        vectors = [part(unit) for part, unit in zip(added.parts, (trigrams, words, words), strict=True)]
        torch.testing.assert_close(added(sentences), vectors[0] + vectors[1] + vectors[2])
        torch.testing.assert_close(joined(sentences), torch.cat(vectors, dim=1))
    assert (vectors[1] != vectors[2]).all()
    # The parts begin with different numbers although they share one seed.
    assert (added.parts[1].table != added.parts[2].table).all()


def test_each_part_has_its_own_initial_standard_deviation(data: Data) -> None:
    architecture = ARCHITECTURES["mixed"]
    trigram, word, lstm = architecture.parts
    own = replace(trigram, init_std=0.01), word, replace(lstm, init_std=0.2)
    changed = replace(architecture, parts=own)
    with PairDataset(data(architecture)[0]) as pairs:
        plain, scaled = (initial_encoder(pairs.units, SHORT, each) for each in (architecture, changed))
        untrained = untrained_model(data.inputs(changed))
    expected = dict(plain.named_parameters())
    for name, parameter in scaled.named_parameters():
        # The part of words has the standard deviation of the settings, and an LSTM its own.
        factor = {"parts.0.table": 0.01 / 0.5, "parts.2.table": 0.2 / 0.5}.get(name, 1.0)
        torch.testing.assert_close(parameter, factor * expected[name])
    assert untrained.tensors["0.embeddings"].std() == pytest.approx(0.01, rel=0.3)
    stated = [part["init_std"] for part in untrained.config["architecture"]["parts"]]
    assert stated == [0.01, None, 0.2]


def test_one_average_starts_the_same_with_either_standard_deviation(data: Data, tmp_path: Path) -> None:
    """Its `config.json` describes no parts, so the settings of training say what it began with."""
    folders = [
        data.train(Architecture(parts=(Part(init_std=0.05),)), tmp_path / "part"),
        data.train(Architecture(), tmp_path / "training", replace(SHORT, init_std=0.05)),
    ]
    for name in ("model.safetensors", "config.json"):
        assert len({(folder / name).read_bytes() for folder in folders}) == 1
    assert load_model(folders[0]).config["training"]["init_std"] == 0.05


def test_units_stay_together_when_sentences_are_taken_and_joined(data: Data) -> None:
    with PairDataset(data(ARCHITECTURES["mixed"])[0]) as pairs:
        source, target = pairs.read(0, 50)
        rows = np.array([4, 40, 4])
        taken = Sentences.concatenate([source.part(10, 60), target]).take(rows)
        expected = [pairs.read(14, 15)[0], pairs.read(0, 1)[1], pairs.read(14, 15)[0]]
        for unit in range(2):
            parts = [[each, *each.others][unit].tokens for each in expected]
            assert [taken, *taken.others][unit].tokens.tolist() == np.concatenate(parts).tolist()
        words = source.others[0]
        shifted = Sentences(source.tokens, source.offsets, (words.take(np.arange(50)[::-1]),))
        # The trigrams are equal, but the words are not.
        both = sentence_ids(Sentences.concatenate([source, shifted]))
        assert (both[:50] != both[50:]).mean() > 0.9


@pytest.mark.parametrize("name", ["separate parameters", "separate vocabularies", "separate averages"])
def test_separate_languages_have_tables_of_their_own(data: Data, name: str) -> None:
    architecture = ARCHITECTURES[name]
    with PairDataset(data(architecture)[0]) as pairs:
        for unit in pairs.units:
            second = unit.second
            assert 0 < second.sum() < len(second)
            assert second[-2:].tolist() == [False, True]
        source, target = pairs.read(0, len(pairs))
        for number, side in enumerate((source, target)):
            for tokens, unit in zip((side, *side.others), pairs.units, strict=False):
                assert (unit.second[tokens.tokens] == bool(number)).all()


def test_a_separate_lstm_reads_its_language_alone() -> None:
    second = np.arange(30) >= 15
    encoder = recurrent(second=second).eval()
    sentences = random_tokens([5] * 6, rows=15)
    sentences.tokens[10:20] += 15  # these are the tokens of sentences 2 and 3
    with torch.no_grad():
        vectors = encoder(sentences)
        for row in range(6):
            own = recurrent(second=None).eval()
            own.table.data.copy_(encoder.table)
            own.lstms[0].load_state_dict(encoder.lstms[row in (2, 3)].state_dict())
            torch.testing.assert_close(vectors[row], own(sentences.part(row, row + 1))[0])
    assert (encoder.lstms[0].directions[0].w != encoder.lstms[1].directions[0].w).any()


@pytest.mark.parametrize(
    ("architecture", "changes", "fused"),
    [
        (Architecture(), {}, True),
        (ARCHITECTURES["separate averages"], {}, True),
        (ARCHITECTURES["mixed"], {}, False),
        (Architecture(), {"max_gradient_norm": 1.0}, False),
        (Architecture(), {"engine": "autograd"}, False),
    ],
)
def test_the_engine_is_the_fused_one_for_one_average(
    architecture: Architecture, changes: dict[str, Any], fused: bool
) -> None:
    assert replace(SHORT, **changes).trains_fused(architecture) == fused
