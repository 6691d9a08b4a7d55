"""What a run does and says before its first job and after a failure, and the settings that its jobs share."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from paraphrastic.base.files import end_future_times
from paraphrastic.pipeline.estimate import estimate
from paraphrastic.registry.opus import OpusCorpus

# The environment variable with the path of the copy of a run's settings.
SETTINGS = "PARAPHRASTIC_SETTINGS"
# How the system ends a program for which there is no memory, and how a program ends itself.
MEMORY_SIGNALS = ("SIGKILL", "SIGABRT")
_ADVICE = (
    ", most probably because memory ran out: run fewer steps at a time (--cores, --resources mem_mb=...)"
)


def settings_copy(config: Mapping[str, Any]) -> tuple[str, Path]:
    """The settings that a run began with as JSON, and the path of their copy, which depends on its content.

    The jobs of a cluster are runs of their own. They read the copy, so that a run ends with the settings that
    it began with, whatever becomes of the configuration files. Values that JSON does not have are refused
    elsewhere.
    """
    text = json.dumps(config, default=str)
    return text, Path(".snakemake", "settings", f"{sha256(text.encode()).hexdigest()}.json").absolute()


def future_files_warning(*folders: str) -> Iterator[str]:
    """Give files of the future the present time; a line that says so, if there were any."""
    if count := end_future_times(*folders):
        yield f"{count} files are from the future (was the clock moved back?): they get the present time"


def download_estimate(corpora: Mapping[str, OpusCorpus]) -> list[str]:
    """Lines on what the corpora of OPUS that are not downloaded yet, by their paths, will cost."""
    return estimate([corpus for path, corpus in corpora.items() if not Path(path).exists()])


def killed_steps(logs: Iterable[str]) -> Iterator[str]:
    """A line on each step that a signal ended, by Snakemake's logs of the run: it had no last word itself."""
    text = "".join(Path(log).read_text(encoding="utf-8", errors="replace") for log in logs)
    killed = re.findall(r"\.(\w+)\.py' died with <Signals\.(\w+):", text)
    for step, signal in dict.fromkeys(killed):
        yield f"error in {step}: ended by {signal}{_ADVICE if signal in MEMORY_SIGNALS else ''}"
