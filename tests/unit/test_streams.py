"""Test commands without standard streams or with full ones, and outputs that are not files of their own."""

import errno
import json
import os
import re
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sentence_files import error_of, write

from paraphrastic.base.errors import InputError, lack_of_memory
from paraphrastic.base.files import atomic_output
from paraphrastic.base.streams import is_stream
from paraphrastic.cli import main

ROOT = Path(__file__).resolve().parents[2]
# Runs several commands in one process, each with a standard output that knows nothing of those before.
PROGRAM = """
import json, sys
from paraphrastic.cli import main
statuses, out = [], sys.stdout
for words in json.loads(sys.argv[1]):
    if out is not None:
        sys.stdout = open(1, "w", closefd=False)
    try:
        statuses.append(main(words))
    except SystemExit as ended:
        statuses.append(ended.code)
with open(sys.argv[2], "w") as file:
    json.dump(statuses, file)
"""


@pytest.fixture(scope="module")
def place(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of pairs, a file of sentences and its matrix."""
    place = tmp_path_factory.mktemp("streams")
    write(place / "in.tsv", ["the dog\tthe cat", "a cat\ta dog"])
    write(place / "in.txt", ["the dog", "the dog", "a cat"])
    assert main(words("embed", folder, place, place / "v.npy")) == 0
    return place


def words(command: str, folder: Path, place: Path, output: object, source: object = None) -> list[str]:
    """The words of a command of these tests."""
    text, pairs = str(source or place / "in.txt"), str(source or place / "in.tsv")
    of_model = [command, "--model", str(folder), "--output", str(output)]
    return {
        "embed": [*of_model, "--input", text],
        "score": [*of_model, "--input", pairs],
        "search": [*of_model, "--input", text, "--index", str(place / "v.npy"), "--k", "1"],
        "dedup": [*of_model, "--input", text],
        "mine": [*of_model, "--source", text, "--target", str(place / "in.txt")],
        "new": ["new", "--languages", "en-de", "--corpus", str(place / "in.tsv"), "--output", str(output)],
        "models": ["models"],
        "help": ["embed", "--help"],
        "version": ["--version"],
        "wrong": ["embed"],
        "missing": ["embed", *of_model[1:], "--input", str(place / "none")],
    }[command]


SENTENCES = ("embed", "score", "search", "dedup", "mine")
WRITE = (*SENTENCES, "new")


def run_all(commands: list[list[str]], redirection: str, folder: Path) -> tuple[list[int], bytes, str]:
    """Run commands with redirected streams; return their statuses, results and messages."""
    line = shlex.join([sys.executable, "-c", PROGRAM, json.dumps(commands), str(folder / "statuses")])
    run = subprocess.run(
        ["bash", "-c", f"{line} {redirection}"], capture_output=True, cwd=ROOT, check=False, timeout=120
    )
    assert run.returncode == 0, run.stderr
    return json.loads((folder / "statuses").read_text()), run.stdout, run.stderr.decode()


@pytest.mark.parametrize("redirection", ["2>&- <&-", "2>/dev/full"])
def test_messages_that_are_lost_change_no_result(
    folder: Path, place: Path, tmp_path: Path, redirection: str
) -> None:
    outputs = {name: tmp_path / name for name in WRITE}
    asked = [words(name, folder, place, output) for name, output in outputs.items()]
    asked += [words(name, folder, place, "-") for name in ("score", "models", "help", "version")]
    faulty = [words(name, folder, place, tmp_path / "x") for name in ("missing", "wrong")]
    statuses, results, _ = run_all([*asked, *faulty], redirection, tmp_path)
    assert statuses == [0] * len(asked) + [1, 2]
    for name, output in outputs.items():
        expected = tmp_path / "expected" / name
        assert main(words(name, folder, place, expected)) == 0
        assert output.read_bytes() == expected.read_bytes().replace(b"expected/", b""), name
    assert results.startswith((tmp_path / "score").read_bytes())
    assert b"paraphrastic: " not in results
    assert b"usage: " in results


@pytest.mark.parametrize(
    ("redirection", "cause"),
    [
        (">&-", "standard output is closed"),
        ("> /dev/full", "standard output: cannot be written: no space left on the disk"),
    ],
)
def test_results_that_are_lost_are_an_error(
    folder: Path, place: Path, tmp_path: Path, redirection: str, cause: str
) -> None:
    asked = [words(name, folder, place, "-") for name in WRITE]
    shown = [words(name, folder, place, "-") for name in ("models", "help", "version")]
    files = [words("embed", folder, place, tmp_path / "v.npy")]
    statuses, _, messages = run_all([*asked, *shown, *files], redirection, tmp_path)
    assert statuses == [1] * len(asked + shown) + [0]
    causes = [line.removeprefix("paraphrastic: error: ") for line in messages.splitlines()]
    if redirection == ">&-":
        assert causes == [cause] * len(asked + shown)
    else:
        printed = "standard input or output: No space left on device"
        assert [each for each in causes if "lines kept" not in each] == [
            *[cause] * len(SENTENCES), *[printed] * (1 + len(shown)),
        ]  # fmt: skip


@pytest.mark.parametrize("source", ["-", "/dev/stdin"])
def test_a_closed_standard_input_is_not_an_empty_one(
    folder: Path, place: Path, tmp_path: Path, source: str
) -> None:
    asked = [words(name, folder, place, tmp_path / name, source) for name in SENTENCES]
    statuses, _, messages = run_all(asked, "<&-", tmp_path)
    assert statuses == [1] * len(asked)
    assert messages == "paraphrastic: error: standard input is closed\n" * len(asked)


def test_a_reader_that_wants_no_more_is_no_error(folder: Path, place: Path, tmp_path: Path) -> None:
    asked = [words(name, folder, place, "-") for name in (*WRITE, "models", "help", "version")]
    statuses, _, messages = run_all(asked, "> >(exec true)", tmp_path)
    assert statuses == [0] * len(asked)
    assert "Broken" not in messages


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    program = (
        "import os, sys; from paraphrastic.base.streams import prepare_streams\n"
        "prepare_streams(results=False)\n"
        "file = open(sys.argv[1], 'w'); file.write('data'); file.flush(); os.write(2, b'message')\n"
        "print('message'); print('message', file=sys.stderr, flush=True)\n"
        "os.system('echo message; echo message >&2')"
    )
    line = shlex.join([sys.executable, "-c", program, str(tmp_path / "file")])
    subprocess.run(["bash", "-c", f"{line} <&- >&- 2>&-"], check=True)
    assert (tmp_path / "file").read_text() == "data"


def appended(write_to: Callable[[str], object], folder: Path) -> list[bytes]:
    """Give a descriptor of a file to a function, directly and by a link; return what it adds each time."""
    file, link, mark = folder / "sub" / "log", folder / "link", b"\0between\0"
    file.parent.mkdir()
    file.write_bytes(mark)
    # As after `> log` and some output; after `>> log`, even a truncated file would not do.
    handle = os.open(file, os.O_WRONLY)
    os.lseek(handle, 0, os.SEEK_END)
    link.symlink_to(f"/proc/self/fd/{handle}")
    for place in (f"/dev/fd/{handle}", str(link)):
        write_to(place)
        os.write(handle, mark)
    os.close(handle)
    assert [path.name for path in file.parent.iterdir()] == ["log"]
    before, *added, after = file.read_bytes().split(mark)
    assert before == after == b""
    return added


@pytest.mark.parametrize("command", SENTENCES)
def test_a_descriptor_gets_the_output(folder: Path, place: Path, tmp_path: Path, command: str) -> None:
    added = appended(lambda output: main(words(command, folder, place, output)), tmp_path)
    assert main(words(command, folder, place, tmp_path / "expected")) == 0
    assert added == [(tmp_path / "expected").read_bytes()] * 2


def test_a_descriptor_gets_a_configuration(folder: Path, place: Path, tmp_path: Path) -> None:
    added = appended(lambda output: main(words("new", folder, place, output)), tmp_path)
    assert all(text.startswith(b"# A model") and b"models: [de]" in text for text in added)


def test_a_page_and_its_message_do_not_mix(folder: Path, place: Path, tmp_path: Path) -> None:
    asked = ["demo", "--model", str(folder), "--sentences", str(place / "in.txt"), "--output"]
    for page in appended(lambda output: main([*asked, output]), tmp_path):
        assert page.startswith(b"<!DOCTYPE html>")
        assert page.endswith(b"</html>")


def test_a_pipe_gets_a_file_that_a_library_writes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "map.svg").symlink_to(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        with atomic_output(tmp_path / "map.svg") as temporary, temporary.open("wb") as file:
            file.write(b"half")
            file.seek(0)
            file.write(b"whole")
        assert read.result(timeout=30) == b"whole"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.svg", "pipe"]


def test_a_descriptor_of_another_process_keeps_its_file(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        log.write("before\n")
        log.flush()
        with subprocess.Popen(["sleep", "60"], stdout=log) as other:
            with atomic_output(f"/proc/{other.pid}/fd/1") as temporary:
                temporary.write_text("after\n")
            other.kill()
    assert (tmp_path / "log").read_text() == "before\nafter\n"


def test_what_cannot_be_written_is_one_line(
    folder: Path, place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    handle = os.open(place / "in.txt", os.O_RDONLY)
    os.close(handle)
    for command in WRITE:
        assert main(words(command, folder, place, f"/dev/fd/{handle}")) == 1
        assert "Bad file descriptor" in error_of(capsys)
    if Path("/dev/full").exists():
        assert main(words("score", folder, place, "/dev/full")) == 1
        assert error_of(capsys) == "/dev/full: cannot be written: no space left on the disk"
    monkeypatch.setattr(sys, "__stdout__", None)
    assert main(words("new", folder, place, "/dev/stdout")) == 1
    assert error_of(capsys) == "standard output is closed"
    for command in ("export", "import-checkpoint"):
        os.mkfifo(tmp_path / command)
    options = ["--model", str(folder), "--format", "glove"]
    assert main(["export", *options, "--output", str(tmp_path / "export")]) == 1
    assert error_of(capsys) == f"{tmp_path}/export: already exists and is not an empty folder"


def test_lines_and_report_do_not_mix_in_a_pipe(
    folder: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = os.pipe()
    for report in (f"/dev/fd/{theirs}", f"/proc/self/fd/{theirs}"):
        assert main([*words("dedup", folder, place, f"/dev/fd/{theirs}"), "--report", report]) == 1
        assert "the lines and the report cannot both go there" in error_of(capsys)
    assert main([*words("dedup", folder, place, "-"), "--report", "/dev/stdout"]) == 1
    assert "the lines and the report cannot both go there" in error_of(capsys)
    os.close(ours)
    os.close(theirs)


def test_files_and_folders_are_no_streams(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("file", "link", "none", ".", "loop"):
        assert not is_stream(tmp_path / name), name
    assert is_stream("/dev/null")


def lack_of_memory_in_torch() -> RuntimeError:
    return RuntimeError("[enforce fail at x.cpp] .\nyou tried to allocate 9 bytes: can't allocate memory")


def damage(cause: Exception) -> InputError:
    """The error of a reader that takes any exception for damage of its file."""
    try:
        try:
            raise cause
        except Exception:
            raise InputError("v.bin: damaged") from None
    except InputError as error:
        return error


@pytest.mark.parametrize(
    ("error", "words_of"),
    [
        (MemoryError("Unable to allocate 9 GiB\nfor an array"), ": Unable to allocate 9 GiB for an array"),
        (MemoryError(), ""),
        (damage(lack_of_memory_in_torch()), ": v.bin: damaged"),
        (OSError(errno.ENOMEM, "Cannot allocate", "v.bin"), ": [Errno 12] Cannot allocate: 'v.bin'"),
        (RuntimeError("Resource temporarily unavailable"), ": Resource temporarily unavailable"),
        (damage(ValueError("no magic")), None),
        (damage(InputError("out of memory.txt: damaged")), None),
    ],
)
def test_a_lack_of_memory_is_one_line(
    error: Exception, words_of: str | None, folder: Path, place: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("paraphrastic.model.embed_files.embed_file", fail)
    assert main(words("embed", folder, place, place / "x.npy")) == 1
    message = error_of(capsys)
    if words_of is None:
        assert message == "v.bin: damaged"
        return
    used = re.escape(f"not enough memory{words_of}") + r"; the process had \d+\.\d GB( of at most .*)? so far"
    advice = "try a smaller --batch and --threads, less input or a machine with more memory"
    assert re.fullmatch(f"{used}; {advice}", message), message


def test_the_limit_of_memory_is_told(folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2_000_000_000, resource.RLIM_INFINITY))
    assert " GB of at most 2.0 GB (ulimit -v) so far" in str(lack_of_memory(MemoryError()))
