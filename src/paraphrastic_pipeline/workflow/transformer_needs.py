"""The memory and time of Transformers and translators, from the number of their parameters.

The rate of a core was measured with a base model, an LSTM and a translator of random weights; the memory, and
the rate of a GPU, follow from the operations of each parameter for each token.
"""

import math
from pathlib import Path

from paraphrastic.base.files import read_json
from paraphrastic_pipeline.corpus.translation_limits import MOST_SCORES
from paraphrastic_pipeline.settings.sections.corpora import Translator
from paraphrastic_pipeline.settings.sections.training import Hyperparameters
from paraphrastic_pipeline.workflow.need import Need

# MB of the weights of a Transformer that has only a name, here of a base model; the tokens of a sentence and
# pairs per MB of training data; operations per second of a core and of a GPU, here of a V100, on which seven
# million pairs take eight hours an epoch (Dadas 2022, section IV-C); and the floats that a step keeps for
# each token, as a multiple of the root of the number of parameters.
_TRANSFORMER_MB, _TOKENS, _PAIRS = 500, 20, 5_500
_CORE_OPERATIONS, _GPU_OPERATIONS, _KEPT_OF_PARAMETERS = 7e10, 8e12, 25
# Seconds that a pair takes besides, in torch itself, and with an LSTM, whose tokens come one after the other.
_PAIR, _LSTM_PAIR = 2e-3, 10e-3
# The width of a base model, where the folder does not say.
_WIDTH, _WIDEST = 768, 1 << 16
# MB of the weights of a translator that has only a name, here of OPUS-MT.
_TRANSLATOR_MB = 300
# Sentences on one side of a bitext, per MB of it.
_SENTENCES = 20_000


def transformer_mb(place: str) -> float:
    """Return the MB of a Transformer's weights; a name stands for a base model."""
    return _mb_of_folder(place) or _TRANSFORMER_MB


def lstm_mb(place: str, size: int | None) -> float:
    """Return the MB of the weights of an LSTM with `size` states over a Transformer; 0 without an LSTM."""
    if size is None:
        return 0.0
    config = Path(place, "config.json")
    content = read_json(config) if config.is_file() else None
    width = content.get("hidden_size") if isinstance(content, dict) else None
    # The file is somebody else's. If it is damaged, training says so; this is only an estimate.
    if not isinstance(width, int) or not 0 < width <= _WIDEST:
        width = _WIDTH
    return 4 * 4 * size * (width + size + 2) / 1e6


def _mb_of_folder(place: str) -> float:
    return sum(file.stat().st_size for file in Path(place).glob("*.safetensors")) / 1e6


def transformer_seconds(weights: float, sentences: float) -> float:
    """Return the seconds that a Transformer with `weights` MB takes to embed sentences on one core."""
    return 2 * weights * 1e6 / 4 * _TOKENS * sentences / _CORE_OPERATIONS


def transformer_need(weights: float, settings: Hyperparameters, size_mb: float, *, lstm: bool) -> Need:
    """Return the need of training a Transformer, perhaps with an LSTM, on training data of `size_mb`.

    `weights` are the MB of both.

    Memory holds the weights, their gradients, Adam's state, and the states that a step keeps. The margin loss
    embeds four sentences of a pair, after the search for negatives among two of them.
    """
    pairs, parameters, margin = size_mb * _PAIRS, weights * 1e6 / 4, settings.loss == "margin"
    sentences = min(settings.chunk_size or math.inf, (4 if margin else 2) * settings.batch_size)
    kept = _KEPT_OF_PARAMETERS * math.sqrt(parameters) * _TOKENS * sentences * 4e-6
    # A forward pass takes two operations for each parameter and token, and a backward pass four.
    passes = 2 * 6 + (2 * 6 + 2 * 2 if margin else 0) + (2 * 2 if settings.chunk_size else 0)
    rate = _GPU_OPERATIONS if settings.device == "cuda" else _CORE_OPERATIONS
    seconds = passes * parameters * _TOKENS / rate
    if settings.device != "cuda":
        seconds += _PAIR + _LSTM_PAIR * lstm
    return Need(1500 + 5 * weights + kept, 20 + settings.epochs * settings.soup * pairs * seconds)


def translation_need(translator: Translator, size_mb: float) -> Need:
    """Return the need of translating a bitext of `size_mb`, with a decoder for each hypothesis."""
    weights = _mb_of_folder(translator.model) or _TRANSLATOR_MB
    rate = _GPU_OPERATIONS if translator.device == "cuda" else _CORE_OPERATIONS
    passes = 2 * weights * 1e6 / 4 * _TOKENS * (1 + translator.beam)
    sentences = size_mb * _SENTENCES
    # The scores of the whole vocabulary for the hypotheses of a step, and copies of them in the beam search.
    scores = 5 * 4e-6 * MOST_SCORES
    return Need(1500 + 2 * weights + scores, 20 + sentences * passes / rate)
