"""Open any system with one function: models of this project, and other people's."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.devices import choose_device
from paraphrastic.base.errors import InputError
from paraphrastic.base.hub_names import place_fault
from paraphrastic.base.threads import in_blocks
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.config_file import kind_of
from paraphrastic.model.encoder import BLOCK_SENTENCES, SentenceEncoder
from paraphrastic.model.files import CONFIG, MODULES, TRANSFORMER
from paraphrastic.model.folder import find_folder, open_folder
from paraphrastic.model.pieces import Pieces
from paraphrastic.model.shipped import shipped_models
from paraphrastic.model.system import Stages, System
from paraphrastic.systems.external import open_sentence_transformer, open_static_model, open_vectors


def system_of(model: SentenceEncoder, *, threads: int = 1, device: str = "cpu") -> System:
    """Make a system of a model of this project; its label is the kind of its encoder and its name.

    A Transformer or a single average can have the device `cuda`: the CPU cuts sentences, and the GPU embeds
    them.

    Raises:
        InputError: `device` is not the CPU, and the model is of another kind.
    """
    if model.kind == TRANSFORMER:
        # A late import, since other models need none of it.
        from paraphrastic.model.transformer import TransformerEncoder

        cast(TransformerEncoder, model).to(device)
        if device != "cpu":
            # One thread keeps the GPU busy, and the model itself copies to and from it.
            device, threads = "cpu", 1

    def prepare(sentences: Sequence[str], language: str | None) -> list[Any]:
        def tokenize(rows: slice) -> Any:
            return model.tokenize(sentences[rows], language=language)

        return in_blocks(tokenize, len(sentences), BLOCK_SENTENCES, threads)

    def embed_tokens(blocks: list[Any]) -> Float32:
        vectors = in_blocks(lambda rows: model.embed_tokens(*blocks[rows]), len(blocks), 1, threads)
        return np.concatenate([np.empty((0, model.dim), np.float32), *vectors])

    label = model.label
    if device == "cpu":
        stages = Stages(prepare, embed_tokens)
    elif isinstance(model, AverageEncoder):
        stages = Stages(prepare, averages_on(device, model))
    else:
        raise InputError(f"{label}: only a Transformer or a single average can be embedded on {device}")

    def embed(sentences: Sequence[str], language: str | None) -> Float32:
        if device == "cpu":
            return model.embed_raw_text(sentences, language=language, threads=threads)
        return stages.embed(prepare(sentences, language))

    return System(label, model.dim, model.digest, embed, stages, model.preparation)


def averages_on(device: str, model: AverageEncoder) -> Callable[[Sequence[Pieces]], Float32]:
    """A function that computes `model.embed_tokens` for blocks of sentences, with torch on a device."""
    import torch

    table = torch.from_numpy(np.concatenate([model.embeddings, model.unknown[None]])).float()
    if model.weights is not None:
        table[:-1] *= torch.from_numpy(model.weights)[:, None]
    table = table.to(device)

    def averages(block: Pieces) -> Float32:
        # A sentence with only unknown pieces gets the last row; one without any piece is zero.
        unknown = block.has_text & (np.diff(block.ends) == 0)
        rows = np.insert(block.pieces.astype(np.int64), block.ends[:-1][unknown], len(table) - 1)
        starts = block.ends[:-1] + np.cumsum(unknown) - unknown
        tokens, offsets = (torch.from_numpy(array).to(device) for array in (rows, starts))
        bags = torch.nn.functional.embedding_bag(tokens, table, offsets, mode="mean")
        return bags.cpu().numpy()

    def embed(blocks: Sequence[Pieces]) -> Float32:
        return np.concatenate([np.empty((0, model.dim), np.float32), *map(averages, blocks)])

    return embed


def open_system(
    model: str | Path | Mapping[str, Any], *, threads: int = 1, device: str | None = None
) -> System:
    """Open a system.

    Args:
        model: a model folder of this project, a folder that sentence-transformers saved, or the name of a
            sentence-transformers model on the Hugging Face Hub. It can also be an entry of `systems` in the
            configuration: `label`, and one of `path`, `sentence_transformers`, `model2vec` and `vectors`.
        threads: CPU threads.
        device: `cpu` or `cuda`; None means the CPU, but a GPU for Transformers if torch sees one.

    Raises:
        InputError: the folder is of another kind, the model is damaged, the name cannot be reached, a package
            is not installed, or the system does not run on the device.
    """
    if not isinstance(model, Mapping):
        return _open_place(model, threads, device)
    if "sentence_transformers" in model:
        system = open_sentence_transformer(model["sentence_transformers"], threads=threads, device=device)
    elif "path" in model:
        system = _open_place(model["path"], threads, device)
    elif device not in (None, "cpu"):
        raise InputError(f"{model['label']}: does not run on {device}")
    elif "model2vec" in model:
        system = open_static_model(model["model2vec"], threads=threads)
    else:
        system = open_vectors(Path(model["vectors"]["sentences"]), Path(model["vectors"]["vectors"]))
    return replace(system, label=model["label"])


def open_encoder(place: str | Path, *, threads: int = 1) -> SentenceEncoder | System:
    """Open a model of this project as it is, or another library's as a system; see `open_system`."""
    folder = find_folder(place)
    return open_folder(folder) if kind_of(folder / CONFIG) else open_system(place, threads=threads)


def _open_place(place: str | Path, threads: int, device: str | None) -> System:
    folder = find_folder(place)
    if folder.is_dir():
        # Checked first, since a model of this project may also be a folder of sentence-transformers.
        if kind_of(folder / CONFIG):
            model = open_folder(folder)
            if device is None:
                device = choose_device("auto", key="device") if model.kind == TRANSFORMER else "cpu"
            return system_of(model, threads=threads, device=device)
        if not (folder / MODULES).is_file():
            raise InputError(
                f"{folder}: neither a model folder nor one of sentence-transformers: {MODULES} is missing"
            )
    elif fault := place_fault(str(place)):
        raise InputError(
            f"{place}: {fault}; models that come with the package: {', '.join(shipped_models())}"
        )
    return open_sentence_transformer(str(place), threads=threads, device=device)
