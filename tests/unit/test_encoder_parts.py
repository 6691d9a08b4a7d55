"""LSTMs, mixed models and separate languages: what they compute, and from training to a saved model."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from small_corpus import sentence_pairs, write_pairs
from test_training import CONFIG, SETTINGS

from paraphrastic.dataset import PairDataset, Sentences, UnitVocabulary, encode_dataset
from paraphrastic.errors import InputError
from paraphrastic.files import sha256, write_json
from paraphrastic.model import SentenceEncoder, load_model
from paraphrastic.parts_model import PartsEncoder
from paraphrastic.recurrent import RecurrentPooling
from paraphrastic.structure import Part, Structure, encoder_name, structure_of, vocabularies
from paraphrastic.training import train
from paraphrastic.training.autograd import AutogradEngine
from paraphrastic.training.compiled import Team
from paraphrastic.training.encoder import CombinedEncoder, RecurrentEmbeddings, initial_encoder, scrambled
from paraphrastic.training.engine import build_engine, choose_engine
from paraphrastic.training.initial import use_word_vectors
from paraphrastic.vocabulary import load_sentencepiece, train_vocabulary

SHORT = replace(SETTINGS, dimension=12, epochs=2, megabatch=2, init_std=0.5, engine="auto", dropout=0.2)
LSTM = Part(kind="lstm", unit="word")
STRUCTURES = {
    "average": Structure(),
    "lstm": Structure(parts=(LSTM,), scramble=0.3),
    "bilstm": Structure(
        parts=(Part(kind="bilstm", pooling="max", dimension=10, directions="concatenate"),), scramble=0.3
    ),
    "mixed": Structure(
        parts=(Part(unit="trigram"), Part(unit="word"), Part(kind="bilstm", unit="word", dimension=12)),
        combine="add",
        scramble=0.3,
    ),
    "concatenated": Structure(parts=(Part(unit="trigram", dimension=7), LSTM), scramble=0.3),
    "separate parameters": Structure(parts=(Part(), LSTM), languages="separate"),
    "separate vocabularies": Structure(parts=(Part(), LSTM), vocabularies="separate"),
    "separate averages": Structure(languages="separate"),
    "separate in everything": Structure(
        parts=(Part(unit="word"), Part(kind="lstm")), languages="separate", vocabularies="separate"
    ),
}
ENGLISH = [english for english, _ in sentence_pairs(40, seed=7)]
GERMAN = [german for _, german in sentence_pairs(40, seed=7)]


class Data:
    """The sample corpus for each structure, made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pairs = write_pairs(folder / "pairs.parquet", sentence_pairs(300))
        self.made: dict[Structure, tuple[Path, list[Path]]] = {}

    def __call__(self, structure: Structure) -> tuple[Path, list[Path]]:
        if structure not in self.made:
            folder = self.folder / str(len(self.made))
            folder.mkdir()
            definition = {
                "languages": ["en", "de"],
                "encoder": {key: structure.to_json()[key] for key in ("parts", "languages")},
                "vocabulary": {"languages": structure.vocabularies},
            }
            units: dict[str, list[Path]] = {}
            for name, (unit, sides) in vocabularies(definition).items():
                path = folder / f"{name}.model"
                train_vocabulary(
                    self.pairs, path, unit=unit, sides=sides, size=60 if unit == "subword" else 500,
                    character_coverage=1.0, max_sentences=1000, hard_limit=False, seed=1,
                )  # fmt: skip
                units.setdefault(unit, []).append(path)
            encode_dataset(
                self.pairs,
                [UnitVocabulary(unit, tuple(models), None) for unit, models in units.items()],
                folder / "train.h5",
                separate=structure.separate,
                threads=1,
            )
            self.made[structure] = folder / "train.h5", [path for models in units.values() for path in models]
        return self.made[structure]

    def train(self, structure: Structure, output: Path, settings=SHORT, **named) -> Path:
        dataset, (first, *others) = self(structure)
        train.train_model(
            dataset, first, output, structure=structure, more_vocabularies=others, settings=settings,
            config=CONFIG, threads=1, **named,
        )  # fmt: skip
        return output


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return Data(tmp_path_factory.mktemp("data"))


def random_tokens(lengths: list[int], rows: int = 30) -> Sentences:
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return Sentences(np.random.default_rng(0).integers(0, rows, offsets[-1]).astype(np.int32), offsets)


@pytest.mark.parametrize("pooling", ["mean", "max"])
@pytest.mark.parametrize("kind", ["lstm", "average", "concatenate"])
def test_pooled_states_are_those_of_torch_sentence_by_sentence(kind: str, pooling: str) -> None:
    """Vectors and all gradients, against a loop over sentences with `torch.nn.LSTM`."""
    bidirectional, directions = kind != "lstm", "concatenate" if kind == "concatenate" else "average"
    ours = RecurrentPooling(
        7, 6, bidirectional=bidirectional, pooling=pooling, directions=directions, seed=4
    ).double()
    width = 3 if kind == "concatenate" else 6
    plain = torch.nn.LSTM(7, width, bidirectional=bidirectional).double()
    for lstm, suffix in zip(ours.directions, ("", "_reverse"), strict=False):
        for name, value in (("weight_ih", lstm.w), ("weight_hh", lstm.u), ("bias_ih", lstm.bias)):
            getattr(plain, f"{name}_l0{suffix}").data.copy_(value.data)
        getattr(plain, f"bias_hh_l0{suffix}").data.zero_()
    lengths = np.array([3, 0, 1, 9, 3, 2])
    embeddings = torch.randn(18, 7, dtype=torch.float64, requires_grad=True)
    expected = []
    for sentence in embeddings.split(lengths.tolist()):
        if not len(sentence):
            expected.append(torch.zeros(6, dtype=torch.float64))
            continue
        states = plain(sentence)[0]
        pooled = [
            half.mean(dim=0) if pooling == "mean" else half.max(dim=0).values
            for half in states.split(width, dim=1)
        ]
        expected.append(torch.cat(pooled) if kind == "concatenate" else torch.stack(pooled).mean(dim=0))
    weight = torch.randn(6, 6, dtype=torch.float64)
    vectors = ours(embeddings, lengths)
    torch.testing.assert_close(vectors, torch.stack(expected))
    ours_gradient = torch.autograd.grad(
        (vectors * weight).sum(), [embeddings, *ours.directions[-1].parameters()]
    )
    suffix = "_reverse" if bidirectional else ""
    names = [f"{name}_l0{suffix}" for name in ("weight_ih", "weight_hh", "bias_ih")]
    plain_gradient = torch.autograd.grad(
        (torch.stack(expected) * weight).sum(), [embeddings, *(getattr(plain, name) for name in names)]
    )
    for one, other in zip(ours_gradient, plain_gradient, strict=True):
        torch.testing.assert_close(one, other)


def recurrent(scramble: float = 0.0, **named) -> RecurrentEmbeddings:
    return RecurrentEmbeddings(
        30, 8, 6, part=LSTM, init_std=1.0, seed=1, dropout=0.0, scramble=scramble,
        **{"second": None, **named},
    )  # fmt: skip


def test_a_vector_does_not_depend_on_the_batch() -> None:
    sentences = random_tokens([4, 1, 30, 7, 7, 2])
    encoder = recurrent().eval()
    with torch.no_grad():
        together = encoder(sentences)
        order = np.array([3, 5, 0, 2, 1, 4])
        torch.testing.assert_close(encoder(sentences.take(order)), together[torch.from_numpy(order)])
        for row in range(6):
            torch.testing.assert_close(encoder(sentences.part(row, row + 1))[0], together[row])


def test_the_engine_embeds_in_blocks_of_like_lengths_and_in_the_given_order() -> None:
    sentences = random_tokens(list(np.random.default_rng(1).integers(1, 20, 1200)))
    encoder = CombinedEncoder([recurrent(), recurrent()], [0, 0])
    vectors = AutogradEngine(encoder, replace(SHORT, engine="autograd")).embed(sentences)
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
    # Any place may hold any token.
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
    structure = STRUCTURES["mixed"]
    with PairDataset(data(structure)[0]) as pairs:
        sentences, _ = pairs.read(0, 20)
        added = initial_encoder(pairs.units, SHORT, structure).eval()
        joined = initial_encoder(pairs.units, SHORT, replace(structure, combine="concatenate")).eval()
    (trigrams, words) = sentences, sentences.others[0]
    assert trigrams.lengths.sum() > 3 * words.lengths.sum()
    with torch.no_grad():
        vectors = [part(unit) for part, unit in zip(added.parts, (trigrams, words, words), strict=True)]
        torch.testing.assert_close(added(sentences), vectors[0] + vectors[1] + vectors[2])
        torch.testing.assert_close(joined(sentences), torch.cat(vectors, dim=1))
    assert (vectors[1] != vectors[2]).all()
    # Parts begin with other numbers, though of one seed.
    assert (added.parts[1].table != added.parts[2].table).all()


def test_units_stay_together_when_sentences_are_taken_and_joined(data: Data) -> None:
    with PairDataset(data(STRUCTURES["mixed"])[0]) as pairs:
        source, target = pairs.read(0, 50)
        rows = np.array([4, 40, 4])
        taken = Sentences.concatenate([source.part(10, 60), target]).take(rows)
        expected = [pairs.read(14, 15)[0], pairs.read(0, 1)[1], pairs.read(14, 15)[0]]
        for unit in range(2):
            parts = [[each, *each.others][unit].tokens for each in expected]
            assert [taken, *taken.others][unit].tokens.tolist() == np.concatenate(parts).tolist()
        prints = source.fingerprints()
        shifted = Sentences(source.tokens, source.offsets, (source.others[0].take(np.arange(50)[::-1]),))
        # Equal in trigrams, but not in words.
        assert (prints != shifted.fingerprints()).mean() > 0.9


@pytest.mark.parametrize("name", ["separate parameters", "separate vocabularies", "separate averages"])
def test_separate_languages_have_tables_of_their_own(data: Data, name: str) -> None:
    structure = STRUCTURES[name]
    with PairDataset(data(structure)[0]) as pairs:
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
    sentences.tokens[10:20] += 15  # the sentences 2 and 3
    with torch.no_grad():
        vectors = encoder(sentences)
        for row in range(6):
            own = recurrent(second=None).eval()
            own.table.data.copy_(encoder.table)
            own.lstms[0].load_state_dict(encoder.lstms[row in (2, 3)].state_dict())
            torch.testing.assert_close(vectors[row], own(sentences.part(row, row + 1))[0])
    assert (encoder.lstms[0].directions[0].w != encoder.lstms[1].directions[0].w).any()


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_saved_model_gives_the_vectors_of_training(data: Data, tmp_path: Path, name: str) -> None:
    """From parameters in training to a folder and raw text, for every kind of structure."""
    structure = STRUCTURES[name]
    dataset, _ = data(structure)
    model = load_model(data.train(structure, tmp_path, replace(SHORT, epochs=0)))
    with PairDataset(dataset) as pairs:
        sides = pairs.read(0, 40)
        encoder = initial_encoder(pairs.units, SHORT, structure).eval()
    with torch.no_grad():
        expected = [encoder(side).numpy() for side in sides]
    texts = list(zip(*sentence_pairs(300)[:40], strict=True))
    for language, text, vectors in zip(("en", "de"), texts, expected, strict=True):
        embedded = model.embed_raw_text(list(text), language=language)
        assert embedded.dtype == np.float32
        assert embedded.shape == (40, model.dim)
        np.testing.assert_allclose(embedded, vectors, atol=2e-6)
    assert isinstance(model, SentenceEncoder if name == "average" else PartsEncoder)
    assert model.config["dimension"] == model.dim
    empty, unknown = model.embed_raw_text(["  ", "狗"], language="en")
    assert not empty.any()
    assert unknown.any()


@pytest.mark.parametrize("name", ["bilstm", "mixed", "separate in everything"])
def test_training_makes_translations_nearest(data: Data, tmp_path: Path, name: str) -> None:
    settings = replace(SHORT, epochs=15, init_std=0.3, learning_rate=0.02, dropout=0.0)
    model = load_model(data.train(STRUCTURES[name], tmp_path, settings))
    sides = zip((ENGLISH, GERMAN), ("en", "de"), strict=True)
    english, german = (model.embed_raw_text(texts, language=language) for texts, language in sides)
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (english, german)]
    nearest = (unit[0] @ unit[1].T).argmax(axis=1)
    assert np.mean(nearest == np.arange(40)) > 0.8


def test_a_killed_run_goes_on_to_the_same_parameters(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    structure = STRUCTURES["concatenated"]
    whole = data.train(structure, tmp_path / "whole")
    step, steps = train._Run._step, 0

    def killed(run: train._Run, *arguments: object, **named: object) -> float:
        nonlocal steps
        steps += 1
        if steps == 14:  # in the second epoch
            raise KeyboardInterrupt
        return step(run, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(train._Run, "_step", killed)
        with pytest.raises(KeyboardInterrupt):
            data.train(structure, tmp_path / "killed")
    assert (tmp_path / "killed/checkpoint.safetensors").exists()
    resumed = data.train(structure, tmp_path / "killed")
    assert sha256(resumed / "model.safetensors") == sha256(whole / "model.safetensors")
    other = data.train(replace(structure, scramble=0.0), tmp_path / "other")
    assert sha256(other / "model.safetensors") != sha256(whole / "model.safetensors")


def test_a_separate_model_asks_for_the_language(data: Data, tmp_path: Path) -> None:
    model = load_model(data.train(STRUCTURES["separate parameters"], tmp_path, replace(SHORT, epochs=0)))
    message = "language is to be 'en' or 'de', not "
    with pytest.raises(InputError, match=message + "None"):
        model.embed_raw_text(["the dog"])
    with pytest.raises(InputError, match=message + "'fr'"):
        model.embed_raw_text(["the dog"], language="fr")
    pairs = [("the dog", "der hund")]
    with pytest.raises(InputError, match=message + "None"):
        model.score_raw_text(pairs)
    assert model.score_raw_text(pairs, languages=("en", "de")) != model.score_raw_text(
        pairs, languages=("de", "de")
    )
    assert model.score_raw_text([("the dog", "the dog")], languages=("en", "en")) == pytest.approx([1.0])


def rewritten(folder: Path, change) -> None:
    config = json.loads((folder / "config.json").read_text())
    change(config)
    write_json(folder / "config.json", config)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda config: config["structure"]["parts"][1].update(kind="gru"), "'gru' is none of average, lstm"),
        (lambda config: config["structure"]["parts"].pop(), None),
        (lambda config: config["structure"]["parts"].append({"unit": "word"}), "2.embeddings' is missing"),
        (lambda config: config["structure"]["parts"][1].update(kind="bilstm"), "do not fit its structure"),
        (lambda config: config["structure"].update(languages="separate"), "known.trigram.en' is missing"),
        (lambda config: config["structure"].update(size=3), "is not one: .*'size'"),
        (lambda config: config.pop("structure"), "'structure' is missing"),
        (lambda config: config.update(encoder="other"), "does not describe a model of the kind"),
        (lambda config: config["structure"]["parts"][0].update(unit="word"), r"rows, but its vocabulary"),
    ],
)
def test_a_folder_that_does_not_fit_together_is_one_line(
    data: Data, tmp_path: Path, change, message: str | None
) -> None:
    folder = data.train(STRUCTURES["concatenated"], tmp_path, replace(SHORT, epochs=0))
    rewritten(folder, change)
    if message is None:
        assert load_model(folder).dim == 7
        return
    with pytest.raises(InputError, match=message) as caught:
        load_model(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_lstm_without_torch_is_one_line(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = data.train(STRUCTURES["lstm"], tmp_path, replace(SHORT, epochs=0))
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(InputError, match="an LSTM needs torch, which is not installed"):
        load_model(folder)


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
    structure = STRUCTURES[name]
    dataset, models = data(structure)
    with PairDataset(dataset) as pairs:
        plain = initial_encoder(pairs.units, SHORT, structure)
        encoder = initial_encoder(pairs.units, SHORT, structure)
        processors = train._processors(pairs, structure, models)
        anchors, counts = use_word_vectors(encoder, vectors, pairs.units, processors, structure)
        unit = pairs.units[structure.units.index("word")]
    assert counts == {"words": len(unit.pieces), "found": 3}
    names = [f"parts.{number}.table" for number, part in enumerate(structure.parts) if part.unit == "word"]
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
    """Its gradient is 2λ(W − W₀), on all rows."""
    encoder = CombinedEncoder([recurrent()], [0])
    begun = encoder.parts[0].table.detach().clone()
    anchors = {"parts.0.table": begun}
    sentences = random_tokens([4] * 8, rows=10)
    chosen, valid = np.arange(8), np.ones((2, 2), np.bool_)
    gradients = []
    for penalty in (0.0, 0.05):
        engine = AutogradEngine(
            encoder, replace(SHORT, engine="autograd", initial_vectors_penalty=penalty), anchors=anchors
        )
        with torch.no_grad():
            encoder.parts[0].table.copy_(begun + torch.arange(30.0)[:, None])
        # Before the step moves them: a copy of the parameters, not of the gradient.
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
    structure = Structure(parts=(Part(unit="word"),))
    settings = replace(SHORT, initial_vectors="mine", dropout=0.0)

    def trained(penalty: float) -> SentenceEncoder:
        output = tmp_path / str(penalty)
        own = replace(settings, initial_vectors_penalty=penalty)
        return load_model(data.train(structure, output, own, initial_vectors=vectors))

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
            Structure(parts=(Part(unit="word"),)),
            tmp_path / "m",
            replace(SHORT, dimension=9),
            initial_vectors=vectors,
        )


def test_the_engine_is_the_fused_one_for_one_average() -> None:
    assert choose_engine(SHORT, Structure()) == "fused"
    assert choose_engine(SHORT, STRUCTURES["separate averages"]) == "fused"
    assert choose_engine(SHORT, STRUCTURES["mixed"]) == "autograd"
    assert choose_engine(replace(SHORT, initial_vectors_penalty=0.1), Structure()) == "autograd"
    assert choose_engine(replace(SHORT, engine="autograd"), Structure()) == "autograd"
    with pytest.raises(ValueError, match="one averaged part"):
        choose_engine(replace(SHORT, engine="fused"), STRUCTURES["lstm"])


def test_separate_averages_are_trained_alike_by_both_engines(data: Data) -> None:
    structure = STRUCTURES["separate averages"]
    with PairDataset(data(structure)[0]) as pairs:
        source, target = pairs.read(0, 16)
        sentences = Sentences.concatenate([source, target])
        chosen = np.concatenate([np.arange(32), np.roll(np.arange(16, 32), 1), np.roll(np.arange(16), 1)])
        weights = []
        for engine in ("fused", "autograd"):
            settings = replace(SHORT, engine=engine, dropout=0.0, learning_rate=0.001)
            encoder = initial_encoder(pairs.units, settings, structure)
            built = build_engine(encoder, settings, Team(1))
            built.step(sentences, chosen, np.ones((2, 16), np.bool_))
            weights.append(built.weights()["parts.0.table"])
    np.testing.assert_allclose(*weights, atol=1e-5)


@pytest.mark.parametrize(
    ("structure", "name"),
    [
        (Structure(), "P-SP"),
        (Structure(parts=(LSTM,)), "LSTM"),
        (Structure(parts=(Part(kind="bilstm", pooling="max"),)), "BLSTM-SP max"),
        (Structure(parts=(Part(unit="trigram"), Part(unit="word"))), "TRIGRAM-WORD"),
        (STRUCTURES["mixed"], "TRIGRAM-WORD-BLSTM (addition)"),
        (STRUCTURES["separate averages"], "P-SP (separate languages)"),
    ],
)
def test_names_in_the_tables(structure: Structure, name: str) -> None:
    assert encoder_name({"structure": structure.to_json(), "training": {"epochs": 5}}) == name
    assert encoder_name({"structure": structure.to_json(), "training": {"epochs": 0}}) == f"Random {name}"


def test_vocabularies_have_names_of_their_own() -> None:
    parts = [{"kind": "average", "unit": "trigram"}, {"kind": "lstm", "unit": "word"}]
    definition = {
        "languages": ["en", "de"],
        "encoder": {"parts": parts},
        "vocabulary": {"languages": "shared"},
    }
    assert structure_of(definition).units == ("trigram", "word")
    both = ("source", "target")
    assert vocabularies(definition) == {
        "sentencepiece": ("trigram", both),
        "sentencepiece-word": ("word", both),
    }
    definition["vocabulary"]["languages"] = "separate"
    assert vocabularies(definition) == {
        "sentencepiece": ("trigram", ("source",)),
        "sentencepiece-trigram-de": ("trigram", ("target",)),
        "sentencepiece-word-en": ("word", ("source",)),
        "sentencepiece-word-de": ("word", ("target",)),
    }
