//! `Bytewright::Snapshot`, a table as it was, and the scans over one.

use std::cell::RefCell;
use std::ffi::c_int;
use std::hash::RandomState;
use std::sync::LazyLock;

use bytewright::table::{KeyRange, OrderedSnapshot, Scan, Selection, Snapshot, hash_of_entries};
use magnus::{Error, RHash, RString, Ruby, Value, method, prelude::*};

use crate::border::{bytes_of, define_scan_loops, encoding_object, lock, string_of};
use crate::class;
use crate::error::{closed, raised};
use crate::selection::{key_range, selection_of};

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

    fn scan(&self, selection: Option<&Selection>) -> bytewright::Result<Box<dyn Scan>> {
        match (self, selection) {
            (Content::Ordered(snapshot), Some(selection)) => selection.scan(snapshot.as_ref()),
            (Content::Hashed(_), Some(_)) => Err(Selection::needs_order()),
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

    /// `snapshot.scan(keywords)`: a scan of the entries that the keywords select, or of all with nil.
    pub(crate) fn scan(
        ruby: &Ruby,
        this: &Self,
        keywords: Option<RHash>,
    ) -> Result<ScanObject, Error> {
        let selection = keywords.map(|keywords| selection_of(ruby, keywords)).transpose()?;
        let scan = this.read(ruby, |content| content.scan(selection.as_ref()))?;
        Ok(ScanObject { scan: RefCell::new(Some(scan)), encoding: this.encoding })
    }

    /// `snapshot.first_in(from, to, reverse)`: the first entry of a range of keys.
    fn first_in(
        ruby: &Ruby,
        this: &Self,
        from: Option<RString>,
        to: Option<RString>,
        reverse: bool,
    ) -> Result<Option<(RString, RString)>, Error> {
        let range = KeyRange { reverse, ..key_range(from, to, None) };
        let selection = Selection { range, limit: None };
        this.read(ruby, |content| {
            let mut scan = content.scan(Some(&selection))?;
            let entry = scan.advance()?;
            Ok(entry.map(|(key, value)| {
                (string_of(key, this.encoding), string_of(value, this.encoding))
            }))
        })
    }

    /// A hash of the entries, whatever their order.
    pub(crate) fn entries_hash(ruby: &Ruby, this: &Self) -> Result<i64, Error> {
        let hash = this.read(ruby, |content| hash_of_entries(content.snapshot(), hasher()))?;
        // Small enough to need no object.
        Ok(hash.cast_signed() >> 2)
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

/// What all hashes of entries in this process begin with.
fn hasher() -> &'static RandomState {
    static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    &HASHER
}

/// Entries that are visited between two looks at whether Ruby wants to interrupt.
const STEP_LEN: usize = 64;

/// Entries one after another.
#[magnus::wrap(class = "Bytewright::Scan", free_immediately, size)]
pub(crate) struct ScanObject {
    pub(crate) scan: RefCell<Option<Box<dyn Scan>>>,
    pub(crate) encoding: c_int,
}

impl ScanObject {
    /// The next entry that has `value`.
    fn find_value(
        ruby: &Ruby,
        this: &Self,
        value: RString,
    ) -> Result<Option<(RString, RString)>, Error> {
        let (value, mut found) = (bytes_of(value), None);
        this.visit_rest(ruby, |key, candidate| {
            if candidate != value {
                return true;
            }
            found = Some(key.to_vec());
            false
        })?;
        Ok(found.map(|key| (string_of(&key, this.encoding), string_of(&value, this.encoding))))
    }

    /// How many entries are left.
    fn count(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        let mut count = 0;
        this.visit_rest(ruby, |_, _| {
            count += 1;
            true
        })?;
        Ok(count)
    }

    /// Shows `visit` the entries that are left, until it answers false. This runs without Ruby's lock.
    fn visit_rest(
        &self,
        ruby: &Ruby,
        mut visit: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Error> {
        let Some(mut scan) = self.scan.take() else { return Ok(()) };
        let mut step = || {
            for _ in 0..STEP_LEN {
                match scan.advance()? {
                    Some((key, value)) if visit(key, value) => (),
                    _ => return Ok(false),
                }
            }
            Ok(true)
        };
        raised(ruby, lock::step_by_step(ruby, &mut step)?)
    }

    fn close(&self) {
        self.scan.borrow_mut().take();
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let snapshot = class::define::<SnapshotObject>(ruby, "Snapshot")?;
    snapshot.define_method("[]", method!(SnapshotObject::get, 1))?;
    snapshot.define_method("key?", method!(SnapshotObject::has_key, 1))?;
    snapshot.define_method("size", method!(SnapshotObject::size, 0))?;
    snapshot.define_method("encoding", method!(SnapshotObject::encoding, 0))?;
    snapshot.define_method("close", method!(SnapshotObject::close, 0))?;
    snapshot.define_method("closed?", method!(SnapshotObject::is_closed, 0))?;
    snapshot.define_private_method("scan", method!(SnapshotObject::scan, 1))?;
    snapshot.define_private_method("first_in", method!(SnapshotObject::first_in, 3))?;
    snapshot.define_private_method("entries_hash", method!(SnapshotObject::entries_hash, 0))?;
    crate::error::module(ruby).define_class("TreeSnapshot", snapshot)?;

    let scan = class::define::<ScanObject>(ruby, "Scan")?;
    define_scan_loops(scan);
    scan.define_method("find_value", method!(ScanObject::find_value, 1))?;
    scan.define_method("count", method!(ScanObject::count, 0))?;
    scan.define_method("close", method!(ScanObject::close, 0))
}
