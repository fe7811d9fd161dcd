//! `Bytewright::Snapshot`, a table as it was, and the scans over one.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use bytewright::ErrorKind;
use bytewright::table::{KeyRange, OrderedSnapshot, Scan, Snapshot};
use magnus::{Error, RString, Ruby, Value, method, prelude::*};

use crate::border::{bytes_of, define_scan_loops, encoding_object, lock, string_of};
use crate::class;
use crate::error::{closed, raised, to_ruby};

/// A snapshot of a table of either kind.
pub(crate) enum Content {
    Hashed(Box<dyn Snapshot>),
    Ordered(Box<dyn OrderedSnapshot>),
}

impl Content {
    pub(crate) fn snapshot(&self) -> &dyn Snapshot {
        match self {
            Content::Hashed(snapshot) => snapshot.as_ref(),
            Content::Ordered(snapshot) => snapshot.as_ref(),
        }
    }

    fn scan(&self, range: Option<&KeyRange>) -> bytewright::Result<Box<dyn Scan>> {
        match (self, range) {
            (Content::Ordered(snapshot), Some(range)) => snapshot.scan_range(range),
            (Content::Hashed(_), Some(_)) => Err(bytewright::Error::new(
                ErrorKind::Argument,
                "expected an ordered table, found a hashed one",
            )),
            (_, None) => self.snapshot().scan(),
        }
    }
}

/// A snapshot in a Ruby object.
#[magnus::wrap(class = "Bytewright::Snapshot", free_immediately, size)]
pub(crate) struct SnapshotObject {
    pub(crate) content: RefCell<Option<Content>>,
    pub(crate) encoding: c_int,
}

impl SnapshotObject {
    /// Asks the snapshot something, unless it is closed.
    pub(crate) fn read<R>(
        &self,
        ruby: &Ruby,
        work: impl FnOnce(&Content) -> bytewright::Result<R>,
    ) -> Result<R, Error> {
        match &*self.content.borrow() {
            Some(content) => raised(ruby, work(content)),
            None => Err(closed(ruby, "expected an open snapshot, found it closed")),
        }
    }

    fn get(ruby: &Ruby, this: &Self, key: RString) -> Result<Option<RString>, Error> {
        let (key, mut value) = (bytes_of(key), None);
        this.read(ruby, |content| {
            content.snapshot().get_with(&key, &mut |found| value = Some(found.to_vec()))
        })?;
        Ok(value.map(|value| string_of(&value, this.encoding)))
    }

    fn has_key(ruby: &Ruby, this: &Self, key: RString) -> Result<bool, Error> {
        let key = bytes_of(key);
        this.read(ruby, |content| content.snapshot().get_with(&key, &mut |_| ()))
    }

    pub(crate) fn size(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        this.read(ruby, |content| content.snapshot().len())
    }

    /// `snapshot.scan(from, to, prefix, reverse)`: a scan of all entries, or of those in a range of
    /// keys of an ordered table.
    pub(crate) fn scan(
        ruby: &Ruby,
        this: &Self,
        from: Option<RString>,
        to: Option<RString>,
        prefix: Option<RString>,
        reverse: bool,
    ) -> Result<ScanObject, Error> {
        let is_all = from.is_none() && to.is_none() && prefix.is_none() && !reverse;
        let range = (!is_all).then(|| key_range(from, to, prefix, reverse));
        let scan = this.read(ruby, |content| content.scan(range.as_ref()))?;
        Ok(ScanObject { scan: RefCell::new(Some(scan)), encoding: this.encoding })
    }

    /// `snapshot.first_in(from, to, prefix, reverse)`: the first entry of a range of keys.
    fn first_in(
        ruby: &Ruby,
        this: &Self,
        from: Option<RString>,
        to: Option<RString>,
        prefix: Option<RString>,
        reverse: bool,
    ) -> Result<Option<(RString, RString)>, Error> {
        let range = key_range(from, to, prefix, reverse);
        this.read(ruby, |content| {
            let mut scan = content.scan(Some(&range))?;
            let entry = scan.advance()?;
            Ok(entry.map(|(key, value)| {
                (string_of(key, this.encoding), string_of(value, this.encoding))
            }))
        })
    }

    fn encoding(&self) -> Value {
        encoding_object(self.encoding)
    }

    fn close(&self) {
        self.content.borrow_mut().take();
    }

    fn is_closed(&self) -> bool {
        self.content.borrow().is_none()
    }
}

/// The keys from `from` to `to`, both included, that begin with `prefix`.
pub(crate) fn key_range(
    from: Option<RString>,
    to: Option<RString>,
    prefix: Option<RString>,
    reverse: bool,
) -> KeyRange {
    let mut range = prefix.map_or(KeyRange::ALL, |prefix| KeyRange::prefix(&bytes_of(prefix)));
    if let Some(from) = from {
        range = range.starting_at(&bytes_of(from));
    }
    if let Some(to) = to {
        range = range.ending_with(&bytes_of(to));
    }
    KeyRange { reverse, ..range }
}

/// Entries one after another.
#[magnus::wrap(class = "Bytewright::Scan", free_immediately, size)]
pub(crate) struct ScanObject {
    pub(crate) scan: RefCell<Option<Box<dyn Scan>>>,
    pub(crate) encoding: c_int,
}

impl ScanObject {
    /// The next entry that has `value`. It is looked for without Ruby's lock.
    fn find_value(
        ruby: &Ruby,
        this: &Self,
        value: RString,
    ) -> Result<Option<(RString, RString)>, Error> {
        let value = bytes_of(value);
        let Some(scan) = this.scan.take() else { return Ok(None) };
        let (scan, is_called_off) = (RefCell::new(scan), AtomicBool::new(false));
        let mut tries = lock::Tries::default();
        let entry = loop {
            let find = || find_value(scan.borrow_mut().as_mut(), &value, &is_called_off);
            let wake = || is_called_off.store(true, Ordering::Relaxed);
            match tries.without_lock(ruby, &find, &wake)? {
                Some(Ok(Found::Entry(key))) => break Some(key),
                Some(Ok(Found::Nothing)) => break None,
                Some(Err(error)) => return Err(to_ruby(ruby, &error)),
                Some(Ok(Found::CalledOff)) | None => {
                    ruby.thread_check_ints()?;
                    is_called_off.store(false, Ordering::Relaxed);
                }
            }
        };
        Ok(entry.map(|key| (string_of(&key, this.encoding), string_of(&value, this.encoding))))
    }

    fn close(&self) {
        self.scan.borrow_mut().take();
    }
}

/// What came of looking for a value.
enum Found {
    /// The key that has it.
    Entry(Vec<u8>),
    Nothing,
    CalledOff,
}

fn find_value(
    scan: &mut dyn Scan,
    value: &[u8],
    is_called_off: &AtomicBool,
) -> bytewright::Result<Found> {
    while !is_called_off.load(Ordering::Relaxed) {
        match scan.advance()? {
            Some((key, found)) if found == value => return Ok(Found::Entry(key.to_vec())),
            Some(_) => (),
            None => return Ok(Found::Nothing),
        }
    }
    Ok(Found::CalledOff)
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let snapshot = class::define::<SnapshotObject>(ruby, "Snapshot")?;
    snapshot.define_method("[]", method!(SnapshotObject::get, 1))?;
    snapshot.define_method("key?", method!(SnapshotObject::has_key, 1))?;
    snapshot.define_method("size", method!(SnapshotObject::size, 0))?;
    snapshot.define_method("encoding", method!(SnapshotObject::encoding, 0))?;
    snapshot.define_method("close", method!(SnapshotObject::close, 0))?;
    snapshot.define_method("closed?", method!(SnapshotObject::is_closed, 0))?;
    snapshot.define_private_method("scan", method!(SnapshotObject::scan, 4))?;
    snapshot.define_private_method("first_in", method!(SnapshotObject::first_in, 4))?;
    crate::error::module(ruby).define_class("TreeSnapshot", snapshot)?;

    let scan = class::define::<ScanObject>(ruby, "Scan")?;
    define_scan_loops(scan);
    scan.define_method("find_value", method!(ScanObject::find_value, 1))?;
    scan.define_method("close", method!(ScanObject::close, 0))
}
