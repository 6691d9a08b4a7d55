"""Files with a sentence or a pair of sentences on each line, labelled by people."""

import io
import logging
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.base.numbers import read_number
from paraphrastic_pipeline.corpus.lines import readable_lines
from paraphrastic_pipeline.registry.archive import files_in

log = logging.getLogger(__name__)

# No archive of test sets is larger, unpacked.
MAX_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class LabelledFile:
    """The content of a file, and its name in error messages."""

    name: str
    content: bytes

    def lines(self, *, latin: bool = False) -> list[str]:
        """The lines of a file in UTF-8; with `latin`, any other file is read as ISO 8859-1."""
        content = self.content
        if latin:
            try:
                content.decode("utf-8")
            except UnicodeDecodeError:
                log.info("%s: read as ISO 8859-1, since it is not UTF-8", self.name)
                content = content.decode("latin-1").encode()
        return [line for _, line in readable_lines(io.BytesIO(content), self.name)]

    def fault(self, number: int, cause: str) -> InputError:
        """An error about the line with this number."""
        return InputError(f"{self.name}:{number}: {cause}")

    def score(self, number: int, text: str, *, lowest: float = 0.0, what: str = "score") -> float:
        """Parse a score from `lowest` to 5; any other text is an `InputError` that names the line."""
        try:
            score = read_number(text)
        except ValueError as error:
            raise self.fault(number, f"the {what} {error}") from None
        if not lowest <= score <= 5:
            raise self.fault(number, f"{text.strip()!r} is not a {what} from {lowest:g} to 5")
        return score


def labelled_files(archive: Path, names: Collection[str]) -> dict[str, LabelledFile]:
    """The files of an archive whose paths end in one of these names, whatever their case, by that name."""
    found: dict[str, LabelledFile] = {}
    for path, stream in files_in(archive, max_bytes=MAX_BYTES):
        ends = [name for name in names if f"/{path}".lower().endswith(f"/{name}".lower())]
        # macOS adds files of its own under the same names.
        if ends and "__MACOSX" not in path:
            found.setdefault(ends[0], LabelledFile(f"{archive}: {ends[0]}", stream.read()))
    return found
