"""Operations that read and write captures."""

import io
import os

import pyarrow
import pytest

import bytewright
from bytewright import Capture, CaptureWriter, ClosedError
from troubles.operation import CAPTURE, ClosingSource, Operation


class Captures(Operation):
    """An operation on one capture that is open."""

    def __init__(self, folder):
        super().__init__(folder)
        self.capture = Capture(CAPTURE)

    def close(self):
        self.capture.close()
        self.capture.close()

    def itself(self):
        source = ClosingSource()
        source.reader = self.capture = Capture(source)
        with pytest.raises(ClosedError):
            self.run()


class OpenACapture(Operation):
    def run(self):
        with Capture(CAPTURE) as capture, Capture(io.BytesIO(CAPTURE.read_bytes())) as other:
            return capture.closed, len(list(other))

    def itself(self):
        path = self.folder / "cut.pcap"
        path.write_bytes(CAPTURE.read_bytes())
        with Capture(path) as capture:
            os.truncate(path, 100)
            with pytest.raises(bytewright.TruncatedError):
                list(capture)
        path.unlink()


class WalkThePacketsOfACapture(Captures):
    def run(self):
        return [packet.length for packet in self.capture], list(self.capture.packets("src_ip", "length"))

    def itself(self):
        with pytest.raises(ClosedError):
            for _ in self.capture:
                self.capture.close()
        super().itself()


class ReadACaptureAsColumns(Captures):
    def run(self):
        batches = [batch.to_dict() for batch in self.capture.batches("src_ip", "length", rows=100)]
        converted = self.capture.packets("ts").converted(timestamps="us", signed=True)
        return batches, pyarrow.table(self.capture.packets("length")).num_rows, pyarrow.table(converted).num_rows


class SumUpACapture(Captures):
    def run(self):
        counted = bytewright.count_by(CAPTURE, "proto")
        summed = self.capture.sum("length", by=["src_ip"]).to_dict(), list(self.capture.endpoints())
        return self.capture.count_by("proto"), counted, summed, self.capture.info()["packets"]


class WalkTheFlowsOrCallsOfACapture(Captures):
    def run(self):
        return [flow.packets for flow in self.capture.flows()], len(list(self.capture.calls()))


class WritePacketsToACapture(Operation):
    files = ("w",)

    def run(self):
        path = self.path("w").with_suffix(".pcap")
        path.unlink(missing_ok=True)
        with CaptureWriter(path) as writer:
            for packet in Capture(CAPTURE):
                writer.write(packet.captured, time=packet.ts)
        return len(list(Capture(path)))

    def grow(self):
        with CaptureWriter(self.folder / "grown.pcap") as writer:
            for _ in range(100_000):
                writer.write(bytes(1000), time=0)

    def itself(self):
        writer = CaptureWriter(self.folder / "w.pcap")
        writer.write(b"x" * 60, time=0)
        writer.discard()
        with pytest.raises(ClosedError):
            writer.write(b"x", time=0)
        assert not (self.folder / "w.pcap").exists()


class WriteWhatWasReadToAFile(Captures):
    files = ("p", "r", "c")

    def run(self):
        paths = [self.path(name).with_suffix(".pcap") for name in "prc"]
        for path in paths:
            path.unlink(missing_ok=True)
        rows = self.capture.packets("length").to_parquet(paths[0])
        bytewright.report(CAPTURE, into=paths[1], title="t")
        log = paths[1].with_suffix(".log")
        flows = bytewright.flows(CAPTURE, into=log, format="zeek"), log.stat().st_size > 1000
        flows += self.capture.flows(into=log, format="ecs"), log.stat().st_size > 1000
        log.unlink()
        written = self.capture.write_to(paths[2])
        index = paths[2].with_suffix(".pcap.bwi")
        index.unlink(missing_ok=True)
        indexed = list(bytewright.index(paths[2]))[0][3], list(Capture(paths[2]).index())[0][3]
        index.unlink()
        return rows, flows, paths[1].stat().st_size > 1000, written["packets"], indexed, len(list(Capture(paths[2])))

    def grow(self):
        table = Capture(CAPTURE)
        path = self.folder / "grown.pcap"
        path.write_bytes(b"")
        path.unlink()
        table.write_to(path)

    def itself(self):
        copy = self.folder / "own.pcap"
        copy.write_bytes(CAPTURE.read_bytes())
        with Capture(copy) as capture, pytest.raises((bytewright.Error, OSError)):
            for write in (capture.write_to, capture.packets("length").to_parquet):
                write(copy)
        with pytest.raises(bytewright.ArgumentError):
            bytewright.flows(copy, into=copy, format="zeek", force=True)
        with Capture(copy) as capture, pytest.raises(bytewright.ArgumentError):
            capture.flows(into=copy, format="zeek", force=True)
        assert copy.read_bytes() == CAPTURE.read_bytes()
        copy.unlink()
        super().itself()


OPERATIONS = {
    "open a capture": OpenACapture,
    "walk the packets of a capture": WalkThePacketsOfACapture,
    "read a capture as columns": ReadACaptureAsColumns,
    "sum up a capture": SumUpACapture,
    "walk the flows or calls of a capture": WalkTheFlowsOrCallsOfACapture,
    "write packets to a capture": WritePacketsToACapture,
    "write what was read to a file": WriteWhatWasReadToAFile,
}
