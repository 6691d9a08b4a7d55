"""What OPUS has in a language pair: asked once from its API, kept in a file, and used by name.

`resources/opus/de-en.json` is the API's answer as it came; the codes stand in the order of the alphabet, as
in the names of OPUS's own files. Versions in the list stay as they are until the list is fetched anew.
"""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.registry.datasets import RemoteFile, address_fault
from paraphrastic.registry.download import fetch

LISTS = Path("resources/opus")
API = "https://opus.nlpl.eu/opusapi/?source={a}&target={b}&preprocessing=moses&version=latest"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class OpusCorpus:
    """A corpus of OPUS in one language pair.

    `languages` stand in the order of the alphabet. `pairs` (aligned sentences) and `size` (of the archive, in
    bytes, to the next KiB) are None where OPUS does not say.
    """

    name: str
    version: str
    languages: tuple[str, str]
    address: str
    pairs: int | None
    size: int | None

    def file(self) -> RemoteFile:
        """The archive in Moses layout: members `NAME.de-en.de` and `NAME.de-en.en`, or the other order."""
        a, b = self.languages
        return RemoteFile(
            dataset=self.name,
            name=f"{a}-{b}.txt.zip",
            languages=self.languages,
            addresses=(self.address,),
            members=tuple(
                f"{self.name}.{pair}.{code}" for pair in (f"{a}-{b}", f"{b}-{a}") for code in (a, b)
            ),
            version=self.version,
            # Every corpus has a file of this name.
            name_is_shared=True,
        )


def list_command(languages: Sequence[str], mirror: str | None = None) -> str:
    """The command that fetches the list of a pair."""
    words = ["paraphrastic", "corpora", "--languages", "-".join(languages)]
    return shlex.join(words + (["--mirror", mirror] if mirror else []))


def list_path(languages: Sequence[str]) -> Path:
    """Where the list of a pair is kept; the order of the pair does not matter."""
    return LISTS / f"{'-'.join(sorted(languages))}.json"


def read_list(languages: Sequence[str]) -> dict[str, OpusCorpus] | None:
    """The kept list of a pair, by the corpora's names, largest first; None where it was never fetched."""
    path = list_path(languages)
    return _parse(path, languages) if path.is_file() else None


def fetch_list(
    languages: Sequence[str], *, mirror: str | None, refresh: bool = False
) -> dict[str, OpusCorpus]:
    """The list of a pair, fetched if it is not there or `refresh` is set.

    Raises:
        InputError: the list cannot be fetched or understood, or has no corpus.
    """
    path = list_path(languages)
    if refresh or not path.is_file():
        a, b = sorted(languages)
        address = API.format(a=a, b=b)
        file = RemoteFile(dataset="opus", name=path.name, languages=(a, b), addresses=(address,))
        LISTS.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=LISTS, prefix=".list-") as folder:
            # Elsewhere first: a list that is there is not given for one that cannot be read.
            fetched = Path(folder, path.name)
            try:
                fetch(file, fetched, mirror=mirror)
                if not _parse(fetched, languages):
                    raise InputError(f"OPUS has no corpus in {a}-{b}; its codes may differ, such as zh_cn")
            except InputError as error:
                raise InputError(str(error).replace(str(fetched), str(path))) from None
            fetched.replace(path)
    return _parse(path, languages)


def _parse(path: Path, languages: Sequence[str]) -> dict[str, OpusCorpus]:
    answer = read_json(path)
    entries = answer.get("corpora") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        raise InputError(f"{path}: not a list of OPUS's corpora: {json.dumps(answer)[:60]}")
    a, b = sorted(languages)
    found = []
    for number, entry in enumerate(entries, start=1):
        at = f"{path}: entry {number}"
        name, version, address = (_text(at, entry, key) for key in ("corpus", "version", "url"))
        # There are other files of the same name and version: those for another pair, or a stricter alignment.
        if re.split("[?#]", address)[0].endswith(f"/moses/{a}-{b}.txt.zip") and _NAME.fullmatch(name):
            if address_fault(address) or urlsplit(address).scheme == "file":
                raise InputError(f"{at}: {address!r} is no http(s) address")
            size, pairs = (_number(at, entry, key) for key in ("size", "alignment_pairs"))
            found.append(OpusCorpus(name, version, (a, b), address, pairs, size and size * 1024))
    found.sort(key=lambda corpus: corpus.pairs or 0)
    return {corpus.name: corpus for corpus in reversed(found)}


def _text(at: str, entry: Any, key: str) -> str:
    value = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(value, str) or not value:
        raise InputError(f"{at}: has no {key}")
    return value


def _number(at: str, entry: Any, key: str) -> int | None:
    """A count of the list, which leaves out some and gives some as text."""
    try:
        count = int(entry.get(key))
    except (TypeError, ValueError):
        return None
    except OverflowError:
        count = -1  # JSON's numbers can be infinite
    if count < 0:
        raise InputError(f"{at}: {key} is {entry[key]}, which is no count")
    return count or None
