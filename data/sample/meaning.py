"""What a sentence means, apart from any language: drawn at random, changed part by part, compared."""

from dataclasses import dataclass, field, replace
from functools import cache
from random import Random

from lexicon import BY_CATEGORY, CONCEPTS, NOUNS_BY_CLASS, Concept, is_mass

PRONOUNS = {
    "i": (1, False),
    "you": (2, False),
    "he": (3, False),
    "she": (3, False),
    "we": (1, True),
    "they": (3, True),
}
DETERMINERS = ("def", "indef", "my", "his", "her", "our", "their", "this", "every", "number", "many")
DETERMINER_WEIGHTS = (40, 18, 5, 4, 4, 3, 3, 4, 2, 6, 3)


@dataclass(frozen=True)
class Noun:
    """A noun phrase; ``concept`` is a key of the lexicon or a pronoun."""

    concept: str
    determiner: str = "name"
    plural: bool = False
    adjective: str = ""
    number: str = ""

    @property
    def is_pronoun(self) -> bool:
        """Whether it is one of ``PRONOUNS``."""
        return self.concept in PRONOUNS

    @property
    def person(self) -> tuple[int, bool]:
        """Grammatical person and whether plural."""
        return PRONOUNS.get(self.concept, (3, self.plural))

    @property
    def classes(self) -> str:
        """The semantic class letter; people for pronouns and names."""
        return CONCEPTS[self.concept].classes[0] if self.concept.startswith("noun:") else "H"


IT = Noun("it")


@dataclass(frozen=True)
class Clause:
    """One clause; ``kind`` is event, be, role, exist, weather, cost or compare."""

    kind: str
    tense: str
    subject: Noun = IT
    verb: str = ""
    object: Noun | None = None
    recipient: Noun | None = None
    place: Noun | None = None
    goal: Noun | None = None
    time: str = ""
    frequency: str = ""
    manner: str = ""
    modal: str = ""
    degree: str = ""
    negative: bool = False
    mood: str = "statement"

    @property
    def complement(self) -> Noun:
        """The object of a clause that must have one.

        Raises:
            ValueError: It has none.
        """
        if self.object is None:
            raise ValueError(f"{self.kind}: {self.verb} has no object")
        return self.object


@dataclass(frozen=True)
class Sentence:
    """A clause, perhaps reported by somebody or linked to a second one; or a headline or a definition."""

    clause: Clause
    style: str = "plain"
    reporter: Noun | None = None
    report: str = ""
    report_tense: str = "habit"
    link: str = ""
    second: Clause | None = None


@dataclass(frozen=True)
class Domain:
    """How often which kinds of sentence are drawn; every mapping is from a choice to its weight."""

    kinds: dict[str, float] = field(
        default_factory=lambda: {
            "event": 70, "be": 10, "role": 2, "exist": 5, "weather": 4, "cost": 3, "compare": 4,
        }
    )  # fmt: skip
    subjects: dict[str, float] = field(
        default_factory=lambda: {"H": 10, "A": 2, "O": 2, "pronoun": 4, "name": 3}
    )
    tenses: dict[str, float] = field(default_factory=lambda: {"past": 5, "now": 2, "habit": 2, "future": 2})
    objects: str = "HOFDTCVMPXA"
    styles: dict[str, float] = field(
        default_factory=lambda: {"plain": 90, "headline": 5, "agent": 3, "act": 2}
    )
    questions: float = 0.1
    reports: float = 0.1
    links: float = 0.1
    details: float = 0.45


def weighted(rng: Random, weights: dict[str, float]) -> str:
    """One key, with probability in proportion to its weight."""
    return rng.choices(list(weights), list(weights.values()))[0]


def draw_noun(rng: Random, classes: str, *, adjective: float = 0.25, plain: bool = False) -> Noun:
    """A noun phrase of one of the classes; ``plain`` keeps to articles and possessives."""
    concept = rng.choice([noun for letter in classes for noun in NOUNS_BY_CLASS[letter]])
    return dress_noun(rng, concept, adjective=adjective, plain=plain)


def dress_noun(rng: Random, concept: Concept, *, adjective: float = 0.25, plain: bool = False) -> Noun:
    """The noun with a determiner, a number and perhaps an adjective."""
    if plain:
        determiner, plural = rng.choices(("def", "indef", "my", "our", "this"), (12, 3, 1, 1, 2))[0], False
    elif is_mass(concept.key):
        determiner, plural = rng.choices(("def", "bare", "my", "her", "this"), (5, 8, 1, 1, 1))[0], False
    else:
        determiner = rng.choices(DETERMINERS, DETERMINER_WEIGHTS)[0]
        plural = determiner in ("number", "many") or (determiner != "every" and rng.random() < 0.22)
        if plural and determiner == "indef":
            determiner = "bare"
    number = rng.choice(BY_CATEGORY["number"][:6]).key if determiner == "number" else ""
    described = "" if rng.random() >= adjective else draw_adjective(rng, concept.classes[0])
    return Noun(concept.key, determiner, plural, described, number)


def draw_adjective(rng: Random, letter: str, *, without: str = "") -> str:
    """An adjective that suits the class, or an empty string if none does."""
    fitting = [key for key in fitting_adjectives(letter) if key != without]
    return rng.choice(fitting) if fitting else ""


@cache
def fitting_adjectives(letter: str) -> list[str]:
    """The adjectives that suit a class of nouns."""
    return [a.key for a in BY_CATEGORY["adjective"] if letter in a.classes]


@cache
def fitting_verbs(subjects: str, objects: str) -> list[Concept]:
    """The verbs that take one of the classes as subject and, if they have an object, as object."""
    return [
        verb
        for verb in BY_CATEGORY["verb"]
        if set(verb.classes) & set(subjects) and (verb.frame[0] in "im" or set(verb.objects) & set(objects))
    ]


def draw_subject(rng: Random, domain: Domain, allowed: str) -> Noun:
    """A subject whose class is among the letters allowed."""
    weights = {k: w for k, w in domain.subjects.items() if k in allowed or (len(k) > 1 and "H" in allowed)}
    choice = weighted(rng, weights or {allowed[0]: 1})
    if choice == "pronoun":
        return Noun(rng.choice(list(PRONOUNS)))
    if choice == "name":
        return Noun(rng.choice(BY_CATEGORY["name"]).key)
    return draw_noun(rng, choice)


def draw_place(rng: Random) -> Noun:
    """A place to be in: a city or country by name, or a kind of place."""
    if rng.random() < 0.35:
        return Noun(rng.choice(BY_CATEGORY["city"]).key)
    return draw_noun(rng, "P", plain=True, adjective=0.15)


def draw_time(rng: Random, tense: str) -> str:
    """A time that suits the tense."""
    return rng.choice(fitting_times(tense))


@cache
def fitting_times(tense: str) -> list[str]:
    """The times that suit a tense."""
    return [t.key for t in BY_CATEGORY["time"] if t.classes in (tense, "any")]


def draw_clause(rng: Random, domain: Domain, kinds: dict[str, float] | None = None) -> Clause:
    """A clause of the domain."""
    kind = weighted(rng, kinds or domain.kinds)
    tense = weighted(rng, domain.tenses)
    chance = domain.details
    time = draw_time(rng, tense) if rng.random() < chance else ""
    place = draw_place(rng) if rng.random() < chance else None
    if kind == "event":
        return _draw_event(rng, domain, tense, time, place)
    if kind == "be":
        subject = draw_noun(rng, rng.choice("HHHTCVPXXAFM"), adjective=0.0)
        if rng.random() < 0.25:
            subject = draw_subject(rng, domain, "H")
        subject = replace(subject, adjective="")
        degree = rng.choice(BY_CATEGORY["degree"]).key if rng.random() < 0.5 else ""
        adjective = draw_adjective(rng, subject.classes)
        settled = CONCEPTS[adjective].frame == "s"
        return Clause(
            kind, "habit" if settled and tense == "now" else tense, subject, adjective, degree=degree,
            time="" if settled else time, negative=not degree and rng.random() < 0.2,
        )  # fmt: skip
    if kind == "role":
        job = Noun(rng.choice(NOUNS_BY_CLASS["H"][6:26]).key, "indef")
        subject = draw_subject(rng, replace(domain, subjects={"H": 2.0, "name": 2.0}), "H")
        if CONCEPTS[subject.concept].forms["de"][0].endswith(" f"):  # the names of the jobs are masculine
            subject = Noun("noun:brother", "my")
        return Clause(
            kind,
            "habit",
            replace(subject, plural=False, determiner=_single(subject)),
            object=job,
            place=place,
        )
    if kind == "exist":
        thing = draw_noun(rng, rng.choice("HATVMC"))
        thing = replace(thing, determiner={"def": "indef"}.get(thing.determiner, thing.determiner))
        if thing.determiner not in ("indef", "number", "many", "bare"):
            thing = replace(thing, determiner="bare" if thing.plural or is_mass(thing.concept) else "indef")
        if thing.plural and thing.determiner == "indef":
            thing = replace(thing, determiner="bare")
        tense = "habit" if tense in ("now", "future") else tense
        return Clause(
            kind,
            tense,
            thing,
            place=draw_place(rng),
            time=draw_time(rng, "past") if tense == "past" and time else "",
        )
    if kind == "weather":
        tense = "now" if tense == "habit" else tense
        name = rng.choice([w.key for w in BY_CATEGORY["weather"] if w.classes == tense])
        return Clause(kind, tense, verb=name, place=draw_place(rng), time=draw_time(rng, tense))
    if kind == "cost":
        ware = replace(
            draw_noun(rng, "TCVM", plain=True), determiner=rng.choice(("def", "def", "this", "my"))
        )
        if is_mass(ware.concept):
            ware = Noun("noun:book", "def")
        price = Noun("euro", "number", True, number=rng.choice(BY_CATEGORY["number"]).key)
        return Clause(kind, "past" if tense == "past" else "habit", ware, object=price, place=place)
    letter = rng.choice("HAVTP")
    first, second = (
        replace(draw_noun(rng, letter, plain=True, adjective=0), determiner="def") for _ in range(2)
    )
    if first.concept == second.concept or is_mass(first.concept) or is_mass(second.concept):
        first, second = Noun("noun:train", "def"), Noun("noun:bus", "def")
    comparable = [a for a in BY_CATEGORY["adjective"] if first.classes in a.classes and a.frame == "s"]
    colours = {"white", "black", "red", "green", "blue", "yellow", "brown"}
    adjective = rng.choice([a.key for a in comparable if a.forms["en"][0] not in colours])
    return Clause("compare", "past" if tense == "past" else "habit", first, adjective, object=second)


def _single(noun: Noun) -> str:
    return noun.determiner if noun.determiner not in ("number", "many", "bare") else "def"


def _draw_event(rng: Random, domain: Domain, tense: str, time: str, place: Noun | None) -> Clause:
    letters = "".join("H" if len(name) > 1 else name for name in domain.subjects)
    verb = rng.choice(fitting_verbs(letters, domain.objects))
    if "e" in verb.frame and tense in ("now", "habit"):
        tense = "past"
        time = draw_time(rng, tense) if time else ""
    subject = draw_subject(rng, domain, verb.classes)
    target = draw_object(rng, verb, domain.objects)
    recipient = goal = None
    if verb.frame[0] == "d":
        recipient = (
            draw_noun(rng, "H", adjective=0.1)
            if rng.random() < 0.7
            else Noun(rng.choice(BY_CATEGORY["name"]).key)
        )
    if verb.frame[0] == "m":
        goal, place = draw_place(rng), None
    stative = "s" in verb.frame
    if target is not None and target.classes == "P":
        place = Noun(rng.choice(BY_CATEGORY["city"]).key) if place else None
    modal = ""
    if not stative and rng.random() < 0.14 and subject.classes == "H" and tense != "now":
        modal = rng.choice(BY_CATEGORY["modal"]).key
    negative = rng.random() < 0.1 and modal in ("", "modal:want", "modal:can")
    manner = ""
    if not stative and not negative and rng.random() < domain.details * 0.4:
        manner = rng.choice(BY_CATEGORY["manner"][: 14 if place is None and goal is None else 12]).key
    frequency = ""
    if tense == "habit" and not negative and not modal and rng.random() < 0.35:
        frequency, time = rng.choice(BY_CATEGORY["frequency"]).key, ""
    if stative and tense == "now":
        tense = "habit"
    if stative:
        place, time = None, "" if tense == "habit" else time
    return Clause(
        "event", tense, subject, verb.key, target, recipient, place, goal, time, frequency, manner, modal,
        negative=negative,
    )  # fmt: skip


def draw_object(rng: Random, verb: Concept, objects: str) -> Noun | None:
    """An object that suits the verb; none for intransitive verbs and verbs of motion."""
    if verb.frame[0] in "im":
        return None
    letters = [letter for letter in verb.objects if letter in objects] or list(verb.objects)
    return draw_noun(rng, rng.choice(letters))


def draw_sentence(rng: Random, domain: Domain) -> Sentence:
    """A sentence of the domain."""
    style = weighted(rng, domain.styles)
    if style in ("agent", "act"):
        plain = replace(domain, subjects={"H": 1}, tenses={"habit": 1}, details=0.8)
        clause = draw_clause(rng, plain, {"event": 1})
        person = Noun("noun:man", "indef")
        clause = replace(clause, subject=person, tense="habit", modal="", negative=False, frequency="")
        if clause.time and CONCEPTS[clause.time].classes not in ("any", "habit"):
            clause = replace(clause, time="")
        return Sentence(clause, style)
    if style == "headline":
        kinds = {"event": 1.0}
        subjects = {"H": 6.0, "O": 5.0, "name": 1.0}
        clause = draw_clause(rng, replace(domain, subjects=subjects, tenses={"past": 3, "future": 1}), kinds)
        return Sentence(replace(clause, modal="", negative=False, manner=""), style)
    clause = draw_clause(rng, domain)
    if rng.random() < domain.questions and clause.kind in ("event", "be"):
        moods = ["yesno", "yesno"]
        if clause.kind == "event" and not clause.negative:
            moods += [m for m, part in (("where", clause.place), ("when", clause.time)) if not part] + [
                "why",
                "who",
            ]
        mood = rng.choice(moods)
        asked = replace(clause, mood=mood)
        return Sentence(replace(asked, subject=Noun("he")) if mood == "who" else asked)
    if rng.random() < domain.reports:
        reporter = draw_subject(rng, replace(domain, subjects={"H": 3, "pronoun": 2, "name": 3}), "H")
        report = rng.choice(BY_CATEGORY["report"]).key
        return Sentence(
            clause, "plain", replace(reporter, adjective=""), report, rng.choice(("past", "habit"))
        )
    if rng.random() < domain.links:
        brief = replace(domain, details=domain.details / 2)
        second = draw_clause(rng, brief, {"event": 8, "be": 3, "weather": 1})
        return Sentence(replace(clause, place=clause.place if clause.kind == "exist" else None), "plain",
                        link=rng.choice(BY_CATEGORY["link"]).key, second=second)  # fmt: skip
    return Sentence(clause)
