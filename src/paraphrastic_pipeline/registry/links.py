"""Ask every address of the registry whether it still has its file."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from paraphrastic_pipeline.registry.datasets import Dataset, RemoteFile
from paraphrastic_pipeline.registry.download import source_of
from paraphrastic_pipeline.registry.http import AddressError, ChangedError, TransientError, check_address

# Questions at a time; few enough for a server that has many of the files.
_AT_ONCE = 8
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Link:
    """An address of a file, and whether it has the file.

    `state` is `ok`, `changed` if the address has a file of another size than the registry says, `dead`, or
    `spare` if it is dead but another address has the file.
    `cause` says why it is not `ok`, and is empty if it is.
    """

    file: RemoteFile
    address: str
    state: str
    cause: str = ""


def check_links(
    datasets: Iterable[Dataset], *, mirror: str | None = None, timeout: float = 30
) -> Iterator[Link]:
    """Ask all addresses of the data sets for the heads of their files, in the order of the registry.

    Files that come with the repository are left out. An address that may only be busy is asked again.

    Args:
        datasets: data sets of the registry.
        mirror: as in the configuration.
        timeout: the longest silence of a server, in seconds.
    """

    def check(asked: tuple[RemoteFile, str]) -> Link:
        file, address = asked
        _, location = source_of(address, mirror)
        if isinstance(location, Path):
            return _check_path(file, address, location)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                check_address(location, size=file.size, timeout=timeout)
                break
            except ChangedError as error:
                return Link(file, address, "changed", str(error))
            except AddressError as error:
                if attempt == _ATTEMPTS or not isinstance(error, TransientError):
                    return Link(file, address, "dead", str(error))
        return Link(file, address, "ok")

    asked = [
        (file, address)
        for dataset in datasets
        for file in dataset.files
        if not file.shipped
        for address in file.addresses
    ]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _, of_file in groupby(
            pool.map(check, asked), key=lambda link: (link.file.dataset, link.file.name)
        ):
            links = list(of_file)
            dead = "spare" if any(link.state == "ok" for link in links) else "dead"
            yield from (replace(link, state=dead) if link.state == "dead" else link for link in links)


def _check_path(file: RemoteFile, address: str, path: Path) -> Link:
    if not path.is_file():
        return Link(file, address, "dead", f"{path} does not exist")
    if file.size not in (None, size := path.stat().st_size):
        return Link(file, address, "changed", f"has {size} bytes, the registry says {file.size}")
    return Link(file, address, "ok")
