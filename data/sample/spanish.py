"""Spanish: agreement, conjugation and the order of the sentence."""

import re
from functools import cache

from grammar import Grammar, is_human, noun_form
from lexicon import CONCEPTS, read_irregular
from meaning import Clause, Noun, Sentence

PERSONS = ((1, False), (2, False), (3, False), (1, True), (3, True))
IRREGULAR_PLURALS = {"joven": "jóvenes", "examen": "exámenes"}
IRREGULAR = read_irregular("es")
PRONOUNS = {"i": "yo", "you": "tú", "he": "él", "she": "ella", "we": "nosotros", "they": "ellos"}
ARTICLES = {"def": ("el", "la", "los", "las"), "indef": ("un", "una", "unos", "unas"),
            "this": ("este", "esta", "estos", "estas"), "many": ("", "", "muchos", "muchas"),
            "our": ("nuestro", "nuestra", "nuestros", "nuestras")}  # fmt: skip


def irregular(verb: str, form: str, regular: str = "") -> str:
    """An irregular form or stem of a verb, or the regular one if the table has none."""
    return IRREGULAR.get(verb, {}).get(form) or regular


@cache
def present(verb: str, person: tuple[int, bool]) -> str:
    """The present of a verb."""
    index = PERSONS.index(person)
    if irregular(verb, "present"):
        return irregular(verb, "present").split()[index]
    stem = verb[:-2] if index == 3 else irregular(verb, "present_stem", verb[:-2])
    if index == 0 and re.search(r"[aeiou]cer$", verb):
        return f"{stem[:-1]}zco"
    endings = {"ar": "o as a amos an", "er": "o es e emos en", "ir": "o es e imos en"}[verb[-2:]]
    return stem + endings.split()[index]


@cache
def preterite(verb: str, person: tuple[int, bool]) -> str:
    """The simple past of a verb."""
    index = PERSONS.index(person)
    if irregular(verb, "preterite"):
        return irregular(verb, "preterite").split()[index]
    if irregular(verb, "preterite_stem"):
        return irregular(verb, "preterite_stem") + ("e", "iste", "o", "imos", "ieron")[index]
    stem, ending = verb[:-2], verb[-2:]
    if ending == "ar":
        if index == 0:
            stem = stem[:-1] + {"c": "qu", "z": "c", "g": "gu"}.get(stem[-1], stem[-1])
        return stem + ("é", "aste", "ó", "amos", "aron")[index]
    if index in (2, 4):
        stem = irregular(verb, "raised_stem", stem)
        if verb.endswith("uir") and not irregular(verb, "raised_stem"):
            return stem + ("yó" if index == 2 else "yeron")
    return stem + ("í", "iste", "ió", "imos", "ieron")[index]


@cache
def participle(verb: str) -> str:
    """The past participle."""
    return irregular(verb, "participle", verb[:-2] + ("ado" if verb.endswith("ar") else "ido"))


@cache
def gerund(verb: str) -> str:
    """The gerund."""
    if verb.endswith("ar"):
        return verb[:-2] + "ando"
    stem = irregular(verb, "raised_stem", verb[:-2])
    ending = "yendo" if verb.endswith("uir") and stem == verb[:-2] else "iendo"
    return irregular(verb, "gerund", stem + ending)


@cache
def future(verb: str, person: tuple[int, bool]) -> str:
    """The simple future."""
    return irregular(verb, "future_stem", verb) + ("é", "ás", "á", "emos", "án")[PERSONS.index(person)]


@cache
def plural(word: str) -> str:
    """The plural of a noun or adjective; of a phrase with de, that of its first word."""
    if word in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[word]
    if word.endswith(("a", "e", "i", "o", "u", "á", "é", "ó")):
        return word + "s"
    if word.endswith("z"):
        return word[:-1] + "ces"
    for accented, plain in (("ón", "on"), ("ín", "in"), ("án", "an"), ("és", "es")):
        if word.endswith(accented):
            return word[:-2] + plain + "es"
    return word + "es"


@cache
def agree(adjective: str, feminine: bool, many: bool) -> str:
    """The form of an adjective; ``cortés>cortés`` and the like keep the masculine."""
    word, _, fixed = adjective.partition(">")
    if feminine:
        word = fixed or (
            word[:-1] + "a" if word.endswith("o") else word + "a" if word.endswith("dor") else word
        )
    return plural(word) if many else word


class Spanish(Grammar):
    """Meanings in Spanish."""

    language = "es"

    def gender(self, noun: Noun, form: str) -> bool:
        """Whether a subject is feminine, for the agreement of adjectives."""
        if noun.is_pronoun:
            return noun.concept == "she"
        if noun.determiner == "name":
            return CONCEPTS[noun.concept].forms["de"][0].endswith(" f")
        return noun_form(form)[0][0] == "f"

    def phrase(self, noun: Noun) -> tuple[str, bool]:
        """A noun phrase and whether it is feminine."""
        if noun.is_pronoun:
            return PRONOUNS[noun.concept], noun.concept == "she"
        form = self.pick(noun.concept)
        if noun.determiner == "name":
            return form, noun.concept.startswith("name:") and self.gender(noun, form)
        gender, word, irregular = noun_form(form)
        feminine = gender[0] == "f"
        if noun.plural:
            word = irregular or plural(word)
        article = self.determiner(noun, feminine)
        if gender == "f*" and not noun.plural and article in ("la", "una"):
            article = {"la": "el", "una": "un"}[article]
        adjective = self.pick(noun.adjective)
        return (
            f"{article} {word} {agree(adjective, feminine, noun.plural) if adjective else ''}".strip(),
            feminine,
        )

    def determiner(self, noun: Noun, feminine: bool) -> str:
        """The determiner in its form."""
        kind = noun.determiner
        if kind in ARTICLES:
            return ARTICLES[kind][feminine + 2 * noun.plural]
        if kind in ("my", "his", "her", "their"):
            return ("mi" if kind == "my" else "su") + ("s" if noun.plural else "")
        if kind == "number":
            number = self.pick(noun.number)
            return number
        return "cada" if kind == "every" else ""

    def name(self, noun: Noun) -> str:
        """A noun phrase by itself."""
        return self.phrase(noun)[0]

    def located(self, place: Noun | None, *, goal: bool = False) -> str:
        """A place with its preposition."""
        if place is None:
            return ""
        preposition = "a" if goal else "en"
        if not goal and place.determiner != "name" and CONCEPTS[place.concept].prepositions[0] == "by":
            preposition = "cerca de"
        return f"{preposition} {self.phrase(place)[0]}"

    def group(self, words: str, clause: Clause) -> str:
        """The whole verb group."""
        person = clause.subject.person
        head, _, tail = words.partition(" ")
        modal = self.pick(clause.modal)
        if modal:
            head, _, tail = modal.partition(" ")
            tail = f"{tail} {words}"
        if modal == "ser capaz de" and person[1]:
            tail = tail.replace("capaz", "capaces")
        if clause.tense == "past":
            if self.chance(0.25):
                return f"{present('haber', person)} {participle(head) if head != 'ser' else 'sido'} {tail}"
            return f"{preterite(head, person)} {tail}"
        if clause.tense == "future":
            if self.chance(0.5):
                return f"{present('ir', person)} a {head} {tail}"
            return f"{future(head, person)} {tail}"
        if clause.tense == "now" and not modal and self.chance(0.5) and head not in ("ir", "volver"):
            return f"{present('estar', person)} {gerund(head)} {tail}"
        return f"{present(head, person)} {tail}"

    def clause(self, clause: Clause, *, front: bool = True) -> str:
        """One clause; ``front`` allows the time at its start."""
        time, place = self.pick(clause.time), self.located(clause.place)
        core = self.core(clause)
        if clause.kind == "exist" and self.chance(0.4):
            return f"{place} {core} {time}"
        if front and clause.mood == "statement" and time and self.chance(0.35):
            return f"{time} {core} {self.pick(clause.manner)} {place}"
        return f"{core} {self.pick(clause.manner)} {place} {time}"

    def core(self, clause: Clause) -> str:
        """The clause without its adverbials."""
        if clause.kind == "weather":
            return self.pick(clause.verb)
        subject, feminine = self.phrase(clause.subject)
        many, past, person = clause.subject.person[1], clause.tense == "past", clause.subject.person
        dropped = clause.subject.concept in ("i", "you", "we") and self.chance(0.8)
        shown = "" if dropped else subject
        if clause.kind == "event":
            return self.event(clause, shown)
        if clause.kind == "exist":
            return f"{'había' if past else 'hay'} {subject}"
        if clause.kind == "cost":
            price = f"{self.pick(clause.complement.number)} euros"
            if self.chance(0.3):
                return f"el precio de {subject} {'era' if past else 'es'} de {price}"
            return f"{subject} {'costó' if past else 'cuesta'} {price}"
        if clause.kind == "role":
            job = self.phrase(Noun(clause.complement.concept, "bare"))[0]
            return f"{subject} {'trabaja como' if self.chance(0.4) else 'es'} {job}"
        adjective = agree(self.pick(clause.verb), feminine, many)
        if clause.kind == "compare":
            return (
                f"{subject} {'era' if past else 'es'} más {adjective} que {self.phrase(clause.complement)[0]}"
            )
        verb = "estar" if CONCEPTS[clause.verb].frame == "e" else "ser"
        index = PERSONS.index(person)
        finite = present(verb, person)
        if past:
            finite = {"ser": "era eras era éramos eran", "estar": "estaba estabas estaba estábamos estaban"}[
                verb
            ].split()[index]
        if clause.tense == "future":
            finite = future(verb, person) if self.chance(0.5) else f"{present('ir', person)} a {verb}"
        negated = "no" if clause.negative else ""
        predicate = f"{self.pick(clause.degree)} {adjective}"
        if clause.mood == "yesno":
            return f"{negated} {finite} {predicate} {shown}"
        return f"{shown} {negated} {finite} {predicate}"

    def event(self, clause: Clause, subject: str) -> str:
        """Subject, verb and objects."""
        verb = self.pick(clause.verb)
        target = "" if clause.object is None else self.phrase(clause.object)[0]
        if (
            is_human(clause.object)
            and clause.object is not None
            and clause.object.determiner not in ("bare", "number")
        ):
            target = f"a {target}"
        given = "" if clause.recipient is None else f"a {self.phrase(clause.recipient)[0]}"
        negated = "no" if clause.negative else ""
        pronoun = ""
        if clause.recipient is not None:
            pronoun = "les" if clause.recipient.plural else "le"
        group = self.group(verb, clause)
        goal = self.located(clause.goal, goal=True)
        frequency = self.pick(clause.frequency)
        objects = f"{target} {given} {goal}"
        question = {"where": "dónde", "when": "cuándo", "why": "por qué"}.get(clause.mood, "")
        if clause.mood == "who":
            return f"quién {negated} {pronoun} {group} {objects}"
        if clause.mood != "statement":
            return f"{question} {negated} {pronoun} {group} {frequency} {subject} {objects}"
        if frequency and self.chance(0.6):
            return f"{subject} {frequency} {negated} {pronoun} {group} {objects}"
        return f"{subject} {negated} {pronoun} {group} {frequency} {objects}"

    def compose(self, sentence: Sentence) -> str:
        """The words of the sentence, without its final mark."""
        if sentence.style in ("agent", "act"):
            text = self.definition(sentence)
        elif sentence.reporter is not None:
            told = Clause("event", sentence.report_tense, sentence.reporter, sentence.report)
            name = self.phrase(sentence.reporter)[0]
            dropped = sentence.reporter.concept in ("i", "you", "we") and self.chance(0.8)
            spoken = f"{'' if dropped else name} {self.group(self.pick(sentence.report), told)}"
            text = f"{spoken} que {self.clause(sentence.clause, front=False)}"
        elif sentence.second is not None:
            link = self.pick(sentence.link)
            comma = "," if sentence.link == "link:but" else ""
            text = f"{self.clause(sentence.clause)}{comma} {link} {self.clause(sentence.second, front=False)}"
            text = re.sub(r" y\s+(i|hi)(?!e)", r" e \1", text)
        else:
            text = self.clause(sentence.clause)
        text = re.sub(r"\s+", " ", text)
        text = re.sub(r"\b(a|de) el ", lambda match: {"a": "al ", "de": "del "}[match[1]], text)
        return text.strip()

    def finish(self, text: str, sentence: Sentence) -> str:
        """As in every language, with the opening mark of questions."""
        whole = super().finish(text, sentence)
        return f"¿{whole}" if whole.endswith("?") else whole

    def definition(self, sentence: Sentence) -> str:
        """A person who does something, or the act of doing it."""
        clause = sentence.clause
        head, _, tail = self.pick(clause.verb).partition(" ")
        target = "" if clause.object is None else self.phrase(clause.object)[0]
        if (
            is_human(clause.object)
            and clause.object is not None
            and clause.object.determiner not in ("bare", "number")
        ):
            target = f"a {target}"
        if clause.recipient is not None:
            target += f" a {self.phrase(clause.recipient)[0]}"
        places = [self.located(clause.goal, goal=True), self.pick(clause.manner), self.located(clause.place)]
        rest = f"{tail} {target} {' '.join(places)} {self.pick(clause.time)}"
        if sentence.style == "act":
            return f"{self.rng.choice(('el acto de', 'la acción de'))} {head} {rest}"
        return f"{self.rng.choice(('una persona que', 'alguien que'))} {present(head, (3, False))} {rest}"
