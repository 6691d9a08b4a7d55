"""Test that faults in a configuration's systems are reported before anything runs."""

from pathlib import Path

import numpy as np
import pytest
from configurations import checked, load

from paraphrastic.base.errors import InputError


def with_systems(only: dict[str, list[str]] | None = None, **systems: object) -> dict:
    config = load("config")
    config["systems"] = systems
    config["evaluation"]["only"] = only or {}
    return config


def test_an_entry_is_completed(tmp_path: Path) -> None:
    for name in ("s.txt", "v.npy"):
        (tmp_path / name).touch()
    np.save(tmp_path / "v.npy", np.ones((1, 2)))
    vectors = {"sentences": str(tmp_path / "s.txt"), "vectors": str(tmp_path / "v.npy")}
    systems = checked(
        with_systems(
            {"sts": ["LaBSE", "de-untrained"]},
            LaBSE={"sentence_transformers": "sentence-transformers/LaBSE", "languages": ["en"]},
            potion={"model2vec": str(tmp_path), "label": "potion 8M", "published_as": ["LASER"]},
            elsewhere={"vectors": vectors},
            minilm={"sentence_transformers": "all-MiniLM-L6-v2"},
        )
    )["systems"]
    assert systems["LaBSE"] == {
        "sentence_transformers": "sentence-transformers/LaBSE",
        "vectors": None,
        "languages": ["en"],
        "licence": None,
        "label": None,
        "published_as": [],
    }
    assert systems["elsewhere"]["languages"] is None


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ({}, ": needs one of path, sentence_transformers, model2vec, vectors; it has none"),
        ({"path": ".", "model2vec": "a/b"}, ": needs one of .*; it has path and model2vec"),
        ({"path": "nowhere"}, ".path: 'nowhere' is not a folder"),
        ({"sentence_transformers": "./no"}, ".sentence_transformers: './no' is not a folder"),
        ({"model2vec": "a/b/c"}, ".model2vec: 'a/b/c' is not a folder"),
        (
            {"path": "a{b}"},
            r".path: 'a\{b\}' contains a brace, which Snakemake reads as a wildcard: rename the f",
        ),
        (
            {"vectors": {"sentences": "no.txt", "vectors": "pyproject.toml"}},
            ".vectors.sentences: 'no.txt' is not a file",
        ),
        ({"vectors": {"sentences": "no.txt"}}, ".vectors.vectors: is missing"),
        ({"model2vc": "a/b"}, ".model2vc: unknown key; did you mean 'model2vec'?"),
        ({"path": ".", "languages": []}, ".languages: is empty"),
        ({"path": ".", "languages": ["english"]}, ".languages.0: 'english' is not a language code"),
        (
            {"path": ".", "published_as": ["LASSER"]},
            ".published_as: 'LASSER' is not a published system; did you mean 'LASER'",
        ),
        ({"path": ".", "label": " a"}, ".label: ' a' is not a label, which neither begins"),
        ({"path": ".", "label": "P-SP de"}, ".label: 'P-SP de' is the label of definitions.de: give it"),
    ],
)
def test_faults_of_an_entry(system: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=f"config: systems.x{message}") as caught:
        checked(with_systems(x=system))
    assert "\n" not in str(caught.value)


def test_names_are_taken() -> None:
    config = with_systems(**{name: {"path": "."} for name in ("de", "fr-untrained", "es-untrain")})
    with pytest.raises(InputError) as caught:
        checked(config)
    assert str(caught.value).splitlines() == [
        "config: systems.de: the name is already taken by definitions.de: give it another name",
        "config: systems.fr-untrained: the name is already taken by definitions.fr: give it another name",
    ]


def test_labels_are_taken() -> None:
    config = with_systems(a={"path": ".", "label": "b"}, b={"path": "."}, c={"path": ".", "label": "a"})
    config["definitions"]["de"]["training"] = {"epochs": 0}
    config["systems"]["d"] = {"path": ".", "label": "Random P-SP de"}
    with pytest.raises(InputError) as caught:
        checked(config)
    assert str(caught.value).splitlines() == [
        "config: systems.b.label: 'b' is the label of systems.a: give it another label",
        "config: systems.d.label: 'Random P-SP de' is the label of definitions.de: give it another label",
    ]


@pytest.mark.parametrize(
    ("speed", "message"),
    [
        ({"sentences": 0}, "evaluation.speed.sentences: 0 is less than the minimum of 1"),
        ({"seconds": 0}, "evaluation.speed.seconds: 0 is less than or equal to the minimum of 0"),
        ({"batch": 64}, "evaluation.speed.batch: unknown key"),
    ],
)
def test_faults_of_speed(speed: dict[str, object], message: str) -> None:
    config = load("config")
    config["evaluation"]["speed"] = speed
    with pytest.raises(InputError, match=message):
        checked(config)
    config["evaluation"]["speed"] = None
    assert checked(config)["evaluation"]["speed"] is None
