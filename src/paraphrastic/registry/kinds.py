"""The kinds of data sets: what a row of the registry, or a file of one's own, can be.

This table and a reader in `corpus/readers.py` make a kind of corpus. The schema of the configuration, its
validation and the registry take what they know of kinds from here.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of all data sets of a kind.

    Attributes:
        languages: how many languages a row of the registry may have: a pair, one (paraphrases), or none.
        is_corpus: whether the data set holds training pairs.
        endings: of the names of files that are of this kind, in lower case; only if a corpus is one file,
            which a configuration can name by its path.
        members: what the column `members` names: a member of an archive with each side, one with lines of
            both, or columns of source, target and scores.
        scores: what a corpus may bring along: `paraphrase_score`, `translation_score`.
    """

    languages: tuple[int, ...]
    is_corpus: bool = False
    endings: tuple[str, ...] = ()
    members: Literal["", "sides", "lines", "columns"] = ""
    scores: tuple[str, ...] = ()


_SCORES = ("paraphrase_score", "translation_score")

KINDS = {
    # A zip in Moses layout: one member a language, aligned by line.
    "opus": Kind((2,), is_corpus=True, members="sides"),
    # A zip with lines `text TAB translation [TAB attribution]`, the pair in that order.
    "manythings": Kind((2,), is_corpus=True, members="lines"),
    # One file a language, aligned by line with the data set's other files.
    "aligned": Kind((1,), is_corpus=True),
    # A zip with lines `reference TAB paraphrase TAB score`.
    "paranmt": Kind((1,), is_corpus=True, members="lines", scores=_SCORES[:1]),
    # Several files of one language, aligned by line, whose lines are paraphrases.
    "captions": Kind((1,), is_corpus=True),
    # Lines `source TAB target [TAB score]`, or the columns that `members` names.
    "tsv": Kind((1, 2), is_corpus=True, endings=(".tsv",), members="columns", scores=_SCORES),
    # A JSON object a line, with keys named by the languages or by `members`.
    "jsonl": Kind((1, 2), is_corpus=True, endings=(".jsonl", ".ndjson"), members="columns", scores=_SCORES),
    # Columns named by the languages or by `members`.
    "parquet": Kind((1, 2), is_corpus=True, endings=(".parquet",), members="columns", scores=_SCORES),
    # A translation memory.
    "tmx": Kind((1, 2), is_corpus=True, endings=(".tmx",)),
    # Lines `__label__CODE text`, to train language identification on.
    "labelled": Kind((0, 1, 2)),
    # A language-identification model.
    "fasttext": Kind((0,)),
    # Word vectors as text.
    "vectors": Kind((0, 1)),
    # The archive of the STS test sets.
    "sts": Kind((0,)),
    # Distances between languages, as lang2vec's archives have them.
    "uriel": Kind((0,)),
    # Any other file, read by the step that names it.
    "file": Kind((0, 1, 2)),
}
# Kinds whose corpora are one file, which a configuration can name by its path.
FILE_KINDS = tuple(name for name, kind in KINDS.items() if kind.endings)
# Kinds of data sets that hold training pairs; mined pairs are made by the pipeline and stand in no registry.
CORPUS_KINDS = (*(name for name, kind in KINDS.items() if kind.is_corpus), "mined")
