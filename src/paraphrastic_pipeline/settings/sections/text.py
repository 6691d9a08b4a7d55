"""How corpora are read, and their text prepared, counted and identified."""

from typing import Literal

from paraphrastic_pipeline.settings.sections.fields import Share, section, setting


@section
class Extraction:
    """How corpora are read."""

    max_unreadable: Share = 0.01
    """The largest share of the rows of a corpus that may be unreadable; a larger one stops the run."""


@section
class Segmentation:
    """Whether and how text without spaces is split into words, by language."""

    zh: Literal["accurate", "full", "none"] = setting("none", original="full")
    """The mode of jieba: `accurate`, `full` (its `cut_all`), or `none`, since subwords need no spaces."""


@section
class Folding:
    """Which characters are written alike, by language; see [scripts](../docs/corpora.md#scripts)."""

    ar: Literal["marks", "none"] = setting("marks", original="none")
    """`marks` removes vowel and Quranic marks and the tatweel."""
    ru: Literal["yo", "none"] = setting("yo", original="none")
    """`yo` writes ё as е."""
    tr: Literal["dotted", "dotless", "none"] = setting("dotted", original="none")
    """`dotted` lower-cases İ to i; `dotless` also writes ı and I as i."""


@section
class Text:
    """How text is prepared, counted and identified."""

    lowercase: bool = True
    """Whether all text is lower-cased, in training and in use."""
    words: Literal["script", "white_space"] | None = setting(None, original="white_space")
    """What counts as a word in lengths, trigram overlaps and changed words: a word in scripts with spaces and
    a character in those without (`script`), or what stands between white space (`white_space`). Null stands
    for `white_space` if the configuration's `recipe` is `paper`, and otherwise for `script`.
    """
    identify: Literal["model", "original"] | None = setting(None, original="original")
    """The text whose language is identified: as the `model` sees it, folded and lower-cased, or the
    `original`. Null stands for `original` if the configuration's `recipe` is `paper`, and otherwise for
    `model`.
    """
    overlap_tokenizer: Literal["word", "treebank"] = setting("word", original="treebank")
    """What a word is for the trigram overlap: split at white space and punctuation (`word`), or by NLTK's
    tokenizer (`treebank`).
    """
    segmentation: Segmentation = setting(Segmentation)
    folding: Folding = setting(Folding)
