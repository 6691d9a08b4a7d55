"""The semantic textual similarity tests: pairs of sentences with a grade from 0 to 5."""

from dataclasses import dataclass
from random import Random

from grammar import Grammar
from meaning import Domain, Sentence, draw_sentence
from similarity import similarity, vary

PAIRS = 200
CANDIDATES = 3
MISLEADING = 0.5  # share of the pairs whose wording is chosen against a count of words
NEWS = Domain(subjects={"H": 5, "O": 6, "name": 1}, objects="XHOPM",
              tenses={"past": 5, "now": 1, "future": 2}, styles={"plain": 1},
              questions=0, reports=0.25, links=0.25, details=0.6)  # fmt: skip
HEADLINES = Domain(subjects={"H": 5, "O": 6}, objects="XHOPVM", styles={"headline": 1}, details=0.8)
SCENES = Domain(kinds={"event": 8, "exist": 2}, subjects={"H": 5, "A": 4}, tenses={"now": 1},
                objects="FDTCVA", styles={"plain": 1}, questions=0, reports=0, links=0.1)  # fmt: skip
DEBATES = Domain(kinds={"event": 8, "be": 2}, subjects={"O": 6, "pronoun": 3}, objects="XO",
                 styles={"plain": 1}, questions=0, reports=0.3, links=0.2)  # fmt: skip
GLOSSES = Domain(styles={"agent": 5, "act": 4})
FORUMS = Domain(kinds={"event": 6, "be": 3, "cost": 1}, subjects={"pronoun": 6, "name": 2, "H": 2},
                objects="TCVMFX", styles={"plain": 1}, questions=0.25, reports=0.2, links=0.25)  # fmt: skip
BELIEFS = Domain(subjects={"pronoun": 3, "H": 5, "name": 3}, styles={"plain": 1}, questions=0, reports=0.9)
LESSONS = Domain(kinds={"be": 3, "compare": 2, "event": 4, "exist": 1, "weather": 1}, styles={"plain": 1},
                 questions=0.05, reports=0.1, links=0.25)  # fmt: skip
MESSAGES = Domain(kinds={"event": 6, "weather": 1, "be": 3}, subjects={"name": 3, "pronoun": 3, "H": 3},
                  styles={"plain": 3, "headline": 1}, questions=0.1, links=0.2)  # fmt: skip
ESSAYS = Domain(styles={"plain": 1}, questions=0, reports=0, links=0.9, details=0.35)
EDITED = Domain(
    subjects={"H": 4, "O": 4}, styles={"plain": 1}, questions=0, reports=0.15, links=0.15, details=0.9
)
QUESTIONS = Domain(kinds={"event": 8, "be": 2}, styles={"plain": 1}, questions=1, details=0.6)
EVERYDAY = Domain(styles={"plain": 1}, questions=0.05, reports=0.05, links=0.05)
YEARS: dict[str, dict[str, Domain]] = {
    "STS12-en-test": {"MSRpar": NEWS, "MSRvid": SCENES, "SMTeuroparl": DEBATES, "surprise.OnWN": GLOSSES,
                      "surprise.SMTnews": NEWS},
    "STS13-en-test": {"FNWN": GLOSSES, "OnWN": GLOSSES, "SMT": DEBATES, "headlines": HEADLINES},
    "STS14-en-test": {"OnWN": GLOSSES, "deft-forum": FORUMS, "deft-news": NEWS, "headlines": HEADLINES,
                      "images": SCENES, "tweet-news": MESSAGES},
    "STS15-en-test": {"answers-forums": FORUMS, "answers-students": LESSONS, "belief": BELIEFS,
                      "headlines": HEADLINES, "images": SCENES},
    "STS16-en-test": {"answer-answer": FORUMS, "headlines": HEADLINES, "plagiarism": ESSAYS,
                      "postediting": EDITED, "question-question": QUESTIONS},
}  # fmt: skip
# as in the official files, some pairs of these years were never graded and have an empty line as their grade
UNGRADED = {"STS15-en-test": 50, "STS16-en-test": 250}
TRACKS = {"track3.es-es": ("es", "es"), "track4a.es-en": ("es", "en"), "track5.en-en": ("en", "en")}


@dataclass(frozen=True)
class Pair:
    """Two sentences and their grade, 0 (nothing in common) to 5 (the same meaning)."""

    first: str
    second: str
    grade: float


def shared_words(first: str, second: str) -> float:
    """Words in common over all words of both."""
    one, two = set(first.lower().strip(".?").split()), set(second.lower().strip(".?").split())
    return len(one & two) / len(one | two)


def put_apart(rng: Random, first: Grammar, second: Grammar, one: Sentence, other: Sentence) -> Pair:
    """The pair, often in words that mislead a count of words: fewer shared by close meanings."""
    common = similarity(one, other)
    count = CANDIDATES if rng.random() < MISLEADING else 1
    pairs = [(first.realise(one), second.realise(other)) for _ in range(count)]
    texts = (min if common >= 0.6 else max)(pairs, key=lambda pair: shared_words(*pair))
    return Pair(*texts, min(5.0, max(0.0, round(5 * common + rng.uniform(-0.2, 0.2), 1))))


def draw_pairs(
    rng: Random, first: Grammar, second: Grammar, domain: Domain, count: int, taken: set[str]
) -> list[Pair]:
    """Pairs whose sentences are new; adds them, lower-cased, to ``taken``."""
    pairs: list[Pair] = []
    while len(pairs) < count:
        one = draw_sentence(rng, domain)
        other = vary(rng, one, rng.choice((0.0, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.0)))
        pair = put_apart(rng, first, second, one, other)
        texts = {pair.first.lower(), pair.second.lower()}
        if len(texts) == 2 and not texts & taken and all(4 <= len(t.split()) <= 45 for t in texts):
            taken |= texts
            pairs.append(pair)
    return pairs


def sts_files(grammars: dict[str, Grammar], taken: set[str]) -> dict[str, str]:
    """The contents of the members of ``STS.zip``, by name."""
    files: dict[str, str] = {}
    rng = Random("sts")
    english = grammars["en"]
    for year, datasets in YEARS.items():
        for dataset, domain in datasets.items():
            blank = UNGRADED.get(year, 0)
            pairs = draw_pairs(rng, english, english, domain, PAIRS + blank, taken)
            graded = set(rng.sample(range(len(pairs)), PAIRS))
            whole = year in UNGRADED  # those years have whole grades
            grades = [f"{pair.grade:.0f}" if whole else f"{pair.grade:.3f}" for pair in pairs]
            lines = [grade if i in graded else "" for i, grade in enumerate(grades)]
            files[f"STS/{year}/STS.input.{dataset}.txt"] = "".join(f"{p.first}\t{p.second}\n" for p in pairs)
            files[f"STS/{year}/STS.gs.{dataset}.txt"] = "".join(f"{line}\n" for line in lines)
    for track, (one, two) in TRACKS.items():
        pairs = draw_pairs(rng, grammars[one], grammars[two], EVERYDAY, PAIRS, taken)
        lines = [f"{pair.first}\t{pair.second}\t{pair.grade:.1f}\n" for pair in pairs]
        files[f"STS/STS17-test/STS.input.{track}.txt"] = "".join(lines)
    return files
