"""Groups of sentences that mean the same: one reader for each source, and the pairs that are drawn.

To add a source, write a reader and name it in `READERS` and in the column `members` of the registry. It takes
the source's files, the words after its name in `members`, and the count of rows that cannot be read. It
yields the sentences of each row with a key; all rows of a key are a group, and with None, each row is one.
"""

import json
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from fnmatch import filter as matching
from functools import partial
from hashlib import md5
from itertools import islice
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import clean
from paraphrastic_pipeline.corpus.lines import MAX_BYTES, Unreadable, aligned_lines, file_lines
from paraphrastic_pipeline.corpus.tables import table_rows
from paraphrastic_pipeline.registry.archive import files_in, open_members

# Most pairs that are drawn from a group.
PAIRS_PER_GROUP = 10

_Paths = Sequence[Path]
_Rows = Iterator[tuple[Hashable, Sequence[str]]]
# The number of a group, which is the one of its first row, and its sentences.
_Groups = Iterator[tuple[int, Sequence[str]]]


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
        ranks = {form: _digest(seed, form) for form in distinct}
        order = [distinct[form] for form in sorted(distinct, key=ranks.__getitem__)]
        for one, other in islice(_circle(len(order)), PAIRS_PER_GROUP):
            pair = order[one], order[other]
            yield *(pair if _digest(seed, *sorted(pair))[0] % 2 else pair[::-1]), number


def _circle(n: int) -> Iterator[tuple[int, int]]:
    """All pairs of n places on a circle, each once and with the smaller place first, neighbours first."""
    for distance in range(1, n // 2 + 1):
        # Opposite places are as far apart in both directions.
        starts = range(n // 2) if 2 * distance == n else range(n)
        for part in range(2):
            for start in starts:
                if start // distance % 2 == part:
                    one, other = start, (start + distance) % n
                    yield (one, other) if one < other else (other, one)


def _digest(seed: int, *texts: str) -> bytes:
    return md5("\n".join([str(seed), *texts]).encode(), usedforsecurity=False).digest()


def read_groups(paths: _Paths, words: Sequence[str], unreadable: Unreadable) -> _Groups:
    """The numbers and sentences of the groups in files; `words` name the reader.

    Raises:
        InputError: there is no such reader, or a file is damaged or not what the reader expects.
    """
    name, *words = words
    if name == "quora":
        yield from _quora(paths, unreadable)
        return
    if name not in READERS:
        raise InputError(f"{paths[0]}: there is no reader {name!r} of groups, only {', '.join(READERS)}")
    keyed: dict[Hashable, tuple[int, list[str]]] = {}
    for number, (key, sentences) in enumerate(READERS[name](paths, words, unreadable), start=1):
        if key is None:
            yield number, sentences
        else:
            keyed.setdefault(key, (number, []))[1].extend(sentences)
    yield from keyed.values()


def _table(paths: _Paths, columns: Sequence[str], unreadable: Unreadable) -> _Rows:
    """A table with the sentences of a group in columns of a row; without columns, in all cells of a line."""
    for path in paths:
        if columns:
            yield from ((None, cells) for _, cells in table_rows(path, columns, unreadable))
        else:
            yield from ((None, line.split("\t")) for _, line in file_lines(path, unreadable))


def _wmt(paths: _Paths, _words: Sequence[str], unreadable: Unreadable) -> _Rows:
    """WMT's news systems: references and outputs of the systems translate the same lines of a test set.

    Some test sets are there in other forms, too, such as `txt-ts`, which have other lines.
    """
    name_of_file = re.compile(r"[^/]+/txt/(?:references|system-outputs)/([^/]+)\.(?:ref|hyp)\.[^/]+\.en")
    for path in paths:
        sets: dict[str, list[str]] = {}
        for name in _names(path):
            if match := name_of_file.fullmatch(name):
                sets.setdefault(match[1], []).append(name)
        for _, names in sorted(sets.items()):
            yield from ((None, texts) for _, texts in _aligned(path, names, unreadable))


def _indian(paths: _Paths, _words: Sequence[str], unreadable: Unreadable) -> _Rows:
    """Translations of sentences in six Indian languages, with ids in training, side by side elsewhere.

    The Malayalam test set lacks a line, so no test set is read.
    """
    for path in paths:
        names = _names(path)
        for ids in matching(names, "*/training.*.seg_ids"):
            stem = ids.removesuffix("seg_ids")
            for number, (key, text) in _aligned(path, [ids, f"{stem}en"], unreadable):
                if key.strip():
                    yield (ids, key), [text]
                else:
                    unreadable.add(f"{path}: {ids}", number, "the id is empty")
            for part in ("dev", "devtest"):
                others = matching(names, f"{stem.replace('training', part)}en.?")
                for number, texts in _aligned(path, others, unreadable):
                    # If some differ in case alone, the first is kept, and capitals come first.
                    yield (ids, part, number), sorted(texts)


def _names(path: Path) -> list[str]:
    return sorted(name for name, _ in files_in(path, max_bytes=MAX_BYTES))


def _aligned(path: Path, names: Sequence[str], unreadable: Unreadable) -> _Groups:
    """The numbers and texts of lines of members that are aligned by line."""
    with open_members(path, names, max_bytes=MAX_BYTES) as streams:
        yield from aligned_lines(streams, [f"{path}: {name}" for name in names], unreadable)


def _captions(
    pattern: str, rows: str, key: str, paths: _Paths, _words: Sequence[str], unreadable: Unreadable
) -> _Rows:
    """JSON files in archives, with captions in the list `rows` and the key of what they describe."""
    members = [(name, path) for path in paths for name in matching(_names(path), pattern)]
    for name, path in sorted(members):
        with open_members(path, [name], max_bytes=MAX_BYTES) as (stream,):
            try:
                captions = [(row[key], clean(row["caption"])) for row in json.load(stream)[rows]]
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise InputError(f"{path}: {name}: has no captions: {error!r}") from None
        unreadable.rows += len(captions)
        yield from ((value, [caption]) for value, caption in captions)


def _bible(paths: _Paths, _words: Sequence[str], unreadable: Unreadable) -> _Rows:
    """English Bibles, a table each: translations of one verse mean the same."""
    for path in paths:
        for _, cells in table_rows(path, ["Book", "Chapter", "Verse", "Text"], unreadable):
            yield tuple(cells[:3]), cells[3:]


def _quora(paths: _Paths, unreadable: Unreadable) -> _Groups:
    """Quora's duplicate questions.

    A row is a pair. Rows that share a question, also through other rows, get the number of the first of them,
    since all their questions mean the same; but pairs are only those of the rows.
    """
    columns = ["qid1", "qid2", "question1", "question2", "is_duplicate"]
    rows = [cells for path in paths for _, cells in table_rows(path, columns, unreadable) if cells[4] == "1"]
    parents: dict[str, str] = {}

    def root(question: str) -> str:
        while (parent := parents.setdefault(question, question)) != question:
            parents[question] = question = parents[parent]
        return question

    for one, other, *_ in rows:
        parents[root(other)] = root(one)
    numbers: dict[str, int] = {}
    for row, cells in enumerate(rows, start=1):
        yield numbers.setdefault(root(cells[0]), row), cells[2:4]


READERS: dict[str, Callable[[_Paths, Sequence[str], Unreadable], _Rows]] = {
    "table": _table,
    "wmt": _wmt,
    "indian": _indian,
    "coco": partial(_captions, "annotations/captions_*.json", "annotations", "image_id"),
    "msr_vtt": partial(_captions, "*_videodatainfo.json", "sentences", "video_id"),
    "bible": _bible,
}
