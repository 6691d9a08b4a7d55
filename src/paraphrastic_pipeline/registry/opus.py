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
from urllib.parse import urlsplit

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.base.numbers import is_count
from paraphrastic_pipeline.registry.addresses import address_error
from paraphrastic_pipeline.registry.datasets import RemoteFile
from paraphrastic_pipeline.registry.download import fetch

LISTS = Path("resources/opus")
API = "https://opus.nlpl.eu/opusapi/?source={a}&target={b}&preprocessing=moses&version=latest"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_PAIR = re.compile(r"/moses/(\w+)-(\w+)\.txt\.zip$")


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
        """The archive in Moses layout: members `NAME.de-en.de` and `NAME.de-en.en`, or with `en-de`.

        OPUS's own codes, which may be longer than the languages', such as `zh_CN`, are in the address.
        """
        a, b = _PAIR.findall(self.address)[0]
        return RemoteFile(
            dataset=self.name,
            name=f"{'-'.join(self.languages)}.txt.zip",
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
        file = RemoteFile("opus", path.name, languages=(a, b), addresses=(API.format(a=a, b=b),))
        # An unreadable answer must not replace the list that is there.
        fetched = path.with_suffix(".fetched")
        fetch(file, fetched, mirror=mirror)
        if not _parse(fetched, languages):
            raise InputError(f"OPUS has no corpus in {a}-{b}; its codes may differ, such as zh_cn")
        fetched.replace(path)
    return _parse(path, languages)


def _parse(path: Path, languages: Sequence[str]) -> dict[str, OpusCorpus]:
    answer = read_json(path)
    entries = answer.get("corpora") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        raise InputError(f"{path}: not a list of OPUS's corpora: {json.dumps(answer)[:60]}")
    a, b = sorted(languages)
    corpora: dict[str, OpusCorpus] = {}
    for number, entry in enumerate(entries, start=1):
        try:
            name, version, address = (str(entry[key]) for key in ("corpus", "version", "url"))
            size, pairs = (_count(entry.get(key)) for key in ("size", "alignment_pairs"))
        except (LookupError, TypeError, AttributeError):
            raise InputError(f"{path}: entry {number}: has no corpus, version or url") from None
        # Entries of the same name can be for another pair, an older version, or a stricter alignment.
        codes = [tuple(code.partition("_")[0] for code in pair) for pair in _PAIR.findall(address)]
        if codes != [(a, b)] or str(entry.get("latest", True)) != "True" or not _NAME.fullmatch(name):
            continue
        if address_error(address) or urlsplit(address).scheme == "file":
            raise InputError(f"{path}: entry {number}: its url is not an http(s) address")
        # OPUS has sizes of 1 KiB for archives that it has not measured.
        size = size * 1024 if size and size > 1 else None
        corpus = OpusCorpus(name, version, (a, b), address, pairs, size)
        if name not in corpora or (corpora[name].pairs or 0) < (pairs or 0):
            corpora[name] = corpus
    return dict(sorted(corpora.items(), key=lambda item: -(item[1].pairs or 0)))


def _count(value: object) -> int | None:
    """A count from the list, which may be text; None if there is none, such as 0 or an empty text."""
    return int(str(value)) or None if is_count(str(value)) else None
