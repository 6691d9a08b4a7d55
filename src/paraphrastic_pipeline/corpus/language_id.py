"""Language identification of sentences with fastText, with an existing model or one trained here."""

import re
import struct
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output
from paraphrastic_pipeline.base.compressed import open_stream
from paraphrastic_pipeline.registry.language_labels import labels_of

# A fastText file begins with a magic number, its version, twelve settings (the eighth is the kind of model)
# and the sampling threshold. Then comes the dictionary, which begins with the numbers of entries, words,
# labels, tokens and pruned entries.
_HEADER, _DICTIONARY = "<ii12id", "<iiiqq"
_MAGIC, _VERSIONS, _CLASSIFIER = 793712314, (11, 12), 3
_CENTROIDS = 256  # for each part of a quantised vector
_LABEL = "__label__"
_LEAST = 0.01  # smaller probabilities count as 0
_NOTHING = [(0.0, _LABEL)]
_LABEL_PATTERN = re.compile(rb"__label__[a-z]{2,3}")


class LanguageIdentifier:
    """A fastText classifier with labels `__label__en`, such as lid.176.

    Attributes:
        path: the model file.
        labels: the codes that it knows.

    Raises:
        InputError: the file is not a fastText classifier, or is damaged.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        _check_classifier(self.path)
        try:
            self._model = _fasttext().load_model(str(path))
        except (ValueError, RuntimeError, MemoryError) as error:
            raise InputError(f"{path}: a damaged fastText model: {error}") from None
        labels = self._model.get_labels()
        if not all(label.startswith(_LABEL) for label in labels):
            raise InputError(f"{path}: the model's labels are not {_LABEL} and a language's code")
        self.labels = frozenset(label.removeprefix(_LABEL) for label in labels)

    def identify(self, texts: Sequence[str], language: str) -> "Identified":
        """Identify the language of each text.

        Args:
            texts: the texts; an empty one has the language "" and the probabilities 0.
            language: the code of the language that they should be in.
        """
        expected = {_LABEL + label for label in labels_of(language, self.labels)}
        predict = self._model.f.predict
        codes, best, probabilities = [], [], []
        for text in texts:
            # One line per text, since fastText counts a newline as a word. For several lines at a time, it
            # repeats the probability of the best label for all others (fasttext-wheel 0.9.2).
            line = text.replace("\n", " ")
            labels = predict(f"{line}\n", -1, _LEAST, "strict") if line and not line.isspace() else _NOTHING
            value, label = labels[0]
            codes.append(label[len(_LABEL) :])
            best.append(value)
            if len(labels) == 1:
                probabilities.append(value if label in expected else 0.0)
            else:
                probabilities.append(sum([value for value, label in labels if label in expected]))
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


def train_language_id(
    labelled: Path, output: Path, *, max_bytes: int = 100 << 30, epochs: int = 10, seed: int
) -> dict[str, int]:
    """Train a small fastText classifier on labelled text.

    The model uses character n-grams of length 1 to 4 and frequent words, in 16 dimensions, and takes a few
    megabytes. A single thread trains it, because with more the result would differ from run to run.

    Args:
        labelled: lines `__label__CODE text`; gzip, bzip2 or plain.
        output: the model file.
        max_bytes: most bytes that the text may have, unpacked.
        epochs: how often each line is seen.
        seed: seed for the order of the lines and for the training.

    Returns:
        Number of lines by language.

    Raises:
        InputError: a line has no label or no text, or there is text in fewer than two languages.
    """
    with open_stream(labelled, max_bytes=max_bytes) as stream:
        lines = [_checked(line, f"{labelled}:{number}") for number, line in enumerate(stream, start=1)]
    labels = [line.split(b" ", 1)[0].decode().removeprefix(_LABEL) for line in lines]
    counts = dict(sorted(Counter(labels).items()))
    if len(counts) < 2:
        known = ", ".join(counts) or "none"
        raise InputError(f"{labelled}: language identification needs text in two languages; found: {known}")
    with atomic_output(output) as temporary:
        with tempfile.NamedTemporaryFile(dir=temporary.parent) as training:
            training.writelines(lines[row] for row in np.random.default_rng(seed).permutation(len(lines)))
            training.flush()
            model = _fasttext().train_supervised(
                training.name, dim=16, minn=1, maxn=4, bucket=50_000, minCount=20, lr=0.5, epoch=epochs,
                thread=1, seed=seed, verbose=0,
            )  # fmt: skip
        model.save_model(str(temporary))
        try:
            _check_classifier(temporary)  # fastText does not report a full disk
        except InputError:
            raise InputError(f"{output}: cannot be written completely: is the disk full?") from None
    return counts


def _checked(line: bytes, place: str) -> bytes:
    label, _, text = line.strip().partition(b" ")
    if not _LABEL_PATTERN.fullmatch(label) or not text.strip() or _LABEL.encode() in text:
        raise InputError(f"{place}: expected a line `{_LABEL}CODE text`")
    return label + b" " + text.strip() + b"\n"


def _check_classifier(path: Path) -> None:
    """Raise an `InputError` unless the file is a complete fastText classifier.

    fastText trusts its files. If one is cut short, fastText loads arbitrary values, fills the memory or ends
    the process. Therefore the length that the file's layout implies is compared with its size.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        whole = _size_by_layout(path, content) == len(content)
    except struct.error:
        whole = False
    if not whole:
        raise InputError(f"{path}: a damaged fastText model: {len(content)} bytes do not match its contents")


def _size_by_layout(path: Path, content: bytes) -> int:
    """Size in bytes that the layout implies; a damaged model gives another size or a `struct.error`."""
    place = 0

    def read(layout: str) -> tuple[int, ...]:
        nonlocal place
        place += struct.calcsize(layout)
        return struct.unpack_from(layout, content, place - struct.calcsize(layout))

    magic, version, *settings = read(_HEADER)
    if magic != _MAGIC:
        raise InputError(f"{path}: not a fastText model")
    if version not in _VERSIONS or settings[7] != _CLASSIFIER:
        raise InputError(f"{path}: not a fastText classifier of a known version")
    entries, _, labels, _, pruned = read(_DICTIONARY)
    if not 0 < labels <= entries:
        raise struct.error
    for _ in range(entries):
        # Each entry is a zero-terminated word, an 8-byte count and a 1-byte type.
        end = content.find(b"\0", place)
        if end < 0:
            raise struct.error
        place = end + 1 + 8 + 1
    place += 8 * max(pruned, 0)
    quantised = True
    for _ in range(2):  # input matrix, then output matrix, which is quantised only if the first one is
        quantised = bool(read("<?")[0]) and quantised
        if not quantised:
            rows, columns = read("<qq")
            place += 4 * rows * columns
            continue
        has_norms, rows, _, codes = read("<?qqi")
        # A quantiser for the vectors, and perhaps one for their norms.
        for size in (codes, rows)[: 1 + has_norms]:
            place += size
            dimension, *_ = read("<4i")
            place += 4 * dimension * _CENTROIDS
    return place


def _fasttext() -> Any:
    from fasttext import FastText

    FastText.eprint = lambda *_: None  # silences a notice on every load about the type that it returns
    return FastText
