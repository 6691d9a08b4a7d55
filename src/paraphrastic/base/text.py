"""Preparation of raw text for a model: leave out what nobody sees, unify letters, lower-case, cut Chinese."""

import functools
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from paraphrastic.base.errors import InputError

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
# Kana and Hangul, which tell Japanese and Korean from Chinese, after NFKC.
_NOT_CHINESE = re.compile(
    "[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff]"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_HAN_OR_WORD = re.compile(f"([{_HAN}])|[^\\W\\d_{_HAN}]+")
# Code points that become spaces, as first and last: control characters, as `lines.read_lines` has it, and the
# zero-width space, which stands between words.
SEPARATORS = ((0x00, 0x1F), (0x7F, 0x9F), (0x200B, 0x200B))
# Those that nobody sees, such as the soft hyphen, marks of direction and variation selectors. They have
# Unicode's property Default_Ignorable_Code_Point, as has the zero-width space, or are the marks of an
# interlinear annotation (U+FFF9 to U+FFFB).
INVISIBLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200C, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)  # fmt: skip
# `visible` divides more texts than this into so many parts.
_FEW_TEXTS, _PARTS = 32, 16
_ARABIC_MARKS = [*range(0x0610, 0x061B), 0x0640, *range(0x064B, 0x0660), 0x0670, *range(0x06D6, 0x06EE)]
# By language and mode, for `str.translate`. Three code points among the marks are signs, not marks.
_FOLDINGS: dict[tuple[str, str], dict[int, str | None]] = {
    ("ar", "marks"): {**dict.fromkeys(set(_ARABIC_MARKS) - {0x06DD, 0x06DE, 0x06E9}), 0x0671: "\u0627"},
    ("ru", "yo"): {0x0451: "\u0435", 0x0401: "\u0415"},
    ("tr", "dotted"): {0x0130: "i"},
    ("tr", "dotless"): {0x0130: "i", 0x0131: "i", 0x0049: "i"},
}


def prepare_text(
    texts: Sequence[str],
    *,
    language: str | None = None,
    segmentation: Mapping[str, str] | None = None,
    folding: Mapping[str, str] | None = None,
    lowercase: bool = False,
) -> list[str]:
    """Prepare raw text for a model, in training and in use: clean, fold, then lower-case, then segment it.

    The original lower-cases Chinese before jieba sees it, which matters to words such as *T恤*.
    Spaces stay as they are, since sentencepiece collapses them.

    Args:
        texts: texts in one language.
        language: code of that language. Without one, `is_chinese` decides which texts are segmented.
        segmentation: mode of `segment` by language.
        folding: mode of `fold` by language.
        lowercase: whether to lower-case the texts, according to Unicode.

    Raises:
        InputError: a language has no segmenter with this mode, or the segmenter is not installed.
    """
    texts = fold(visible(texts), folding or {})
    if lowercase:
        texts = [text.lower() for text in texts]
    for code, mode in (segmentation or {}).items():
        chosen = (is_chinese(text) if language is None else code == language for text in texts)
        rows = [row for row, is_chosen in enumerate(chosen) if is_chosen]
        for row, text in zip(rows, segment([texts[row] for row in rows], code, mode), strict=True):
            texts[row] = text
    return texts


def visible(texts: Sequence[str]) -> list[str]:
    """The texts as a reader sees them.

    Control characters and the zero-width space become spaces. Other invisible characters (`INVISIBLE`) are
    left out.
    """
    if not _any_unusual("".join(texts)):
        return list(texts)
    if len(texts) > _FEW_TEXTS:
        # Such characters are rare: most parts of a large block have none.
        size = -(-len(texts) // _PARTS)
        parts = (texts[start : start + size] for start in range(0, len(texts), size))
        return [text for part in parts for text in visible(part)]
    separator, invisible = _class(SEPARATORS), _class(INVISIBLE)
    return [
        text if text.isascii() and text.isprintable() else invisible.sub("", separator.sub(" ", text))
        for text in texts
    ]


def clean(text: str) -> str:
    """A text as the cell of a table: every control character, tabs and ends of lines included, is a space."""
    return text if text.isprintable() else _CONTROL.sub(" ", text)


def _any_unusual(text: str) -> bool:
    """Whether `visible` would change a text; this is many times as fast as a regular expression."""
    # A late import, since a dry run of the pipeline reads this module, too.
    import numpy as np

    if text.isascii():
        characters = np.frombuffer(text.encode(), np.uint8)
        return len(characters) > 0 and not 0x20 <= characters.min() <= characters.max() < 0x7F
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return bool(unusual_points()[points].any())


@functools.cache
def unusual_points() -> Any:
    """Which code points `visible` changes, bool [0x110000]."""
    import numpy as np

    unusual = np.zeros(sys.maxunicode + 1, np.bool_)
    for first, last in (*SEPARATORS, *INVISIBLE):
        unusual[first : last + 1] = True
    return unusual


@functools.cache
def _class(ranges: Sequence[tuple[int, int]]) -> re.Pattern[str]:
    """A regular expression for one character of these."""
    return re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in ranges)}]")


def is_chinese(text: str) -> bool:
    """Guess whether a text is in Chinese.

    It then has at least as many Chinese characters as words in other scripts, and neither kana nor Hangul.
    """
    if text.isascii() or _NOT_CHINESE.search(unicodedata.normalize("NFKC", text)):
        return False
    runs = _HAN_OR_WORD.findall(text)
    chinese = len(runs) - runs.count("")
    return 0 < chinese >= runs.count("")


def segment(texts: Sequence[str], language: str, mode: str) -> list[str]:
    """Put spaces between the words of a language that is written without them.

    Args:
        texts: texts in one language.
        language: code of that language; only Chinese (`zh`) has a segmenter, jieba.
        mode: `accurate`; `full`, every word that the dictionary finds, even if words overlap (the original's
            `cut_all=True`); or `none`, which leaves the texts unchanged.
    """
    if mode == "none":
        return list(texts)
    if fault := fault_of_preparation({language: mode}, {}):
        raise InputError(fault)
    cut = _jieba().cut
    return [" ".join(" ".join(cut(text, cut_all=mode == "full")).split()) for text in texts]


def fault_of_preparation(segmentation: Mapping[str, str], folding: Mapping[str, str]) -> str | None:
    """Which entry of a segmentation or a folding is unknown; None if all are known."""
    for language, mode in segmentation.items():
        if mode != "none" and (language != "zh" or mode not in ("accurate", "full")):
            return f"segmentation.{language}: there is no segmenter {mode!r} for this language"
    for language, mode in folding.items():
        if mode != "none" and (language, mode) not in _FOLDINGS:
            return f"there is no folding {mode!r} for {language!r}"
    return None


def fold(texts: Sequence[str], folding: Mapping[str, str]) -> list[str]:
    """Unify characters that a language spells in several ways.

    Args:
        texts: texts in any language. A folding concerns only letters of its own language, so nobody needs
            to know which language a text is in.
        folding: mode by language. `ar`: `marks` leaves out vowel and Quranic marks and the tatweel, and
            writes the alef wasla as an alef. `ru`: `yo` writes ё as е. `tr`: `dotted` lower-cases İ to i,
            while Unicode yields an i with a second dot; `dotless` also writes ı and I as i. Any: `none`.
    """
    if not (table := folding_table(folding)):
        return list(texts)
    # Compose first, since a letter and its mark may be two characters.
    return [unicodedata.normalize("NFC", text).translate(table) for text in texts]


def folding_table(folding: Mapping[str, str]) -> dict[int, str | None]:
    """What each character of a folding becomes, for `str.translate`; None if it is left out. See `fold`."""
    table: dict[int, str | None] = {}
    for language, mode in folding.items():
        if mode != "none":
            table |= _FOLDINGS[language, mode]
    return table


@functools.cache
def _jieba() -> Any:
    try:
        import jieba
    except ModuleNotFoundError:
        raise InputError("jieba is not installed: pip install jieba") from None

    tokenizer = jieba.Tokenizer()
    # Like `initialize`, but without its log messages and its cache, a file whose name all users share.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer
