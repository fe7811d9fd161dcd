"""Goal: packets of a network interface come as those of a capture do, while other threads run, until the program has enough.

Method: each script runs in a network namespace of its own, where nobody else sends, with real traffic on its loopback
interface. What must come is waited for without end.
"""

import json
import subprocess
import sys
import warnings

import bytewright
import pytest

NAMESPACES = [["unshare", "-n"], ["unshare", "-r", "-n"]]
SETUP = """
import bytewright, json, socket, subprocess, threading, time
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)

def send(port):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"data", ("127.0.0.1", port))

def live(**options):
    return bytewright.Capture.live("lo", filter="udp", **options)
"""


def told(script):
    """Runs a script in a namespace of its own; returns the JSON that it prints."""
    for namespace in NAMESPACES:
        try:
            subprocess.run([*namespace, "ip", "link", "set", "lo", "up"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        run = subprocess.run([*namespace, sys.executable, "-c", SETUP + script], check=True, stdout=subprocess.PIPE)
        return json.loads(run.stdout)
    warnings.warn("gap: no network namespace can be made here, so no packets of an interface were read", stacklevel=2)
    return pytest.skip("no network namespace")


def test_packets_come_while_they_are_sent_until_a_break():
    found = told("""
found = []
with live(snaplen=44, buffer=1 << 20) as capture:
    send(7)
    for packet in capture:
        found.append([packet.dst_port, packet.length, packet.caplen])
        if len(found) == 2:
            break
        send(8)
print(json.dumps([type(capture).__name__, capture.name, found]))
""")
    assert found == ["Capture", "lo", [[7, 46, 44], [8, 46, 44]]]


def test_batches_come_with_what_is_there_and_flows_end_while_nothing_comes():
    found = told("""
with live() as capture:
    send(7)
    batches = capture.batches("dst_port")
    found = [len(next(batches))]
    send(8)
    found.append(len(next(batches)))
with live() as capture:
    for port in (7, 8):
        send(port)
    found.append(len(next(capture.batches("dst_port", where="dst_port == 8"))))
with live() as capture:
    send(9)
    found.append(next(iter(capture.flows(idle_timeout=0.3))).dst_port)
print(json.dumps(found))
""")
    assert found == [1, 1, 1, 9]


def test_stop_and_close_of_another_thread_end_the_wait_and_ctrl_c_does():
    found = told("""
import os, signal
def until_captured(capture, then):
    def work():
        while capture.live_counts()["captured"] < 5:
            send(7)
            time.sleep(0.01)
        then()
    threading.Thread(target=work).start()

found = []
capture = live()
until_captured(capture, capture.stop)
found.append(capture.count_by("dst_port") == {7: capture.live_counts()["captured"]})
found.append(capture.live_counts()["dropped"])
capture = live()
signal.signal(signal.SIGTERM, lambda *_: capture.stop())
until_captured(capture, lambda: os.kill(os.getpid(), signal.SIGTERM))
found.append(list(capture.count_by("dst_port")))
capture = live()
until_captured(capture, capture.close)
try:
    for _ in capture:
        pass
except bytewright.ClosedError:
    found.append("closed")
capture = live()
until_captured(capture, lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    for _ in capture:
        pass
except KeyboardInterrupt:
    found.append("interrupted")
print(json.dumps(found))
""")
    assert found == [True, 0, [7], "closed", "interrupted"]


def test_a_capture_of_packets_that_cannot_be_read_again_is_kept_where_an_interrupt_ends_it(tmp_path):
    found = told(f"""
import os, signal
capture = live()
def work():
    while capture.live_counts()["captured"] < 5:
        send(7)
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=work).start()
path = "{tmp_path}/kept.pcapng.zst"
try:
    capture.write_to(path)
except KeyboardInterrupt:
    print(json.dumps([len(list(bytewright.Capture(path))), capture.live_counts()["captured"]]))
""")
    assert found[0] == found[1] >= 5


def test_flows_are_written_until_stop_and_kept_whatever_else_ends_them(tmp_path):
    found = told(f"""
import os, signal
path = "{tmp_path}/flows"
def interrupt(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, interrupt)
found = []
for ending in ("stop", "close", "interrupt", "timeout"):
    open(path, "w").write("older")
    capture = live()
    ends = dict(stop=capture.stop, close=capture.close, interrupt=lambda: os.kill(os.getpid(), signal.SIGINT),
                timeout=lambda: signal.setitimer(signal.ITIMER_REAL, 0.05))
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    def work(capture=capture, end=ends[ending], sender=sender):
        while capture.live_counts()["captured"] < 5:
            sender.sendto(b"data", ("127.0.0.1", 7))
            time.sleep(0.01)
        end()
    worker = threading.Thread(target=work)
    worker.start()
    try:
        how = capture.flows(into=path, format="ecs")
    except BaseException as error:
        how = type(error).__name__
    worker.join()
    capture.close()
    found.append([how, [json.loads(line)["destination"]["port"] for line in open(path)], os.listdir("{tmp_path}")])
print(json.dumps(found))
""")
    assert found == [[how, [7], ["flows"]] for how in (1, "ClosedError", "KeyboardInterrupt", "TimeoutError")]


def test_what_is_no_interface_is_told_and_a_file_has_no_counts(tmp_path):
    found = told("""
try:
    bytewright.Capture.live("eth77")
except bytewright.ArgumentError as error:
    print(json.dumps(str(error)))
""")
    assert found.startswith('expected the name of an interface, found "eth77"; there are ')
    assert "lo" in found
    path = tmp_path / "new.pcap"
    with bytewright.CaptureWriter(path) as writer:
        writer.write(b"frame")
    with bytewright.Capture(path) as capture:
        assert capture.live_counts() is None
        capture.stop()
        assert len(list(capture)) == 1
