"""Models that the authors' code saved in training (Wieting et al. 2021).

A checkpoint is a dictionary that `torch.save` wrote, with `state_dict`, `vocab` (the row of each piece, by
its spelling) and `args` (an `argparse.Namespace`). It is a pickle, which could run any code; it is read
without running any. It can claim any sizes, so these are compared before any number is read.
"""

import argparse
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from sentencepiece import SentencePieceProcessor as Processor

from paraphrastic.base.arrays import Float32, Int64
from paraphrastic.base.errors import InputError, cut, on_one_line, shown
from paraphrastic.base.files import new_folder
from paraphrastic.interop.unknown_pieces import add_unknown_pieces
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.files import AVERAGE, CARD, COMPOSITE, tensor_name
from paraphrastic.model.folder import checked
from paraphrastic.model.vocabulary import UNKNOWN, load_sentencepiece

Model = AverageEncoder | CompositeEncoder


def import_checkpoint(
    checkpoint: str | Path, sentencepiece_model: str | Path, output: str | Path, **options: Any
) -> Model:
    """Write the model of `open_checkpoint` as a new folder; other libraries can load it if it is an average.

    Raises:
        InputError: see `open_checkpoint`; or `output` exists and is not an empty folder. Nothing is written.
    """
    # A late import, since `open_checkpoint` needs none of it.
    from paraphrastic.interop.tokenizer import complete_folder

    with new_folder(output) as folder:
        model = open_checkpoint(checkpoint, sentencepiece_model, **options)
        model.write(folder)
        with suppress(InputError):
            complete_folder(folder)
        card = (
            f"# {model.config['model']}\n\nImported from a checkpoint of the authors' code by paraphrastic.\n"
        )
        (folder / CARD).write_text(card, encoding="utf-8")
    return model


def open_checkpoint(
    checkpoint: str | Path,
    sentencepiece_model: str | Path,
    *,
    name: str | None = None,
    languages: Sequence[str] = (),
    tokenized: bool = False,
) -> Model:
    """Open a model of the authors' code; its vectors are the ones that their code computes.

    There are two exceptions: text without any piece has the zero vector here, as with every model, and pieces
    that the training text lacks have small random embeddings.

    Args:
        checkpoint: file of any version of torch.
        sentencepiece_model: the model that cut its training text.
        name: name of the model; by default, the file's.
        languages: languages of the model. Two are needed if its sides have separate parameters.
        tokenized: whether sentences will be given as the Moses tokenizer cuts them, which a model may need.

    Raises:
        InputError: the file is missing, damaged, not such a checkpoint or asks for code to run, or the model
            cannot have the authors' vectors here.
    """
    path = Path(checkpoint)
    content = _read(path)
    processor = load_sentencepiece(sentencepiece_model)
    config = {"model": name or path.stem, "languages": list(languages), "tokenized": tokenized}
    config = checked({"encoder": AVERAGE, "lowercase": True, **config}, path)
    try:
        return _encoder(content, processor, config)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        # The content of a stranger's file can have any types.
        cause = cut(on_one_line(f"{type(error).__name__}: {error}"))
        raise InputError(f"{path}: is not a checkpoint of the authors' code ({cause})") from None


def _read(path: Path) -> Any:
    """Load a file that `torch.save` wrote; the only class that it may name is `argparse.Namespace`."""
    try:
        import torch
    except ImportError:
        raise InputError("a checkpoint needs torch, which is not installed: pip install torch") from None
    try:
        # A ZIP archive, which newer versions of torch write, is mapped: the optimizer's state is never read.
        with path.open("rb") as file:
            mapped = file.read(4) == b"PK\x03\x04"
        with warnings.catch_warnings(), torch.serialization.safe_globals([argparse.Namespace]):
            # If a warning matters, an error follows soon.
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as error:  # a damaged file can raise anything
        cause = getattr(error, "strerror", None) or f"it is damaged ({type(error).__name__})"
        if asked := re.search(r"GLOBAL (\S+) was not|unsupported GLOBAL (\S+)", str(error)):
            cause = f"it asks for {asked[1] or asked[2]}, which could run code"
        raise InputError(f"{path}: is not readable as a checkpoint: {cause}") from None


def _encoder(content: dict[str, Any], processor: Processor, config: dict[str, Any]) -> Model:
    """Make the model; `config` has the entries that the checkpoint does not know."""
    args: Any = content["args"]
    state, languages = content["state_dict"], config["languages"]
    # The weights of a model that was trained on several GPUs have this prefix.
    state = {name.removeprefix("module."): tensor for name, tensor in state.items()}
    kind, pooling, dim, width = args.model, args.pool, args.dim, getattr(args, "hidden_dim", 0)
    encoders = (("avg", "mean"), ("lstm", "mean"), ("lstm", "max"))
    if (kind, pooling) not in encoders or getattr(args, "ngrams", False):
        raise InputError("args.model, pool and ngrams are not those of an average or an LSTM of pieces")
    # Earlier code had neither setting below: its text was tokenized and always lower-cased.
    if getattr(args, "tokenize", 1) and not config["tokenized"]:
        raise InputError("was trained on text that the Moses tokenizer cut: give such text with --tokenized")
    lower = str.lower if getattr(args, "lower_case", 1) else str
    config["lowercase"] = lower == str.lower
    # By language, the endings of the names of a side's table and of its LSTM.
    sides: dict[str | None, tuple[str, str]] = {None: ("", "")}
    shares = (getattr(args, "share_vocab", 1), getattr(args, "share_encoder", 1))
    second = ("" if shares[0] else "_fr", "" if shares[1] else "_fr")
    if second[0] or (kind == "lstm" and second[1]):
        if len(set(languages)) != 2:
            raise InputError("keeps its two sides apart: give both languages, as in --languages fr-en")
        sides = dict(zip(languages, (("", ""), second), strict=True))
    vocabularies = {own: content[f"vocab{own}"] for own, _ in sides.values()}
    # Text never has other spellings.
    pieces = [piece for rows in vocabularies.values() for piece in rows if lower(piece).split() == [piece]]
    processor = add_unknown_pieces(processor, list(dict.fromkeys(pieces)))
    sentencepiece, tensors = processor.serialized_model_proto(), dict[str, Any]()
    for language, (own, own_lstm) in sides.items():
        vocabulary = vocabularies[own]
        weights = _numbers(state, f"embedding{own}.weight", len(vocabulary), dim)
        rows = _rows(vocabulary, processor, lower, -1 if args.zero_unk else vocabulary[UNKNOWN])
        known, unknown = rows >= 0, weights[vocabulary[UNKNOWN]].copy()
        embeddings = weights[np.maximum(rows, 0)] * known[:, None]
        if kind == "avg" and language is None:
            average = {"embeddings": embeddings, "known": known, "unknown": unknown}
            return AverageEncoder(average, sentencepiece, config)
        side = {"0.embeddings": embeddings, "known.subword": known, "0.unknown": unknown}
        side |= _lstm(state, f"lstm{own_lstm}", dim, width) if kind == "lstm" else {}
        tensors |= {tensor_name(name, language): tensor for name, tensor in side.items()}
    lstm = {"kind": "bilstm", "pooling": pooling, "directions": "concatenate", "dimension": 2 * width}
    part = Part(**lstm) if kind == "lstm" else Part()
    architecture = Architecture(parts=(part,), languages="shared" if None in sides else "separate")
    config |= {"encoder": COMPOSITE, "architecture": architecture.to_json()}
    return CompositeEncoder(tensors, sentencepiece, config)


def _rows(vocabulary: Mapping[str, int], processor: Processor, lower: Any, absent: int) -> Int64:
    """The row of each of sentencepiece's pieces, [pieces]: `absent` if it has none, and -1 for a space."""
    given = np.array([*vocabulary.values()])
    if given.dtype.kind != "i" or given.min() < 0 or given.max() >= len(given):
        raise InputError(f"vocab has rows that are not numbers below {len(given)}")
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
    # As in the authors' code, a piece is lower-cased before it is looked up.
    words = [lower(piece).split() for piece in pieces]
    if wrong := [parts for parts in words if len(parts) > 1]:
        raise InputError(f"the piece {' '.join(wrong[0])!r} contains white space, which would split it")
    return np.array([vocabulary.get(parts[0], absent) if parts else -1 for parts in words], np.int64)


def _lstm(state: Mapping[str, Any], lstm: str, inputs: int, width: int) -> Iterator[tuple[str, Float32]]:
    """The weights of an LSTM in both directions, by their names in a `CompositeEncoder`."""
    shapes = {"weight_ih": (inputs,), "weight_hh": (width,), "bias_ih": (), "bias_hh": ()}
    for number, direction in enumerate(("", "_reverse")):
        names = {f"{lstm}.{name}_l0{direction}": shape for name, shape in shapes.items()}
        w, u, first, second = (_numbers(state, name, 4 * width, *shape) for name, shape in names.items())
        # Torch adds both biases to the same sum.
        for name, weights in (("w", w), ("u", u), ("bias", first + second)):
            yield f"0.lstm.directions.{number}.{name}", weights


def _numbers(state: Mapping[str, Any], name: str, *shape: int) -> Float32:
    """The numbers of a tensor, which must have this shape, and all of its numbers in the file."""
    import torch

    tensor, kinds = state[name], (torch.float32, torch.float16, torch.bfloat16, torch.float64)
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.dtype not in kinds:
        raise InputError(f"{name} is not a tensor of numbers")
    if tuple(tensor.shape) != shape:
        raise InputError(f"{name} has the shape {tuple(tensor.shape)}, not {shown(shape)}")
    # A tensor can repeat the same few numbers any number of times.
    if tensor.device.type != "cpu" or not 0 < tensor.nbytes <= tensor.untyped_storage().nbytes():
        raise InputError(f"{name} has the shape {shape}, but the file does not have so many numbers of it")
    array: Float32 = tensor.detach().resolve_neg().float().numpy()
    if not np.abs([array.min(), array.max()]).max() < 1e15:
        raise InputError(f"{name} has numbers that are not finite or too large")
    return array
