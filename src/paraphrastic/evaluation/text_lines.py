"""Lines of test sets, which are small enough to be read whole."""

from paraphrastic.base.errors import InputError


def decoded_lines(content: bytes, name: str, *, encoding: str = "utf-8") -> list[str]:
    """Lines without their ends (LF or CR LF), none of an empty file; errors call it `name`.

    Raises:
        InputError: a line is not of this encoding.
    """
    lines = []
    content = content.removesuffix(b"\n")
    for number, line in enumerate(content.split(b"\n") if content else [], start=1):
        try:
            lines.append(line.decode(encoding).removesuffix("\r").removeprefix("\ufeff"))
        except UnicodeDecodeError as error:
            raise InputError(f"{name}:{number}: not {encoding.upper()}: {error.reason}") from None
    return lines
