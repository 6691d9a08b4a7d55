"""Test that each fault in the settings of encoders, vocabularies and training is one line with its path."""

import pytest
from configurations import GERMAN, assert_fault, changed, configured

from paraphrastic.model.architecture import Architecture

# By the path that is set: the value, and the message, which goes on at the path if it begins with a point or
# a colon.
FAULTS: dict[str, list[tuple[object, str]]] = {
    "encoder.parts": [
        ([], ": is empty"),
        ([{"kind": "gru"}], ".0.kind: 'gru' is not one of"),
        ([{"kind": "lstm", "pool": "max"}], ".0.pool: unknown key; did you mean"),
        ([{"kind": "average", "pooling": "max"}], ".0.pooling: max is for lstm and bilstm, not for average"),
        ([{"kind": "average", "peepholes": True}], ".0.peepholes: are for lstm and bilstm, not for average"),
        ([{"kind": "average", "init_std": 0}], ".0.init_std: 0 is less than or equal to the minimum of 0"),
        (
            [{"kind": "lstm", "directions": "concatenate"}],
            ".0.directions: concatenate is for bilstm, not for lstm",
        ),
    ],
    "definitions.de.encoder": [
        (
            {"parts": [{"kind": "bilstm", "directions": "concatenate", "dimension": 5}]},
            ".parts.0.dimension: 5 is odd",
        ),
        (
            {"parts": [{"kind": "lstm", "dimension": 100}, {"kind": "average"}], "combine": "add"},
            ".combine: vectors of 100, 128 entries cannot be added",
        ),
    ],
    "definitions.en.encoder": [
        ({"languages": "separate"}, ".languages: separate needs two languages; there is only en")
    ],
    "vocabulary.languages": [("separate", ": separate needs two languages; there is only en")],
    "vocabulary.units": [
        ({"words": {}}, ": 'words' is not one of"),
        ({"word": {"sise": 3}}, ".word.sise: unknown key; did you mean"),
    ],
    "definitions.de": [
        (
            {**GERMAN, "encoder": {"parts": [{"kind": "lstm"}]}, "training": {"engine": "fused"}},
            ".training.engine: fused is for one averaged part; auto or autograd trains LSTM-SP",
        ),
        (
            {**GERMAN, "encoder": {"parts": [{"kind": "lstm"}]}, "training": {"optimizer": "lazy_adam"}},
            ".training.optimizer: lazy_adam is for the engine fused, not for autograd, which trains LSTM-SP",
        ),
        (
            {**GERMAN, "encoder": {"transformer": "a/b"}, "training": {"engine": "fused"}},
            ".training.engine: fused is for one averaged part; auto or autograd trains a transformer",
        ),
    ],
    "training.initial_vectors": [
        ("nothing", ": 'nothing' is not in the registry"),
        ("paragram_phrase", ": are for words; no part has the unit word"),
    ],
    "training.initial_vectors_penalty": [(0.1, ": needs initial_vectors, which is null")],
    "training": [
        (
            {"initial_vectors_penalty": 0.1, "engine": "fused"},
            ".initial_vectors_penalty: is for the engine autograd, not for fused",
        ),
        (
            {"loss": "multiple_negatives", "engine": "fused"},
            ".loss: multiple_negatives is for the engine autograd, not for fused",
        ),
    ],
    "training.composition_penalty": [
        (0.1, ": is for the weights of LSTMs; no part is lstm or bilstm"),
        (-1, ": -1 is less than the minimum of 0"),
    ],
    "encoder.pooling": [("cls", ": is for a transformer, which is null")],
    "encoder.transformer": [("./nowhere", ": './nowhere' is not a folder")],
    "encoder": [
        (
            {"transformer": "a/b", "parts": [{"kind": "lstm"}]},
            ".transformer: cannot be given together with parts; remove one of them",
        ),
        (
            {"transformer": "a/b", "pooling": "lstm_last"},
            ".lstm_size: is missing; the pooling lstm_last needs it",
        ),
        ({"transformer": "a/b", "lstm_size": 4}, ".lstm_size: is for the pooling lstm_last, not for mean"),
    ],
    "training.gradient_checkpointing": [(True, ": is for a transformer, not for P-SP")],
    "training.megabatch_anneal": [(-1, ": -1 is less than the minimum of 0")],
}


@pytest.mark.parametrize(
    ("path", "value", "message"), [(path, *case) for path, cases in FAULTS.items() for case in cases]
)
def test_each_fault_is_one_line_with_the_path_of_the_key(path: str, value: object, message: str) -> None:
    assert_fault(changed(path, value), path, message)


def test_a_transformer_has_the_recipe_of_its_paper() -> None:
    """Section IV-C of Dadas 2022."""
    config = configured(changed("definitions.de.encoder", {"transformer": "some/name"}))
    definition = config.definitions["de"]
    expected = {
        "loss": "multiple_negatives",
        "scale": 20.0,
        "batch_size": 64,
        "learning_rate": 2e-6,
        "warmup": 0.1,
        "learning_rate_schedule": "linear",
        "optimizer": "adamw",
    }
    assert expected.items() <= vars(definition.training).items()
    assert config.definitions["en"].training.loss == "margin"
    architecture = definition.architecture
    assert architecture.units == ("tokens",)
    assert Architecture.from_json(architecture.to_json()) == architecture
    assert architecture.name == "name mean"
