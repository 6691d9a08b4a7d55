"""Test Transformers with tiny ones of random weights: training, folders, other libraries, and bad input."""

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from pair_files import write_pairs
from small_corpus import sentence_pairs
from tiny_transformer import write_bert
from torch import nn
from training_runs import CONFIG, SETTINGS, history
from unicode_text import ODD

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, write_json
from paraphrastic.base.text import prepare_text
from paraphrastic.model.architecture import Architecture, Transformer
from paraphrastic.model.lstm_pooling import LastState
from paraphrastic.model.transformer_tokens import tokenizer_digest
from paraphrastic_pipeline.training.autograd import AutogradEngine
from paraphrastic_pipeline.training.checkpoint import Progress
from paraphrastic_pipeline.training.inputs import TrainingInputs
from paraphrastic_pipeline.training.loop import megabatches
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.train import train_model
from paraphrastic_pipeline.training.transformer import initialize_transformer, load_tokenizer, tokenize_pairs

PAIRS = sentence_pairs(100)
RUN = replace(
    SETTINGS,
    loss="multiple_negatives",
    engine="auto",
    optimizer="adamw",
    weight_decay=0.01,
    warmup=0.1,
    max_gradient_norm=1.0,
    learning_rate=1e-3,
    learning_rate_schedule="linear",
    precision="auto",
    epochs=2,
    dropout=0.1,
)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert"), [sentence for pair in PAIRS for sentence in pair])


@pytest.fixture(scope="module")
def data(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"), bert)


def write_data(folder: Path, bert: Path) -> Path:
    pairs = write_pairs(folder / "pairs.parquet", PAIRS)
    architecture = {"transformer": {"place": str(bert)}}
    tokenize_pairs(pairs, folder / "train.h5", architecture=architecture, lowercase=True)
    return folder / "train.h5"


def inputs(data: Path, bert: Path, pooling: Any = "mean", **changes: Any) -> TrainingInputs:
    size = 24 if pooling == "lstm_last" else None
    transformer = Transformer(place=str(bert), pooling=pooling, lstm_size=size)
    settings = replace(RUN, **changes)
    architecture = Architecture(transformer=transformer)
    return TrainingInputs(
        dataset=data, sentencepiece=[], settings=settings, architecture=architecture, config=CONFIG
    )


def trained(output: Path, given: TrainingInputs, *, minutes: float = 60) -> Path:
    train_model(given, output, threads=1, checkpoint_minutes=minutes)
    return output


def in_sentence_transformers(folder: Path, **options: Any) -> Any:
    # Imported here, since it takes seconds, and each process that runs tests reads this module.
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", **options)


class Plain(nn.Module):
    """The encoder written out: a BERT, and a mean or an LSTM over its tokens."""

    def __init__(self, bert: Path, start: dict[str, torch.Tensor], size: int | None) -> None:
        super().__init__()
        self.bert = transformers.AutoModel.from_pretrained(
            bert, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
        )
        self.lstm = nn.LSTM(32, size, batch_first=True) if size else None
        if self.lstm is not None:
            names = {name: f"encoder.1.encoder.{name}" for name, _ in self.lstm.named_parameters()}
            self.lstm.load_state_dict({name: start[theirs] for name, theirs in names.items()})

    def forward(self, text: dict[str, torch.Tensor]) -> torch.Tensor:
        tokens, mask = self.bert(**text).last_hidden_state, text["attention_mask"]
        if self.lstm is None:
            return (tokens * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        vectors = []
        for own, length in zip(tokens, mask.sum(1), strict=True):
            _, (state, _) = self.lstm(own[None, :length])
            vectors.append(state[0, 0])
        return torch.stack(vectors)


@pytest.mark.parametrize("pooling", ["mean", "lstm_last"])
def test_the_same_steps_in_plain_torch_give_the_same_parameters(
    pooling: str, data: Path, bert: Path, tmp_path: Path
) -> None:
    """Equation 2 and section IV-C of Dadas 2022, with the schedule of transformers."""
    given = inputs(data, bert, pooling, dropout=0.0, epochs=2)
    transformer = given.architecture.transformer
    assert transformer
    with PairDataset(data) as pairs:
        ours = initialize_transformer(given)[0]
        # Copies, since the engine changes the parameters in place.
        start = {name: value.detach().clone() for name, value in ours.named_parameters()}
        steps = 2 * math.ceil(len(pairs) / RUN.batch_size)
        engine = AutogradEngine(ours, given.settings, steps=steps)
        plain = Plain(bert, start, transformer.lstm_size)
        decayed = [each for each in plain.parameters() if each.dim() > 1]
        spared = [each for each in plain.parameters() if each.dim() < 2]
        groups = [{"params": decayed, "weight_decay": 0.01}, {"params": spared, "weight_decay": 0.0}]
        optimizer = torch.optim.AdamW(groups, lr=RUN.learning_rate)
        schedule = transformers.get_linear_schedule_with_warmup(optimizer, math.ceil(0.1 * steps), steps)
        n_steps = 0
        for epoch in range(2):
            for sentences, _ in megabatches(pairs, given.settings, Progress(epoch, batches_read=n_steps)):
                n = len(sentences) // 2
                for start_of in range(0, n, RUN.batch_size):
                    chosen = np.arange(start_of, min(n, start_of + RUN.batch_size))
                    own = np.concatenate([chosen, chosen + n])
                    found = engine.step(sentences, own, np.ones((len(chosen), len(chosen)), np.bool_))
                    lists = [
                        torch.from_numpy(sentences.part(row, row + 1).tokens.astype(np.int64)) for row in own
                    ]
                    ids = nn.utils.rnn.pad_sequence(lists, batch_first=True)
                    lengths = torch.tensor([len(each) for each in lists])
                    mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
                    first, second = nn.functional.normalize(
                        plain({"input_ids": ids, "attention_mask": mask})
                    ).chunk(2)
                    scores = 20.0 * first @ second.T
                    loss = -(scores.diag() - scores.exp().sum(1).log()).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
                    optimizer.step()
                    schedule.step()
                    n_steps += 1
                    assert found == pytest.approx(loss.item(), rel=1e-4)
    assert n_steps == steps
    theirs = dict(plain.bert.named_parameters())
    for name, value in ours.named_parameters():
        if name.startswith("encoder.0.model.") and "pooler" not in name:
            other = theirs[name.removeprefix("encoder.0.model.")]
            torch.testing.assert_close(value, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("pooling", "loss"), [("mean", "margin"), ("cls", "multiple_negatives"), ("lstm_last", "margin")]
)
def test_a_folder_is_one_of_sentence_transformers(
    pooling: str, loss: str, data: Path, bert: Path, tmp_path: Path
) -> None:
    folder = trained(tmp_path / "model", inputs(data, bert, pooling, loss=loss))
    ours = load_model(folder)
    theirs = in_sentence_transformers(folder, trust_remote_code=pooling == "lstm_last")
    sentences = ["A man plays.", "Ein Mann spielt, was?", "café 42 🌍 [CLS]", "two dogs " * 5_000, "x"]
    np.testing.assert_allclose(ours.embed_raw_text(sentences), theirs.encode(sentences), atol=1e-5)
    assert ours.dim == (24 if pooling == "lstm_last" else 32)


def test_odd_text_is_prepared_by_the_tokenizer_in_training_in_use_and_elsewhere(
    bert: Path, tmp_path: Path
) -> None:
    # This class of tokenizers would make its own normalizer whenever a folder is loaded.
    start = tmp_path / "start"
    shutil.copytree(bert, start)
    letters = sorted(
        {letter for text in prepare_text([*ODD, "abc"], lowercase=True) for letter in text} - {" "}
    )
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (start / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    transformers.BertTokenizer(
        str(start / "vocab.txt"), do_lower_case=False, strip_accents=False, tokenize_chinese_chars=False
    ).save_pretrained(start)
    model = transformers.AutoModel.from_pretrained(start)
    model.resize_token_embeddings(len(pieces))
    model.save_pretrained(start)
    data = write_data(tmp_path, start)
    transformer = Transformer(place=str(start))
    cut = load_tokenizer(transformer, lowercase=True)
    assert "[UNK]" not in cut.tokenize(" ".join(ODD[:4]))
    plain = transformers.AutoTokenizer.from_pretrained(start)
    for text, clean in zip(ODD, prepare_text(ODD, lowercase=True), strict=True):
        assert cut.tokenize(text) == plain.tokenize(clean), ascii(text)
    folder = trained(tmp_path / "model", inputs(data, start, epochs=0))
    ours: Any = load_model(folder)
    theirs = in_sentence_transformers(folder)
    assert {tokenizer_digest(each.tokenizer) for each in (ours, theirs)} == {tokenizer_digest(cut)}
    np.testing.assert_allclose(ours.embed_raw_text(ODD), theirs.encode(ODD), atol=1e-5)


def test_an_empty_sentence_is_zero_and_neighbours_do_not_matter(
    data: Path, bert: Path, tmp_path: Path
) -> None:
    model = load_model(trained(tmp_path / "model", inputs(data, bert, "lstm_last", epochs=1)))
    sentences = ["", "a man", " \n", "a much longer sentence about a man and a dog", "word " * 10_000]
    together = model.embed_raw_text(sentences, threads=2)
    alone = np.concatenate([model.embed_raw_text([each]) for each in sentences])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert not together[[0, 2]].any()
    assert model.score_raw_text([("a man", "")]) == [0.0]
    assert model.embed_raw_text([]).shape == (0, 24)


def weights(folder: Path) -> dict[str, Any]:
    return {name: value.numpy() for name, value in load_state(folder).items()}


def load_state(folder: Path) -> dict[str, torch.Tensor]:
    model: Any = load_model(folder)
    state: dict[str, torch.Tensor] = model.modules.state_dict()
    return state


def test_an_lstm_in_half_precision_takes_sentences_of_one_length(bert: Path) -> None:
    lstm = LastState(8, 16, num_layers=1, bidirectional=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for lengths in ([7] * 10, [7], [7, 6]):
            mask = torch.arange(7) < torch.tensor(lengths)[:, None]
            vectors = torch.randn(len(lengths), 7, 8, dtype=torch.bfloat16)
            states = lstm({"token_embeddings": vectors, "attention_mask": mask.long()})["token_embeddings"]
            assert states.shape == (len(lengths), 7, 16)
            assert torch.isfinite(states).all()
            assert states.dtype == torch.float32


def test_half_precision_comes_close(data: Path, bert: Path, tmp_path: Path) -> None:
    full, half = (
        trained(tmp_path / precision, inputs(data, bert, precision=precision))
        for precision in ("float32", "bfloat16")
    )
    losses = [history(folder / "model.safetensors")[-1]["loss"] for folder in (full, half)]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)
    # The losses may round to the same digits, but the weights cannot be the same.
    before, after = weights(full), weights(half)
    assert any((before[name] != after[name]).any() for name in before)


def test_the_states_of_padding_do_not_count() -> None:
    torch.manual_seed(0)
    module = LastState(4, 6, num_layers=1, bidirectional=False)
    tokens = torch.randn(2, 5, 4)
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])
    found = module({"token_embeddings": tokens, "attention_mask": mask})
    assert found["token_embeddings"].shape[:2] == found["attention_mask"].shape == (2, 3)
    alone, _ = module.encoder(tokens[1:, :2])
    torch.testing.assert_close(found["token_embeddings"][1, 1], alone[0, 1])


def test_bad_transformers_are_explained(
    data: Path, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def message(place: str) -> str:
        architecture = {"transformer": {"place": place}}
        with pytest.raises(InputError) as caught:
            tokenize_pairs(data.with_name("pairs.parquet"), tmp_path / "x.h5", architecture=architecture)
        assert not (tmp_path / "x.h5").exists()
        return str(caught.value)

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    asked = message("nobody/nothing-here")
    assert asked.startswith("nobody/nothing-here: transformers cannot load it from a folder or the Hugging")
    (tmp_path / "empty").mkdir()
    assert "transformers cannot load it" in message(str(tmp_path / "empty"))


@pytest.mark.parametrize("name", ["modules.json", "pooling/pooling/config.json", "tokenizer.json"])
def test_a_damaged_folder_is_named(name: str, data: Path, bert: Path, tmp_path: Path) -> None:
    folder = trained(tmp_path / "model", inputs(data, bert, epochs=0))
    (folder / name).write_text("{}")
    with pytest.raises(InputError, match=f"^{folder}: "):
        load_model(folder)
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"^{folder}: "):
        load_model(folder)


def test_a_folder_from_a_stranger_does_not_lead_out_of_it(data: Path, bert: Path, tmp_path: Path) -> None:
    folder = trained(tmp_path / "model", inputs(data, bert, epochs=0))
    for path in ("../elsewhere", "/etc", "pooling/../../elsewhere", 5):
        modules = read_json(folder / "modules.json")
        modules[1]["path"] = path
        write_json(folder / "modules.json", modules)
        with pytest.raises(InputError, match=f"^{folder}: "):
            load_model(folder)


@pytest.mark.parametrize("sizes", [(1 << 40, 6, 1), (4, 1 << 40, 1), (4, 6, 1 << 40), (4, 0, 1)])
def test_an_lstm_has_a_size_that_can_be_made(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="an LSTM of one layer and at most 65,536 dimensions is needed"):
        LastState(*sizes)
