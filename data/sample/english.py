"""English: word forms and sentences, with more alternative phrasings than the other languages have."""

import re
from dataclasses import replace
from functools import cache

from grammar import Grammar, has_passive
from lexicon import CONCEPTS, read_irregular
from meaning import Clause, Noun, Sentence

IRREGULAR = read_irregular("en")
DOUBLED = {"chat", "hug", "pet", "plan", "sob", "jog", "grin", "sip", "lug", "stop", "prefer", "run", "cut",
           "swim", "spot", "travel", "win", "hit", "get", "put", "shut", "begin", "forget"}  # fmt: skip
SUBJECTS = {"i": "I", "you": "you", "he": "he", "she": "she", "we": "we", "they": "they"}
NEGATIVES = {"will": "won't", "can": "can't", "must": "mustn't", "am": "am not"}
CONTRACTED = {"am": "'m", "is": "'s", "are": "'re", "will": "'ll"}


@cache
def plural(form: str) -> str:
    """The plural of ``word`` or ``word>irregular plural``."""
    word, _, irregular = form.partition(">")
    if irregular:
        return irregular
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


@cache
def conjugate(verb: str, form: str) -> str:
    """The ``s``, ``past``, ``participle`` or ``ing`` form of a verb."""
    if form in ("past", "participle") and verb in IRREGULAR:
        return IRREGULAR[verb][form]
    if form == "s":
        return "has" if verb == "have" else "goes" if verb == "go" else plural(verb)
    if verb == "die" and form == "ing":
        return "dying"
    doubled = verb + verb[-1] if verb in DOUBLED else verb
    if form == "ing":
        silent = verb.endswith("e") and not verb.endswith(("ee", "be", "ye"))
        return (verb[:-1] if silent else doubled) + "ing"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return doubled + ("d" if verb.endswith("e") else "ed")


def negative(auxiliary: str) -> str:
    """The auxiliary contracted with not."""
    return NEGATIVES.get(auxiliary, f"{auxiliary}n't")


def be(tense: str, person: int, many: bool) -> str:
    """The form of to be in the past or the present."""
    if tense == "past":
        return "were" if many or person == 2 else "was"
    return "are" if many or person == 2 else "am" if person == 1 else "is"


@cache
def comparative(adjective: str) -> str:
    """The comparative of an adjective, with an ending if it is short."""
    if adjective == "little":
        return "smaller"
    groups = len(re.findall(r"[aeiou]+", re.sub(r"e$", "", adjective)))
    if adjective.endswith("y") and "-" not in adjective and " " not in adjective and groups == 1:
        return adjective[:-1] + "ier"
    if groups == 1 and " " not in adjective and "-" not in adjective and not adjective.endswith("ed"):
        if adjective.endswith("e"):
            return adjective + "r"
        doubled = re.search(r"[^aeiou][aeiou][bdgmnt]$", adjective)
        return adjective + (adjective[-1] if doubled else "") + "er"
    return "more " + adjective


class English(Grammar):
    """Meanings in English."""

    language = "en"
    headline = False

    def phrase(self, noun: Noun) -> str:
        """A noun phrase with its determiner."""
        if noun.is_pronoun:
            return SUBJECTS[noun.concept]
        word = self.pick(noun.concept)
        if noun.determiner == "name":
            return word.removeprefix("the ") if self.headline else word
        word = plural(word) if noun.plural else word.partition(">")[0]
        words = f"{self.pick(noun.adjective)} {word}".strip()
        if noun.determiner == "indef" and not self.headline:
            vowel = re.match(r"[aeiou]", words) and not re.match(r"uni[^nm]|use|eu|one", words)
            return ("an " if vowel or words.startswith(("hon", "hour")) else "a ") + words
        if noun.determiner in ("def", "bare", "indef"):
            return words if noun.determiner == "bare" or self.headline else f"the {words}"
        if noun.determiner == "number":
            return f"{self.pick(noun.number)} {words}"
        if noun.determiner == "many":
            return f"{self.rng.choice(('many', 'many', 'a lot of', 'lots of'))} {words}"
        if noun.determiner == "every":
            return f"{self.rng.choice(('every', 'each'))} {words}"
        return f"{'these' if noun.determiner == 'this' and noun.plural else noun.determiner} {words}"

    def name(self, noun: Noun) -> str:
        """A noun phrase by itself."""
        return self.phrase(noun)

    def located(self, place: Noun | None, *, goal: bool = False) -> str:
        """A place with its preposition."""
        if place is None:
            return ""
        preposition = "in" if place.determiner == "name" else CONCEPTS[place.concept].prepositions[0]
        return f"{'to' if goal else preposition} {self.phrase(place)}"

    def group(self, words: str, clause: Clause, person: tuple[int, bool], helped: bool) -> tuple[str, str]:
        """Auxiliary (or an empty string) and the rest of the verb group; ``helped`` asks for an auxiliary."""
        head, _, tail = words.partition(" ")
        modal = self.pick(clause.modal)
        if modal in ("can", "must") and (
            clause.tense == "future" or (clause.tense == "past" and modal == "must")
        ):
            modal = "be able to" if modal == "can" else "have to"
        if modal in ("can", "must"):
            return ("could" if clause.tense == "past" else modal), words
        if modal:
            head, _, tail = modal.partition(" ")
            tail = f"{tail} {words}"
        if self.headline:
            third = person == (3, False)
            finite = be("now", *person) if head == "be" else conjugate(head, "s") if third else head
            return "", f"to {head} {tail}" if clause.tense == "future" else f"{finite} {tail}"
        if clause.tense == "future":
            if self.chance(0.3):
                return be("now", *person), f"going to {head} {tail}"
            return "will", f"{head} {tail}"
        if head == "be":
            return be(clause.tense, *person), tail
        stative = clause.modal or "s" in CONCEPTS[clause.verb].frame if clause.verb else True
        if clause.tense == "now" and not stative:
            return be("now", *person), f"{conjugate(head, 'ing')} {tail}"
        third = person == (3, False)
        if helped:
            return ("did" if clause.tense == "past" else "does" if third else "do"), f"{head} {tail}"
        form = "past" if clause.tense == "past" else "s" if third else ""
        return "", f"{conjugate(head, form) if form else head} {tail}"

    def passive(self, words: str, clause: Clause, person: tuple[int, bool]) -> tuple[str, str]:
        """Auxiliary and rest of a verb group in the passive."""
        head, _, tail = words.partition(" ")
        done = f"{conjugate(head, 'participle')} {tail}"
        if self.headline:
            return "", f"to be {done}" if clause.tense == "future" else done
        if clause.tense == "future":
            return "will", f"be {done}"
        return be(clause.tense, *person), f"being {done}" if clause.tense == "now" else done

    def assemble(self, subject: str, auxiliary: str, rest: str, clause: Clause) -> str:
        """Subject and verb group in the order that the mood asks for, contracted or not."""
        short = self.chance(0.5)
        negated = "" if not clause.negative else "not"
        if clause.mood not in ("statement", "who"):
            if negated and short and auxiliary != "am":
                return f"{negative(auxiliary)} {subject} {rest}"
            return f"{auxiliary} {subject} {negated} {rest}"
        if negated and short and auxiliary != "am":
            return f"{subject} {negative(auxiliary)} {rest}"
        if short and not negated and subject in SUBJECTS.values() and auxiliary in CONTRACTED:
            return f"{subject}{CONTRACTED[auxiliary]} {self.pick(clause.frequency)} {rest}"
        if negated and auxiliary == "can":
            return f"{subject} cannot {rest}"
        return f"{subject} {auxiliary} {negated} {self.pick(clause.frequency)} {rest}"

    def clause(self, clause: Clause, *, front: bool = True) -> str:
        """One clause; ``front`` allows the time at its start."""
        time, place = self.pick(clause.time), self.located(clause.place)
        core, fronted = self.core(clause), ""
        if clause.kind == "exist" and self.chance(0.4):
            return f"{place} {core} {time}"
        if front and clause.mood == "statement" and not self.headline and time and self.chance(0.35):
            fronted, time = f"{time}, ", ""
        manner = self.pick(clause.manner)
        adverbials = [manner, place, time]
        if self.chance(0.3):
            adverbials = [place, manner, time]
        elif self.chance(0.2):
            adverbials = [manner, time, place]
        return f"{fronted}{core} {' '.join(adverbials)}"

    def core(self, clause: Clause) -> str:
        """The clause without its adverbials."""
        if clause.kind == "weather":
            return self.pick(clause.verb)
        subject = clause.subject
        helped = clause.negative or clause.mood not in ("statement", "who")
        question = {"where": "where", "when": "when", "why": "why"}.get(clause.mood, "")
        if clause.kind == "event":
            return f"{question} {self.event(clause, subject, helped)}"
        if clause.kind == "exist":
            verb = be(clause.tense, 3, subject.plural)
            return f"there {verb} {self.phrase(subject)}"
        if clause.kind == "cost":
            price = f"{self.pick(clause.complement.number)} euros"
            verb = "cost" if clause.tense == "past" else "costs"
            if self.chance(0.4):
                return f"the price of {self.phrase(subject)} {be(clause.tense, 3, False)} {price}"
            return f"{self.phrase(subject)} {verb} {price}"
        if clause.kind == "role":
            verb = self.rng.choice(("is", "works as"))
            return f"{self.phrase(subject)} {verb} {self.phrase(clause.complement)}"
        if clause.kind == "compare":
            verb = be(clause.tense, 3, False)
            one, other = self.phrase(subject), self.phrase(clause.complement)
            if self.chance(0.4):
                negated = self.rng.choice((f"{verb} not", negative(verb)))
                return f"{other} {negated} as {self.pick(clause.verb)} as {one}"
            return f"{one} {verb} {comparative(self.pick(clause.verb))} than {other}"
        auxiliary, rest = self.group("be", replace(clause, verb=""), subject.person, helped)
        described = f"{rest} {self.pick(clause.degree)} {self.pick(clause.verb)}"
        return f"{question} {self.assemble(self.phrase(subject), auxiliary, described, clause)}"

    def event(self, clause: Clause, subject: Noun, helped: bool) -> str:
        """Subject, verb and objects, in the active or the passive."""
        verb = self.pick(clause.verb)
        target = "" if clause.object is None else self.phrase(clause.object)
        given = "" if clause.recipient is None else self.phrase(clause.recipient)
        if has_passive(clause) and not verb.startswith("be ") and self.chance(0.25):
            auxiliary, rest = self.passive(verb, clause, clause.complement.person)
            agent = f"{rest} by {self.phrase(subject)}"
            return self.assemble(target, auxiliary, agent, clause)
        auxiliary, rest = self.group(verb, clause, subject.person, helped)
        objects = f"{target} to {given}" if given else target
        if (
            given
            and verb in ("give", "hand", "send", "mail", "show", "lend", "bring", "sell")
            and self.chance(0.5)
        ):
            objects = f"{given} {target}"
        name = "who" if clause.mood == "who" else self.phrase(subject)
        return (
            self.assemble(name, auxiliary, f"{rest} {objects}", clause)
            + f" {self.located(clause.goal, goal=True)}"
        )

    def compose(self, sentence: Sentence) -> str:
        """The words of the sentence, without its final mark."""
        self.headline = sentence.style == "headline"
        if sentence.style in ("agent", "act"):
            return self.definition(sentence)
        if sentence.reporter is not None:
            told = Clause("event", sentence.report_tense, sentence.reporter, sentence.report)
            auxiliary, rest = self.group(
                self.pick(sentence.report), replace(told, verb=""), told.subject.person, False
            )
            spoken = self.assemble(self.phrase(sentence.reporter), auxiliary, rest, told)
            clause = self.clause(sentence.clause, front=False)
            return f"{spoken} {self.rng.choice(('that', 'that', ''))} {clause}"
        if sentence.second is not None:
            link = self.pick(sentence.link)
            one, two = self.clause(sentence.clause), self.clause(sentence.second, front=False)
            if sentence.link in ("link:because", "link:while") and self.chance(0.35):
                return f"{link} {two}, {self.clause(sentence.clause, front=False)}"
            return f"{one}{',' if sentence.link in ('link:and', 'link:but') else ''} {link} {two}"
        return self.clause(sentence.clause)

    def definition(self, sentence: Sentence) -> str:
        """A person who does something, or the act of doing it."""
        clause = sentence.clause
        verb, target = self.pick(clause.verb), "" if clause.object is None else self.phrase(clause.object)
        head, _, tail = verb.partition(" ")
        if clause.recipient is not None:
            target += f" to {self.phrase(clause.recipient)}"
        adverbials = [
            self.located(clause.goal, goal=True),
            self.pick(clause.manner),
            self.located(clause.place),
        ]
        details = f"{target} {' '.join(adverbials)} {self.pick(clause.time)}"
        if sentence.style == "act":
            opening = self.rng.choice(("the act of", "the process of", "the activity of"))
            return f"{opening} {conjugate(head, 'ing')} {tail} {details}"
        opening = self.rng.choice(("a person who", "someone who", "somebody who"))
        return f"{opening} {conjugate(head, 's') if head != 'be' else 'is'} {tail} {details}"
