"""What the four grammars share: the choice among synonyms and the finish of a sentence."""

from functools import cache
from random import Random

from lexicon import CONCEPTS
from meaning import Clause, Noun, Sentence


@cache
def noun_form(form: str) -> tuple[str, str, str]:
    """Gender, singular and irregular plural (or an empty string) of ``m mot>mots``."""
    gender, _, word = form.partition(" ")
    singular, _, plural = word.partition(">")
    return gender, singular, plural


class Grammar:
    """Puts meanings into one language; the same meaning comes out in various words."""

    language: str

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def chance(self, probability: float) -> bool:
        """True with the probability."""
        return self.rng.random() < probability

    def pick(self, key: str) -> str:
        """One of the wordings of a concept, the first a little more often; nothing for no concept."""
        if not key:
            return ""
        forms = CONCEPTS[key].forms[self.language]
        return forms[int(len(forms) * self.rng.random())] if self.rng.random() < 0.85 else forms[0]

    def name(self, noun: Noun) -> str:
        """A noun phrase by itself."""
        raise NotImplementedError

    def realise(self, sentence: Sentence) -> str:
        """The sentence as text."""
        text = self.compose(sentence)
        return self.finish(text, sentence)

    def compose(self, sentence: Sentence) -> str:
        """The words of the sentence, without its final mark."""
        raise NotImplementedError

    def finish(self, text: str, sentence: Sentence) -> str:
        """Tidy spaces, capitalise, and add the final mark; headlines and definitions have none."""
        text = " ".join(text.split()).replace(" ,", ",")
        mark = "" if sentence.style != "plain" else "." if sentence.clause.mood == "statement" else "?"
        if sentence.style in ("agent", "act"):
            return text
        return text[0].upper() + text[1:] + mark


def has_passive(clause: Clause) -> bool:
    """Whether the clause can be put in the passive."""
    frame = CONCEPTS[clause.verb].frame
    plain = (
        frame[0] == "t" and "s" not in frame and not clause.modal and clause.mood in ("statement", "yesno")
    )
    return plain and clause.object is not None and not clause.subject.is_pronoun


def is_human(noun: Noun | None) -> bool:
    """Whether the phrase names people."""
    return noun is not None and noun.classes == "H"
