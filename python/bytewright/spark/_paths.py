"""Places of captures: files of the system, and of the file systems that fsspec knows."""

import contextlib
import datetime
import glob
import os
from typing import NamedTuple

from .._bytewright import CapturePart, capture_parts
from .._errors import DAMAGE, ArgumentError, no_match

#: Beginnings of a path of a file of the system.
_LOCAL = ("file://", "file:")


class Found(NamedTuple):
    """A capture of a folder: its path, its size in bytes, and the time of its last change in seconds since 1970, where its file system
    tells one."""

    path: str
    size: int
    time: "float | None"


def captures(paths):
    """The captures that are meant, in this order: a pattern stands for the files that match, a folder for those in it, both in
    order of their names."""
    found = []
    for path in paths:
        found += _of_fsspec(path) if "://" in _local(path) else _of_system(_local(path))
    if not found:
        raise ArgumentError("expected a capture, found none")
    return found


def in_folder(folder):
    """The captures that are in a folder by now, in order of their names."""
    if "://" in _local(folder):
        return _in_folder_of_fsspec(folder)
    with os.scandir(_local(folder)) as entries:
        files = [entry for entry in entries if _is_whole(entry.name) and entry.is_file()]
    found = []
    for entry in sorted(files, key=lambda entry: entry.name):
        # Somebody may take it away meanwhile.
        with contextlib.suppress(FileNotFoundError):
            stat = os.stat(entry.path)
            found.append(Found(entry.path, stat.st_size, stat.st_mtime))
    return found


def size_of(path):
    """The size of a capture in bytes."""
    path = _local(path)
    if "://" not in path:
        return os.path.getsize(path)
    import fsspec

    system, inside = fsspec.core.url_to_fs(path)
    return system.size(inside)


def parts(path, bytes):
    """The parts of a capture that has more than so many bytes, as numbers that `opened` takes; None alone for the whole capture."""
    path = _local(path)
    try:
        if "://" in path or os.path.getsize(path) <= bytes:
            return [None]
        found = capture_parts(path, bytes)
    except (OSError, *DAMAGE):
        # It is told by whoever reads it.
        return [None]
    return found if len(found) > 1 else [None]


def opened(path, part=None):
    """Returns an argument of `bytewright.Capture`: a path or a part of its file, or a file object."""
    path = _local(path)
    if part is not None:
        return CapturePart(path, *part)
    if "://" not in path:
        return path
    import fsspec

    return fsspec.open(path, "rb").open()


def _local(path):
    for beginning in _LOCAL:
        if path.startswith(beginning):
            return path[len(beginning) :]
    return path


def _of_system(path):
    if os.path.isdir(path):
        return [capture.path for capture in in_folder(path)]
    if not set(path) & set("*?[") or os.path.exists(path):
        return [path]
    matches = sorted(glob.glob(path, recursive=True))
    if not matches:
        raise no_match(path)
    return matches


def _of_fsspec(path):
    import fsspec

    system, inside = fsspec.core.url_to_fs(path)
    if system.isdir(inside):
        return [capture.path for capture in in_folder(path)]
    if not set(path) & set("*?["):
        return [path]
    matches = sorted(system.glob(inside))
    if not matches:
        raise no_match(path)
    return [system.unstrip_protocol(name) for name in matches]


def _in_folder_of_fsspec(folder):
    import fsspec

    system, inside = fsspec.core.url_to_fs(folder)
    # The system's memory of the folder is from before.
    system.invalidate_cache(inside)
    entries = [entry for entry in system.ls(inside, detail=True) if entry["type"] == "file" and _is_whole(entry["name"].rsplit("/", 1)[-1])]
    entries.sort(key=lambda entry: entry["name"])
    return [Found(system.unstrip_protocol(entry["name"]), entry["size"], _time_of(entry)) for entry in entries]


def _time_of(entry):
    """The time of the last change of a file, which each file system of fsspec tells under a name of its own."""
    names = ("mtime", "LastModified", "last_modified", "updated", "modification_time")
    time = next((entry[name] for name in names if entry.get(name) is not None), None)
    if isinstance(time, datetime.datetime):
        return time.timestamp()
    return float(time) if isinstance(time, (int, float)) else None


def _is_whole(name):
    """Returns True if a file is no longer being written, as far as its name tells."""
    return not name.startswith((".", "_")) and not name.endswith((".part", ".partial", ".tmp"))
