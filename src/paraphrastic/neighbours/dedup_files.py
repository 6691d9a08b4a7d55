"""Near duplicates among the lines of a text file, as the command `paraphrastic dedup` does it."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import unwritable_named
from paraphrastic.base.lines import clean, read_batches
from paraphrastic.model.embed_files import byte_output, text_input, text_output
from paraphrastic.model.encoder import BLOCK_SENTENCES
from paraphrastic.model.system import System
from paraphrastic.neighbours.bitext import embed_entries
from paraphrastic.neighbours.duplicates import near_duplicates
from paraphrastic.neighbours.kernels import NOTHING
from paraphrastic.neighbours.mine_files import MAX_BYTES, Progress

# In place of a blank line's text.
_BLANK = -1


def dedup_file(
    encoder: System,
    source: str,
    output: str,
    *,
    threshold: float,
    report: str | None = None,
    language: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Leave out near duplicates by meaning from a text file; how many lines were kept, and how many were not.

    A line is left out if an earlier line that is kept has the same text, but for white space around it, or a
    vector whose cosine with its own is the threshold or more. All others go out in their order, byte by byte
    as they came. Blank lines are no sentences: they are kept.

    Vectors that take more than `MAX_BYTES` are held in 16 bits, for cosines to four digits.

    Args:
        encoder: of the sentences.
        source: the file, plain or compressed (gzip, bzip2, Zstandard); `-` is standard input.
        output: the file of the lines that are kept; `-` is standard output.
        threshold: above 0 and at most 1.
        report: TSV file with a line `cosine TAB line TAB kept line TAB sentence TAB kept sentence` for each
            line that is left out, in their order, without a header: the kept line is the first one that is
            near; the cosine of equal texts is 1; numbers of lines are from 1. `-` is standard output.
        language: of the sentences, for an encoder that asks for it.
        threads: of the processor; their number does not change the result.
        progress: is told what is being done, and the share of it that is done.

    Raises:
        InputError: a file that cannot be read or written or is not UTF-8, a threshold out of bounds; a vector
            is not finite.
    """
    if not 0 < threshold <= 1:
        raise InputError(f"a threshold of {threshold:.12g} is not above 0 and at most 1")
    if report and (output == report == "-" or _is_one_file(output, report)):
        raise InputError(f"{output}: the lines and the report cannot both go there")
    # Opened first, so that an output that cannot be written is told before work is lost.
    with (
        byte_output(output) as file,
        text_output(report) if report else nullcontext() as table,
        _twice(source) as opened,
    ):
        texts, first_lines, members = _read(opened, source)
        x = embed_entries(
            encoder,
            texts,
            language,
            name=source,
            in_16_bits=4 * encoder.dim * len(texts) > MAX_BYTES,
            progress=progress and partial(progress, f"embedding {source}"),
        )
        found = near_duplicates(
            x, threshold, threads=threads, progress=progress and partial(progress, "comparing")
        )
        count = 0
        with opened() as stream:
            for number, text in enumerate(members, start=1):
                if not (raw := stream.readline()):
                    raise InputError(f"{source}: has become shorter while it was read")
                original = _BLANK if text == _BLANK else int(found.originals[text])
                if text == _BLANK or (original == NOTHING and first_lines[text] == number):
                    file.write(raw)
                    count += 1
                elif table:
                    cosine, kept = (
                        (1.0, text) if original == NOTHING else (float(found.cosines[text]), original)
                    )
                    sentences = f"{clean(texts[text])}\t{clean(texts[kept])}"
                    table.write(f"{cosine:.6f}\t{number}\t{first_lines[kept]}\t{sentences}\n")
    return count, len(members) - count


def _is_one_file(path: str, other: str) -> bool:
    """Whether two paths lead to the same file; a device such as `/dev/null` is none, and takes both."""
    file = Path(path).resolve()
    return file == Path(other).resolve() and (file.is_file() or not file.exists()) and path != "-"


@contextmanager
def _twice(source: str) -> Iterator[Callable[[], AbstractContextManager[BinaryIO]]]:
    """What opens a file as often as it is to be read; what comes from a pipe is kept in a temporary file."""
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
    """Different texts, the numbers of their first lines, and for each line its text's place or `_BLANK`."""
    places: dict[str, int] = {}
    first_lines: list[int] = []
    members: list[int] = []
    with opened() as stream:
        for line in chain.from_iterable(read_batches(stream, name, BLOCK_SENTENCES)):
            text = line.strip()
            members.append(places.setdefault(text, len(places)) if text else _BLANK)
            if len(places) > len(first_lines):
                first_lines.append(len(members))
    return list(places), first_lines, members
