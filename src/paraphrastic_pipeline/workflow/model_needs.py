"""What models take: their weights, and the memory and time of training them and of embedding with them.

Times of LSTMs and Transformers follow from the number of weights that every token is multiplied with. They
were measured on a core with LSTMs of 300 to 1,800 dimensions and with a base model and a translator of random
weights. The rate of a GPU is that of a V100, on which seven million pairs take eight hours per epoch (Dadas
2022, section IV-C).
"""

import math
from importlib.util import find_spec
from pathlib import Path

from paraphrastic.model.architecture import Architecture, Part
from paraphrastic_pipeline.settings.places import hub_name
from paraphrastic_pipeline.settings.sections.configuration import Definition
from paraphrastic_pipeline.settings.sections.corpora import Translator
from paraphrastic_pipeline.settings.sections.training import TrainingSettings
from paraphrastic_pipeline.workflow.need import ENCODED, NEEDS, SENTENCES, Need

# Seconds of a core to embed a sentence, for each weight that its tokens are multiplied with; how many times
# as long a pair takes in training; and how many times as fast a GPU is. Backward passes take twice as long as
# forward ones. The margin loss embeds four sentences of a pair, after a search among two of them.
_EMBEDDED, _TRAINED, _TRAINED_MARGIN, _GPU = 0.57e-9, 6, 18, 114
# Seconds that a pair takes besides: for each dimension; for each dimension and mini-batch of the mega-batch;
# for each weight with the dense Adam of autograd, which updates all rows of all tables at every step; and for
# each table if embeddings begin with counts of what occurs together.
_AVERAGED, _MINED, _ADAM, _COUNTED = 80e-9, 0.75e-9, 2e-9, 10e-6
# MB of a pair that is shuffled with others; of a column of a table that is joined with others; and of the
# counts of what occurs together in a million pairs or more.
_SHUFFLED, _JOINED, _COUNTS = 280e-6, 0.75, 800
# Tokens of a sentence. For each of them, a step keeps this many floats for each state of an LSTM, and as many
# again for each direction; for a Transformer, this many times the root of the number of its weights.
_TOKENS, _KEPT_OF_LSTM, _KEPT_OF_TRANSFORMER = 20, 6, 25
# MB of the weights of a base model and of OPUS-MT, which stand for models that have only a name, and the
# dimension of a base model.
TRANSFORMER_MB, _TRANSLATOR_MB, _WIDTH = 500, 300, 768
# Seconds of a core to fit tables to a teacher's vector of a sentence.
_FITTED = 0.5e-3
# Pairs per MB of training data.
_PAIRS = SENTENCES / 2 / ENCODED


def vector_dimension(architecture: Architecture, dimension: int) -> int:
    """Return the dimension of sentence vectors whose parts are concatenated; added ones have no more."""
    return sum(part.dimension or dimension for part in architecture.parts)


def weights_mb(definition: Definition, dimension: int | None = None) -> float:
    """Return the MB of a model's weights: each part's table, with a row for each possible piece, and LSTMs.

    Embeddings have the `dimension`, or that of the definition.
    """
    architecture, dimension = definition.architecture, dimension or definition.training.dimension
    weights = multiplied(architecture, dimension)
    if not architecture.transformer:
        for part in architecture.parts:
            columns = dimension if part.recurrent else part.dimension or dimension
            weights += definition.vocabulary.of_unit(part.unit).size * columns
    return (1 + architecture.separate) * weights * 4e-6


def model_mb(definition: Definition) -> float:
    """Return the MB of a model's folder: its weights and its vocabulary."""
    return weights_mb(definition) + vocabulary_mb(definition)


def vocabulary_mb(definition: Definition) -> float:
    """Return the MB of a vocabulary."""
    return 0.24 + 17e-6 * float(definition.vocabulary.size)


def multiplied(architecture: Architecture, dimension: int) -> float:
    """Return the number of weights that every token is multiplied with: an encoder's LSTMs or Transformer."""
    if transformer := architecture.transformer:
        size = transformer.lstm_size or 0
        return (place_mb(transformer.place) or TRANSFORMER_MB) * 250_000 + 4 * size * (_WIDTH + size)
    lstms = [_lstms(part, dimension) for part in architecture.parts]
    return sum(4 * directions * width * (dimension + width) for directions, width in lstms)


def _lstms(part: Part, dimension: int) -> tuple[int, int]:
    """Return the number of a part's LSTMs and their width, where embeddings have `dimension`."""
    if not part.recurrent:
        return 0, 0
    directions = 1 + (part.kind == "bilstm")
    shared = directions if part.directions == "concatenate" else 1
    return directions, (part.dimension or dimension) // shared


def place_mb(place: str) -> float:
    """Return the MB of a Transformer's weights, in a folder or in the Hub's cache; 0 if they are not here."""
    files = [*Path(place).glob("*.safetensors")]
    name = None if files else hub_name(place)
    if name and find_spec("huggingface_hub"):
        from huggingface_hub import try_to_load_from_cache

        names = [name] if "/" in name else [f"sentence-transformers/{name}", name]
        cached = (try_to_load_from_cache(each, "model.safetensors") for each in names)
        files = [Path(path) for path in cached if isinstance(path, str)][:1]
    return sum(file.stat().st_size for file in files) / 1e6


def embedding_seconds(definition: Definition, sentences: float) -> float:
    """Return the seconds of a core for sentences in LSTMs or a Transformer; averages take next to nothing."""
    return _EMBEDDED * multiplied(definition.architecture, definition.training.dimension) * sentences


def teaching_seconds(weights_mb: float, texts: float) -> float:
    """Return the seconds of a core in which a teacher with weights of so many MB embeds texts."""
    return _EMBEDDED * (weights_mb or TRANSFORMER_MB) * 250_000 * texts


def fitting_need(pieces: float, sentences: float) -> Need:
    """Return the need of fitting tables to a teacher's vectors, by conjugate gradients."""
    return Need((7 * pieces + 3 * sentences) * _WIDTH * 4e-6, _FITTED * sentences)


def vocabulary_need(definition: Definition, size_mb: float) -> Need:
    """Return the need of training a vocabulary on merged pairs of `size_mb`."""
    need = NEEDS["train_vocabulary"].of(min(size_mb, definition.vocabulary.max_sentences / SENTENCES))
    return need + Need(0, 0, vocabulary_mb(definition))


def training_need(definition: Definition, settings: TrainingSettings, size_mb: float) -> Need:
    """Return the need of a training run with `settings` on training data of `size_mb`."""
    architecture, dimension = definition.architecture, settings.dimension
    weights, pairs = weights_mb(definition, dimension), size_mb * _PAIRS
    times = _TRAINED_MARGIN if settings.loss == "margin" else _TRAINED
    seconds = times * _EMBEDDED * multiplied(architecture, dimension)
    if architecture.transformer:
        need = NEEDS["train_transformer"] + Need(_transformer_memory(weights, settings), 0)
        seconds /= _GPU if settings.device == "cuda" else 1
    else:
        need = NEEDS["train_model"] + Need(_memory(definition, settings, weights, pairs), 0)
        # The mega-batch begins with one mini-batch and grows by one every `megabatch_anneal` steps.
        steps, anneal = settings.epochs * pairs / settings.batch_size, settings.megabatch_anneal
        megabatch = min(settings.megabatch, 1 + steps / (2 * anneal)) if anneal else settings.megabatch
        seconds += (_AVERAGED + _MINED * megabatch) * vector_dimension(architecture, dimension)
        if not settings.trains_fused(architecture):
            seconds += _ADAM * weights * 250_000 / settings.batch_size
    seconds *= settings.epochs
    if settings.init == "cooccurrences":
        seconds += _COUNTED
    return need + Need(0, pairs * seconds, model_mb(definition))


def _memory(definition: Definition, settings: TrainingSettings, weights: float, pairs: float) -> float:
    """Return the MB that training weights of so many MB on a number of pairs takes, without a Transformer.

    These are the weights and the optimizer's state; with autograd the gradients of all weights, and in the
    end a copy of them; with early stopping the best weights; the pairs that are shuffled together; two copies
    of a mega-batch's vectors; and the states of LSTMs in a mini-batch. Before training, what occurs together
    may be counted.
    """
    architecture, dimension = definition.architecture, settings.dimension
    vector = vector_dimension(architecture, dimension)
    tables = (3 if settings.trains_fused(architecture) else 5) + (settings.early_stopping is not None)
    lstms = [_lstms(part, dimension) for part in architecture.parts]
    # A pair has a negative for each side, so four sentences are embedded.
    kept = 4 * _TOKENS * sum(_KEPT_OF_LSTM * (1 + directions) * width for directions, width in lstms)
    floats = settings.batch_size * (4 * settings.megabatch * vector + kept)
    mb = tables * weights + _SHUFFLED * min(pairs, settings.shuffle_window) + 4e-6 * floats
    counts = _COUNTS * min(1.0, 1e-6 * pairs) if settings.init == "cooccurrences" else 0.0
    return max(mb, weights_mb(definition) + 2 * weights + counts)


def _transformer_memory(weights: float, settings: TrainingSettings) -> float:
    """Return the MB of weights, their gradients, Adam's state and a copy, and of a step's states."""
    sentences = (4 if settings.loss == "margin" else 2) * settings.batch_size
    kept = _KEPT_OF_TRANSFORMER * math.sqrt(weights * 250_000) * _TOKENS
    return 5 * weights + 4e-6 * kept * sentences


def translation_need(translator: Translator, size_mb: float) -> Need:
    """Return the need of translating one side of a bitext of `size_mb`."""
    weights = place_mb(translator.model) or _TRANSLATOR_MB
    # The encoder reads a sentence once, and the decoder once for each hypothesis.
    sentence = _EMBEDDED * weights * 250_000 * (1 + translator.beam)
    seconds = size_mb * SENTENCES / 2 * sentence / (_GPU if translator.device == "cuda" else 1)
    # The scores of the whole vocabulary for the hypotheses of a step, and copies of them in the beam search.
    return NEEDS["translate_corpus"].of(size_mb) + Need(2 * weights + 500, seconds)
