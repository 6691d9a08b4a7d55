"""Constituency parses by a program of the user's, and how diverse they are."""

import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from math import fsum, log

from paraphrastic.base.errors import InputError

# Names that parsers give the node above the sentence.
_ROOTS = ("ROOT", "TOP", "S1", "")
_LEVELS = 2


def parse_entropy(sentences: Sequence[str], command: str) -> float:
    """Entropy, in nats, of the sentences' parses, of which the top two levels below the root count.

    ParaNMT-50M, section 5: "To prevent sparsity in the parse tree statistics, we used only the top 2 levels
    of the parse tree (i.e. 2 levels after the ROOT)".

    Args:
        sentences: those without a word are left out.
        command: a program with its arguments, no shell: it reads a sentence a line and writes its bracketed
            parse, such as `(ROOT (S (NP (PRP She)) (VP (VBZ sings))))`, on one line.

    Raises:
        InputError: the program is not there or fails, writes another number of lines or no parses.
    """
    lines = [sentence for sentence in sentences if sentence.strip()]
    counts: Counter[str] = Counter()
    for number, parse in enumerate(_parses(lines, command), start=1):
        top = top_levels(parse)
        if top is None:
            raise InputError(
                f"statistics.parsers: {command}: line {number} is no bracketed parse: {parse[:80]!r}"
            )
        counts[top] += 1
    total = counts.total()
    return -fsum(n / total * log(n / total) for n in counts.values())


def top_levels(parse: str) -> str | None:
    """A bracketed parse cut below its top two levels, without words: `(S (NP) (VP))`; None if it is none."""
    depth = 0
    kept: list[str] = []
    rooted = 0
    pieces = parse.replace("(", " ( ").replace(")", " ) ").split()
    for number, piece in enumerate(pieces):
        if piece == "(":
            if depth == 0 and number:
                return None
            depth += 1
            label = pieces[number + 1] if number + 1 < len(pieces) else ")"
            if depth == 1:
                rooted = int(label in (*_ROOTS, "("))
            if rooted < depth <= _LEVELS + rooted:
                kept.append(f"({label}")
        elif piece == ")":
            if rooted < depth <= _LEVELS + rooted:
                kept.append(")")
            depth -= 1
        elif depth == 0:
            return None
    return "".join(kept) if depth == 0 and kept else None


def _parses(lines: Sequence[str], command: str) -> Iterator[str]:
    with tempfile.TemporaryFile("w+", encoding="utf-8") as given, tempfile.TemporaryFile("w+") as found:
        given.writelines(f"{line}\n" for line in lines)
        given.seek(0)
        try:
            done = subprocess.run(  # noqa: S603 - the user's own program, and no shell
                shlex.split(command),
                stdin=given,
                stdout=found,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        except OSError as error:
            raise InputError(f"statistics.parsers: {command}: cannot be run: {error.strerror}") from None
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise InputError(f"statistics.parsers: {command}: ended with status {done.returncode}: {last}")
        found.seek(0)
        parses = [line for line in found.read().splitlines() if line.strip()]
    if len(parses) != len(lines):
        raise InputError(f"statistics.parsers: {command}: {len(parses)} parses of {len(lines)} sentences")
    yield from parses
