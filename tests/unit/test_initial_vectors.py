"""Test word embeddings that start from word vectors, and the penalty that keeps them close."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_corpus import ARCHITECTURES, SHORT, Data, random_tokens, recurrent

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.vocabulary import load_sentencepiece
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.encoder_modules import TrainableEncoder, initial_encoder, use_word_vectors
from paraphrastic_pipeline.training.pair_dataset import PairDataset


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return Data(tmp_path_factory.mktemp("data"))


WORDS = {"the": 0.5, "dog": -1.0, "hund": 2.0, "unseen": 9.0}


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    lines = (f"{word} {' '.join([str(value)] * 12)}\n" for word, value in WORDS.items())
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("name", ["mixed", "separate in everything"])
def test_words_begin_with_their_vectors_and_the_others_as_without(
    data: Data, vectors: Path, name: str
) -> None:
    architecture = ARCHITECTURES[name]
    dataset, models = data(architecture)
    with PairDataset(dataset) as pairs:
        plain = initial_encoder(pairs.units, SHORT, architecture)
        encoder = initial_encoder(pairs.units, SHORT, architecture)
        waiting = map(load_sentencepiece, data.inputs(architecture).sentencepiece)
        processors = {unit.unit: [next(waiting) for _ in unit.sentencepiece_sha256] for unit in pairs.units}
        anchors, counts = use_word_vectors(encoder, vectors, pairs.units, processors, architecture)
        unit = pairs.units[architecture.units.index("word")]
    assert counts == {"words": len(unit.pieces), "found": 3}
    names = [f"parts.{number}.table" for number, part in enumerate(architecture.parts) if part.unit == "word"]
    assert list(anchors) == names
    loaded = [load_sentencepiece(model) for model in models if "word" in model.name or name != "mixed"][:2]
    sizes = [processor.get_piece_size() for processor in loaded]
    for parameter in names:
        begun = encoder.get_parameter(parameter)
        torch.testing.assert_close(anchors[parameter], begun)
        changed = (begun != plain.get_parameter(parameter)).all(dim=1).numpy()
        assert changed.sum() == 3
        for row in np.flatnonzero(changed):
            piece = int(unit.pieces[row])
            place = 0 if piece < sizes[0] else 1
            word = loaded[place].id_to_piece(piece - place * sizes[0]).removeprefix("▁")
            assert (begun[row] == WORDS[word]).all()


def test_the_penalty_pulls_to_the_beginning() -> None:
    """The gradient of the penalty is 2λ(W − W₀) on all rows."""
    encoder = TrainableEncoder([recurrent()], [0])
    begun = encoder.parts[0].table.detach().clone()
    anchors = {"parts.0.table": begun}
    sentences = random_tokens([4] * 8, rows=10)
    chosen, valid = np.arange(8), np.ones((2, 2), np.bool_)
    gradients = []
    for penalty in (0.0, 0.05):
        engine = AutogradEngine(
            encoder,
            replace(SHORT, engine="autograd", initial_vectors_penalty=penalty),
            anchors=anchors,
            steps=0,
        )
        with torch.no_grad():
            encoder.parts[0].table.copy_(begun + torch.arange(30.0)[:, None])
        # The step will move the parameters, so they are copied first; the gradient is read afterwards.
        before = encoder.state_dict()
        moved = before["parts.0.table"].clone()
        states = {name: value.clone() for name, value in before.items()}
        loss = engine.step(sentences, chosen, valid)
        gradients.append((loss, encoder.parts[0].table.grad.clone()))
        encoder.load_state_dict(states)
    distance = moved - begun
    torch.testing.assert_close(gradients[1][1] - gradients[0][1], 2 * 0.05 * distance)
    expected = 0.05 * distance.square().sum().item()
    assert gradients[1][0] - gradients[0][0] == pytest.approx(expected, rel=1e-5)


def test_training_from_word_vectors_records_them_and_the_penalty_holds(
    data: Data, tmp_path: Path, vectors: Path
) -> None:
    architecture = Architecture(parts=(Part(unit="word"),))
    settings = replace(SHORT, initial_vectors="mine", dropout=0.0)

    def trained(penalty: float) -> AverageEncoder:
        output = tmp_path / str(penalty)
        own = replace(settings, initial_vectors_penalty=penalty)
        return load_model(data.train(architecture, output, own, vectors=vectors))

    free, held = trained(0.0), trained(100.0)
    assert free.config["training"]["engine"] == "fused"
    assert held.config["training"]["engine"] == "autograd"
    assert free.config["initial_vectors"]["found"] == 3
    piece = held.processor.piece_to_id("▁dog")
    moved = [np.abs(model.embeddings[piece] + 1.0).mean() for model in (held, free)]
    assert moved[0] < 0.2 < moved[1]


def test_vectors_of_another_dimension_are_one_line(data: Data, tmp_path: Path, vectors: Path) -> None:
    with pytest.raises(InputError, match=r"vectors\.txt: its vectors have 12 dimensions, .* part 0 .* 9"):
        data.train(
            Architecture(parts=(Part(unit="word"),)),
            tmp_path / "m",
            replace(SHORT, dimension=9),
            vectors=vectors,
        )
