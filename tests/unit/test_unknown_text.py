"""Test what becomes of text that a vocabulary has no piece for, from training to vectors."""

import dataclasses
import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configurations import ROOT, configured, load
from encoder_corpus import SHORT, encoded
from pair_files import write_pairs
from training_runs import CONFIG

import original_code
from paraphrastic import load_model
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.units import spell
from paraphrastic.model.vocabulary import SPACE, UNSEEN, byte_pieces, load_sentencepiece, ordinary_pieces
from paraphrastic_pipeline.settings.check import complete_definition
from paraphrastic_pipeline.settings.sections.configuration import Definition
from paraphrastic_pipeline.training.initialization import untrained_model
from paraphrastic_pipeline.training.inputs import TrainingInputs
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.train import train_model

SETTINGS = dataclasses.replace(SHORT, dropout=0.0)
# Sentences that differ in a digit, a number, a rare letter of a name, and an emoji.
DIFFERENT = [
    ("5 people died .", "9 people died ."),
    ("flight 1984 to rome", "flight 1985 to rome"),
    ("mr łukasz is here", "mr tukasz is here"),
    ("good morning 😀", "good morning 😢"),
    ("good morning 😀", "good morning"),
]
# Texts whose digits and bytes are the same in another order.
PERMUTED = [("flight 1985 to rome", "flight 1958 to rome"), ("hello 🌍", "hello 🍌")]
PLAIN = original_code.corpus(600)
SEEN = [*PLAIN, *(sentence for pair in DIFFERENT for sentence in pair)]
SUBWORDS, WORDS = Architecture(), Architecture(parts=(Part(unit="word"),))


def make(
    folder: Path,
    sentences: Sequence[str],
    definition: Definition,
    *,
    vectors: Path | None = None,
    **settings: Any,
) -> TrainingInputs:
    """Training data of a definition's kind, whose sides are the sentences and the same ones reversed."""
    pairs = write_pairs(folder / "pairs.parquet", list(zip(sentences, sentences[::-1], strict=True)))
    sizes = {"subword": 120, "word": 4000, "trigram": 4000}
    data, models = encoded(folder, pairs, definition, sizes, vectors=vectors, **settings)
    config = {**CONFIG, "languages": definition.languages}
    return TrainingInputs(
        dataset=data,
        sentencepiece=models,
        settings=SETTINGS,
        architecture=definition.architecture,
        config=config,
    )


def defined(unknown: str, architecture: Architecture = SUBWORDS, coverage: float = 1.0) -> Definition:
    vocabulary = {
        "languages": "shared", "units": {}, "unknown": unknown, "character_coverage": coverage,
        "max_sentences": 10_000, "max_pieces": None,
    }  # fmt: skip
    encoder = {"parts": architecture.to_json()["parts"]}
    return complete_definition(
        {"languages": ["en"], "corpora": ["a"], "encoder": encoder, "vocabulary": vocabulary}
    )


def untrained(folder: Path, inputs: TrainingInputs) -> SentenceEncoder:
    untrained_model(inputs).write(folder / "model")
    return load_model(folder / "model")


def cosine(model: SentenceEncoder, first: str, second: str) -> float:
    language = model.config["languages"][0]
    return model.score_raw_text([(first, second)], languages=(language, language))[0]


def test_characters_that_were_never_seen_become_their_bytes(tmp_path: Path) -> None:
    inputs = make(tmp_path, PLAIN, defined("bytes"))
    model = untrained(tmp_path, inputs)
    for first, second in DIFFERENT:
        assert cosine(model, first, second) < 0.9999, (first, second)
    (ids,) = model.tokenize(["the 😀"]).lists()
    assert bytes(int(model.processor.id_to_piece(piece)[1:-1], 16) for piece in ids[-4:]) == "😀".encode()
    # Every byte has a row of its own, although hardly any was in the training text.
    with PairDataset(inputs.dataset) as data:
        pieces = set(data.units[0].pieces.tolist())
        assert len(data.units[0].pieces) == len(pieces)
        assert set(byte_pieces(model.processor)) < pieces


@pytest.mark.parametrize("often", [False, True])
def test_an_average_tells_the_order_of_digits_and_bytes_only_of_what_training_saw_often(
    tmp_path: Path, often: bool
) -> None:
    text = [*PLAIN, *["flight 1985 to rome", "hello 🌍"] * (200 if often else 0)]
    model = untrained(tmp_path, make(tmp_path, text, defined("bytes")))
    for first, second in PERMUTED:
        assert (cosine(model, first, second) > 0.9999) == (not often), (first, second)


def test_bytes_come_on_top_of_the_pieces(tmp_path: Path) -> None:
    sizes = []
    for unknown in ("omit", "bytes"):
        (path := tmp_path / unknown).mkdir()
        (model,) = make(path, PLAIN, defined(unknown), size=70).sentencepiece
        sizes.append(load_sentencepiece(model).get_piece_size())
    assert sizes[1] - sizes[0] == len(byte_pieces(load_sentencepiece(model))) == 256


def test_spellings_have_the_rows_that_the_original_gives_them(tmp_path: Path) -> None:
    inputs = make(tmp_path, PLAIN, defined("spellings", coverage=0.985))
    text = [side for pair in zip(PLAIN, PLAIN[::-1], strict=True) for side in pair]
    plain = original_code.train_sentencepiece(PLAIN * 2, tmp_path / "theirs.model", vocab_size=120)
    theirs = original_code.vocabulary_of(plain, text)
    processor = load_sentencepiece(inputs.sentencepiece[0])
    with PairDataset(inputs.dataset) as data:
        ours = [processor.id_to_piece(piece) for piece in data.units[0].pieces.tolist()]
        assert ours[: len(theirs)] == list(theirs)
        # Pieces that the text lacks come last, and training leaves them alone.
        assert len(ours) > len(theirs)
        source, target = data.read(0, len(data))
    rows = [side.part(row, row + 1).tokens.tolist() for row in range(len(PLAIN)) for side in (source, target)]
    pieces = [original_code.pieces_of(load_sentencepiece(plain), sentence) for sentence in text]
    assert rows == [[theirs[piece] for piece in each] for each in pieces]
    assert "1984" in theirs


def test_spellings_that_were_never_seen_are_left_out(tmp_path: Path) -> None:
    model = untrained(tmp_path, make(tmp_path, SEEN, defined("spellings", coverage=0.98)))
    assert cosine(model, "flight 1984 to rome", "flight 1985 to rome") < 0.9999
    assert cosine(model, "the dog 😀", "the dog 😀") == pytest.approx(1)
    assert cosine(model, "the dog 🦀", "the dog 🦜") == pytest.approx(1)


def test_unknown_words_share_a_vector_that_is_trained(tmp_path: Path) -> None:
    inputs = make(tmp_path, PLAIN, defined("shared", WORDS), size=12)
    before = untrained(tmp_path, inputs)
    train_model(inputs, tmp_path / "trained", threads=1)
    after = load_model(tmp_path / "trained")
    for model in before, after:
        assert cosine(model, "the dog xyz", "the dog qrs") == pytest.approx(1)
        assert cosine(model, "the dog xyz", "the dog") < 0.9999
        vectors = model.embed_raw_text(["xyz", "house-boat"])
        np.testing.assert_array_equal(*vectors)
    unknown = [model.embed_raw_text(["xyz"])[0] for model in (before, after)]
    assert np.abs(unknown[0] - unknown[1]).max() > 0.01


@pytest.mark.parametrize("unit", ["word", "trigram"])
def test_the_most_frequent_units_are_the_vocabulary(tmp_path: Path, unit: str) -> None:
    """A word with a rare letter counts like any other: no letter needs to be frequent."""
    inputs = make(tmp_path, SEEN, defined("omit", Architecture(parts=(Part(unit=unit),)), coverage=0.98))
    processor = load_sentencepiece(inputs.sentencepiece[0])
    pieces = processor.id_to_piece(list(range(3, processor.get_piece_size())))
    assert {piece.removeprefix("▁") for piece in pieces} == {
        word for line in spell(SEEN, unit) for word in line.split()
    }


@pytest.mark.parametrize("unit", ["word", "trigram"])
def test_there_are_as_many_units_as_asked_for(tmp_path: Path, unit: str) -> None:
    inputs = make(tmp_path, SEEN, defined("omit", Architecture(parts=(Part(unit=unit),))), size=50)
    assert load_sentencepiece(inputs.sentencepiece[0]).get_piece_size() == 3 + 50


@pytest.mark.parametrize("unit", ["subword", "word", "trigram"])
def test_text_that_sentencepiece_reserves_costs_no_other_piece(tmp_path: Path, unit: str) -> None:
    odd = [*PLAIN, *["an ★▅ ☆ box", "tags <s> 3"] * 50]
    inputs = make(tmp_path, odd, defined("omit", Architecture(parts=(Part(unit=unit),))))
    processor = load_sentencepiece(inputs.sentencepiece[0])
    # Like the original, subwords learn nothing from a text such as `<s>`.
    for text in spell(["☆ box"] if unit == "subword" else ["☆ box", "tags <s> 3"], unit):
        assert processor.unk_id() not in processor.encode(text), text


@functools.cache
def shipped() -> list[Any]:
    """One definition of each shipped configuration for each kind of encoder and vocabulary."""
    found = {}
    for path in sorted({*(ROOT / "config").glob("*.yaml"), *(ROOT / "config").glob("papers/*.yaml")}):
        name = path.relative_to(ROOT / "config").with_suffix("").as_posix()
        for model, definition in configured(load(name)).definitions.items():
            about = {}
            for unit in definition.architecture.units:
                settings = definition.vocabulary.of_unit(unit)
                about[unit] = settings.unknown, settings.character_coverage
            sharing = definition.vocabulary.languages, definition.encoder.languages
            key = json.dumps([name, about, sharing])
            # A Transformer's own tokenizer is somebody else's.
            if definition.corpora and not definition.encoder.transformer:
                found.setdefault(key, pytest.param(definition, id=f"{name}-{model}"))
    return list(found.values())


def word_vectors(folder: Path, sentences: Sequence[str], definition: Definition) -> dict[str, Path]:
    """Vectors of all words, for a configuration that knows the words with vectors and no others."""
    if not definition.vocabulary.only_initial_vectors:
        return {}
    words = dict.fromkeys(word for text in spell(sentences, "word") for word in text.split())
    path = folder / "vectors.txt"
    path.write_text("".join(f"{word} 1 2\n" for word in words), encoding="utf-8")
    return {"vectors": path}


@pytest.mark.parametrize("definition", shipped())
def test_numbers_names_and_emoji_that_training_saw_count_in_every_shipped_configuration(
    tmp_path: Path, definition: Definition
) -> None:
    model = untrained(tmp_path, make(tmp_path, SEEN, definition, **word_vectors(tmp_path, SEEN, definition)))
    for first, second in DIFFERENT:
        assert cosine(model, first, second) < 0.9999, (first, second)


@pytest.mark.parametrize(
    "definition", [each for each in shipped() if each.values[0].vocabulary.unknown is None]
)
def test_numbers_names_and_emoji_count_even_unseen_where_they_become_bytes(
    tmp_path: Path, definition: Definition
) -> None:
    model = untrained(tmp_path, make(tmp_path, PLAIN, definition))
    for first, second in DIFFERENT:
        assert cosine(model, first, second) < 0.9999, (first, second)


def test_bytes_that_were_never_seen_weigh_less(tmp_path: Path) -> None:
    inputs = make(tmp_path, [*PLAIN, *["the ŵ dog"] * 3], defined("bytes", coverage=0.98))
    model = untrained(tmp_path, inputs)
    with PairDataset(inputs.dataset) as data:
        counts, pieces = data.counts()[0][:-1], data.units[0].pieces
    bytes_ = set(byte_pieces(model.processor))
    lengths = np.linalg.norm(model.embeddings, axis=1)
    seen, unseen = ([p for p in pieces[rows].tolist() if p in bytes_] for rows in (counts > 0, counts == 0))
    assert len(seen) >= 2
    assert len(seen) + len(unseen) == 256
    other = np.median(lengths[sorted(set(pieces[counts > 0].tolist()) - bytes_)])
    assert np.median(lengths[unseen]) / other == pytest.approx(UNSEEN, rel=0.2)
    assert np.median(lengths[seen]) / other == pytest.approx(1, rel=0.4)
    letters = sorted(set(pieces[counts == 0].tolist()) - bytes_)
    assert np.median(lengths[letters]) / other == pytest.approx(UNSEEN, rel=0.5)


@pytest.mark.parametrize("definition", shipped())
def test_every_character_of_the_vocabulary_counts_even_alone(tmp_path: Path, definition: Definition) -> None:
    # Digits and some letters are parts of longer pieces only.
    few = [*PLAIN[:450], *["on 5 june 1995 she died", "year 2019 was the best of 19 years"] * 25]
    model = untrained(tmp_path, make(tmp_path, few, definition, **word_vectors(tmp_path, few, definition)))
    languages = model.config["languages"]
    processors = [model.processor]
    if isinstance(model, CompositeEncoder):
        processors = [tokenizer.processor for tokenizer in model._tokenizers.values()]
    pieces = {p.id_to_piece(i).removeprefix(SPACE) for p in processors for i in ordinary_pieces(p)}
    characters = sorted(piece for piece in pieces if len(piece) == 1 and piece != SPACE)
    if definition.architecture.units != ("trigram",):
        assert characters
    texts = ["people died", *(f"{character} people died" for character in characters)]
    for language in languages:
        vectors = model.embed_raw_text(texts, language=language)
        assert len(np.unique(vectors.round(5), axis=0)) == len(texts)


def test_words_without_a_vector_can_share_one(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    # Text is never cut into a word that ends in a mark, or has a wide letter.
    lines = {"the": 1, "dog": 2, "UUUNKKK": 3, "unseen": 4, "rare": 5, "mark!": 6, "ｗide": 7, "rest": 8}
    vectors.write_text("".join(f"{word} {' '.join([str(value)] * 12)}\n" for word, value in lines.items()))
    inputs = make(tmp_path, PLAIN, defined("shared", WORDS), vectors=vectors)
    processor = load_sentencepiece(inputs.sentencepiece[0])
    pieces = processor.id_to_piece(list(range(3, processor.get_piece_size())))
    # Words of the training text come first, whatever the order in the file.
    assert set(pieces[:2]) == {"▁the", "▁dog"}
    assert pieces[2:] == ["▁unseen", "▁rare", "▁rest"]
    model = untrained(tmp_path, dataclasses.replace(inputs, vectors=vectors))
    np.testing.assert_array_equal(
        model.embed_raw_text(["cat dog", "zebra", "unseen", "rare dog", "wide"])[:, 0], [2.5, 3, 4, 3.5, 3]
    )
