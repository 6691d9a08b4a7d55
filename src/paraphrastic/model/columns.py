"""Sentences in the forms in which people have them: lists, and columns of pandas, Polars, Arrow and NumPy."""

from collections.abc import Iterable, Sequence
from typing import Any, cast


class Column:
    """Sentences that are read in parts.

    Raises:
        TypeError: there is no column of sentences, but for example a table.
    """

    def __init__(self, sentences: Any) -> None:
        if sentences is None or isinstance(sentences, bytes):
            raise TypeError(f"sentences are {sentences!r:.50}, not strings")
        sentences = _as_arrow(sentences)
        if len(shape := getattr(sentences, "shape", (0,))) != 1:
            raise TypeError(f"one column of sentences is needed, not a table of the shape {tuple(shape)}")
        if not isinstance(sentences, list | tuple) and not _list_method(sentences):
            sentences = list(sentences)
        self._size = len(cast(Sequence[str], sentences))
        # Rows of pandas have names, and `iloc` takes their places.
        self._values: Any = getattr(sentences, "iloc", sentences)

    def __len__(self) -> int:
        return self._size

    def part(self, rows: slice) -> Any:
        """Some of the sentences: a list, a column of Arrow, or an array of NumPy with text of fixed width."""
        part = self._values[rows]
        is_text = getattr(getattr(part, "dtype", None), "kind", None) == "U"
        return part if is_text or hasattr(part, "to_pylist") else _listed(part)


def as_list(sentences: Iterable[str]) -> Sequence[str]:
    """Sentences as a list, which columns and arrays make of themselves faster than a loop does."""
    return _listed(Column(sentences).part(slice(None)))


def _listed(part: Any) -> Sequence[str]:
    method = _list_method(part)
    return cast(Sequence[str], getattr(part, method)() if method else part)


def _list_method(sentences: Any) -> str | None:
    return next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(sentences, name)), None)


def _as_arrow(sentences: Any) -> Any:
    """A column of Arrow for one of pandas or Polars that is kept as such, with its words for one of codes."""
    if hasattr(sentences, "to_arrow"):
        try:
            sentences = sentences.to_arrow()
        except ImportError:
            # Polars works without pyarrow.
            return sentences
    elif hasattr(dtype := getattr(sentences, "dtype", None), "pyarrow_dtype") or (
        hasattr(sentences, "iloc") and getattr(dtype, "storage", None) == "pyarrow"
    ):
        sentences = sentences.array.__arrow_array__()
    kind: Any = getattr(sentences, "type", None)
    return sentences.cast(kind.value_type) if hasattr(kind, "index_type") else sentences
