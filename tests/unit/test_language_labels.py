"""Test which labels of an identifier stand for a language."""

import pytest

from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier
from paraphrastic_pipeline.registry.language_labels import labels_of


@pytest.mark.parametrize(
    ("language", "labels"),
    [
        ("en", "en"), ("deu", "de"), ("ger", "de"), ("tur", "tr"), ("zh", "wuu yue zh"), ("cmn", "zh"),
        ("zho", "wuu yue zh"), ("yue", "yue zh"), ("no", "nn no"), ("nb", "no"), ("nn", "nn no"),
        ("sr", "sh sr"), ("hrv", "hr sh"), ("sh", "bs hr sh sr"), ("ar", "ar arz"), ("arz", "ar arz"),
        ("prs", "fa"), ("ms", "ms"), ("zsm", "ms"), ("in", "id"), ("iw", "he"), ("ji", "yi"), ("mo", "ro"),
        ("fil", "tl"), ("ku", "ckb ku"), ("az", "az azb"), ("ekk", "et"), ("gsw", "als"), ("als", "sq"),
        ("sq", "sq"), ("bho", "bh"), ("xx", ""),
    ],
)  # fmt: skip
def test_labels_of_lid176(language, labels):
    assert " ".join(labels_of(language)) == labels


def test_an_own_identifier_has_fewer_labels():
    assert labels_of("zh", {"zh", "en"}) == ("zh",)
    assert labels_of("nb", {"nb", "en"}) == ("nb",)
    assert labels_of("fr", {"zh", "en"}) == ()


def test_each_label_of_the_model_stands_for_itself(mirror):
    model = mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"
    labels = LanguageIdentifier(model).labels
    # In ISO 639-3, als is Tosk Albanian, and lid.176 means Alemannic.
    assert [label for label in labels if label not in labels_of(label)] == ["als"]
