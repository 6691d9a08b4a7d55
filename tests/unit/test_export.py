"""Test that an exported model has the same cosines in other libraries or is not exported at all."""

import errno
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_models import LONG, model_of
from test_export_tokenizer import LOWER, SENTENCES, trained
from unicode_text import ODD

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, sha256, write_json
from paraphrastic.base.text import visible
from paraphrastic.cli import main
from paraphrastic.interop import export, formats
from paraphrastic.interop.compression import with_dtype
from paraphrastic.interop.export import export_model
from paraphrastic.interop.formats import FORMATS
from paraphrastic.interop.model_card import parts
from paraphrastic.interop.tokenizer import complete_folder
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import cosines
from paraphrastic.model.sentencepiece_models import add_unknown_pieces
from paraphrastic_pipeline.training.model_selection import choose_model

ROOT = Path(__file__).resolve().parents[2]
NEEDED = {"sentence-transformers": "sentence_transformers", "model2vec": "model2vec", "onnx": "onnxruntime"}


@pytest.fixture(scope="module")
def model() -> AverageEncoder:
    return model_of()


@pytest.fixture(scope="module")
def folder(model: AverageEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "en"
    formats.write_folder(model, path)
    return path


def needs(form: str) -> None:
    if form == "javascript" and shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    if form in NEEDED:
        pytest.importorskip(NEEDED[form], reason=f"{NEEDED[form]} is not installed")


def of_neighbours(vectors: Any) -> Any:
    vectors = np.asarray(vectors, np.float32)
    return cosines(vectors[:-1], vectors[1:])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("library", ["sentence-transformers", "model2vec"])
def test_a_folder_is_that_of_both_libraries(
    model: AverageEncoder, tmp_path: Path, library: str, dtype: str
) -> None:
    needs(library)
    formats.write_folder(with_dtype(model, dtype), tmp_path / "en")
    ours = load_model(tmp_path / "en")
    sentences = [line for line in SENTENCES if "狗" not in line] + [LONG, LONG + "human rights"]
    if library == "model2vec":
        from model2vec import StaticModel

        embed = StaticModel.from_pretrained(tmp_path / "en").encode
    else:
        from sentence_transformers import SentenceTransformer

        embed = SentenceTransformer(str(tmp_path / "en"), device="cpu").encode
    theirs = of_neighbours(embed(sentences))
    expected = of_neighbours(ours.embed_raw_text(sentences))
    assert 0 < expected[-1] < 1
    np.testing.assert_allclose(theirs, expected, atol=1e-3 if dtype == "float16" else 1e-6)
    assert not np.asarray(embed(["", "  ", "\u0001"])).any()


def test_what_is_theirs_in_a_folder(folder: Path) -> None:
    config = read_json(folder / "config.json")
    assert (config["normalize"], config["max_length"]) == (False, None)
    assert {path.name for path in folder.iterdir()} == {
        "config.json", "model.safetensors", "modules.json", "sentencepiece.model", "tokenizer.json",
    }  # fmt: skip


@pytest.mark.parametrize("change", [{"encoder": "parts"}, {"unit": "trigram"}])
def test_folders_of_other_models_are_not_theirs(folder: Path, tmp_path: Path, change: dict[str, str]) -> None:
    shutil.copytree(folder, tmp_path / "other")
    write_json(tmp_path / "other" / "config.json", {**read_json(folder / "config.json"), **change})
    with pytest.raises(InputError, match="other: cannot be used in sentence-transformers and model2vec: "):
        complete_folder(tmp_path / "other")
    # Files of an earlier model would not belong to this one.
    assert not (tmp_path / "other" / "tokenizer.json").exists()
    assert not (tmp_path / "other" / "modules.json").exists()


def test_chosen_models_are_theirs(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    for name in ("model.safetensors", "sentencepiece.model"):
        shutil.copy(folder / name, run)
    training = {"dropout": 0.1, "megabatch": 5, "mining_precision": "float32"}
    config = {**read_json(folder / "config.json"), "training": training}
    write_json(run / "config.json", config)
    write_json(run / "development.json", {"pearson": 70.0})
    chosen = tmp_path / "chosen"
    choose_model([run / "development.json"], chosen)
    complete_folder(chosen)
    assert (chosen / "tokenizer.json").read_bytes() == (folder / "tokenizer.json").read_bytes()
    assert read_json(chosen / "config.json")["max_length"] is None
    load_model(chosen)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("form", FORMATS)
def test_exports_agree_and_say_so(model: AverageEncoder, tmp_path: Path, form: str, dtype: str) -> None:
    needs(form)
    card = "---\nlanguage: [en]\n---\n# A model\n\n## Scores\n\nhigh\n\n## Digests\n\nstale\n"
    text = tmp_path / "text"
    text.write_text("\n".join([*SENTENCES, LONG]), encoding="utf-8")
    found = export_model(with_dtype(model, dtype), form, tmp_path / "out", text=text, card=card).parity
    assert found.sentences == found.identical == len(SENTENCES) + 1
    assert found.largest < (1e-3 if dtype == "float16" else 1e-5)
    pieces = model.tokenize(SENTENCES)
    assert all(pieces.has_text == np.diff(pieces.ends).astype(bool))
    assert found.unknown == []
    empty = len(SENTENCES) - int(pieces.has_text.sum())
    assert found.vectors == len(SENTENCES) + 1 - empty
    written = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert written.startswith("---\nlanguage:\n- en\n---\n\n# Paraphrastic sentence embeddings: en, for ")
    assert f"\n48 dimensions, {dtype}.\n" in written
    assert written.endswith("\n## The model that it was made from\n\n### Scores\n\nhigh\n")
    # The card lists exactly the files that are there.
    digests = dict(re.findall(r"^\| (\S+) \| `([0-9a-f]{64})` \|$", written, re.M))
    files = [path for path in (tmp_path / "out").iterdir() if path.name != "README.md"]
    assert digests == {path.name: sha256(path) for path in files}
    assert "stale" not in written
    libraries = {"sentence_transformers": "sentence-transformers", "model2vec": "model2vec"}
    assert [name for name, of in libraries.items() if name in written and of != form] == []
    assert "| with identical pieces | 100 % |" in written
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("folding", [{}, {"tr": "dotless", "ar": "marks"}])
def test_odd_text_has_the_same_vectors(tmp_path: Path, form: str, folding: dict[str, str]) -> None:
    needs(form)
    config = {"folding": folding, "languages": ["en", "zh"]}
    model = model_of(byte_fallback=True, vocab_size=1156, config=config)
    # All pieces have rows, as those of a vocabulary do, whether or not training saw them.
    model.known[:] = True
    model.known[:3] = False
    generator = np.random.default_rng(0)
    model.embeddings[3:] = generator.normal(size=(len(model.known) - 3, model.dim))
    FORMATS[form].write(model, tmp_path)
    other = FORMATS[form].open(model, tmp_path)
    sentences = [*ODD, "\u200d", "\x01", "ΑΣ\u0301\u200d"]
    assert [Counter(ids) for ids in other.cut(sentences)] == [*map(Counter, model.known_tokens(sentences))]
    ours, theirs = model.embed_raw_text(sentences), np.asarray(other.embed(sentences))
    text = ours.any(axis=1)
    assert text.tolist() == [True] * (len(ODD)) + [False, False, True]
    np.testing.assert_allclose(cosines(ours[text], theirs[text]), 1, atol=1e-6)
    assert not theirs[~text].any()


def test_upper_case_greek_of_a_model_in_the_package(tmp_path: Path) -> None:
    needs("model2vec")
    text = tmp_path / "greek"
    text.write_text("ΟΔΟΣ\n\nΣΟΦΟΣ\n", encoding="utf-8")
    model = load_model("en")
    assert isinstance(model, AverageEncoder)
    found = export_model(with_dtype(model, "float32"), "model2vec", tmp_path / "out", text=text).parity
    assert (found.vectors, found.ties, found.identical) == (2, [], 3)


@pytest.mark.parametrize("form", ["onnx", "glove"])
def test_onnx_and_text_have_our_vectors(model: AverageEncoder, tmp_path: Path, form: str) -> None:
    needs(form)
    FORMATS[form].write(model, tmp_path)
    other = FORMATS[form].open(model, tmp_path)
    sentences = ["", " ", "狗", "the word", LONG, *SENTENCES]
    ours = model.embed_raw_text(sentences)
    assert ours[2].any()
    np.testing.assert_allclose(other.embed(sentences), ours, rtol=1e-5, atol=1e-6)


def test_a_server_finds_what_it_asks_of_a_graph(model: AverageEncoder, tmp_path: Path) -> None:
    """Serve as text-embeddings-inference does with ONNX Runtime (its `router` and `backends/ort`)."""
    needs("onnx")
    import onnxruntime
    from tokenizers import Tokenizer

    FORMATS["onnx"].write(model, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for name in ("max_position_embeddings", "pad_token_id", "hidden_size", "num_hidden_layers"):
        assert isinstance(config[name], int)
    assert isinstance(config["model_type"], str)
    assert not any(name.endswith("Classification") for name in config["architectures"])
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    assert {each.name for each in session.get_inputs()} == {"input_ids", "attention_mask"}
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer.no_padding()
    for sentences in (SENTENCES[:1], SENTENCES[:3]):
        rows = [tokenizer.encode(text).ids for text in sentences]
        width = max(map(len, rows))
        padded = [row + [config["pad_token_id"]] * (width - len(row)) for row in rows]
        mask = [[1] * len(row) + [0] * (width - len(row)) for row in rows]
        inputs = {"input_ids": np.array(padded, np.int64), "attention_mask": np.array(mask, np.int64)}
        (vectors,) = session.run(["sentence_embedding"], inputs)
        np.testing.assert_allclose(vectors, model.embed_raw_text(sentences), rtol=1e-5, atol=1e-6)
    with pytest.raises(InputError):
        load_model(tmp_path)


def test_headings_in_code_are_none() -> None:
    card = "---\na: b\n---\n# A\n\nold\n\n## Use\n\n```sh\n# first\n```\n\n### More\n\n## Comparison\n\nold\n"
    matter, sections = parts(card)
    assert matter == "a: b\n"
    assert sections == [
        ("Use", "### Use\n\n```sh\n# first\n```\n\n#### More\n"),
        ("Comparison", "### Comparison\n\nold\n"),
    ]
    assert parts("") == parts("# A title alone\n") == ("", [])


@pytest.mark.parametrize("form", FORMATS)
def test_the_card_shows_how(model: AverageEncoder, tmp_path: Path, form: str, monkeypatch: Any) -> None:
    needs(form)
    export_model(model, form, tmp_path / "exported")
    monkeypatch.chdir(tmp_path)
    code = r"^```(?:python|javascript)\n(.*?)^```$"
    (example,) = re.findall(code, Path("exported/README.md").read_text(), re.M | re.S)
    if form == "javascript":
        command = [
            "node",
            "--input-type=module",
            "-e",
            f"{example}\nconsole.log(JSON.stringify([...vectors]));",
        ]
        vector = np.array(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    else:
        names: dict[str, Any] = {}
        exec(compile(example, form, "exec"), names)
        vector = names["vector"] if form == "glove" else names["vectors"][0]
    if form == "glove":
        assert [names["clean"](text) for text in ODD] == visible(ODD)
    expected = model.embed_raw_text(["This is a test."])[0]
    assert cosines(vector[None], expected[None])[0] > 1 - 1e-6


def broken(write: Callable[[AverageEncoder, Path], None]) -> Callable[[AverageEncoder, Path], None]:
    def without_lower_case(model: AverageEncoder, folder: Path) -> None:
        write(model, folder)
        path = folder / "tokenizer.json"
        path.write_text(path.read_text("utf-8").replace('{"type": "Lowercase"}', '{"type": "NFC"}'), "utf-8")

    return without_lower_case


@pytest.mark.parametrize("form", ["sentence-transformers", "model2vec", "onnx"])
def test_what_differs_is_named_and_nothing_is_left(
    model: AverageEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    needs(form)
    monkeypatch.setitem(FORMATS, form, FORMATS[form]._replace(write=broken(FORMATS[form].write)))
    text = tmp_path / "text"
    text.write_text("the human\nThe Human\nfree\nfree rights\n")
    with pytest.raises(InputError) as error:
        export_model(model, form, tmp_path / "out", text=text)
    assert "1 of 4 sentences are cut into different pieces (line 2); in 1 of 4, the vector, " in str(
        error.value
    )
    assert str(error.value).endswith("(line 2)")
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == [text]


def test_chinese_words_are_the_reason(tmp_path: Path) -> None:
    needs("onnx")
    model = model_of(config={"segmentation": {"zh": "accurate"}})
    model.known[model.processor.piece_to_id("▁")] = True
    with pytest.raises(InputError, match=r"\(line 33\), including Chinese ones \(1\), in which jieba"):
        export_model(model, "onnx", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    text = tmp_path / "text"
    text.write_text("\n".join(SENTENCES[:20]), encoding="utf-8")
    assert export_model(model, "onnx", tmp_path / "out", text=text).parity.identical == 20
    # After preparation, the other library cuts the text as the model does.
    assert export_model(model, "glove", tmp_path / "text_out").parity.different == []
    assert "words of zh by jieba (accurate)" in (tmp_path / "text_out" / "README.md").read_text("utf-8")


def test_what_is_wrong_is_one_line(model: AverageEncoder, tmp_path: Path, monkeypatch: Any) -> None:
    def refused(cause: str, **options: Any) -> None:
        with pytest.raises(InputError, match=cause):
            export_model(model, "glove", options.pop("output", tmp_path / "out"), **options)
        assert not (tmp_path / "out").exists()

    (tmp_path / "empty").write_text("")
    (tmp_path / "latin").write_bytes(b"free\n\xff\n")
    refused("empty: contains no sentence", text=tmp_path / "empty")
    refused("missing: cannot be read: No such file", text=tmp_path / "missing")
    refused("latin:2: not UTF-8", text=tmp_path / "latin")
    refused("already exists and is not an empty folder", output=tmp_path)
    refused("cannot be written", output=tmp_path / "empty" / "out")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    with pytest.raises(InputError, match=r"/out/model\.safetensors: cannot be written: no space left"):
        export_model(model, "paraphrastic", tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "latin"}
    needs("onnx")
    monkeypatch.setattr(formats, "MOST_BYTES", 1000)
    with pytest.raises(
        InputError, match="en: cannot be exported for ONNX Runtime: a table of more than 2 GB"
    ):
        export_model(model, "onnx", tmp_path / "out")


def test_pieces_with_white_space_cannot_begin_a_line(tmp_path: Path) -> None:
    model = model_of(user_defined_symbols=["a\u00a0b"])
    model.known[model.processor.piece_to_id("a\u00a0b")] = True
    with pytest.raises(InputError, match=r"the piece 'a\\xa0b' cannot begin a line of text"):
        export_model(model, "glove", tmp_path / "out")


def test_the_example_of_the_command_runs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    needs("onnx")
    shutil.copytree(folder, tmp_path / "results" / "models" / "en")
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    example = re.search(r"^  paraphrastic ((?:.*\\\n)*.*)$", capsys.readouterr().out, re.M)
    assert example
    assert main(shlex.split(example[1].replace("\\\n", " "))) == 0
    assert "with identical pieces: 100 %" in capsys.readouterr().out
    assert {path.name for path in Path("exported/en-onnx").iterdir()} == {
        "README.md", "config.json", "model.onnx", "tokenizer.json",
    }  # fmt: skip


def test_a_missing_library_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    arguments = ["--model", str(folder), "--format", "onnx", "--output", str(tmp_path / "out")]
    assert main(["export", *arguments]) == 1
    assert capsys.readouterr().err == (
        "paraphrastic: error: onnx is not installed; run pip install '.[onnx]' in the project's folder\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing(
    model: AverageEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "compare", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export_model(model, "glove", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", FORMATS)
def test_models_of_the_original_code_know_runs_of_characters(tmp_path: Path, form: str) -> None:
    needs(form)
    lines = [*SENTENCES, "room 2011", "2011 is in room 50%", "50% of $ 5.99 at 20 ℃"]
    processor = trained(character_coverage=0.98)
    pieces = processor.encode([line.lower() for line in lines], out_type=str)
    # The text of the original code's models is lower-cased.
    spellings = dict.fromkeys(piece.lower() for line in pieces for piece in line)
    extended = add_unknown_pieces(processor, list(spellings))
    size = extended.get_piece_size()
    known = np.arange(size) > processor.unk_id()
    generator = np.random.default_rng(1)
    table = (generator.normal(size=(size, 32)) * known[:, None]).astype(np.float32)
    config = {**LOWER, "model": "para", "segmentation": {}}
    model = AverageEncoder(table, known, np.ones(32, np.float32), extended, config)
    spelled = processor.get_piece_size()
    assert sum(piece >= spelled for each in model.known_tokens(lines) for piece in each) > 10
    text = tmp_path / "text"
    text.write_text("\n".join(lines), encoding="utf-8")
    found = export_model(model, form, tmp_path / "out", text=text).parity
    assert found.identical + len(found.reordered) == len(lines)
