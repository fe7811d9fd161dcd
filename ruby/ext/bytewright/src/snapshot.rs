//! `Bytewright::Snapshot`: a table as it was.

use std::cell::RefCell;
use std::hash::RandomState;

use bytewright::forks::ProcessValue;
use bytewright::host::table::{AnySnapshot, EntryWalk};
use bytewright::table::{KeyRange, ValueType, hash_of_entries};
use magnus::{Error, RHash, RString, Ruby, Value, method, prelude::*};

use crate::border::{Conversion, bytes_of, encoding_object, lend};
use crate::class;
use crate::error::{closed, raised};
use crate::selection::{key_range, selection_of};
use crate::walk::WalkObject;

/// A snapshot in a Ruby object.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Snapshot", free_immediately, mark, size)]
pub(crate) struct SnapshotObject {
    content: RefCell<Option<AnySnapshot>>,
    values: ValueType,
    conversion: Conversion,
}

impl magnus::DataTypeFunctions for SnapshotObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.conversion.mark(marker);
    }
}

impl SnapshotObject {
    pub(crate) fn new(
        snapshot: AnySnapshot,
        values: ValueType,
        conversion: Conversion,
    ) -> SnapshotObject {
        SnapshotObject { content: RefCell::new(Some(snapshot)), values, conversion }
    }

    /// Asks the snapshot something, unless it is closed.
    pub(crate) fn read<R>(
        &self,
        ruby: &Ruby,
        work: impl FnOnce(&AnySnapshot) -> bytewright::Result<R>,
    ) -> Result<R, Error> {
        match &*self.content.borrow() {
            Some(content) => raised(ruby, work(content)),
            None => Err(closed(ruby, "expected an open snapshot, found it closed")),
        }
    }

    fn get(ruby: &Ruby, this: &Self, key: RString) -> Result<Option<Value>, Error> {
        let key = bytes_of(key);
        let value = this.read(ruby, |content| content.get(&key))?;
        value.map(|value| this.conversion.value(ruby, &value)).transpose()
    }

    fn has_key(ruby: &Ruby, this: &Self, key: RString) -> Result<bool, Error> {
        let key = bytes_of(key);
        this.read(ruby, |content| content.as_snapshot().get_with(&key, &mut |_| ()))
    }

    fn size(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        this.read(ruby, |content| content.as_snapshot().len())
    }

    /// `snapshot.scan(keywords)`: a scan of the entries that the keywords select, or of all with nil.
    fn scan(ruby: &Ruby, this: &Self, keywords: Option<RHash>) -> Result<Value, Error> {
        let selection = keywords.map(|keywords| selection_of(ruby, keywords)).transpose()?;
        let scan = this.read(ruby, |content| content.scan(selection.as_ref()))?;
        let walk = WalkObject::new(EntryWalk::new(scan), this.conversion);
        lend(ruby, ruby.obj_wrap(walk).as_value())
    }

    /// `snapshot.first_in(from, to, reverse)`: the first entry of a range of keys.
    fn first_in(
        ruby: &Ruby,
        this: &Self,
        from: Option<RString>,
        to: Option<RString>,
        reverse: bool,
    ) -> Result<Option<(RString, Value)>, Error> {
        let range = KeyRange { reverse, ..key_range(from, to, None) };
        let entry = this.read(ruby, |content| content.first_in(range))?;
        entry.map(|entry| this.conversion.entry(ruby, entry)).transpose()
    }

    /// A hash of the entries, whatever their order.
    fn entries_hash(ruby: &Ruby, this: &Self) -> Result<i64, Error> {
        this.read(ruby, entries_hash)
    }

    fn encoding(&self) -> Value {
        encoding_object(self.conversion.encoding)
    }

    /// Returns the kind of values that its table was told, and their dumper.
    fn values_used(ruby: &Ruby, this: &Self) -> (String, Option<Value>) {
        (this.values.name().to_owned(), this.conversion.dumper(ruby))
    }

    fn close(&self) {
        self.content.borrow_mut().take();
    }

    fn is_closed(&self) -> bool {
        self.content.borrow().is_none()
    }
}

/// A hash of the entries, whatever their order, that is small enough to need no object.
pub(crate) fn entries_hash(content: &AnySnapshot) -> bytewright::Result<i64> {
    // Beginning of all hashes of entries in this process.
    static HASHER: ProcessValue<RandomState> = ProcessValue::new();
    let hash = hash_of_entries(content.as_snapshot(), HASHER.get_or_init(RandomState::new))?;
    Ok(hash.cast_signed() >> 2)
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let snapshot = class::define::<SnapshotObject>(ruby, "Snapshot")?;
    snapshot.define_method("[]", method!(SnapshotObject::get, 1))?;
    snapshot.define_method("key?", method!(SnapshotObject::has_key, 1))?;
    snapshot.define_method("size", method!(SnapshotObject::size, 0))?;
    snapshot.define_method("encoding", method!(SnapshotObject::encoding, 0))?;
    snapshot.define_method("close", method!(SnapshotObject::close, 0))?;
    snapshot.define_method("closed?", method!(SnapshotObject::is_closed, 0))?;
    snapshot.define_private_method("values_used", method!(SnapshotObject::values_used, 0))?;
    snapshot.define_private_method("scan", method!(SnapshotObject::scan, 1))?;
    snapshot.define_private_method("first_in", method!(SnapshotObject::first_in, 3))?;
    snapshot.define_private_method("entries_hash", method!(SnapshotObject::entries_hash, 0))?;
    crate::error::module(ruby).define_class("TreeSnapshot", snapshot)?;
    Ok(())
}
