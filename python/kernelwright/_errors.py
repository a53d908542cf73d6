"""What is raised: the library's statuses as exceptions, each with its one line."""

from __future__ import annotations


class Error(RuntimeError):
    """What the library refuses or cannot do.

    The text is the library's: one line that names the value, the rule and the way out.

    Attributes
    ----------
    status : str
        The library's word for it, for example ``"malformed"``.
    """

    status = "failed"


class MalformedError(Error, ValueError):
    """Text that does not follow its grammar."""

    status = "malformed"


class IllegalError(Error, ValueError):
    """Well-formed, but no such thing can be: an impossible size, an axis outside its range."""

    status = "illegal"


class MissingError(Error, LookupError):
    """A name that is not known: a file, device, family, set or architecture."""

    status = "missing"


class NoKernelError(Error):
    """No kernel serves the request under its conditions."""

    status = "no kernel"


class FailedError(Error):
    """The work itself failed: a kernel was wrong, a criterion was missed."""

    status = "failed"


class FileError(Error, OSError):
    """A file could not be read or written."""

    status = "io"


class EnvironmentFault(Error):
    """A compiler, driver or device is absent or broken."""

    status = "environment"


class OutOfMemoryError(Error, MemoryError):
    """The library had no memory for it."""

    status = "no memory"


class ArrayError(Error, TypeError, ValueError):
    """An array that a plan cannot use: its type, shape, strides, device or alignment, or that it is read-only."""

    status = "illegal"


# In the order of kw_status.
_BY_STATUS = [
    Error,
    MalformedError,
    IllegalError,
    MissingError,
    NoKernelError,
    FailedError,
    FileError,
    EnvironmentFault,
    OutOfMemoryError,
]


def failure(status: int, text: str) -> Error:
    """The exception of a status and its line."""
    return (_BY_STATUS[status] if status < len(_BY_STATUS) else Error)(text)
