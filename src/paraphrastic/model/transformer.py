"""Models that are Transformers, in a folder that sentence-transformers loads as well.

The folder is one of sentence-transformers: a Transformer at its root, then perhaps an LSTM, the pooling, and
the normalization, each in a folder of its own. `config.json` is the Transformer's, with our own entries among
those of Hugging Face, whose libraries keep entries that they do not know.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paraphrastic.base.arrays import Int64
from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import atomic_output, read_json, write_json
from paraphrastic.base.text import prepare_text
from paraphrastic.model.encoder import SentenceEncoder, Vectors
from paraphrastic.model.files import CARD, CONFIG, MODULES, TOKENIZER, TRANSFORMER, WEIGHTS
from paraphrastic.model.hub import not_installed
from paraphrastic.model.transformer_tokens import Tokens, padded, tokenize, tokenizer_digest

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Files of such a folder besides those of other models; the modules after the Transformer are in `POOLING`.
TOKENIZER_CONFIG = "tokenizer_config.json"
DESCRIPTIONS = ("config_sentence_transformers.json", "sentence_bert_config.json")
POOLING = "pooling"
TRANSFORMER_FILES = (WEIGHTS, CONFIG, MODULES, TOKENIZER, TOKENIZER_CONFIG, *DESCRIPTIONS)
# A batch has at most so many sentences, and so many tokens with its padding.
_BATCH_SENTENCES, _BATCH_TOKENS = 64, 8192


class TransformerEncoder(SentenceEncoder):
    """A trained Transformer; its vectors have length 1, as sentence-transformers has them."""

    def __init__(self, modules: "SentenceTransformer", config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.modules = modules.eval()
        self.tokenizer = modules.tokenizer

    def to(self, device: str | None) -> None:
        """Embed on another device from now on, `cpu` or `cuda`; None means a GPU if torch sees one."""
        import torch

        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.modules.to(device)
        if device != "cpu":
            # One thread keeps the GPU busy.
            self.threads = 1

    def write(self, folder: Path) -> None:
        """Write the files of a model folder, which sentence-transformers loads as well."""
        write_transformer(self.modules, self.config, folder)

    def _content(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            self.write(folder)
            paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
            contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        return _open_contents, (contents, dict(self.config))

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
        digest.update(self._preparation().encode())
        return digest.hexdigest()

    def _prepare(self, sentences: Sequence[str], language: str | None) -> list[str]:
        # The tokenizer lower-cases text itself. It cleans it, too, but that must come before folding.
        settings = {key: self.config[key] for key in ("segmentation", "folding")}
        return prepare_text(sentences, language=language, **settings)

    def _tokenize(self, texts: Sequence[str], language: str | None) -> Tokens:
        return tokenize(self.tokenizer, texts)

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


def write_transformer(modules: "SentenceTransformer", config: Mapping[str, Any], folder: Path) -> None:
    """Write the folder; each file is either complete or not there."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        saved = Path(temporary)
        modules.save_pretrained(str(saved), create_model_card=False)
        described = read_json(saved / MODULES)
        for module in described[1:]:
            # Folders with one name for all poolings, which rules can declare.
            new_path = f"{POOLING}/{module['path'].partition('_')[2].lower()}"
            (saved / new_path).parent.mkdir(exist_ok=True)
            (saved / module["path"]).rename(saved / new_path)
            module["path"] = new_path
        write_json(saved / MODULES, described)
        # Other classes than this make their own normalizer instead of reading that of `tokenizer.json`.
        settings = {**read_json(saved / TOKENIZER_CONFIG), "tokenizer_class": "PreTrainedTokenizerFast"}
        settings["model_input_names"] = modules.tokenizer.model_input_names
        write_json(saved / TOKENIZER_CONFIG, settings)
        layers = read_json(saved / CONFIG)
        paths = [path for path in sorted(saved.rglob("*")) if path.is_file()]
        names = {path.relative_to(saved).as_posix(): path for path in paths}
        kept = [name for name in names if name not in (CONFIG, CARD)]
        about = {"encoder": TRANSFORMER, "dimension": modules.get_embedding_dimension()}
        write_json(saved / CONFIG, {**layers, **config, **about})
        shutil.rmtree(folder / POOLING, ignore_errors=True)
        for name in [*kept, CONFIG]:
            with atomic_output(folder / name) as target:
                shutil.copyfile(saved / name, target)


def open_transformer(folder: Path, config: Mapping[str, Any]) -> TransformerEncoder:
    """Open the Transformer in a folder that `write_transformer` wrote.

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
        raise not_installed(str(folder), "sentence-transformers") from None
    disable_progress_bar()
    # sentence-transformers would import any other class that the folder names.
    kinds = {kind.__name__: kind for kind in (Layers, LastState, Pooling, Normalize)}
    try:
        described = read_json(folder / MODULES)
        if not all(
            (folder / module["path"]).resolve().is_relative_to(folder.resolve()) for module in described
        ):
            raise ValueError(f"{MODULES}: a path leads out of the folder")
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


def _open_contents(contents: Mapping[str, bytes], config: Mapping[str, Any]) -> TransformerEncoder:
    """Open the Transformer whose folder has these files."""
    with tempfile.TemporaryDirectory() as temporary:
        for name, content in contents.items():
            path = Path(temporary, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return open_transformer(Path(temporary), config)
