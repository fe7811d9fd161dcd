"""Goal: tasks have what they need and no more: small captures come together, as Spark packs its own files, large ones with an index
come in parts, and the rows are those of one task for each capture.

Method: the slow twin of a frame is the same frame in tasks of one capture each, or without an index.
"""

import gzip
import os
import random
import shutil

import captures
import pytest
from pyspark.errors import PySparkException
from test_source import command, plain, read

import bytewright
from bytewright.spark._capture import Capture
from bytewright.spark._listing import Found
from bytewright.spark._options import Options
from bytewright.spark._session import Settings, bytes_of
from bytewright.spark._tasks import packed, planned

COLUMNS = "number,ts,ts_nanos,src_ip,src_port,length,file"


def sizes(settings, captures, most=None):
    return [[capture.size for capture in each] for each in settings.packed(captures, settings.most_of([each.size for each in captures], most))]


def made(*sizes):
    return [Capture(place, str(place), size) for place, size in enumerate(sizes)]


def test_captures_are_packed_as_spark_packs_its_own_files():
    mib, settings = 1 << 20, Settings(tasks_min=2)
    # 31 of 20 KB and 4 MiB each, and one more, are less than 128 MiB.
    assert [len(each) for each in settings.packed(made(*[20_000] * 500), settings.most_of([20_000] * 500))] == [32] * 15 + [20]
    # Each core gets some.
    assert sizes(settings, made(10 * mib, 10 * mib)) == [[10 * mib], [10 * mib]]
    # Of large ones, no task has two, and none is left out.
    assert sizes(settings, made(500 * mib, 1, 500 * mib)) == [[500 * mib], [1], [500 * mib]]
    assert sizes(settings, []) == []
    # A number of bytes that somebody asks for counts.
    assert sizes(settings, made(10, 10, 10), 1) == [[10], [10], [10]]


@pytest.mark.parametrize("text,bytes", [("134217728b", 128 << 20), ("128MB", 128 << 20), ("4m", 4 << 20), ("1 GiB", 1 << 30), ("7", 7)])
def test_numbers_of_bytes_are_read_as_spark_writes_them(text, bytes):
    assert bytes_of(text) == bytes
    with pytest.raises(ValueError):
        bytes_of(text + "!")


def test_parts_are_as_many_as_end_together_unless_they_were_too_small():
    mib, settings = 1 << 20, Settings(slots=2)
    assert settings.even(400 * mib, 128 * mib) == 100 * mib
    assert settings.even(300 * mib, 150 * mib) == 150 * mib
    assert Settings(slots=200).even(400 * mib, 100 * mib) == 100 * mib


def test_one_large_capture_has_the_cores_that_no_task_has():
    settings = Settings(tasks_min=4, slots=4, cores=4)
    large, small = Capture(0, "a", 20 << 20), Capture(1, "b", 20)
    jobs = lambda options, *captures: [task.jobs for task in packed(Options(options, settings), captures)]  # noqa: E731
    assert jobs({"rows": "flows"}, large) == [4]
    assert jobs({"rows": "flows"}, large, large) == [2, 2]
    assert jobs({"rows": "flows"}, small) == [1]
    assert jobs({"rows": "flows", "jobs": "3"}, large) == [3]


def test_small_captures_come_in_few_tasks_with_the_rows_of_many(spark, paths):
    for rows in ("packets", "flows", "calls", "damage"):
        few, many = (read(spark, paths, rows=rows, **options) for options in ({}, {"split_bytes": "65536"}))
        assert few.rdd.getNumPartitions() <= 4 < many.rdd.getNumPartitions()
        found, expected = ([str(row) for row in frame.collect()] for frame in (few, many))
        # In the order of the captures.
        assert found == expected, rows


def test_the_captures_of_a_batch_of_a_stream_come_in_few_tasks(spark, paths):
    from bytewright.spark._stream import Offset, StreamReader

    stream = StreamReader(Options({"path": "unused"}, Settings(tasks_min=2)), None)
    new = [Found(f"/captures/{number}.pcap", 20_000, 1_700_000_000) for number in range(500)]
    tasks = stream.partitions(Offset().to_dict(), Offset().after(new, 60).to_dict())
    assert len(tasks) == 16 and [capture.path for task in tasks for capture in task.captures] == [each.path for each in new]
    assert [capture.place for task in tasks for capture in task.captures] == list(range(500))


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """A folder with captures that have indexes: a .gz of 26 MB, of one member, and plain ones."""
    folder = tmp_path_factory.mktemp("indexed")
    chance = random.Random(int(os.environ.get("BYTEWRIGHT_SEED", "21")))
    # Inside of a member there is a place for 8 MiB.
    frames = [captures.packet(chance) + chance.randbytes(1_400) for _ in range(18_000)]
    pcap = captures.pcap(chance, 400) + b"".join(captures.record(1_700_000_000 + number, frame) for number, frame in enumerate(frames))
    (folder / "a.pcap.gz").write_bytes(gzip.compress(pcap, 1))
    (folder / "b.pcap").write_bytes(captures.pcap(chance, 20_000))
    (folder / "c.pcapng").write_bytes(captures.pcapng(chance, 20_000))
    for path in sorted(folder.iterdir()):
        list(bytewright.index(path))
    return folder


def twin(path, folder):
    """A copy of a capture without its index."""
    return shutil.copyfile(path, folder / path.name)


def test_a_capture_with_an_index_is_read_in_parts_with_the_packets_of_one_task(spark, indexed, tmp_path):
    for path in (indexed / name for name in ("a.pcap.gz", "b.pcap", "c.pcapng")):
        split = read(spark, str(path), columns=COLUMNS, split_bytes="500000")
        assert split.rdd.getNumPartitions() > 1, path
        whole = read(spark, str(twin(path, tmp_path)), columns=COLUMNS)
        rows = lambda frame: [{**plain(row), "file": None} for row in frame.collect()]  # noqa: E731
        assert rows(split) == rows(whole)
        flow = next(row for row in bytewright.flows(path) if row.packets > 1).community_id
        assert read(spark, str(path), split_bytes="500000", flow=flow).count() == sum(1 for _ in bytewright.Capture(path, flow=flow)) > 1
        # Flows go on from part to part.
        assert read(spark, str(path), rows="flows", split_bytes="65536").rdd.getNumPartitions() == 1


def test_an_index_is_made_on_the_driver_where_it_is_asked_for(spark, indexed, tmp_path):
    path = twin(indexed / "a.pcap.gz", tmp_path)
    assert read(spark, str(path), split_bytes="65536").rdd.getNumPartitions() == 1
    for options in ({"index": "true"}, {"index": "true", "index_dir": str(tmp_path / "indexes")}):
        (tmp_path / "indexes").mkdir(exist_ok=True)
        assert read(spark, str(path), split_bytes="65536", **options).rdd.getNumPartitions() > 1
    assert path.with_name(path.name + ".bwi").exists() and len(list((tmp_path / "indexes").iterdir())) == 1


@pytest.mark.parametrize("change", ["grown", "damaged", "other", "index damaged"])
def test_a_capture_that_its_index_does_not_tell_wholly_is_read_by_one_task(spark, indexed, tmp_path, change):
    path = twin(indexed / "a.pcap.gz", tmp_path)
    data = path.read_bytes()
    if change == "damaged":
        path.write_bytes(data[: len(data) // 2])
    with pytest.raises(bytewright.TruncatedError) if change == "damaged" else open(os.devnull):
        list(bytewright.index(path))
    if change == "grown":
        path.write_bytes(data + gzip.compress(captures.record(1_800_000_000, bytes(60))))
    elif change == "other":
        path.write_bytes(gzip.compress(gzip.decompress(data), 2))
    elif change == "index damaged":
        index = path.with_name(path.name + ".bwi")
        index.write_bytes(index.read_bytes()[:-9] + b"damaged!!")
    frame = read(spark, str(path), columns=COLUMNS, split_bytes="65536")
    expected, _ = command("packets", str(path), "--fields", "number,ts,src_ip,src_port,length", "--index-dir", str(tmp_path))
    assert frame.rdd.getNumPartitions() == 1
    assert [{**plain(row), "file": None} for row in frame.collect()] == [{**row, "file": None} for row in expected]


def test_parts_are_right_where_the_index_is_gone_or_the_capture_grew_since_they_were_planned(indexed, tmp_path):
    from bytewright.spark._rows import schema
    from bytewright.spark._tasks import rows

    path = twin(indexed / "a.pcap.gz", tmp_path)
    list(bytewright.index(path))
    options = Options({"path": str(path), "columns": "number,length", "split_bytes": "65536"})
    tasks = planned(options, [Found(str(path), path.stat().st_size, None)])
    count = sum(1 for _ in bytewright.Capture(path))

    def numbers():
        return [number for task in tasks for batch in rows(options, task, schema(options)) for number in batch.column("number").to_pylist()]

    assert len(tasks) > 2 and numbers() == list(range(1, count + 1))
    path.write_bytes(path.read_bytes() + gzip.compress(captures.record(1_800_000_000, bytes(60))))
    assert numbers() == list(range(1, count + 2))
    path.with_name(path.name + ".bwi").unlink()
    assert numbers() == list(range(1, count + 2))


def test_a_writer_is_refused_with_what_to_do(spark, paths):
    for write in (lambda frame: frame.write.format("bytewright").mode("append").save("new"),):
        with pytest.raises(PySparkException, match="expected to read captures, found a write"):
            write(read(spark, paths[0]))
