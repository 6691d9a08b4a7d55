"""Words of lower-cased English as NLTK's `word_tokenize` splits them: first sentences, then their words.

NLTK downloads what its sentence splitter, Punkt, has learned about English. Nearly all of those facts are
about capital letters, so only the few below can change a decision on lower-cased text:

- the abbreviations, whose period ends no sentence (`approx. 5` is split, `dr. who` is not);
- the collocations, whose first word has a period that ends no sentence;
- the words that Punkt saw at the beginning of a sentence in lower case and never with a capital. Any other
  word in lower case continues the sentence after a number or an initial (`on page 5. it`).

They come from the model for English in NLTK's data, `punkt_tab`, which was trained on the Wall Street Journal
(Kiss and Strunk 2006, "Unsupervised Multilingual Sentence Boundary Detection").
"""

import re
from collections.abc import Callable
from functools import cache

_ABBREVIATIONS = """
a.a a.c a.d a.g a.h a.m a.m.e a.s a.t adm ala ariz aug ave b.f b.v bros c c.i.t c.o.m.b c.v calif chg cie co
col colo conn corp cos ct d d.c d.h d.w dec dr e e.f e.h e.l e.m f f.g f.j feb fla fri ft g g.d g.f g.k ga
gen h h.c h.f h.m i.m.s ill inc j.b j.c j.j j.k j.p j.r jan jr k kan ky l l.a l.f l.p lt ltd m m.b.a m.d.c
m.j maj messrs mg mich minn mr mrs ms n n.c n.d n.h n.j n.m n.v n.y nev nov oct ok okla ore p p.a.m p.m pa
ph.d prof r r.a r.h r.i r.j r.k r.t rep reps s s.a s.a.y s.c s.g s.p.a s.s sen sep sept sr st sw t t.j tenn
tues u.k u.n u.s u.s.a u.s.s.r v va vs vt w w.c w.r w.va w.w wash wed wis yr
"""
# An ellipsis of three spaced periods, without the last one.
_SPACED_ELLIPSIS = ". . "
# Words after a number with a period, and after an initial.
_AFTER_NUMBER = """
abreast aes business cbot colgate commodities cooper corrections credit dividend financing genentech henley
insider international leisure letters notable pay-fone pegasus pepper review rj wedgestone who zimmer
"""
_AFTER_INITIAL = """
b:edelman b:levine b:smith b:stewart b:wigton i:magnin i:toussie j:aron j:fialka j:walter o:ludcke
"""
_BEGINNINGS = "administrators b-week r-revised z-holiday"

# A plain sentence: words of letters and digits with hyphens or the ending of a contraction, and marks that
# stand before a space or at the end. NLTK splits off these endings and marks, and does nothing else to such a
# text unless it has one of the words below. Most sentences of most corpora are plain; they are split several
# times faster here.
_ENDING = r"(?:'(?:s|m|d|ll|re|ve)|(?<=[a-z0-9]n)'t)"
_WORD = rf"[a-z0-9]++(?:-[a-z0-9]++)*+{_ENDING}?+"
_PLAIN = re.compile(rf"(?:(?:{_WORD})?+[,:;]?+ ++)*+{_WORD} *+[.?!]?+")
_SPLIT_OFF = re.compile(r"n't|'|[,:;.?!]")
_CONTRACTIONS = re.compile(r"\b(?:cannot|gimme|gonna|gotta|lemme|wanna)\b")


class _Contexts(dict[str, int]):
    """Punkt's contexts by word, 0 for a word without any; reading one adds no entry, unlike a defaultdict."""

    def __missing__(self, word: str) -> int:
        return 0


@cache
def word_tokenizer() -> Callable[[str], list[str]]:
    """Return a function that splits a text, which must be lower-cased, into words as `nltk.word_tokenize`."""
    # Imported here, since only this tokenizer needs NLTK.
    from nltk.tokenize import NLTKWordTokenizer, PunktSentenceTokenizer
    from nltk.tokenize.punkt import _ORTHO_BEG_LC, PunktParameters

    facts = PunktParameters()
    facts.abbrev_types = {*_ABBREVIATIONS.split(), _SPACED_ELLIPSIS}
    facts.collocations = {
        *(("##number##", word) for word in _AFTER_NUMBER.split()),
        *(tuple(pair.split(":")) for pair in _AFTER_INITIAL.split()),
    }
    facts.ortho_context = _Contexts.fromkeys(_BEGINNINGS.split(), _ORTHO_BEG_LC)
    split_sentences = PunktSentenceTokenizer(facts).tokenize
    split_words = NLTKWordTokenizer().tokenize

    def tokenize(text: str) -> list[str]:
        if _PLAIN.fullmatch(text) and not _CONTRACTIONS.search(text):
            return _SPLIT_OFF.sub(r" \g<0>", text).split()
        return [word for sentence in split_sentences(text) for word in split_words(sentence)]

    return tokenize
