"""Test how folders are told from names on the Hugging Face Hub."""

from pathlib import Path

import pytest

from paraphrastic_pipeline.settings.local_files import place_errors
from paraphrastic_pipeline.settings.places import hub_name, place_fault


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder: it has `models/en`, and nothing called `results`."""
    (tmp_path / "models" / "en").mkdir(parents=True)
    (tmp_path / "file.txt").write_text("A dog.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


NAMES = {
    "owner/name": "owner/name",
    "all-MiniLM-L6-v2": "all-MiniLM-L6-v2",
    "a/b_c.d-e": "a/b_c.d-e",
    "hf://owner/name": "owner/name",
    "hf://results/en": "results/en",
    "hf://models/other": "models/other",
}
HINT = "is not a folder; for the model of this name on the Hugging Face Hub, write hf://"
FAULTS = {
    "results/en": f"{HINT}results/en",
    "resources/x": f"{HINT}resources/x",
    "models/enn": f"{HINT}models/enn",
    "file.txt": f"{HINT}file.txt",
    "results/models/enn": "is not a folder",
    "./results": "is not a folder",
    "/gone/folder": "is not a folder",
    "~/models": "is not a folder",
    "models/": None,
    "models/en": None,
    "../x": "is not a folder",
    "a--b/c": "is not a folder",
    "a b": "is not a folder",
    "é/b": "is not a folder",
    f"{'x' * 97}/b": "is not a folder",
    "hf://": "is no name on the Hugging Face Hub, which is like hf://OWNER/NAME",
    "hf://a/b/c": "is no name on the Hugging Face Hub, which is like hf://OWNER/NAME",
    "hf://models/en": "would be read from the folder models/en that is here; rename the folder",
}


@pytest.mark.parametrize("place", NAMES)
def test_names_on_the_hub(here: Path, place: str) -> None:
    assert hub_name(place) == NAMES[place]
    assert place_fault(place) is None
    assert [*place_errors("key", place)] == []


@pytest.mark.parametrize("place", FAULTS)
def test_folders_and_what_is_neither(here: Path, place: str) -> None:
    assert place_fault(place) == FAULTS[place]
    assert [*place_errors("key", place)] == ([f"key: {place!r} {FAULTS[place]}"] if FAULTS[place] else [])


def test_names_that_no_configuration_can_have() -> None:
    (error,) = place_errors("key", "{model}/x")
    assert error.startswith("key: '{model}/x' contains a brace")
