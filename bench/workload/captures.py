"""What is asked of captures in Python, told so that answers can be compared. The sides are ours/captures.py, peers/dpkt.py and
peers/scapy.py, and for folders of captures ours/spark.py, ours/folder.py, peers/spark_dpkt.py and
peers/gunzip_folder.py.
"""

import os


def of_counts(packets, counts):
    """The answer that packets by destination port are."""
    return {
        "packets": packets,
        "ports": len(counts),
        "counted": sum(counts.values()),
        "weighted": sum(port * count for port, count in counts.items()),
        "squares": sum(count * count for count in counts.values()),
    }


def of_lists(times, addresses, **numbers):
    """The answer that columns are: times in seconds, addresses as text, and lists of numbers by name, each with None for nothing."""
    microseconds = [round(time * 1_000_000) for time in times]
    return {
        "packets": len(times),
        "times": sum(number - microseconds[0] for number in microseconds),
        "text_bytes": sum(len(address) for address in addresses if address is not None),
        **{name: sum(filter(None, column)) for name, column in numbers.items()},
    }


def paths(folder):
    """The captures of a folder; a path of one capture stands for itself."""
    if os.path.isfile(folder):
        return [folder]
    return sorted(entry.path for entry in os.scandir(folder))


def figures(folder, seconds):
    """What reading all captures of a folder took, and what a terabyte would take, in hours."""
    size = sum(map(os.path.getsize, paths(folder)))
    return {"pass_s": seconds, "terabyte_h": seconds / size * 1e12 / 3600}
