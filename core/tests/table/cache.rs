//! Goal: a cache has what was set and is not over, keeps its limits, and gives its room to what is used.
//!
//! Method: random changes beside a twin that forgets nothing, in memory and in a file; traces whose hits are counted beside
//! those of an exact LRU of the same bytes.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use bytewright::ErrorKind;
use bytewright::bytes::{ByteStream, StreamOptions};
use bytewright::table::cache::{Cache, CacheData, CacheEntry, CacheKind, CacheLimits};
use bytewright::table::file::{self, OpenOptions, SyncMode};
use bytewright::table::{Table, memory};

use crate::folder::Folder;
use crate::generate::{Random, seeds};

const MIB: u64 = 1 << 20;

fn cache(bytes: u64) -> Cache {
    Cache::new(CacheLimits { bytes, ..CacheLimits::default() }).unwrap()
}

fn open(path: &Path) -> Box<dyn Table> {
    let options = OpenOptions {
        create: true,
        sync: SyncMode::Never,
        values: Some(Cache::VALUES),
        ..OpenOptions::default()
    };
    Box::new(file::HashTable::open(path, options).unwrap())
}

/// A table in memory, and one in a file.
fn tables(folder: &Folder) -> [Box<dyn Table>; 2] {
    [Box::new(memory::HashTable::new()), open(&folder.path("x.bwc"))]
}

fn entry(bytes: &[u8], expires_at: Option<u64>) -> CacheEntry<'_> {
    CacheEntry { value: CacheData::new(CacheKind::Bytes, bytes), expires_at, tag: None }
}

fn get(cache: &Cache, table: &dyn Table, key: &[u8], now: u64) -> Option<Vec<u8>> {
    let mut found = None;
    let is_there =
        cache.get(table, key, now, &mut |entry| found = Some(entry.value.bytes.to_vec())).unwrap();
    assert_eq!(is_there, found.is_some());
    found
}

#[test]
fn an_entry_is_what_was_set_last_until_it_expires_and_may_only_be_missing_beyond_the_limit() {
    seeds(6, |random| {
        let folder = Folder::new("cache_model");
        for mut table in tables(&folder) {
            let cache = cache(MIB);
            let mut twin: BTreeMap<Vec<u8>, (Vec<u8>, Option<u64>)> = BTreeMap::new();
            let (mut now, mut missing) = (1_000, 0);
            for _ in 0..4_000 {
                now += random.below_u64(3);
                let key = vec![b'k', random.below(700) as u8, random.below(3) as u8];
                let counts = |twin: &BTreeMap<Vec<u8>, (Vec<u8>, Option<u64>)>| {
                    twin.get(&key)
                        .filter(|(_, expires_at)| expires_at.is_none_or(|at| now < at))
                        .map(|(value, _)| value.clone())
                };
                match random.below(10) {
                    0..=4 => {
                        let len = random.below(4000);
                        let value = random.bytes(len);
                        let expires_at = random.once_in(3).then(|| now + random.below_u64(2_000));
                        cache.set(&mut *table, &key, entry(&value, expires_at), now).unwrap();
                        twin.insert(key, (value, expires_at));
                    }
                    5 => {
                        let there = get(&cache, &*table, &key, now);
                        let mut taken = None;
                        let was_there = cache
                            .take(&mut *table, &key, now, &mut |entry| {
                                taken = Some(entry.value.bytes.to_vec());
                            })
                            .unwrap();
                        assert_eq!((was_there, &taken), (there.is_some(), &there));
                        assert_eq!(get(&cache, &*table, &key, now), None);
                        twin.remove(&key);
                    }
                    6 => {
                        let expires_at = Some(now + random.below_u64(500));
                        let there = get(&cache, &*table, &key, now).is_some();
                        let touched = cache.touch(&mut *table, &key, expires_at, now).unwrap();
                        assert_eq!(touched, there);
                        if let Some(found) = twin.get_mut(&key).filter(|_| there) {
                            found.1 = expires_at;
                        }
                    }
                    7 if random.once_in(100) => {
                        cache.expire(&mut *table, now).unwrap();
                    }
                    _ => {
                        let found = get(&cache, &*table, &key, now);
                        missing += usize::from(found.is_none() && counts(&twin).is_some());
                        assert!(found.is_none() || found == counts(&twin));
                    }
                }
                assert!(table.used_bytes().unwrap() <= MIB);
            }
            assert!(missing > 0, "the limit was reached");
        }
    });
}

#[test]
fn below_the_limit_nothing_is_evicted_however_often_it_is_set() {
    let folder = Folder::new("cache_overwritten");
    for mut table in tables(&folder) {
        let cache = cache(MIB);
        for number in 0..200_u32 {
            cache.set(&mut *table, &number.to_le_bytes(), entry(&[1; 900], None), 0).unwrap();
        }
        for number in 0..3_000_u32 {
            let key = (number % 40).to_le_bytes();
            cache.set(&mut *table, &key, entry(&[2; 900], None), 0).unwrap();
        }
        let there =
            (0..200_u32).filter(|number| get(&cache, &*table, &number.to_le_bytes(), 0).is_some());
        assert_eq!(there.count(), 200);
    }
}

#[test]
fn a_limit_of_entries_is_kept() {
    let folder = Folder::new("cache_entries");
    for mut table in tables(&folder) {
        let cache = Cache::new(CacheLimits { bytes: 8 * MIB, entries: 100 }).unwrap();
        for number in 0..5_000_u32 {
            cache.set(&mut *table, &number.to_le_bytes(), entry(b"value", None), 0).unwrap();
            assert!(table.len().unwrap() <= 100);
            assert!(get(&cache, &*table, &number.to_le_bytes(), 0).is_some());
        }
        assert!(table.len().unwrap() >= 98);
    }
}

#[test]
fn a_file_takes_no_more_of_its_disk_than_the_limit() {
    let folder = Folder::new("cache_disk");
    let path = folder.path("x.bwc");
    let (mut table, cache, mut random) = (open(&path), cache(2 * MIB), Random::new(5));
    let mut most = 0;
    for number in 0..20_000_u64 {
        let len_max = if random.once_in(50) { 60_000 } else { 700 };
        let len = random.below(len_max);
        let key = (number * number % 9_000).to_le_bytes();
        cache.set(&mut *table, &key, entry(&random.bytes(len), None), 0).unwrap();
        if number % 64 == 0 {
            get(&cache, &*table, &(number / 2).to_le_bytes(), 0);
            most = most.max(std::fs::metadata(&path).unwrap().blocks() * 512);
        }
    }
    let len = std::fs::metadata(&path).unwrap().len();
    // Else the file system gives no blocks back.
    assert!(most <= 2 * MIB || most > len / 2, "{most} bytes on disk");
    assert!(most > MIB);
}

#[test]
fn counters_keep_their_expiry_and_say_what_is_no_integer() {
    let folder = Folder::new("cache_counters");
    for mut table in tables(&folder) {
        let (cache, table) = (cache(MIB), &mut *table);
        assert_eq!(cache.increment(table, b"n", 1, None, 0).unwrap(), None);
        assert_eq!(cache.increment(table, b"n", 5, Some(10), 0).unwrap(), Some(15));
        assert!(cache.touch(table, b"n", Some(9), 0).unwrap());
        assert_eq!(cache.increment(table, b"n", -20, None, 8).unwrap(), Some(-5));
        assert_eq!(cache.increment(table, b"n", 1, Some(0), 9).unwrap(), Some(1));
        assert!(cache.add(table, b"t", entry(b"text", None), 0).unwrap());
        assert!(!cache.add(table, b"t", entry(b"more", None), 0).unwrap());
        let error = cache.increment(table, b"t", 1, None, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().contains("expected an integer"), "{error}");
        let long = vec![0; MIB as usize];
        let error = cache.set(table, b"l", entry(&long, None), 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }
    let error = Cache::new(CacheLimits { bytes: 1000, entries: 1 }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}

#[test]
fn entries_of_a_tag_go_together_and_those_that_expired_are_counted() {
    let folder = Folder::new("cache_tags");
    for mut table in tables(&folder) {
        let (cache, table) = (cache(MIB), &mut *table);
        for number in 0..90_u32 {
            let tag = [b"red", b"sea"][number as usize % 2];
            let tag = (number % 3 > 0).then(|| CacheData::new(CacheKind::Text, tag));
            let expires_at = (number % 10 == 0).then_some(50);
            let entry = CacheEntry { tag, expires_at, ..entry(b"x", None) };
            cache.set(table, &number.to_le_bytes(), entry, 0).unwrap();
        }
        assert_eq!(cache.expire(table, 49).unwrap(), 0);
        assert_eq!(cache.expire(table, 50).unwrap(), 9);
        let red = CacheData::new(CacheKind::Text, b"red");
        assert_eq!(cache.evict_tag(table, red).unwrap(), 24);
        assert_eq!(cache.evict_tag(table, red).unwrap(), 0);
        assert_eq!(table.len().unwrap(), 90 - 9 - 24);
        // In a transaction, a change that is rolled back evicts nothing.
        table.begin().unwrap();
        assert_eq!(cache.evict_tag(table, CacheData { bytes: b"sea", ..red }).unwrap(), 30);
        table.abort().unwrap();
        assert_eq!(table.len().unwrap(), 57);
    }
}

/// Number of hits of an exact LRU of so many bytes.
fn lru_hits(trace: &[u32], entry_len: u64, bytes: u64) -> usize {
    let (mut last, mut queue, mut hits) = (HashMap::new(), VecDeque::new(), 0);
    for (at, key) in trace.iter().enumerate() {
        hits += usize::from(last.insert(*key, at).is_some());
        queue.push_back((*key, at));
        while last.len() as u64 * entry_len > bytes {
            let Some((key, at)) = queue.pop_front() else { break };
            if last.get(&key) == Some(&at) {
                last.remove(&key);
            }
        }
    }
    hits
}

#[test]
fn what_is_used_stays_as_it_would_with_an_exact_lru_or_longer() {
    const LEN: usize = 1_000;
    let mut random = Random::new(11);
    // Few keys are asked for often, most of them seldom; then with a scan that comes again and again.
    let mut skewed = |count: f64| {
        let part = random.below(1 << 30) as f64 / f64::from(1 << 30);
        (count.powf(part) - 1.0) as u32
    };
    let plain: Vec<u32> = (0..60_000).map(|_| skewed(20_000.0)).collect();
    let mut scanned = plain.clone();
    for (at, key) in scanned.iter_mut().enumerate() {
        if at % 5_000 > 4_000 {
            *key = 1_000_000 + at as u32;
        }
    }
    let folder = Folder::new("cache_hits");
    for trace in [plain, scanned] {
        for (kind, mut table) in ["memory", "file"].into_iter().zip(tables(&folder)) {
            table.clear().unwrap();
            let cache = cache(2 * MIB);
            let mut hits = 0;
            for key in &trace {
                let key = key.to_le_bytes();
                match cache.contains(&*table, &key, 0).unwrap() {
                    true => hits += 1,
                    false => cache.set(&mut *table, &key, entry(&[3; LEN], None), 0).unwrap(),
                }
            }
            // The same room, after what a table of the limit has beside its entries.
            let lru = lru_hits(&trace, LEN as u64 + 4, 2 * MIB - (384 << 10));
            assert!(hits >= lru, "{kind}: {hits} hits, {lru} of an LRU");
        }
    }
}

/// Entries of all kinds, which expire at 5,000.
const OF_ALL_KINDS: [(CacheKind, &[u8]); 6] = [
    (CacheKind::Bytes, b"\xff\0"),
    (CacheKind::Text, b"text"),
    (CacheKind::Integer, b"12345678"),
    (CacheKind::Float, b"12345678"),
    (CacheKind::Nested, b"\x83\x01\x02\x03"),
    (CacheKind::Sealed, b"sealed"),
];
const TAG: CacheData<'static> = CacheData { kind: CacheKind::Text, bytes: b"tag" };

fn write_sample(cache: &Cache, path: &Path) {
    let mut table = open(path);
    for (kind, value) in OF_ALL_KINDS {
        let value = CacheData::new(kind, value);
        let entry = CacheEntry { value, expires_at: Some(5_000), tag: Some(TAG) };
        cache.set(table.as_mut(), &[kind.code()], entry, 1_000).unwrap();
    }
    cache.set(table.as_mut(), b"stays", entry(b"without a tag", None), 1_000).unwrap();
}

/// `BYTEWRIGHT_WRITE_SAMPLE=1` writes the file where it is missing, to be compressed by gzip.
#[test]
fn a_cache_of_the_first_release_is_read_and_added_to() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let sample = samples.join("cache_1.bwc.gz");
    let cache = cache(4 * MIB);
    if std::env::var_os("BYTEWRIGHT_WRITE_SAMPLE").is_some() && !sample.exists() {
        write_sample(&cache, &sample.with_extension(""));
    }
    let folder = Folder::new("cache-first-release");
    let mut stream = ByteStream::open(&sample, &StreamOptions::default()).unwrap();
    std::fs::write(folder.path("x.bwc"), stream.fill(4 << 20).unwrap()).unwrap();
    let mut table = open(&folder.path("x.bwc"));
    for (kind, value) in OF_ALL_KINDS {
        let key = [kind.code()];
        let mut found = false;
        let mut look = |entry: CacheEntry<'_>| found = entry.value == CacheData::new(kind, value);
        cache.get(table.as_ref(), &key, 4_999, &mut look).unwrap();
        assert!(found, "{kind:?}");
        assert_eq!(get(&cache, table.as_ref(), &key, 5_000), None);
    }
    cache.set(table.as_mut(), b"more", entry(b"2", None), 2_000).unwrap();
    assert_eq!(cache.evict_tag(table.as_mut(), TAG).unwrap(), OF_ALL_KINDS.len() as u64);
    for (key, value) in [(&b"stays"[..], &b"without a tag"[..]), (b"more", b"2")] {
        assert_eq!(get(&cache, table.as_ref(), key, 2_000).as_deref(), Some(value));
    }
}
