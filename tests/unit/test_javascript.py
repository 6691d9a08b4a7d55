"""Test that a model in JavaScript cuts any text as Python does and gives the same vectors."""

import base64
import json
import random
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from small_models import LONG, STRANGE, model_of
from test_export_tokenizer import SENTENCES
from unicode_text import ODD, texts

from browser import Browser
from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.javascript import MODULE, in_node, model_bytes, write_javascript
from paraphrastic.interop.parity import Other, Parity, compare
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.folder import find_folder, open_folder
from paraphrastic.model.sentencepiece_models import add_unknown_pieces

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")
SHIPPED = ("en", "en-de-es-fr")

# What a page with the module and a model defines, to be called from here.
IN_BROWSER = """
const letters = atob(document.getElementById("model").textContent);
const model = load(Uint8Array.from(letters, (each) => each.charCodeAt(0)));
window.pieces = (texts) => texts.map((text) => model.pieces(text));
window.embed = (texts) => {
    let letters = "";
    for (const byte of new Uint8Array(model.embed(texts).buffer)) letters += String.fromCharCode(byte);
    return btoa(letters);
};
"""


def opened(name: str) -> AverageEncoder:
    model = open_folder(name)
    assert isinstance(model, AverageEncoder)
    return model


def compared(model: AverageEncoder, folder: Path, sentences: list[str]) -> Parity:
    write_javascript(model, folder)
    found = compare(model, in_node(model, folder), sentences)
    found.check("the sentences", "JavaScript")
    return found


def run(folder: Path, script: str) -> Any:
    """What a script returns that has the module's `load` and the folder's `model`."""
    begin = (
        'import { readFileSync } from "node:fs"; import { load } from "./paraphrastic.js";'
        'const bytes = readFileSync("model.safetensors"), model = load(bytes);'
    )
    source = (
        f"{begin} const found = await (async () => {{ {script} }})(); console.log(JSON.stringify(found));"
    )
    command = [str(NODE), "--input-type=module", "-e", source]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("javascript")
    write_javascript(opened("en"), folder)
    return folder


@pytest.fixture(scope="module")
def real_sentences(mirror: Path) -> list[str]:
    """More than 20,000 sentences in several languages."""
    sentences: list[str] = []
    for path in sorted((mirror / "www.manythings.org/anki").glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            (member,) = (each for each in archive.namelist() if not each.startswith("_"))
            lines = archive.read(member).decode().splitlines()
        chosen = random.Random(1).sample(lines, min(len(lines), 3500))
        sentences += [line.split("\t")[1] for line in chosen]
    assert len(sentences) > 20_000
    return sentences


@needs_node
@pytest.mark.slow("cuts twenty thousand sentences with each model")
@pytest.mark.parametrize("name", SHIPPED)
def test_twenty_thousand_real_sentences_are_cut_alike(
    name: str, real_sentences: list[str], tmp_path: Path
) -> None:
    model = opened(name)
    found = compared(model, tmp_path, real_sentences)
    assert found.identical == found.sentences
    assert found.largest < 1e-6


@pytest.mark.slow("cuts twenty thousand sentences with each model")
@pytest.mark.parametrize("name", SHIPPED)
def test_a_browser_cuts_them_alike(name: str, real_sentences: list[str], tmp_path: Path) -> None:
    model = opened(name)
    content = base64.b64encode(model_bytes(model)).decode()
    path = tmp_path / "page.html"
    script = MODULE.read_text(encoding="utf-8")
    path.write_text(f'<script type="module">{script}{IN_BROWSER}</script><p id="model">{content}</p>')
    with Browser(tmp_path / "profile") as browser:
        page = browser.open(path.as_uri(), width=1000)

        def embed(texts: list[str]) -> Any:
            vectors = base64.b64decode(page.value(f"embed({json.dumps(texts)})"))
            return np.frombuffer(bytearray(vectors), np.float32).reshape(len(texts), -1)

        other = Other(lambda texts: page.value(f"pieces({json.dumps(texts)})"), embed, unknown=True)
        found = compare(model, other, real_sentences)
        assert not browser.complaints
    found.check("the sentences", "Chromium")
    assert found.identical == found.sentences
    assert found.largest < 1e-6


@needs_node
def test_ties_spaces_and_strange_characters_are_cut_alike(tmp_path: Path) -> None:
    model = opened("en")
    generator = random.Random(0)
    parts = ["a", "ab", "ha", "0", "-", "e é", "日本", "ا", "İI", "Σ ς", "▁x", "😀", "\1a", "ﬁ", "\u0301e",
             "\u00ad", "\u200b ", " \t", "क्ष", "<0x41>", "\ud800", "\x85", "\u3000"]  # fmt: skip
    repeated = [
        "".join(generator.choices([part, part, part, *"aehilnorst 0 "], k=generator.randint(1, 60)))
        for part in parts
        for _ in range(10)
    ]
    # Python refuses NUL characters.
    generated = [text.replace("\0", "\1") for text in texts(500, SENTENCES)]
    # Letters that are newer than one of the two programs' Unicode may have another lower case.
    found = compared(model, tmp_path, [*repeated, *SENTENCES, LONG, "", " ", "\u0001", *generated])
    assert found.sentences - found.identical == len(found.ties) < 20


@needs_node
def test_odd_text_is_prepared_alike(tmp_path: Path) -> None:
    model = opened("en-de-es-fr")
    found = compared(model, tmp_path, ODD)
    assert found.identical == found.vectors == len(ODD)
    # Python refuses this character.
    same = run(tmp_path, "return ['a\\0b', 'a b', 'a\\u00adb', 'ab'].map((text) => model.pieces(text));")
    assert same == [same[1], same[1], same[3], same[3]]


@needs_node
def test_models_that_were_exported_before_text_was_cleaned_still_load(tmp_path: Path) -> None:
    model = model_of()
    write_javascript(model, tmp_path)
    path = tmp_path / "model.safetensors"
    with safetensors.safe_open(path, "np") as file:
        metadata = file.metadata()
    settings = json.loads(metadata["settings"])
    del settings["cleaning"]
    tensors = safetensors.numpy.load_file(path)
    safetensors.numpy.save_file(tensors, path, {**metadata, "settings": json.dumps(settings)})
    in_node_there = in_node(model, tmp_path)
    np.testing.assert_allclose(
        in_node_there.embed(SENTENCES[:20]), model.embed_raw_text(SENTENCES[:20]), atol=1e-6
    )


@needs_node
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int4", "int2"])
def test_tables_of_all_types(dtype: str, tmp_path: Path) -> None:
    model = with_dtype(model_of(config={"folding": {"tr": "dotted", "ar": "marks"}}), dtype)
    write_javascript(model, tmp_path)
    sentences = [*SENTENCES, LONG, "", "İstanbul السَّلَام", LONG + "human rights"]
    vectors = in_node(model, tmp_path).embed(sentences)
    np.testing.assert_allclose(vectors, model.embed_raw_text(sentences), rtol=1e-5, atol=1e-6)
    assert not vectors[sentences.index("")].any()
    # Text of which no piece is known has a vector of its own.
    model = with_dtype(model_of(add_dummy_prefix=False), dtype)
    write_javascript(model, tmp_path)
    np.testing.assert_array_equal(in_node(model, tmp_path).embed([STRANGE])[0], model.unknown)


@needs_node
@pytest.mark.parametrize(
    "options",
    [
        {"byte_fallback": True},
        {"normalization_rule_name": "identity"},
        {"remove_extra_whitespaces": False},
        {"add_dummy_prefix": False},
        {"split_by_whitespace": False},
    ],
)
def test_vocabularies_with_other_settings(options: dict[str, Any], tmp_path: Path) -> None:
    compared(model_of(**options), tmp_path, [*SENTENCES, "  two  spaces ", "狗 ½ ﬁ \u00a0x"])


@needs_node
def test_unknown_text_is_looked_up_by_its_spelling(tmp_path: Path) -> None:
    first = model_of()
    processor = add_unknown_pieces(first.processor, ["犭", "犭彡"])
    more = processor.get_piece_size() - len(first.known)
    rows = np.random.default_rng(1).normal(size=(more, first.dim)).astype(np.float32)
    model = AverageEncoder(
        np.vstack([first.embeddings, rows]), np.append(first.known, np.ones(more, np.bool_)),
        first.unknown, processor, first.config,
    )  # fmt: skip
    sentences = ["犭", "ℕ犭", "a 犭 b", "犭\u2005犭", "犭彡", "彡", "x犭y", *SENTENCES]
    found = compared(model, tmp_path, sentences)
    assert found.identical == len(sentences)
    assert model.known_tokens(["犭"]) != model.known_tokens(["犭彡"])


@needs_node
def test_the_functions_of_the_module(shipped: Path) -> None:
    model = load_model("en")
    first, second = "The children are\tplaying in the park.", "Kids play outside."
    listed = ["A dog runs.", "", "Kids are playing.", "The market fell.", "Kids are playing."]
    asked = json.dumps([first, second, listed])
    found = run(
        shipped,
        f"const [first, second, listed] = {asked};"
        "return {dim: model.dim, config: model.config, similarity: model.similarity(first, second),"
        "empty: [model.similarity(first, ''), model.shares('', first), model.shares(first, '')],"
        "itself: model.similarity(first, first), shares: model.shares(first, second),"
        "nearest: model.nearest(second, model.embed(listed), 3),"
        "all: model.nearest(first, model.embed(listed), 99)};",
    )
    assert (found["dim"], found["config"]) == (300, {"model": "en", "languages": ["en"]})
    (expected,) = model.score_raw_text([(first, second)])
    assert found["similarity"] == pytest.approx(expected, abs=1e-6)
    assert found["empty"][:2] == [0, []]
    assert {each["share"] for each in found["empty"][2]} == {0}
    assert found["itself"] == pytest.approx(1)
    assert [each["word"] for each in found["shares"]] == first.split()
    assert sum(each["share"] for each in found["shares"]) == pytest.approx(expected, abs=1e-6)
    scores = model.score_raw_text([(second, each) for each in listed])
    assert [each["index"] for each in found["nearest"]] == [2, 4, int(np.argsort(scores)[-3])]
    assert [each["score"] for each in found["nearest"]] == pytest.approx(sorted(scores)[:-4:-1], abs=1e-6)
    assert sorted(each["index"] for each in found["all"]) == [0, 1, 2, 3, 4]


@needs_node
def test_other_files_are_refused(shipped: Path, tmp_path: Path) -> None:
    trials = """
        const said = [];
        for (const each of [bytes.subarray(0, 3), bytes.subarray(0, 100), bytes.subarray(0, 5000),
                            bytes.subarray(0, bytes.length - 1), readFileSync(OTHER)]) {
            try { load(each); said.push("nothing"); } catch (error) { said.push(error.message); }
        }
        return said;"""
    other = find_folder("en") / "model.safetensors"
    said = run(shipped, trials.replace("OTHER", json.dumps(str(other))))
    assert said[0] == "the model is not a safetensors file: it is too short"
    assert said[1] == "the model is not a safetensors file: its header is damaged"
    assert said[2].startswith("the model is cut off: ")
    assert said[3].startswith("the model is cut off: ")
    assert said[4] == (
        "the model was not exported for JavaScript; paraphrastic export --format javascript does that"
    )


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"config": {"segmentation": {"zh": "accurate"}}}, "its text in zh is cut into words by jieba"),
        ({"config": {"unit": "trigram"}}, "its vocabulary cannot be used there"),
        ({"model_type": "bpe"}, "its vocabulary cannot be used there"),
        ({"user_defined_symbols": ["xyz"]}, "its vocabulary cannot be used there"),
        ({"treat_whitespace_as_suffix": True}, "its vocabulary cannot be used there"),
    ],
)
def test_models_that_it_cannot_run_are_refused(options: dict[str, Any], fault: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=fault):
        write_javascript(model_of(**options), tmp_path)


def test_without_node_nothing_is_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    command = ["export", "--model", "en", "--format", "javascript", "--output", str(tmp_path / "en")]
    assert main(command) == 1
    assert "Node.js, in which the exported model is compared" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
