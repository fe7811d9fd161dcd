//! The methods of a table that Ruby calls less often, and those that take long.

use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

use bytewright::ErrorKind;
use bytewright::table::file::{FileTable, OpenOptions, SyncMode, TableKind};
use bytewright::table::{
    Backup, BackupFile, BackupOptions, KeyRange, Table, file, have_same_entries,
};
use magnus::typed_data::Obj;
use magnus::{
    Error, RArray, RClass, RHash, RString, Ruby, Symbol, Value, function, method, prelude::*,
};

use crate::border::{
    bytes_of, define_allocators, define_table_methods, encoding_index, encoding_object, lock,
    pack_strings, path_of, string_of, without_lock_to_the_end,
};
use crate::class;
use crate::cursor::CursorObject;
use crate::error::raised;
use crate::selection::key_range;
use crate::snapshot::{self, ScanObject, SnapshotObject};
use crate::table::{Content, MANY_ENTRIES, TableObject};
use crate::view::ViewObject;

/// Bytes of entries from which on they are put in without Ruby's lock.
const MANY_BYTES: usize = 1 << 20;

type Entry = (RString, RString);

impl TableObject {
    /// `table.use_encoding(encoding)`: the encoding of the Strings it gives.
    fn use_encoding(&self, encoding: Value) {
        self.encoding.set(encoding_index(Some(encoding)));
    }

    fn encoding_of(&self) -> Value {
        encoding_object(self.encoding.get())
    }

    /// `table.open_file(path, options)`: puts the table of a file in the place of the one in memory.
    fn open_file(ruby: &Ruby, this: &Self, path: RString, options: RHash) -> Result<(), Error> {
        let options = open_options(ruby, options)?;
        let (_, content) = open_waiting(ruby, &path_of(path)?, Some(this.kind), options)?;
        this.content.replace(content);
        this.is_in_file.set(true);
        this.commits_wait.set(options.sync == SyncMode::Commit);
        Ok(())
    }

    /// `Table.open_either(path, options)`: a table of the kind that the file holds.
    fn open_either(ruby: &Ruby, path: RString, options: RHash) -> Result<Value, Error> {
        let options = open_options(ruby, options)?;
        let (kind, content) = open_waiting(ruby, &path_of(path)?, None, options)?;
        let this = TableObject::new(kind, content);
        this.commits_wait.set(options.sync == SyncMode::Commit);
        let class: RClass = crate::error::module(ruby).const_get(match kind {
            TableKind::Hashed => "HashTable",
            TableKind::Ordered => "TreeTable",
        })?;
        Ok(ruby.obj_wrap_as(this, class).as_value())
    }

    /// Closes the table: what was committed lasts when this returns.
    fn close(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        if this.is_closed() {
            return Ok(());
        }
        this.change_unlocked(ruby, |content| {
            let mut closed = std::mem::replace(content, Content::Closed);
            closed.table_mut().and_then(|table| table.close())
        })
    }

    fn is_closed(&self) -> bool {
        self.content.try_borrow().is_ok_and(|content| matches!(*content, Content::Closed))
    }

    fn is_in_use_by_others(ruby: &Ruby, this: &Self) -> Result<bool, Error> {
        this.is_in_use(ruby)
    }

    fn is_in_file(&self) -> bool {
        self.is_in_file.get()
    }

    fn clear(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        let is_large = this.is_large(ruby)?;
        this.change_either_way(ruby, is_large, |table| table.clear())
    }

    /// `table.put_strings(keys, values)`: all of them, or none.
    fn put_strings(ruby: &Ruby, this: &Self, keys: RArray, values: RArray) -> Result<(), Error> {
        let packed = pack_strings(ruby, keys, values)?;
        let is_large = packed.bytes_len() > MANY_BYTES;
        this.change_either_way(ruby, is_large, |table| table.put_all(&mut packed.scan()))
    }

    /// `table.put_snapshot(snapshot)`: all of its entries, or none.
    fn put_snapshot(ruby: &Ruby, this: &Self, snapshot: &SnapshotObject) -> Result<(), Error> {
        let is_large = SnapshotObject::size(ruby, snapshot)? > MANY_ENTRIES;
        // Without Ruby's lock another thread may close the snapshot; the scan goes on.
        let mut scan = snapshot.read(ruby, |content| content.snapshot().scan())?;
        this.change_either_way(ruby, is_large, |table| table.put_all(scan.as_mut()))
    }

    fn create(ruby: &Ruby, this: &Self, key: RString, value: RString) -> Result<bool, Error> {
        let (key, value) = (bytes_of(key), bytes_of(value));
        this.change_either_way(ruby, false, |table| table.create(&key, &value))
    }

    fn append(ruby: &Ruby, this: &Self, key: RString, bytes: RString) -> Result<(), Error> {
        let (key, bytes) = (bytes_of(key), bytes_of(bytes));
        this.change_either_way(ruby, false, |table| table.append(&key, &bytes))
    }

    fn increment(ruby: &Ruby, this: &Self, key: RString, by: i64) -> Result<i64, Error> {
        let key = bytes_of(key);
        this.change_either_way(ruby, false, |table| table.increment(&key, by))
    }

    /// Takes the first entry out, and gives its key and value.
    fn take_first(ruby: &Ruby, this: &Self) -> Result<Option<Entry>, Error> {
        let taken = RefCell::new(None);
        this.change_either_way(ruby, false, |table| {
            table.shift(&mut |key, value| {
                taken.replace(Some((key.to_vec(), value.to_vec())));
            })
        })?;
        Ok(taken.into_inner().map(|entry| this.strings(entry)))
    }

    fn strings(&self, (key, value): (Vec<u8>, Vec<u8>)) -> Entry {
        (string_of(&key, self.encoding.get()), string_of(&value, self.encoding.get()))
    }

    /// `table.first_in(from, to, reverse)`: the first entry of a range of keys.
    fn first_in(
        ruby: &Ruby,
        this: &Self,
        from: Option<RString>,
        to: Option<RString>,
        reverse: bool,
    ) -> Result<Option<Entry>, Error> {
        let range = KeyRange { reverse, ..key_range(from, to, None) };
        let mut found = None;
        this.read(ruby, |content| {
            content.ordered()?.first_with(&range, &mut |key, value| {
                found = Some((key.to_vec(), value.to_vec()));
            })
        })?;
        Ok(found.map(|entry| this.strings(entry)))
    }

    /// The value of `key` where the table keeps it.
    fn view_of(ruby: &Ruby, this: &Self, key: RString) -> Result<Option<ViewObject>, Error> {
        let key = bytes_of(key);
        let view = this.read(ruby, |content| content.table()?.view(&key))?;
        Ok(view.map(|view| ViewObject::new(view, this.encoding.get())))
    }

    /// `table.scan(keywords)`: the entries as they are now that the keywords select, or all with nil.
    fn scan(ruby: &Ruby, this: &Self, keywords: Option<RHash>) -> Result<ScanObject, Error> {
        let snapshot = Self::snapshot(ruby, this)?;
        SnapshotObject::scan(ruby, &snapshot, keywords)
    }

    /// A hash of the entries, whatever their order.
    fn entries_hash(ruby: &Ruby, this: &Self) -> Result<i64, Error> {
        SnapshotObject::entries_hash(ruby, &Self::snapshot(ruby, this)?)
    }

    fn cursor(ruby: &Ruby, this: &Self) -> Result<CursorObject, Error> {
        let snapshot = this.read(ruby, |content| content.ordered()?.ordered_snapshot())?;
        Ok(CursorObject::new(snapshot, this.encoding.get()))
    }

    fn take_snapshot(ruby: &Ruby, this: &Self) -> Result<Value, Error> {
        let snapshot = Self::snapshot(ruby, this)?;
        let class: RClass = crate::error::module(ruby).const_get(match this.kind {
            TableKind::Hashed => "Snapshot",
            TableKind::Ordered => "TreeSnapshot",
        })?;
        Ok(ruby.obj_wrap_as(snapshot, class).as_value())
    }

    fn snapshot(ruby: &Ruby, this: &Self) -> Result<SnapshotObject, Error> {
        let content = this.read(ruby, |content| match this.kind {
            TableKind::Hashed => content.table()?.snapshot().map(snapshot::Content::Hashed),
            TableKind::Ordered => {
                content.ordered()?.ordered_snapshot().map(snapshot::Content::Ordered)
            }
        })?;
        Ok(SnapshotObject { content: RefCell::new(Some(content)), encoding: this.encoding.get() })
    }

    fn has_same(ruby: &Ruby, this: &Self, other: Obj<TableObject>) -> Result<bool, Error> {
        let (ours, theirs) = (Self::snapshot(ruby, this)?, Self::snapshot(ruby, &other)?);
        let (ours, theirs) = (ours.content.borrow(), theirs.content.borrow());
        let (Some(ours), Some(theirs)) = (ours.as_ref(), theirs.as_ref()) else { return Ok(false) };
        raised(ruby, have_same_entries(ours.snapshot(), theirs.snapshot()))
    }

    /// `table.write_backup(path, replace)`: writes the entries as they are now to another file, while
    /// others go on with the table.
    fn write_backup(ruby: &Ruby, this: &Self, path: RString, replace: bool) -> Result<(), Error> {
        let backup = this.read(ruby, |content| Backup::of(content.table()?, this.kind))?;
        let (path, options) = (path_of(path)?, BackupOptions { replace });
        let (mut taken, mut writing) = (Some(backup), None);
        let written = lock::step_by_step(ruby, &mut || {
            if let Some(backup) = taken.take() {
                writing = Some(backup.begin(&path, options)?);
                return Ok(true);
            }
            match writing.as_mut().map_or(Ok(false), BackupFile::step)? {
                true => Ok(true),
                false => writing.take().map_or(Ok(0), BackupFile::finish).map(|_| false),
            }
        })?;
        raised(ruby, written)
    }

    fn begin_transaction(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        let is_outermost = this.take_turn(ruby)?;
        let begun = this.change_either_way(ruby, false, |table| table.begin());
        if begun.is_err() && is_outermost {
            this.turn.give_back(ruby)?;
        }
        begun
    }

    /// How many transactions this fiber has open inside each other.
    fn transaction_depth(ruby: &Ruby, this: &Self) -> Result<usize, Error> {
        match this.turn.is_mine(ruby) {
            true => this.read(ruby, |content| Ok(content.table().map_or(0, |table| table.depth()))),
            false => Ok(0),
        }
    }

    /// `table.end_transaction(depth, keep)`: ends those that were begun inside of `depth` others, and
    /// keeps or takes back what they changed.
    fn end_transaction(ruby: &Ruby, this: &Self, depth: usize, keep: bool) -> Result<(), Error> {
        if !this.turn.is_mine(ruby) {
            return Ok(());
        }
        let ended = this.end_down_to(ruby, depth, keep);
        // What a commit that failed left open is taken back.
        let ended = ended.inspect_err(|_| {
            this.end_down_to(ruby, depth, false).ok();
        });
        if depth == 0 {
            this.turn.give_back(ruby)?;
        }
        ended
    }

    fn end_down_to(&self, ruby: &Ruby, depth: usize, keep: bool) -> Result<(), Error> {
        let end = |table: &mut dyn Table| {
            while table.depth() > depth {
                match keep {
                    true => table.commit()?,
                    false => table.abort()?,
                }
            }
            Ok(())
        };
        if self.is_closed() {
            return Ok(());
        }
        match keep && depth == 0 && self.commits_wait.get() {
            true => self.change_unlocked(ruby, |content| end(content.table_mut()?)),
            false => self.change_either_way(ruby, false, end),
        }
    }

    fn sync(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.change_either_way(ruby, this.is_in_file.get(), |table| table.sync())
    }

    fn compact(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        let takes_long = this.is_large(ruby)? || this.is_in_file.get();
        this.change_either_way(ruby, takes_long, |table| table.compact())
    }

    /// Whether there are so many entries that a walk over them takes long.
    fn is_large(&self, ruby: &Ruby) -> Result<bool, Error> {
        Ok(self.read(ruby, |content| content.table()?.len())? > MANY_ENTRIES)
    }

    fn stat(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let is_large = this.is_large(ruby)? || this.is_in_file.get();
        let stat = this.change_either_way(ruby, is_large, |table| table.stat())?;
        let hash = ruby.hash_new();
        for (name, number) in [
            ("records", stat.records),
            ("live_bytes", stat.live_bytes),
            ("dead_bytes", stat.dead_bytes),
            ("pinned_bytes", stat.pinned_bytes),
            ("index_bytes", stat.index_bytes),
            ("memory_bytes", stat.memory_bytes),
            ("file_bytes", stat.file_bytes),
        ] {
            hash.aset(ruby.to_symbol(name), number)?;
        }
        Ok(hash)
    }
}

/// How long to wait for a writer at one time, before Ruby is asked for signals.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// Opens the table at `path` without Ruby's lock, and waits so that Ruby can interrupt it.
fn open_waiting(
    ruby: &Ruby,
    path: &Path,
    kind: Option<TableKind>,
    options: OpenOptions,
) -> Result<(TableKind, Content), Error> {
    let begin = Instant::now();
    let opened = loop {
        let left = options.timeout.saturating_sub(begin.elapsed());
        let options = OpenOptions { timeout: left.min(WAIT_MAX), ..options };
        let opened = without_lock_to_the_end(ruby, &|| file::open(path, kind, options));
        ruby.thread_check_ints()?;
        match opened? {
            Some(Err(error)) if error.kind() == ErrorKind::Lock && !left.is_zero() => (),
            Some(opened) => break raised(ruby, opened)?,
            // An interrupt was pending, and there was nothing to raise.
            None => (),
        }
    };
    Ok(match opened {
        FileTable::Hashed(table) => (TableKind::Hashed, Content::HashFile(table)),
        FileTable::Ordered(table) => (TableKind::Ordered, Content::TreeFile(table)),
    })
}

/// The options that Ruby gives: create, read_only, verify (booleans), sync (a Symbol) and timeout
/// (seconds, a Float).
fn open_options(ruby: &Ruby, options: RHash) -> Result<OpenOptions, Error> {
    let sync = options.fetch::<_, Symbol>(ruby.to_symbol("sync"))?;
    let sync = match &*sync.name()? {
        "commit" => SyncMode::Commit,
        "interval" => SyncMode::Interval,
        "never" => SyncMode::Never,
        found => {
            let message =
                format!("expected sync to be :commit, :interval or :never, found :{found}");
            return Err(Error::new(ruby.exception_arg_error(), message));
        }
    };
    let flag = |name: &str| options.fetch::<_, bool>(ruby.to_symbol(name));
    let timeout = options.fetch::<_, f64>(ruby.to_symbol("timeout"))?;
    Ok(OpenOptions {
        create: flag("create")?,
        read_only: flag("read_only")?,
        verify: flag("verify")?,
        sync,
        timeout: Duration::try_from_secs_f64(timeout).unwrap_or(Duration::MAX),
    })
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let module = crate::error::module(ruby);
    let table = class::define::<TableObject>(ruby, "Table")?;
    table.define_singleton_method("open_either", function!(TableObject::open_either, 2))?;
    define_table_methods(table);
    table.define_method("encoding", method!(TableObject::encoding_of, 0))?;
    table.define_method("close", method!(TableObject::close, 0))?;
    table.define_method("closed?", method!(TableObject::is_closed, 0))?;
    table.define_method("stat", method!(TableObject::stat, 0))?;
    table.define_private_method("use_encoding", method!(TableObject::use_encoding, 1))?;
    table.define_private_method("open_file", method!(TableObject::open_file, 2))?;
    table.define_private_method("in_file?", method!(TableObject::is_in_file, 0))?;
    table.define_private_method("in_use?", method!(TableObject::is_in_use_by_others, 0))?;
    table.define_private_method("remove_all", method!(TableObject::clear, 0))?;
    table.define_private_method("scan", method!(TableObject::scan, 1))?;
    table.define_private_method("take_snapshot", method!(TableObject::take_snapshot, 0))?;
    table.define_private_method("write_all", method!(TableObject::sync, 0))?;
    table.define_private_method("put_strings", method!(TableObject::put_strings, 2))?;
    table.define_private_method("put_snapshot", method!(TableObject::put_snapshot, 1))?;
    table.define_private_method("put_absent", method!(TableObject::create, 2))?;
    table.define_private_method("put_behind", method!(TableObject::append, 2))?;
    table.define_private_method("add_to", method!(TableObject::increment, 2))?;
    table.define_private_method("take_first", method!(TableObject::take_first, 0))?;
    table.define_private_method("entries_hash", method!(TableObject::entries_hash, 0))?;
    table.define_private_method("first_in", method!(TableObject::first_in, 3))?;
    table.define_private_method("view_of", method!(TableObject::view_of, 1))?;
    table.define_private_method("same_as?", method!(TableObject::has_same, 1))?;
    table.define_private_method("begin_transaction", method!(TableObject::begin_transaction, 0))?;
    table.define_private_method("transaction_depth", method!(TableObject::transaction_depth, 0))?;
    table.define_private_method("end_transaction", method!(TableObject::end_transaction, 2))?;
    table.define_private_method("write_backup", method!(TableObject::write_backup, 2))?;
    table.define_private_method("give_back_space", method!(TableObject::compact, 0))?;

    let hash = module.define_class("HashTable", table)?;
    let tree = module.define_class("TreeTable", table)?;
    tree.define_method("cursor", method!(TableObject::cursor, 0))?;
    define_allocators(hash, tree);
    Ok(())
}
