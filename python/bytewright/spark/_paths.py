"""Where captures are: files of the system, and of the file systems that fsspec knows."""

import glob
import os

from .._bytewright import CapturePart, capture_parts
from .._errors import DAMAGE, ArgumentError

#: What a path may begin with that is a file of the system.
_LOCAL = ("file://", "file:")


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
    """The captures that are in a folder by now."""
    if "://" in _local(folder):
        return _of_fsspec(folder, True)
    paths = [os.path.join(_local(folder), name) for name in sorted(os.listdir(_local(folder))) if _is_whole(name)]
    return [path for path in paths if os.path.isfile(path)]


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
    """What `bytewright.Capture` takes: a path or a part of its file, or a file object."""
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
        return in_folder(path)
    if not set(path) & set("*?[") or os.path.exists(path):
        return [path]
    matches = sorted(glob.glob(path, recursive=True))
    if not matches:
        raise FileNotFoundError(2, "no file matches", path)
    return matches


def _of_fsspec(path, is_folder=False):
    import fsspec

    system, inside = fsspec.core.url_to_fs(path)
    if is_folder or system.isdir(inside):
        entries = [entry["name"] for entry in system.ls(inside, detail=True) if entry["type"] == "file"]
        matches = [name for name in sorted(entries) if _is_whole(name.rsplit("/", 1)[-1])]
        return [system.unstrip_protocol(name) for name in matches]
    if not set(path) & set("*?["):
        return [path]
    matches = sorted(system.glob(inside))
    if not matches:
        raise FileNotFoundError(2, "no file matches", path)
    return [system.unstrip_protocol(name) for name in matches]


def _is_whole(name):
    """Whether a file is no longer being written, as far as its name tells."""
    return not name.startswith((".", "_")) and not name.endswith((".part", ".partial", ".tmp"))
