"""Test that models of the original code keep their vectors."""

import copy
import errno
import gzip
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import torch
import yaml

from original_code import RARE, SENTENCES, UNKNOWN, Original, corpus, train_sentencepiece, vocabulary_of
from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import sha256
from paraphrastic.base.text import visible
from paraphrastic.cli import main
from paraphrastic.interop import formats
from paraphrastic.interop.checkpoint_import import import_checkpoint, open_checkpoint
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.sentencepiece_models import add_unknown_pieces, ordinary_pieces

# These texts have capitals, old and new runs of unknown characters, text that normalization turns into
# known pieces, every kind of white space, and words that look like the names of pieces.
HARD = [
    "The OLD dog", "JAZZ", "zzz", "jazzquiz", "日本", "日本語", "zoo" * 40, "ℕ of dogs ™", "½ of 42!?",
    "ﬁnds", "İstanbul ΑΣ", "a\x85b", "z\x85z", "\u3000a\u00a0b", "dog\u200bcat", UNKNOWN, "<s> </s> <unk>",
    "𝐀 dog", "▁▁ a", "the", "\t the \n", "?" * 300, "1984 42 50%", "dé\u0301jà", "…", "a" * 500,
]  # fmt: skip
TEXTS = [*corpus(200, seed=5), *RARE, *HARD]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    # Torch embeds one sentence at a time here, so several threads would mostly wait for each other.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_training_text_has_runs_of_unknown_characters(sp_model: Path) -> None:
    # Without such runs, the tests below would prove little.
    processor = sentencepiece.SentencePieceProcessor(model_file=str(sp_model))
    unknown = [piece for piece in vocabulary_of(sp_model, SENTENCES) if processor.piece_to_id(piece) == 0]
    assert {"zz", "1984", "日本", "z", "!?"} <= set(unknown)


KINDS: list[dict[str, Any]] = [
    {},
    {"zero_unk": 0},
    {"lower_case": 0},
    {"model": "lstm"},
    {"model": "lstm", "pool": "max"},
    {"model": "lstm", "zero_unk": 0, "lower_case": 0},
]


def add_unseen(original: Original, model: Any, *, language: str = "", second: bool = False) -> list[str]:
    """Give the original the rows that an import adds; return the pieces that it had none for."""
    processor = model.processor
    pieces = [(each, processor.id_to_piece(each)) for each in ordinary_pieces(processor)]
    vocab = original.vocab_fr if second and original.vocab_fr else original.vocab
    unseen = [(each, piece) for each, piece in pieces if piece not in vocab]
    tensors = model.tensors()
    name = "embeddings" if model.kind == "averaged_subwords" else f"0.embeddings{language and '.'}{language}"
    if original.arguments["zero_unk"] and unseen:
        rows = tensors[name][[each for each, _ in unseen]]
        original.with_rows([piece for _, piece in unseen], rows, second=second)
    return [piece for _, piece in unseen]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_vectors_are_the_originals(sp_model: Path, tmp_path: Path, kind: dict[str, Any]) -> None:
    original = Original(sp_model, SENTENCES, **kind)
    checkpoint = original.save(tmp_path / "model.pt")
    opened = load_model(checkpoint, sp_model=sp_model)
    assert isinstance(opened, CompositeEncoder if kind.get("model") else AverageEncoder)
    vectors = opened.embed_raw_text(TEXTS)
    before = np.abs(vectors - original.embed(visible(TEXTS))).max(axis=1)
    # Texts with a piece that the training text lacks differ; all others have the original's vectors.
    unseen = add_unseen(original, opened)
    assert {"k", "s"} <= set(unseen)
    lower = str.lower if kind.get("lower_case", 1) else str
    cut = original.processor.encode([lower(text) for text in visible(TEXTS)], out_type=str)
    has_unseen = np.array([not set(unseen).isdisjoint(pieces) for pieces in cut])
    assert has_unseen.any()
    assert (before[~has_unseen] < 1e-6).all()
    expected = original.embed(visible(TEXTS))
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)
    # The vector of a text does not depend on the other texts, and an imported folder holds the same model.
    import_checkpoint(checkpoint, sp_model, tmp_path / "folder")
    folder = load_model(tmp_path / "folder")
    assert folder.digest == opened.digest
    for text, vector in zip(HARD, expected[-len(HARD) :], strict=True):
        np.testing.assert_allclose(folder.embed_raw_text([text])[0], vector, rtol=0, atol=1e-6)


@pytest.mark.parametrize("share", [(0, 1), (1, 0), (0, 0)], ids=["tables", "lstms", "both"])
@pytest.mark.parametrize("kind", ["avg", "lstm"])
def test_sides_of_their_own_are_languages(
    sp_model: Path, tmp_path: Path, kind: str, share: tuple[int, int]
) -> None:
    original = Original(sp_model, SENTENCES, model=kind, share_vocab=share[0], share_encoder=share[1])
    checkpoint = original.save(tmp_path / "model.pt")
    if kind == "avg" and share[0]:
        opened = open_checkpoint(checkpoint, sp_model)
        add_unseen(original, opened)
        expected = original.embed(visible(TEXTS))
        np.testing.assert_allclose(opened.embed_raw_text(TEXTS), expected, atol=1e-6)
        return
    with pytest.raises(InputError, match="give its languages, in the order of the columns"):
        open_checkpoint(checkpoint, sp_model)
    import_checkpoint(checkpoint, sp_model, tmp_path / "folder", languages=["fr", "en"])
    model = load_model(tmp_path / "folder")
    add_unseen(original, model, language="fr")
    for second, language in enumerate(["fr", "en"]):
        if second and not share[0]:
            add_unseen(original, model, language="en", second=True)
        expected = original.embed(visible(TEXTS), second=bool(second))
        found = model.embed_raw_text(TEXTS, language=language)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.slow("cuts thousands of captions one by one")
def test_real_captions_have_the_originals_vectors(mirror: Path, tmp_path: Path) -> None:
    (path,) = mirror.glob("raw.githubusercontent.com/multi30k/dataset/*/data/task1/raw/train.en.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        captions = [line.strip() for line in file]
    training = [caption.lower() for caption in captions[:15000]]
    sp_model = train_sentencepiece(training, tmp_path / "sp.model", vocab_size=2000, character_coverage=0.995)
    original = Original(sp_model, training, dim=64)
    model = load_model(original.save(tmp_path / "model.pt"), sp_model=sp_model)
    texts = captions[12000:18000]
    np.testing.assert_allclose(model.embed_raw_text(texts), original.embed(texts), rtol=0, atol=1e-6)


def test_text_without_pieces_is_zero_here(sp_model: Path, tmp_path: Path, original: Original) -> None:
    # The original gives such text the unknown vector.
    model = load_model(original.save(tmp_path / "model.pt"), sp_model=sp_model)
    assert not model.embed_raw_text(["", "  ", "\u200b"]).any()
    # A model that knows next to nothing tells texts apart all the same.
    nothing = Original(sp_model, ["the"])
    model = load_model(nothing.save(tmp_path / "the.pt"), sp_model=sp_model)
    assert nothing.rows("dogs", nothing.vocab) == [nothing.vocab[UNKNOWN]]
    add_unseen(nothing, model)
    vectors = model.embed_raw_text(["dogs", "cats"])
    np.testing.assert_allclose(vectors, nothing.embed(["dogs", "cats"]), atol=1e-6)
    assert np.abs(vectors[0] - vectors[1]).max() > 0.01


@pytest.mark.parametrize("way", ["legacy", "parallel", "gpu", "half precision", "without the rest"])
def test_every_way_of_saving_is_read(
    sp_model: Path, tmp_path: Path, original: Original, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    changed: dict[str, Any] = {}
    if way == "parallel":
        state = original.module.state_dict()
        changed["state_dict"] = {f"module.{name}": value for name, value in state.items()}
    elif way == "half precision":
        changed["state_dict"] = {name: value.half() for name, value in original.module.state_dict().items()}
    elif way == "without the rest":
        changed = dict.fromkeys(("vocab_fr", "optimizer", "epoch"), "left out")
    elif way == "gpu":
        monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
    checkpoint = original.save(tmp_path / "model.pt", legacy=way == "legacy", **changed)
    monkeypatch.undo()
    model = open_checkpoint(checkpoint, sp_model)
    tolerance = 2e-3 if way == "half precision" else 1e-6
    add_unseen(whole := copy.deepcopy(original), model)
    expected = whole.embed(visible(TEXTS))
    np.testing.assert_allclose(model.embed_raw_text(TEXTS), expected, rtol=0, atol=tolerance)


def test_config_says_what_the_checkpoint_does(sp_model: Path, tmp_path: Path, original: Original) -> None:
    checkpoint = original.save(tmp_path / "model.para.lc.100.pt")
    import_checkpoint(checkpoint, sp_model, tmp_path / "folder", languages=["en"])
    config = load_model(tmp_path / "folder").config
    assert (config["model"], config["languages"], config["lowercase"]) == ("model.para.lc.100", ["en"], True)
    assert (config["encoder"], config["dimension"], config["unit"]) == ("averaged_subwords", 24, "subword")
    assert config["training"] == {
        "epochs": 25, "dimension": 24, "batch_size": 128, "dropout": 0.0, "megabatch": 100,
        "megabatch_anneal": 150, "margin": 0.4, "learning_rate": 0.001,
    }  # fmt: skip


def test_an_imported_model_has_a_card_and_is_of_other_libraries(
    sp_model: Path, tmp_path: Path, original: Original
) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    checkpoint = original.save(tmp_path / "model.pt")
    import_checkpoint(checkpoint, sp_model, tmp_path / "folder", languages=["en"])
    card = (tmp_path / "folder" / "README.md").read_text(encoding="utf-8")
    matter = yaml.safe_load(card.split("---\n")[1])
    assert matter["language"] == ["en"]
    assert not {"license", "model-index"} & matter.keys()
    named = [checkpoint, sp_model, tmp_path / "folder" / "model.safetensors"]
    for path in named:
        assert f"| {path.name} | `{sha256(path)}` |" in card
    assert "loads in sentence-transformers and model2vec" in card
    assert {path.name for path in (tmp_path / "folder").iterdir()} == {
        "README.md", "config.json", "model.safetensors", "modules.json", "sentencepiece.model",
        "tokenizer.json",
    }  # fmt: skip


@pytest.mark.parametrize("way", ["lstm", "other pieces"])
def test_what_other_libraries_cannot_load_is_left_out_and_said(
    sp_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    reason = "it consists of more than one average."
    if way == "other pieces":
        pytest.importorskip("tokenizers", reason="tokenizers is not installed")
        cut = formats.tokens
        monkeypatch.setattr(
            formats, "tokens", lambda folder: lambda texts: cut(folder)([t[1:] for t in texts])
        )
        reason = "sentences.txt: tokenizer.json does not agree with the model: "
    original = Original(sp_model, SENTENCES, **({"model": "lstm"} if way == "lstm" else {}))
    import_checkpoint(original.save(tmp_path / "model.pt"), sp_model, tmp_path / "folder")
    card = (tmp_path / "folder" / "README.md").read_text(encoding="utf-8")
    assert f"Other libraries cannot load the folder: {reason}" in card
    assert "SentenceTransformer" not in card
    assert {path.name for path in (tmp_path / "folder").iterdir()} == {
        "README.md", "config.json", "model.safetensors", "sentencepiece.model",
    }  # fmt: skip


def test_another_models_folder_is_left_as_it_is(sp_model: Path, tmp_path: Path, original: Original) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "README.md").write_text("another's")
    with pytest.raises(InputError, match="folder: already exists and is not an empty folder"):
        import_checkpoint(original.save(tmp_path / "model.pt"), sp_model, tmp_path / "folder")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["README.md"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt()])
def test_a_folder_is_whole_or_not_there(
    sp_model: Path, tmp_path: Path, original: Original, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    checkpoint = original.save(tmp_path / "model.pt")
    # The error comes after the weights are written.
    monkeypatch.setattr("paraphrastic.model.files.write_json", fail)
    expected = InputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as raised:
        import_checkpoint(checkpoint, sp_model, tmp_path / "folder")
    if expected is InputError:
        assert str(raised.value) == f"{tmp_path / 'folder'}: cannot be written: no space left on the disk"
    assert list(tmp_path.iterdir()) == [checkpoint]


def test_models_of_tokenized_text_are_told_so(sp_model: Path, tmp_path: Path) -> None:
    # Earlier code saved models without these settings and always lower-cased.
    original = Original(sp_model, SENTENCES)
    del original.arguments["tokenize"], original.arguments["lower_case"]
    checkpoint = original.save(tmp_path / "model.pt")
    with pytest.raises(InputError, match="the Moses tokenizer had cut"):
        open_checkpoint(checkpoint, sp_model)
    model = open_checkpoint(checkpoint, sp_model, tokenized=True)
    add_unseen(original, model)
    np.testing.assert_allclose(model.embed_raw_text(TEXTS), original.embed(visible(TEXTS)), rtol=0, atol=1e-6)
    assert model.config["tokenized"] is True


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_spellings_change_no_piece(tmp_path: Path, model_type: str) -> None:
    model = train_sentencepiece(SENTENCES, tmp_path / "sp.model", model_type=model_type)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    spelled = add_unknown_pieces(processor, list(vocabulary_of(model, SENTENCES)))
    assert spelled.get_piece_size() > processor.get_piece_size() + 8
    for kind in (int, str):
        assert processor.encode(TEXTS, out_type=kind) == spelled.encode(TEXTS, out_type=kind)


def test_models_that_cannot_tell_spellings_apart_are_refused(tmp_path: Path) -> None:
    model = train_sentencepiece(SENTENCES, tmp_path / "word.model", model_type="word")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    with pytest.raises(InputError, match="its type must be unigram or bpe"):
        add_unknown_pieces(processor, list(vocabulary_of(model, SENTENCES)))


def test_the_example_of_the_command_runs(
    sp_model: Path, tmp_path: Path, original: Original, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["import-checkpoint", "--help"])
    example = re.search(r"^  paraphrastic (.*?\n)\n", capsys.readouterr().out, re.M | re.S)
    assert example
    original.save(Path("model.para.lc.100.pt"))
    Path("paranmt.model").write_bytes(sp_model.read_bytes())
    assert main(shlex.split(example[1].replace("\\\n", " "))) == 0
    assert capsys.readouterr().out == "models/paranmt: 57 pieces, 24 dimensions\n"
    model = load_model("models/paranmt")
    assert (model.config["model"], model.config["languages"]) == ("paranmt", ["en"])


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["import-checkpoint", "none.pt", "--sp-model", "none.model"]
    arguments += ["--output", str(tmp_path / "model")]
    assert main(arguments) == 1
    assert capsys.readouterr().err == "paraphrastic: error: none.pt: is not a file\n"
    assert not (tmp_path / "model").exists()
    with pytest.raises(SystemExit):
        main([*arguments, "--languages", "en-en"])
    assert "'en-en' is not a language such as en, or a pair" in capsys.readouterr().err
