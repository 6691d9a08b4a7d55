"""Language identification of sentences with fastText."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.registry.language_labels import labels_of

_LABEL = "__label__"
_LEAST = 0.01  # smaller probabilities count as 0


class LanguageIdentifier:
    """A fastText classifier with labels `__label__en`, such as lid.176.

    Attributes:
        path: the model file.
        labels: the codes that it knows.

    Raises:
        InputError: the file is not a fastText classifier of languages.
    """

    def __init__(self, path: str | Path) -> None:
        # Imported here, since dry runs do not need fastText.
        from fasttext import FastText

        FastText.eprint = lambda *_: None  # silences a notice on every load about the type that it returns
        self.path = Path(path)
        try:
            self._model = FastText.load_model(str(path))
        except (OSError, ValueError, RuntimeError, MemoryError) as error:
            raise InputError(f"{path}: not a fastText model: {error}") from None
        labels = self._model.get_labels()
        if not labels or not all(label.startswith(_LABEL) for label in labels):
            raise InputError(f"{path}: the model's labels are not {_LABEL} and a language's code")
        self.labels = frozenset(label.removeprefix(_LABEL) for label in labels)

    def identify(self, texts: Sequence[str], language: str) -> "Identified":
        """Identify the language of each text.

        Args:
            texts: the texts; an empty one has the language "" and the probabilities 0.
            language: the code of the language that they should be in.
        """
        expected = {_LABEL + label for label in labels_of(language, self.labels)}
        codes, best, probabilities = [], [], []
        for text in texts:
            # One line per text, since fastText counts a newline as a word. For several lines at a time, it
            # repeats the probability of the best label for all others (fasttext-wheel 0.9.2). At `</s>`, it
            # stops reading, as at the end of a line.
            line = text.replace("\n", " ").replace("</s>", " ")
            is_empty = not line or line.isspace()
            found = [(0.0, _LABEL)] if is_empty else self._model.f.predict(f"{line}\n", -1, _LEAST, "strict")
            codes.append(found[0][1].removeprefix(_LABEL))
            best.append(found[0][0])
            probabilities.append(sum([value for value, label in found if label in expected]))
        # Rounding in the softmax can yield slightly more than 1.
        values = np.minimum(np.array([best, probabilities], np.float32), np.float32(1))
        if not expected:
            values[1] = np.nan
        return Identified(codes, values[0], values[1])


class Identified(NamedTuple):
    """What an identifier says about texts.

    Attributes:
        codes: the most likely label of each text.
        confidences: the probability of this label, float32 [texts].
        probabilities: the probability of the expected language, float32 [texts], the sum over all labels that
            stand for it (`language_labels.labels_of`), or NaN if the identifier has none. Labels with less
            than 0.01 are left out, since finding them all takes twice as long.
    """

    codes: list[str]
    confidences: Float32
    probabilities: Float32
