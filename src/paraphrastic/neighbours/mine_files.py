"""The command `paraphrastic mine`: mines translations from two text files."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from paraphrastic.base.errors import InputError
from paraphrastic.base.identities import identity_text
from paraphrastic.base.rows import Source
from paraphrastic.base.tables import clean
from paraphrastic.base.text import visible
from paraphrastic.base.text_files import text_output
from paraphrastic.model.system import System
from paraphrastic.neighbours.bitext import NEIGHBOURS, Margin, best_pairs, embed_entries
from paraphrastic.neighbours.nearest import nearest_neighbours

# Vectors that take more memory than this are held in 16 bits.
MAX_VECTOR_BYTES = 2 << 30

# Is called with the current task and the share of it that is done.
OnProgress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class MiningOptions:
    """How pairs are scored, and which ones are mined.

    Attributes:
        k: number of neighbours that a pair's cosine is compared with, or all sentences of a smaller file.
        margin: how pairs are scored; see `best_pairs`.
        min_score: pairs with a lower score are left out.
    """

    k: int = NEIGHBOURS
    margin: Margin = "ratio"
    min_score: float | None = None


def mine_files(
    system: System,
    source: Source,
    target: Source,
    output: str,
    *,
    options: MiningOptions = MiningOptions(),
    languages: tuple[str | None, str | None] = (None, None),
    with_identities: bool = False,
    threads: int = 1,
    progress: OnProgress | None = None,
) -> int:
    """Mine translations from two files; return the number of pairs.

    Vectors of both files that together take more than `MAX_VECTOR_BYTES` are held in 16 bits, which keeps
    cosines to four digits.

    Writes lines `score TAB source TAB target`, best first, without a header, to a file, or to standard output
    (`-`); `with_identities` adds two columns with the identities of the rows, such as their numbers. A
    repeated sentence counts once, with its first row. Blank lines and white space around a sentence are
    ignored. Only one of the two files can be standard input.

    Raises:
        InputError: a file cannot be read or written, is not UTF-8, or has no sentence; or a vector is not
            finite.
    """
    if source.path == target.path == "-":
        raise InputError("source and target cannot both be standard input")
    # The output is opened first: if it cannot be written, that is reported before hours of work are lost.
    with text_output(output) as file:
        sides = [_read_sentences(side) for side in (source, target)]
        n_bytes = 4 * system.dim * sum(map(len, sides))
        x, y = (
            embed_entries(
                system,
                [text for text, _ in sentences],
                language,
                name=side.path,
                in_16_bits=n_bytes > MAX_VECTOR_BYTES,
                progress=progress and partial(progress, f"embedding {side.path}"),
            )
            for sentences, side, language in zip(sides, (source, target), languages, strict=True)
        )
        tell = progress and partial(progress, "searching")
        neighbours = nearest_neighbours(x, y, options.k, threads=threads, progress=tell)
        pairs, least = best_pairs(*neighbours, options.margin), options.min_score
        count = len(pairs.scores) if least is None else int((pairs.scores >= least).sum())
        (sources, source_names), (targets, target_names) = (
            zip(*sentences, strict=True) for sentences in sides
        )
        for i, j, score in zip(
            pairs.sources[:count].tolist(), pairs.targets[:count].tolist(), pairs.scores[:count], strict=True
        ):
            names = f"\t{source_names[i]}\t{target_names[j]}" if with_identities else ""
            file.write(f"{score:.6f}\t{sources[i]}\t{targets[j]}{names}\n")
    return count


def _read_sentences(source: Source) -> list[tuple[str, str]]:
    """Return the different sentences of a file and the identity of the row where each first occurs.

    Sentences that differ in what nobody sees are one.
    """
    sentences: dict[str, tuple[str, str]] = {}
    for identity, text in source.sentences():
        text = text.replace("\t", " ").strip()
        if seen := visible([text])[0].strip():
            sentences.setdefault(seen, (text, clean(identity_text(identity))))
    if not sentences:
        raise InputError(f"{source.path}: has no sentence")
    return list(sentences.values())
