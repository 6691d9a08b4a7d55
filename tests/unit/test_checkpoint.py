"""Test that models of the authors' code keep their vectors, and that loading one runs no code."""

import collections
import contextlib
import copy
import os
import pickle
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from original_code import RARE, SENTENCES, UNKNOWN, Original, corpus, train_sentencepiece
from paraphrastic import InputError, load_model
from paraphrastic.base.text import visible
from paraphrastic.cli import main
from paraphrastic.interop.checkpoint import import_checkpoint, open_checkpoint
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.vocabulary import ordinary_pieces

# These texts have capitals, old and new runs of unknown characters, text that normalization turns into
# known pieces, every kind of white space, and words that look like the names of pieces.
HARD = [
    "The OLD dog", "JAZZ", "zzz", "jazzquiz", "日本", "日本語", "zoo" * 40, "ℕ of dogs ™", "½ of 42!?",
    "ﬁnds", "İstanbul ΑΣ", "a\x85b", "z\x85z", "\u3000a\u00a0b", "dog\u200bcat", UNKNOWN, "<s> </s> <unk>",
    "𝐀 dog", "▁▁ a", "the", "\t the \n", "?" * 300, "1984 42 50%", "dé\u0301jà", "…", "a" * 500,
]  # fmt: skip
TEXTS = [*corpus(100, seed=5), *RARE, *HARD]


def with_unseen(original: Original, model: Any, *, language: str = "", second: bool = False) -> list[str]:
    """Give the original the rows that an import adds; return the pieces that it had none for."""
    processor = model.processor
    pieces = [(each, processor.id_to_piece(each)) for each in ordinary_pieces(processor)]
    vocab = original.vocab_fr if second and original.vocab_fr else original.vocab
    unseen = [(each, piece) for each, piece in pieces if piece not in vocab]
    name = "embeddings" if isinstance(model, AverageEncoder) else f"0.embeddings{language and '.'}{language}"
    if original.arguments["zero_unk"] and unseen:
        rows = model.tensors()[name][[each for each, _ in unseen]]
        original.with_rows([piece for _, piece in unseen], rows, second=second)
    return [piece for _, piece in unseen]


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"zero_unk": 0},
        {"lower_case": 0},
        {"model": "lstm"},
        {"model": "lstm", "pool": "max"},
        {"model": "lstm", "zero_unk": 0, "lower_case": 0},
    ],
    ids=str,
)
def test_vectors_are_the_originals(sp_model: Path, tmp_path: Path, kind: dict[str, Any]) -> None:
    original = Original(sp_model, SENTENCES, **kind)
    checkpoint = original.save(tmp_path / "model.para.lc.100.pt")
    opened = load_model(checkpoint, sp_model=sp_model)
    assert isinstance(opened, CompositeEncoder if kind.get("model") else AverageEncoder)
    vectors, texts = opened.embed_raw_text(TEXTS), visible(TEXTS)
    before = np.abs(vectors - original.embed(texts)).max(axis=1)
    # Texts with a piece that the training text lacks differ; all others have the original's vectors.
    unseen = with_unseen(original, opened)
    assert {"k", "s"} <= set(unseen)
    lower = str.lower if kind.get("lower_case", 1) else str
    cut = original.processor.encode([lower(text) for text in texts], out_type=str)
    has_unseen = np.array([not set(unseen).isdisjoint(pieces) for pieces in cut])
    assert 0 < has_unseen.sum() < len(texts) / 2
    assert (before[~has_unseen] < 1e-6).all()
    expected = original.embed(texts)
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)
    # An imported folder holds the same model.
    import_checkpoint(checkpoint, sp_model, tmp_path / "folder", languages=["en"])
    folder = load_model(tmp_path / "folder")
    assert folder.digest == opened.digest
    config = folder.config
    assert (config["model"], config["languages"]) == ("model.para.lc.100", ["en"])
    assert config["lowercase"] == kind.get("lower_case", 1)
    files = {"README.md", "config.json", "model.safetensors", "sentencepiece.model"}
    others = set() if kind.get("model") else {"modules.json", "tokenizer.json"}
    assert {path.name for path in (tmp_path / "folder").iterdir()} == files | others
    assert len((tmp_path / "folder" / "README.md").read_text().splitlines()) < 5


@pytest.mark.parametrize("share", [(0, 1), (1, 0), (0, 0)], ids=["tables", "lstms", "both"])
@pytest.mark.parametrize("kind", ["avg", "lstm"])
def test_sides_of_their_own_are_languages(
    sp_model: Path, tmp_path: Path, kind: str, share: tuple[int, int]
) -> None:
    original = Original(sp_model, SENTENCES, model=kind, share_vocab=share[0], share_encoder=share[1])
    checkpoint, texts = original.save(tmp_path / "model.pt"), visible(TEXTS)
    if kind == "avg" and share[0]:
        opened = open_checkpoint(checkpoint, sp_model)
        with_unseen(original, opened)
        np.testing.assert_allclose(opened.embed_raw_text(TEXTS), original.embed(texts), atol=1e-6)
        return
    for languages in ([], ["en"], ["en", "en"]):
        with pytest.raises(InputError, match=r"model\.pt: .*--languages"):
            open_checkpoint(checkpoint, sp_model, languages=languages)
    model = import_checkpoint(checkpoint, sp_model, tmp_path / "folder", languages=["fr", "en"])
    assert load_model(tmp_path / "folder").digest == model.digest
    with_unseen(original, model, language="fr")
    if not share[0]:
        with_unseen(original, model, language="en", second=True)
    for second, language in enumerate(["fr", "en"]):
        expected = original.embed(texts, second=bool(second))
        found = model.embed_raw_text(TEXTS, language=language)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("form", ["legacy", "parallel", "gpu", "half precision", "views", "without the rest"])
def test_every_form_of_a_checkpoint_is_read(
    sp_model: Path, tmp_path: Path, original: Original, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    state, changed = original.module.state_dict(), {}
    if form == "parallel":
        changed = {"state_dict": {f"module.{name}": value for name, value in state.items()}}
    elif form == "half precision":
        changed = {"state_dict": {name: value.half() for name, value in state.items()}}
    elif form == "views":
        view = torch._neg_view(-state["embedding.weight"].double()).T.contiguous().T
        changed = {"state_dict": {"embedding.weight": torch.nn.Parameter(view)}}
    elif form == "without the rest":
        changed = dict.fromkeys(("vocab_fr", "optimizer", "epoch"), "left out")
    elif form == "gpu":
        monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
    checkpoint = original.save(tmp_path / "model.pt", legacy=form == "legacy", **changed)
    monkeypatch.undo()
    model = open_checkpoint(checkpoint, sp_model)
    with_unseen(whole := copy.deepcopy(original), model)
    tolerance = 2e-3 if form == "half precision" else 1e-6
    np.testing.assert_allclose(
        model.embed_raw_text(TEXTS), whole.embed(visible(TEXTS)), rtol=0, atol=tolerance
    )


def test_models_of_tokenized_text_are_told_so(sp_model: Path, tmp_path: Path) -> None:
    # Earlier code saved models without these settings and always lower-cased.
    original = Original(sp_model, SENTENCES)
    del original.arguments["tokenize"], original.arguments["lower_case"]
    checkpoint = original.save(tmp_path / "model.pt")
    with pytest.raises(InputError, match=r"model\.pt: .*Moses.*--tokenized"):
        open_checkpoint(checkpoint, sp_model)
    model = open_checkpoint(checkpoint, sp_model, tokenized=True)
    assert (model.config["tokenized"], model.config["lowercase"]) == (True, True)


class Bomb:
    """An object that creates a file when its pickle is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("legacy", [False, True], ids=["new", "legacy"])
def test_nothing_in_a_file_is_run(sp_model: Path, tmp_path: Path, original: Original, legacy: bool) -> None:
    bomb, other = Bomb(tmp_path / "boom"), collections.UserDict()
    for key, value, name in (
        ("args", bomb, "system"), ("optimizer", bomb, "system"), ("epoch", other, "collections.UserDict"),
    ):  # fmt: skip
        checkpoint = original.save(tmp_path / "model.pt", legacy=legacy, **{key: value})
        with pytest.raises(InputError, match=rf"model\.pt: .*{name}"):
            open_checkpoint(checkpoint, sp_model)
    checkpoint.write_bytes(pickle.dumps(bomb))
    with pytest.raises(InputError, match=r"model\.pt: "):
        open_checkpoint(checkpoint, sp_model)
    assert not (tmp_path / "boom").exists()


def namespace(original: Original, **changed: Any) -> dict[str, Any]:
    arguments = {**original.arguments, **changed}
    return {
        "args": type(original.content()["args"])(**{k: v for k, v in arguments.items() if v != "left out"})
    }


HUGE = 10**10


def expanded(*shape: int) -> torch.Tensor:
    """A tensor that repeats one number so often that it would need hundreds of gigabytes."""
    return torch.zeros(1).expand(*shape)


def weights(tensor: Any) -> dict[str, Any]:
    return {"state_dict": {"embedding.weight": tensor}}


TABLES: dict[str, Callable[[torch.Tensor], Any]] = {
    "one axis": lambda ones: ones[:, 0], "NaN": lambda ones: ones * torch.nan,
    "too large": lambda ones: ones * 1e30, "long": lambda _: expanded(HUGE, 24),
    "expanded": lambda _: expanded(36, 24), "integers": torch.Tensor.long, "a list": torch.Tensor.tolist,
    "sparse": torch.Tensor.to_sparse, "compressed": torch.Tensor.to_sparse_csr,
    "nested": lambda ones: torch.nested.nested_tensor([ones]), "not there": lambda ones: ones.to("meta"),
    "complex": lambda ones: ones.to(torch.complex64), "8 bits": lambda ones: ones.to(torch.float8_e4m3fn),
}  # fmt: skip
# What a stranger's file has instead, and what the message names.
FAULTS: dict[str, tuple[Any, str]] = {
    "no weights": (lambda o: {"state_dict": "left out"}, "state_dict"),
    "other arguments": (lambda o: {"args": {"model": "avg"}}, "not a checkpoint"),
    "an average of maxima": (lambda o: namespace(o, pool="max"), "pool"),
    "another model": (lambda o: namespace(o, model=["gru"]), "model"),
    "n-grams": (lambda o: namespace(o, ngrams=3), "ngrams"),
    "no setting": (lambda o: namespace(o, zero_unk="left out"), "zero_unk"),
    "no LSTM": (lambda o: namespace(o, model="lstm"), "lstm.weight_ih_l0"),
    "no table": (lambda o: {"state_dict": {}}, "embedding.weight"),
    "keys that are numbers": (lambda o: {"state_dict": {5: 1}}, "not a checkpoint"),
    "a row too far": (lambda o: {"vocab": {**o.vocab, UNKNOWN: 36}}, "vocab"),
    "a negative row": (lambda o: {"vocab": {**o.vocab, UNKNOWN: -1}}, "vocab"),
    "a row with a fraction": (lambda o: {"vocab": {**o.vocab, UNKNOWN: 1.0}}, "vocab"),
    "a huge row": (lambda o: {"vocab": {**o.vocab, UNKNOWN: 10**400}}, "vocab"),
    "a row that is a list": (lambda o: {"vocab": {**o.vocab, UNKNOWN: [[1]]}}, "not a checkpoint"),
    "no unknown piece": (lambda o: {"vocab": {f"x{row}": row for row in range(36)}}, UNKNOWN),
    "a list of pieces": (lambda o: {"vocab": list(o.vocab)}, "not a checkpoint"),
    "half a surrogate pair": (lambda o: {"vocab": {**o.vocab, "\ud800": 0}}, "model.pt"),
    "a piece too many": (lambda o: {"vocab": {**o.vocab, "☃": 36}}, "embedding.weight"),
    "a wide table": (lambda o: weights(expanded(36, HUGE)) | namespace(o, dim=HUGE), "embedding.weight"),
    "an empty table": (lambda o: weights(torch.zeros(36, 0)) | namespace(o, dim=0), "embedding.weight"),
    "a large dimension": (lambda o: namespace(o, dim=10**400), "embedding.weight"),
    "a dimension in text": (lambda o: namespace(o, dim="24"), "embedding.weight"),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", [*FAULTS, *TABLES])
def test_what_is_wrong_with_a_checkpoint_is_one_line(
    sp_model: Path, tmp_path: Path, original: Original, kind: str
) -> None:
    assert len(original.vocab) == 36
    change, named = FAULTS.get(kind, (lambda _: weights(TABLES[kind](torch.ones(36, 24))), "model.pt"))
    checkpoint = original.save(tmp_path / "model.pt", **change(original))
    with pytest.raises(InputError, match=r"^\S+model\.pt: ") as caught:
        open_checkpoint(checkpoint, sp_model)
    said = str(caught.value)
    assert named in said
    assert "\n" not in said
    assert len(said) < 400


def test_wrong_sizes_of_an_lstm(sp_model: Path, tmp_path: Path) -> None:
    original = Original(sp_model, SENTENCES, model="lstm")
    state = original.module.state_dict()
    for name, value in (
        ("lstm.bias_hh_l0_reverse", torch.zeros(39)),
        ("lstm.weight_ih_l0", torch.zeros(40, 23)),
        ("lstm.weight_hh_l0", torch.zeros(44, 10)),
        ("lstm.weight_hh_l0", expanded(4 * 10**8, 10**8)),
    ):
        checkpoint = original.save(tmp_path / "model.pt", state_dict={**state, name: value})
        with pytest.raises(InputError, match=rf"model\.pt: {name} "):
            open_checkpoint(checkpoint, sp_model)


@pytest.mark.parametrize("legacy", [False, True], ids=["new", "legacy"])
def test_damaged_files_are_named(sp_model: Path, tmp_path: Path, original: Original, legacy: bool) -> None:
    path = tmp_path / "model.pt"
    whole = original.save(path, legacy=legacy).read_bytes()
    for length in (0, 1, 5, 200, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"model\.pt: is not readable"):
            open_checkpoint(path, sp_model)
    generator = np.random.default_rng(1)
    for _ in range(60):
        damaged = bytearray(whole)
        for place in generator.integers(0, min(len(whole), 6000), 3):
            damaged[place] = generator.integers(256)
        path.write_bytes(damaged)
        # The damage is reported or changes only a number in the model; no other exception may come.
        with contextlib.suppress(InputError):
            open_checkpoint(path, sp_model)


def test_files_that_do_not_fit_are_named(sp_model: Path, tmp_path: Path, original: Original) -> None:
    checkpoint = original.save(tmp_path / "model.pt")
    for path, sp, cause in (
        (tmp_path / "no.pt", sp_model, r"no\.pt: .*No such file"),
        (tmp_path, sp_model, "is not readable as a checkpoint: Is a directory"),
        (checkpoint, tmp_path / "no.model", r"no\.model: .*No such file"),
        (checkpoint, None, r"model\.pt: .*sp_model"),
        (None, sp_model, "name the checkpoint"),
    ):
        with pytest.raises(InputError, match=cause):
            load_model(path, sp_model=sp)
    options: list[dict[str, Any]] = [{"character_coverage": 1.0}, {"model_type": "word"}]
    for backwards, option in zip((True, False), options, strict=True):
        lines = [sentence[::-1] if backwards else sentence for sentence in SENTENCES]
        other = train_sentencepiece(lines, tmp_path / "other.model", **option)
        with pytest.raises(InputError, match=r"model\.pt: .*sentencepiece model"):
            open_checkpoint(checkpoint, other)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "README.md").write_text("another's")
    with pytest.raises(InputError, match=r"folder: already exists"):
        import_checkpoint(checkpoint, sp_model, tmp_path / "folder")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["README.md"]


def test_the_command(
    sp_model: Path, tmp_path: Path, original: Original, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        main(["import-checkpoint", "--help"])
    shown = capsys.readouterr().out
    assert shown.count("\n") <= 40
    example = re.search(r"^  paraphrastic (.*?\n)\n", shown, re.M | re.S)
    assert example
    arguments = shlex.split(example[1].replace("\\\n", " "))
    assert main(arguments) == 1
    assert "model.para.lc.100.pt: " in capsys.readouterr().err
    assert not Path("models/paranmt").exists()
    original.save(Path("model.para.lc.100.pt"))
    Path("paranmt.model").write_bytes(sp_model.read_bytes())
    assert main(arguments) == 0
    assert "models/paranmt: 57 pieces, 24 dimensions" in capsys.readouterr().out
    model = load_model("models/paranmt")
    assert (model.config["model"], model.config["languages"]) == ("paranmt", ["en"])
    with pytest.raises(SystemExit):
        main([*arguments, "--languages", "en-en"])
    assert "en-en" in capsys.readouterr().err
