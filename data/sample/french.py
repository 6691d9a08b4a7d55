"""French: agreement, conjugation, elision and the order of the sentence."""

import re
from functools import cache

from grammar import Grammar, has_passive, noun_form
from lexicon import CONCEPTS, read_irregular
from meaning import Clause, Noun, Sentence

PERSONS = ((1, False), (2, False), (3, False), (1, True), (3, True))
# present in the order of PERSONS, and past participle
IRREGULAR = read_irregular("fr")
WITH_ETRE = {"aller", "revenir", "retourner", "arriver", "tomber", "mourir", "décéder"}
PRONOUNS = {"i": "je", "you": "tu", "he": "il", "she": "elle", "we": "nous", "they": "ils"}
VOWEL = r"(?=[aeiouhàâéèêëîïôœAEIOUH])"
BEFORE_VOWEL = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}
POSSESSIVES = {"my": "mon ma mes", "his": "son sa ses", "her": "son sa ses", "our": "notre notre nos",
               "their": "leur leur leurs"}  # fmt: skip


@cache
def present(verb: str, person: tuple[int, bool]) -> str:
    """The present of a verb."""
    index = PERSONS.index(person)
    if verb in IRREGULAR:
        return IRREGULAR[verb]["present"].split()[index]
    stem = verb[:-2]
    if verb.endswith("ir"):
        return stem + ("is", "is", "it", "issons", "issent")[index]
    if verb.endswith("re"):
        return stem + ("s", "s", "", "ons", "ent")[index]
    if index == 3:
        stem = re.sub(r"g$", "ge", re.sub(r"c$", "ç", stem))
    elif re.search(r"[ou]y$", stem):
        stem = stem[:-1] + "i"
    elif verb in ("appeler", "jeter", "rejeter"):
        stem += stem[-1]
    else:
        stem = re.sub(r"[eé](?=([^aeiouéèê]|gl)$)", "è", stem)
        stem = re.sub(r"ay$", "ai", stem)
    return stem + ("e", "es", "e", "ons", "ent")[index]


@cache
def participle(verb: str) -> str:
    """The past participle, masculine singular."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]["participle"]
    return verb[:-2] + {"er": "é", "ir": "i", "re": "u"}[verb[-2:]]


@cache
def plural(word: str) -> str:
    """The plural of a noun or a masculine adjective; of a phrase, that of its first word."""
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith(("eau", "eu")) and word not in ("bleu", "pneu"):
        return word + "x"
    return word[:-2] + "aux" if word.endswith("al") else word + "s"


@cache
def agree(adjective: str, feminine: bool, many: bool) -> str:
    """The form of ``masculine`` or ``masculine>feminine``."""
    word, _, irregular = adjective.partition(">")
    if feminine:
        word = irregular or (word if word.endswith("e") else word + "e")
    return plural(word) if many else word


class French(Grammar):
    """Meanings in French."""

    language = "fr"

    def phrase(self, noun: Noun, *, partitive: bool = True, negated: bool = False) -> tuple[str, bool]:
        """A noun phrase and whether it is feminine; a bare noun has its partitive article if asked for."""
        if noun.is_pronoun:
            return PRONOUNS[noun.concept], noun.concept == "she"
        form = self.pick(noun.concept)
        if noun.determiner == "name":
            female = CONCEPTS[noun.concept].forms["de"][0].endswith(" f")
            return form, noun.concept.startswith("name:") and female
        gender, word, irregular = noun_form(form)
        feminine = gender == "f"
        if noun.plural:
            word = irregular or plural(word)
        adjective = self.pick(noun.adjective)
        before = adjective.startswith("+")
        described = agree(adjective.removeprefix("+"), feminine, noun.plural) if adjective else ""
        if before and not feminine and not noun.plural and re.match(VOWEL, word):
            described = BEFORE_VOWEL.get(described, described)
        words = f"{described} {word}" if before else f"{word} {described}"
        kind = noun.determiner
        if negated and kind in ("indef", "bare"):
            return f"de {words}", feminine
        if kind == "bare":
            article = "de le" if not feminine else "de la"
            if noun.plural:
                article = "de" if before else "des"
            return (f"{article} {words}" if partitive else words), feminine
        return f"{self.determiner(noun, feminine, words)} {words}", feminine

    def determiner(self, noun: Noun, feminine: bool, words: str) -> str:
        """The determiner in its form."""
        kind = noun.determiner
        vowel = bool(re.match(VOWEL, words))
        if kind == "def":
            return "les" if noun.plural else "la" if feminine else "le"
        if kind == "indef":
            return "une" if feminine else "un"
        if kind in POSSESSIVES:
            forms = POSSESSIVES[kind].split()
            return forms[2 if noun.plural else 0 if vowel else feminine]
        if kind == "this":
            return "ces" if noun.plural else "cette" if feminine else "cet" if vowel else "ce"
        if kind == "number":
            return self.pick(noun.number)
        numerous = "de nombreuses" if feminine else "de nombreux"
        return "chaque" if kind == "every" else self.rng.choice(("beaucoup de", numerous))

    def name(self, noun: Noun) -> str:
        """A noun phrase by itself."""
        return self.elided(self.phrase(noun)[0])

    def located(self, place: Noun | None) -> str:
        """A place with its preposition, the same for being there and for going there."""
        if place is None:
            return ""
        if place.determiner == "name":
            return self.phrase(place)[0]
        return f"{CONCEPTS[place.concept].prepositions[2]} {self.phrase(place)[0]}"

    def group(self, words: str, clause: Clause, subject: tuple[bool, bool], middle: str = "") -> str:
        """The verb group with its negation; ``subject`` is whether feminine and whether plural."""
        person = clause.subject.person
        head, _, tail = words.partition(" ")
        modal = self.pick(clause.modal)
        if modal:
            head, _, tail = modal.partition(" ")
            tail = f"{tail} {words}"
        if modal == "être capable de" and person[1]:
            tail = tail.replace("capable", "capables")
        ne, pas = ("ne", "pas") if clause.negative else ("", "")
        if clause.tense == "past":
            auxiliary = "être" if head in WITH_ETRE else "avoir"
            done = participle(head)
            if auxiliary == "être":
                done = agree(done, *subject)
            return f"{ne} {present(auxiliary, person)} {pas} {middle} {done} {tail}"
        if clause.tense == "future":
            return f"{ne} {present('aller', person)} {pas} {middle} {head} {tail}"
        if clause.tense == "now" and not modal and not clause.negative and self.chance(0.25):
            return f"{present('être', person)} en train de {head} {tail}"
        return f"{ne} {present(head, person)} {pas} {middle} {tail}"

    def clause(self, clause: Clause, *, front: bool = True) -> str:
        """One clause; ``front`` allows the time at its start."""
        time, place = self.pick(clause.time), self.located(clause.place)
        core = self.core(clause)
        if clause.kind == "exist" and self.chance(0.4):
            return f"{place}, {core} {time}"
        if front and clause.mood == "statement" and time and self.chance(0.35):
            return f"{time}, {core} {self.pick(clause.manner)} {place}"
        return f"{core} {self.pick(clause.manner)} {place} {time}"

    def core(self, clause: Clause) -> str:
        """The clause without its adverbials."""
        if clause.kind == "weather":
            return self.pick(clause.verb)
        subject, feminine = self.phrase(clause.subject)
        many, past, person = clause.subject.person[1], clause.tense == "past", clause.subject.person
        if clause.kind == "exist":
            return f"il y {'avait' if past else 'a'} {subject}"
        if clause.kind == "cost":
            price = f"{self.pick(clause.complement.number)} euros"
            if self.chance(0.3):
                return f"le prix de {subject} {'était' if past else 'est'} de {price}"
            return f"{subject} {'a coûté' if past else 'coûte'} {price}"
        if clause.kind == "role":
            job = self.phrase(Noun(clause.complement.concept, "bare"), partitive=False)[0]
            return f"{subject} {'travaille comme' if self.chance(0.4) else 'est'} {job}"
        if clause.kind == "event":
            body = self.event(clause, subject, feminine)
        else:
            adjective = agree(self.pick(clause.verb).removeprefix("+"), feminine, many)
            if clause.kind == "compare":
                other = self.phrase(clause.complement)[0]
                return f"{subject} {'était' if past else 'est'} plus {adjective} que {other}"
            finite, ending = present("être", person), ""
            if past:
                finite = ["étais", "étais", "était", "étions", "étaient"][PERSONS.index(person)]
            if clause.tense == "future":
                finite, ending = present("aller", person), "être"
            ne, pas = ("ne", "pas") if clause.negative else ("", "")
            body = f"{subject} {ne} {finite} {pas} {ending} {self.pick(clause.degree)} {adjective}"
        question = {"where": "où", "when": "quand", "why": "pourquoi", "yesno": ""}
        if clause.mood in question:
            return f"{question[clause.mood]} est-ce que {body}"
        return body

    def event(self, clause: Clause, subject: str, feminine: bool) -> str:
        """Subject, verb and objects, in the active or the passive."""
        verb = self.pick(clause.verb)
        takes_de = verb.endswith(" de")
        target, target_feminine = "", False
        if clause.object is not None:
            target, target_feminine = self.phrase(
                clause.object, partitive=not takes_de, negated=clause.negative and not takes_de
            )
        given = "" if clause.recipient is None else f"à {self.phrase(clause.recipient)[0]}"
        goal, frequency = self.located(clause.goal), self.pick(clause.frequency)
        told = (
            clause.tense == "past" and clause.mood == "statement" and not clause.negative and " " not in verb
        )
        if told and has_passive(clause) and clause.complement.determiner != "bare" and self.chance(0.15):
            many = clause.complement.plural
            done = agree(participle(verb), target_feminine, many)
            return f"{target} {'ont' if many else 'a'} été {done} par {subject}"
        name = "qui" if clause.mood == "who" else subject
        group = self.group(verb, clause, (feminine, clause.subject.person[1]), frequency)
        return f"{name} {group} {target} {given} {goal}"

    def compose(self, sentence: Sentence) -> str:
        """The words of the sentence, without its final mark."""
        if sentence.style in ("agent", "act"):
            text = self.definition(sentence)
        elif sentence.reporter is not None:
            told = Clause("event", sentence.report_tense, sentence.reporter, sentence.report)
            name, feminine = self.phrase(sentence.reporter)
            spoken = self.group(self.pick(sentence.report), told, (feminine, sentence.reporter.person[1]))
            text = f"{name} {spoken} que {self.clause(sentence.clause, front=False)}"
        elif sentence.second is not None:
            link = self.pick(sentence.link)
            comma = "," if sentence.link == "link:but" else ""
            text = f"{self.clause(sentence.clause)}{comma} {link} {self.clause(sentence.second, front=False)}"
        else:
            text = self.clause(sentence.clause)
        return self.elided(text)

    def elided(self, text: str) -> str:
        """Elision before vowels, and articles merged with prepositions."""
        text = re.sub(r"\s+", " ", text).strip()
        text = re.sub(
            r"\b([Ll]e|[Ll]a|[Jj]e|[Nn]e|[Dd]e|[Qq]ue) " + VOWEL + r"(?!huit|onze)",
            lambda m: m[1][:-1] + "'",
            text,
        )
        text = re.sub(r"\bde le\b", "du", text)
        text = re.sub(r"\bde les\b", "des", text)
        text = re.sub(r"\bà le\b", "au", text)
        return re.sub(r"\bà les\b", "aux", text)

    def definition(self, sentence: Sentence) -> str:
        """A person who does something, or the act of doing it."""
        clause = sentence.clause
        verb = self.pick(clause.verb)
        head, _, tail = verb.partition(" ")
        target = (
            "" if clause.object is None else self.phrase(clause.object, partitive=not verb.endswith(" de"))[0]
        )
        if clause.recipient is not None:
            target += f" à {self.phrase(clause.recipient)[0]}"
        places = [self.located(clause.goal), self.pick(clause.manner), self.located(clause.place)]
        rest = f"{tail} {target} {' '.join(places)} {self.pick(clause.time)}"
        if sentence.style == "act":
            opening = self.rng.choice(("le fait de", "l'action de"))
            return f"{opening} {head} {rest}"
        opening = self.rng.choice(("une personne qui", "quelqu'un qui"))
        return f"{opening} {present(head, (3, False))} {rest}"
