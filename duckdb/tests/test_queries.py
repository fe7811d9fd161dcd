"""Goal: queries have the options of the core, its errors, and no more than they ask for; the guide does what it says."""

import pathlib
import re

import duckdb
import pytest
from conftest import EXTENSION

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEB = ROOT / "samples/web.pcap.gz"


def one(db, query, *values):
    return db.execute(query, list(values)).fetchone()


def test_options_are_those_of_the_core(db, command):
    for options, words in (
        ("\"where\" := 'dst_port == 53 and length > 80'", ["--where", "dst_port == 53 and length > 80"]),
        ("numbers := '100-199'", ["--numbers", "100-199"]),
        ("jobs := 1, rows := 10", []),
    ):
        expected, told = command("packets", WEB, "--json", *words)
        assert told == ""
        found = one(db, f"SELECT count(*), sum(length) FROM read_packets('{WEB}', {options})")
        assert found == (len(expected), sum(row["length"] for row in expected)), options
    tunnels = ROOT / "samples/tunnels.pcap"
    inner, _ = command("packets", tunnels, "--json", "--inner")
    assert one(db, f"SELECT count(DISTINCT src_ip) FROM read_packets('{tunnels}', inner := true)")[0] == len(
        {row["src_ip"] for row in inner} - {None}
    )
    flows, _ = command("flows", WEB, "--json", "--idle-timeout", "500ms", "--where", "packets > 3")
    for timeout in ("'500ms'", "0.5"):
        call = f"read_flows('{WEB}', idle_timeout := {timeout}, \"where\" := 'packets > 3')"
        assert one(db, f"SELECT count(*) FROM {call}")[0] == len(flows)


def test_a_filter_is_one_of_libpcap(db, command):
    expected, told = command("packets", WEB, "--json", "--filter", "udp port 53")
    if "libpcap" in told:
        pytest.skip("libpcap is not installed")
    assert one(db, f"SELECT count(*) FROM read_packets('{WEB}', filter := 'udp port 53')") == (len(expected),)


def test_paths_are_one_or_a_list_or_a_pattern_or_a_parameter(db):
    count = one(db, "SELECT count(*) FROM read_packets(?)", str(WEB))[0]
    assert count == 8760
    assert one(db, f"SELECT count(*) FROM read_packets(['{WEB}', '{WEB}'])") == (2 * count,)
    assert one(db, f"SELECT count(*) FROM read_packets('{ROOT}/samples/w*.pcap.*')") == (count + 4930,)
    assert one(db, f"SELECT count(*) FROM read_packets('{WEB}', \"where\" := NULL)") == (count,)
    db.execute(f"SET VARIABLE files = (SELECT list(file) FROM glob('{ROOT}/samples/we*'))")
    assert one(db, "SELECT count(*) FROM read_packets(getvariable('files'))") == (count,)


def test_a_file_whose_name_looks_like_a_pattern_is_read(db, tmp_path):
    (tmp_path / "a[1].pcap.gz").write_bytes(WEB.read_bytes())
    assert one(db, f"SELECT count(*) FROM read_packets('{tmp_path}/a[1].pcap.gz')") == (8760,)


def test_a_capture_stands_in_the_place_of_a_table(db):
    assert one(db, f"SELECT count(*) FROM '{WEB}'") == (8760,)
    assert one(db, f"SELECT count(*) FROM '{ROOT}/samples/vlan.pcapng'") == (316,)
    assert one(db, f"SELECT count(*) FROM '{ROOT}/samples/loopback.pcap.zst'") == (254,)


def test_a_query_without_a_column_and_joins_and_views(db):
    packets = f"read_packets('{WEB}')"
    assert one(db, f"SELECT count(*) FROM {packets} WHERE dst_port = 53")[0] > 0
    db.execute(f"CREATE VIEW packets AS FROM {packets}")
    assert one(db, "SELECT count(*) FROM packets") == (8760,)
    joined = "SELECT count(*) FROM packets AS a JOIN packets AS b USING (number) WHERE a.length = b.length AND a.ts = b.ts"
    assert one(db, joined) == (8760,)
    # Columns in another order than that of the schema, and one twice.
    assert one(db, "SELECT length, number, length, src_ip FROM packets ORDER BY number LIMIT 1")[1] == 1
    db.execute("CREATE TABLE kept AS SELECT * FROM packets")
    assert one(db, "SELECT count(*) FROM (FROM kept EXCEPT FROM packets)") == (0,)


def test_a_prepared_query_is_asked_again(db):
    db.execute(f"PREPARE q AS SELECT count(*) FROM read_packets('{WEB}') WHERE length > $1")
    assert db.execute("EXECUTE q(0)").fetchone() == (8760,)
    assert db.execute("EXECUTE q(100000)").fetchone() == (0,)


@pytest.mark.parametrize(
    "query, told",
    [
        ("read_packets('{web}', colour := 'red')", "colour"),
        ("read_packets('{web}', jobs := 0)", "expected jobs of 1 or more, found 0"),
        ("read_packets('{web}', inner := 'maybe')", "expected inner to be true or false, found \"maybe\""),
        ("read_packets('{web}', damage := 'kep')", "did you mean keep?"),
        ("read_packets('{web}', \"where\" := 'dst_prt == 1')", "did you mean dst_port?"),
        ("read_packets('{web}/nothing')", "nothing: "),
        ("read_packets('nothing*.pcap')", "nothing*.pcap: cannot open"),
        ("read_packets([])", "expected the path of a file, found none"),
        ("read_packets(NULL)", "expected the path of a file, found none"),
        ("read_packets('{root}/samples/demo.rb')", "demo.rb: "),
        ("read_flows('{web}', \"where\" := 'packts > 1')", "did you mean packets?"),
        ("read_calls('{web}', service := 'S')", "expected idl with service or include, found none"),
        ("read_calls('{web}', arguments := true)", "expected idl with arguments"),
        ("read_thrift('{web}')", "expected idl with messages of Thrift, found none"),
        ("read_thrift('{web}', idl := '{root}/samples/log.thrift')", "expected type with messages of Thrift, found none"),
        ("read_thrift('{web}', idl := '{root}/samples/log.thrift', type := 'Entri')", "Entry"),
        ("read_thrift('{web}', idl := '{root}/samples/log.thrift', type := 'Entry', paths := ['tim'])", "time"),
        ("read_thrift('{web}', idl := '{root}/samples/log.thrift', type := 'Entry', protocol := 'xml')", "binary, compact, header or json"),
    ],
)
def test_errors_have_the_words_of_the_core(db, query, told):
    with pytest.raises(duckdb.Error, match=re.escape(told)):
        db.execute("SELECT * FROM " + query.format(web=WEB, root=ROOT)).fetchall()
    # The connection works on.
    assert one(db, "SELECT 1") == (1,)


def test_it_is_loaded_into_several_databases_of_a_process(db):
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as other:
        other.execute(f"LOAD '{EXTENSION}'")
        other.execute(f"LOAD '{EXTENSION}'")
        assert one(other, f"SELECT count(*) FROM read_packets('{WEB}')") == one(db, f"SELECT count(*) FROM read_packets('{WEB}')")


def test_the_guide_does_what_it_says(monkeypatch, tmp_path):
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    guide = (ROOT / "docs/guides/sql.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sql\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    statements = [statement for block in blocks for statement in re.findall(r"(.+?;)(?:\s*-- => ([^\n]+))?\n", block, re.DOTALL)]
    assert len([told for _, told in statements if told]) == 3
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as database:
        for statement, told in statements:
            found = database.execute(re.sub(r"LOAD '.*'", f"LOAD '{EXTENSION}'", statement))
            if told:
                assert repr(found.fetchall()) == told, statement
