//! Goal: what a table in a file does, one behaviour at a time.

use std::ops::Bound;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use bytewright::ErrorKind;
use bytewright::files::{MemoryStorage, Storage};
use bytewright::table::file::{OpenOptions, SyncMode, TableKind, TreeTable, open};
use bytewright::table::{KeyRange, OrderedTable, Table};

use super::{CREATE, Entries, READ, WRITE, all, path, range_of, rest};

const INTERVAL: OpenOptions = OpenOptions { sync: SyncMode::Interval, ..CREATE };
const NEVER: OpenOptions = OpenOptions { sync: SyncMode::Never, ..CREATE };

fn keys(table: &TreeTable, range: &KeyRange) -> Vec<String> {
    range_of(table, range).into_iter().map(|(key, _)| String::from_utf8(key).unwrap()).collect()
}

/// More than a transaction keeps in memory.
fn fill(table: &mut TreeTable, from: u32) {
    for number in from..from + 100 {
        table.put(&number.to_be_bytes(), &vec![number as u8; 100_000]).unwrap();
    }
}

#[test]
fn what_was_put_is_there_after_opening_again() {
    for options in [CREATE, INTERVAL, NEVER] {
        let path = path("reopen");
        let mut table = TreeTable::open(&path, options).unwrap();
        table.put(b"b", b"2").unwrap();
        table.put(b"a", b"1").unwrap();
        table.put(b"c", b"").unwrap();
        assert!(table.delete(b"b").unwrap());
        assert!(!table.delete(b"b").unwrap());
        drop(table);
        let table = TreeTable::open(&path, WRITE).unwrap();
        assert_eq!(table.len().unwrap(), 2);
        assert_eq!(table.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
        assert_eq!(table.get(b"b").unwrap(), None);
        let expected = [(b"a".to_vec(), b"1".to_vec()), (b"c".to_vec(), Vec::new())];
        assert_eq!(all(&table), expected.into());
    }
}

#[test]
fn a_range_starts_at_its_first_key_and_stops_before_its_end_in_both_directions() {
    let mut table = TreeTable::open(path("range"), CREATE).unwrap();
    for key in ["a", "bb", "c"] {
        table.put(key.as_bytes(), b"").unwrap();
    }
    table.begin().unwrap();
    table.put(b"b", b"").unwrap();
    let range = |from: Bound<&str>, to: Bound<&str>| KeyRange {
        from: from.map(|key| key.as_bytes().to_vec()),
        to: to.map(|key| key.as_bytes().to_vec()),
        reverse: false,
    };
    use Bound::{Excluded, Included, Unbounded};
    assert_eq!(keys(&table, &range(Included("b"), Excluded("c"))), ["b", "bb"]);
    assert_eq!(keys(&table, &range(Excluded("b"), Included("c"))), ["bb", "c"]);
    assert_eq!(keys(&table, &range(Included("aa"), Unbounded).reversed()), ["c", "bb", "b"]);
    assert_eq!(keys(&table, &KeyRange::prefix(b"b").reversed()), ["bb", "b"]);
    for (from, to) in [(Included("d"), Excluded("a")), (Excluded("b"), Excluded("b"))] {
        assert!(keys(&table, &range(from, to)).is_empty());
    }
    let first = |range: &KeyRange| {
        let mut first = None;
        table.first_with(range, &mut |key, _| first = Some(key.to_vec())).unwrap();
        first
    };
    assert_eq!(first(&KeyRange::ALL), Some(b"a".to_vec()));
    assert_eq!(first(&KeyRange::ALL.reversed()), Some(b"c".to_vec()));
    assert_eq!(first(&KeyRange::prefix(b"d")), None);
}

#[test]
fn an_aborted_transaction_changes_nothing_and_a_savepoint_only_what_came_before() {
    for options in [CREATE, INTERVAL] {
        let mut table = TreeTable::open(path("rollback"), options).unwrap();
        table.put(b"kept", b"1").unwrap();
        table.begin().unwrap();
        table.put(b"new", b"2").unwrap();
        table.delete(b"kept").unwrap();
        assert_eq!((table.len().unwrap(), table.depth()), (1, 1));
        table.begin().unwrap();
        table.clear().unwrap();
        assert!(table.is_empty().unwrap());
        table.abort().unwrap();
        assert_eq!(table.get(b"new").unwrap().as_deref(), Some(&b"2"[..]));
        table.abort().unwrap();
        assert_eq!(all(&table), [(b"kept".to_vec(), b"1".to_vec())].into());
        assert_eq!(table.commit().unwrap_err().kind(), ErrorKind::Argument);
        assert_eq!(table.abort().unwrap_err().kind(), ErrorKind::Argument);
    }
}

#[test]
fn a_transaction_that_is_too_much_for_memory_is_still_all_or_nothing() {
    let path = path("spill");
    let mut table = TreeTable::open(&path, INTERVAL).unwrap();
    table.put(b"before", b"1").unwrap();
    let committed = all(&table);
    table.begin().unwrap();
    fill(&mut table, 0);
    assert_eq!(table.len().unwrap(), 101);
    let reader = TreeTable::open(&path, READ).unwrap();
    assert_eq!(all(&reader), committed, "a reader sees what was committed");
    table.abort().unwrap();
    assert_eq!(all(&table), committed);
    table.begin().unwrap();
    fill(&mut table, 0);
    table.begin().unwrap();
    fill(&mut table, 1000);
    table.abort().unwrap();
    table.clear().unwrap();
    fill(&mut table, 2000);
    table.commit().unwrap();
    assert_eq!(table.len().unwrap(), 100);
    assert_eq!(all(&reader), all(&table), "in the file by now");
}

// Promise (tree-table-file): A snapshot of a transaction stays as it is when that ends.
#[test]
fn a_snapshot_in_a_large_transaction_stays_as_it_is_when_that_ends() {
    let mut table = TreeTable::open(path("spilled_snapshot"), CREATE).unwrap();
    table.begin().unwrap();
    fill(&mut table, 0);
    let before = all(&table);
    let snapshot = table.snapshot().unwrap();
    let scan = snapshot.scan().unwrap();
    fill(&mut table, 30);
    fill(&mut table, 1000);
    table.delete(&5_u32.to_be_bytes()).unwrap();
    assert_eq!(rest(scan).unwrap().into_iter().collect::<super::Entries>(), before);
    assert_eq!(snapshot.len().unwrap(), 100);
    assert_eq!(table.len().unwrap(), 229);
    table.commit().unwrap();
    assert_eq!(snapshot.len().unwrap(), 100);
    assert_eq!(
        rest(snapshot.scan().unwrap()).unwrap().into_iter().collect::<super::Entries>(),
        before
    );
    drop(snapshot);
    assert_eq!(table.len().unwrap(), 229);
    table.begin().unwrap();
    fill(&mut table, 5000);
    let (within, snapshot) = (all(&table), table.snapshot().unwrap());
    table.abort().unwrap();
    fill(&mut table, 6000);
    assert_eq!(
        rest(snapshot.scan().unwrap()).unwrap().into_iter().collect::<super::Entries>(),
        within
    );
}

// Promise (tree-table-file): A scan goes on to its end after its table is closed.
#[test]
fn a_scan_and_a_snapshot_go_on_to_their_end_after_the_table_is_closed() {
    let path = path("scan_after_close");
    for options in [CREATE, INTERVAL, READ] {
        let mut table = TreeTable::open(&path, options).unwrap();
        if !options.read_only {
            (0..2_000_u32).for_each(|key| table.put(&key.to_be_bytes(), &[7; 100]).unwrap());
            table.sync().unwrap();
            table.put(b"more", b"in memory").unwrap();
        }
        let expected = all(&table);
        let (snapshot, mut scan) =
            (table.snapshot().unwrap(), table.snapshot().unwrap().scan().unwrap());
        let first = scan.advance().unwrap().map(|(key, value)| (key.to_vec(), value.to_vec()));
        if !options.read_only {
            table.put(b"later", b"").unwrap();
        }
        table.close().unwrap();
        drop(table);
        let left = rest(scan).unwrap();
        assert_eq!(first.into_iter().chain(left).collect::<super::Entries>(), expected);
        assert_eq!(snapshot.len().unwrap(), expected.len() as u64);
        drop(snapshot);
        // Nobody has the file now.
        TreeTable::open(&path, WRITE).unwrap().delete(b"later").unwrap();
    }
}

#[test]
fn the_number_of_entries_follows_every_change() {
    let mut table = TreeTable::open(path("len"), INTERVAL).unwrap();
    table.put(b"a", b"").unwrap();
    assert_eq!(table.len().unwrap(), 1);
    table.put(b"a", b"again").unwrap();
    table.put(b"b", b"").unwrap();
    assert_eq!(table.len().unwrap(), 2);
    table.sync().unwrap();
    table.delete(b"a").unwrap();
    assert_eq!(table.len().unwrap(), 1);
    table.begin().unwrap();
    table.put(b"c", b"").unwrap();
    assert_eq!(table.len().unwrap(), 2);
    table.abort().unwrap();
    assert_eq!(table.len().unwrap(), 1);
    for number in 0..3000_u32 {
        table.put(&number.to_be_bytes(), b"").unwrap();
    }
    assert_eq!(table.len().unwrap(), 3001);
}

#[test]
fn changes_while_a_value_is_shown_or_a_table_is_walked_are_not_seen_by_the_walk() {
    let mut table = TreeTable::open(path("walk"), INTERVAL).unwrap();
    for number in 0..100_u8 {
        table.put(&[number], b"old").unwrap();
        if number == 50 {
            table.sync().unwrap();
        }
    }
    let mut scan = table.snapshot().unwrap().scan().unwrap();
    let mut walked = 0;
    while let Some((key, value)) = scan.advance().unwrap() {
        assert_eq!(value, b"old");
        let key = [key[0].wrapping_add(1), 7];
        table.put(&key, b"new").unwrap();
        walked += 1;
    }
    assert_eq!((walked, table.len().unwrap()), (100, 200));
    let mut asked = 0;
    let found = table.get_with(&[1], &mut |_| asked = table.len().unwrap()).unwrap();
    assert_eq!((found, asked), (true, 200), "the table answers while it shows a value");
}

// Promise (tree-table-file): Readers see each commit at once, and keep no writer from working.
#[test]
fn readers_follow_a_writer_and_a_second_writer_is_locked_out_of_a_table_that_is_opened_exclusively()
{
    let path = path("lock");
    let exclusive = OpenOptions { exclusive: true, ..CREATE };
    let mut writer = TreeTable::open(&path, exclusive).unwrap();
    let reader = TreeTable::open(&path, READ).unwrap();
    assert!(reader.is_empty().unwrap());
    for options in [CREATE, WRITE, exclusive] {
        let error = TreeTable::open(&path, options).unwrap_err();
        assert_eq!((error.kind(), error.file()), (ErrorKind::Lock, path.to_str()));
    }
    writer.put(b"a", b"1").unwrap();
    assert_eq!(reader.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
    let snapshot = reader.snapshot().unwrap();
    for number in 0..500_u32 {
        writer.put(b"a", &number.to_be_bytes()).unwrap();
    }
    let mut shown = Vec::new();
    snapshot.get_with(b"a", &mut |value| shown = value.to_vec()).unwrap();
    assert_eq!(shown, b"1");
    assert_eq!(reader.get(b"a").unwrap().as_deref(), Some(&499_u32.to_be_bytes()[..]));
    drop(writer);
    let mut second = TreeTable::open(&path, WRITE).unwrap();
    second.put(b"b", b"2").unwrap();
    assert_eq!(reader.len().unwrap(), 2, "and the next writer");
}

#[test]
fn a_writer_waits_for_another_as_long_as_it_is_told() {
    let path = path("wait");
    let first = TreeTable::open(&path, OpenOptions { exclusive: true, ..CREATE }).unwrap();
    let patient = OpenOptions { timeout: std::time::Duration::from_secs(60), ..WRITE };
    std::thread::scope(|scope| {
        let second = scope.spawn(|| TreeTable::open(&path, patient).map(drop));
        drop(first);
        second.join().unwrap().unwrap();
    });
}

#[test]
fn changes_reach_the_file_although_nobody_comes_by() {
    let path = path("interval");
    let mut table = TreeTable::open(&path, INTERVAL).unwrap();
    let reader = TreeTable::open(&path, READ).unwrap();
    table.put(b"a", b"1").unwrap();
    while !reader.contains(b"a").unwrap() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

// Promise (tree-table-file): A handle that only reads leaves the table as it is.
#[test]
fn a_table_opened_to_read_leaves_the_file_as_it_is() {
    let path = path("read_only");
    TreeTable::open(&path, CREATE).unwrap().put(b"a", b"1").unwrap();
    let before = table_bytes(&path);
    let mut table = TreeTable::open(&path, READ).unwrap();
    assert_eq!(table.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(table.put(b"b", b"").unwrap_err().kind(), ErrorKind::Argument);
    assert_eq!(table.begin().unwrap_err().kind(), ErrorKind::Argument);
    drop(table);
    assert_eq!(table_bytes(&path), before);
}

/// The bytes of a table, but for what the processes that have it open share in it.
fn table_bytes(path: &std::path::Path) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    bytes.drain(4096..17 * 4096);
    bytes
}

// Promise (tree-table-file): A copy of an open table is that of the last sync, and is used beside
// readers of it.
#[test]
fn a_file_that_was_not_closed_is_read_without_repairing_it_and_then_repaired_beside_its_readers() {
    let (living, path) = (path("living"), path("unclosed"));
    let mut table = TreeTable::open(&living, CREATE).unwrap();
    table.put(b"a", b"1").unwrap();
    std::fs::copy(&living, &path).unwrap();
    let before = table_bytes(&path);
    let reader = TreeTable::open(&path, READ).unwrap();
    assert_eq!(all(&reader), all(&table));
    let second = TreeTable::open(&path, READ).unwrap();
    assert_eq!(all(&second), all(&table));
    assert_eq!(table_bytes(&path), before);
    let snapshot = reader.snapshot().unwrap();
    let mut writer = TreeTable::open(&path, WRITE).unwrap();
    assert_eq!(all(&writer), all(&table));
    for number in 0..300_u32 {
        writer.put(b"a", &number.to_be_bytes()).unwrap();
    }
    assert_eq!(all(&reader), all(&writer), "beside a writer that came later");
    assert_eq!(all(&second), all(&writer));
    assert_eq!(rest(snapshot.scan().unwrap()).unwrap(), [(b"a".to_vec(), b"1".to_vec())]);
}

// Promise (tree-table-file): Compaction gives space back, takes nothing from a snapshot, and waits
// for nobody.
#[test]
fn compacting_gives_space_back_and_waits_for_nobody() {
    let path = path("compact");
    let mut table = TreeTable::open(&path, INTERVAL).unwrap();
    fill(&mut table, 0);
    table.sync().unwrap();
    for number in 0..95_u32 {
        table.delete(&number.to_be_bytes()).unwrap();
    }
    let expected = all(&table);
    table.begin().unwrap();
    assert_eq!(table.compact().unwrap_err().kind(), ErrorKind::Argument);
    table.commit().unwrap();
    let reader = TreeTable::open(&path, READ).unwrap();
    let snapshot = reader.snapshot().unwrap();
    table.compact().unwrap();
    let read: Entries = rest(snapshot.scan().unwrap()).unwrap().into_iter().collect();
    assert_eq!(read, expected, "what a snapshot has stays");
    drop(snapshot);
    let before = table.stat().unwrap();
    table.compact().unwrap();
    let after = table.stat().unwrap();
    assert_eq!((before.records, after.records), (5, 5));
    assert!(after.live_bytes >= 500_000 && after.live_bytes == before.live_bytes);
    assert!(after.file_bytes < before.file_bytes / 4, "{before:?} {after:?}");
    assert_eq!((all(&table), all(&reader)), (expected.clone(), expected));
}

/// Bytes that the file takes on the disk.
fn disk_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().blocks() * 512
}

// Promise (tree-table-file): A table at rest gives space back, but not in a transaction.
#[test]
fn a_table_at_rest_gives_room_back_while_it_is_open_and_read() {
    let path = path("at_rest");
    let mut table = TreeTable::open(&path, INTERVAL).unwrap();
    let mut other = TreeTable::open(&path, INTERVAL).unwrap();
    for number in 0..2_000_u32 {
        table.put(&number.to_be_bytes(), &[1; 3_000]).unwrap();
    }
    table.sync().unwrap();
    let full = disk_bytes(&path);
    let snapshot = table.snapshot().unwrap();
    for number in (0..2_000_u32).filter(|number| number % 10 != 0) {
        table.delete(&number.to_be_bytes()).unwrap();
    }
    // More than the second until the sync, and the second after it.
    std::thread::sleep(Duration::from_millis(2_500));
    assert_eq!(rest(snapshot.scan().unwrap()).unwrap().len(), 2_000, "what a snapshot has stays");
    assert!(disk_bytes(&path) > 2_000 * 3_000);
    drop(snapshot);
    let patience = Instant::now();
    while disk_bytes(&path) > full / 4 {
        assert!(patience.elapsed() < Duration::from_secs(60), "{} of {full}", disk_bytes(&path));
        other.put(b"again", b"1").unwrap();
        std::thread::sleep(Duration::from_millis(2_500));
    }
    assert_eq!((table.len().unwrap(), other.len().unwrap()), (201, 201));
    for table in [&mut table, &mut other] {
        table.put(b"later", &[2; 200_000]).unwrap();
        assert_eq!(table.get(b"later").unwrap().unwrap(), [2; 200_000]);
    }
    drop((table, other));
    let verified = TreeTable::open(&path, OpenOptions { verify: true, ..WRITE }).unwrap();
    assert_eq!(verified.len().unwrap(), 202);
}

// Promise (tree-table-file): also A table at rest gives space back
#[test]
fn a_table_at_rest_in_a_transaction_keeps_its_room() {
    let path = path("at_rest_in_transaction");
    let mut table = TreeTable::open(&path, INTERVAL).unwrap();
    for number in 0..1_000_u32 {
        table.put(&number.to_be_bytes(), &[1; 3_000]).unwrap();
    }
    table.clear().unwrap();
    table.begin().unwrap();
    table.put(b"open", &[3; 100_000]).unwrap();
    std::thread::sleep(Duration::from_millis(2_500));
    assert_eq!(table.get(b"open").unwrap().unwrap(), [3; 100_000]);
    table.commit().unwrap();
    assert_eq!(table.get(b"open").unwrap().unwrap(), [3; 100_000]);
    drop(table);
    let verified = TreeTable::open(&path, OpenOptions { verify: true, ..WRITE }).unwrap();
    assert_eq!(verified.len().unwrap(), 1);
}

#[test]
fn a_missing_an_empty_and_a_foreign_file_are_told_apart() {
    let path = path("foreign");
    let kind = |options| TreeTable::open(&path, options).unwrap_err().kind();
    assert!(matches!(kind(WRITE), ErrorKind::Io(Some(2))));
    assert!(matches!(kind(READ), ErrorKind::Io(Some(2))));
    std::fs::write(&path, b"").unwrap();
    assert_eq!((kind(WRITE), kind(READ)), (ErrorKind::Format, ErrorKind::Format));
    std::fs::write(&path, b"\xd4\xc3\xb2\xa1 is not a table").unwrap();
    for options in [CREATE, READ] {
        let error = TreeTable::open(&path, options).unwrap_err();
        assert_eq!((error.kind(), error.file()), (ErrorKind::Format, path.to_str()));
        assert!(error.to_string().ends_with("found a packet capture"), "{error}");
    }
    assert_eq!(std::fs::read(&path).unwrap().len(), 19, "left alone");
    std::fs::write(&path, [0; 5_000]).unwrap();
    assert_eq!(kind(CREATE), ErrorKind::Format);
}

// Promise (tree-table-file): Files of another format and of other programs are refused.
#[test]
fn a_table_of_another_format_and_another_programs_file_are_refused() {
    let (another, redb) = (path("another_format"), path("another_program"));
    drop(TreeTable::open(&another, CREATE).unwrap());
    let mut bytes = std::fs::read(&another).unwrap();
    for header in bytes[..128].chunks_mut(64) {
        header[8] = 3;
        let check = crc32c::crc32c(&header[..60]).to_le_bytes();
        header[60..].copy_from_slice(&check);
    }
    std::fs::write(&another, bytes).unwrap();
    std::fs::write(&redb, b"redb\x1a\x0a\xa9\x0d\x0a and more").unwrap();
    for options in [WRITE, READ] {
        for (path, found) in
            [(&another, "format 3, which another version"), (&redb, "a redb database")]
        {
            let error = TreeTable::open(path, options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Format);
            assert!(error.to_string().contains(found), "{error}");
        }
    }
}

#[test]
fn the_kind_of_a_table_is_told_by_its_beginning_or_else_by_its_name() {
    let (ordered, nameless) = (path("kind"), path("kind").with_extension("data"));
    let _ = std::fs::remove_file(&nameless);
    let error = |kind, options| match open(&nameless, kind, options) {
        Err(error) => error.kind(),
        Ok(_) => panic!("opened"),
    };
    open(&ordered, None, CREATE).unwrap().into_ordered().unwrap().put(b"a", b"1").unwrap();
    assert!(open(&ordered, None, READ).unwrap().into_table().contains(b"a").unwrap());
    assert_eq!(error(None, CREATE), ErrorKind::Argument);
    assert!(matches!(error(None, READ), ErrorKind::Io(Some(2))));
    drop(open(&nameless, Some(TableKind::Ordered), CREATE).unwrap());
    drop(open(&nameless, None, WRITE).unwrap());
    assert_eq!(error(Some(TableKind::Hashed), WRITE), ErrorKind::Format);
    std::fs::write(&nameless, b"something else").unwrap();
    assert_eq!(error(Some(TableKind::Ordered), CREATE), ErrorKind::Format);
}

#[test]
fn a_value_of_many_pages_and_the_empty_key_are_kept() {
    let storage = MemoryStorage::default();
    let open = |options| TreeTable::open_storage(Box::new(storage.clone()), "memory", options);
    let mut table = open(CREATE).unwrap();
    let long = vec![7; 5_000_000];
    table.put(b"", &long).unwrap();
    table.append(b"", b"end").unwrap();
    assert_eq!(table.increment(b"n", 5).unwrap(), 5);
    drop(table);
    assert!(storage.len().unwrap() > 5_000_000);
    let table = open(READ).unwrap();
    assert_eq!(table.get(b"").unwrap().unwrap().len(), 5_000_003);
}

/// A file of each format, which must be readable for ever. `BYTEWRIGHT_WRITE_SAMPLE=1` writes the one of the newest where
/// it is missing, to be compressed by gzip.
#[test]
fn the_files_of_every_format_are_readable() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let newest = folder.join("tree_table_2.bwt.gz");
    if std::env::var_os("BYTEWRIGHT_WRITE_SAMPLE").is_some() && !newest.exists() {
        write_sample(&newest.with_extension(""));
    }
    let options = bytewright::bytes::StreamOptions::default();
    let mut stream = bytewright::bytes::ByteStream::open(&newest, &options).unwrap();
    let storage = MemoryStorage::new(stream.fill(2 << 20).unwrap().to_vec());
    let open = |options| TreeTable::open_storage(Box::new(storage.clone()), "memory", options);
    let mut expected: Entries =
        (0..400_u32).map(|number| (number.to_be_bytes().to_vec(), vec![7; 60])).collect();
    assert_eq!(all(&open(READ).unwrap()), expected);
    let mut table = open(WRITE).unwrap();
    table.put(b"new", b"1").unwrap();
    table.close().unwrap();
    expected.insert(b"new".to_vec(), b"1".to_vec());
    assert_eq!(all(&open(READ).unwrap()), expected);
}

fn write_sample(path: &std::path::Path) {
    let mut table = TreeTable::open(path, CREATE).unwrap();
    table.begin().unwrap();
    for number in 0..400_u32 {
        table.put(&number.to_be_bytes(), &[7; 60]).unwrap();
    }
    table.commit().unwrap();
    table.compact().unwrap();
    table.close().unwrap();
}

// Promise (tree-table-file): also Readers see each commit at once
#[test]
fn many_values_that_a_reader_asks_for_are_those_of_one_commit() {
    let path = path("many_of_one_commit");
    let mut writer = TreeTable::open(&path, CREATE).unwrap();
    writer.put(b"a", &[100]).unwrap();
    writer.put(b"b", &[0]).unwrap();
    let reader = TreeTable::open(&path, READ).unwrap();
    for moved in 1..=20 {
        let mut found = Vec::new();
        let mut transfer = |place: usize, value: Option<&[u8]>| {
            found.push(value.unwrap()[0]);
            if place == 0 {
                writer.begin().unwrap();
                writer.put(b"a", &[100 - moved]).unwrap();
                writer.put(b"b", &[moved]).unwrap();
                writer.commit().unwrap();
            }
        };
        reader.get_many(&[b"a", b"b"], &mut transfer).unwrap();
        assert_eq!(found, [100 - (moved - 1), moved - 1]);
    }
}
