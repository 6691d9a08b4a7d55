"""Train Transformers: their tokens as training data, and their modules as an encoder of `Sentences`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import torch
from torch import Tensor, nn

from paraphrastic.base.errors import InputError
from paraphrastic.interop.text_patterns import TOKENIZERS, cleaning, final_sigma
from paraphrastic.model.architecture import TOKENS, Transformer
from paraphrastic.model.hub import load_from_hub, not_installed
from paraphrastic.model.transformer import TransformerEncoder
from paraphrastic.model.transformer_tokens import padded, tokenize
from paraphrastic_pipeline.training.dataset import write_dataset
from paraphrastic_pipeline.training.engine import MakeFiles, Weights
from paraphrastic_pipeline.training.inputs import TrainingInputs
from paraphrastic_pipeline.training.sentences import Sentences

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


# Entries of a Transformer's configuration that are probabilities of dropout.
_PROBABILITIES = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout")
# Transformers that count positions from the id of their padding.
_LATE_POSITIONS = {"camembert", "longformer", "mpnet", "roberta", "xlm-roberta"}


def tokenize_pairs(
    pairs: Path,
    dataset: Path,
    *,
    architecture: Mapping[str, Any],
    lowercase: bool = False,
    grouped: bool = False,
    texts: Sequence[int] = (),
    batch_rows: int = 65_536,
) -> None:
    """Tokenize `pairs` as a Transformer does, and write them as training data; see `training.dataset`.

    The rows of the table are the tokenizer's ids.

    Args:
        pairs: Parquet with the columns `source` and `target`, and also `groups` if `grouped`.
        dataset: the HDF5 file.
        architecture: the fields of the `Architecture` with the Transformer whose tokenizer is used.
        lowercase: whether sentences are lower-cased.
        grouped: whether it is known which groups of sentences that mean the same the pairs are in.
        texts: numbers in the column `corpus` of corpora without pairs, whose lines are both sides of a pair.
        batch_rows: pairs held in memory at a time; the output does not depend on it.

    Raises:
        InputError: the extra `neural` is not installed, or the tokenizer cannot be loaded.
    """
    transformer = Transformer(**architecture["transformer"])
    tokenizer = _Tokenizer(load_tokenizer(transformer, lowercase=lowercase))
    write_dataset(pairs, [tokenizer], dataset, grouped=grouped, texts=texts, batch_rows=batch_rows)


class _Tokenizer:
    """Tokenizes sentences as a Transformer does."""

    unit = TOKENS

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def tokenize(self, sides: Sequence[list[str]]) -> list[Sentences]:
        encoded = [tokenize(self.tokenizer, side) for side in sides]
        return [Sentences(tokens.ids, tokens.ends) for tokens in encoded]

    def describe(self, group: h5py.Group) -> None:
        size = len(self.tokenizer)
        group["pieces"] = np.arange(size, dtype=np.int32)
        group.attrs["sizes"], group.attrs["shared_unknown"] = [size], False


class TrainableTransformer(nn.Module):
    """A Transformer and its pooling, as an encoder of `Sentences`.

    Args:
        modules: the modules of sentence-transformers.
    """

    # Sentences embedded at a time without gradients; their states take much more memory than averages.
    embed_block = 64

    def __init__(self, modules: "SentenceTransformer") -> None:
        super().__init__()
        self.encoder = modules
        self.padding = int(modules.tokenizer.pad_token_id)

    def forward(self, sentences: Sentences) -> Tensor:
        """Unit vectors of the sentences, [n, dimension]."""
        features = padded(sentences.tokens, sentences.offsets, np.arange(len(sentences)), self.padding)
        moved = {name: value.to(self.encoder.device) for name, value in features.items()}
        vectors: Tensor = self.encoder(moved)["sentence_embedding"]
        return vectors


def initialize_transformer(inputs: TrainingInputs) -> tuple[nn.Module, MakeFiles]:
    """Make the Transformer that training begins with; an LSTM's weights are drawn from the settings' seed.

    Raises:
        InputError: the Transformer cannot be loaded.
    """
    transformer, settings = inputs.architecture.transformer, inputs.settings
    if transformer is None:
        raise ValueError("the encoder is not a Transformer")
    lowercase = bool(inputs.config["lowercase"])
    modules = load_modules(transformer, lowercase=lowercase, dropout=settings.dropout, seed=settings.seed)
    encoder = TrainableTransformer(modules)
    about = {"architecture": inputs.architecture.to_json()}

    @torch.no_grad()
    def files(weights: Weights, config: Mapping[str, Any]) -> TransformerEncoder:
        for name, parameter in encoder.named_parameters():
            parameter.copy_(torch.from_numpy(weights[name]))
        return TransformerEncoder(modules, {**config, **about})

    return encoder, files


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
        InputError: the extra `neural` is not installed, or the Transformer cannot be loaded.
    """
    try:
        # Imported late: the packages are optional and take seconds to import.
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
        from sentence_transformers.sentence_transformer.modules import Transformer as Layers
        from transformers import AutoConfig
        from transformers.utils.logging import disable_progress_bar

        from paraphrastic.model.lstm_pooling import LastState
    except ImportError:
        raise not_installed(transformer.place, "sentence-transformers") from None
    disable_progress_bar()
    probabilities = {}
    if dropout is not None:
        config = load_from_hub(transformer.place, "transformers", AutoConfig.from_pretrained)
        probabilities = {name: dropout for name in _PROBABILITIES if hasattr(config, name)}
    layers = load_from_hub(
        transformer.place,
        "transformers",
        lambda place: Layers(place, model_kwargs={"dtype": torch.float32}, config_kwargs=probabilities),
    )
    prepare_tokenizer(layers.tokenizer, layers.auto_model.config, transformer.place, lowercase)
    width, modules = layers.get_embedding_dimension(), [layers]
    mode = {"mean": "mean", "cls": "cls", "lstm_last": "lasttoken"}[transformer.pooling]
    if transformer.lstm_size is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            modules.append(LastState(width, transformer.lstm_size, num_layers=1, bidirectional=False))
        width = transformer.lstm_size
    modules += [Pooling(width, pooling_mode=mode), Normalize()]
    return SentenceTransformer(modules=modules, device="cpu")


def load_tokenizer(transformer: Transformer, *, lowercase: bool) -> Any:
    """Load a Transformer's tokenizer, which truncates sentences to what the Transformer can read.

    The tokenizer cleans sentences and, if they are lower-cased, does that, so that it does both in other
    libraries, too.

    Raises:
        InputError: as `load_modules`.
    """
    try:
        from transformers import AutoConfig, AutoTokenizer
    except ImportError:
        raise not_installed(transformer.place, "transformers") from None
    tokenizer = load_from_hub(transformer.place, "transformers", AutoTokenizer.from_pretrained)
    config = load_from_hub(transformer.place, "transformers", AutoConfig.from_pretrained)
    prepare_tokenizer(tokenizer, config, transformer.place, lowercase)
    return tokenizer


def prepare_tokenizer(tokenizer: Any, config: Any, place: str, lowercase: bool) -> None:
    """Have a loaded tokenizer clean, lower-case and truncate sentences; see `load_tokenizer`."""
    from tokenizers import Regex, normalizers

    if not tokenizer.is_fast or tokenizer.pad_token_id is None:
        lacks = "token for padding" if tokenizer.is_fast else "fast tokenizer (tokenizer.json)"
        raise InputError(f"{place}: has no {lacks}")
    if positions := getattr(config, "max_position_embeddings", None):
        first = config.pad_token_id + 1 if config.model_type in _LATE_POSITIONS else 0
        # Tokenizers without a limit have a number that no sentence reaches.
        tokenizer.model_max_length = min(tokenizer.model_max_length, positions - first)
    steps: list[Any] = [normalizers.Replace(Regex(pattern), other) for pattern, other in cleaning(TOKENIZERS)]
    if lowercase:
        steps += [normalizers.Replace(Regex(final_sigma()), "ς"), normalizers.Lowercase()]
    if (normalizer := tokenizer.backend_tokenizer.normalizer) is not None:
        steps.append(normalizer)
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(steps)
    # The last state is that of the last token, wherever the Transformer was used to have its padding.
    tokenizer.padding_side = "right"
