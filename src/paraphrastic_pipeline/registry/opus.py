"""The corpora that OPUS has in a language pair: the list is fetched once from its API and kept in a file.

`resources/opus/de-en.json` is the API's unchanged answer. The codes are in alphabetical order, as in the
names of OPUS's own files. Versions in the list stay the same until the list is fetched again.
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
from paraphrastic.base.numbers import is_count
from paraphrastic_pipeline.base.addresses import address_error, hide_secrets
from paraphrastic_pipeline.registry.datasets import RemoteFile
from paraphrastic_pipeline.registry.download import fetch

LISTS = Path("resources/opus")
API = "https://opus.nlpl.eu/opusapi/?source={a}&target={b}&preprocessing=moses&version=latest"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class OpusCorpus:
    """A corpus of OPUS in one language pair.

    `languages` are in alphabetical order. `pairs` (aligned sentences) and `size` (of the archive, in bytes, a
    whole number of KiB) are None if OPUS does not state them.
    """

    name: str
    version: str
    languages: tuple[str, str]
    address: str
    pairs: int | None
    size: int | None

    def file(self) -> RemoteFile:
        """The archive in Moses layout: members `NAME.de-en.de` and `NAME.de-en.en`, or with `en-de`."""
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
            # Every corpus has a file with this name.
            name_is_shared=True,
        )


def list_command(languages: Sequence[str], mirror: str | None = None) -> str:
    """The command that fetches the list of a language pair."""
    words = ["paraphrastic", "corpora", "--languages", "-".join(languages)]
    return shlex.join(words + (["--mirror", mirror] if mirror else []))


def list_path(languages: Sequence[str]) -> Path:
    """File that keeps the list of a language pair, in either order."""
    return LISTS / f"{'-'.join(sorted(languages))}.json"


def read_list(languages: Sequence[str]) -> dict[str, OpusCorpus] | None:
    """The stored list of a language pair by corpus name, largest first; None if it was never fetched."""
    path = list_path(languages)
    return _parse(path, languages) if path.is_file() else None


def fetch_list(
    languages: Sequence[str], *, mirror: str | None, refresh: bool = False
) -> dict[str, OpusCorpus]:
    """The list of a language pair, which is fetched if it is missing or `refresh` is set.

    Raises:
        InputError: the list cannot be fetched or parsed, or contains no corpus.
    """
    path = list_path(languages)
    if refresh or not path.is_file():
        a, b = sorted(languages)
        address = API.format(a=a, b=b)
        file = RemoteFile(dataset="opus", name=path.name, languages=(a, b), addresses=(address,))
        LISTS.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=LISTS, prefix=".list-") as folder:
            # Fetch to another place first: an unreadable answer must not replace the list that is there.
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
    corpora = []
    for number, entry in enumerate(entries, start=1):
        at = f"{path}: entry {number}"
        name, version, address = (_text(at, entry, key) for key in ("corpus", "version", "url"))
        # Entries of the same name and version can be for another pair or for a stricter alignment.
        if re.split("[?#]", address)[0].endswith(f"/moses/{a}-{b}.txt.zip") and _NAME.fullmatch(name):
            if address_error(address) or urlsplit(address).scheme == "file":
                raise InputError(f"{at}: {hide_secrets(address)!r} is not an http(s) address")
            size, pairs = (_number(at, entry, key) for key in ("size", "alignment_pairs"))
            corpora.append(OpusCorpus(name, version, (a, b), address, pairs, size and size * 1024))
    corpora.sort(key=lambda corpus: corpus.pairs or 0)
    return {corpus.name: corpus for corpus in reversed(corpora)}


def _text(at: str, entry: Any, key: str) -> str:
    value = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(value, str) or not value:
        raise InputError(f"{at}: has no {key}")
    return value


def _number(at: str, entry: Any, key: str) -> int | None:
    """A count from the list, or None: OPUS leaves out some counts and gives others as text."""
    count = entry.get(key)
    if isinstance(count, str) and not is_count(count.removeprefix("-")):
        return None
    try:
        count = int(count)
    except (TypeError, ValueError):
        return None
    except OverflowError:
        count = -1  # JSON's numbers can be infinite
    if count < 0:
        raise InputError(f"{at}: {key} is {entry[key]}, which is not a count")
    return count or None
