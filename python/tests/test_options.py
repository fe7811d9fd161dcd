"""Goal: no option of a capture is ignored, and a pattern is taken wherever a path is.

Method: each function that takes captures, with each option and each kind of source, compared with a capture that was opened with it.
"""

import pathlib
import shutil

import pytest

import bytewright
from bytewright import ArgumentError, Capture

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"
WEB = SAMPLES / "web.pcap.gz"
FLOW = max(bytewright.flows(WEB), key=lambda flow: flow.packets).community_id

FUNCTIONS = {
    "packets": lambda source, folder, **options: list(bytewright.packets(source, "number", "src_ip", **options)),
    "flows": lambda source, folder, **options: [flow.to_dict() for flow in bytewright.flows(source, **options)],
    "flows into": lambda source, folder, **options: [one["packets"] for one in bytewright.flows(source, into=folder / "f.bwt", **options)],
    "calls": lambda source, folder, **options: [call.to_dict() for call in bytewright.calls(source, **options)],
    "count_by": lambda source, folder, **options: bytewright.count_by(source, "proto", **options),
    "info": lambda source, folder, **options: bytewright.info(source, **options)["packets"],
    "report": lambda source, folder, **options: bytewright.report(source, into=folder / "r.html", **options)[0]["packets"],
}


@pytest.fixture(params=FUNCTIONS)
def answer(request, tmp_path):
    return lambda source, **options: FUNCTIONS[request.param](source, tmp_path, **options)


@pytest.mark.parametrize("option", [{"flow": FLOW}, {"inner": True}, {"jobs": 2}, {"filter": "udp"}, {"filter": "", "jobs": 1}])
def test_an_option_beside_an_open_capture_is_refused(answer, option):
    name = next(iter(option))
    with Capture(WEB) as capture:
        with pytest.raises(ArgumentError, match=rf"expected {name}.* where the capture is opened, found it beside <Capture .*use Capture\(path, {name}="):
            answer(capture, **option)
        answer(capture)


@pytest.mark.parametrize("options", [{"flow": FLOW}, {"flow": FLOW, "jobs": 1}])
def test_a_file_object_is_read_with_the_options_as_a_path_is(answer, options, tmp_path):
    expected = answer(WEB, **options)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    with open(WEB, "rb") as file:
        assert answer(file, **options) == expected


def test_one_open_capture_in_a_list_is_refused_with_the_others(answer):
    with Capture(WEB) as capture, pytest.raises(ArgumentError, match="expected jobs where the capture is opened"):
        bytewright.packets([SAMPLES / "vlan.pcapng", capture], jobs=1)


def test_a_pattern_that_one_file_matches_is_a_path(answer):
    assert answer(str(SAMPLES / "web*.gz")) is not None
    with Capture(str(SAMPLES / "w?b.pcap.gz")) as capture:
        assert capture.name == str(WEB) and capture.info()["packets"] == bytewright.info(str(SAMPLES / "web*.gz"))["packets"] == 8760


def test_a_pattern_that_several_files_match_is_no_capture(tmp_path):
    for name in ("b.pcap", "a.pcap"):
        shutil.copy(SAMPLES / "tunnels.pcap", tmp_path / name)
    pattern = str(tmp_path / "*.pcap")
    for one in (Capture, bytewright.info):
        with pytest.raises(ArgumentError, match=r"expected a pattern that one file matches, found 2 for .*use Capture\('.*a.pcap'\), or packets"):
            one(pattern)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        bytewright.info(str(tmp_path / "*.gz"))
    assert len(list(bytewright.packets(pattern))) == 2 * bytewright.info(tmp_path / "a.pcap")["packets"]
    (tmp_path / "[1].pcap").write_bytes((tmp_path / "a.pcap").read_bytes())
    assert Capture(str(tmp_path / "[1].pcap")).name == str(tmp_path / "[1].pcap")
