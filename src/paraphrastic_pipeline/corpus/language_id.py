"""Language identification of sentences with fastText."""

from collections.abc import Sequence
from pathlib import Path
from unicodedata import normalize

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.registry.language_labels import labels_of

_LABEL = "__label__"
_LEAST = 0.01  # smaller probabilities count as 0


def as_read(texts: Sequence[str]) -> list[str]:
    """Prepared texts as sentencepiece reads them: NFKC, with single spaces between words.

    The dot between words of Ethiopic becomes a space, too, since language identifiers know words by spaces.
    """
    forms = (text if text.isascii() else normalize("NFKC", text).replace("\u1361", " ") for text in texts)
    return [" ".join(form.split()) for form in forms]


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

    def identify(self, texts: Sequence[str], language: str) -> tuple[list[str], Float32, Float32]:
        """Identify the language of each text, which should be `language`.

        Returns:
            The most likely label of each text, or "" if it is empty; the probability of this label; and that
            of `language`, float32 [texts] each. The latter is the sum over all labels that stand for the
            language (`language_labels.labels_of`), without those that have less than 0.01, since finding them
            all takes twice as long. It is NaN if the identifier has no such label.
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
        return codes, values[0], values[1]
