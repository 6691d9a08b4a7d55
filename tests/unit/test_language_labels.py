"""Test which labels of an identifier stand for a language."""

import pytest

from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier
from paraphrastic_pipeline.registry.language_labels import labels_of, lid176


@pytest.mark.parametrize(
    ("language", "labels"),
    [
        ("en", "en"), ("deu", "de"), ("ger", "de"), ("zh", "wuu yue zh"), ("cmn", "zh"), ("yue", "yue zh"),
        ("no", "nn no"), ("nb", "no"), ("nn", "nn no"), ("sr", "sh sr"), ("hr", "hr sh"),
        ("sh", "bs hr sh sr"), ("ar", "ar arz"), ("arz", "ar arz"), ("fa", "fa"), ("prs", "fa"), ("ms", "ms"),
        ("zsm", "ms"), ("id", "id"), ("in", "id"), ("iw", "he"), ("ji", "yi"), ("mo", "ro"), ("fil", "tl"),
        ("ku", "ckb ku"), ("az", "az azb"), ("ekk", "et"), ("gsw", "als"), ("als", "sq"), ("sq", "sq"),
        ("bho", "bh"), ("xx", ""),
    ],
)  # fmt: skip
def test_labels_of_lid176(language, labels):
    assert " ".join(labels_of(language)) == labels


def test_an_own_identifier_has_fewer_labels():
    assert labels_of("zh", {"zh", "en"}) == ("zh",)
    assert labels_of("nb", {"nb", "en"}) == ("nb",)
    assert labels_of("fr", {"zh", "en"}) == ()


def test_the_table_has_the_labels_of_the_model(mirror):
    model = mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"
    assert set(lid176()) == LanguageIdentifier(model).labels
