"""Goal: an object that says that it read or wrote what it cannot have is an error, and not bytes that nobody wrote.

Method: objects that answer one wrong count, as sources and targets of everything that takes them.
"""

import io
import pathlib

import pytest

from bytewright import Capture, Reader, Writer, packets

CAPTURE = (pathlib.Path(__file__).parents[2] / "samples" / "tunnels.pcap").read_bytes()
WRONG = [True, False, -1, 100_000_000, 2**63, 2**64, "4", 4.0]


class Source:
    """Bytes, and then an answer that is none."""

    def __init__(self, data, wrong):
        self.data = io.BytesIO(data)
        self.wrong = wrong

    def readinto(self, buffer):
        return self.data.readinto(buffer) or self.wrong


class Target:
    """Takes all bytes, and says something else."""

    def __init__(self, wrong):
        self.wrong = wrong

    def write(self, data):
        return self.wrong


@pytest.mark.parametrize("wrong", WRONG)
def test_a_reader_gives_no_bytes_that_its_source_did_not_read(wrong):
    reader = Reader(Source(b"abcd", wrong), compressed="none")
    assert reader.read(4) == b"abcd"
    with pytest.raises(OSError, match=r"readinto\(\) returned .* \(should have been between 0 and 65536\)"):
        reader.read(1)
    assert reader.tell() == 4


@pytest.mark.parametrize("wrong", WRONG)
def test_a_capture_has_no_packets_that_its_source_did_not_read(wrong):
    expected = len(list(Capture(io.BytesIO(CAPTURE))))
    found = []
    with pytest.raises(OSError, match=r"readinto\(\) returned .* \(should have been between 0 and \d+\)"):
        for packet in Capture(Source(CAPTURE, wrong)):
            found.append(packet)
    assert len(found) <= expected
    with pytest.raises(OSError, match=r"readinto\(\) returned"):
        list(packets(Source(CAPTURE, wrong), "length"))


@pytest.mark.parametrize("wrong", [wrong for wrong in WRONG if isinstance(wrong, int)])
def test_a_writer_believes_no_count_that_its_target_cannot_have_taken(wrong):
    writer = Writer(Target(wrong))
    writer.write(b"abc")
    with pytest.raises(OSError, match=r"write\(\) returned .* \(should have been between 0 and 3\)"):
        writer.flush()
    writer.discard()


def test_a_target_that_answers_no_count_took_all():
    for answer in (None, "", 4.0, 3):
        writer = Writer(Target(answer))
        writer.write(b"abc")
        writer.close()
        assert writer.closed
