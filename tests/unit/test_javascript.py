"""Test the module for JavaScript: its functions, its vocabularies, and the files that it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parity import TOLERANCE, distances, needs, node_vectors, run_node
from small_models import LONG, SENTENCES, STRANGE, model_of

from paraphrastic import load_model
from paraphrastic.interop.javascript import write_javascript
from paraphrastic.model.folder import find_folder


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("javascript")
    folder = tmp_path_factory.mktemp("javascript")
    write_javascript(load_model("en"), folder)
    return folder


@pytest.mark.parametrize(
    "options",
    [
        {"normalization_rule_name": "identity"},
        {"remove_extra_whitespaces": False},
        {"add_dummy_prefix": False},
        {"split_by_whitespace": False},
    ],
    ids=str,
)
def test_vocabularies_that_no_other_format_can_hold(options: dict[str, Any], tmp_path: Path) -> None:
    needs("javascript")
    model = model_of(**options)
    write_javascript(model, tmp_path)
    texts = [*SENTENCES, "  two  spaces ", "狗 ½ ﬁ \u00a0x", LONG, "", " ", STRANGE]
    apart = distances(model, lambda texts: node_vectors(tmp_path, texts), texts, "javascript")
    assert apart.max() < TOLERANCE
    # Vectors are the same in length, too, and text of which no piece is known has one of its own.
    np.testing.assert_allclose(node_vectors(tmp_path, texts), model.embed_raw_text(texts), atol=1e-6)
    if "add_dummy_prefix" in options:
        np.testing.assert_array_equal(node_vectors(tmp_path, [STRANGE])[0], model.unknown)


def test_the_functions_of_the_module(shipped: Path) -> None:
    model = load_model("en")
    first, second = "The children are\tplaying in the park.", "Kids play outside."
    listed = ["A dog runs.", "", "Kids are playing.", "The market fell.", "Kids are playing."]
    found = run_node(
        shipped,
        "const [first, second, listed] = asked;"
        "return {dim: model.dim, config: model.config, similarity: model.similarity(first, second),"
        "empty: [model.similarity(first, ''), model.shares('', first), model.shares(first, '')],"
        "itself: model.similarity(first, first), shares: model.shares(first, second),"
        "nearest: model.nearest(second, model.embed(listed), 3),"
        "all: model.nearest(first, model.embed(listed), 99)};",
        [first, second, listed],
    )
    assert (found["dim"], found["config"]) == (300, {"model": "en", "languages": ["en"]})
    (expected,) = model.score_raw_text([(first, second)])
    assert found["similarity"] == pytest.approx(expected, abs=1e-6)
    assert found["empty"][:2] == [0, []]
    assert {each["share"] for each in found["empty"][2]} == {0}
    assert found["itself"] == pytest.approx(1)
    assert [each["word"] for each in found["shares"]] == first.split()
    assert sum(each["share"] for each in found["shares"]) == pytest.approx(expected, abs=1e-6)
    scores = model.score_raw_text([(second, each) for each in listed])
    assert [each["index"] for each in found["nearest"]] == [2, 4, int(np.argsort(scores)[-3])]
    assert [each["score"] for each in found["nearest"]] == pytest.approx(sorted(scores)[:-4:-1], abs=1e-6)
    assert sorted(each["index"] for each in found["all"]) == [0, 1, 2, 3, 4]


def test_what_python_refuses_is_a_space_or_nothing(shipped: Path) -> None:
    pieces = run_node(
        shipped, "return ['a\\0b', 'a b', 'a\\u00adb', 'ab', '\\ud800'].map((text) => model.pieces(text));"
    )
    assert pieces[:4] == [pieces[1], pieces[1], pieces[3], pieces[3]]


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("bytes.subarray(0, 3)", "too short"),
        ("bytes.subarray(0, 100)", "header is damaged"),
        ("bytes.subarray(0, 5000)", "cut off"),
        ("bytes.subarray(0, bytes.length - 1)", "cut off"),
        ("readFileSync(asked)", "not exported for JavaScript"),
    ],
)
def test_other_files_are_refused(content: str, cause: str, shipped: Path) -> None:
    script = f"try {{ load({content}); }} catch (error) {{ return error.message; }} return 'nothing';"
    assert cause in run_node(shipped, script, str(find_folder("en") / "model.safetensors"))
