"""Questions about captures in Python, with answers that can be compared. The sides are ours/captures.py,
peers/dpkt.py and peers/scapy.py, and for folders of captures ours/spark.py, ours/folder.py, peers/spark_dpkt.py and
peers/whole_folder.py.
"""

import os
import time

import process_tree


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


def measured(folder, work):
    """Returns what `work()` returns, and its costs: seconds by the clock, hours of one core for a terabyte, and
    megabytes that one core goes through in a second, both by processor time."""
    processor, start = process_tree.processor_s(), time.perf_counter()
    answer = work()
    seconds, processor = time.perf_counter() - start, process_tree.processor_s() - processor
    terabyte_s = for_a_terabyte(folder, processor)
    return answer, {"pass_s": seconds, "terabyte_h": terabyte_s / 3600, "core_mb_s": 1e6 / max(terabyte_s, 1)}


def for_a_terabyte(folder, amount):
    """Scales an amount for the captures of a folder to a terabyte of them."""
    return amount / sum(map(os.path.getsize, paths(folder))) * 1e12
