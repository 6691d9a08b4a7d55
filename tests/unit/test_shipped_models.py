"""Test the models that come with the package."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.model.folder import SHIPPED, open_folder
from paraphrastic.systems.open import open_system

NAMES = sorted(folder.name for folder in SHIPPED.iterdir())
# Each pair of sentences that mean the same, and a third sentence that means something else.
TRIPLES = [
    ("A man plays the guitar.", "Somebody is playing the guitar.", "It is raining."),
    ("Two dogs run through the snow.", "Dogs are running in snow.", "A woman is cooking dinner."),
    ("A child sleeps on a couch.", "A kid is asleep on the sofa.", "The train leaves the station."),
]


def test_there_is_a_model_of_english() -> None:
    assert "en" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_model_is_small_and_knows_what_means_the_same(name: str) -> None:
    folder = SHIPPED / name
    assert sum(file.stat().st_size for file in folder.iterdir()) < 8_000_000
    assert "licence" in (folder / "README.md").read_text(encoding="utf-8")
    model = load_model(name)
    for first, second, other in TRIPLES:
        same, different = model.score_raw_text([(first, second), (first, other)])
        assert same > 0.5 > different + 0.2


def test_a_number_changes_the_vector() -> None:
    died = load_model("en").embed_raw_text(["5 people died.", "9 people died."])
    assert (died[0] != died[1]).any()


def test_a_folder_takes_precedence_over_a_shipped_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SHIPPED / "en", "mine")
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
