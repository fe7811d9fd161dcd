"""Processor time of a program and of all that it starts: Spark is a JVM, which starts workers in Python. By Linux's /proc."""

import os

#: In /proc/PID/stat, counted from behind the name, which may hold spaces.
_PARENT, _TIMES = 1, slice(11, 15)


def processor_s():
    """Seconds that this process and those below it have taken, with those that have ended and were waited for."""
    children, ticks = {}, {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(int(fields[_PARENT]), []).append(int(process))
        ticks[int(process)] = sum(map(int, fields[_TIMES]))
    total, left = 0, [os.getpid()]
    while left:
        process = left.pop()
        total += ticks.get(process, 0)
        left += children.get(process, [])
    return total / os.sysconf("SC_CLK_TCK")
