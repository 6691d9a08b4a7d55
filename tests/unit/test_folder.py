"""Test how models are found and opened: names, languages, and folders that are damaged or from a stranger."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.folder import choose_folder, find_folder, is_ours, read_config, shipped_models


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A copy of the trained model's folder, to be changed."""
    target = tmp_path / "model"
    target.mkdir()
    for name in ("config.json", "model.safetensors", "sentencepiece.model"):
        shutil.copyfile(folder / name, target / name)
    return target


def config(**entries: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        content = json.loads((folder / "config.json").read_text())
        content |= entries
        content = {key: value for key, value in content.items() if value is not ...}
        (folder / "config.json").write_text(json.dumps(content))

    return change


def tensors(**arrays: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        content = safetensors.numpy.load_file(folder / "model.safetensors")
        for name, make in arrays.items():
            if make is None:
                del content[name]
            else:
                content[name] = np.ascontiguousarray(make(content.get(name)))
        safetensors.numpy.save_file(content, folder / "model.safetensors")

    return change


def cut(name: str, size: int) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:size])


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def number(value: float) -> Callable[[Any], Any]:
    def change(table: Any) -> Any:
        table[3, 1] = value
        return table

    return change


DAMAGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "no configuration": (remove("config.json"), "config.json"),
    "no weights": (remove("model.safetensors"), "model.safetensors"),
    "no sentencepiece model": (remove("sentencepiece.model"), "sentencepiece.model"),
    "half a configuration": (cut("config.json", 50), "config.json"),
    "half of the weights": (cut("model.safetensors", 1000), "model.safetensors"),
    "half a sentencepiece model": (cut("sentencepiece.model", 1000), "sentencepiece.model"),
    "empty sentencepiece model": (cut("sentencepiece.model", 0), "sentencepiece.model"),
    "another kind": (config(encoder="bert"), "config.json"),
    "no kind": (config(encoder=...), "config.json"),
    "a list": (lambda folder: (folder / "config.json").write_text("[]") and None, "config.json"),
    "lowercase": (config(lowercase="yes"), "lowercase"),
    "no lowercase": (config(lowercase=...), "lowercase"),
    "languages": (config(languages="en"), "languages"),
    "languages of numbers": (config(languages=[1]), "languages"),
    "segmentation": (config(segmentation={"zh": "nonsense"}), "zh"),
    "folding": (config(folding={"en": "yo"}), "en"),
    "dimension": (config(dimension=7), "7"),
    "no architecture": (config(encoder="parts"), "architecture"),
    "an odd architecture": (
        config(encoder="parts", architecture={"parts": [{"nonsense": 1}]}),
        "config.json",
    ),
    "no table": (tensors(embeddings=None), "embeddings"),
    "no known": (tensors(known=None), "known"),
    "too few rows": (tensors(embeddings=lambda table: table[:-1]), "embeddings"),
    "too few known": (tensors(known=lambda known: known[:-1]), "known"),
    "another width": (tensors(unknown=lambda unknown: unknown[:-1]), "embeddings"),
    "one axis": (tensors(embeddings=lambda table: table[0]), "embeddings"),
    "doubles": (tensors(embeddings=lambda table: table.astype(np.float64)), "embeddings"),
    "known numbers": (tensors(known=lambda known: known.astype(np.int8)), "known"),
    "weights for floats": (tensors(weights=lambda _: np.ones(7, np.float32)), "weights"),
    "integers without weights": (tensors(embeddings=lambda table: table.astype(np.int8)), "weights"),
    "not a number": (tensors(embeddings=number(np.nan)), "embeddings"),
    "infinite": (tensors(embeddings=number(-np.inf)), "embeddings"),
    "too large": (tensors(embeddings=number(1e16)), "embeddings"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_folder_is_one_line(case: str, copied: Path) -> None:
    damage, named = DAMAGED[case]
    damage(copied)
    with pytest.raises(InputError) as caught:
        load_model(copied)
    message = str(caught.value)
    assert message.startswith(str(copied))
    assert named in message
    assert "\n" not in message


def test_entries_of_later_versions_are_kept(copied: Path) -> None:
    config(invented={"a": [1]}, dimension=..., corpora=...)(copied)
    model = load_model(copied)
    assert model.config["invented"] == {"a": [1]}
    assert model.config["corpora"] == {}


def test_pieces_without_a_row_get_one(copied: Path, model: AverageEncoder) -> None:
    tensors(known=lambda known: known & (np.arange(len(known)) % 9 != 5))(copied)
    opened = load_model(copied)
    assert isinstance(opened, AverageEncoder)
    assert opened.known.sum() == model.known.sum()
    made = np.flatnonzero(model.known & (np.arange(len(model.known)) % 9 == 5))
    assert np.abs(opened.embeddings[made]).std() == pytest.approx(0, abs=1e-6)
    usual = np.sqrt(np.mean(np.square(opened.embeddings[np.delete(np.flatnonzero(model.known), 0)])))
    assert 0.1 * usual < np.abs(opened.embeddings[made[0], 0]) < 0.4 * usual
    np.testing.assert_array_equal(load_model(copied).embeddings, opened.embeddings)  # type: ignore[attr-defined]


def test_names_and_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    assert sorted(shipped_models()) == ["en", "en-de-es-fr"]
    assert load_model("en").folder == shipped_models()["en"]
    monkeypatch.chdir(tmp_path)
    # A folder of one's own comes before a packaged model, and an empty one does not.
    (tmp_path / "en").mkdir()
    assert find_folder("en") == shipped_models()["en"]
    shutil.copytree(folder, tmp_path / "en", dirs_exist_ok=True)
    assert load_model("en").dim == 16
    for missing in ("none", tmp_path / "none", "hf://a/b"):
        with pytest.raises(InputError, match=f"^{missing}: .*en-de-es-fr"):
            load_model(missing)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"^file: "):
        load_model("file")
    with pytest.raises(InputError, match="sp_model"):
        load_model(sp_model="paranmt.model")
    assert is_ours(folder)
    assert not is_ours(tmp_path)
    assert read_config(folder)["languages"] == ["en", "de"]


@pytest.mark.parametrize(
    ("path", "languages", "chosen"),
    [
        (None, [], "en-de-es-fr"), (None, ["en"], "en"), (None, ["de"], "en-de-es-fr"),
        (None, [None, "fr"], "en-de-es-fr"),
        (None, ["en", "es"], "en-de-es-fr"), ("en", ["en"], "en"), ("somewhere", ["pl"], "somewhere"),
    ],
)  # fmt: skip
def test_the_packaged_model_of_the_fewest_languages_is_chosen(
    path: str | None, languages: list[str | None], chosen: str
) -> None:
    assert choose_folder(path, languages) == chosen


@pytest.mark.parametrize(("path", "languages"), [(None, ["pl"]), (None, ["en", "pl"]), ("en", ["de"])])
def test_languages_that_a_model_does_not_know_are_refused(path: str | None, languages: list[str]) -> None:
    with pytest.raises(InputError, match=languages[-1]):
        choose_folder(path, languages)
