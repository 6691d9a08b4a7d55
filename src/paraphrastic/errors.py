"""The one exception that users meet."""


class InputError(Exception):
    """Something that the user gave us cannot be used.

    The message is one line that names the file (and line, key or address) and the cause; the command
    line and the pipeline print it as it stands, without a traceback.
    """
