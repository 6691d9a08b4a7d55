"""Where results come from: digests of the results and of their data, and when and where they were made.

Every step leaves a record in its log. The records lead from a result to the files that its step read, from
these to the files that their steps read, and so on down to the data.
"""

import importlib.metadata
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError, cut
from paraphrastic.base.files import read_json, sha256, write_json
from paraphrastic_pipeline.base.files import is_plain_path, parse_json
from paraphrastic_pipeline.base.records import MARK, commit, config_digest, utc

NAME = "provenance.json"
_RESULTS = "results"
_FORMAT = 1
# Keys that a result takes over from the record of its step.
_OF_STEP = ("step", "host", "seconds", "commit", "code", "config", "seed")


def write_provenance(
    results: Sequence[str | Path], output: str | Path, *, logs: str | Path, config: Mapping[str, Any]
) -> None:
    """Write where results come from, as JSON.

    Keys: `written` (time, host, commit, versions of all installed packages); the complete `config`, its
    `config_digest` and the `seed`; `steps`, how often each step ran to make the results, and for how many
    seconds in all; `results` by path, each with digest, bytes, time, keys from the record of
    its step, and the `data` that it was made from; `data` by path, with digest, bytes and time; and
    `environments`, the versions of the packages that the steps loaded.

    If a step left no record, as in an earlier version, its results have only digest, bytes and time.

    Args:
        results: paths of the files, relative to the folder that the pipeline runs in.
        output: the file to write.
        logs: the folder of the steps' logs.
        config: the complete configuration.

    Raises:
        InputError: a result does not exist.
    """
    records = _read_records(Path(logs))
    environments: dict[str, Any] = {}
    entries: dict[str, Any] = {}
    leaves: dict[str, frozenset[str]] = {}
    steps = _steps(map(str, results), records)
    for path in sorted(map(str, results)):
        record = records.get(path, {})
        entries[path] = entry = _about(Path(path)) | {key: record.get(key) for key in _OF_STEP}
        if record:
            entry["time"] = record["time"]
            entry["environment"] = config_digest(record["environment"])[:12]
            environments[entry["environment"]] = record["environment"]
        entry["data"] = sorted(_data_of(path, records, leaves))
    data = {path: _about(Path(path)) for path in sorted(set().union(*leaves.values()))}
    packages = {package.metadata["Name"]: package.version for package in importlib.metadata.distributions()}
    write_json(
        output,
        {
            "format": _FORMAT,
            "written": {
                "time": utc(time.time()),
                "host": platform.node(),
                "platform": platform.platform(),
                "commit": commit(),
                "python": platform.python_version(),
                "packages": dict(sorted(packages.items(), key=lambda item: item[0].lower())),
            },
            "seed": config.get("seed"),
            "config": config,
            "config_digest": config_digest(config),
            "steps": steps,
            "results": entries,
            "data": data,
            "environments": environments,
        },
    )


@dataclass(frozen=True, slots=True)
class Verification:
    """The state of the files listed in a `provenance.json`.

    Attributes:
        same: number of unchanged files.
        differing: what is wrong with each changed or missing file, by path.
        absent: paths of data that no longer exist. That is no fault: the results are already made.
    """

    same: int
    differing: Mapping[str, str]
    absent: Sequence[str]

    @property
    def checked(self) -> int:
        """Number of files that were checked."""
        return self.same + len(self.differing)


def verify(results: str | Path) -> Verification:
    """Compute the digests of results and their data again, and compare them with the recorded ones.

    Args:
        results: the folder with `provenance.json`; data are expected beside this folder, as in the pipeline.

    Raises:
        InputError: `provenance.json` is missing or damaged.
    """
    folder = Path(results)
    path = folder / NAME
    if not path.is_file():
        raise InputError(f"{path}: does not exist; `snakemake --cores 1 {_RESULTS}/{NAME}` writes it")
    written = read_provenance(path)
    same, differing, absent = 0, {}, []
    if config_digest(written["config"]) != written["config_digest"]:
        differing[str(path)] = "its configuration does not match its digest"
    for group in ("results", "data"):
        for name, about in written[group].items():
            file = _located(name, folder)
            if not file.is_file():
                if group == "data":
                    absent.append(str(file))
                else:
                    differing[str(file)] = "does not exist"
            # Whoever wrote the record may name any file of this machine, so no digest of one is shown.
            elif (size := file.stat().st_size) != about["bytes"]:
                differing[str(file)] = f"has {size} bytes, not {about['bytes']}"
            elif sha256(file) != about["sha256"]:
                differing[str(file)] = f"does not have the SHA-256 {cut(str(about['sha256']))}"
            else:
                same += 1
    return Verification(same, differing, absent)


def read_provenance(path: str | Path) -> dict[str, Any]:
    """The content of a `provenance.json`; an `InputError` if it is damaged."""
    content = read_json(path)
    wanted = ("written", "seed", "config", "config_digest", "results", "data", "environments")
    if not isinstance(content, dict) or content.get("format") != _FORMAT or not set(wanted) <= set(content):
        raise InputError(f"{path}: is not a record of results that this version can read")
    said = content["written"]
    if not isinstance(said, dict) or not {"time", "host", "platform", "commit", "python"} <= set(said):
        raise InputError(f"{path}: its entry `written` is incomplete")
    of_file = {"results": {"sha256", "bytes", "time", "data", *_OF_STEP}, "data": {"sha256", "bytes"}}
    for group, keys in of_file.items():
        if not isinstance(content[group], dict):
            raise InputError(f"{path}: {group} are not listed by their paths")
        for name, about in content[group].items():
            # Data may be a user's own, wherever these are.
            if not Path(name).parts or (group == "results" and not is_plain_path(name)):
                raise InputError(f"{path}: {group} have the path {name!r}, which cannot be a file of theirs")
            is_complete = isinstance(about, dict) and keys <= set(about)
            if (
                not is_complete
                or not isinstance(about["bytes"], int)
                or not isinstance(about["sha256"], str | None)
            ):
                raise InputError(f"{path}: its entry on {name} is incomplete")
    return content


def _located(name: str, results: Path) -> Path:
    """Where a recorded file is now; the folder of results may have been moved or renamed."""
    path = Path(name)
    if path.parts[0] == _RESULTS:
        return results.joinpath(*path.parts[1:])
    return results.absolute().parent / path


def _read_records(logs: Path) -> dict[str, dict[str, Any]]:
    """The latest record of each output."""
    latest: dict[str, dict[str, Any]] = {}
    for log in sorted(logs.rglob("*.log")):
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            _, mark, text = line.partition(MARK)
            if not mark:
                continue
            try:
                record = parse_json(text)
            except ValueError:
                continue  # cut off when its step was killed
            for path in record["outputs"]:
                if path not in latest or latest[path]["time"] <= record["time"]:
                    latest[path] = record
    return latest


def _data_of(
    path: str, records: Mapping[str, Mapping[str, Any]], known: dict[str, frozenset[str]]
) -> frozenset[str]:
    """The original data that `path` is made from: files that no step made from others."""
    if path not in known:
        known[path] = frozenset()  # ends loops: a step may read what it writes, such as a cache
        inputs = records.get(path, {}).get("inputs", [])
        if inputs:
            known[path] = frozenset().union(*(_data_of(file, records, known) for file in inputs))
        elif Path(path).parts[0] != _RESULTS and Path(path).is_file():
            known[path] = frozenset([path])
    return known[path]


def _steps(
    results: Iterable[str], records: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, int | float]]:
    """The steps that led to the results, with the number of their jobs and the sum of their seconds."""
    steps: dict[str, dict[str, int | float]] = {}
    seen: set[str] = set()
    waiting = list(results)
    while waiting:
        path = waiting.pop()
        record = records.get(path)
        if path in seen or record is None:
            continue
        # A job has one record, which all of its outputs share.
        seen.update(record["outputs"])
        waiting += record["inputs"]
        about = steps.setdefault(record["step"], {"jobs": 0, "seconds": 0.0})
        about["jobs"] += 1
        about["seconds"] = round(about["seconds"] + (record["seconds"] or 0.0), 2)
    return dict(sorted(steps.items()))


def _about(path: Path) -> dict[str, Any]:
    try:
        state = path.stat()
        return {"sha256": sha256(path), "bytes": state.st_size, "time": utc(state.st_mtime)}
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
