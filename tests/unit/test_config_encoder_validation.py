"""Test that each fault in the settings of encoders, vocabularies and training is one line with its path."""

import pytest
from configurations import changed, checked, configured

from paraphrastic.base.errors import InputError
from paraphrastic.model.architecture import Architecture


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("encoder.parts", [], "encoder.parts: is empty"),
        ("encoder.parts", [{"kind": "gru"}], "encoder.parts.0.kind: 'gru' is not one of"),
        (
            "encoder.parts",
            [{"kind": "lstm", "pool": "max"}],
            "encoder.parts.0.pool: unknown key; did you mean",
        ),
        (
            "encoder.parts",
            [{"kind": "average", "pooling": "max"}],
            "encoder.parts.0.pooling: max is for lstm and bilstm, not for average",
        ),
        (
            "encoder.parts",
            [{"kind": "average", "peepholes": True}],
            "encoder.parts.0.peepholes: are for lstm and bilstm, not for average",
        ),
        (
            "encoder.parts",
            [{"kind": "average", "init_std": 0}],
            "encoder.parts.0.init_std: 0 is less than or equal to the minimum of 0",
        ),
        (
            "encoder.parts",
            [{"kind": "lstm", "directions": "concatenate"}],
            "encoder.parts.0.directions: concatenate is for bilstm, not for lstm",
        ),
        (
            "definitions.de.encoder",
            {"parts": [{"kind": "bilstm", "directions": "concatenate", "dimension": 5}]},
            "definitions.de.encoder.parts.0.dimension: 5 is odd",
        ),
        (
            "definitions.de.encoder",
            {"parts": [{"kind": "lstm", "dimension": 100}, {"kind": "average"}], "combine": "add"},
            "definitions.de.encoder.combine: vectors of 100, 128 entries cannot be added",
        ),
        (
            "definitions.en.encoder",
            {"languages": "separate"},
            "definitions.en.encoder.languages: separate needs two languages; there is only en",
        ),
        (
            "vocabulary.languages",
            "separate",
            "config: vocabulary.languages: separate needs two languages; there is only en",
        ),
        ("vocabulary.units", {"words": {}}, "vocabulary.units: 'words' is not one of"),
        ("vocabulary.units", {"word": {"sise": 3}}, "vocabulary.units.word.sise: unknown key; did you mean"),
        (
            "definitions.de",
            {
                "languages": ["en", "de"],
                "corpora": ["sample_opus"],
                "encoder": {"parts": [{"kind": "lstm"}]},
                "training": {"engine": "fused"},
            },
            "definitions.de.training.engine: fused is for one averaged part; auto or autograd trains LSTM-SP",
        ),
        (
            "definitions.de",
            {
                "languages": ["en", "de"],
                "corpora": ["sample_opus"],
                "encoder": {"parts": [{"kind": "lstm"}]},
                "training": {"optimizer": "lazy_adam"},
            },
            "training.optimizer: lazy_adam is for the engine fused, not for autograd, which trains LSTM-SP",
        ),
        ("training.initial_vectors", "nothing", "training.initial_vectors: 'nothing' is not in the registry"),
        (
            "training.initial_vectors",
            "paragram_phrase",
            "training.initial_vectors: are for words; no part has the unit word",
        ),
        (
            "training.initial_vectors_penalty",
            0.1,
            "training.initial_vectors_penalty: needs initial_vectors, which is null",
        ),
        (
            "training",
            {"initial_vectors_penalty": 0.1, "engine": "fused"},
            "training.initial_vectors_penalty: is for the engine autograd, not for fused",
        ),
        (
            "training.composition_penalty",
            0.1,
            "training.composition_penalty: is for the weights of LSTMs; no part is lstm or bilstm",
        ),
        (
            "training.composition_penalty",
            -1,
            "training.composition_penalty: -1 is less than the minimum of 0",
        ),
        ("encoder.pooling", "cls", "encoder.pooling: is for a transformer, which is null"),
        ("encoder.transformer", "./nowhere", "encoder.transformer: './nowhere' is not a folder"),
        (
            "encoder",
            {"transformer": "a/b", "parts": [{"kind": "lstm"}]},
            "encoder.transformer: cannot be given together with parts; remove one of them",
        ),
        (
            "encoder",
            {"transformer": "a/b", "pooling": "lstm_last"},
            "encoder.lstm_size: is missing; the pooling lstm_last needs it",
        ),
        (
            "encoder",
            {"transformer": "a/b", "lstm_size": 4},
            "encoder.lstm_size: is for the pooling lstm_last, not for mean",
        ),
        (
            "definitions.de",
            {
                "languages": ["en", "de"],
                "corpora": ["sample_opus"],
                "encoder": {"transformer": "a/b"},
                "training": {"engine": "fused"},
            },
            "training.engine: fused is for one averaged part; auto or autograd trains a transformer",
        ),
        (
            "training",
            {"loss": "multiple_negatives", "engine": "fused"},
            "training.loss: multiple_negatives is for the engine autograd, not for fused",
        ),
        (
            "training.gradient_checkpointing",
            True,
            "gradient_checkpointing: is for a transformer, not for P-SP",
        ),
        ("training.megabatch_anneal", -1, "training.megabatch_anneal: -1 is less than the minimum of 0"),
    ],
)
def test_each_fault_is_one_line_with_the_path_of_the_key(path: str, value: object, message: str) -> None:
    with pytest.raises(InputError) as error:
        checked(changed(path, value))
    assert any(line.startswith("config: ") and message in line for line in str(error.value).split("\n")), (
        error
    )


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
