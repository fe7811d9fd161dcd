"""Goal: `report` writes the page that the command writes, of whatever captures come from, or none at all."""

import io
import json
import pathlib
import re

import pytest

import bytewright

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"
WEB = SAMPLES / "web.pcap.gz"


def data(page):
    return json.loads(re.search('<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.S)[1])


def test_a_report_is_a_page_about_captures(tmp_path):
    page = tmp_path / "page.html"
    sources = [WEB, SAMPLES / "vlan.pcapng"]
    reported = bytewright.report(*sources, into=page, title="Both <links>")
    infos = [bytewright.info(source) for source in sources]
    assert reported == [{"file": i["file"], "packets": i["packets"], "bytes": i["bytes"], "damage": None} for i in infos]
    assert "<title>Both &lt;links&gt;</title>" in page.read_text("utf-8")
    assert data(page)["packets"] == sum(info["packets"] for info in infos)
    assert page.stat().st_size <= 500_000


def test_a_report_is_about_the_packets_that_were_asked_for(tmp_path):
    page = tmp_path / "page.html"
    flow, where = next(iter(bytewright.flows(WEB))).community_id, "length > 100"
    (one,) = bytewright.report(WEB, into=page, flow=flow, where=where)
    assert one["packets"] == sum(1 for _ in bytewright.packets(WEB, flow=flow, where=where)) > 0
    assert f"<title>web.pcap.gz: flow {flow}, where length &gt; 100</title>" in page.read_text("utf-8")
    with pytest.raises(bytewright.ArgumentError, match="did you mean length"):
        bytewright.report(WEB, into=page, where="lenght > 1")


def test_a_report_reads_objects_patterns_and_damaged_captures(tmp_path):
    page = tmp_path / "page.html"
    cut = io.BytesIO((SAMPLES / "tunnels.pcap").read_bytes()[:-9])
    (one,) = bytewright.report(cut, into=page)
    assert isinstance(one["damage"], bytewright.TruncatedError)
    assert data(page)["captures_damaged"] == 1
    assert data(page)["packets"] == one["packets"]
    assert len(bytewright.report(str(SAMPLES / "*.pcapng"), into=str(page))) == 2
    assert data(page)["captures_seen"] == 2


def test_what_is_no_capture_leaves_the_page_that_was_there(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("before")
    with pytest.raises(bytewright.FormatError):
        bytewright.report(WEB, io.BytesIO(b"no capture"), into=page)
    with pytest.raises(FileNotFoundError):
        bytewright.report("missing.pcap", into=page)
    with pytest.raises(bytewright.ArgumentError):
        bytewright.report(into=page)
    with pytest.raises(bytewright.ArgumentError):
        bytewright.report(WEB, into=page, filter="no such filter (")
    assert page.read_text() == "before"


def test_an_output_that_cannot_be_is_refused_before_a_capture_is_read(tmp_path):
    capture = tmp_path / "other.pcap"
    capture.write_bytes((SAMPLES / "tunnels.pcap").read_bytes())
    refused = bytewright.ArgumentError
    for output, error in [(tmp_path / "nowhere" / "page.html", FileNotFoundError), (tmp_path, refused), (capture, refused)]:
        with pytest.raises(error):
            bytewright.report(Unread(), into=output)
    assert capture.read_bytes() == (SAMPLES / "tunnels.pcap").read_bytes()


class Unread(io.RawIOBase):
    """A source that nobody may read."""

    def readable(self):
        return True

    def readinto(self, _buffer):
        raise AssertionError("a source was read")
