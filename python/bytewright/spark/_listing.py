"""Captures that paths, patterns and folders stand for, with their sizes and times."""

import contextlib
import datetime
import glob
import os
import time
from typing import NamedTuple

from .._errors import ArgumentError, file_name, no_match
from ._globs import alternatives, is_pattern
from ._paths import is_local, local, system_of


class Found(NamedTuple):
    """A capture: its path, its size in bytes, and the time of its last change in seconds since 1970, where its file system
    tells one."""

    path: str
    size: int
    time: "float | None"


class Selection(NamedTuple):
    """Conditions on the files that are captures."""

    #: A filter of their names.
    names: object = None
    #: True if folders in folders are looked into.
    is_recursive: bool = False
    #: Seconds since 1970 between which they changed last, both left out.
    after: "float | None" = None
    before: "float | None" = None
    #: Seconds for which they did not change.
    min_age: "float | None" = None
    storage: "dict[str, dict[str, object]]" = {}

    def of(self, found):
        """Those of the captures that meet the conditions."""
        now = time.time()
        return [each for each in found if self._has_name(each) and self._has_time(each, now)]

    def _has_name(self, found):
        return self.names is None or self.names.has(found.path.rsplit("/", 1)[-1])

    def _has_time(self, found, now):
        if self.after is None and self.before is None and not self.min_age:
            return True
        if found.time is None:
            # A named file that is away, and a file system that tells no time.
            if self.after is None and self.before is None:
                return True
            raise ArgumentError(f"{file_name(found.path)}: expected a time of its last change for modifiedAfter and modifiedBefore, found none")
        is_after = self.after is None or found.time > self.after
        is_before = self.before is None or found.time < self.before
        return is_after and is_before and (not self.min_age or found.time <= now - self.min_age)


def captures(paths, selection):
    """The captures that are meant, in this order: a pattern stands for the files that match, a folder for those in it, both in
    order of their names."""
    found = [each for path in paths for each in (_of_path(path, selection) or _missing(path))]
    if not found:
        raise ArgumentError("expected a capture, found none")
    return selection.of(found)


def present(paths, selection):
    """The captures that are there by now, as `captures` has them; none where a pattern or a folder has none."""
    for path in paths:
        if is_local(path) and not is_pattern(path) and not os.path.exists(local(path)):
            raise FileNotFoundError(2, os.strerror(2), file_name(path))
    return selection.of([each for path in paths for each in _of_path(path, selection)])


def _missing(path):
    if is_pattern(path):
        raise no_match(path)
    return []


def _of_path(path, selection):
    return _of_system(local(path), selection) if is_local(path) else _of_fsspec(path, selection)


def _of_system(path, selection):
    if os.path.isdir(path):
        return _in_folder(path, selection)
    if not is_pattern(path) or os.path.exists(path):
        return _of_file(path, True)
    matches = [match for each in alternatives(path) for match in sorted(glob.glob(each.replace("[^", "[!"), recursive=True))]
    found = []
    for match in dict.fromkeys(matches):
        found += _in_folder(match, selection) if os.path.isdir(match) else _of_file(match, False)
    return [each for each in found if not _is_index(each.path)]


def _of_file(path, is_named):
    """The file with a path. One that is named and away is told by whoever reads it."""
    try:
        stat = os.stat(path)
    except OSError:
        return [Found(path, 0, None)] if is_named else []
    return [Found(path, stat.st_size, stat.st_mtime)]


def _in_folder(folder, selection):
    folders, paths = [folder], []
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if selection.is_recursive and not _is_hidden(entry.name) and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif _is_whole(entry.name) and entry.is_file():
                    paths.append(entry.path)
    found = []
    for path in sorted(paths):
        # Somebody may take it away meanwhile.
        with contextlib.suppress(FileNotFoundError):
            stat = os.stat(path)
            found.append(Found(path, stat.st_size, stat.st_mtime))
    return found


def _of_fsspec(path, selection):
    system, inside = system_of(path, selection.storage)
    # The system's memory of its folders is from before.
    system.invalidate_cache()
    if system.isdir(inside):
        return _in_folder_of_fsspec(system, inside, selection)
    if not is_pattern(path):
        return [_named(system, path, inside)]
    found = []
    for each in alternatives(inside):
        for name, entry in sorted(system.glob(each.replace("[^", "[!"), detail=True).items()):
            is_folder = entry["type"] == "directory"
            found += _in_folder_of_fsspec(system, name, selection) if is_folder else [_of_entry(system, entry)]
    return [each for each in dict.fromkeys(found) if not _is_index(each.path)]


def _named(system, path, inside):
    try:
        entry = system.info(inside)
    except FileNotFoundError:
        return Found(path, 0, None)
    return Found(path, entry.get("size") or 0, _time_of(entry))


def _in_folder_of_fsspec(system, folder, selection):
    if selection.is_recursive:
        entries = [entry for name, entry in system.find(folder, detail=True).items() if not _is_in_hidden(name, folder)]
    else:
        entries = [entry for entry in system.ls(folder, detail=True) if entry["type"] == "file"]
    entries = [entry for entry in entries if _is_whole(entry["name"].rsplit("/", 1)[-1])]
    return [_of_entry(system, entry) for entry in sorted(entries, key=lambda entry: entry["name"])]


def _is_in_hidden(name, folder):
    return any(map(_is_hidden, name[len(folder) :].strip("/").split("/")[:-1]))


def _of_entry(system, entry):
    return Found(system.unstrip_protocol(entry["name"]), entry.get("size") or 0, _time_of(entry))


def _time_of(entry):
    """The time of the last change of a file, which each file system of fsspec tells under a name of its own."""
    names = ("mtime", "LastModified", "last_modified", "updated", "modification_time")
    time = next((entry[name] for name in names if entry.get(name) is not None), None)
    if isinstance(time, datetime.datetime):
        return time.timestamp()
    return float(time) if isinstance(time, (int, float)) else None


def _is_hidden(name):
    return name.startswith((".", "_"))


def _is_index(name):
    """Returns True if a file is the index of a capture, as far as its name tells."""
    return name.endswith(".bwi")


def _is_whole(name):
    """Returns True if a file is a capture that is no longer being written, as far as its name tells."""
    return not _is_hidden(name) and not _is_index(name) and not name.endswith((".part", ".partial", ".tmp"))
