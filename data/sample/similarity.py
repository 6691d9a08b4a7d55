"""How much two meanings share, and how one is changed in chosen parts."""

from dataclasses import replace
from random import Random

from lexicon import BY_CATEGORY, CONCEPTS, NOUNS_BY_CLASS, is_mass
from meaning import IT, PRONOUNS, Clause, Noun, Sentence, draw_adjective

WEIGHTS = {"verb": 3.0, "subject": 2.5, "object": 2.5, "recipient": 1.5, "goal": 2.0, "place": 1.5,
           "time": 1.2, "manner": 0.8, "frequency": 0.5, "degree": 0.3, "modal": 0.6}  # fmt: skip
NOUN_ROLES = ("subject", "object", "recipient", "goal", "place")
ADJECTIVE_WEIGHT = 0.7
CONSTANT_ROLES = ("frequency", "degree", "modal")


def clause_parts(clause: Clause, prefix: str = "") -> dict[str, tuple[str, float]]:
    """What stands in each role of a clause, and the weight of the role."""
    parts = {}
    for role, weight in WEIGHTS.items():
        value = getattr(clause, role)
        if value is IT:
            continue
        if isinstance(value, Noun):
            parts[prefix + role] = (
                value.number if clause.kind == "cost" and role == "object" else value.concept,
                weight,
            )
            if value.adjective:
                parts[f"{prefix}{role} adjective"] = (value.adjective, ADJECTIVE_WEIGHT)
        elif value:
            parts[prefix + role] = (value, weight)
    return parts


def parts_of(sentence: Sentence) -> dict[str, tuple[str, float]]:
    """What stands in each role of a sentence."""
    parts = clause_parts(sentence.clause)
    if sentence.style in ("agent", "act"):
        del parts["subject"]  # every definition has the same
    if sentence.reporter is not None:
        parts["reporter"] = (sentence.reporter.concept, 1.2)
        parts["report"] = (sentence.report, 1.0)
    if sentence.second is not None:
        parts |= clause_parts(sentence.second, "second ")
    return parts


def similarity(one: Sentence, other: Sentence) -> float:
    """The weighted share, 0 to 1, of the roles in which the same concept stands."""
    first, second = parts_of(one), parts_of(other)
    common = sum(weight for role, (value, weight) in first.items() if second.get(role, ("", 0))[0] == value)
    return 2 * common / (sum(w for _, w in first.values()) + sum(w for _, w in second.values()))


def another_noun(rng: Random, noun: Noun) -> Noun:
    """A noun phrase of the same kind, determiner and number about something else."""
    if noun.is_pronoun:
        return replace(noun, concept=rng.choice([p for p in PRONOUNS if p != noun.concept]))
    concept = CONCEPTS[noun.concept]
    if concept.category == "noun":
        others = [n for n in NOUNS_BY_CLASS[concept.classes[0]] if is_mass(n.key) == is_mass(noun.concept)]
    else:
        others = BY_CATEGORY[concept.category]
    chosen = rng.choice([o for o in others if o is not concept])
    described = noun.adjective and draw_adjective(rng, chosen.classes[:1], without=noun.adjective)
    return replace(noun, concept=chosen.key, adjective=described)


def another_verb(rng: Random, clause: Clause) -> str:
    """A verb, adjective or kind of weather that fits the clause and means something else."""
    concept = CONCEPTS[clause.verb]
    options = BY_CATEGORY[concept.category]
    if concept.category == "weather":
        return rng.choice([w.key for w in options if w.classes == clause.tense and w is not concept])
    fitting = [o for o in options if clause.subject.classes in o.classes and o.frame == concept.frame]
    if clause.object is not None and concept.category == "verb":
        fitting = [o for o in fitting if clause.object.classes in o.objects]
    others = [o.key for o in fitting if o is not concept]
    return rng.choice(others) if others else clause.verb


def vary_clause(rng: Random, clause: Clause, roles: list[str]) -> Clause:
    """The clause with something else in the roles; the rest, function words included, stays."""
    changes: dict[str, object] = {}
    for role in roles:
        value = getattr(clause, role)
        if clause.kind == "cost" and role == "object":
            others = [n.key for n in BY_CATEGORY["number"] if n.key != value.number]
            changes[role] = replace(value, number=rng.choice(others))
        elif isinstance(value, Noun):
            changes[role] = another_noun(rng, value)
        elif role == "verb":
            changes[role] = another_verb(rng, clause)
        else:
            concept = CONCEPTS[value]
            others = [
                o.key
                for o in BY_CATEGORY[concept.category]
                if o.classes == concept.classes and o is not concept
            ]
            changes[role] = rng.choice(others[:12])
    return replace(clause, **changes)  # type: ignore[arg-type]


def vary(rng: Random, sentence: Sentence, amount: float) -> Sentence:
    """The sentence with about the given share, 0 to 1, of its roles filled anew."""

    def chosen(clause: Clause) -> list[str]:
        roles = [r for r in WEIGHTS if getattr(clause, r) not in ("", None, IT) and r not in CONSTANT_ROLES]
        if sentence.style in ("agent", "act"):
            roles.remove("subject")
        count = min(len(roles), int(amount * len(roles) + rng.random()))
        return sorted(rng.sample(roles, count))

    clause = vary_clause(rng, sentence.clause, chosen(sentence.clause))
    varied = replace(sentence, clause=clause)
    if sentence.reporter is not None and rng.random() < amount:
        reports = [r.key for r in BY_CATEGORY["report"] if r.key != sentence.report]
        varied = replace(varied, reporter=another_noun(rng, sentence.reporter), report=rng.choice(reports))
    if sentence.second is not None:
        varied = replace(varied, second=vary_clause(rng, sentence.second, chosen(sentence.second)))
    return varied
