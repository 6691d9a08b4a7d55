"""Errors in the encoder of a definition, and in training settings that do not suit it."""

from collections.abc import Iterator, Mapping

from paraphrastic_pipeline.settings.local_files import place_errors
from paraphrastic_pipeline.settings.sections.configuration import Definition
from paraphrastic_pipeline.settings.sections.encoder import Part

# The settings of an encoder that are for Transformers only.
_OF_TRANSFORMERS = ("pooling", "lstm_size", "max_tokens")


def architecture_errors(path: Mapping[str, str], definition: Definition) -> Iterator[str]:
    """Errors in a definition's encoder, and in training settings that do not suit the encoder."""
    training, encoder, at = definition.training, definition.encoder, f"{path['encoder']}.parts"
    architecture = definition.architecture
    yield from _several_errors(path["training"], definition)
    if architecture.transformer:
        yield from _transformer_errors(path, definition)
        return
    for key in _OF_TRANSFORMERS:
        if getattr(encoder, key) not in ("mean", None):
            yield f"{path['encoder']}.{key}: is for a transformer, which is null"
    dimensions = [part.dimension or training.dimension for part in architecture.parts]
    for number, (part, dimension) in enumerate(zip(architecture.parts, dimensions, strict=True)):
        if part.pooling == "max" and not part.recurrent:
            yield f"{at}.{number}.pooling: max is for lstm and bilstm, not for average"
        if part.peepholes and not part.recurrent:
            yield f"{at}.{number}.peepholes: are for lstm and bilstm, not for average"
        if part.directions == "concatenate" and part.kind != "bilstm":
            yield f"{at}.{number}.directions: concatenate is for bilstm, not for {part.kind}"
        elif part.directions == "concatenate" and dimension % 2:
            yield f"{at}.{number}.dimension: {dimension} is odd and cannot be split between two directions"
    if encoder.combine == "add" and len(set(dimensions)) > 1:
        sizes = ", ".join(map(str, dimensions))
        yield f"{path['encoder']}.combine: vectors of {sizes} entries cannot be added"
    if len(languages := definition.languages) != 2:
        for section in ("encoder", "vocabulary"):
            if (sharing := getattr(definition, section).languages) != "shared":
                present = f"only {languages[0]}" if len(languages) == 1 else f"{', '.join(languages)}"
                yield f"{path[section]}.languages: {sharing} needs two languages; there is {present}"
    for unit in architecture.units:
        if unit != "subword" and definition.vocabulary.of_unit(unit)["unknown"] == "spellings":
            unit_key = f"units.{unit}." if "unknown" in definition.vocabulary.overrides_of(unit) else ""
            yield f"{path['vocabulary']}.{unit_key}unknown: spellings is for subwords, not for {unit}s"
    at, engine, penalty = path["training"], training.engine, training.initial_vectors_penalty
    if engine == "fused" and not architecture.averaged:
        yield f"{at}.engine: fused is for one averaged part; auto or autograd trains {architecture.name}"
    lazy = training.optimizer == "lazy_adam"
    if lazy and (engine == "autograd" or not architecture.averaged):
        other = "autograd" if engine == "autograd" else f"autograd, which trains {architecture.name}"
        yield f"{at}.optimizer: lazy_adam is for the engine fused, not for {other}"
    unknown = training.only_autograd
    if unknown and (engine == "fused" or lazy):
        asked = "fused" if engine == "fused" else "fused, which lazy_adam needs"
        value = getattr(training, unknown[0])
        yield f"{at}.{unknown[0]}: {value} is for the engine autograd, not for {asked}"
    if training.gradient_checkpointing:
        yield f"{at}.gradient_checkpointing: is for a transformer, not for {architecture.name}"
    if training.initial_vectors is not None and "word" not in architecture.units:
        yield f"{at}.initial_vectors: are for words; no part has the unit word"
    if definition.vocabulary.only_initial_vectors and training.initial_vectors is None:
        yield f"{path['vocabulary']}.only_initial_vectors: needs training.initial_vectors, which is null"
    if penalty > 0 and training.initial_vectors is None:
        yield f"{at}.initial_vectors_penalty: needs initial_vectors, which is null"
    if penalty > 0 and (engine == "fused" or lazy):
        asked = "fused" if engine == "fused" else "fused, which lazy_adam needs"
        yield f"{at}.initial_vectors_penalty: is for the engine autograd, not for {asked}"
    if training.composition_penalty > 0 and not architecture.recurrent:
        yield f"{at}.composition_penalty: is for the weights of LSTMs; no part is lstm or bilstm"


def _several_errors(at: str, definition: Definition) -> Iterator[str]:
    """Errors of a model that is trained several times, in the section `at`."""
    training, architecture = definition.training, definition.architecture
    if training.soup > 1 and training.early_stopping:
        yield f"{at}.soup: trainings are not averaged with early_stopping; set it to null"
    trained, tables = training.trained_dimension, 1 + len(training.coarser)
    if not training.coarser:
        if trained:
            yield f"{at}.trained_dimension: is for tables that are joined (coarser); set it to null"
        return
    if trained and trained * tables < training.dimension:
        several = f"{tables} tables of {trained:,} dimensions"
        yield f"{at}.trained_dimension: {several} do not make one of {training.dimension:,}"
    if not architecture.averaged or architecture.units != ("subword",) or architecture.separate:
        yield f"{at}.coarser: is for an average of subwords that all languages share"
    for key in ("distil", "teacher", "initial_vectors", "early_stopping"):
        if getattr(training, key):
            yield f"{at}.coarser: does not go with {key}; set one of them to null, or coarser to []"
    most = definition.vocabulary.size
    for size in training.coarser:
        if size >= most:
            yield f"{at}.coarser: {size:,} pieces are not fewer than the vocabulary's {most:,}"


def _transformer_errors(path: Mapping[str, str], definition: Definition) -> Iterator[str]:
    training, encoder, at = definition.training, definition.encoder, path["encoder"]
    place = encoder.transformer or ""
    if encoder.parts != [Part(kind="average", unit=definition.vocabulary.unit)]:
        yield f"{at}.transformer: cannot be given together with parts; remove one of them"
    if encoder.languages != "shared":
        yield f"{at}.languages: the languages of a transformer share everything"
    yield from place_errors(f"{at}.transformer", place)
    if encoder.pooling == "lstm_last" and encoder.lstm_size is None:
        yield f"{at}.lstm_size: is missing; the pooling lstm_last needs it"
    if encoder.pooling != "lstm_last" and encoder.lstm_size is not None:
        yield f"{at}.lstm_size: is for the pooling lstm_last, not for {encoder.pooling}"
    at = path["training"]
    if training.engine == "fused":
        yield f"{at}.engine: fused is for one averaged part; auto or autograd trains a transformer"
    if training.optimizer == "lazy_adam":
        yield f"{at}.optimizer: lazy_adam is for one averaged part, not for a transformer"
    if training.init != "random":
        yield f"{at}.init: {training.init} is for embeddings, not for a transformer"
    for key in ("initial_vectors", "initial_vectors_penalty", "composition_penalty"):
        if getattr(training, key):
            yield f"{at}.{key}: is not for a transformer"
