"""Test how folders are told from names on the Hugging Face Hub."""

from pathlib import Path

import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.settings.faults import parsed
from paraphrastic_pipeline.settings.places import Place, hub_name

# The name on the Hub that a place stands for, and whether a message about a missing folder tells of the Hub.
NAMES = {"owner/name": "owner/name", "name-L6-v2": "name-L6-v2", "hf://models/other": "models/other"}
NOT_HERE = {
    **dict.fromkeys(("results/en", "resources/x", "models/enn", "file.txt"), True),
    **dict.fromkeys(("results/models/enn", "./results", "/gone", "a--b/c", "a b", "é/b", "{m}/x"), False),
    **dict.fromkeys(("hf://", "hf://a/b/c"), False),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The present folder has `models/en`, and nothing called `results`."""
    (tmp_path / "models" / "en").mkdir(parents=True)
    (tmp_path / "file.txt").write_text("A dog.\n")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("place", NAMES)
def test_names_on_the_hub(place: str) -> None:
    assert hub_name(place) == NAMES[place]
    assert parsed(Place, place) == place


@pytest.mark.parametrize("place", NOT_HERE)
def test_what_is_neither_is_told(place: str) -> None:
    with pytest.raises(InputError, match=r"^config: key: ") as error:
        parsed(Place, place, ("key",))
    assert (f"hf://{place}" in str(error.value)) == NOT_HERE[place]
