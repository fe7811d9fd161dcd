"""Goal: with `damage="keep"` every reading of a damaged capture gives the rows before the damage, and tells the damage beside them.

Method: samples are cut at some 50 offsets, plain and compressed. What is read is compared with what iteration gives before its error.
"""

import contextlib
import gzip
import io
import pathlib
import subprocess
import sys
import threading
import warnings

import pyarrow
import pytest

import bytewright
from bytewright import Capture, DamageWarning

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"
CUTS = 50
KINDS = ["plain", "gzip"]


def cut(folder, kind, sample="tunnels.pcap", cuts=CUTS):
    """Files that hold the beginning of a sample, each more of it than the one before."""
    content = (SAMPLES / sample).read_bytes()
    content = gzip.compress(content, mtime=0) if kind == "gzip" else content
    paths = []
    for at in range(100, len(content), len(content) // cuts):
        paths.append(folder / f"{at:07}-{sample}")
        paths[-1].write_bytes(content[:at])
    return paths


def until_error(rows):
    """Returns the rows of an iteration, and the error that ends it."""
    found = []
    try:
        found.extend(rows)
    except (bytewright.FormatError, bytewright.TruncatedError) as error:
        return found, str(error)
    return found, None


@contextlib.contextmanager
def told(*errors):
    """Expects a warning of each error, and no other."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    assert {warning.category for warning in found} <= {DamageWarning}, [str(warning.message) for warning in found]
    expected = [f"{error}; what is before it was read" for error in errors if error]
    assert [str(warning.message) for warning in found] == expected


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_kept_are_those_that_iteration_gives_before_its_error(tmp_path, kind, jobs):
    fields = ["ts", "length", "src_ip"]
    for path in cut(tmp_path, kind):
        expected, error = until_error(bytewright.packets(path, *fields, jobs=jobs))
        rows = bytewright.packets(path, *fields, jobs=jobs, damage="keep")
        assert rows.damage == ()
        with told(error):
            assert list(rows) == expected
        assert [str(damage) for damage in rows.damage] == [error] * (error is not None)
        with told(error):
            table = pyarrow.table(rows)
        assert [str(damage) for damage in rows.damage] == [error] * (error is not None)
        assert list(zip(*(table[name].cast(kind).to_pylist() for name, kind in zip(fields, ["int64", "int64", "string"])), strict=True)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_an_open_capture_gives_ends_before_the_damage(tmp_path, kind):
    for path in cut(tmp_path, kind):
        capture = Capture(path, damage="keep")
        assert capture.damage is None
        packets, error = until_error(Capture(path))
        with told(error):
            assert list(capture) == packets
        assert str(capture.damage) == str(error)
        with told(error):
            assert list(capture.flows()) == until_error(Capture(path).flows())[0]
        with told(error):
            assert list(capture.calls()) == until_error(Capture(path).calls())[0]
        with told(error):
            assert sum(capture.count_by("length").values()) == len(packets)
        with told(error):
            assert list(capture.sum("length")["length"]) == [sum(packet.length for packet in packets)] * bool(packets)
        with told(error):
            assert bytewright.count_by(path, "length", damage="keep") == capture_counts(packets)
        # It tells the damage itself.
        if packets:
            assert str(capture.info()["damage"]) == str(error)


def capture_counts(packets):
    lengths = [packet.length for packet in packets]
    return {length: lengths.count(length) for length in sorted(set(lengths))}


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_of_several_captures_gives_its_rows_and_the_others_are_whole(tmp_path, jobs):
    paths = [*cut(tmp_path, "plain", cuts=10), SAMPLES / "vlan.pcapng", *cut(tmp_path, "plain", "interfaces.pcapng", 5), SAMPLES / "tunnels.pcap"]
    expected, errors = [], []
    for path in paths:
        rows, error = until_error(bytewright.packets(path, "ts", "length"))
        expected += rows
        errors += [error] * (error is not None)
    assert len(errors) >= 12
    for source in (paths, [*paths[:3], Capture(paths[3], damage="keep"), *paths[4:]]):
        options = {"damage": "keep", "jobs": jobs}
        if source is not paths:
            # An open capture has options of its own.
            source = [one if isinstance(one, Capture) else Capture(one, **options) for one in source]
            options = {}
        rows = bytewright.packets(source, "ts", "length", **options)
        with told(*errors):
            assert list(rows) == expected
        with told(*errors):
            assert pyarrow.table(rows).num_rows == len(expected)
        assert list(map(str, rows.damage)) == errors
    with told(*errors):
        assert sum(flow.packets + flow.rev_packets for flow in bytewright.flows(*paths, damage="keep", jobs=jobs)) > 0


def test_data_frames_of_damaged_captures_have_the_rows_before_the_damage(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    from bytewright.polars import scan_flows, scan_packets

    for path in cut(tmp_path, "plain"):
        expected, error = until_error(bytewright.packets(path, "length"))
        lengths = [length for (length,) in expected]
        rows = bytewright.packets(path, "length", damage="keep")
        for frame in (rows.to_pandas, rows.to_polars, lambda rows=rows: polars.DataFrame(rows), lambda rows=rows: pandas.DataFrame.from_arrow(rows)):
            with told(error):
                assert list(frame()["length"]) == lengths
        with told(error):
            assert scan_packets(path, damage="keep").select("length").collect()["length"].to_list() == lengths
        with told(error):
            assert len(scan_flows(path, damage="keep").collect()) == len(until_error(bytewright.flows(path))[0])


def test_duckdb_has_the_rows_before_the_damage_though_threads_of_its_own_pull(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    for path in cut(tmp_path, "plain", cuts=8):
        expected, error = until_error(bytewright.packets(path, "length"))
        rows = bytewright.packets(path, "length", damage="keep")
        with told(error):
            assert duckdb.sql("select count(*) from rows").fetchall() == [(len(expected),)]
        assert [str(damage) for damage in rows.damage] == [error] * (error is not None)


def test_a_stream_that_another_thread_pulls_warns_as_well(tmp_path):
    path = cut(tmp_path, "plain")[7]
    rows = bytewright.packets(path, "length", damage="keep")
    reader, counts = pyarrow.RecordBatchReader.from_stream(rows), []
    with told(until_error(bytewright.packets(path))[1]):
        thread = threading.Thread(target=lambda: counts.append(reader.read_all().num_rows))
        thread.start()
        thread.join()
        # The main thread is told when it goes on.
        for _ in range(10):
            pass
    assert counts == [len(until_error(bytewright.packets(path))[0])]


def test_a_parquet_file_has_the_rows_before_the_damage(tmp_path):
    path = cut(tmp_path, "plain")[7]
    rows, error = until_error(bytewright.packets(path))
    with told(error):
        assert bytewright.packets(path, damage="keep").to_parquet(tmp_path / "rows.parquet") == len(rows)


def test_a_program_that_makes_errors_of_warnings_gets_one(tmp_path):
    path = cut(tmp_path, "plain")[7]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DamageWarning, match="byte .*expected a packet record"):
            list(bytewright.packets(path, damage="keep"))
        with pytest.raises(DamageWarning, match="byte .*expected a packet record"):
            Capture(path, damage="keep").count_by("length")


def test_a_warning_is_at_the_line_of_the_program(tmp_path):
    path = cut(tmp_path, "plain")[7]
    program = tmp_path / "program.py"
    program.write_text(f"import bytewright\nfor packet in bytewright.Capture({str(path)!r}, damage='keep'):\n    pass\n")
    folder = str(pathlib.Path(bytewright.__file__).parents[1])
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env={"PYTHONPATH": folder})
    assert done.returncode == 0
    assert done.stderr.startswith(f"{program}:2: DamageWarning: {path}: byte "), done.stderr


def test_what_is_no_capture_is_an_error_in_any_case(tmp_path):
    path = tmp_path / "page.pcap"
    path.write_bytes(b"GET / HTTP/1.1\r\n\r\n and so on")
    with pytest.raises(bytewright.FormatError, match="expected a .*capture"):
        list(bytewright.packets(path, damage="keep"))
    with pytest.raises(FileNotFoundError):
        list(bytewright.packets(tmp_path / "missing", damage="keep"))


def test_a_capture_that_ends_inside_of_its_header_has_no_rows(tmp_path):
    path = tmp_path / "header.pcap"
    path.write_bytes((SAMPLES / "tunnels.pcap").read_bytes()[:20])
    error = until_error(bytewright.packets(path))[1]
    with told(error):
        assert list(bytewright.packets(path, damage="keep")) == []


def test_an_object_is_read_up_to_its_damage():
    content = (SAMPLES / "tunnels.pcap").read_bytes()[:5000]
    expected, error = until_error(Capture(io.BytesIO(content)))
    with told(error):
        assert list(Capture(io.BytesIO(content), damage="keep")) == expected


@pytest.mark.parametrize("value", ["ignore", "", "KEEP"])
def test_another_value_is_refused(value):
    with pytest.raises(bytewright.ArgumentError, match=f'expected damage to be raise or keep, found "{value}"'):
        bytewright.packets(SAMPLES / "tunnels.pcap", damage=value)
    with pytest.raises(bytewright.ArgumentError, match="expected damage to be raise or keep"):
        Capture(SAMPLES / "tunnels.pcap", damage=value)
    with pytest.raises(bytewright.ArgumentError, match="expected damage where the capture is opened"):
        bytewright.packets(Capture(SAMPLES / "tunnels.pcap"), damage="keep")
