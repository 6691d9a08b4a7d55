"""Test the commands that take sentences: every format in every command, and what they refuse."""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_corpus import PAIRS
from test_rows import FORMATS, write_table

from paraphrastic import Source, embed_file, load_model
from paraphrastic.base.errors import InputError
from paraphrastic.cli import COMMANDS, main
from paraphrastic.model.encoder import SentenceEncoder, cosines

ENGLISH, GERMAN = (list(dict.fromkeys(side)) for side in zip(*PAIRS[:150], strict=True))
Run = Callable[..., int]
_SEARCH = {"input": "in.txt", "output": "s.tsv", "index": "v.npy"}
_MINE = {"source": "in.txt", "target": "in.txt", "output": "m.tsv"}


@pytest.fixture
def run(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command with the trained model in an empty folder: `run("embed", input="in.txt", …)`."""
    monkeypatch.chdir(tmp_path)

    def run(command: str, *more: str, **options: object) -> int:
        named = {"model": folder, **options}
        words = [
            word for name, value in named.items() for word in (f"--{name.replace('_', '-')}", str(value))
        ]
        return main([command, *words, *more])

    return run


def write(path: str, lines: list[str]) -> str:
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def cells(path: str) -> list[list[str]]:
    return [line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines()]


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert error.startswith("paraphrastic: error: ")
    assert error.count("\n") == 1
    return error.removeprefix("paraphrastic: error: ").strip()


def table(form: str, texts: list[str], name: str = "rows", ids: str = "row") -> str:
    """Write a table of any format, or lines, and return its name."""
    if form == "txt":
        return write(f"{name}.txt", texts)
    rows = [(f"{ids}{number}", text, "x") for number, text in enumerate(texts)]
    return str(write_table(Path(f"{name}.{form}"), rows, ("id", "text", "other")))


EVERY = ["txt", *FORMATS]


@pytest.mark.parametrize("form", EVERY)
def test_every_format_goes_through_every_command(form: str, run: Run, model: SentenceEncoder) -> None:
    columns = {} if form == "txt" else {"column": "text"}
    ids = {} if form == "txt" else {"id": "id"}
    texts = [*ENGLISH[:12], "", ENGLISH[3], f" {ENGLISH[5]}\u200b "]
    rows, vectors = table(form, texts), model.embed_raw_text(texts)

    assert run("embed", input=rows, output="v.npy", **columns) == 0
    np.testing.assert_array_equal(np.load("v.npy"), vectors)

    assert run("embed", input=rows, output="v.parquet", **columns, **ids) == 0
    written = pq.read_table("v.parquet")
    np.testing.assert_array_equal(np.array(written["vector"].to_pylist(), np.float32), vectors)
    expected: list[Any] = [f"row{number}" for number in range(15)] if ids else list(range(1, 16))
    assert written["id"].to_pylist() == expected

    for index in ("v.npy", "v.parquet"):
        asked = table(form, ENGLISH[3:5], "asked", ids="ask")
        options = {"index": index, "sentences": rows, "k": 2}
        assert run("search", input=asked, output="found.tsv", **options, **columns, **ids) == 0
        names = expected if index == "v.parquet" else range(1, 16)
        first, second, third, _ = cells("found.tsv")
        asking = ("ask0", "ask1") if ids else ("1", "2")
        assert first == ["1.000000", asking[0], "1", str(names[3]), ENGLISH[3], ENGLISH[3]]
        assert second[:4] == ["1.000000", asking[0], "2", str(names[13])]
        assert third[:4] == ["1.000000", asking[1], "1", str(names[4])]

    output = f"kept.{form}"
    assert run("dedup", input=rows, output=output, threshold=1, report="left.tsv", **columns, **ids) == 0
    assert [line[:3] for line in cells("left.tsv")] == [
        ["1.000000", str(expected[13]), str(expected[3])], ["1.000000", str(expected[14]), str(expected[5])],
    ]  # fmt: skip
    again = Source(output, ["text"] if columns else [])
    assert [text for batch in again.batches() for text in batch.columns[0]] == texts[:13]
    if form not in ("txt", "parquet"):
        assert Path(output).read_bytes() == b"".join(Path(rows).read_bytes().splitlines(True)[:-2])

    old = table(form, [ENGLISH[20], *ENGLISH[3:6]], "old", ids="old")
    options = {"input": rows, "against": old, "report": "left.tsv", "threshold": 1}
    assert run("dedup", output=f"new.{form}", **options, **columns, **ids) == 0
    there = ["old1", "old2", "old3"] if ids else ["2", "3", "4"]
    near = [(3, 0), (4, 1), (5, 2), (13, 0), (14, 2)]
    left_out = [(line[1], line[2], line[5]) for line in cells("left.tsv")]
    assert left_out == [(str(expected[row]), there[one], old) for row, one in near]
    again = Source(f"new.{form}", ["text"] if columns else [])
    kept = [text for batch in again.batches() for text in batch.columns[0]]
    assert kept == [*texts[:3], *texts[6:13]]

    target = table(form, list(reversed(ENGLISH[:12])), "target", ids="to")
    mined = {"source": rows, "target": target, "margin": "cosine", **columns, **ids}
    assert run("mine", "--ids", output="mined.tsv", **mined) == 0
    found = cells("mined.tsv")
    assert {(line[1], line[2]) for line in found} == {(text, text) for text in ENGLISH[:12]}
    assert ["row2", "to9"] in [line[3:] for line in found] or not ids


@pytest.mark.parametrize("form", EVERY)
def test_pairs_of_every_format_are_scored_and_evaluated(form: str, run: Run, model: SentenceEncoder) -> None:
    rows = [(a, b) for a, b in PAIRS[:20] if a != b]
    expected = cosines(*(model.embed_raw_text(side) for side in zip(*rows, strict=True)))
    if form == "txt":
        write("pairs.txt", ["\t".join(row) for row in rows])
    else:
        write_table(Path(f"pairs.{form}"), rows, ("a", "b"))
    pairs, columns = f"pairs.{form}", [] if form == "txt" else ["--columns", "a", "b"]
    assert run("score", *columns, input=pairs, output="scores.tsv") == 0
    assert [(a, b) for _, a, b in cells("scores.tsv")] == rows
    np.testing.assert_allclose([float(score) for score, *_ in cells("scores.tsv")], expected, atol=1e-6)
    assert run("evaluate", *columns, pairs=pairs, output="quality.json") == 0
    assert json.loads(Path("quality.json").read_text())["n"] == len(rows)


def test_second_sentences_of_a_file_of_their_own(run: Run) -> None:
    first, second = write("a.txt", ENGLISH[:5]), write("b.txt", ENGLISH[1:6])
    assert run("score", input=first, second=second, output="scores.tsv", languages="en-de") == 0
    assert [line[1:] for line in cells("scores.tsv")] == list(map(list, pairwise(ENGLISH[:6])))


BAD = "café\n".encode("latin-1")


@pytest.mark.parametrize("command", ["embed", "dedup", "search", "mine", "score", "evaluate"])
def test_a_bad_row_stops_a_command_or_is_left_out(
    command: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "\t".join if command in ("score", "evaluate") else lambda pair: pair[0]
    lines = [line(pair).encode() + b"\n" for pair in PAIRS[:15]]
    Path("in.txt").write_bytes(b"".join([*lines[:4], BAD * 12, *lines[4:]]))
    write("good.txt", ENGLISH[:9])
    assert run("embed", input="good.txt", output="good.npy") == 0
    capsys.readouterr()
    more = {
        "search": {"index": "good.npy", "input": "in.txt", "output": "out.tsv"},
        "mine": {"source": "good.txt", "target": "in.txt", "output": "out.tsv"},
        "evaluate": {"pairs": "in.txt", "output": "out.json"},
    }.get(command, {"input": "in.txt", "output": "out.txt" if command != "embed" else "out.npy"})
    assert run(command, **more) == 1
    assert error_of(capsys).startswith("in.txt:5: ")
    assert not Path(str(more["output"])).exists()
    assert run(command, "--skip-bad", **more) == 0
    notes = [note.removeprefix("paraphrastic: ") for note in capsys.readouterr().err.splitlines()]
    # The first ten are named, and all are counted.
    assert [note.partition(": ")[0] for note in notes[:10]] == [f"in.txt:{number}" for number in range(5, 15)]
    assert notes[10].endswith(": 12")
    if command == "embed":
        assert len(np.load("out.npy")) == 15
    if command == "dedup":
        assert BAD not in Path("out.txt").read_bytes()


@pytest.mark.parametrize(
    ("command", "options", "named"),
    [
        ("embed", {"input": "in.txt", "output": "v.jsonl", "id": "id"}, "in.txt"),
        ("embed", {"input": "in.txt", "output": "v.npy", "column": "a"}, "in.txt"),
        ("embed", {"input": "rows.csv", "output": "v.npy", "column": "text", "id": "id"}, "v.npy"),
        ("embed", {"input": "in.txt", "output": "v.txt"}, "v.txt"),
        ("embed", {"input": "in.txt", "output": "in.txt"}, "in.txt"),
        ("embed", {"input": "none.txt", "output": "v.npy"}, "none.txt"),
        ("embed", {"input": "in.txt", "output": "v.npy", "language": "pl"}, "pl"),
        ("score", {"input": "rows.csv", "second": "in.txt", "output": "s.tsv"}, "rows.csv"),
        ("search", {"input": "in.txt", "output": "s.tsv", "index": "none.npy"}, "none.npy"),
        ("search", {"input": "in.txt", "output": "s.tsv", "index": "in.txt"}, "in.txt"),
        ("search", {**_SEARCH, "sentences_column": "a"}, "--sentences-column"),
        ("search", {**_SEARCH, "sentences": "rows.csv", "column": "none"}, "none"),
        ("dedup", {"input": "in.txt", "output": "k.txt", "id": "a"}, "--id"),
        ("dedup", {"input": "in.txt", "output": "k.txt", "threshold": 0}, "0"),
        ("dedup", {"input": "in.txt", "output": "k.txt", "threshold": 1.5}, "1.5"),
        ("dedup", {"input": "in.txt", "output": "k.parquet"}, "k.parquet"),
        ("dedup", {"input": "in.txt", "output": "k.txt", "report": "./k.txt"}, "k.txt"),
        ("dedup", {"input": "in.txt", "output": "empty.txt", "against": "./empty.txt"}, "empty.txt"),
        ("dedup", {"input": "in.txt", "output": "k.txt", "against": "in.txt"}, "in.txt"),
        ("dedup", {"input": "in.txt", "output": "k.txt", "against": "rows.csv"}, "rows.csv"),
        ("mine", {"source": "in.txt", "target": "in.txt", "output": "m.tsv", "id": "a"}, "--id"),
        ("mine", {**_MINE, "target_id": "a"}, "--target-id"),
        ("mine", {**_MINE, "margin": "cosine", "k": 9}, "--k"),
        ("embed", {"input": "in.txt", "output": "notes.npy"}, "notes.npy.json"),
        ("search", {**_SEARCH, "index": "numbers.parquet"}, "numbers.parquet"),
        ("mine", {"source": "-", "target": "-", "output": "m.tsv"}, "standard input"),
        ("mine", {"source": "in.txt", "target": "empty.txt", "output": "m.tsv"}, "empty.txt"),
        ("evaluate", {"pairs": "empty.txt"}, "empty.txt"),
        ("evaluate", {"pairs": "in.txt", "precision": 1.5}, "1.5"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_one_line_that_names_it(
    command: str, options: dict[str, Any], named: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    write("in.txt", ENGLISH[:4])
    write("empty.txt", ["", " "])
    table("csv", ENGLISH[:4])
    write("notes.npy.json", ['{"mine": 1}'])
    pq.write_table(pa.table({"vector": [1.0, 2.0]}), "numbers.parquet")
    assert run("embed", input="in.txt", output="v.npy") == 0
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    capsys.readouterr()
    assert run(command, **options) == 1
    assert named in error_of(capsys)
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize(
    "words",
    [
        ["embed", "--threads", "0"], ["embed", "--batch", "1_0"], ["dedup", "--threshold", "0_5"], ["nope"],
        ["mine", "--min-score", "high"], ["score", "--languages", "en"], ["mine", "--languages", "de-en-fr"],
        ["score", "--languages", "en-en"], ["search", "--k", "-1"],
    ],
)  # fmt: skip
def test_what_argparse_refuses(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert words[-1] in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    ["embed", "score", "search", "dedup", "mine", "demo", "export", "import-checkpoint"],
)
def test_an_output_has_to_be_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--threads", "1"])
    assert "--output" in capsys.readouterr().err.splitlines()[-1]


def test_every_help_fits_on_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    commands = argparse.ArgumentParser().add_subparsers()
    for name, _ in [add_to(commands) for group in COMMANDS.values() for add_to in group]:
        text = commands.choices[name].format_help()
        # Terminals break long lines.
        assert sum(max(1, -(-len(line) // 80)) for line in text.splitlines()) <= 40, name
        assert f"paraphrastic {name}" in text.partition("example")[2], name


def test_another_models_vectors_are_refused(
    run: Run, changed: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = write("in.txt", ENGLISH[:9])
    assert run("embed", input=lines, output="v.npy") == 0
    assert run("embed", input=lines, output="v.parquet") == 0
    others = [changed("other", model="other"), changed("folded", folding={"tr": "dotless"})]
    for other in others:
        for index in ("v.npy", "v.parquet"):
            capsys.readouterr()
            assert run("search", model=other, input=lines, output="s.tsv", index=index) == 1
            assert error_of(capsys).startswith(f"{index}: ")
    # A name and a mode without an effect change no vector.
    same = changed("same", folding={"tr": "none"})
    assert run("search", model=same, input=lines, output="s.tsv", index="v.npy") == 0
    # Vectors of nobody knows which model are searched, and a line says so.
    Path("v.npy.json").unlink()
    capsys.readouterr()
    assert run("search", input=lines, output="s.tsv", index="v.npy") == 0
    assert "v.npy" in capsys.readouterr().err
    assert run("embed", input=write("few.txt", ENGLISH[:3]), output="few.npy") == 0
    Path("few.npy.json").rename("v.npy.json")
    assert run("search", input=lines, output="s.tsv", index="v.npy") == 1
    assert "v.npy: " in error_of(capsys)


def test_sentences_have_to_be_as_many_as_rows(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    lines = write("in.txt", ENGLISH[:9])
    run("embed", input=lines, output="v.npy")
    capsys.readouterr()
    options = {"index": "v.npy", "input": lines, "output": "s.tsv"}
    assert run("search", sentences=write("few.txt", ENGLISH[:8]), **options) == 1
    assert "few.txt has 8 rows, but v.npy has 9" in error_of(capsys)


def test_min_score_and_blank_queries(run: Run, model: SentenceEncoder) -> None:
    lines = [*ENGLISH[:9], "", "  "]
    run("embed", input=write("in.txt", lines), output="v.npy")
    assert run("search", input="in.txt", output="s.tsv", index="v.npy", min_score=0.9999) == 0
    numbers = [str(number) for number in range(1, 10)]
    assert [(line[1], line[3]) for line in cells("s.tsv")] == [*zip(numbers, numbers, strict=True)]


@pytest.mark.parametrize("name", ["v.jsonl", "-"])
def test_vectors_as_json_lines_and_on_standard_output(name: str, run: Run, model: SentenceEncoder) -> None:
    write("in.txt", ENGLISH[:3])
    program = "import sys; from paraphrastic.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["embed", "--model", str(model.folder), "--dtype", "float16", "--normalize"]
    words += ["--input", "-", "--output", name]
    with Path("in.txt").open("rb") as stream:
        ended = subprocess.run(
            [sys.executable, "-c", program, *words], stdin=stream, capture_output=True, check=True
        )
    expected = model.embed_raw_text(ENGLISH[:3], dtype=np.float16, normalize=True)
    if name == "-":
        Path("out.npy").write_bytes(ended.stdout)
        np.testing.assert_array_equal(np.load("out.npy"), expected)
    else:
        read = [json.loads(line) for line in Path(name).read_text().splitlines()]
        assert [row["id"] for row in read] == [1, 2, 3]
        np.testing.assert_array_equal(np.array([row["vector"] for row in read], np.float16), expected)
    assert not Path(f"{name}.json").exists()


def test_dedup_reads_a_pipe_and_writes_a_null_device(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path(write("in.txt", [*ENGLISH[:3], ENGLISH[1]])).open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert run("dedup", input="-", output="kept.txt", report="/dev/null") == 0
    assert re.findall(r"\d+", capsys.readouterr().err) == ["3", "1"]
    assert Path("kept.txt").read_text().splitlines() == ENGLISH[:3]


def test_thresholds_of_a_file(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [f"{a}\t{a}\t1" for a in ENGLISH[:9]] + [
        f"{a}\t{b}\t0" for a, b in zip(ENGLISH, ENGLISH[9:18], strict=False)
    ]
    write("labelled.tsv", pairs)
    assert run("evaluate", "--labels", pairs="labelled.tsv", output="quality.json") == 0
    value = json.loads(Path("quality.json").read_text())["models"][0]["threshold"]
    write("in.txt", [*ENGLISH[:9], ENGLISH[0]])
    assert run("dedup", input="in.txt", output="kept.txt", threshold="quality.json") == 0
    assert run("dedup", input="in.txt", output="same.txt", threshold=value) == 0
    assert Path("kept.txt").read_bytes() == Path("same.txt").read_bytes()
    write("pairs.tsv", [f"{a}\t{b}" for a, b in PAIRS[:9]])
    assert run("evaluate", pairs="pairs.tsv", output="nearest.json") == 0
    for given in ("nearest.json", "in.txt"):
        capsys.readouterr()
        assert run("dedup", input="in.txt", output="kept.txt", threshold=given) == 1
        assert given in error_of(capsys)
    capsys.readouterr()
    run("embed", model="en", input="in.txt", output="en.npy")
    assert (
        run("search", model="en", input="in.txt", index="en.npy", output="s.tsv", min_score="quality.json")
        == 1
    )
    assert "quality.json" in error_of(capsys)


def test_embed_file_in_python(model: SentenceEncoder, tmp_path: Path) -> None:
    path = write_table(tmp_path / "rows.csv", [("7", "a dog"), ("x", "")], ("id", "text"))
    done: list[int] = []
    output = tmp_path / "v.parquet"
    assert embed_file(model, Source(str(path), ["text"], "id"), str(output), progress=done.append) == 2
    assert done == [2]
    assert pq.read_table(output)["id"].to_pylist() == ["7", "x"]
    about = json.loads(pq.read_schema(output).metadata[b"paraphrastic"])
    assert about["digest"] == model.digest
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text('{"id": 7, "text": "a"}\n{"id": "x", "text": "b"}\n')
    assert embed_file(model, Source(str(mixed), ["text"], "id"), str(output)) == 2
    assert pq.read_table(output)["id"].to_pylist() == ["7", "x"]
    mixed.write_text('{"id": 7, "text": "a"}\n' * 2 + '{"id": "x", "text": "b"}\n')
    with pytest.raises(InputError, match=f"^{output}: "):
        embed_file(model, Source(str(mixed), ["text"], "id"), str(output), batch=2)


def test_rows_that_are_left_out_count_once(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    Path("some.csv").write_text("text\na dog\nbad,row\nthe cat\n")
    assert run("embed", "--skip-bad", input="some.csv", column="text", output="v.npy") == 0
    capsys.readouterr()
    options = {"index": "v.npy", "sentences": "some.csv", "column": "text"}
    assert run("search", "--skip-bad", input="some.csv", output="s.tsv", k=1, **options) == 0
    assert [line[-1] for line in cells("s.tsv")] == ["a dog", "the cat"]
    assert capsys.readouterr().err.splitlines()[-1].endswith(" 2")
    Path("a.txt").write_bytes(b"a dog\n\xff\nthe cat\na tree\n")
    write("b.txt", ["a dog", "x", "the cat", "the sky"])
    write("labels.txt", ["1", "1", "1", "0"])
    assert run("evaluate", "--skip-bad", pairs="a.txt", second="b.txt", labels="labels.txt") == 0


def test_no_vectors_are_searched(run: Run) -> None:
    Path("empty.txt").touch()
    for name in ("v.npy", "v.parquet"):
        assert run("embed", input="empty.txt", output=name) == 0
        assert run("search", input=write("in.txt", ENGLISH[:2]), index=name, output="s.tsv") == 0
        assert Path("s.tsv").read_bytes() == b""


def test_memory_that_runs_out_is_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("paraphrastic.model.embed_files.embed_file", fails)
    assert run("embed", input=write("in.txt", ["a"]), output="v.npy", batch=7) == 1
    assert "memory" in error_of(capsys)


def test_plugins_are_declared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A folder that only looks like a package with commands is none.
    (tmp_path / "paraphrastic_old" / "cli").mkdir(parents=True)
    (tmp_path / "paraphrastic_old" / "cli" / "__init__.py").write_text("")
    program = "import sys; from paraphrastic.cli import main; sys.exit(main(['--version']))"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    ended = partial(subprocess.run, capture_output=True, text=True, check=True, env=environment)
    assert ended([sys.executable, "-c", program]).stdout.startswith("paraphrastic ")


def test_the_packaged_models_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[:3] for row in rows] == [["en", "en", "300"], ["en-de-es-fr", "en-de-es-fr", "300"]]
    assert load_model(rows[0][0]).dim == 300
