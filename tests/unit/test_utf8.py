"""Preparation of bytes: exactly what `prepare_text` does, or nothing."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.text import prepare_text
from paraphrastic.model.utf8 import Utf8, prepare_utf8

# Each makes a column of texts.
FORMS: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "tuple": tuple,
    "NumPy": np.array,
    "every second row": lambda texts: np.array([text for each in texts for text in (each, "no")])[::2],
    "Arrow": lambda texts: pa.array(texts, pa.string()),
    "large": lambda texts: pa.array(["no", *texts, "no"], pa.large_string())[1:-1],
    "views": lambda texts: pa.array(texts, pa.string_view()),
    "chunks": lambda texts: pa.chunked_array([["no"], texts[:1], texts[1:]], pa.string())[1:],
}
# Letters of two and three bytes whose lower cases have other numbers of bytes, marks that nobody sees, spaces
# of several kinds, and characters of four bytes with and without cases.
TEXTS = [
    *("", " ", "ȺȾ ẞ K Å", "ÄÖÜ\u00ad\ufeffß", "a\tb\u200bc\u0085d"),
    *("\U00010400 \U00020000 \U0001f600\ufe0f", "ΑΒΓ ς"),
]


def texts_of(prepared: Utf8 | None) -> list[str]:
    """The sentences of a result, each of which has one byte behind it."""
    assert prepared is not None
    starts = [0, *(prepared.ends[:-1] + 1)]
    return [
        prepared.text[start:end].tobytes().decode() for start, end in zip(starts, prepared.ends, strict=True)
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lowercase", [True, False])
def test_text_is_prepared_as_by_prepare_text(form: str, lowercase: bool) -> None:
    assert texts_of(prepare_utf8(FORMS[form](TEXTS), lowercase=lowercase)) == prepare_text(
        TEXTS, lowercase=lowercase
    )


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_character_is_prepared_or_refused(lowercase: bool) -> None:
    refused = {0, *range(0xD800, 0xE000), *range(0xE0000, 0x110000)}
    refused |= {0x130, 0x3A3} if lowercase else set()
    characters = [chr(code) for code in range(0x110000) if code not in refused]
    assert texts_of(prepare_utf8(characters, lowercase=lowercase)) == prepare_text(
        characters, lowercase=lowercase
    )
    for code in sorted(refused)[:: len(refused) // 500]:
        assert prepare_utf8(["a", f"b{chr(code)}c"], lowercase=lowercase) is None


def test_any_text_is_prepared_as_by_prepare_text_or_refused() -> None:
    generator = random.Random(1)
    prepared_ones = 0
    for trial in range(1500):
        last = (0x7F, 0x250, 0x3000, 0x110000)[trial % 4]
        texts = [
            "".join(chr(generator.randrange(last)) for _ in range(generator.randrange(8))) for _ in range(4)
        ]
        lowercase = bool(trial & 4)
        for form in FORMS.values():
            try:
                column = form(texts)
            except UnicodeEncodeError:
                # Arrow has no lone surrogates.
                continue
            # Rows of NumPy end before their last NUL.
            kept = [text.rstrip("\0") for text in texts] if isinstance(column, np.ndarray) else texts
            prepared = prepare_utf8(column, lowercase=lowercase)
            if prepared is not None:
                assert texts_of(prepared) == prepare_text(kept, lowercase=lowercase)
                prepared_ones += 1
    assert prepared_ones > 3000


@pytest.mark.parametrize("code", [0x130, 0x3A3, 0xE0001, 0xE0100, 0x10FFFF])
def test_columns_refuse_what_lists_do(code: int) -> None:
    for form in FORMS.values():
        assert prepare_utf8(form(["a", chr(code)]), lowercase=True) is None


@pytest.mark.parametrize("length", [15, 16, 17, 127, 128, 129, 144, 145, 400])
def test_the_ends_of_wide_rows_are_found(length: int) -> None:
    texts = ["x" * length, *("y" * size for size in range(0, length, 7)), "", "é" * (length - 1)]
    assert texts_of(prepare_utf8(np.array(texts))) == texts


def test_texts_may_have_line_feeds() -> None:
    for make in FORMS.values():
        assert texts_of(prepare_utf8(make(["a\nb", "\n", "c"]))) == ["a b", " ", "c"]


def test_wrong_bytes_are_refused() -> None:
    for content in (
        0x80, 0xC0AF, 0xC1BF, 0xC3, 0xC328, 0xE0809F, 0xE09FBF, 0xEDA080, 0xE282, 0xF08FBFBF, 0xF4908080,
        0xF5808080,
    ):  # fmt: skip
        data = b"ok" + bytes.fromhex(f"{content:x}")
        offsets = np.array([0, 2, len(data)], np.int32)
        column = pa.StringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(data))
        assert prepare_utf8(column) is None, hex(content)
    # Two rows that are right only together are wrong.
    whole = "é".encode()
    column = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(whole))
    assert prepare_utf8(column) is None


@pytest.mark.parametrize(
    "column",
    [[], ["a", None], ["a", 1], np.array([1, 2]), np.array(["a"]).astype(">U3"), np.array(["a"], object),
     np.ma.array(["a", "b"], mask=[False, True]),
     pa.array(["a", None]), pa.array([1]), pa.array([], pa.string()), object()],
)  # fmt: skip
def test_what_is_no_column_of_text_is_refused(column: Any) -> None:
    assert prepare_utf8(column) is None


SETTINGS: Sequence[tuple[dict[str, Any], str | None, bool, bool]] = [
    # Settings, the language, whether ASCII is prepared, and whether other letters are.
    ({"folding": {"ru": "none"}, "segmentation": {"zh": "none"}}, None, True, True),
    ({"folding": {"ru": "yo"}, "lowercase": True}, None, True, False),
    ({"folding": {"tr": "dotless"}, "lowercase": True}, None, True, False),
    ({"folding": {"tr": "dotless"}}, None, False, False),
    ({"segmentation": {"zh": "accurate"}}, None, True, False),
    ({"segmentation": {"zh": "accurate"}}, "en", True, True),
    ({"segmentation": {"zh": "accurate"}}, "zh", False, False),
]


@pytest.mark.parametrize(("settings", "language", "ascii_too", "others"), SETTINGS)
def test_folded_and_segmented_text_is_left_to_prepare_text(
    settings: dict[str, Any], language: str | None, ascii_too: bool, others: bool
) -> None:
    cases = ((["A DIN", "b"], ascii_too), (["A", "ё"], others), (["A", "\U00020001"], others))
    for texts, is_prepared in cases:
        prepared = prepare_utf8(texts, language=language, **settings)
        assert (prepared is not None) == is_prepared
        if is_prepared:
            assert texts_of(prepared) == prepare_text(texts, language=language, **settings)
