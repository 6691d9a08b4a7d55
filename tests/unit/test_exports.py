"""Test that an exported model has the same vectors in the library that it is for, and what is refused."""

import re
import shlex
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hard_texts import TEXTS as HARD
from hypothesis import given, settings
from hypothesis import strategies as st
from parity import HALF_TOLERANCE, TOLERANCE, Embed, distances, needs, opened_elsewhere
from small_models import LONG, SENTENCES, STRANGE, model_of, trained, two_parts_of
from unicode_text import ODD

from paraphrastic import InputError, load_model
from paraphrastic.base.files import read_json
from paraphrastic.cli import main
from paraphrastic.interop import formats
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.formats import FORMATS, export_model
from paraphrastic.interop.tokenizer import complete_folder
from paraphrastic.interop.unknown_pieces import add_unknown_pieces
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic.model.average import AverageEncoder

ROOT = Path(__file__).resolve().parents[2]
EMPTY = ["", "  ", "\u200b", "\x01", "\u00ad\u2060"]
TEXTS = [*SENTENCES, *(hard.text for hard in HARD), *ODD, *EMPTY, LONG, STRANGE]
FOLDING = {"tr": "dotless", "ar": "marks", "ru": "yo"}
BYTES = {"byte_fallback": True, "vocab_size": 1156}


def spelled() -> AverageEncoder:
    """A model like those of the authors, in which runs of unknown characters have pieces of their own."""
    processor = trained(character_coverage=0.98)
    lines = processor.encode([line.lower() for line in SENTENCES], out_type=str)
    runs = {piece.lower() for line in lines for piece in line}
    return model_of(add_unknown_pieces(processor, sorted(runs)), gaps=False)


MODELS = {
    "en": lambda: load_model("en"),
    "en-de-es-fr": lambda: load_model("en-de-es-fr"),
    "bytes and folding": lambda: model_of(gaps=False, config={"folding": FOLDING}, **BYTES),
    "capitals": lambda: model_of(gaps=False, config={"lowercase": False}, **BYTES),
    "unknown pieces": model_of,
    "spellings": spelled,
    "words": lambda: model_of(model_type="word", config={"unit": "word"}),
    **{name: (lambda name=name: with_dtype(model_of(), name)) for name in ("float16", "int8", "int4")},
}
model_named = cache(lambda name: MODELS[name]())


def apart_from(
    form: str, model: AverageEncoder, embed: Embed, texts: Sequence[str], largest: float
) -> list[str]:
    """The texts whose vectors are farther from ours than `largest`, or are not numbers."""
    apart = distances(model, embed, texts, form)
    return [texts[row] for row in np.flatnonzero(~(apart < largest))]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("form", FORMATS)
def test_vectors_are_the_same_elsewhere(form: str, name: str, tmp_path: Path) -> None:
    needs(form)
    if (form, name) == ("javascript", "words"):
        pytest.skip("the module for JavaScript knows subwords alone")
    model = model_named(name)
    export_model(model, form, tmp_path / "out")
    embed = opened_elsewhere(form, tmp_path / "out")
    largest = HALF_TOLERANCE if name == "float16" else TOLERANCE
    assert apart_from(form, model, embed, TEXTS, largest) == []
    assert not np.asarray(embed(EMPTY)).any()


# Letters that are newer than one library's Unicode may have no lower case there.
letters = st.characters(exclude_categories=["Cs", "Cn", "Co"], exclude_characters="\0")
parts = st.one_of(
    st.sampled_from([word for text in [*SENTENCES[:-8], *ODD] for word in text.split()]),
    st.text(letters, max_size=5),
    st.text("aeΣσςİIıß\u0301\u0308\u0345\u0327\u200d\u00ad\u064bﬁ½™ㄱᅡ\u11a8ﾊﾟ▁ .'", max_size=9),
)
texts = st.lists(st.lists(parts, max_size=6).map(" ".join), min_size=1, max_size=40)


@pytest.mark.parametrize("name", ["bytes and folding", "unknown pieces", "spellings"])
@pytest.mark.parametrize("form", ["model2vec", "javascript"])
def test_any_text_has_the_same_vector(form: str, name: str, tmp_path: Path) -> None:
    needs(form)
    model = model_named(name)
    export_model(model, form, tmp_path / "out")
    embed = opened_elsewhere(form, tmp_path / "out")

    @settings(max_examples=15, deadline=None, derandomize=True, database=None)
    @given(texts)
    def check(texts: list[str]) -> None:
        assert apart_from(form, model, embed, texts, TOLERANCE) == []

    check()


def test_files_of_each_format(tmp_path: Path) -> None:
    needs("onnx")
    own = {"model.safetensors", "sentencepiece.model", "config.json", "tokenizer.json", "modules.json"}
    files = {
        "onnx": {"model.onnx", "config.json", "tokenizer.json"},
        "javascript": {"model.safetensors", "paraphrastic.js"},
    }
    for form in FORMATS:
        changes = "reduced to 64 dimensions, int8" if form == "onnx" else ""
        export_model(model_named("int8"), form, tmp_path / form, card="# A\n\ncard\n", changes=changes)
        found = {path.name for path in (tmp_path / form).iterdir()}
        assert found == {*files.get(form, own), "README.md"}
    card = (tmp_path / "onnx" / "README.md").read_text()
    last = "Exported for ONNX Runtime by paraphrastic, reduced to 64 dimensions, int8.\n"
    assert card == f"# A\n\ncard\n\n{last}"
    assert read_json(tmp_path / "model2vec" / "config.json")["normalize"] is False
    # text-embeddings-inference asks for these.
    config = read_json(tmp_path / "onnx" / "config.json")
    for name in ("max_position_embeddings", "pad_token_id", "hidden_size", "num_hidden_layers"):
        assert isinstance(config[name], int)
    # Only this library reads 4 bits.
    export_model(model_named("int4"), "paraphrastic", tmp_path / "own")
    assert {path.name for path in (tmp_path / "own").iterdir()} == own - {"tokenizer.json", "modules.json"}
    assert load_model(tmp_path / "own").dtype == "int4"


TOKENIZED = ("sentence-transformers", "model2vec", "onnx")
REFUSED = {
    "segmented text": ({"config": {"segmentation": {"zh": "accurate"}}}, (*TOKENIZED, "javascript"), "jieba"),
    "trigrams": ({"config": {"unit": "trigram"}}, (*TOKENIZED, "javascript"), "vocabulary"),
    "symbols": ({"user_defined_symbols": ["xyz"]}, (*TOKENIZED, "javascript"), "vocabulary"),
    "bpe": ({"model_type": "bpe"}, (*TOKENIZED, "javascript"), "vocabulary"),
    "suffix": ({"treat_whitespace_as_suffix": True}, (*TOKENIZED, "javascript"), "vocabulary"),
    "over spaces": ({"split_by_whitespace": False}, TOKENIZED, "vocabulary"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_a_format_cannot_hold_is_refused(kind: str, tmp_path: Path) -> None:
    needs("onnx")
    options, forms, cause = REFUSED[kind]
    for form in forms:
        with pytest.raises(InputError, match=f"^en: .*{FORMATS[form].name}.*{cause}"):
            export_model(model_of(**options), form, tmp_path / "out")
    # A folder of this library holds any model.
    export_model(model_of(**options), "paraphrastic", tmp_path / "own")
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_other_models_and_places_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("onnx")
    two = two_parts_of(Architecture(parts=(Part(), Part()), languages="separate"))
    with pytest.raises(InputError, match=r"^en: is not a single average"):
        export_model(two, "onnx", tmp_path / "out")
    two.write(tmp_path / "two")
    with pytest.raises(InputError, match=r"two: cannot be used in .*more than one average"):
        complete_folder(tmp_path / "two")
    with pytest.raises(InputError, match=f"{tmp_path}: already exists"):
        export_model(model_of(), "paraphrastic", tmp_path)
    monkeypatch.setattr(formats, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match=r"^en: .*ONNX.* 2 GB"):
        export_model(model_of(), "onnx", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["two"]


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ("--format onnx --reduce pca", "--dimension"),
        ("--format onnx --dimension 5", "--corpus"),
        ("--format onnx --dimension 5 --reduce truncate --corpus lines", "--corpus"),
        ("--format onnx --corpus lines", "--corpus"),
        ("--format onnx --dtype int4", "--dtype int4"),
        ("--format onnx --dimension 5 --corpus none", "none: cannot be read"),
        ("--format onnx --dimension 5 --corpus lines", "2 sentences"),
        ("--format onnx --dimension 99 --reduce truncate", "99 dimensions"),
        ("--format javascript --dimension 5 --reduce truncate --dtype int4", "int4"),
        ("--format onnx --model none", "none: "),
        ("--format onnx --model two --dtype int8", "is not a single average"),
        ("--format onnx", "the package onnx"),
    ],
)
def test_what_is_wrong_with_an_export_is_one_line(
    options: str,
    cause: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    model_of().write(tmp_path / "one")
    two_parts_of(Architecture(parts=(Part(), Part()), languages="separate")).write(tmp_path / "two")
    Path("lines").write_text("a man sings\n\nthe cat\n")
    assert main(["export", "--model", "one", *options.split(), "--output", "out"]) == 1
    said = capsys.readouterr().err
    assert cause in said
    assert said.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"one", "two", "lines"}


def test_the_examples_of_the_command_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    needs("onnx")
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    shown = capsys.readouterr().out
    assert shown.count("\n") <= 40
    examples = re.findall(r"^  paraphrastic ((?:.*\\\n)*.*)$", shown, re.M)
    assert len(examples) == 2
    for example in examples:
        assert main(shlex.split(example.replace("\\\n", " "))) == 0
    small = load_model("exported/en-small")
    assert (small.dim, small.dtype) == (64, "int8")
    assert (
        Path("exported/en-small/README.md").read_text().endswith(", reduced to 64 dimensions (pca), int8.\n")
    )
    assert Path("exported/en-onnx/model.onnx").is_file()
