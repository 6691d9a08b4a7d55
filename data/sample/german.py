"""German: declension, conjugation and the order of the sentence."""

from functools import cache

from grammar import Grammar, has_passive
from lexicon import CONCEPTS, read_irregular
from meaning import Clause, Noun, Sentence

# third person singular of the present if the stem changes, and participle
STRONG = read_irregular("de")
WITH_SEIN = {"rennen", "laufen", "schwimmen", "sterben", "verschwinden", "stürzen", "hin|fallen", "an|kommen",
             "ein|treffen", "springen", "hüpfen", "gehen", "reisen", "eilen", "zurück|kehren",
             "zurück|kommen", "spazieren", "wandern", "fliehen", "flüchten"}  # fmt: skip
NO_GE = ("be", "ver", "er", "ent", "zer", "miss", "unter", "über", "um")
AUXILIARY = {
    "haben": ("habe", "hast", "hat", "haben"), "sein": ("bin", "bist", "ist", "sind"),
    "werden": ("werde", "wirst", "wird", "werden"), "wollen": ("will", "willst", "will", "wollen"),
    "müssen": ("muss", "musst", "muss", "müssen"), "können": ("kann", "kannst", "kann", "können"),
    "war": ("war", "warst", "war", "waren"), "wurde": ("wurde", "wurdest", "wurde", "wurden"),
    "wollte": ("wollte", "wolltest", "wollte", "wollten"),
    "musste": ("musste", "musstest", "musste", "mussten"),
    "konnte": ("konnte", "konntest", "konnte", "konnten"),
}  # fmt: skip
MODAL_PAST = {"wollen": "wollte", "müssen": "musste", "können": "konnte"}
PRONOUNS = {"i": "ich", "you": "du", "he": "er", "she": "sie", "we": "wir", "they": "sie"}
DER = {"nom": dict(m="der", f="die", n="das", p="die"), "acc": dict(m="den", f="die", n="das", p="die"),
       "dat": dict(m="dem", f="der", n="dem", p="den")}  # fmt: skip
STRONG_ENDING = {"nom": dict(m="er", f="e", n="es", p="e"), "acc": dict(m="en", f="e", n="es", p="e"),
                 "dat": dict(m="em", f="er", n="em", p="en")}  # fmt: skip
EIN_WORDS = {
    "indef": "ein",
    "my": "mein",
    "his": "sein",
    "her": "ihr",
    "our": "unser",
    "their": "ihr",
    "no": "kein",
}
WITHOUT_ENDING = (("nom", "m"), ("nom", "n"), ("acc", "n"))  # ein and similar words have no ending in these
CONTRACTIONS = (("in dem", "im"), ("an dem", "am"), ("in das", "ins"), ("an das", "ans"), ("zu dem", "zum"),
                ("zu der", "zur"), ("von dem", "vom"))  # fmt: skip


@cache
def split(verb: str) -> tuple[str, str]:
    """Separable prefix and base of a verb."""
    prefix, _, base = verb.rpartition("|")
    return prefix, base


@cache
def present(base: str, person: int, many: bool) -> str:
    """The present of a verb without its separable prefix."""
    if base in AUXILIARY:
        return AUXILIARY[base][3 if many else person - 1]
    if many:
        return base
    stem = base[:-2] if base.endswith("en") else base[:-1]
    if base == "wissen":
        return ("weiß", "weißt", "weiß")[person - 1]
    if person == 1:
        return stem[:-2] + "le" if base.endswith("eln") else stem + "e"
    changed = STRONG[base]["present"] if base in STRONG else ""
    if changed:
        if person == 3:
            return changed
        if changed.endswith(("sst", "est", "ist")):
            return changed
        return changed + "st" if changed.endswith("hält") else changed[:-1] + "st"
    link = "e" if stem.endswith(("t", "d", "ffn")) else ""
    return stem + (link + "t" if person == 3 else "t" if stem.endswith(("s", "ß", "z")) else link + "st")


@cache
def participle(verb: str) -> str:
    """The past participle, prefix included."""
    prefix, base = split(verb)
    if base in STRONG:
        return prefix + STRONG[base]["participle"]
    stem = base[:-2] if base.endswith("en") else base[:-1]
    link = "e" if stem.endswith(("t", "d", "ffn")) else ""
    plain = base.endswith("ieren") or (base.startswith(NO_GE) and base not in ("beten",))
    return f"{prefix}{'' if plain else 'ge'}{stem}{link}t"


@cache
def adjective_stem(adjective: str) -> str:
    """What the endings are put on."""
    if adjective.endswith("e"):
        return adjective[:-1]
    return adjective[:-2] + "r" if adjective.endswith("euer") else adjective


class German(Grammar):
    """Meanings in German."""

    language = "de"
    allow_passive = True

    def phrase(self, noun: Noun, case: str, *, no: bool = False) -> str:
        """A noun phrase in a case; ``no`` negates an indefinite one."""
        if noun.is_pronoun:
            return PRONOUNS[noun.concept]
        form = self.pick(noun.concept)
        if noun.concept.startswith("name:"):
            name = form.rpartition(" ")[0]
            return name.replace("Herr ", "Herrn ") if case != "nom" else name
        if noun.determiner == "name":
            return form
        kind, singular, many = form.split(" ")
        gender = "p" if noun.plural else "m" if kind == "w" else kind
        word = many if noun.plural or (kind == "w" and case != "nom") else singular
        if noun.plural and case == "dat" and not word.endswith(("n", "s")):
            word += "n"
        article, weak = self.determiner(noun, case, gender, no)
        stem = adjective_stem(self.pick(noun.adjective).partition(">")[0])
        if not stem:
            return f"{article} {word}"
        if weak == "strong" or (weak == "mixed" and (case, gender) in WITHOUT_ENDING):
            ending = STRONG_ENDING[case][gender]
        else:
            ending = "e" if (case == "nom" and gender != "p") or (case == "acc" and gender in "fn") else "en"
        return f"{article} {stem}{ending} {word}"

    def determiner(self, noun: Noun, case: str, gender: str, no: bool) -> tuple[str, str]:
        """The determiner and the declension that it asks of an adjective."""
        kind = "no" if no and noun.determiner in ("indef", "bare") else noun.determiner
        ending = STRONG_ENDING[case][gender]
        if kind == "def":
            return DER[case][gender], "weak"
        if kind in ("this", "every"):
            return ("dies" if kind == "this" else "jed") + ending, "weak"
        if kind in EIN_WORDS:
            return EIN_WORDS[kind] + ("" if (case, gender) in WITHOUT_ENDING else ending), "mixed"
        if kind == "number":
            return self.pick(noun.number), "strong"
        return (f"viel{ending}" if kind == "many" else ""), "strong"

    def name(self, noun: Noun) -> str:
        """A noun phrase by itself."""
        return self.phrase(noun, "nom")

    def located(self, place: Noun | None, *, goal: bool = False) -> str:
        """A place with its preposition."""
        if place is None:
            return ""
        if place.determiner == "name":
            return f"{'nach' if goal else 'in'} {self.phrase(place, 'dat')}"
        preposition = CONCEPTS[place.concept].prepositions[1]
        if goal and preposition in ("an", "vor"):
            return self.contracted(f"zu {self.phrase(place, 'dat')}")
        return self.contracted(f"{preposition} {self.phrase(place, 'acc' if goal else 'dat')}")

    def contracted(self, words: str) -> str:
        """Preposition and article in one word."""
        for long, short in CONTRACTIONS:
            if words.startswith(long + " "):
                return short + words[len(long) :]
        return words

    def comparative(self, form: str) -> str:
        """The comparative of ``adjective`` or ``adjective>comparative``."""
        adjective, _, irregular = form.partition(">")
        return irregular or adjective + ("r" if adjective.endswith("e") else "er")

    def parts(self, clause: Clause) -> tuple[str, str, list[str], str, str]:
        """Subject, finite verb, middle, end of the clause, and an infinitive clause put after it."""
        if clause.kind == "weather":
            opening, _, rest = self.pick(clause.verb).partition(" | ")
            subject, finite = opening.split(" ")[:2]
            return subject, finite, [self.pick(clause.time), self.located(clause.place)], rest.strip("| "), ""
        person = clause.subject.person
        if clause.kind == "event":
            return self.event(clause)
        subject = self.phrase(clause.subject, "nom")
        time, place = self.pick(clause.time), self.located(clause.place)
        past = clause.tense == "past"
        if clause.kind == "exist":
            return "es", "gab" if past else "gibt", [time, self.phrase(clause.subject, "acc"), place], "", ""
        if clause.kind == "cost":
            finite = "kostete" if past else "kostet"
            return subject, finite, [place, f"{self.pick(clause.complement.number)} Euro"], "", ""
        if clause.kind == "role":
            job = self.phrase(Noun(clause.complement.concept, "bare"), "nom").strip()
            if place or self.chance(0.4):
                return subject, "arbeitet", [place, f"als {job}"], "", ""
            return subject, "ist", [job], "", ""
        if clause.kind == "compare":
            other = self.phrase(clause.complement, "nom")
            finite = "war" if past else "ist"
            return subject, finite, [f"{self.comparative(self.pick(clause.verb))} als {other}"], "", ""
        adjective = f"{self.pick(clause.degree)} {self.pick(clause.verb).partition('>')[0]}"
        negated = "nicht" if clause.negative else ""
        finite = present({"past": "war", "future": "werden"}.get(clause.tense, "sein"), *person)
        ending = "sein" if clause.tense == "future" else ""
        return subject, finite, [time, place, negated, adjective], ending, ""

    def event(self, clause: Clause) -> tuple[str, str, list[str], str, str]:
        """The parts of a clause with a full verb, in the active or the passive."""
        verb, modal = self.pick(clause.verb), self.pick(clause.modal)
        verb, _, case = verb.partition("+")
        passive = has_passive(clause) and not case and self.allow_passive and self.chance(0.12)
        no = clause.negative and clause.object is not None and clause.object.determiner in ("indef", "bare")
        target = clause.object
        objects = (
            ""
            if target is None
            else self.phrase(target, "nom" if passive else "dat" if case else "acc", no=no)
        )
        recipient = "" if clause.recipient is None else self.phrase(clause.recipient, "dat")
        negated = "nicht" if clause.negative and not no else ""
        subject = "wer" if clause.mood == "who" else self.phrase(clause.subject, "nom")
        time, frequency = self.pick(clause.time), self.pick(clause.frequency)
        details = [self.pick(clause.manner), self.located(clause.place), self.located(clause.goal, goal=True)]
        if passive and target is not None:
            agent = self.contracted(f"von {self.phrase(clause.subject, 'dat')}")
            finite = present("wurde" if clause.tense == "past" else "werden", *target.person)
            ending = participle(verb) + (" werden" if clause.tense == "future" else "")
            return objects, finite, [time, frequency, agent, negated, *details], ending, ""
        first = [time, frequency, recipient, objects, negated, *details]
        later, _, linked = modal.partition("+")
        if linked:
            infinitive = self.infinitive(verb, zu=True)
            after = " ".join([recipient, objects, *details, infinitive])
            finite, ending = self.tensed(later, clause)
            return subject, finite, [time, frequency, negated], ending, after
        if modal:
            infinitive = self.infinitive(verb)
            if clause.tense == "future":
                return subject, present("werden", *clause.subject.person), first, f"{infinitive} {modal}", ""
            auxiliary = MODAL_PAST[modal] if clause.tense == "past" else modal
            return subject, present(auxiliary, *clause.subject.person), first, infinitive, ""
        finite, ending = self.tensed(verb, clause)
        return subject, finite, first, ending, ""

    def tensed(self, verb: str, clause: Clause) -> tuple[str, str]:
        """Finite verb and end of the clause."""
        person = clause.subject.person
        if clause.tense == "past":
            return present("sein" if verb in WITH_SEIN else "haben", *person), participle(verb)
        if clause.tense == "future":
            return present("werden", *person), self.infinitive(verb)
        prefix, base = split(verb)
        return present(base, *person), prefix and f"{prefix}|"

    def infinitive(self, verb: str, *, zu: bool = False) -> str:
        """The infinitive, with zu if asked for."""
        prefix, base = split(verb)
        if not zu:
            return prefix + base
        return f"{prefix}zu{base}" if prefix else f"zu {base}"

    def main(self, clause: Clause) -> str:
        """A main clause: the finite verb comes second, or first in a question."""
        subject, finite, middle, ending, after = self.parts(clause)
        ending = ending.rstrip("|")
        tail = f"{ending}{', ' if after else ''}{after}"
        question = {"where": "wo", "when": "wann", "why": "warum"}.get(clause.mood, "")
        if clause.mood == "where" and clause.goal is not None:
            question = "wann"
        if clause.mood not in ("statement", "who"):
            return f"{question} {finite} {subject} {' '.join(middle)} {tail}"
        time = self.pick(clause.time)
        if clause.mood == "statement" and time and middle[0] and self.chance(0.4):
            return f"{middle[0]} {finite} {subject} {' '.join(middle[1:])} {tail}"
        if clause.kind == "exist" and self.chance(0.4):
            return f"{middle[2]} {finite} {subject} {' '.join(middle[:2])} {tail}"
        return f"{subject} {finite} {' '.join(middle)} {tail}"

    def subordinate(self, clause: Clause) -> str:
        """A clause with its finite verb at the end."""
        subject, finite, middle, ending, after = self.parts(clause)
        verb = f"{ending[:-1]}{finite}" if ending.endswith("|") else f"{ending} {finite}"
        return f"{subject} {' '.join(middle)} {verb}{', ' if after else ''}{after}"

    def compose(self, sentence: Sentence) -> str:
        """The words of the sentence, without its final mark."""
        self.allow_passive = sentence.style == "plain"
        if sentence.style in ("agent", "act"):
            return self.definition(sentence)
        if sentence.reporter is not None:
            told = Clause("event", sentence.report_tense, sentence.reporter, sentence.report)
            subject = self.phrase(sentence.reporter, "nom")
            finite, ending = self.tensed(self.pick(sentence.report), told)
            return f"{subject} {finite} {ending.rstrip('|')}, dass {self.subordinate(sentence.clause)}"
        if sentence.second is not None:
            link = self.pick(sentence.link)
            if sentence.link in ("link:and", "link:but"):
                comma = "," if sentence.link == "link:but" else ""
                return f"{self.main(sentence.clause)}{comma} {link} {self.main(sentence.second)}"
            return f"{self.main(sentence.clause)}, {link} {self.subordinate(sentence.second)}"
        return self.main(sentence.clause)

    def definition(self, sentence: Sentence) -> str:
        """A person who does something, or the act of doing it."""
        clause = sentence.clause
        if sentence.style == "agent":
            _, finite, middle, ending, _ = self.parts(clause)
            verb = f"{ending[:-1]}{finite}" if ending.endswith("|") else f"{ending} {finite}"
            opening = self.rng.choice(("eine Person, die", "jemand, der"))
            return f"{opening} {' '.join(middle)} {verb}"
        verb, _, case = self.pick(clause.verb).partition("+")
        target = "" if clause.object is None else self.phrase(clause.object, "dat" if case else "acc")
        given = "" if clause.recipient is None else self.phrase(clause.recipient, "dat")
        details = [
            self.pick(clause.time),
            given,
            target,
            self.pick(clause.manner),
            self.located(clause.place),
        ]
        opening = self.rng.choice(("die Handlung,", "die Tätigkeit,"))
        goal = self.located(clause.goal, goal=True)
        return f"{opening} {' '.join(details)} {goal} {self.infinitive(verb, zu=True)}"
