"""Test that numbers in files and options are numbers as people write them."""

import pytest

from paraphrastic.base.numbers import read_count, read_number
from paraphrastic.cli import main

THREE = "\N{ARABIC-INDIC DIGIT THREE}"


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.9", 0.9), ("-1", -1), ("+.5", 0.5), ("5.", 5), ("1e-3", 0.001), ("2.5E2", 250), (" 007\t", 7)],
)
def test_numbers(text: str, value: float) -> None:
    assert read_number(text) == value


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        *((text, "is not a number") for text in ("", " ", ".", "-", "e5", "1e", "0_9", "1_0.5", "1 000")),
        *((text, "is not a number") for text in ("nan", "inf", "-Infinity", "0x1F", "1:30", THREE, "½")),
        *((f"1{space}", "is not a number") for space in "\n\N{NO-BREAK SPACE}\N{EM SPACE}"),
        ("0,9", "has a decimal comma: write 0.9"),
        ("-,5", "has a decimal comma: write -0.5"),
        ("12,50", "has a decimal comma: write 12.50"),
        ("1,000", "has a decimal comma: write 1.000 or 1000"),
        ("1e400", "is too large"),
    ],
)
def test_what_is_no_number(text: str, cause: str) -> None:
    with pytest.raises(ValueError, match=r" (is|has) ") as caught:
        read_number(text)
    assert str(caught.value) == f"{text!r} {cause}"


def test_a_long_text_takes_no_longer_than_its_length() -> None:
    with pytest.raises(ValueError, match=r"is not a number$"):
        read_number("1" * 1_000_000 + "x")


@pytest.mark.parametrize("text", ["", "1_0", "-1", "+1", "1.0", THREE, "²", "1" * 5000])
def test_what_is_no_count(text: str) -> None:
    assert read_count("010") == 10
    with pytest.raises(ValueError, match=r" is (not a whole number|too large)$"):
        read_count(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dedup", "--threshold", "0_5"], "argument --threshold: '0_5' is not a number"),
        (["dedup", "--threshold", "0,5"], "argument --threshold: '0,5' has a decimal comma: write 0.5"),
        (["mine", "--min-score", "1_0"], "argument --min-score: '1_0' is not a number"),
        (["mine", "--k", "1_0"], "argument --k: '1_0' is not a whole number of at least 1"),
        (["embed", "--threads", THREE], f"argument --threads: '{THREE}' is not a whole number of at least 1"),
        (["embed", "--threads", "0"], "argument --threads: '0' is not a whole number of at least 1"),
        (["embed", "--threads", "9" * 5000], "is too large"),
        (["plan", "--pairs", "web=1_0"], "argument --pairs: '1_0' is not a whole number of at least 1"),
        (["plan", "--kept", "web=0_1"], "argument --kept: '0_1' is not a number"),
        (["plan", "--kept", "web=2"], "argument --kept: '2' is not a share above 0 and at most 1"),
    ],
)
def test_options(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err
