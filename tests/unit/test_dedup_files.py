"""Test which lines `paraphrastic dedup` leaves out, what it reports about them, and what it refuses."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from sentence_files import SENTENCES, cells_of, dedup, error_of, write
from test_duplicates import plainly as near_plainly

from paraphrastic.base.text import visible
from paraphrastic.model.average import AverageEncoder
from paraphrastic.neighbours import dedup_files


def test_near_duplicates_are_left_out(
    folder: Path, model: AverageEncoder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = SENTENCES[0], SENTENCES[2]
    text = f"\ufeff{first}\r\n\n{second}\n  {first}\n \t\n{second} {second}\n\u2028\n"
    text += "".join(f"{sentence}\n" for sentence in SENTENCES)
    text += f"{second}\x0b\t\n\n\u200b\n{first}\u00ad\n\u200b\n{first}"
    lines = text.encode().split(b"\n")
    source = tmp_path / "in.txt"
    source.write_bytes(b"\n".join(lines))
    options = ("--threshold", "0.8", "--report", tmp_path / "report.tsv")
    outputs = []
    for threads in (1, 2, 5):
        assert dedup(folder, source, tmp_path / "out.txt", *options, "--threads", threads) == 0
        outputs.append([(tmp_path / name).read_bytes() for name in ("out.txt", "report.tsv")])
    assert outputs[0] == outputs[1] == outputs[2]
    kept, report = outputs[0]

    raw = [line + b"\n" for line in lines[:-1]] + lines[-1:]
    texts = [text.strip() for text in visible([line.decode() for line in lines])]
    different = list(dict.fromkeys(filter(None, texts)))
    originals = near_plainly(model.embed_raw_text(different), 0.8)
    kept_texts = {text for text, original in zip(different, originals, strict=True) if original == -1}
    seen, expected, left_out = set(), [], []
    for number, (line, text) in enumerate(zip(raw, texts, strict=True), start=1):
        if not text or (text in kept_texts and text not in seen):
            expected.append(line)
        else:
            place = originals[different.index(text)]
            original = text if place == -1 else different[place]
            left_out.append((str(number), str(texts.index(original) + 1)))
        seen.add(text)
    assert kept == b"".join(expected)
    rows = [line.split("\t") for line in report.decode().split("\n")[:-1]]
    assert [(row[1], row[2]) for row in rows] == left_out
    assert all(0.8 <= float(row[0]) <= 1 and len(row) == 5 for row in rows)
    assert rows[0][:4] == ["1.000000", "4", "1", first]
    summary = f"paraphrastic: lines kept: {len(expected)}, left out: {len(left_out)}\n"
    assert capsys.readouterr().err == summary * 3
    assert 20 < len(left_out) < 300

    # What was kept is kept again.
    assert dedup(folder, tmp_path / "out.txt", tmp_path / "again.txt", "--threshold", "0.8") == 0
    assert (tmp_path / "again.txt").read_bytes() == kept


def test_lines_are_written_as_they_were_read(folder: Path, tmp_path: Path) -> None:
    lines = ["a\x0bdog", "a dog", "the\u0085house\u00ad\r", "the house", "\u200b", "\u200b"]
    lines += ["was\rred", "a\tdog"]
    source = write(tmp_path / "in.txt", lines)
    assert dedup(folder, source, tmp_path / "out.txt", "--threshold", "1") == 0
    kept = "a\x0bdog\nthe\u0085house\u00ad\r\n\u200b\n\u200b\nwas\rred\n"
    assert (tmp_path / "out.txt").read_bytes() == kept.encode()


def test_the_report_has_the_vectors_cosines(folder: Path, model: AverageEncoder, tmp_path: Path) -> None:
    source = write(tmp_path / "in.txt", SENTENCES)
    options = ("--threshold", "0.7", "--report", tmp_path / "r.tsv")
    assert dedup(folder, source, tmp_path / "out.txt", *options) == 0
    rows = cells_of(tmp_path / "r.tsv")
    scores = model.score_raw_text([(row[3], row[4]) for row in rows])
    np.testing.assert_allclose([float(row[0]) for row in rows], scores, atol=1e-6)


def test_deduplication_of_standard_input(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{SENTENCES[0]}\n{SENTENCES[2]}\r\n{SENTENCES[0]}"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert dedup(folder, "-", "-", "--threshold", "1") == 0
    assert capfdbinary.readouterr().out == text.encode()[: -len(SENTENCES[0])]


@pytest.mark.parametrize("content", [b"", b"\n\n", b" "])
def test_files_without_sentences(folder: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "in.txt").write_bytes(content)
    assert dedup(folder, tmp_path / "in.txt", tmp_path / "out.txt") == 0
    assert (tmp_path / "out.txt").read_bytes() == content


def test_large_files_are_held_in_16_bits(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "in.txt", SENTENCES)
    kinds = []
    compare = dedup_files.near_duplicates
    monkeypatch.setattr(
        dedup_files,
        "near_duplicates",
        lambda x, *arguments, **options: kinds.append(x.dtype) or compare(x, *arguments, **options),
    )
    outputs = []
    for limit in (1 << 30, 1000):
        monkeypatch.setattr(dedup_files, "MAX_VECTOR_BYTES", limit)
        assert dedup(folder, source, tmp_path / "out.txt") == 0
        outputs.append((tmp_path / "out.txt").read_bytes())
    assert kinds == [np.float32, np.int16]
    assert outputs[0] == outputs[1]


def test_lines_and_report_in_one_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output = write(tmp_path / "in.txt", ["a"]), tmp_path / "out.txt"
    (tmp_path / "link.txt").symlink_to(output)
    for report in (output, tmp_path / "sub/../out.txt", tmp_path / "link.txt"):
        assert dedup(folder, source, output, "--report", report) == 1
        assert "the lines and the report cannot both go there" in capsys.readouterr().err
    assert dedup(folder, source, "/dev/null", "--report", "/dev/null") == 0


def test_a_full_output_is_not_taken_for_the_report(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "in.txt", SENTENCES)
    full = io.TextIOWrapper(io.FileIO("/dev/full", "w"), write_through=True)
    monkeypatch.setattr(sys, "stdout", full)
    assert dedup(folder, source, "-", "--report", tmp_path / "r.tsv") == 1
    assert error_of(capsys) == "standard output: cannot be written: no space left on the disk"
