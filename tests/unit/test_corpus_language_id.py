"""Test language identification."""

from pathlib import Path

import numpy as np
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier

SAMPLE = Path(__file__).resolve().parents[2] / "data/sample/languages.ftz"
TEXTS = {
    "en": ["The weather is really beautiful today.", "Please close the shop at six o'clock this evening."],
    "de": ["Das Wetter ist heute wirklich schön.", "Bitte schließen Sie das Geschäft heute um sechs Uhr."],
}


@pytest.fixture(scope="module", params=["lid.176.ftz", "sample"])
def identifier(request):
    if request.param == "sample":
        return LanguageIdentifier(SAMPLE)
    mirror = request.getfixturevalue("mirror")
    return LanguageIdentifier(mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz")


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("before", ["", "</s> ", "</s>", "\n", "two\n</s> "])
def test_languages_whatever_ends_a_line(identifier, language, before):
    """At `</s>` and at the end of a line, fastText stops reading."""
    other = {"en": "de", "de": "en"}[language]
    texts = [f"{end}{text.replace(' ', f' {end}', 1)}" for text in TEXTS[language] for end in (before, "")]
    codes, confidences, probabilities = identifier.identify([*texts, before], language)
    assert codes[:-1] == [language] * 4
    assert confidences.dtype == probabilities.dtype == np.float32
    assert probabilities[:-1].min() > 0.5
    assert (confidences <= 1).all()
    np.testing.assert_array_equal(probabilities[:-1], confidences[:-1])
    if before.startswith("</s>"):
        np.testing.assert_array_equal(probabilities[:-1:2], probabilities[1:-1:2])
    assert identifier.identify(texts, other)[2].max() < 0.1
    assert np.isnan(identifier.identify(texts, "xx")[2]).all()


def test_a_text_of_nothing_has_no_language(identifier):
    codes, confidences, probabilities = identifier.identify(["", " \n ", "</s>"], "en")
    assert codes == ["", "", ""]
    assert not confidences.any()
    assert not probabilities.any()
    assert identifier.identify([], "en")[1].shape == (0,)


@pytest.mark.parametrize("content", [None, b"", b"garbage" * 1000])
def test_what_is_no_identifier_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / "bad.ftz").write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.ftz: [^\n]*$"):
        LanguageIdentifier(tmp_path / "bad.ftz")


def test_a_classifier_of_something_else_is_named(tmp_path):
    from fasttext import train_supervised

    (tmp_path / "text").write_text("".join(f"#good{n} word{n} word\n#bad other{n} text\n" for n in range(9)))
    train_supervised(str(tmp_path / "text"), label="#", verbose=0, dim=4).save_model(str(tmp_path / "m.bin"))
    with pytest.raises(InputError, match=r"m\.bin: .*labels"):
        LanguageIdentifier(tmp_path / "m.bin")
