"""Groups of sentences that mean the same: one reader for each source, and the pairs that are drawn.

To add a source, write a reader and name it in `READERS` and in the column `members` of the registry. It takes
the source's files, the words after its name in `members`, and the count of rows that cannot be read. It
yields the number and the sentences of each group.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from hashlib import md5
from itertools import chain, islice
from pathlib import Path

import numpy as np
from pandas import factorize
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import clean
from paraphrastic_pipeline.corpus.lines import MAX_BYTES, Text, Unreadable, aligned_lines
from paraphrastic_pipeline.corpus.tables import table_rows
from paraphrastic_pipeline.registry.archive import files_in

# Most pairs that are drawn from a group.
PAIRS_PER_GROUP = 10

_Paths = Sequence[str | Path]
_Groups = Iterable[tuple[int, Sequence[str]]]


def drawn_pairs(groups: _Groups, seed: int) -> Iterator[tuple[str, str, int]]:
    """Draw at most `PAIRS_PER_GROUP` pairs `source, target, number` from each group.

    Sentences that differ only in case and white space count once. The sentences of a group are put into a
    random circle. Neighbours are paired first, beginning with pairs that share no sentence, then sentences
    that are two places apart, and so on. So every sentence of a group is in about as many pairs as any other.
    Which sentence of a pair is the source does not depend on the order of the two in the corpus, so that a
    pair which is listed in both directions has two copies.
    """
    for number, sentences in groups:
        distinct = {" ".join(text.lower().split()): text for text in reversed(sentences) if text.strip()}
        order = [distinct[form] for form in sorted(distinct, key=lambda form: _digest(seed, form))]
        for one, other in islice(_circle(len(order)), PAIRS_PER_GROUP):
            pair = order[one], order[other]
            yield *(pair if _digest(seed, *sorted(pair))[0] % 2 else pair[::-1]), number


def _circle(n: int) -> Iterator[tuple[int, int]]:
    """All pairs of n places on a circle, each once and with the smaller place first, neighbours first."""
    for distance in range(1, n // 2 + 1):
        # Opposite places are as far apart in both directions.
        starts = range(n // 2 if 2 * distance == n else n)
        for start in sorted(starts, key=lambda start: start // distance % 2):
            one, other = sorted((start, (start + distance) % n))
            yield one, other


def _digest(seed: int, *texts: str) -> bytes:
    return md5("\n".join([str(seed), *texts]).encode(), usedforsecurity=False).digest()


def _by_key(rows: Iterable[tuple[Hashable, str]]) -> _Groups:
    """Groups of the sentences with the same key, numbered by their first rows."""
    groups: dict[Hashable, tuple[int, list[str]]] = {}
    for number, (key, text) in enumerate(rows, start=1):
        groups.setdefault(key, (number, []))[1].append(text)
    return groups.values()


def _table(paths: _Paths, columns: Sequence[str], unreadable: Unreadable) -> _Groups:
    """A table with the sentences of a group in columns of a row; without columns, in all cells of a line."""
    if columns:
        rows = (cells for path in paths for _, cells in table_rows(path, columns, unreadable))
    else:
        rows = (line.split("\t") for path in paths for _, line in Text(path).lines(unreadable))
    return enumerate(rows, start=1)


def _wmt(paths: _Paths, _words: Sequence[str], unreadable: Unreadable) -> _Groups:
    """WMT's news systems: references and outputs of the systems translate the same lines of a test set.

    Some test sets are there in other forms, too, such as `txt-ts`, which have other lines.
    """
    name_of_file = re.compile(r"[^/]+/txt/(?:references|system-outputs)/([^/]+)\.(?:ref|hyp)\.[^/]+\.en")
    sets: dict[tuple[str | Path, str], list[Text]] = defaultdict(list)
    for path in paths:
        for name in _names(path):
            if match := name_of_file.fullmatch(name):
                sets[path, match[1]].append(Text(path, (name,)))
    aligned = (aligned_lines(sets[key], unreadable) for key in sorted(sets))
    return enumerate((texts for _, texts in chain.from_iterable(aligned)), start=1)


def _indian(paths: _Paths, _words: Sequence[str], unreadable: Unreadable) -> _Groups:
    """Translations of sentences in six Indian languages, with ids in training, side by side elsewhere.

    The Malayalam test set lacks a line, so no test set is read.
    """

    def rows(path: str | Path) -> Iterator[tuple[Hashable, str]]:
        names = _names(path)
        for ids in (name for name in names if fnmatch(name, "*/training.*.seg_ids")):
            english = f"{ids.removesuffix('seg_ids')}en"
            texts = Text(path, (ids,)), Text(path, (english,))
            yield from (((ids, key), text) for _, (key, text) in aligned_lines(texts, unreadable))
            for part in ("dev", "devtest"):
                stem = english.replace("training", part)
                others = [Text(path, (name,)) for name in names if fnmatch(name, f"{stem}.?")]
                for number, sentences in aligned_lines(others, unreadable):
                    # If some differ in case alone, the first is kept, and capitals come first.
                    yield from (((ids, part, number), text) for text in sorted(sentences))

    return _by_key(chain.from_iterable(map(rows, paths)))


def _names(path: str | Path) -> list[str]:
    return sorted(name for name, _ in files_in(path, max_bytes=MAX_BYTES))


def _captions(
    pattern: str, rows: str, key: str, paths: _Paths, _words: Sequence[str], unreadable: Unreadable
) -> _Groups:
    """JSON files in archives, with captions in the list `rows` and the key of what they describe."""
    captions = []
    for path in sorted(paths):
        for name, stream in files_in(path, max_bytes=MAX_BYTES):
            if fnmatch(name, pattern):
                try:
                    captions += [(row[key], clean(row["caption"])) for row in json.load(stream)[rows]]
                except (ValueError, LookupError, TypeError, AttributeError) as error:
                    raise InputError(f"{path}: {name}: has no captions: {error!r}") from None
    unreadable.rows += len(captions)
    return _by_key(captions)


def _bible(paths: _Paths, _words: Sequence[str], unreadable: Unreadable) -> _Groups:
    """English Bibles, a table each: translations of one verse mean the same."""
    columns = ["Book", "Chapter", "Verse", "Text"]
    rows = (cells for path in paths for _, cells in table_rows(path, columns, unreadable))
    return _by_key((tuple(verse), text) for *verse, text in rows)


def _quora(paths: _Paths, _words: Sequence[str], unreadable: Unreadable) -> _Groups:
    """Quora's duplicate questions.

    A row is a pair. Rows that share a question, also through other rows, get the number of the first of them,
    since all their questions mean the same; but pairs are only those of the rows.
    """
    columns = ["qid1", "qid2", "question1", "question2", "is_duplicate"]
    rows = [cells for path in paths for _, cells in table_rows(path, columns, unreadable) if cells[4] == "1"]
    questions, distinct = factorize(np.array([cells[:2] for cells in rows]).reshape(-1))
    links = coo_array((np.ones(len(rows)), (questions[::2], questions[1::2])), shape=(len(distinct),) * 2)
    components = connected_components(links, directed=False)[1][questions[::2]]
    numbers: dict[int, int] = {}
    for row, (cells, component) in enumerate(zip(rows, components.tolist(), strict=True), start=1):
        yield numbers.setdefault(component, row), cells[2:4]


READERS: dict[str, Callable[[_Paths, Sequence[str], Unreadable], _Groups]] = {
    "table": _table,
    "wmt": _wmt,
    "indian": _indian,
    "coco": partial(_captions, "annotations/captions_*.json", "annotations", "image_id"),
    "msr_vtt": partial(_captions, "*_videodatainfo.json", "sentences", "video_id"),
    "bible": _bible,
    "quora": _quora,
}
