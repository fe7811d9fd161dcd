"""The exceptions: one class per kind of error in the core, each also the class that Python has for such a thing."""

from ._bytewright import excerpt

#: Characters of the longest path that a system opens.
_PATH_MAX = 4096


class Error(Exception):
    """An error of Bytewright. What the operating system refuses is an `OSError` instead."""

    def __init__(self, message="", *, offset=None, file=None):
        super().__init__(message)
        #: Bytes from the start of the (decompressed) input, where that is known.
        self.offset = offset
        #: The file, or what stands for it.
        self.file = file


class FormatError(Error, ValueError):
    """The bytes are not what the format allows."""


class TruncatedError(Error, EOFError):
    """The input ends in the middle of something."""

    def __init__(self, message="", *, offset=None, file=None, needed=None, available=None):
        super().__init__(message, offset=offset, file=file)
        #: Bytes that the thing being read consists of.
        self.needed = needed
        #: Bytes of it that are there.
        self.available = available


class LimitError(Error, ValueError):
    """A length, count or depth is above the bound that is kept for it."""


class LockError(Error, BlockingIOError):
    """Another process or object has the file."""


class ClosedError(Error, ValueError):
    """The object was closed, belongs to another process, or can be read only once."""


class CorruptError(Error):
    """A checksum or an invariant of a file that Bytewright wrote does not hold."""


class MissingLibraryError(Error, OSError):
    """A library that is needed is not on this machine; the message says how to install it."""


class ArgumentError(Error, ValueError):
    """The program asked for something that does not exist."""


class InternalError(Error):
    """A defect in Bytewright itself; please report it."""


class DamageWarning(UserWarning):
    """A damaged capture ended before its damage, as `damage="keep"` asks, or a damaged cache was cleared, as `on_damage="clear"`
    asks: file, offset, and what was found there."""


#: Errors of a damaged capture, behind what is before the damage.
DAMAGE = (FormatError, TruncatedError, LimitError)


def warn_of_clearing(error):
    """Warns, at the place outside of this package that has met it, of damage for which a cache was cleared."""
    import sys
    import warnings

    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(f"a damaged cache was cleared: {error}", DamageWarning, stacklevel=level)


def file_name(path):
    """A path as errors name it: wholly, if it could be one of a file."""
    return path if len(path) <= _PATH_MAX else excerpt(path)


def no_match(pattern):
    """The error for a pattern without files."""
    return FileNotFoundError(2, "no file matches", file_name(pattern))
