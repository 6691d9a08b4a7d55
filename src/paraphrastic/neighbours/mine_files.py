"""Mining of translations from text files, as the command `paraphrastic mine` does it."""

from collections.abc import Callable
from functools import partial

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import readable_lines
from paraphrastic.model.embed_files import text_input, text_output
from paraphrastic.model.system import System
from paraphrastic.neighbours.bitext import NEIGHBOURS, Margin, best_pairs, embed_entries
from paraphrastic.neighbours.nearest import nearest_neighbours

# Vectors that take more memory are held in 16 bits.
MAX_BYTES = 2 << 30

# Told what is being done, and what share of it is done.
Progress = Callable[[str, float], None]


def mine_files(
    encoder: System,
    source: str,
    target: str,
    output: str,
    *,
    k: int = NEIGHBOURS,
    margin: Margin = "ratio",
    min_score: float | None = None,
    languages: tuple[str | None, str | None] = (None, None),
    line_numbers: bool = False,
    threads: int = 1,
    progress: Progress | None = None,
) -> int:
    """Mine translations from two text files with a sentence a line; the number of pairs.

    Vectors of both files that take more than `MAX_BYTES` are held in 16 bits, for cosines to four digits.

    Writes lines `score TAB source TAB target`, the best first, without a header. A sentence that occurs again
    counts once, with its first line; blank lines do not count, and white space around a sentence does not
    either.

    Args:
        encoder: of both languages.
        source: the file, plain or compressed (gzip, bzip2, Zstandard); `-` is standard input.
        target: the same; one of them can be standard input.
        output: the TSV file; `-` is standard output.
        k: neighbours that a pair's cosine is compared with; of a smaller file, all of its sentences.
        margin: how pairs are scored, see `best_pairs`.
        min_score: pairs with a lower score are left out.
        languages: codes of the two sides, for an encoder that asks for them.
        line_numbers: add two columns, the numbers of the lines in the files.
        threads: of the processor.
        progress: is told what is being done, and the share of it that is done.

    Raises:
        InputError: a file that cannot be read or written, is not UTF-8, or has no sentence; a vector is not
            finite.
    """
    if source == target == "-":
        raise InputError("source and target cannot both be standard input")
    # Opened before hours of work, which would be lost otherwise.
    with text_output(output) as file:
        sides = [_read_sentences(path) for path in (source, target)]
        n_bytes = 4 * encoder.dim * sum(map(len, sides))
        x, y = (
            embed_entries(
                encoder,
                list(sentences),
                language,
                name=path,
                in_16_bits=n_bytes > MAX_BYTES,
                progress=progress and partial(progress, f"embedding {path}"),
            )
            for sentences, path, language in zip(sides, (source, target), languages, strict=True)
        )
        tell = progress and partial(progress, "searching")
        pairs = best_pairs(*nearest_neighbours(x, y, k, threads=threads, progress=tell), margin)
        count = len(pairs.scores) if min_score is None else int((pairs.scores >= min_score).sum())
        (sources, source_lines), (targets, target_lines) = (
            (list(side), list(side.values())) for side in sides
        )
        for i, j, score in zip(
            pairs.sources[:count].tolist(), pairs.targets[:count].tolist(), pairs.scores[:count], strict=True
        ):
            lines = f"\t{source_lines[i]}\t{target_lines[j]}" if line_numbers else ""
            file.write(f"{score:.6f}\t{sources[i]}\t{targets[j]}{lines}\n")
    return count


def _read_sentences(path: str) -> dict[str, int]:
    """The different sentences of a file, and the lines that they first occur in, from 1."""
    sentences: dict[str, int] = {}
    with text_input(path) as stream:
        for number, line in readable_lines(stream, path):
            if text := line.replace("\t", " ").strip():
                sentences.setdefault(text, number)
    if not sentences:
        raise InputError(f"{path}: has no sentence")
    return sentences
