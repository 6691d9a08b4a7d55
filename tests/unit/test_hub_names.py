"""Test that a mistyped folder is not asked for on the Hugging Face Hub, and that messages say both."""

from collections.abc import Callable
from pathlib import Path

import huggingface_hub
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.base.hub_names import hub_name, place_fault
from paraphrastic.cli import main
from paraphrastic.model.hub import load_from_hub
from paraphrastic.systems.open import open_system
from paraphrastic_pipeline.settings.local_files import place_errors


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder: it has `models/en`, and nothing called `results`."""
    (tmp_path / "models" / "en").mkdir(parents=True)
    (tmp_path / "file.txt").write_text("A dog.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that the Hub is asked for; it knows none."""
    names: list[str] = []

    class Api:
        def model_info(self, name: str, **_: object) -> None:
            names.append(name)
            raise huggingface_hub.errors.HFValidationError("unknown")

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    return names


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


@pytest.mark.parametrize("place", ["results/en", "models/enn", "results/models/enn", "./enn"])
@pytest.mark.parametrize(
    "open_it",
    [
        open_system,
        lambda place: open_system({"sentence_transformers": place, "label": "x"}),
        lambda place: open_system({"model2vec": place, "label": "x"}),
        lambda place: load_from_hub(place, "x", lambda *_: pytest.fail("it was loaded")),
    ],
)
def test_a_mistyped_folder_is_not_asked_for(
    here: Path, asked: list[str], place: str, open_it: Callable[[str], object]
) -> None:
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    pytest.importorskip("model2vec", reason="model2vec is not installed")
    with pytest.raises(InputError) as told:
        open_it(place)
    assert str(told.value).startswith(f"{place}: {FAULTS.get(place, 'is not a folder')}")
    assert asked == []


@pytest.mark.parametrize("place", ["owner/name", "enn", "hf://results/en"])
def test_a_name_is_asked_for_once_and_the_message_says_both(here: Path, asked: list[str], place: str) -> None:
    def load(name: str, offline: bool) -> None:
        assert (name, offline) == (hub_name(place), False)
        raise OSError("there is\nno such model")

    with pytest.raises(InputError) as told:
        load_from_hub(place, "x", load)
    assert str(told.value) == (
        f"{place}: is not a folder, and x cannot load it from the Hugging Face Hub: there is no such model"
    )
    assert asked == [hub_name(place)]


@pytest.mark.parametrize(
    "command",
    [
        ["search", "--index", "x.npy", "--input", "file.txt", "--output", "-"],
        ["dedup", "--input", "file.txt", "--output", "-"],
        ["mine", "--source", "file.txt", "--target", "file.txt", "--output", "-"],
        ["embed", "--input", "file.txt", "--output", "x.npy"],
        ["score", "--input", "file.txt", "--output", "-"],
        ["export", "--format", "glove", "--output", "out"],
        ["inspect", "--sentences", "file.txt"],
        ["demo", "--output", "x.html"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_names_the_folder_that_is_not_there(
    here: Path, asked: list[str], command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for place in ("results/en", "models/enn"):
        assert main([command[0], "--model", place, *command[1:]]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"paraphrastic: error: {place}: ")
        assert "folder" in line
        assert line.endswith("models that come with the package: en, en-de-es-fr")
    assert asked == []
