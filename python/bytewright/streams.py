"""Binary files by value and by record: `Reader`, which also decompresses, and `Writer`.

    with bytewright.Writer("points.bin") as writer:
        writer.u32be(2)
        writer.f64le(1.5)

    with bytewright.Reader("points.bin") as reader:
        count = reader.u32be()
        points = reader.unpack_records("E", count)

Both work through one buffer: what is buffered costs a method call, and the system is asked once for 64 KiB. Positions are
those of decompressed bytes, from where the reader began. A value that the input ends within raises `TruncatedError`, and
nothing of it is taken.

Threads may share both. Python's lock is not held while they wait for a file; a file object is asked by its own methods.
"""

import io
import os
import stat

from . import _bytewright
from ._open_file import OpenFile


class _Stream(OpenFile):
    """Base of readers and writers."""

    __slots__ = ()

    def _close_owned(self):
        if self._owned is not None:
            self._owned.close()


class Reader(_Stream, _bytewright.Reader):
    """Reads binary input by values and records: a path, bytes or what has the buffer protocol, a binary file object, or the
    number of an open file.

    A regular file that is open already is read from where it is, by a descriptor of the reader's own, so that the file
    object stays where it is. Any other file object is asked by its methods `read1`, `read` or `readinto`. It is not closed
    with the reader. Bytes are read as they are now.

    Options are those of `bytewright.options.READER`.

    Raises `FileNotFoundError` and its like where the file cannot be opened.
    """

    __slots__ = ("_owned",)

    def __new__(cls, source, **options):
        opened, owned = _input(source)
        self = _bytewright.Reader.__new__(cls, opened, **options)
        self._owned = owned
        return self

    def unpack_records(self, template, count=None, *, columns=False):
        """Up to `count` records, or all that are left, as a list of tuples: see `unpack`.

        With `columns` they are a `Batch` of Arrow's columns instead, called f0, f1 and so on, or by the names that `columns`
        is a list of. Raises `TruncatedError` where the input ends within a record.
        """
        if columns is False:
            return self._unpack_tuples(template, count)
        names = [] if columns is True else list(columns)
        return self._unpack_columns(template, names, count)

    def close(self):
        """Closes the file; a file object that was given stays open.

        Raises `LockError` while this very thread reads: in a signal handler.
        """
        super().close()
        self._close_owned()


class Writer(_Stream, _bytewright.Writer):
    """Writes binary output by values: to a path, a binary file object with `write`, or the number of an open file.

    What is written is in the file when it is flushed or closed. An error loses nothing: what was not written is gathered
    still. A file object is not closed with the writer.

    - `append`: write behind what the file has; it is written anew otherwise.
    - `sync`: `flush` and `close` return when the bytes will survive a power cut.

    Raises `FileNotFoundError` and its like where the file cannot be opened, and its methods for numbers `OverflowError` where
    one does not fit.
    """

    __slots__ = ("_owned", "_sync")

    def __new__(cls, target, *, append=False, sync=False):
        opened, owned = _output(target, append)
        return cls._made(opened, owned, sync)

    @classmethod
    def _made(cls, opened, owned, sync):
        self = _bytewright.Writer.__new__(cls, **opened)
        self._owned, self._sync = owned, bool(sync)
        return self

    @classmethod
    def open(cls, target, *, append=False, sync=False):
        """Opens a file to be written, or writes to an object: the same as `Writer(target)`."""
        return cls(target, append=append, sync=sync)

    @classmethod
    def replace(cls, path):
        """Writes a file that takes the place of the one at `path` when it is closed: a reader, or a power cut, finds the old
        one or the new one, whole. Mode and owner are those of the old one; where `path` is a link, what it leads to is
        replaced. Where an error leaves the `with` block, or the writer is never closed, the old one stays.
        """
        path = os.fspath(path)
        return cls._made({"name": os.fsdecode(path), "path": path, "mode": "replace"}, None, True)

    def flush(self, *, sync=None):
        """Hands all that is gathered to the system, or to the object, which is flushed, too.

        With `sync` it returns only when that will survive a power cut.
        """
        self._flush(self._sync if sync is None else bool(sync))

    def close(self):
        """Writes what is gathered and closes the file. Where that raises, it is open still, and can be closed again."""
        if not self.closed:
            self._finish(self._sync)
            self._close_owned()

    def discard(self):
        """Closes it without writing what is gathered; a file that was to be replaced stays as it was."""
        self._abandon()
        self._close_owned()

    def __exit__(self, class_, error, _traceback):
        if self.closed:
            return
        try:
            # Bytes written before an error are written, as files do; but nothing that is not whole replaces a file.
            if class_ is None or not self._replaces:
                self.close()
        except Exception:
            # A second error would hide the first.
            if error is None:
                raise
        finally:
            # Bytes that a failure left over are not to be written at some later time.
            if not self.closed:
                self.discard()


def _input(source):
    """Returns the arguments that open a reader, and the file that it closes."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if os.path.isfile(path):
            return {"name": os.fsdecode(path), "path": path}, None
        file = io.FileIO(path)
        return _object(file, os.fsdecode(path)), file
    if isinstance(source, int):
        if stat.S_ISREG(os.fstat(source).st_mode):
            return _descriptor(source, os.lseek(source, 0, os.SEEK_CUR), f"descriptor {source}"), None
        return _object(io.FileIO(source, closefd=False), f"descriptor {source}"), None
    if _is_regular(source):
        return _descriptor(source.fileno(), source.tell(), _name(source)), None
    if any(hasattr(source, method) for method in ("read1", "read", "readinto")):
        return _object(source, _name(source)), None
    try:
        view = memoryview(source)
    except TypeError:
        message = f"expected a path, bytes, or an object with read or readinto, found {_bytewright.excerpt(type(source).__name__)}"
        raise TypeError(message) from None
    return _object(io.BytesIO(source if isinstance(source, bytes) else view), type(source).__name__), None


def _descriptor(number, offset, name):
    return {"name": name, "descriptor": number, "offset": offset}


def _object(object, name):
    opened = {"name": name, "object": object, "origin": _place(object)}
    if hasattr(object, "read1"):
        opened["read"] = "read1"
    elif not hasattr(object, "read"):
        opened.update(read="readinto", origin=None)
    return opened


def _output(target, append):
    """Returns the arguments that open a writer, and the file that it closes."""
    if isinstance(target, (str, os.PathLike)):
        path = os.fspath(target)
        if os.path.isfile(path) or not os.path.exists(path):
            return {"name": os.fsdecode(path), "path": path, "mode": "append" if append else "write"}, None
        file = io.FileIO(path, "ab" if append else "wb")
        return {"name": os.fsdecode(path), "object": file, "origin": _place(file)}, file
    if isinstance(target, int):
        file = io.FileIO(target, "wb", closefd=False)
        return {"name": f"descriptor {target}", "object": file, "origin": _place(file)}, None
    if hasattr(target, "write"):
        return {"name": _name(target), "object": target, "origin": _place(target)}, None
    raise TypeError(f"expected a path or an object with write, found {_bytewright.excerpt(type(target).__name__)}")


def _is_regular(file):
    """Returns True if a file object of Python's own stands for a regular file that is read as it is."""
    if isinstance(file, (io.BufferedReader, io.BufferedRandom)):
        if type(file.raw) is not io.FileIO:
            return False
    elif type(file) is not io.FileIO:
        return False
    # Also raises what reading would: that it is closed, or opened to write.
    file.read(0)
    if isinstance(file, io.BufferedRandom):
        file.flush()
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _name(object):
    """Returns the name of a file object in errors."""
    name = getattr(object, "name", None)
    return name if isinstance(name, str) else type(object).__name__


def _place(object):
    """Returns the position of an object, if it can be told to go elsewhere."""
    try:
        return object.tell() if not hasattr(object, "seekable") or object.seekable() else None
    except (AttributeError, OSError, ValueError):
        return None
