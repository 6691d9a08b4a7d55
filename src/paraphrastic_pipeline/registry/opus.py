"""The corpora that OPUS has in a language pair: the list is fetched once from its API and kept in a file.

`resources/opus/de-en.json` is the API's unchanged answer. The codes are in alphabetical order, as in the
names of OPUS's own files. Versions in the list stay the same until the list is fetched again.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

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
        members = tuple(f"{self.name}.{pair}.{code}" for pair in (f"{a}-{b}", f"{b}-{a}") for code in (a, b))
        name = f"{'-'.join(self.languages)}.txt.zip"
        return RemoteFile(
            self.name, name, self.languages, (self.address,), members=members, version=self.version
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
        fetch(asdict(file), fetched, mirror=mirror)
        if not _parse(fetched, languages):
            raise InputError(f"OPUS has no corpus in {a}-{b}; its codes may differ, such as zh_cn")
        fetched.replace(path)
    return _parse(path, languages)


def _parse(path: Path, languages: Sequence[str]) -> dict[str, OpusCorpus]:
    a, b = sorted(languages)
    corpora: dict[str, OpusCorpus] = {}
    try:
        found = [(str(e["corpus"]), str(e["version"]), str(e["url"]), e) for e in read_json(path)["corpora"]]
    except (LookupError, TypeError):
        raise InputError(f"{path}: not a list of corpora with `corpus`, `version` and `url`") from None
    for name, version, address, entry in found:
        # Entries of the same name can be for another pair, an older version, or a stricter alignment.
        codes = [tuple(code.partition("_")[0] for code in pair) for pair in _PAIR.findall(address)]
        is_latest = str(entry.get("latest", True)) == "True"
        is_plain = _NAME.fullmatch(name) and address.startswith("http") and not address_error(address)
        if codes == [(a, b)] and is_latest and is_plain:
            # Counts may be text, also an empty one.
            counts = (str(entry.get(key)) for key in ("alignment_pairs", "size"))
            pairs, size = (int(count) if is_count(count) else 0 for count in counts)
            # OPUS has sizes of 1 KiB for archives that it has not measured.
            size = 1024 * size if size > 1 else 0
            corpus = OpusCorpus(name, version, (a, b), address, pairs or None, size or None)
            corpora[name] = max(corpora.get(name, corpus), corpus, key=lambda one: one.pairs or 0)
    return dict(sorted(corpora.items(), key=lambda item: -(item[1].pairs or 0)))
