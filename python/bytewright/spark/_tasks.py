"""Tasks that captures are read by: which captures each has, and the rows of them."""

import contextlib

import pyarrow

from .._errors import DAMAGE
from ..questions import index
from ._capture import Capture, Task, captures_of
from ._paths import exists, is_local, local, numbered_parts, parts
from ._rows import ROWS, batches

#: A capture of as many bytes is worth threads beside that of its task.
_JOBS_BYTES = 16 << 20

#: Bytes of small batches that go to Spark as one.
_JOINED_BYTES = 16 << 20


def planned(options, found):
    """The tasks that read captures that were found, large ones in parts."""
    most = options.settings.most_of([each.size for each in found], options.asked_bytes)
    captures = [part for place, each in enumerate(found) for part in _parts(options, Capture(place, each.path, each.size), most)]
    return packed(options, captures, most)


def packed(options, captures, most=None):
    """The tasks that read captures as they are, small ones together."""
    settings = options.settings
    if most is None:
        most = settings.most_of([capture.size for capture in captures], options.asked_bytes)
    lists = settings.packed(captures, most)
    return [Task(each, _jobs(options, each, len(lists))) for each in lists]


def rows(options, partition, target, where=None, check=None):
    """The rows of the captures of a task, as batches of the schema `target`. `check` is called with each before and after it is read."""
    return _joined(_batches(options, partition, target, where, check))


def _jobs(options, captures, task_count):
    if options.jobs is not None:
        return options.jobs
    is_large = len(captures) == 1 and captures[0].size >= _JOBS_BYTES
    return options.settings.jobs_of(task_count) if is_large else options.settings.task_cores


def _parts(options, capture, most):
    """The parts that a capture is read in: flows, and calls, may go on from one to the next."""
    if options.rows != "packets" or capture.size <= most:
        return [capture]
    if options.makes_index and is_local(capture.path):
        # That of a damaged one ends where the damage is, which is told by whoever reads it.
        with contextlib.suppress(*DAMAGE):
            list(index(local(capture.path), **_of_index(options, "index_dir")))
    numbers = numbered_parts(capture.path, options.settings.even(capture.size, most), _of_index(options, "index_dir", "filter"))
    if len(numbers) > 1:
        return [capture._replace(size=capture.size // len(numbers), numbers=each) for each in numbers]
    return [_part(capture, part) for part in parts(capture.path, options.split_bytes)]


def _of_index(options, *names):
    return {name: options.capture[name] for name in names if name in options.capture}


def _part(capture, part):
    if part is None:
        return capture
    start, end, _ = part
    return capture._replace(size=(capture.size if end is None else end) - start, part=part)


def _batches(options, partition, target, where, check):
    for capture in captures_of(partition):
        try:
            if check is not None:
                check(capture)
            yield from batches(options, capture, target, where, partition.jobs)
            if check is not None:
                check(capture)
        except FileNotFoundError:
            if not options.ignores_missing or exists(capture.path, options.settings.storage):
                raise


def _joined(batches):
    """Batches with the rows of these. Small ones, as of small captures, become one: to hand one over takes Spark longer than to read it."""
    small, count, bytes = [], 0, 0
    for batch in batches:
        small.append(batch)
        count += batch.num_rows
        bytes += batch.nbytes
        if count >= ROWS or bytes >= _JOINED_BYTES:
            yield _one(small)
            small, count, bytes = [], 0, 0
    if small:
        yield _one(small)


def _one(batches):
    if len(batches) == 1:
        return batches[0]
    table = pyarrow.Table.from_batches(batches).combine_chunks()
    # A table without rows has no batch.
    return table.to_batches()[0] if table.num_rows else batches[0]
