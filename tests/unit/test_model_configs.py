"""Test `config.json` of folders from strangers: whatever it says, it is used or refused in one line."""

import contextlib
import json
import random
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from small_models import model_of, two_parts_of

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic.interop.model_card import write_import_card
from paraphrastic.model.architecture import Architecture, Part, Transformer, encoder_name
from paraphrastic.model.config_file import ModelConfig, kind_of, read_config
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.folder import choose_folder, open_folder
from paraphrastic.model.shipped import shipped_models
from paraphrastic.systems.open import open_system

ABOUT = {
    "corpora": {"mine": "1.0", "other": ""},
    "pairs": 12,
    "training": {"epochs": 2, "dropout": 0.1, "megabatch": 60, "negatives": "other_side", "soup": 3,
                 "early_stopping": {"patience": 2, "every": 0.5}, "coarser": [100]},
    "initial_vectors": {"words": 3, "known": 2},
    "reduction": {"prune": False, "dimension": None, "method": "pca", "dtype": "int8"},
    "rank_by": "length",
    "part": 1,
    "tokenized": True,
    "of a newer version": {"a": [1, {"b": None}]},
}  # fmt: skip
# Values in JSON, most of which are wrong in any place.
VALUES = [
    "[]", "{}", '""', '"x"', "0", "1", "5", "-1", "0.5", "1e400", "-1e400", "NaN", "null", "true", "false",
    "[1, 2]", '["en"]', '{"zh": []}', '{"zh": "accurate"}', '{"": 1}', "[" * 60 + "]" * 60, "1" * 400,
    "1" * 5000, r'"\ud800"', r'{"\udc00": "x"}', r'"two\nlines"', r'"\u001b[2J"', '"' + "long" * 999 + '"',
    '"../../../../etc/passwd"', '{"../../../../etc/passwd": "' + "0" * 64 + '"}', '{"twice": 1, "twice": 2}',
]  # fmt: skip


def transformer_config() -> dict[str, Any]:
    files = ("model.safetensors", "modules.json", "tokenizer.json", "pooling/lstm/config.json")
    return {
        "model_type": "bert", "hidden_size": 32, "encoder": "transformer", "dimension": 32, "model": "mine",
        "lowercase": True, "unit": "tokens", "languages": ["en"], "segmentation": {}, "folding": {},
        "architecture": Architecture(transformer=Transformer(place="a/b")).to_json(),
        "sha256": dict.fromkeys(files, "0" * 64), **ABOUT,
    }  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("models")
    separate = two_parts_of(Architecture(parts=(Part(), Part()), combine="add", languages="separate"))
    separate.config |= ABOUT
    for name, model in (("average", model_of(config=ABOUT)), ("separate", separate)):
        model.write(base / name)
    (base / "transformer").mkdir()
    (base / "transformer/config.json").write_text(json.dumps(transformer_config()))
    return {path.name: path for path in base.iterdir()}


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value inside a value."""
    if at:
        yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*at, key))


def changed(config: dict[str, Any], at: tuple[Any, ...], value: str | None) -> str:
    """Return a configuration's text with another value in one place, or with nothing there."""
    config = json.loads(json.dumps(config))
    inner = config
    for each in at[:-1]:
        inner = inner[each]
    if value is None:
        del inner[at[-1]]
    else:
        inner[at[-1]] = "another value"
    text = json.dumps(config)
    if value is not None:
        text = text.replace('"another value"', value)
    return text


def use(folder: Path, config: dict[str, Any]) -> None:
    """Do what reads the configuration of a folder."""
    assert encoder_name(config)
    choose_folder(str(folder), ["en"] if "en" in config["languages"] else [])
    write_import_card(folder, "mine", {}, why_not="")
    if config["encoder"] != "transformer":
        model: SentenceEncoder = open_folder(folder)
        language = (model.config["languages"] or [None])[0]
        assert model.label
        assert model.embed_raw_text(["The dog"], language=language).any()
        assert open_system(folder).preparation == model.preparation
        json.dumps({**model.config, "preparation": model.preparation}, allow_nan=False)


@pytest.mark.parametrize("name", ["average", "separate", "transformer"])
def test_whatever_a_configuration_says_it_is_used_or_refused(folders: dict[str, Path], name: str) -> None:
    path = folders[name] / "config.json"
    whole = path.read_text()
    config, refused, used = json.loads(whole), 0, 0
    generator = random.Random(name)
    try:
        lacking = [(field.name,) for field in fields(ModelConfig) if field.name not in config]
        for at in [*places(config), *lacking]:
            for value in [*generator.sample(VALUES, 6), *([None] if at not in lacking else [])]:
                path.write_text(changed(config, at, value))
                cause = fault(path)
                if cause is None:
                    used += 1
                    # The weights may belong to another configuration, which is said in one line, too.
                    if generator.random() < 0.03:
                        with contextlib.suppress(InputError):
                            use(folders[name], read_config(path))
                    continue
                refused += 1
                is_named = any(str(part)[:60] in cause for part in at)
                assert is_named or "readable as JSON" in cause or "encoder" in at, (at, value, cause)
    finally:
        path.write_text(whole)
    assert refused > 3 * len(config)
    assert used > len(config)


def fault(path: Path) -> str | None:
    """The line about a wrong configuration."""
    try:
        read_config(path)
    except InputError as error:
        said = str(error)
    else:
        return None
    assert said.startswith(f"{path}: ")
    assert len(said) < len(str(path)) + 600
    assert "\n" not in said
    return said.removeprefix(str(path))


# What is wrong in a configuration, by the model whose configuration it is.
WRONG = {
    "average": [
        (("encoder",), "[]", "does not describe a model of the kind averaged_subwords or parts or"),
        (("folding",), '{"zh": []}', "folding.zh: [] is not text"),
        (("folding",), '{"fr": "accents"}', "folding: there is no folding 'accents' for 'fr'"),
        (("segmentation",), '{"ja": "accurate"}', "segmentation.ja: there is no segmenter 'accurate'"),
        (("segmentation",), '"zh"', "segmentation: 'zh' is not an object"),
        (("languages",), "5", "languages: 5 is not a list"),
        (("languages",), "[1, 2]", "languages.0: 1 is not text"),
        (("corpora",), "5", "corpora: 5 is not an object"),
        (("training",), '"x"', "training: 'x' is not an object"),
        (("training", "epochs"), "1e400", "training.epochs: inf is not a number or null"),
        (("training", "soup"), "NaN", "training.soup: is nan; a finite number is needed"),
        (("training",), "[" * 120 + "]" * 120, "lists and objects are nested more than 100 deep"),
        (("dimension",), "true", "dimension: True is not a whole number or null"),
        (("unit",), '"syllable"', "unit: 'syllable' is not one of subword, word, trigram, tokens"),
        (("lowercase",), "null", "lowercase: has no value; true or false is needed"),
        (("lowercase",), None, "lowercase: is missing"),
        (("model",), r'"two\nlines"', r"model: 'two\nlines' is not a name on one line"),
        (("pairs",), "1" * 400, "pairs: 1111"),
        (("architecture",), "{}", "architecture: an average has none"),
        (("sha256",), "{}", "sha256: lacks model.safetensors and sentencepiece.model"),
        (("sha256", "model.safetensors"), '"AB"', "model.safetensors: 'AB' is not 64 hexadecimal digits"),
        (("tokenized",), '{"a": 1, "a": 2}', "an object has the key 'a' twice"),
        (("part",), r'"\ud800"', r"part: '\ud800' is not a whole number"),
        (("of a newer version",), r'"\ud800"', r"of a newer version: is '\ud800'; text without half of a"),
    ],
    "separate": [
        (("languages",), "[]", "languages: is empty, but the model keeps its languages apart"),
        (("architecture",), None, "architecture.parts: is missing; at least one part is needed"),
        (("architecture", "parts"), "[]", "architecture.parts: is missing; at least one part is needed"),
        (("architecture", "parts", 0, "kind"), '"gru"',
         "architecture.parts.0.kind: 'gru' is not one of average, lstm, bilstm"),
        (("architecture", "parts", 1, "unit"), "null",
         "architecture.parts.1.unit: has no value; subword, word, trigram is needed"),
        (("architecture", "scramble"), "2", "architecture.scramble: 2 is greater than the maximum of 1"),
        (("architecture", "more"), "2", "architecture.more: unknown key; known keys are parts, combine,"),
        (("encoder",), '"averaged_subwords"', "architecture: an average has none"),
        (("encoder",), '"transformer"', "sha256: lacks modules.json and tokenizer.json"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "at", "value", "cause"), [(name, *row) for name, rows in WRONG.items() for row in rows]
)
def test_a_wrong_value_is_named_with_what_is_allowed(
    folders: dict[str, Path], tmp_path: Path, name: str, at: tuple[Any, ...], value: str | None, cause: str
) -> None:
    config = json.loads((folders[name] / "config.json").read_text())
    path = tmp_path / "config.json"
    path.write_text(changed(config, at, value))
    with pytest.raises(InputError, match=r"config\.json: ") as caught:
        read_config(path)
    assert cause in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["../../../../etc/passwd", "/etc/passwd", "..", ".", "", "a/../../b", "C:\\x", "a\\b", "a//b", "x\0",
     "a\nb", "\ud800", "n" * 256],
)  # fmt: skip
def test_names_of_files_are_plain(folders: dict[str, Path], name: str) -> None:
    """A folder says nothing of files that lie elsewhere, neither what they hold nor whether they exist."""
    for folder in folders.values():
        config = json.loads((folder / "config.json").read_text())
        whole = json.dumps(config)
        config["sha256"][name] = "0" * 64
        try:
            (folder / "config.json").write_text(json.dumps(config))
            with pytest.raises(InputError, match=r"config\.json: sha256: .*the name of a file") as caught:
                open_folder(folder)
        finally:
            (folder / "config.json").write_text(whole)
        assert sha256("/etc/passwd") not in str(caught.value)


def test_a_path_is_only_for_the_folders_of_a_transformer(folders: dict[str, Path], tmp_path: Path) -> None:
    config = json.loads((folders["average"] / "config.json").read_text())
    config["sha256"]["pooling/config.json"] = "0" * 64
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"sha256: has the key 'pooling/config\.json'"):
        read_config(tmp_path / "config.json")


def test_a_link_out_of_a_folder_does_not_show_a_digest(folders: dict[str, Path], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("nobody else's business")
    for name in ("config.json", "sentencepiece.model"):
        (tmp_path / name).write_bytes((folders["average"] / name).read_bytes())
    (tmp_path / "model.safetensors").symlink_to(secret)
    with pytest.raises(
        InputError, match=r"model\.safetensors: damaged: its sha256 is not [0-9a-f]{64}"
    ) as caught:
        open_folder(tmp_path)
    assert sha256(secret) not in str(caught.value)


def test_models_of_before_and_those_of_the_package_are_read(tmp_path: Path) -> None:
    for folder in shipped_models().values():
        written = json.loads((folder / "config.json").read_text())
        assert read_config(folder / "config.json").items() >= written.items()
    earlier = {"encoder": "averaged_subwords", "model": "old", "lowercase": False}
    earlier["sha256"] = dict.fromkeys(("model.safetensors", "sentencepiece.model"), "0" * 64)
    (tmp_path / "config.json").write_text(json.dumps({**earlier, "dimension": None}))
    assert read_config(tmp_path / "config.json") == {
        **earlier, "unit": "subword", "segmentation": {}, "folding": {}, "languages": [], "corpora": {},
        "training": {}, "tokenized": False, "teachers": {}, "commercial_use": "unknown",
    }  # fmt: skip


def test_a_file_too_large_to_be_a_configuration_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(1 << 40)
    for read in (read_config, kind_of):
        with pytest.raises(InputError, match=r"config\.json: is no configuration: it has more than 64 MB"):
            read(tmp_path / "config.json")
