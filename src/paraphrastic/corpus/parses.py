"""Constituency parses by a program of the user's, and how diverse they are."""

import shlex
import subprocess
from collections import Counter
from collections.abc import Sequence
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
    """A bracketed parse cut below its top two levels, without words: `(S(NP)(VP))`; None if it is none."""
    # Not at the top: few corpora are parsed.
    from nltk.tree import Tree

    def cut(tree: Tree, levels: int) -> str:
        below = [cut(child, levels - 1) for child in tree if levels > 1 and isinstance(child, Tree)]
        return f"({tree.label()}{''.join(below)})"

    try:
        tree = Tree.fromstring(parse)
    except ValueError:
        return None
    tops = tree if tree.label() in _ROOTS else [tree]
    return "".join(cut(top, _LEVELS) for top in tops if isinstance(top, Tree)) or None


def _parses(lines: Sequence[str], command: str) -> list[str]:
    given = "".join(f"{line}\n" for line in lines)
    try:
        done = subprocess.run(  # noqa: S603 - the user's own program, and no shell
            shlex.split(command), input=given, capture_output=True, encoding="utf-8", errors="replace"
        )
    except OSError as error:
        raise InputError(f"statistics.parsers: {command}: cannot be run: {error.strerror}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise InputError(f"statistics.parsers: {command}: ended with status {done.returncode}: {last}")
    parses = [line for line in done.stdout.splitlines() if line.strip()]
    if len(parses) != len(lines):
        raise InputError(f"statistics.parsers: {command}: {len(parses)} parses of {len(lines)} sentences")
    return parses
