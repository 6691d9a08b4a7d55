"""Files with a sentence or a pair of sentences on each line, and what people said of it."""

import logging
from dataclasses import dataclass

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import text_lines

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LabelledFile:
    """The content of a file, and the name that errors call it by."""

    name: str
    content: bytes

    def lines(self, *, latin: bool = False) -> list[str]:
        """Its lines, in UTF-8; with `latin`, in ISO 8859-1 if they are not."""
        content = self.content
        if latin:
            try:
                content.decode("utf-8")
            except UnicodeDecodeError:
                log.info("%s: read as ISO 8859-1, since it is not UTF-8", self.name)
                content = content.decode("latin-1").encode()
        return text_lines(content, self.name)

    def fault(self, number: int, cause: str) -> InputError:
        """The error of a line."""
        return InputError(f"{self.name}:{number}: {cause}")

    def score(self, number: int, text: str, *, lowest: float = 0.0, what: str = "score") -> float:
        """The score from `lowest` to 5 that a line has; any other text is an `InputError`."""
        try:
            score = float(text)
        except ValueError:
            score = float("nan")
        if not lowest <= score <= 5:
            raise self.fault(number, f"{text.strip()!r} is no {what} from {lowest:g} to 5")
        return score
