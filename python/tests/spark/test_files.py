"""Goal: captures are found as Spark finds files of its own sources, and what cannot be had is told with what to do.

Method: folders of small captures, whose names and times the answers name; file systems that are not installed, or take notes.
"""

import datetime
import os
import pathlib
import shutil
import sys

import fsspec
import pytest
from pyspark.errors import PySparkException
from test_source import read

import bytewright
from bytewright.spark._globs import NameFilter, alternatives
from bytewright.spark._listing import captures, present
from bytewright.spark._options import Options
from bytewright.spark._paths import system_of
from bytewright.spark._session import storage_of

DAY = 86_400


@pytest.fixture
def folder(paths, tmp_path):
    """Captures of three days in folders, of 300 packets each."""
    for age, name in enumerate(["a.pcap", "b.pcap.gz", "deep/c.pcap", "deep/er/d.pcap", "_hidden/e.pcap", "deep/.git/f.pcap"]):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(paths[1 if name.endswith("gz") else 0], path)
        os.utime(path, (1_700_000_000 - age * DAY,) * 2)
    return tmp_path


def names(found, folder):
    return [os.path.relpath(each.path.removeprefix("local://").removeprefix("file://"), folder) for each in found]


def found(folder, *paths, **options):
    """The names of captures that options find in the folder, and in the folder of fsspec, which are the same."""
    selection = Options(options).selection
    local = captures([str(folder / path) for path in paths or [""]], selection)
    remote = captures([f"local://{folder / path}" for path in paths or [""]], selection)
    assert names(remote, folder) == names(local, folder) and [each.size for each in remote] == [each.size for each in local]
    return names(local, folder)


def test_folders_in_folders_are_looked_into_where_that_is_asked_for(folder):
    assert found(folder) == ["a.pcap", "b.pcap.gz"]
    assert found(folder, recursiveFileLookup="true") == ["a.pcap", "b.pcap.gz", "deep/c.pcap", "deep/er/d.pcap"]
    assert found(folder, "d*") == ["deep/c.pcap"]


def test_indexes_are_no_captures(folder):
    (folder / "a.pcap.bwi").write_bytes(b"an index")
    assert found(folder) == found(folder, "*.p*") == ["a.pcap", "b.pcap.gz"]


def test_patterns_have_alternatives_as_hadoop_has_them(folder):
    assert found(folder, "{b,a}.pcap*") == ["b.pcap.gz", "a.pcap"]
    assert found(folder, "{deep/{c,er/d},none}.pcap") == ["deep/c.pcap", "deep/er/d.pcap"]
    assert found(folder, "[^b].pcap") == ["a.pcap"]
    with pytest.raises(FileNotFoundError, match="no file matches"):
        captures([str(folder / "{x,y}.pcap")], Options({}).selection)
    assert alternatives("a{b,c{d,e}}f{,g}") == ["abf", "abfg", "acdf", "acdfg", "acef", "acefg"]
    assert alternatives("{a") == ["{a"] and alternatives("a}") == ["a}"]
    with pytest.raises(bytewright.ArgumentError, match="expected a pattern for at most 1024 others"):
        alternatives("{a,b}" * 40)


def test_names_are_filtered(folder):
    assert found(folder, pathGlobFilter="*.{gz,zst}") == ["b.pcap.gz"]
    assert found(folder, "a.pcap", "b.pcap.gz", pathglobfilter="a*") == ["a.pcap"]
    assert NameFilter("[^a]?").has("bc") and not NameFilter("[^a]?").has("ac")


def test_times_of_the_last_change_are_filtered(folder):
    first = datetime.datetime.fromtimestamp(1_700_000_000, datetime.timezone.utc)
    second = first - datetime.timedelta(days=1)
    assert found(folder, modifiedAfter=second.strftime("%Y-%m-%dT%H:%M:%SZ")) == ["a.pcap"]
    assert found(folder, modifiedBefore=first.isoformat()) == ["b.pcap.gz"]
    # Nine hours later there.
    after = second + datetime.timedelta(hours=9)
    assert found(folder, modifiedAfter=after.strftime("%Y-%m-%d %H:%M:%S"), timeZone="Asia/Tokyo") == ["a.pcap"]
    assert found(folder, modifiedAfter="2030-01-01") == []
    selection = Options({"modifiedAfter": "2020-01-01"}).selection
    with pytest.raises(bytewright.ArgumentError, match="expected a time of its last change"):
        selection.of([each._replace(time=None) for each in captures([str(folder)], Options({}).selection)])


def test_captures_that_are_being_written_are_left_out(folder):
    os.utime(folder / "a.pcap")
    assert found(folder, min_age="60") == ["b.pcap.gz"]
    assert found(folder) == ["a.pcap", "b.pcap.gz"]


def test_a_stream_finds_captures_by_the_same_options(folder):
    selection = Options({"recursivefilelookup": "true", "pathglobfilter": "*.pcap"}).selection_of_stream
    assert selection.min_age == 30 and Options({"min_age": "5"}).selection_of_stream.min_age == 5
    assert names(present([str(folder)], selection), folder) == ["a.pcap", "deep/c.pcap", "deep/er/d.pcap"]
    assert present([str(folder / "none*")], selection) == []
    with pytest.raises(FileNotFoundError):
        present([str(folder / "none")], selection)
    assert Options({"maxFilesPerTrigger": "7"}).max_files == Options({"max_files": "7"}).max_files == 7


def test_options_of_files_work_on_spark(spark, folder, paths):
    assert read(spark, str(folder), recursiveFileLookup="true", pathGlobFilter="*.pcap").count() == 900
    assert read(spark, str(folder), modifiedAfter="2030-01-01").count() == 0
    assert read(spark, str(folder / "{a,b}.pcap*")).count() == 600
    # In the zone of the session, UTC: a second after and before b.pcap.gz changed.
    assert read(spark, str(folder), modifiedAfter="2023-11-13T22:13:21", modifiedBefore="2023-11-15").count() == 300


def test_damage_is_told_or_not_as_ignoreCorruptFiles_says(spark, paths):
    assert read(spark, paths[2], ignoreCorruptFiles="true").count() == read(spark, paths[2]).count() == 199
    with pytest.raises(PySparkException, match="TruncatedError"):
        read(spark, paths[2], ignoreCorruptFiles="false").count()


@pytest.mark.parametrize("rows", ["packets", "flows", "entries", "damage"])
def test_a_capture_that_is_gone_is_an_error_unless_ignoreMissingFiles_says_otherwise(spark, folder, rows):
    named = [str(folder / name) for name in ("a.pcap", "gone.pcap", "b.pcap.gz")]
    some = read(spark, named, rows=rows, ignoreMissingFiles="true").count()
    assert some == read(spark, [named[0], named[2]], rows=rows).count()
    with pytest.raises(PySparkException, match="gone.pcap"):
        read(spark, named, rows=rows).count()


def test_a_schema_of_ones_own_names_columns(spark, paths):
    reader = spark.read.format("bytewright")
    frame = reader.schema("ttl int, dst_ip string").load(paths[0])
    assert frame.columns == ["ttl", "dst_ip"] and frame.count() == 300
    assert [row.ttl for row in frame.collect()] == [packet.ttl for packet in bytewright.Capture(paths[0])]
    for schema, options, message in [
        ("src_prot int", {}, "expected a field, found src_prot; did you mean src_port"),
        ("bites long", {"rows": "flows"}, "expected a field, found bites; did you mean bytes"),
        ("file string, text2 string", {"rows": "damage"}, "expected a field .file, offset, text., found text2"),
    ]:
        with pytest.raises(PySparkException, match=message):
            spark.read.format("bytewright").options(**options).schema(schema).load(paths[0]).count()


def test_tables_of_the_catalog_are_read_and_a_write_says_what_to_do(spark, paths):
    frame = read(spark, paths[0])
    for write in (
        lambda: frame.write.format("bytewright").mode("append").save("/nowhere"),
        lambda: frame.write.format("bytewright").saveAsTable("written"),
    ):
        with pytest.raises(PySparkException, match="expected to read captures, found a write"):
            write()
    spark.sql("DROP TABLE IF EXISTS written")
    spark.sql(f"CREATE TABLE filtered USING bytewright OPTIONS (path '{pathlib.Path(paths[0]).parent}', pathGlobFilter '00-*')")
    try:
        assert spark.table("filtered").count() == 300
    finally:
        spark.sql("DROP TABLE filtered")
    spark.sql(f"CREATE TABLE listed (ttl int) USING bytewright OPTIONS (path '{paths[0]}')")
    try:
        with pytest.raises(PySparkException, match="expected a path, found none: .* without a list of columns"):
            spark.table("listed").count()
    finally:
        spark.sql("DROP TABLE listed")


@pytest.mark.parametrize("path,message", [
    ("s3a://captures/a.pcap", "expected what reads s3a:// on this machine, found none; pip install s3fs"),
    ("abfss://captures/a.pcap", "pip install adlfs"),
    ("hdfs:///captures/a.pcap", "HADOOP_HOME"),
])  # fmt: skip
def test_a_file_system_that_is_not_installed_is_told_with_what_to_install(path, message):
    with pytest.raises(bytewright.MissingLibraryError, match=message):
        system_of(path, {})


def test_an_unknown_file_system_is_told():
    with pytest.raises(bytewright.ArgumentError, match="expected a path or a protocol of fsspec, such as s3a://, found ftps3://"):
        system_of("ftps3://a", {})


def test_without_fsspec_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(bytewright.MissingLibraryError, match="pip install fsspec"):
        system_of("s3a://a", {})


def test_the_configuration_of_hadoop_says_what_fsspec_needs():
    hadoop = {
        "fs.s3a.access.key": "key", "fs.s3a.secret.key": "secret", "fs.s3a.endpoint": "minio:9000",
        "fs.s3a.connection.ssl.enabled": "false", "fs.s3a.path.style.access": "true", "fs.defaultFS": "hdfs://names:8020",
    }  # fmt: skip
    s3 = {
        "key": "key", "secret": "secret", "client_kwargs": {"endpoint_url": "http://minio:9000"},
        "config_kwargs": {"s3": {"addressing_style": "path"}},
    }  # fmt: skip
    assert storage_of(hadoop.get) == {"s3": s3, "s3a": s3, "s3n": s3, "hdfs": {"host": "names", "port": 8020}}
    assert storage_of({"fs.defaultFS": "file:///"}.get) == {}


def test_fsspec_has_the_configuration_of_hadoop_where_it_has_none_of_its_own(monkeypatch):
    class Noted(fsspec.AbstractFileSystem):
        protocol, cachable = "s3a", False

        def __init__(self, **options):
            super().__init__()
            self.options = options

    fsspec.register_implementation("s3a", Noted, clobber=True)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    storage = {"s3a": {"key": "of hadoop"}}
    try:
        assert system_of("s3a://captures/a.pcap", storage)[0].options == storage["s3a"]
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "own")
        assert system_of("s3a://captures/a.pcap", storage)[0].options == {}
    finally:
        sys.modules["fsspec.registry"]._registry.pop("s3a")


def test_the_session_hands_its_configuration_of_hadoop_down(spark):
    from bytewright.spark._session import settings_of

    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    hadoop.set("fs.s3a.access.key", "key of this session")
    try:
        settings = settings_of(spark)
        assert settings.storage["s3a"]["key"] == "key of this session"
        assert (settings.task_bytes, settings.open_cost, settings.slots, settings.cores) == (128 << 20, 4 << 20, 2, 2)
    finally:
        hadoop.unset("fs.s3a.access.key")
