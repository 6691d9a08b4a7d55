"""Test that each mistake in a configuration is one line with the path of the key and the cause."""

from pathlib import Path

import pytest
from configurations import CAPTIONS, GERMAN, ROOT, assert_fault, changed, checked

from paraphrastic.base.errors import InputError

INF, NAN = float("inf"), float("nan")
RANK = {"by": "paraphrase_score", "min": 0.8, "max": 1}
SELECTED = {"paraphrase": {"paraphrase_score": None, "rank": RANK}}
FRENCH = {"languages": ["en", "fr"]}
# By the path that is set: the value, the path of the fault (what comes after that path, or all of it) and a
# word of its cause.
FAULTS: dict[str, list[tuple[object, str, str]]] = {
    # Single settings.
    "trainig": [({}, "", "'training'")],
    "training": [
        *((None, "", "mapping"), (3, "", "mapping"), ({"init": "teacher"}, "", "teacher")),
        ({"init": "teacher", "teacher": "LaBSE"}, ".teacher", "neither"),
    ],
    "training.epoch": [(3, "", "'epochs'")],
    "training.epochs": [
        *((value, "", "integer") for value in ("five", 5.5, None)),
        *((value, "", cause) for value, cause in ((True, "number"), (INF, "finite"), (-1, "0"))),
    ],
    "training.margin": [("0,9", "", "number"), (NAN, "", "finite"), (3, "", "2")],
    "training.early_stopping": [({"patience": 3}, ".every", "missing")],
    "sweep.dropout": [([0.1, 1.0], ".1", "0.99"), ([0.1, 0.1], "", "twice")],
    "sweep.megabatch": [([], "", "at least 1"), ([10.5], ".0", "integer")],
    "definitions.de.selection": [({"bitex": {}}, ".bitex", "'bitext'")],
    "definitions.de.seeds": [(1_000_000, "", "100")],
    "definitions.fr.languages": [
        (["french"], ".0", "match"),
        ("en-fr", "", "[en, fr]"),
        (["en", "en"], "", "twice"),
        ([False, "en"], ".0", "quotes"),
    ],
    "models": [([True], ".0", "quotes"), ("en", "", "[en]"), (["en", "it"], "", "'it'")],
    "evaluation.bucc": [({"testsets": "bucc2018", "pairs": "de-en"}, ".pairs", "[de-en]")],
    "evaluation.polish": [({"ppc": "polish_ppc"}, "", "6"), ({"pcc": "x"}, ".pcc", "'ppc'")],
    "vocabulary.units": [
        ({"words": {}}, ".words", "'word'"),
        ({"word": {"sise": 3}}, ".word.sise", "'size'"),
    ],
    "definitions": [({"x; rm -rf ~": GERMAN}, ".x; rm -rf ~", "match"), ({}, "", "1")],
    "languages": [(["xx", "fr"], "", "xx"), ("fr", "", "[fr]"), ([], "", "1")],
    "mirror": [("https://me:secret@host", "", "password")],
    "selection.paraphrase.rank": [({"by": "length", "min": 0.5, "max": 1}, ".by", "'paraphrase_score'")],
    # Data sets.
    "language_id": [
        ("lid175", "", "did you mean"),
        ("sts", "", "fasttext"),
        (None, "selection.paraphrase.language", "language_id"),
    ],
    "evaluation.sts": [("multi30k", "", "aligned")],
    "contamination.testsets": [
        *(({"bucc": "bucc"}, ".bucc", "did you"), ({"glue": "x"}, ".glue", "unknown")),
        ({"sts": "sts"}, ".sts", "evaluation.sts"),
    ],
    "definitions.fr.corpora": [
        (["sample_alined"], "", "'sample_aligned'"),
        (["sample_opus"], "", "has nothing in en-fr"),
        (["sts"], "", "kind"),
        (["my/pairs.tsv"], "", "{path: my/pairs.tsv}"),
    ],
    "definitions.fr": [
        (FRENCH, ".corpora", "missing"),
    ],
    "definitions.en": [
        ({**CAPTIONS, "selection": SELECTED}, ".selection.paraphrase.rank.by", "'multi30k_captions'"),
        ({**CAPTIONS, "encoder": {"languages": "separate"}}, ".encoder.languages", "two languages"),
    ],
    "max_pairs": [({"opensub": 3}, "", "did you mean")],
    "definitions.de.weights": [({"sample_opus": 0.5}, ".sample_opus", "1")],
    # Encoders and training.
    "encoder.parts": [([{"kind": "gru"}], ".0.kind", "'lstm'")],
    "encoder": [
        ({"transformer": "a/b", "parts": [{"kind": "lstm"}]}, ".transformer", "parts"),
        ({"transformer": "./nowhere"}, ".transformer", "not a folder"),
    ],
    "definitions.de": [
        ({**GERMAN, "held_out": None, "choose_by": "held_out"}, ".choose_by", "held-out"),
    ],
    "training.initial_vectors": [("nothing", "", "registry")],
    # Other people's encoders.
    "systems": [
        ({"x": {}}, ".x", "none"),
        ({"x": {"path": ".", "model2vec": "a/b"}}, ".x", "path and model2vec"),
        ({"x": {"path": "nowhere"}}, ".x.path", "not a folder"),
        ({"x": {"path": "a{b}"}}, ".x.path", "brace"),
        ({"x": {"model2vc": "a/b"}}, ".x.model2vc", "'model2vec'"),
        *(({name: {"path": "."}}, f".{name}", "name") for name in ("de", "fr-untrained")),
    ],
}


@pytest.mark.parametrize(
    ("path", "value", "at", "cause"), [(path, *case) for path, cases in FAULTS.items() for case in cases]
)
def test_each_fault_is_one_line_with_the_path_of_the_key(
    path: str, value: object, at: str, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    config = changed(path, value)
    assert_fault(config, f"{path}{at}" if at[:1] in ("", ".") else at, cause)


def test_all_faults_are_told_at_once_but_not_again_for_models_of_studies() -> None:
    config = changed("training.epoch", 3)
    config["sweep"]["dropot"] = []
    corpora = changed("definitions.de.corpora", ["sample_aligned"])
    # A path could also be a name, but its own fault says more.
    mined = {"languages": ["de", "en"], "corpora": ["sample_opus"], "encoder": {"path": "nowhere"}}
    for faulty, lines in ((config, 2), (corpora, 1), (changed("mined.found", mined), 1)):
        with pytest.raises(InputError) as error:
            checked(faulty)
        assert len(str(error.value).split("\n")) == lines


def test_a_language_that_the_identifier_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "mine.tsv").write_text("one\ttwo\n")
    definition = {"languages": ["en", "xx"], "corpora": [{"path": str(tmp_path / "mine.tsv")}]}
    config = {"models": ["m"], "definitions": {"m": definition}, "evaluation": {"sts": "sts"}}
    assert_fault(config, "selection.bitext.language", "'xx'")
    checked({**config, "selection": {"bitext": {"language": None}}})
