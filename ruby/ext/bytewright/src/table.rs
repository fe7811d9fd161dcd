//! `Bytewright::Table` and its two kinds: a table of the core, which threads share, inside of a Ruby object. Here are all
//! methods but those that programs call most, which are in `border/tables.rs`.
//!
//! - Ruby's lock guards the table. There is no lock of ours that a call could leave locked when it leaves by `longjmp`.
//! - What takes long or may wait for a disk (`Table::waits_for_disk`, `Table::is_busy`) is done without Ruby's lock. The fiber
//!   that does it, or that has a transaction open, has the table's turn (`turn.rs`), for which all others wait. A caller that
//!   need not wait looks at one flag. Other fibers of the thread whose transaction is open read what it has changed, because
//!   external enumerators run in fibers; they change nothing.
//! - Nothing calls Ruby while the table is borrowed to be changed. Blocks are called between two entries of a scan, and a scan
//!   belongs to a snapshot.
//! - The object holds no Ruby objects but those of its turn and its conversion, so the garbage collector has little to mark. It
//!   is told of the table's memory now and then, not with each change.

use std::cell::{Cell, RefCell};
use std::path::Path;

use bytewright::host::table::{self, AnySnapshot, EntryWalk, OnDamage, TableHandle};
use bytewright::options::NamedOptions;
use bytewright::table::cache::Cache;
use bytewright::table::file::{FileTable, OpenOptions, TableKind};
use bytewright::table::{BackupOptions, DumpFormat, KeyRange, StatField, Table, ValueType};
use magnus::typed_data::Obj;
use magnus::{Error, RArray, RClass, RHash, RString, Ruby, Value, function, method, prelude::*};

use crate::border::{
    Conversion, SharedTable, adjust_memory_usage, bytes_of, define_allocators,
    define_table_methods, encoding_index, encoding_object, lend, pack_strings, path_of,
    value_objects,
};
use crate::changes::ChangesObject;
use crate::class;
use crate::cursor::CursorObject;
use crate::error::raised;
use crate::options::settings;
use crate::record::object_of;
use crate::selection::{key_range, selection_of};
use crate::snapshot::{SnapshotObject, entries_hash};
use crate::turn::{Sharing, Strand, TurnMutex};
use crate::view::ViewObject;
use crate::walk::WalkObject;

/// A table in a Ruby object.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Table", free_immediately, mark, size)]
pub(crate) struct TableObject {
    handle: TableHandle<Strand>,
    mutex: TurnMutex,
    conversion: Cell<Conversion>,
    /// Values on their way to Strings, for as long as nothing of Ruby's runs.
    scratch: RefCell<Vec<u8>>,
}

impl magnus::DataTypeFunctions for TableObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.mutex.mark(marker, self.handle.turn());
        self.conversion.get().mark(marker);
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.handle.memory_bytes()
    }

    fn free(self: Box<Self>) {
        adjust_memory_usage(-self.handle.reported_bytes());
    }
}

impl SharedTable for TableObject {
    type Caller = Strand;

    fn handle(&self) -> &TableHandle<Strand> {
        &self.handle
    }

    fn wait(&self, ruby: &Ruby) -> Result<(), Error> {
        self.run(ruby, TableHandle::wait)
    }

    fn wait_until_idle(&self, ruby: &Ruby) -> Result<(), Error> {
        self.run(ruby, TableHandle::wait_until_idle)
    }

    fn change_at_length(
        &self,
        ruby: &Ruby,
        work: &mut (dyn FnMut(&mut dyn Table) -> bytewright::Result<()> + Send),
    ) -> Result<(), Error> {
        self.run(ruby, |handle, host| {
            handle.change_at_length(host, |content| work(content.table_mut()?))
        })
    }

    fn report_memory(&self, ruby: &Ruby) {
        self.handle.report_memory(&Sharing::new(ruby, &self.mutex));
    }

    fn conversion(&self) -> Conversion {
        self.conversion.get()
    }

    fn scratch(&self) -> &RefCell<Vec<u8>> {
        &self.scratch
    }

    fn in_memory(kind: TableKind) -> TableObject {
        TableObject::new(TableHandle::in_memory(kind))
    }
}

type Objects = (RString, Value);

impl TableObject {
    fn new(handle: TableHandle<Strand>) -> TableObject {
        TableObject {
            handle,
            mutex: TurnMutex::default(),
            conversion: Cell::default(),
            scratch: RefCell::default(),
        }
    }

    /// Does an operation of the core's, and raises what goes wrong.
    pub(crate) fn run<'a, R>(
        &'a self,
        ruby: &'a Ruby,
        work: impl FnOnce(&TableHandle<Strand>, &Sharing<'a>) -> Result<R, Failure>,
    ) -> Result<R, Error> {
        let host = Sharing::new(ruby, &self.mutex);
        host.raised(work(&self.handle, &host))
    }

    /// `table.use_encoding(encoding)`: the encoding of the Strings it gives.
    fn use_encoding(&self, encoding: Value) {
        let encoding = encoding_index(Some(encoding));
        self.conversion.set(Conversion { encoding, ..self.conversion.get() });
    }

    fn encoding(&self) -> Value {
        encoding_object(self.conversion.get().encoding)
    }

    /// `table.use_values(name, dumper)`: what its values are, by a name and for most names an object with dump and load.
    fn use_values(
        ruby: &Ruby,
        this: &Self,
        name: String,
        dumper: Option<Value>,
    ) -> Result<(), Error> {
        let kind = raised(ruby, ValueType::by_name(&name))?;
        let values = value_objects(ruby, kind, dumper)?;
        this.handle.set_values(kind);
        this.conversion.set(Conversion { values, ..this.conversion.get() });
        Ok(())
    }

    /// Returns the arguments of `use_values`.
    fn values_used(ruby: &Ruby, this: &Self) -> (String, Option<Value>) {
        (this.handle.values().name().to_owned(), this.conversion.get().dumper(ruby))
    }

    /// `table.dump_value(object)`: a value as a String of its bytes.
    fn dump_value(ruby: &Ruby, this: &Self, object: Value) -> Result<RString, Error> {
        Ok(ruby.str_from_slice(&this.conversion.get().value_bytes(ruby, object)?))
    }

    /// `table.open_file(path, values, options)`: puts the table of a file in the place of the one in memory.
    fn open_file(
        ruby: &Ruby,
        this: &Self,
        path: RString,
        values: String,
        options: RHash,
    ) -> Result<(), Error> {
        let (path, options) = (path_of(path)?, open_options(ruby, &values, options)?);
        this.run(ruby, |handle, host| {
            let opened = table::open(host, &path, Some(handle.kind()), options)?;
            handle.move_to_file(opened, options);
            handle.note_path(&path);
            Ok(())
        })
    }

    /// `Table.open_either(path, values, options) { |table| }`: a table of the kind that the file holds. The block notes it, before
    /// an interrupt can come where this returns.
    fn open_either(
        ruby: &Ruby,
        path: RString,
        values: String,
        options: RHash,
    ) -> Result<Value, Error> {
        let (path, options) = (path_of(path)?, open_options(ruby, &values, options)?);
        let mutex = TurnMutex::default();
        let host = Sharing::new(ruby, &mutex);
        let opened = host.raised(table::open(&host, &path, None, options))?;
        let table = Self::wrapped(ruby, in_handle(opened, &path, options))?.as_value();
        ruby.yield_value::<_, Value>(table)?;
        Ok(table)
    }

    /// The table of a cache in memory.
    pub(crate) fn of_cache(ruby: &Ruby) -> Result<Obj<TableObject>, Error> {
        let handle = TableHandle::in_memory(TableKind::Hashed);
        handle.set_values(Cache::VALUES);
        Self::wrapped(ruby, handle)
    }

    /// The table of a cache in a file. A damaged one is an error, or an empty one takes its place and `told` is called.
    pub(crate) fn of_cache_file(
        ruby: &Ruby,
        path: &Path,
        options: OpenOptions,
        on_damage: OnDamage,
        told: impl FnOnce(&bytewright::Error) -> Result<(), Error>,
    ) -> Result<Obj<TableObject>, Error> {
        let mutex = TurnMutex::default();
        let host = Sharing::new(ruby, &mutex);
        let opened = host.raised(table::open_mending(&host, path, options, on_damage, told))?;
        let handle = in_handle(opened, path, options);
        handle.set_values(Cache::VALUES);
        Self::wrapped(ruby, handle)
    }

    /// An object of the class that goes with the kind.
    pub(crate) fn wrapped(
        ruby: &Ruby,
        handle: TableHandle<Strand>,
    ) -> Result<Obj<TableObject>, Error> {
        let class = kind_name(handle.kind(), ["HashTable", "TreeTable"]);
        let class: RClass = crate::error::module(ruby).const_get(class)?;
        Ok(ruby.obj_wrap_as(TableObject::new(handle), class))
    }

    fn close(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.run(ruby, TableHandle::close)
    }

    fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    fn is_in_use(ruby: &Ruby, this: &Self) -> Result<bool, Error> {
        this.run(ruby, TableHandle::is_in_use)
    }

    fn is_in_file(&self) -> bool {
        self.handle.is_in_file()
    }

    fn clear(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.run(ruby, TableHandle::clear)
    }

    /// `table.remove_range(keywords)`: deletes the entries that the keywords select, or all, and gives their number.
    fn remove_range(ruby: &Ruby, this: &Self, keywords: RHash) -> Result<u64, Error> {
        let selection = selection_of(ruby, keywords)?;
        this.run(ruby, |handle, host| handle.delete_range(host, &selection))
    }

    /// `table.put_strings(keys, values)`: all of them, or none.
    fn put_strings(ruby: &Ruby, this: &Self, keys: RArray, values: RArray) -> Result<(), Error> {
        let packed = pack_strings(ruby, keys, values)?;
        this.run(ruby, |handle, host| handle.put_packed(host, &packed))
    }

    /// `table.put_snapshot(snapshot)`: all of its entries, or none.
    fn put_snapshot(ruby: &Ruby, this: &Self, snapshot: &SnapshotObject) -> Result<(), Error> {
        let (count, scan) = snapshot.read(ruby, |content| {
            Ok((content.as_snapshot().len()?, content.as_snapshot().scan()?))
        })?;
        this.run(ruby, |handle, host| handle.put_scan(host, count, scan))
    }

    fn create(ruby: &Ruby, this: &Self, key: RString, value: Value) -> Result<bool, Error> {
        let value = this.conversion.get().value_bytes(ruby, value)?;
        let key = bytes_of(key);
        this.run(ruby, |handle, host| handle.create(host, &key, &value))
    }

    fn append(ruby: &Ruby, this: &Self, key: RString, bytes: RString) -> Result<(), Error> {
        let (key, bytes) = (bytes_of(key), bytes_of(bytes));
        this.run(ruby, |handle, host| handle.append(host, &key, &bytes))
    }

    fn increment(ruby: &Ruby, this: &Self, key: RString, by: i64) -> Result<i64, Error> {
        let key = bytes_of(key);
        this.run(ruby, |handle, host| handle.increment(host, &key, by))
    }

    /// Takes the first entry out, and gives its key and value.
    fn take_first(ruby: &Ruby, this: &Self) -> Result<Option<Objects>, Error> {
        let entry = this.run(ruby, TableHandle::shift)?;
        entry.map(|entry| this.conversion.get().entry(ruby, entry)).transpose()
    }

    /// `table.first_in(from, to, reverse)`: the first entry of a range of keys.
    fn first_in(
        ruby: &Ruby,
        this: &Self,
        from: Option<RString>,
        to: Option<RString>,
        reverse: bool,
    ) -> Result<Option<Objects>, Error> {
        let range = KeyRange { reverse, ..key_range(from, to, None) };
        let entry = this.run(ruby, |handle, host| handle.first_in(host, &range))?;
        entry.map(|entry| this.conversion.get().entry(ruby, entry)).transpose()
    }

    /// The value of `key` where the table keeps it.
    fn view_of(ruby: &Ruby, this: &Self, key: RString) -> Result<Option<Value>, Error> {
        let key = bytes_of(key);
        let view = this.run(ruby, |handle, host| handle.view(host, &key))?;
        let encoding = this.conversion.get().encoding;
        view.map(|view| lend(ruby, ruby.obj_wrap(ViewObject::new(view, encoding)).as_value()))
            .transpose()
    }

    /// `table.scan(keywords)`: the entries as they are now that the keywords select, or all with nil.
    fn scan(ruby: &Ruby, this: &Self, keywords: Option<RHash>) -> Result<Value, Error> {
        let selection = keywords.map(|keywords| selection_of(ruby, keywords)).transpose()?;
        let scan =
            this.run(ruby, |handle, host| Ok(handle.snapshot(host)?.scan(selection.as_ref())?))?;
        let walk = WalkObject::new(EntryWalk::new(scan), this.conversion.get());
        lend(ruby, ruby.obj_wrap(walk).as_value())
    }

    /// A hash of the entries, whatever their order.
    fn entries_hash(ruby: &Ruby, this: &Self) -> Result<i64, Error> {
        this.run(ruby, |handle, host| Ok(entries_hash(&handle.snapshot(host)?)?))
    }

    fn cursor(ruby: &Ruby, this: &Self) -> Result<CursorObject, Error> {
        let cursor = this.run(ruby, TableHandle::cursor)?;
        Ok(CursorObject::new(cursor, this.conversion.get()))
    }

    fn take_snapshot(ruby: &Ruby, this: &Self) -> Result<Value, Error> {
        let snapshot = this.run(ruby, TableHandle::snapshot)?;
        let class = match snapshot {
            AnySnapshot::Hashed(_) => "Snapshot",
            AnySnapshot::Ordered(_) => "TreeSnapshot",
        };
        let class: RClass = crate::error::module(ruby).const_get(class)?;
        let snapshot = SnapshotObject::new(snapshot, this.handle.values(), this.conversion.get());
        lend(ruby, ruby.obj_wrap_as(snapshot, class).as_value())
    }

    /// `table.take_changes(position)`: the changes that were committed behind a position, or all entries with nil.
    fn take_changes(
        ruby: &Ruby,
        this: &Self,
        position: Option<String>,
    ) -> Result<ChangesObject, Error> {
        let changes =
            this.run(ruby, |handle, host| handle.changes_since(host, position.as_deref()))?;
        Ok(ChangesObject::new(changes, this.conversion.get()))
    }

    /// `table.write_backup(path, replace)`: writes the entries as they are now to another file, while
    /// others go on with the table.
    fn write_backup(ruby: &Ruby, this: &Self, path: RString, replace: bool) -> Result<(), Error> {
        let (path, options) = (path_of(path)?, BackupOptions { replace });
        this.run(ruby, |handle, host| handle.backup(host, &path, options).map(drop))
    }

    /// `table.write_dump(path, format, force)`: writes the entries as they are now as text, and gives their number.
    fn write_dump(
        ruby: &Ruby,
        this: &Self,
        path: RString,
        format: String,
        force: bool,
    ) -> Result<u64, Error> {
        let (path, format) = (path_of(path)?, raised(ruby, DumpFormat::by_name(&format))?);
        this.run(ruby, |handle, host| handle.dump(host, &path, format, force))
    }

    /// `table.load_dump(path)`: puts the entries of a dump in, and gives their number.
    fn load_dump(ruby: &Ruby, this: &Self, path: RString) -> Result<u64, Error> {
        let path = path_of(path)?;
        this.run(ruby, |handle, host| handle.load(host, &path))
    }

    fn begin_transaction(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.run(ruby, |handle, host| handle.begin(host).map(drop))
    }

    /// Returns the number of transactions that this fiber has open inside each other.
    fn transaction_depth(ruby: &Ruby, this: &Self) -> Result<usize, Error> {
        this.run(ruby, TableHandle::depth)
    }

    /// `table.end_transaction(depth, keep)`: ends those that were begun inside of `depth` others, and
    /// keeps or, with false or nil, takes back what they changed.
    fn end_transaction(ruby: &Ruby, this: &Self, depth: usize, keep: Value) -> Result<(), Error> {
        this.run(ruby, |handle, host| handle.end(host, depth, keep.to_bool()))
    }

    fn sync(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.run(ruby, TableHandle::sync)
    }

    fn compact(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.run(ruby, TableHandle::compact)
    }

    fn stat(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let stat = this.run(ruby, TableHandle::stat)?;
        let hash = ruby.hash_new();
        for field in StatField::ALL {
            hash.aset(ruby.to_symbol(field.name()), object_of(ruby, stat.value(*field), None)?)?;
        }
        Ok(hash)
    }
}

/// Reason for which an operation of the core ended without a result.
type Failure = bytewright::host::Failure<Error>;

/// The name that goes with a kind: that of hashed tables, or of ordered ones.
fn kind_name(kind: TableKind, [hashed, ordered]: [&'static str; 2]) -> &'static str {
    match kind {
        TableKind::Hashed => hashed,
        TableKind::Ordered => ordered,
    }
}

/// The handle of a table in a file.
fn in_handle(opened: FileTable, path: &Path, options: OpenOptions) -> TableHandle<Strand> {
    let handle = TableHandle::in_file(opened, options);
    handle.note_path(path);
    handle
}

/// Makes the options that open a table: the kind of values is given by name, the rest by the options of the core.
fn open_options(ruby: &Ruby, values: &str, options: RHash) -> Result<OpenOptions, Error> {
    let values = Some(raised(ruby, ValueType::by_name(values))?);
    let mut found = OpenOptions { create: true, values, ..OpenOptions::default() };
    raised(ruby, settings(ruby, &[OpenOptions::OPTIONS], options)?.fill(&mut found))?;
    Ok(found)
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let module = crate::error::module(ruby);
    let table = class::define::<TableObject>(ruby, "Table")?;
    table.define_singleton_method("open_either", function!(TableObject::open_either, 3))?;
    define_table_methods::<TableObject>(table);
    table.define_method("encoding", method!(TableObject::encoding, 0))?;
    table.define_method("close", method!(TableObject::close, 0))?;
    table.define_method("closed?", method!(TableObject::is_closed, 0))?;
    table.define_method("stat", method!(TableObject::stat, 0))?;
    table.define_private_method("use_encoding", method!(TableObject::use_encoding, 1))?;
    table.define_private_method("open_file", method!(TableObject::open_file, 3))?;
    table.define_private_method("in_file?", method!(TableObject::is_in_file, 0))?;
    table.define_private_method("in_use?", method!(TableObject::is_in_use, 0))?;
    table.define_private_method("remove_all", method!(TableObject::clear, 0))?;
    table.define_private_method("remove_range", method!(TableObject::remove_range, 1))?;
    table.define_private_method("scan", method!(TableObject::scan, 1))?;
    table.define_private_method("take_snapshot", method!(TableObject::take_snapshot, 0))?;
    table.define_private_method("write_all", method!(TableObject::sync, 0))?;
    table.define_private_method("put_strings", method!(TableObject::put_strings, 2))?;
    table.define_private_method("put_snapshot", method!(TableObject::put_snapshot, 1))?;
    table.define_private_method("put_absent", method!(TableObject::create, 2))?;
    table.define_private_method("append_bytes", method!(TableObject::append, 2))?;
    table.define_private_method("add_to", method!(TableObject::increment, 2))?;
    table.define_private_method("take_first", method!(TableObject::take_first, 0))?;
    table.define_private_method("entries_hash", method!(TableObject::entries_hash, 0))?;
    table.define_private_method("first_in", method!(TableObject::first_in, 3))?;
    table.define_private_method("view_of", method!(TableObject::view_of, 1))?;
    table.define_private_method("use_values", method!(TableObject::use_values, 2))?;
    table.define_private_method("values_used", method!(TableObject::values_used, 0))?;
    table.define_private_method("dump_value", method!(TableObject::dump_value, 1))?;
    table.define_private_method("begin_transaction", method!(TableObject::begin_transaction, 0))?;
    table.define_private_method("transaction_depth", method!(TableObject::transaction_depth, 0))?;
    table.define_private_method("end_transaction", method!(TableObject::end_transaction, 2))?;
    table.define_private_method("write_backup", method!(TableObject::write_backup, 2))?;
    table.define_private_method("write_dump", method!(TableObject::write_dump, 3))?;
    table.define_private_method("take_changes", method!(TableObject::take_changes, 1))?;
    table.define_private_method("load_dump", method!(TableObject::load_dump, 1))?;
    table.define_private_method("compact_storage", method!(TableObject::compact, 0))?;

    let hash = module.define_class("HashTable", table)?;
    let tree = module.define_class("TreeTable", table)?;
    tree.define_method("cursor", method!(TableObject::cursor, 0))?;
    define_allocators::<TableObject>(hash, tree);
    Ok(())
}
