//! Caches: entries that expire, have tags, and are evicted when there are too many.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::path::Path;

use bytewright::host::table::is_damage;
use bytewright::options::NamedOptions;
use bytewright::table::Table;
use bytewright::table::cache::{Cache, CacheData, CacheEntry, CacheKind, CacheOptions};
use bytewright::table::file::{HashTable, OpenOptions, TableKind};
use bytewright::{Error, ErrorKind, Result, panics};

use crate::buffer::{
    Place, bw_buffer, bw_found, bw_slice, bytes, given, handle, held, held_mut, take_back,
};
use crate::error::{bw_error, bw_status, guard, guard_raw};
use crate::host::{CallerHost, Context, bw_interrupted};
use crate::in_use::InUse;
use crate::named;
use crate::sized_struct::{self, SizedPlace, sized_struct};
use crate::table::{bw_table, done, found};
use crate::text::{self, bw_names};

/// A cache. One thread at a time may use it.
pub struct bw_cache {
    /// Borrowed by calls that read, also while they run functions of the program.
    table: RefCell<bw_table>,
    rules: Cache,
    clears_damage: bool,
    clearings: Cell<u64>,
}

/// Kind of the value of a cache. Languages whose objects are of these kinds find them as they were.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_cache_kind {
    /// Bytes.
    Bytes = 0,
    /// Text in UTF-8.
    Text = 1,
    /// An integer of 64 bits with a sign, in 8 bytes, little-endian.
    Integer = 2,
    /// A number of IEEE 754 in 8 bytes, little-endian.
    Float = 3,
    /// Nested data of a language, in CBOR (RFC 8949).
    Nested = 4,
    /// Objects that a program has serialized, behind a check of its own.
    Sealed = 5,
}

/// Options of opening a cache. Initialize it with `BW_CACHE_OPTIONS_INIT`, and change what you need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_cache_options {
    /// Bytes of the struct, which `BW_CACHE_OPTIONS_INIT` sets.
    pub size: usize,
    /// Bytes that the file, or the memory, may take; 0 for a GiB.
    pub size_limit: u64,
    /// Entries that there may be; 0 for any number.
    pub count_limit: u64,
    /// Go on with an empty cache where the file is found to be damaged, for all who have it open; `bw_cache_clearings` tells. Else
    /// that is `BW_STATUS_CORRUPT`.
    pub clears_damage: bool,
    /// Options by name, as "name=value": those of caches in docs/options.md. They count over the fields above.
    pub named: bw_names,
    /// Asked by calls that wait for another process, as in `bw_open_options`; null for never.
    pub interrupted: bw_interrupted,
    /// Argument of `interrupted`.
    pub interrupted_context: *mut c_void,
}

/// Properties of an entry beside its value. Initialize it with `BW_CACHE_ENTRY_INIT`, and change what you need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_cache_entry {
    /// Bytes of the struct, which `BW_CACHE_ENTRY_INIT` sets.
    pub size: usize,
    /// Kind of the value: a `bw_cache_kind`.
    pub kind: u32,
    /// Milliseconds since 1970 from which on it is gone (`bw_cache_now`); 0 for never.
    pub expires_at: u64,
    /// Name by which entries are evicted together; one without bytes is none. `bw_cache_get` does not tell it.
    pub tag: bw_slice,
}

sized_struct!(
    bw_cache_options {
        size_limit,
        count_limit,
        clears_damage,
        named,
        interrupted,
        interrupted_context
    } + {}
);
sized_struct!(bw_cache_entry { kind, expires_at, tag } + {});

impl bw_cache_options {
    /// Makes the options of the core, and says whether damage is cleared, and what the functions of the program are.
    ///
    /// # Safety
    /// `options` is initialized and has texts.
    unsafe fn of_core(
        options: *const bw_cache_options,
    ) -> Result<(CacheOptions, (bool, CallerHost))> {
        let mut of_core = CacheOptions::default();
        // SAFETY: the caller's promise.
        let Some(options) = unsafe { sized_struct::copied(options) }? else {
            return Ok((of_core, (false, CallerHost::default())));
        };
        if options.size_limit > 0 {
            of_core.limits.bytes = options.size_limit;
        }
        if options.count_limit > 0 {
            of_core.limits.entries = options.count_limit;
        }
        // SAFETY: the caller's promise.
        unsafe { named::fill(&mut of_core, &[CacheOptions::OPTIONS], Some(&options.named)) }?;
        let host = CallerHost {
            input: None,
            interrupted: options.interrupted,
            interrupted_context: Context(options.interrupted_context),
        };
        Ok((of_core, (options.clears_damage, host)))
    }
}

impl bw_cache_entry {
    /// Properties of an entry that is found.
    fn of(entry: CacheEntry<'_>) -> bw_cache_entry {
        bw_cache_entry {
            size: size_of::<bw_cache_entry>(),
            kind: u32::from(entry.value.kind.code()),
            expires_at: entry.expires_at.unwrap_or(0),
            tag: bw_slice::of(&[]),
        }
    }

    /// The entry of `value` with these properties.
    ///
    /// # Safety
    /// `properties` is initialized, and the tag is bytes for as long as the answer is used.
    unsafe fn with_value(
        properties: *const bw_cache_entry,
        value: &[u8],
    ) -> Result<CacheEntry<'_>> {
        // SAFETY: the caller's promise.
        let Some(properties) = unsafe { sized_struct::copied(properties) }? else {
            let value = CacheData::new(CacheKind::Bytes, value);
            return Ok(CacheEntry { value, expires_at: None, tag: None });
        };
        // SAFETY: the caller's promise.
        let tag = unsafe { properties.tag.bytes() }?;
        let kind = properties.kind_of(value)?;
        Ok(CacheEntry {
            value: CacheData::new(kind, value),
            expires_at: (properties.expires_at > 0).then_some(properties.expires_at),
            tag: (!tag.is_empty()).then(|| CacheData::of_bytes(tag)),
        })
    }

    /// Returns the kind of `value`, which must be bytes as that kind has them.
    fn kind_of(&self, value: &[u8]) -> Result<CacheKind> {
        let refused = |expected: &str, found: String| {
            Err(Error::new(ErrorKind::Argument, format!("expected {expected}, found {found}")))
        };
        let Some(kind) = u8::try_from(self.kind).ok().and_then(CacheKind::of_code) else {
            return refused("a bw_cache_kind from 0 to 5", self.kind.to_string());
        };
        match kind {
            CacheKind::Text if std::str::from_utf8(value).is_err() => {
                refused("text in UTF-8 as the value", "other bytes".to_owned())
            }
            CacheKind::Integer | CacheKind::Float if value.len() != 8 => {
                refused("8 bytes as the value of a number", format!("{} bytes", value.len()))
            }
            _ => Ok(kind),
        }
    }
}

impl bw_cache {
    /// The cache in the file at `path`.
    fn in_file(
        path: &Path,
        rules: Cache,
        options: OpenOptions,
        (clears_damage, host): (bool, CallerHost),
    ) -> Result<bw_cache> {
        let clearings = Cell::new(0);
        let open = || bw_table::in_file(path, Some(TableKind::Hashed), options, host);
        let table = match open() {
            Err(error) if clears_damage && is_damage(error.kind()) => {
                clearings.set(u64::from(HashTable::start_anew_at(path, options)?));
                open()
            }
            opened => opened,
        };
        Ok(bw_cache { table: RefCell::new(table?), rules, clears_damage, clearings })
    }

    /// Does `work` in a turn to write.
    fn in_turn<R>(&self, mut work: impl FnMut(&Cache, &mut dyn Table) -> Result<R>) -> Result<R> {
        let mut done = || {
            let mut table = self.table.try_borrow_mut().map_err(|_| in_use())?;
            table.in_turn(|table| work(&self.rules, table.table_mut()))
        };
        match done() {
            Err(error) if is_damage(error.kind()) => {
                self.clear_damage(error)?;
                done()
            }
            done => done,
        }
    }

    /// Asks the table.
    fn read<R>(&self, mut work: impl FnMut(&Cache, &dyn Table) -> Result<R>) -> Result<R> {
        let mut done = || {
            let table = self.table.try_borrow().map_err(|_| in_use())?;
            work(&self.rules, table.table())
        };
        match done() {
            Err(error) if is_damage(error.kind()) => {
                self.clear_damage(error)?;
                done()
            }
            done => done,
        }
    }

    /// Goes on with an empty table, unless the file is whole by now; fails with the error where that is not wanted, or a call below
    /// this one reads the table.
    fn clear_damage(&self, error: Error) -> Result<()> {
        let Ok(mut table) = self.table.try_borrow_mut() else { return Err(error) };
        if !self.clears_damage {
            return Err(error);
        }
        let begun = table.table_mut().start_anew(false)?;
        self.clearings.set(self.clearings.get() + u64::from(begun));
        Ok(())
    }

    /// Does the work of a call that sets an entry.
    fn put(
        cache: Result<&mut bw_cache>,
        key: Result<&[u8]>,
        entry: Result<CacheEntry<'_>>,
        error: Option<&mut bw_error>,
        work: impl Fn(&Cache, &mut dyn Table, &[u8], CacheEntry<'_>) -> Result<bw_status>,
    ) -> bw_status {
        guard(error, || {
            let (key, entry) = (CacheData::of_bytes(key?).to_key(), entry?);
            cache?.in_turn(|rules, table| work(rules, table, &key, entry))
        })
    }

    /// Does the work of a call that tells how many entries are gone.
    fn count(
        cache: Result<&mut bw_cache>,
        count: Option<&mut MaybeUninit<u64>>,
        error: Option<&mut bw_error>,
        work: impl FnMut(&Cache, &mut dyn Table) -> Result<u64>,
    ) -> bw_status {
        guard(error, || {
            let gone = cache?.in_turn(work)?;
            if let Some(count) = count {
                count.write(gone);
            }
            Ok(bw_status::Ok)
        })
    }
}

fn in_use() -> Error {
    Error::new(ErrorKind::Lock, "expected a cache that no call is changing, found one in use")
}

/// Returns how often damage was cleared since the cache was opened, also by that: 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn bw_cache_clearings(cache: Option<&bw_cache>) -> u64 {
    cache.map_or(0, |cache| cache.clearings.get())
}

/// Returns the time as caches take it, in milliseconds since 1970.
#[unsafe(no_mangle)]
pub extern "C" fn bw_cache_now() -> u64 {
    Cache::now()
}

/// Opens the cache in the file at `path`, which is made where it is missing, or, for null, makes one in memory. `options` may
/// be null for `BW_CACHE_OPTIONS_INIT`. Close it with `bw_cache_close`.
///
/// # Safety
/// `path` is text or null, and `options` is initialized and has texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_open(
    path: *const c_char,
    options: *const bw_cache_options,
    out: Option<&mut MaybeUninit<*mut bw_cache>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    let is_in_file = !path.is_null();
    // SAFETY: the caller's promises about `path` and `options`.
    let (path, options) = unsafe { (text::path(path), bw_cache_options::of_core(options)) };
    let work = || {
        let out = given(out, "a place for the cache")?;
        let (options, (clears_damage, host)) = options?;
        let rules = Cache::new(options.limits)?;
        let mut cache = match is_in_file {
            true => bw_cache::in_file(path?, rules, options.opening, (clears_damage, host))?,
            false => {
                let table = RefCell::new(bw_table::in_memory(TableKind::Hashed));
                bw_cache { table, rules, clears_damage, clearings: Cell::new(0) }
            }
        };
        cache.table.get_mut().values = Cache::VALUES;
        out.write(handle(cache));
        Ok(bw_status::Ok)
    };
    panics::catch_all();
    guard(error, work)
}

/// Closes a cache and frees its handle, whatever it returns. Null is allowed.
///
/// # Safety
/// `cache` is a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_close(
    cache: *mut bw_cache,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `cache`.
    let cache = unsafe { take_back(cache, "a cache") };
    guard(error, || {
        if let Some(mut cache) = cache? {
            match cache.table.get_mut().close() {
                // Who opens the file next clears it.
                Err(error) if cache.clears_damage && is_damage(error.kind()) => {}
                closed => closed?,
            }
        }
        Ok(bw_status::Ok)
    })
}

/// Copies the value of a key into `value`, and its kind and expiry into `entry`, unless these are null. `BW_STATUS_NONE` where
/// there is none, or it has expired; both are unchanged then. A key is text where it is UTF-8, and else bytes. `entry` was
/// initialized with `BW_CACHE_ENTRY_INIT`.
///
/// # Safety
/// `key` is bytes, and `entry` is initialized and can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_get(
    cache: Option<&bw_cache>,
    key: *const u8,
    key_len: usize,
    value: Option<&mut bw_buffer>,
    entry: *mut bw_cache_entry,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `key` and `entry`.
    let (key, entry) = unsafe { (bytes(key, key_len), SizedPlace::at_or_none(entry)) };
    guard(error, || {
        let (cache, mut value, entry) = (held(cache, "a cache")?, value, entry?);
        let key = CacheData::of_bytes(key?).to_key();
        let mut properties = None;
        let is_found = cache.read(|rules, table| {
            rules.get(table, &key, Cache::now(), &mut |entry| {
                if let Some(value) = &mut value {
                    value.fill(entry.value.bytes);
                }
                properties = Some(bw_cache_entry::of(entry));
            })
        })?;
        if let (Some(place), Some(properties)) = (entry, properties) {
            place.write(properties);
        }
        Ok(found(is_found))
    })
}

/// Sets the value of a key, with the kind, expiry and tag of `entry`; null is `BW_CACHE_ENTRY_INIT`. What is over the limits is
/// evicted before. `BW_STATUS_LIMIT` for an entry that takes more than a quarter of the limit.
///
/// # Safety
/// `cache` is a handle, `key` and `value` are bytes, and `entry` is initialized and its tag bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_set(
    cache: *mut bw_cache,
    key: *const u8,
    key_len: usize,
    value: *const u8,
    value_len: usize,
    entry: *const bw_cache_entry,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises.
    let (cache, key, value) =
        unsafe { (held_mut(cache, "a cache"), bytes(key, key_len), bytes(value, value_len)) };
    // SAFETY: the caller's promise about `entry`.
    let entry = value.and_then(|value| unsafe { bw_cache_entry::with_value(entry, value) });
    bw_cache::put(cache, key, entry, error, |rules, table, key, entry| {
        rules.set(table, key, entry, Cache::now()).map(done)
    })
}

/// Sets the value of a key that has none, as `bw_cache_set` does; `BW_STATUS_NONE` where it has one, which stays.
///
/// # Safety
/// As of `bw_cache_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_add(
    cache: *mut bw_cache,
    key: *const u8,
    key_len: usize,
    value: *const u8,
    value_len: usize,
    entry: *const bw_cache_entry,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises.
    let (cache, key, value) =
        unsafe { (held_mut(cache, "a cache"), bytes(key, key_len), bytes(value, value_len)) };
    // SAFETY: the caller's promise about `entry`.
    let entry = value.and_then(|value| unsafe { bw_cache_entry::with_value(entry, value) });
    bw_cache::put(cache, key, entry, error, |rules, table, key, entry| {
        rules.add(table, key, entry, Cache::now()).map(found)
    })
}

/// Gives the entry of a key another expiry, in milliseconds since 1970; 0 for never. `BW_STATUS_NONE` where there is none.
///
/// # Safety
/// `cache` is a handle, and `key` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_touch(
    cache: *mut bw_cache,
    key: *const u8,
    key_len: usize,
    expires_at: u64,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `cache` and `key`.
    let (cache, key) = unsafe { (held_mut(cache, "a cache"), bytes(key, key_len)) };
    guard(error, || {
        let (key, now) = (CacheData::of_bytes(key?).to_key(), Cache::now());
        let expires_at = (expires_at > 0).then_some(expires_at);
        cache?.in_turn(|rules, table| rules.touch(table, &key, expires_at, now)).map(found)
    })
}

/// Adds `by` to the integer of a key, which begins with 0 and keeps its expiry and tag. The sum goes to `sum`, unless that is
/// null. `BW_STATUS_ARGUMENT` for a value of another kind, or a sum of more than 64 bits.
///
/// # Safety
/// `cache` is a handle, and `key` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_increment(
    cache: *mut bw_cache,
    key: *const u8,
    key_len: usize,
    by: i64,
    sum: Option<&mut MaybeUninit<i64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `cache` and `key`.
    let (cache, key) = unsafe { (held_mut(cache, "a cache"), bytes(key, key_len)) };
    guard(error, || {
        let (key, now) = (CacheData::of_bytes(key?).to_key(), Cache::now());
        let added =
            cache?.in_turn(|rules, table| rules.increment(table, &key, by, Some(0), now))?;
        if let (Some(sum), Some(added)) = (sum, added) {
            sum.write(added);
        }
        Ok(bw_status::Ok)
    })
}

/// Takes the entry of a key out, and copies its value into `value` and its kind and expiry into `entry`, unless these are null.
/// `BW_STATUS_NONE` where there is none; both are unchanged then. `entry` was initialized with `BW_CACHE_ENTRY_INIT`.
///
/// # Safety
/// `cache` is a handle, `key` is bytes, `value` is a buffer or null, and `entry` is initialized and can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_take(
    cache: *mut bw_cache,
    key: *const u8,
    key_len: usize,
    value: *mut bw_buffer,
    entry: *mut bw_cache_entry,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises.
    let (cache, key, value, entry) = unsafe {
        let places = (Place::at_or_none(value), SizedPlace::at_or_none(entry));
        (held_mut(cache, "a cache"), bytes(key, key_len), places.0, places.1)
    };
    guard(error, || {
        let (key, now, entry) = (CacheData::of_bytes(key?).to_key(), Cache::now(), entry?);
        let mut taken = |found: CacheEntry<'_>| {
            if let Some(value) = &value {
                value.fill(found.value.bytes);
            }
            if let Some(entry) = &entry {
                entry.write(bw_cache_entry::of(found));
            }
        };
        cache?.in_turn(|rules, table| rules.take(table, &key, now, &mut taken)).map(found)
    })
}

/// Takes all entries with a tag out. Their number goes to `count`, unless that is null.
///
/// # Safety
/// `cache` is a handle, and `tag` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_evict(
    cache: *mut bw_cache,
    tag: *const u8,
    tag_len: usize,
    count: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `cache` and `tag`.
    let (cache, tag) = unsafe { (held_mut(cache, "a cache"), bytes(tag, tag_len)) };
    bw_cache::count(cache, count, error, |rules, table| {
        rules.evict_tag(table, CacheData::of_bytes(tag.clone()?))
    })
}

/// Takes all entries out that have expired. Their number goes to `count`, unless that is null.
///
/// # Safety
/// `cache` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_expire(
    cache: *mut bw_cache,
    count: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `cache`.
    let cache = unsafe { held_mut(cache, "a cache") };
    bw_cache::count(cache, count, error, |rules, table| rules.expire(table, Cache::now()))
}

/// Takes all entries out. Their number goes to `count`, unless that is null.
///
/// # Safety
/// `cache` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_clear(
    cache: *mut bw_cache,
    count: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `cache`.
    let cache = unsafe { held_mut(cache, "a cache") };
    bw_cache::count(cache, count, error, Cache::clear)
}

/// Number of entries, with those that have expired and were not deleted yet, and the bytes that they take of the limit. Both
/// places may be null.
#[unsafe(no_mangle)]
pub extern "C" fn bw_cache_len(
    cache: Option<&bw_cache>,
    len: Option<&mut MaybeUninit<u64>>,
    used_bytes: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let cache = held(cache, "a cache")?;
        let (count, bytes) = cache.read(|_, table| Ok((table.len()?, table.used_bytes()?)))?;
        if let Some(len) = len {
            len.write(count);
        }
        if let Some(used_bytes) = used_bytes {
            used_bytes.write(bytes);
        }
        Ok(bw_status::Ok)
    })
}

/// Shows the keys of all entries that have not expired to `show`, with their places from 0 on, in the order in which they were set.
///
/// # Safety
/// `error` is null or an error, and `show` keeps the promises of `bw_found`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cache_keys(
    cache: Option<&bw_cache>,
    show: bw_found,
    context: *mut c_void,
    error: *mut bw_error,
) -> bw_status {
    let work = || {
        let cache = held(cache, "a cache")?;
        let show = given(show, "a function that takes the keys")?;
        let _in_use = InUse::mark_shared(cache);
        let mut scan = cache.read(|_, table| table.snapshot()?.scan())?;
        let (now, mut place) = (Cache::now(), 0);
        loop {
            match scan.advance() {
                Ok(Some((_, value))) if !CacheEntry::of_value(value)?.counts(now) => {}
                Ok(Some((key, _))) => {
                    let key = bw_slice::of(CacheData::of_key(key)?.bytes);
                    // SAFETY: the caller's promise about `show`.
                    unsafe { show(context, place, &key) };
                    place += 1;
                }
                Ok(None) => return Ok(bw_status::Ok),
                // Cleared, there are no more.
                Err(error) if is_damage(error.kind()) => {
                    return cache.clear_damage(error).map(done);
                }
                Err(error) => return Err(error),
            }
        }
    };
    // SAFETY: the caller's promise about `error`.
    unsafe { guard_raw(error, work) }
}
