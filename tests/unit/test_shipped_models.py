"""Test the models that come with the package."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic.model.folder import open_folder
from paraphrastic.model.shipped import shipped_models
from paraphrastic.systems.open import open_system

SHIPPED = shipped_models()
NAMES = list(SHIPPED)
# Each pair of sentences that mean the same, and a third sentence that means something else.
TRIPLES = [
    ("A man plays the guitar.", "Somebody is playing the guitar.", "It is raining."),
    ("Two dogs run through the snow.", "Dogs are running in snow.", "A woman is cooking dinner."),
    ("A child sleeps on a couch.", "A kid is asleep on the sofa.", "The train leaves the station."),
]


# A sentence, its translation, and another sentence in the language of the translation.
TRANSLATIONS = [
    ("A dog runs in the snow.", "Ein Hund läuft im Schnee.", "Das Wetter ist heute schlecht."),
    ("I love this book.", "Me encanta este libro.", "El tren sale a las ocho."),
    ("The train is late.", "Le train est en retard.", "Elle mange une pomme."),
]


def test_there_are_models_of_english_and_of_four_languages() -> None:
    assert {"en", "en-de-es-fr"} <= set(NAMES)


@pytest.mark.parametrize(("sentence", "translation", "other"), TRANSLATIONS)
def test_a_translation_is_near(sentence: str, translation: str, other: str) -> None:
    model = load_model("en-de-es-fr")
    same, different = model.score_raw_text([(sentence, translation), (sentence, other)])
    assert same > 0.5 > different + 0.2


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_model_is_small_and_knows_what_means_the_same(name: str) -> None:
    folder = SHIPPED[name]
    assert sum(file.stat().st_size for file in folder.iterdir()) < 8_000_000
    assert "licence" in (folder / "README.md").read_text(encoding="utf-8")
    model = load_model(name)
    for first, second, other in TRIPLES:
        same, different = model.score_raw_text([(first, second), (first, other)])
        assert same > 0.5 > different + 0.2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "sentences",
    [
        ("5 people died.", "9 people died."),
        ("Łukasz came.", "Őukasz came."),
        ("Hello 😀", "Hello 😢"),
        ("Hello 😀", "Hello"),
        ("Hello 𐍈", "Hello 𐍉"),
    ],
)
def test_numbers_rare_letters_and_emoji_change_the_vector(name: str, sentences: tuple[str, str]) -> None:
    (score,) = load_model(name).score_raw_text([sentences])
    assert score < 0.9999


@pytest.mark.parametrize("name", NAMES)
def test_characters_of_the_same_bytes_are_not_told_apart(name: str) -> None:
    # These letters of dead languages are in no training text, and differ in the order of two bytes.
    assert sorted("𐌍".encode()) == sorted("𐍌".encode())
    assert load_model(name).score_raw_text([("Hello 𐌍", "Hello 𐍌")]) == pytest.approx([1])


def test_a_folder_takes_precedence_over_a_shipped_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SHIPPED["en"], "mine")
    np.testing.assert_array_equal(
        open_folder("mine").embed_raw_text(["a"]), load_model("en").embed_raw_text(["a"])
    )
    Path("en").mkdir()
    with pytest.raises(InputError, match=r"^en: not a model folder: config\.json is missing"):
        load_model("en")


@pytest.mark.parametrize("path", ["xx", "../models/en", "./en"])
def test_other_names_are_paths(path: str) -> None:
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value) == (
        f"{Path(path)}: there is no folder of this name; "
        f"models that come with the package: {', '.join(NAMES)}"
    )


def test_no_name_is_the_present_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"^\.: not a model folder: config\.json is missing"):
        load_model("")


def test_commands_for_systems_know_shipped_models() -> None:
    assert open_system("en").embed(["A dog."], "en").shape == (1, load_model("en").dim)


def test_the_command_lists_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == NAMES
    assert all(Path(row[4]) == SHIPPED[row[0]] for row in rows)
    assert rows[NAMES.index("en")][1:3] == ["en", str(load_model("en").dim)]


def test_mining_uses_the_model_of_four_languages_by_default(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("".join(f"{english}\n" for english, *_ in TRANSLATIONS))
    (tmp_path / "other.txt").write_text("".join(f"{other}\n" for _, other, _ in TRANSLATIONS[::-1]))
    files = {"--source": "en.txt", "--target": "other.txt", "--output": "mined.tsv"}
    assert (
        main(["mine", *(each for name, file in files.items() for each in (name, str(tmp_path / file)))]) == 0
    )
    rows = [line.split("\t") for line in (tmp_path / "mined.tsv").read_text().splitlines()]
    assert sorted(row[1:] for row in rows) == sorted([*pair] for *pair, _ in TRANSLATIONS)


def test_commands_use_the_english_model_by_default(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A dog runs.\n")
    output = tmp_path / "a.npy"
    assert main(["embed", "--input", str(tmp_path / "a.txt"), "--output", str(output)]) == 0
    np.testing.assert_allclose(np.load(output), load_model("en").embed_raw_text(["A dog runs."]), rtol=1e-6)
