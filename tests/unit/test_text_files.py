"""Test reading of lines and writing of files: encodings, compressed files, devices, full disks."""

import bz2
import gzip
import lzma
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from paraphrastic.base.errors import InputError, escaped, shown
from paraphrastic.base.files import atomic_output, json_text, new_folder, read_json, write_json
from paraphrastic.base.numbers import read_number
from paraphrastic.base.text_files import byte_output, line_batches, read_sentences, text_output

LINES = ["A dog runs.", "", "  Ünï cödé 狗\t\u200b ", "a\u0085b\x0bc", "last"]
TEXT = "\n".join(LINES).encode()
# A skippable frame of Zstandard, with which files of pzstd begin.
SKIPPABLE = bytes([0x52]) + b"\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"size"
PACKED = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "several gzip members": lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:]),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": lambda data: pa.compress(data, "zstd", asbytes=True),
    "skippable frame": lambda data: SKIPPABLE + pa.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_lines_are_read_from_every_kind_of_file(tmp_path: Path, packed: str, ending: bytes) -> None:
    # The content decides, whatever the name is.
    path = tmp_path / "lines.txt"
    path.write_bytes(PACKED[packed](TEXT + ending))
    assert list(read_sentences(str(path))) == LINES


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb", ["a\rb"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        ("a\u2028b\x1c\n".encode(), ["a\u2028b\x1c"]),
    ],
)
def test_only_a_newline_ends_a_line(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(content)
    assert list(read_sentences(str(path))) == lines


def test_batches_have_the_numbers_of_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{number}\n" for number in range(1, 8)))
    batches = [(list(numbers), lines) for numbers, lines in line_batches(str(path), 3)]
    assert batches == [([1, 2, 3], ["1", "2", "3"]), ([4, 5, 6], ["4", "5", "6"]), ([7], ["7"])]


BAD = [("NUL", b"a\x00b", "NUL"), ("Latin-1", b"caf\xe9", "0xe9"), ("cut off", "é".encode()[:1], "0xc3")]


@pytest.mark.parametrize(("name", "line", "cause"), BAD, ids=[name for name, *_ in BAD])
def test_a_line_that_is_no_text_is_named_or_left_out(
    tmp_path: Path, name: str, line: bytes, cause: str
) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"one\n" * 4 + line + b"\ntwo\n")
    with pytest.raises(InputError) as caught:
        list(read_sentences(str(path)))
    assert str(caught.value).startswith(f"{path}:5: ")
    assert cause in str(caught.value)
    told: list[int] = []
    read = list(line_batches(str(path), 2, lambda number, why: told.append(number)))
    assert told == [5]
    assert [line for _, lines in read for line in lines] == [*["one"] * 4, "two"]
    assert [number for numbers, _ in read for number in numbers] == [1, 2, 3, 4, 6]


@pytest.mark.parametrize("packed", ["gzip", "bzip2", "xz", "zstandard"])
def test_damage_is_one_line(tmp_path: Path, packed: str) -> None:
    path = tmp_path / "lines.gz"
    whole = PACKED[packed](os.urandom(5000).hex().encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=f"^{path}: damaged: ."):
        list(read_sentences(str(path)))


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(InputError, match=f"^{path}: cannot be read: "):
            list(read_sentences(str(path)))


def test_an_output_is_complete_or_absent(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "out.txt"
    with pytest.raises(ZeroDivisionError), text_output(str(path)) as file:  # noqa: PT012
        file.write("half")
        raise ZeroDivisionError
    assert list(path.parent.iterdir()) == []
    with text_output(str(path)) as file:
        file.write("狗\n")
        assert not path.exists()
    assert path.read_bytes() == "狗\n".encode()
    link = tmp_path / "link"
    link.symlink_to(path)
    with byte_output(str(link)) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    # The permissions are those of any new file.
    (tmp_path / "other").touch()
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_killed_process_leaves_nothing_for_the_next_one(tmp_path: Path) -> None:
    program = """
import os, sys
from paraphrastic.base.files import atomic_output
with atomic_output(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), 9)
"""
    path = tmp_path / "out.txt"
    assert subprocess.run([sys.executable, "-c", program, path], check=False).returncode == -9
    assert [file.name for file in tmp_path.iterdir()] != []
    with atomic_output(path) as temporary:
        temporary.write_text("whole")
    assert [file.name for file in tmp_path.iterdir()] == ["out.txt"]


def test_a_new_folder_is_complete_or_absent(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    with pytest.raises(InputError, match=f"^{folder}/x: bad$"), new_folder(folder) as temporary:  # noqa: PT012
        (temporary / "x").write_text("half")
        raise InputError(f"{temporary}/x: bad")
    assert list(tmp_path.iterdir()) == []
    with new_folder(folder) as temporary:
        (temporary / "x").write_text("whole")
    assert (folder / "x").read_text() == "whole"
    with pytest.raises(InputError, match=f"^{folder}: "), new_folder(folder):
        pass


def test_a_full_disk_is_one_line(full_disk: Path) -> None:
    path = full_disk / "out.txt"
    with (
        pytest.raises(InputError, match=f"^{path}: cannot be written: No space"),
        byte_output(str(path)) as file,
    ):
        file.write(bytes(1_000_000))
    assert [file.name for file in full_disk.iterdir()] == ["ballast"]


@pytest.mark.parametrize("name", ["out.gz", "."])
def test_some_names_are_no_outputs(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"^"), byte_output(str(tmp_path / name)):
        pass


def test_a_descriptor_continues_where_the_shell_does(tmp_path: Path) -> None:
    program = (
        "from paraphrastic.base.text_files import text_output\n"
        "with text_output({!r}) as file: file.write('b')"
    )
    path = tmp_path / "out.txt"
    for place in ("-", "/dev/stdout", "/dev/fd/1"):
        script = f'{{ printf a; "{sys.executable}" -c "$1"; printf c; }} >{path}; printf d >>{path}'
        subprocess.run(["bash", "-c", script, "-", program.format(place)], check=True)
        assert path.read_text() == "abcd"
    assert subprocess.run([sys.executable, "-c", program.format("/dev/null")], check=True).returncode == 0


def test_a_closed_stream_is_named() -> None:
    program = (
        "from paraphrastic.base.text_files import text_output\nwith text_output('-') as file: file.write('b')"
    )
    run = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -c "$1" >&-', "-", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    assert "InputError: standard output is closed" in run.stderr


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    write_json(path, {"a": ["狗", 1.5, None], "surrogate": "\udc80"})
    assert read_json(path) == {"a": ["狗", 1.5, None], "surrogate": "\udc80"}
    assert "狗" in path.read_text()
    with pytest.raises(ValueError, match="JSON"):
        json_text(float("nan"))
    for content in ("{", "[" * 100_000):
        path.write_text(content)
        with pytest.raises(InputError, match=f"^{path}: "):
            read_json(path)


def test_messages_show_text_from_anywhere_on_one_line() -> None:
    assert str(InputError("a\nb\x1b[2J\udc80c", "second")) == "a\\nb\\x1b[2J\\udc80c\nsecond"
    # Text that is no address is shown as it is.
    assert escaped("Meet 10:30@home?key=5") == "Meet 10:30@home?key=5"
    assert shown("x" * 99) == "'" + "x" * 39 + "…"


@pytest.mark.parametrize(
    ("text", "number"), [("1", 1), (" -0.5\t", -0.5), (".5", 0.5), ("1e3", 1000), ("+2.", 2)]
)
def test_numbers(text: str, number: float) -> None:
    assert read_number(text) == number


@pytest.mark.parametrize("text", ["", "1_0", "nan", "inf", "1e999", "0,5", "٣", "1 2", "0x1"])
def test_what_people_do_not_write_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        read_number(text)


@pytest.mark.parametrize("module", [bz2, lzma, gzip])
def test_a_damaged_later_stream_is_an_error(module: Any, tmp_path: Path) -> None:
    second = bytearray(module.compress(b"the cat\n" * 400))
    second[1] ^= 0xFF
    path = tmp_path / "lines"
    path.write_bytes(module.compress(b"a dog\n") + second)
    with pytest.raises(InputError, match=f"^{path}: damaged: "):
        list(read_sentences(str(path)))
