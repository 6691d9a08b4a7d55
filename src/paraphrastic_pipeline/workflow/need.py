"""What a step takes: memory and time, and how both grow with its input."""

from dataclasses import astuple, dataclass
from operator import add


@dataclass(frozen=True, slots=True)
class Need:
    """Measured peak memory in MB and usual seconds of one core, and what each MB of input adds to both."""

    mb: float
    seconds: float
    mb_per_mb: float = 0.0
    seconds_per_mb: float = 0.0

    @property
    def sized(self) -> bool:
        """Whether the size of the input matters."""
        return bool(self.mb_per_mb or self.seconds_per_mb)

    def __add__(self, other: "Need") -> "Need":
        return Need(*map(add, astuple(self), astuple(other)))

    def of(self, size_mb: float) -> "Need":
        """Return the need for an input of `size_mb`."""
        return Need(self.mb + self.mb_per_mb * size_mb, self.seconds + self.seconds_per_mb * size_mb)
