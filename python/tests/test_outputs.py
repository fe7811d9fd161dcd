"""Files that captures are written to: what they replace, and what becomes of them where the end is not reached."""

import gzip
import os
import pathlib
import signal
import subprocess
import sys
import threading

import pytest

import bytewright
from bytewright import Capture

WEB = pathlib.Path(__file__).parents[2] / "samples" / "web.pcap.gz"

#: What writes a file, from a source.
WRITERS = {
    "write_to": lambda source, path, **options: Capture(source).write_to(path, **options),
    "to_parquet": lambda source, path, **options: bytewright.packets(source).to_parquet(path, **options),
    "flows": lambda source, path, **options: bytewright.flows(source, into=path, format="zeek", **options),
    "open_flows": lambda source, path, **options: Capture(source).flows(into=path, format="zeek", **options),
    "report": lambda source, path, **options: bytewright.report(source, into=path, **options),
}


@pytest.fixture
def capture(tmp_path):
    path = tmp_path / "in.pcap"
    path.write_bytes(gzip.decompress(WEB.read_bytes()))
    return path


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_an_output_that_is_the_input_is_refused_also_with_force(tmp_path, capture, write):
    content = capture.read_bytes()
    (tmp_path / "link.pcap").symlink_to("in.pcap")
    (tmp_path / "hard.pcap").hardlink_to(capture)
    for name in ("in.pcap", "link.pcap", "hard.pcap"):
        with pytest.raises(bytewright.ArgumentError, match="expected an output beside the inputs"):
            write(capture, tmp_path / name, force=True)
        with capture.open("rb") as file, pytest.raises(bytewright.ArgumentError, match="beside the inputs"):
            write(file, tmp_path / name, force=True)
    assert capture.read_bytes() == content


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_captures_tables_and_stores_are_replaced_with_force_only(tmp_path, write):
    path = tmp_path / "out.pcapng"
    with bytewright.TreeTable.open(tmp_path / "a.bwt") as table:
        table["a"] = "1"
    old = ((tmp_path / "a.bwt").read_bytes(), WEB.read_bytes(), b"\x04\x08{\x00")
    for content in old:
        path.write_bytes(content)
        with pytest.raises(bytewright.ArgumentError, match="replace it with force"):
            write(WEB, path)
        assert path.read_bytes() == content
        write(WEB, path, force=True)
        assert path.read_bytes() != content
    path.write_text("a text")
    write(WEB, path)
    assert path.read_bytes() != b"a text"


def test_a_writer_replaces_a_capture_with_force_only(tmp_path):
    path = tmp_path / "out.pcap"
    for options in ({}, {"force": True}):
        with bytewright.CaptureWriter(path, **options) as writer:
            writer.write(b"a frame", time=1)
        with pytest.raises(bytewright.ArgumentError, match="replace it with force"):
            bytewright.CaptureWriter(path)
    assert len(list(Capture(path))) == 1


class Ends:
    """Gives the beginning of a capture, and then does not."""

    def __init__(self, capture, end):
        self.left, self.end = capture.read_bytes()[:100_000], end

    def read(self, count):
        piece, self.left = self.left[:count], self.left[count:]
        if not piece:
            self.end()
        return piece


def raise_error():
    raise ZeroDivisionError


@pytest.mark.parametrize(("name", "writer"), [("out.pcap", "write_to"), ("out.pcapng.zst", "write_to"), ("conn.log", "flows"), ("open.log", "open_flows")])
def test_a_cut_or_flows_that_are_interrupted_or_whose_source_raises_leave_the_older_file(tmp_path, capture, name, writer):
    path = tmp_path / name
    path.write_text("older")
    for end, error in ((raise_error, ZeroDivisionError), (lambda: signal.raise_signal(signal.SIGINT), KeyboardInterrupt)):
        with pytest.raises(error):
            WRITERS[writer](Ends(capture, end), path)
        assert path.read_text() == "older" and set(os.listdir(tmp_path)) == {"in.pcap", name}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_an_interrupt_ends_writing_and_leaves_the_older_file(tmp_path, capture, write):
    pipe, path = tmp_path / "in.pipe", tmp_path / "out.pcapng"
    os.mkfifo(pipe)
    path.write_text("older")

    def interrupt(*_):
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, interrupt)
    # The end never comes, because the pipe stays open.
    end = os.open(pipe, os.O_RDWR)
    try:
        os.write(end, capture.read_bytes()[:50_000])
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(InterruptedError):
            write(pipe, path)
    finally:
        signal.signal(signal.SIGALRM, before)
        os.close(end)
    assert path.read_text() == "older" and sorted(os.listdir(tmp_path)) == ["in.pcap", "in.pipe", "out.pcapng"]


def test_flows_of_a_capture_that_another_thread_closes_leave_the_older_file(tmp_path, capture):
    path = tmp_path / "conn.log"
    path.write_text("older")
    asked, closed = threading.Event(), threading.Event()
    opened = Capture(Ends(capture, lambda: (asked.set(), closed.wait())))

    def close():
        asked.wait()
        opened.close()
        closed.set()

    closer = threading.Thread(target=close)
    closer.start()
    with pytest.raises(bytewright.ClosedError):
        opened.flows(into=path, format="ecs")
    closer.join()
    assert path.read_text() == "older"


def test_a_child_that_is_forked_while_flows_are_written_leaves_them_to_its_parent(tmp_path, capture):
    path = tmp_path / "conn.log"
    path.write_text("older")
    program = f"""
import os, sys
from bytewright import Capture
children = []

class Source:
    file = open({str(capture)!r}, "rb")

    def read(self, count):
        if not children:
            child = os.fork()
            if child == 0:
                # Its objects go at its end, where its call has raised.
                sys.exit(0 if open({str(path)!r}).read() == "older" else 3)
            children.append(child)
        return self.file.read(count)

count = Capture(Source()).flows(into={str(path)!r}, format="ecs")
print(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]), count == len(open({str(path)!r}).readlines()))
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, stdout=subprocess.PIPE, text=True, timeout=60)
    assert run.stdout == "0 True\n" and sorted(os.listdir(tmp_path)) == ["conn.log", "in.pcap"]
