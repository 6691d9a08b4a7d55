"""Models that are Transformers, in a folder that sentence-transformers loads as well.

The folder is one of sentence-transformers: a Transformer at its root, then perhaps an LSTM, the pooling, and
the normalization, each in a folder of its own. `config.json` is the Transformer's, with our own entries among
those of Hugging Face, whose libraries keep entries that they do not know.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paraphrastic.base.arrays import Bool, Int32, Int64
from paraphrastic.base.errors import InputError, on_one_line, shown
from paraphrastic.base.files import atomic_output, is_plain_path, read_json, sha256, write_json
from paraphrastic.base.text import prepare_text
from paraphrastic.base.text_patterns import TOKENIZERS, cleaning, final_sigma
from paraphrastic.model.architecture import Transformer
from paraphrastic.model.encoder import SentenceEncoder, Vectors
from paraphrastic.model.files import CARD, CONFIG, MODULES, TOKENIZER, TRANSFORMER, WEIGHTS
from paraphrastic.model.hub import load_from_hub, not_installed

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

# Files of such a folder besides those of other models; the modules after the Transformer are in `POOLING`.
TOKENIZER_CONFIG = "tokenizer_config.json"
DESCRIPTIONS = ("config_sentence_transformers.json", "sentence_bert_config.json")
POOLING = "pooling"
TRANSFORMER_FILES = (WEIGHTS, CONFIG, MODULES, TOKENIZER, TOKENIZER_CONFIG, *DESCRIPTIONS)
# A batch has at most so many sentences, and so many tokens with its padding.
_BATCH_SENTENCES, _BATCH_TOKENS = 64, 8192
# A tokenizer without a limit has a larger number of tokens as its limit.
NO_LIMIT = 1 << 30
# Transformers that count positions from the id of their padding.
_LATE_POSITIONS = {
    "camembert",
    "data2vec-text",
    "longformer",
    "mpnet",
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
}


def load_modules(
    transformer: Transformer, *, lowercase: bool, dropout: float | None = None, seed: int = 0
) -> "SentenceTransformer":
    """Put a Transformer and its pooling together, in sentence-transformers' modules.

    Args:
        transformer: the Transformer, whose parameters are loaded, and the pooling.
        lowercase: whether sentences are lower-cased; see `load_tokenizer`.
        dropout: the probability of dropout in the layers; None for the Transformer's own.
        seed: seed of the weights of an LSTM.

    Raises:
        InputError: the extra `neural` is not installed, the Transformer cannot be loaded, or it cannot read
            as many tokens as that.
    """
    try:
        # Imported late: the packages are optional and take seconds to import.
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
        from sentence_transformers.sentence_transformer.modules import Transformer as Layers
        from transformers.utils.logging import disable_progress_bar

        from paraphrastic.model.lstm_pooling import LastState
    except ImportError:
        raise not_installed(transformer.place, "neural", is_place=True) from None
    disable_progress_bar()
    probabilities = {} if dropout is None else _dropout_of(transformer.place, dropout)
    layers = load_from_hub(
        transformer.place,
        "transformers",
        lambda place, offline: Layers(
            place,
            model_kwargs={"local_files_only": offline, "dtype": torch.float32},
            processor_kwargs={"local_files_only": offline},
            config_kwargs={"local_files_only": offline, **probabilities},
        ),
    )
    _prepare_tokenizer(layers.tokenizer, layers.auto_model.config, transformer, lowercase)
    width, modules = layers.get_embedding_dimension(), [layers]
    mode = {"mean": "mean", "cls": "cls", "lstm_last": "lasttoken"}[transformer.pooling]
    if transformer.lstm_size is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            modules.append(LastState(width, transformer.lstm_size, num_layers=1, bidirectional=False))
        width = transformer.lstm_size
    modules += [Pooling(width, pooling_mode=mode), Normalize()]
    return SentenceTransformer(modules=modules, device="cpu")


def _dropout_of(place: str, dropout: float) -> dict[str, float]:
    """The entries of a Transformer's configuration that are probabilities of dropout, with this value."""
    config = _load_config(place)
    names = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout")
    return {name: dropout for name in names if hasattr(config, name)}


def load_tokenizer(transformer: Transformer, *, lowercase: bool) -> Any:
    """Load a Transformer's tokenizer, which cuts sentences off after the tokens that the Transformer reads.

    The tokenizer cleans sentences and, if they are lower-cased, does that, so that it does both in other
    libraries, too.

    Raises:
        InputError: as `load_modules`.
    """
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise not_installed(transformer.place, "neural", is_place=True) from None
    tokenizer = load_from_hub(
        transformer.place,
        "transformers",
        lambda place, offline: AutoTokenizer.from_pretrained(place, local_files_only=offline),
    )
    _prepare_tokenizer(tokenizer, _load_config(transformer.place), transformer, lowercase)
    return tokenizer


def tokenizer_digest(tokenizer: Any) -> str:
    """SHA-256 of everything that determines how a tokenizer cuts sentences."""
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    # These are left by the last call. What counts is the limit.
    content |= {"truncation": None, "padding": None, "limit": tokenizer.model_max_length}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _load_config(place: str) -> Any:
    from transformers import AutoConfig

    return load_from_hub(
        place,
        "transformers",
        lambda place, offline: AutoConfig.from_pretrained(place, local_files_only=offline),
    )


def _prepare_tokenizer(tokenizer: Any, config: Any, transformer: Transformer, lowercase: bool) -> None:
    from tokenizers import Regex, normalizers

    place, asked = transformer.place, transformer.max_tokens
    if not tokenizer.is_fast or tokenizer.pad_token_id is None:
        lacks = "token for padding" if tokenizer.is_fast else "fast tokenizer (tokenizer.json)"
        raise InputError(f"{place}: has no {lacks}")
    limits = []
    # Tokenizers without a limit have a number that no sentence reaches.
    if tokenizer.model_max_length < NO_LIMIT:
        limits.append(int(tokenizer.model_max_length))
    if positions := getattr(config, "max_position_embeddings", None):
        first = config.pad_token_id + 1 if config.model_type in _LATE_POSITIONS else 0
        limits.append(positions - first)
    limit = min(limits, default=None)
    if asked and limit and asked > limit:
        raise InputError(f"{place}: can read {limit:,} tokens, but encoder.max_tokens is {asked:,}")
    tokenizer.model_max_length = asked or limit or tokenizer.model_max_length
    steps: list[Any] = [normalizers.Replace(Regex(pattern), other) for pattern, other in cleaning(TOKENIZERS)]
    if lowercase:
        steps += [normalizers.Replace(Regex(final_sigma()), "ς"), normalizers.Lowercase()]
    if (normalizer := tokenizer.backend_tokenizer.normalizer) is not None:
        steps.append(normalizer)
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(steps)
    # The last state is that of the last token, wherever the Transformer was used to have its padding.
    tokenizer.padding_side = "right"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Sentences cut into a Transformer's tokens: those of sentence i are `ids[ends[i]:ends[i + 1]]`.

    Attributes:
        ids: int32 [tokens], with the tokens that mark a sentence's beginning and end.
        ends: int64 [n + 1].
        has_text: false for sentences with no token of their own. [n]
    """

    ids: Int32
    ends: Int64
    has_text: Bool

    def lists(self) -> list[list[int]]:
        """The tokens of each sentence."""
        return [ids.tolist() for ids in np.split(self.ids, self.ends[1:-1])]


def cut_into_tokens(tokenizer: Any, texts: Sequence[str]) -> Tokens:
    """Cut sentences into tokens; those after the tokenizer's limit are cut off."""
    if not texts:
        return Tokens(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.bool_))
    encoded = tokenizer(
        list(texts), truncation=tokenizer.model_max_length < NO_LIMIT, return_special_tokens_mask=True
    )
    lengths = np.fromiter(map(len, encoded["input_ids"]), np.int64, len(texts))
    ids = np.fromiter(
        (token for sentence in encoded["input_ids"] for token in sentence), np.int32, lengths.sum()
    )
    special = np.array([all(mask) for mask in encoded["special_tokens_mask"]], np.bool_)
    return Tokens(ids, np.concatenate(([0], np.cumsum(lengths))), ~special)


def padded(ids: Int32, ends: Int64, rows: Int64, padding: int) -> "dict[str, torch.Tensor]":
    """The tokens of sentences `rows` as a Transformer takes them: its inputs and their mask, [n, tokens].

    A sentence without any token has one of padding, because some Transformers cannot read nothing.
    """
    import torch

    lengths = np.diff(ends)[rows]
    width = max(1, int(lengths.max(initial=0)))
    inputs = np.full((len(rows), width), padding, np.int64)
    mask = np.arange(width) < np.maximum(lengths, 1)[:, None]
    places = np.arange(width) < lengths[:, None]
    inputs[places] = np.concatenate([ids[ends[row] : ends[row + 1]] for row in rows])
    return {"input_ids": torch.from_numpy(inputs), "attention_mask": torch.from_numpy(mask.astype(np.int64))}


class TransformerEncoder(SentenceEncoder):
    """A trained Transformer; its vectors have length 1, as sentence-transformers has them.

    Args:
        modules: the Transformer and its pooling.
        config: the content of `config.json`.
    """

    kind = TRANSFORMER

    def __init__(self, modules: "SentenceTransformer", config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.modules = modules.eval()
        self.tokenizer = modules.tokenizer

    def to(self, device: str) -> None:
        """Embed on another device from now on, `cpu` or `cuda`."""
        self.modules.to(device)

    @property
    def dim(self) -> int:
        """Dimension of the sentence vectors."""
        return int(self.modules.get_embedding_dimension() or 0)

    @property
    def digest(self) -> str:
        """SHA-256 of everything that determines a sentence's vector."""
        digest = hashlib.sha256(tokenizer_digest(self.tokenizer).encode())
        for name, tensor in sorted(self.modules.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().data)
        return digest.hexdigest()

    def _prepare(self, sentences: Sequence[str], language: str | None) -> list[str]:
        # The tokenizer lower-cases text itself. It cleans it, too, but that must come before folding.
        settings = {key: self.config[key] for key in ("segmentation", "folding")}
        return prepare_text(sentences, language=language, **settings)

    def _tokens(self, texts: Sequence[str], language: str | None) -> Tokens:
        return cut_into_tokens(self.tokenizer, texts)

    def _embed(self, tokens: Tokens, normalize: bool, vectors: Vectors) -> None:
        import torch

        device = self.modules.device
        before = torch.get_num_threads()
        # One thread is enough, since the others embed other blocks of sentences.
        torch.set_num_threads(1)
        try:
            with torch.inference_mode():
                for rows in _batches(np.diff(tokens.ends)):
                    features = padded(tokens.ids, tokens.ends, rows, self.tokenizer.pad_token_id)
                    moved = {name: value.to(device) for name, value in features.items()}
                    vectors[rows] = self.modules(moved)["sentence_embedding"].float().cpu().numpy()
        finally:
            torch.set_num_threads(before)
        vectors[~tokens.has_text] = 0


def _batches(lengths: Int64) -> Iterator[Int64]:
    """Yield sentences of similar lengths, so that batches have little padding."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        stop = start + _BATCH_SENTENCES
        # Lengths rise, so the last sentence of a batch is its longest.
        while stop > start + 1 and lengths[order[min(stop, len(order)) - 1]] * (stop - start) > _BATCH_TOKENS:
            stop = start + (stop - start) // 2
        yield order[start:stop]
        start = stop


@dataclass(frozen=True, slots=True)
class TransformerFiles:
    """The content of a Transformer's folder.

    Attributes:
        modules: the Transformer and its pooling.
        config: our entries of `config.json`.
    """

    modules: "SentenceTransformer"
    config: Mapping[str, Any]

    def open(self) -> TransformerEncoder:
        """The model, which shares its parameters with `modules`."""
        return TransformerEncoder(self.modules, self.config)

    def write(self, folder: Path) -> None:
        """Write the folder; each file is either complete or not there."""
        with tempfile.TemporaryDirectory(dir=_existing(folder)) as temporary:
            saved = Path(temporary)
            self.modules.save_pretrained(str(saved), create_model_card=False)
            modules = read_json(saved / MODULES)
            for module in modules[1:]:
                # Folders with one name for all poolings, which rules can declare.
                place = f"{POOLING}/{module['path'].partition('_')[2].lower()}"
                (saved / place).parent.mkdir(exist_ok=True)
                (saved / module["path"]).rename(saved / place)
                module["path"] = place
            write_json(saved / MODULES, modules)
            # Other classes than this make their own normalizer instead of reading that of `tokenizer.json`.
            settings = {**read_json(saved / TOKENIZER_CONFIG), "tokenizer_class": "PreTrainedTokenizerFast"}
            settings["model_input_names"] = self.modules.tokenizer.model_input_names
            write_json(saved / TOKENIZER_CONFIG, settings)
            layers = read_json(saved / CONFIG)
            names = [
                path.relative_to(saved).as_posix() for path in sorted(saved.rglob("*")) if path.is_file()
            ]
            digests = {name: sha256(saved / name) for name in names if name not in (CONFIG, CARD)}
            about = {"encoder": TRANSFORMER, "dimension": self.modules.get_embedding_dimension()}
            write_json(saved / CONFIG, {**layers, **self.config, **about, "sha256": digests})
            shutil.rmtree(folder / POOLING, ignore_errors=True)
            for name in [*digests, CONFIG]:
                with atomic_output(folder / name) as target:
                    shutil.copyfile(saved / name, target)


def _existing(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def open_transformer(folder: Path, config: Mapping[str, Any]) -> TransformerEncoder:
    """Open the Transformer in a folder that `TransformerFiles.write` wrote; its files have been checked.

    Raises:
        InputError: the extra `neural` is not installed, or the files do not fit together.
    """
    try:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
        from sentence_transformers.sentence_transformer.modules import Transformer as Layers
        from transformers.utils.logging import disable_progress_bar

        from paraphrastic.model.lstm_pooling import LastState
    except ImportError:
        raise not_installed(str(folder), "neural") from None
    disable_progress_bar()
    # sentence-transformers would import any other class that the folder names.
    kinds = {kind.__name__: kind for kind in (Layers, LastState, Pooling, Normalize)}
    try:
        described = read_json(folder / MODULES)
        if away := [module["path"] for module in described if not is_plain_path(module["path"] or POOLING)]:
            raise ValueError(f"{MODULES}: the path {shown(away[0])} leads out of the folder")
        loaded = [
            kinds[module["type"].rpartition(".")[2]].load(
                str(folder), subfolder=module["path"], local_files_only=True
            )
            for module in described
        ]
        modules = SentenceTransformer(modules=loaded, device="cpu")
    except Exception as error:
        # The libraries raise errors of many kinds, some of them plain `Exception`s.
        raise InputError(f"cannot be read: {on_one_line(error) or type(error).__name__}") from error
    return TransformerEncoder(modules, config)
