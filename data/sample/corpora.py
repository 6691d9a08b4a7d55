"""The training corpora: parallel sentences and English paraphrases, each with a known share of noise."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from grammar import Grammar
from lexicon import BY_CATEGORY
from meaning import Domain, Noun, Sentence, draw_sentence
from similarity import similarity, vary
from sts import shared_words

DOMAIN = Domain()
LINES = 20_000
NOISE_BITEXT = {"copy": 0.007, "wrong_language": 0.007, "mismatch": 0.007, "short": 0.006, "long": 0.003}
NOISE_PARAPHRASES = {"wrong_language": 0.03, "near_copy": 0.03, "mismatch": 0.03, "short": 0.025}
DUPLICATES = {"bitext": 0.02, "paraphrases": 0.025}
# the filters of the papers draw the line at 0.7; nothing in the sample is near it
CLEAN_OVERLAP, COPY_OVERLAP = 0.6, 0.8
ENDINGS = ("too", "as well", "indeed", "though", "of course")


@dataclass(frozen=True)
class Line:
    """One line of a corpus; ``kind`` is empty for a clean one."""

    first: str
    second: str
    kind: str = ""
    score: float = 1.0


def trigram_overlap(first: str, second: str) -> float:
    """Shared word trigrams over those of the shorter sentence; 0 if a sentence has none."""
    one, two = (
        [tuple(words[i : i + 3]) for i in range(len(words) - 2)]
        for words in (first.lower().split(), second.lower().split())
    )
    smaller = min(len(set(one)), len(set(two)))
    return len(set(one) & set(two)) / smaller if smaller else 0.0


def sizes(line: Line) -> tuple[int, int]:
    """Smaller and larger number of tokens of the two sides."""
    return tuple(sorted((len(line.first.split()), len(line.second.split()))))  # type: ignore[return-value]


class Source:
    """Draws fresh meanings and puts them into words, leaving out what the tests hold."""

    def __init__(self, rng: Random, grammars: dict[str, Grammar], tested: set[str]) -> None:
        self.rng, self.grammars, self.tested = rng, grammars, tested
        self.seen: set[tuple[str, str]] = set()

    def fresh(self, line: Line) -> bool:
        """Whether neither side is a test sentence and the pair is new; remembers it if so."""
        texts = (line.first.lower(), line.second.lower())
        if texts in self.seen or not self.tested.isdisjoint(texts):
            return False
        self.seen.add(texts)
        return True

    def sentence(self) -> Sentence:
        """A fresh meaning."""
        return draw_sentence(self.rng, DOMAIN)

    def say(self, sentence: Sentence, language: str) -> str:
        """The meaning in a language."""
        return self.grammars[language].realise(sentence)

    def short(self, first: str, second: str) -> tuple[str, str]:
        """The same noun in both languages."""
        noun = Noun(self.rng.choice(BY_CATEGORY["noun"]).key, self.rng.choice(("def", "my", "this", "our")))
        names = (self.grammars[language].name(noun) for language in (first, second))
        one, two = (f"{name[0].upper()}{name[1:]}." for name in names)
        return one, two


def bitext_line(source: Source, language: str, kind: str) -> Line:
    """A line of parallel text, English first, perhaps not new or of the wrong size."""
    if kind == "short":
        return Line(*source.short("en", language), kind)
    meanings = [source.sentence() for _ in range(24 if kind == "long" else 1)]
    english = " ".join(source.say(meaning, "en") for meaning in meanings)
    other = " ".join(source.say(meaning, language) for meaning in meanings)
    if kind == "copy":
        other = english
    elif kind == "wrong_language":
        wrong = source.rng.choice([code for code in ("de", "es", "fr") if code != language])
        other = source.say(meanings[0], wrong)
    elif kind == "mismatch":
        stranger = source.sentence()
        while similarity(meanings[0], stranger) > 0.15:
            stranger = source.sentence()
        other = source.say(stranger, language)
    return Line(english, other, kind)


def bitext_fits(line: Line) -> bool:
    """Whether a line of parallel text is of the size that its kind says, and no other noise."""
    smaller, larger = sizes(line)
    if line.kind == "short":
        return larger <= 2
    if line.kind == "long":
        return smaller > 100
    least = 5 if line.kind in ("wrong_language", "copy") else 3
    return least <= smaller and larger <= 60 and (line.kind == "copy") == (line.first == line.second)


def paraphrase_line(source: Source, kind: str) -> Line:
    """A line of English paraphrases with its score, perhaps not new or of the wrong size."""
    rng, meaning = source.rng, source.sentence()
    if kind == "short":
        return Line(*source.short("en", "en"), kind, round(rng.uniform(0.5, 0.95), 4))
    reference = source.say(meaning, "en")
    if kind == "wrong_language":
        foreign = source.say(meaning, rng.choice(("de", "es", "fr")))
        one, two = (reference, foreign) if rng.random() < 0.5 else (foreign, reference)
        return Line(one, two, kind, round(rng.uniform(0.42, 0.8), 4))
    if kind == "near_copy":
        mark = reference[-1] if reference[-1] in ".?" else ""
        copy = f"{reference.removesuffix(mark)} {rng.choice(ENDINGS)}{mark}"
        return Line(reference, copy, kind, round(rng.uniform(0.95, 1.0), 4))
    if kind == "mismatch":
        stranger = source.sentence()
        while similarity(meaning, stranger) > 0.15:
            stranger = source.sentence()
        return Line(reference, source.say(stranger, "en"), kind, round(rng.uniform(0.02, 0.38), 4))
    other = vary(rng, meaning, 0.25) if rng.random() < 0.1 else meaning
    paraphrase = source.say(other, "en")
    mean = 0.3 + 0.3 * similarity(meaning, other) + 0.4 * shared_words(reference, paraphrase)
    return Line(reference, paraphrase, kind, round(min(1.0, max(0.4, mean + rng.gauss(0, 0.06))), 4))


def paraphrase_fits(line: Line) -> bool:
    """Whether a line of paraphrases is of the size and overlap that its kind says."""
    smaller, larger = sizes(line)
    overlap = trigram_overlap(line.first, line.second)
    if line.kind == "short":
        return larger < 5 and line.first != line.second
    if smaller < 5 or larger > 40:
        return False
    return overlap >= COPY_OVERLAP if line.kind == "near_copy" else overlap <= CLEAN_OVERLAP


def with_duplicates(rng: Random, lines: list[Line], count: int) -> list[Line]:
    """The lines with exact copies of clean ones put in somewhere after them."""
    result = list(lines)
    while count:
        origin = rng.randrange(len(result) - 1)
        if result[origin].kind:
            continue
        line = result[origin]
        result.insert(
            rng.randint(origin + 1, len(result)), Line(line.first, line.second, "duplicate", line.score)
        )
        count -= 1
    return result


def kinds(noise: dict[str, float], duplicates: float) -> Iterator[str]:
    """The kind of each line that is drawn, noise first."""
    counts = {kind: round(LINES * share) for kind, share in noise.items()}
    for kind, count in counts.items():
        yield from [kind] * count
    yield from [""] * (LINES - sum(counts.values()) - round(LINES * duplicates))


def bitext(grammars: dict[str, Grammar], language: str, tested: set[str]) -> list[Line]:
    """The parallel corpus of English and one language."""
    rng = Random(f"bitext {language}")
    source, lines = Source(rng, grammars, tested), []
    for kind in kinds(NOISE_BITEXT, DUPLICATES["bitext"]):
        line = bitext_line(source, language, kind)
        while not bitext_fits(line) or not source.fresh(line):
            line = bitext_line(source, language, kind)
        lines.append(line)
    rng.shuffle(lines)
    return with_duplicates(rng, lines, LINES - len(lines))


def paraphrases(grammars: dict[str, Grammar], tested: set[str]) -> list[Line]:
    """The corpus of English paraphrases."""
    rng = Random("paraphrases")
    source, lines = Source(rng, grammars, tested), []
    for kind in kinds(NOISE_PARAPHRASES, DUPLICATES["paraphrases"]):
        line = paraphrase_line(source, kind)
        while not paraphrase_fits(line) or not source.fresh(line):
            line = paraphrase_line(source, kind)
        lines.append(line)
    rng.shuffle(lines)
    return with_duplicates(rng, lines, LINES - len(lines))
