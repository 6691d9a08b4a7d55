"""`config.json` of a model folder: what it may say, and the one check of it, before anything else reads it.

A folder can come from anyone. What is read here has these types, and its names of files are plain.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from paraphrastic.base.errors import InputError, shown
from paraphrastic.base.files import is_plain_name, is_plain_path, read_json
from paraphrastic.base.limits import MANY, Count, Name, Range, Size, Text, is_name
from paraphrastic.base.text import folding_errors, segmentation_errors
from paraphrastic.base.typed import completed, faults, unwritable
from paraphrastic.model.architecture import Architecture
from paraphrastic.model.files import (
    AVERAGE,
    COMPOSITE,
    MODULES,
    SENTENCEPIECE,
    TOKENIZER,
    TRANSFORMER,
    WEIGHTS,
)

# The files that each kind of model has besides its configuration, at least.
NEEDED = {
    AVERAGE: (WEIGHTS, SENTENCEPIECE),
    COMPOSITE: (WEIGHTS, SENTENCEPIECE),
    TRANSFORMER: (WEIGHTS, MODULES, TOKENIZER),
}
# A configuration with more bytes than this is none.
_MOST_BYTES = 1 << 26

Version = Annotated[str, Text("a version on one line", lambda text: not text or is_name(text))]
File = Annotated[str, Text("the name of a file in the folder", is_plain_path)]
Digest = Annotated[
    str, Text("64 hexadecimal digits", lambda text: len(text) == 64 and not text.strip("0123456789abcdef"))
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The settings of the training that something reads; see `training.settings`. Others are only shown."""

    keeps_others: ClassVar[bool] = True

    dimension: Size | None = None
    epochs: Annotated[float, Range(0, MANY)] | None = None
    dropout: Annotated[float, Range(0, 1)] | None = None
    megabatch: Count | None = None
    negatives: Literal["other_side", "either_side"] = "other_side"
    exclude_duplicates: bool = True
    max_negative_share: Annotated[float, Range(0, 2)] | None = None
    mining_precision: Literal["auto", "float32", "bfloat16", "int8", "leading"] = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """The content of `config.json`. Keys that it does not describe are kept, and nothing reads them.

    Newer versions may write such keys; those that change vectors belong to another kind of `encoder`. A
    Transformer's file also has the entries of Hugging Face's libraries.
    """

    keeps_others: ClassVar[bool] = True

    encoder: Literal["averaged_subwords", "parts", "transformer"]
    model: Name
    lowercase: bool
    sha256: Mapping[File, Digest]
    dimension: Size | None = None
    unit: Literal["subword", "word", "trigram", "tokens"] = "subword"
    segmentation: Mapping[Name, str] = field(default_factory=dict)
    folding: Mapping[Name, str] = field(default_factory=dict)
    tokenized: bool = False
    languages: list[Name] = field(default_factory=list)
    corpora: Mapping[Name, Version] = field(default_factory=dict)
    training: Training = field(default_factory=Training)
    architecture: Architecture | None = None
    # Other systems that the model has learned from, and whether the licences of all that it has learned from
    # allow commercial use.
    teachers: Mapping[Version, Version] = field(default_factory=dict)
    commercial_use: Literal["allowed", "forbidden", "unknown"] = "unknown"
    pairs: Count | None = None
    initial_vectors: Mapping[Name, Count] | None = None
    reduction: Mapping[Name, bool | int | str | None] | None = None
    rank_by: Name | None = None
    part: Count | None = None
    # An entry of Hugging Face's libraries, which make so many layers before they read any weights.
    num_hidden_layers: Annotated[int, Range(0, 1000)] | None = None


def kind_of(path: Path) -> str | None:
    """The kind of model that a `config.json` describes; None if there is no such file, or it is not ours."""
    content = _content(path) if path.is_file() else None
    kind = content.get("encoder") if isinstance(content, dict) else None
    return kind if isinstance(kind, str) and kind in NEEDED else None


def read_config(path: Path) -> dict[str, Any]:
    """Read `config.json`: keys of earlier versions in their present form, and missing ones with defaults.

    Raises:
        InputError: the file is missing or damaged, describes no model of ours, or has a wrong value.
    """
    config = _content(path)
    if not isinstance(config, dict) or config.get("encoder") not in tuple(NEEDED):
        raise InputError(f"{path}: does not describe a model of the kind {' or '.join(NEEDED)}")
    if "structure" in config:
        config["architecture"] = config.pop("structure")
    return check_config(config, str(path))


def _content(path: Path) -> Any:
    if path.is_file() and path.stat().st_size > _MOST_BYTES:
        raise InputError(f"{path}: is no configuration: it has more than {_MOST_BYTES >> 20} MB")
    return read_json(path)


def check_config(config: Mapping[str, Any], place: str) -> dict[str, Any]:
    """A configuration with the defaults of missing keys; a wrong value is an `InputError`."""
    for fault in chain(faults(config, ModelConfig), unwritable(config)):
        raise InputError(f"{place}: {fault}")
    complete = completed(config, ModelConfig)
    for fault in _faults_together(complete):
        raise InputError(f"{place}: {fault}")
    return complete


def _faults_together(config: Mapping[str, Any]) -> Iterator[str]:
    """What does not fit together in values that have the right types."""
    kind, architecture = config["encoder"], config.get("architecture", {})
    for name in config["sha256"]:
        if kind != TRANSFORMER and not is_plain_name(name):
            yield f"sha256: has the key {shown(name)}; the name of a file in the folder is needed"
    if missing := set(NEEDED[kind]) - set(config["sha256"]):
        yield f"sha256: lacks {' and '.join(sorted(missing))}"
    yield from (f"segmentation.{fault}" for fault in segmentation_errors(config["segmentation"]))
    yield from (f"folding: {fault}" for fault in folding_errors(config["folding"]))
    if kind != TRANSFORMER and config["unit"] == "tokens":
        yield "unit: is 'tokens', which only a Transformer has"
    if kind == AVERAGE and "architecture" in config:
        yield "architecture: an average has none"
    if kind == TRANSFORMER and not architecture.get("transformer"):
        yield "architecture.transformer: is missing"
    if kind == COMPOSITE and (architecture.get("transformer") or not architecture.get("parts")):
        yield "architecture.parts: is missing; at least one part is needed"
    elif kind == COMPOSITE and Architecture.from_json(architecture).separate and not config["languages"]:
        yield "languages: is empty, but the model keeps its languages apart"
