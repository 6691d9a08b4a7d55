"""The command `paraphrastic dedup`: removes near duplicates from the lines of a text file."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import BinaryIO

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import unwritable_named
from paraphrastic.base.lines import read_batches
from paraphrastic.base.tables import tsv_line
from paraphrastic.base.text import visible
from paraphrastic.base.text_files import byte_output, text_input, text_output
from paraphrastic.model.encoder import BLOCK_SENTENCES
from paraphrastic.model.system import System
from paraphrastic.neighbours.bitext import embed_entries
from paraphrastic.neighbours.duplicates import near_duplicates
from paraphrastic.neighbours.kernels import NOTHING
from paraphrastic.neighbours.mine_files import MAX_VECTOR_BYTES, OnProgress

# Stands for the text of a blank line.
_BLANK = -1


def dedup_file(
    system: System,
    source: str,
    output: str,
    *,
    threshold: float,
    report: str | None = None,
    language: str | None = None,
    threads: int = 1,
    progress: OnProgress | None = None,
) -> tuple[int, int]:
    """Remove near duplicates in meaning from a text file; return how many lines were kept and left out.

    A line is left out if an earlier kept line has the same text or a vector whose cosine with this line's
    vector reaches the threshold. Texts are the same if they differ only in white space around them or in
    characters that nobody sees (`base.text.visible`). All other lines are written in their order, byte for
    byte, with any control or invisible characters that they have. Blank lines are not sentences and are kept.

    Vectors that take more than `MAX_VECTOR_BYTES` are held in 16 bits, which keeps cosines to four digits.

    Args:
        system: embeds the sentences.
        source: input file, plain or compressed (gzip, bzip2, Zstandard); `-` is standard input.
        output: file for the lines that are kept; `-` is standard output.
        threshold: lowest cosine of near duplicates, above 0 and at most 1.
        report: TSV file without a header. It has, in order, a line `cosine TAB line TAB kept line TAB
            sentence TAB kept sentence` for each line left out. The kept line is the first near one; equal
            texts have the cosine 1; line numbers start at 1. `-` is standard output.
        language: language of the sentences, for a system that asks for it.
        threads: number of threads; it does not change the result.
        progress: is called now and then with the current task and the share of it that is done.

    Raises:
        InputError: a file cannot be read or written, is not UTF-8 or has a NUL character, the threshold is
            out of bounds, or a vector is not finite.
    """
    if not 0 < threshold <= 1:
        raise InputError(f"a threshold of {threshold:.12g} is not above 0 and at most 1")
    if report and _is_one_file(output, report):
        raise InputError(f"{output}: the lines and the report cannot both go there")
    # The outputs are opened first: if one cannot be written, that is reported before any work is lost.
    with (
        byte_output(output) as file,
        text_output(report) if report else nullcontext() as table,
        _twice(source) as opened,
    ):
        texts, first_lines, members = _read(opened, source)
        x = embed_entries(
            system,
            texts,
            language,
            name=source,
            in_16_bits=4 * system.dim * len(texts) > MAX_VECTOR_BYTES,
            progress=progress and partial(progress, f"embedding {source}"),
        )
        duplicates = near_duplicates(
            x, threshold, threads=threads, progress=progress and partial(progress, "comparing")
        )
        count = 0
        with opened() as stream:
            for number, text in enumerate(members, start=1):
                if not (raw := stream.readline()):
                    raise InputError(f"{source}: has become shorter while it was read")
                original = _BLANK if text == _BLANK else int(duplicates.originals[text])
                if text == _BLANK or (original == NOTHING and first_lines[text] == number):
                    try:
                        file.write(raw)
                    except OSError:
                        # Otherwise, the report's file would be named.
                        with unwritable_named("standard output" if output == "-" else output):
                            raise
                    count += 1
                elif table:
                    cosine, kept = (
                        (1.0, text) if original == NOTHING else (float(duplicates.cosines[text]), original)
                    )
                    row = f"{cosine:.6f}", number, first_lines[kept], texts[text], texts[kept]
                    table.write(tsv_line(row))
    return count, len(members) - count


def _is_one_file(path: str, other: str) -> bool:
    """Whether two outputs are one file or pipe. A device such as `/dev/null` takes both."""
    place, other_place = (Path("/dev/stdout" if name == "-" else name) for name in (path, other))
    if not (place.exists() and other_place.exists()):
        return place.resolve() == other_place.resolve()
    return place.samefile(other_place) and ("-" in (path, other) or not place.is_char_device())


@contextmanager
def _twice(source: str) -> Iterator[Callable[[], AbstractContextManager[BinaryIO]]]:
    """Yield a function that opens the source as often as needed; a pipe is copied to a temporary file."""
    if source != "-" and not Path(source).is_fifo():
        yield partial(text_input, source)
        return
    with tempfile.TemporaryFile() as file:
        with text_input(source) as stream, unwritable_named(tempfile.gettempdir()):
            shutil.copyfileobj(stream, file)

        def again() -> AbstractContextManager[BinaryIO]:
            file.seek(0)
            return nullcontext(file)

        yield again


def _read(
    opened: Callable[[], AbstractContextManager[BinaryIO]], name: str
) -> tuple[list[str], list[int], list[int]]:
    """Return the different texts, their first lines' numbers, and each line's text by index or `_BLANK`."""
    places: dict[str, int] = {}
    texts: list[str] = []
    first_lines: list[int] = []
    members: list[int] = []
    with opened() as stream:
        for lines in read_batches(stream, name, BLOCK_SENTENCES):
            for line, seen in zip(lines, visible(lines), strict=True):
                key = seen.strip()
                members.append(places.setdefault(key, len(places)) if key else _BLANK)
                if len(places) > len(first_lines):
                    texts.append(line.strip())
                    first_lines.append(len(members))
    return texts, first_lines, members
