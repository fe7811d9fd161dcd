//! The file of a `Bytewright::PStore`, and its roots in the transaction that is open: what
//! `ruby/lib/bytewright/pstore/` makes a store of.
//!
//! The store is borrowed while something is asked of it or done, never while Ruby code runs. A thread
//! that comes meanwhile is one that uses a transaction which is beginning or ending.

use std::cell::{Cell, RefCell, RefMut};

use bytewright::marshal::{self, Edit, Lookup, NotIndexable, Reason, RootStream, Scalar};
use bytewright::pstore::{Access, Begun, Content, Durability, Options, Store, StoreFormat};
use magnus::r_hash::ForEach;
use magnus::rb_sys::AsRawValue;
use magnus::{
    Error, ExceptionClass, RArray, RHash, RString, Ruby, Symbol, Value, function, method,
    prelude::*,
};

use crate::border::{
    adjust_memory_usage, bytes_of, encoding_index, is_immediate, is_string, key_of, lock,
    object_of, path_of, string_of, with_scalar, without_lock_until_signal,
};
use crate::class;
use crate::error::{module, raised, to_ruby};

/// Bytes of changes, or of a file, from which on writing is done without Ruby's lock.
const MANY_BYTES: usize = 1 << 20;

/// Bytes of memory that the garbage collector is not told of.
const MEMORY_UNTOLD: usize = 1 << 20;

#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::PStoreFile", free_immediately, size)]
pub(crate) struct PStoreFile {
    store: RefCell<Store>,
    /// Bytes of memory that the garbage collector was told of.
    told: Cell<usize>,
}

impl magnus::DataTypeFunctions for PStoreFile {
    fn size(&self) -> usize {
        size_of::<Self>() + self.store.try_borrow().map_or(0, |store| memory(&store))
    }
}

impl Drop for PStoreFile {
    fn drop(&mut self) {
        adjust_memory_usage(-(self.told.get() as isize));
    }
}

fn memory(store: &Store) -> usize {
    match store.content() {
        Content::Empty => 0,
        Content::Roots(roots) => roots.bytes().len() + roots.index_memory(),
        Content::Whole { bytes, .. } => bytes.len(),
    }
}

fn durability(is_durable: bool) -> Durability {
    if is_durable { Durability::Power } else { Durability::Process }
}

impl PStoreFile {
    /// `PStoreFile.new(verify)`
    fn new(verify: bool) -> PStoreFile {
        let options = Options { verify, ..Options::default() };
        PStoreFile { store: RefCell::new(Store::new(options)), told: Cell::new(0) }
    }

    /// `PStoreFile.format_of(path)`: how the file keeps its roots, :marshal or :roots.
    fn format_of(ruby: &Ruby, path: RString) -> Result<Symbol, Error> {
        let name = match raised(ruby, StoreFormat::of(&path_of(path)?))? {
            StoreFormat::Stream => "marshal",
            StoreFormat::Separate => "roots",
        };
        Ok(ruby.to_symbol(name))
    }

    /// `file.begin(path, to_write, as_whole)`: waits for the file's lock. The answer is how many roots the
    /// file holds; false if they are not known, and they are not looked for if it is wanted as a whole;
    /// nil if it holds nothing, or is missing.
    fn begin(
        ruby: &Ruby,
        this: &Self,
        path: RString,
        to_write: bool,
        as_whole: bool,
    ) -> Result<Value, Error> {
        let path = path_of(path)?;
        let access = if to_write { Access::Write } else { Access::Read };
        let mut store = this.borrow(ruby)?;
        loop {
            match raised(ruby, store.try_begin(&path, access))? {
                Begun::Ready | Begun::Missing => break,
                Begun::Stale => {
                    unlocked(ruby, &mut store, |store| match as_whole {
                        true => store.load_whole(),
                        false => store.load(),
                    })?;
                    this.tell_memory(memory(&store));
                    break;
                }
                Begun::Busy => wait(ruby, &mut store)?,
            }
        }
        Ok(match store.content() {
            Content::Empty => ruby.qnil().as_value(),
            Content::Roots(roots) => ruby.integer_from_u64(roots.root_count() as u64).as_value(),
            Content::Whole { .. } => ruby.qfalse().as_value(),
        })
    }

    /// `file.end`: ends the transaction, if one is open.
    fn end(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.borrow(ruby)?.end();
        Ok(())
    }

    /// `file.bytes`: all that the file holds.
    fn bytes(ruby: &Ruby, this: &Self) -> Result<RString, Error> {
        let store = this.borrow(ruby)?;
        let bytes = match store.content() {
            Content::Empty => &[],
            Content::Roots(roots) => roots.bytes(),
            Content::Whole { bytes, .. } => bytes,
        };
        Ok(ruby.str_from_slice(bytes))
    }

    /// `file.find(key)`: the number of the root; false if there is none, nil if that is not known from
    /// looking at the key.
    fn find(ruby: &Ruby, this: &Self, key: Value) -> Result<Value, Error> {
        this.with_roots(ruby, |roots| Ok(found_object(ruby, find_text(roots, key))))
    }

    /// `file.find_dumped(stream)`: the same by what dumping the key writes.
    fn find_dumped(ruby: &Ruby, this: &Self, key: RString) -> Result<Value, Error> {
        let key = bytes_of(key);
        this.with_roots(ruby, |roots| Ok(found_object(ruby, roots.find(&key))))
    }

    /// `file.get(key, values)`: the value of a key that is a text. It is among `values`, objects by the
    /// numbers of roots, or else a scalar that is put there. The file itself if it is neither.
    fn get(
        ruby: &Ruby,
        this: magnus::typed_data::Obj<Self>,
        key: Value,
        values: RHash,
    ) -> Result<Value, Error> {
        this.with_roots(ruby, |roots| {
            let Lookup::Found(root) = find_text(roots, key) else { return Ok(this.as_value()) };
            if let Some(value) = values.get(root) {
                return Ok(value);
            }
            let made = roots.scalar(root).and_then(|scalar| object_of(ruby, scalar));
            let Some(value) = made else { return Ok(this.as_value()) };
            values.aset(root, value)?;
            Ok(value)
        })
    }

    /// `file.scalar(root)`: the value of the root; the file itself if it is not one that is made
    /// without loading.
    fn scalar(
        ruby: &Ruby,
        this: magnus::typed_data::Obj<Self>,
        root: usize,
    ) -> Result<Value, Error> {
        this.with_roots(ruby, |roots| {
            let made = roots.scalar(root).and_then(|scalar| object_of(ruby, scalar));
            Ok(made.unwrap_or(this.as_value()))
        })
    }

    /// `file.key(root)`: the key of the root; the file itself if it is not one that is made without
    /// loading.
    fn key(ruby: &Ruby, this: magnus::typed_data::Obj<Self>, root: usize) -> Result<Value, Error> {
        this.with_roots(ruby, |roots| {
            let made = roots.scalar_key(root).and_then(|scalar| key_of(ruby, scalar));
            Ok(made.unwrap_or(this.as_value()))
        })
    }

    /// `file.keys`: the keys of all roots; nil if there is one that is not made without loading.
    fn keys(ruby: &Ruby, this: &Self) -> Result<Option<RArray>, Error> {
        this.with_roots(ruby, |roots| {
            let keys = ruby.ary_new_capa(roots.root_count());
            for root in 0..roots.root_count() {
                let key = roots.scalar_key(root).and_then(|scalar| key_of(ruby, scalar));
                let Some(key) = key else { return Ok(None) };
                keys.push(key)?;
            }
            Ok(Some(keys))
        })
    }

    /// `file.lift_keys(root, count)`: the keys of so many roots as the stream of an Array.
    fn lift_keys(ruby: &Ruby, this: &Self, root: usize, count: usize) -> Result<RString, Error> {
        this.with_roots(ruby, |roots| stream(ruby, roots.lift_keys(root..root + count)))
    }

    /// `file.bytesize`: how much the file holds.
    fn bytesize(ruby: &Ruby, this: &Self) -> Result<usize, Error> {
        this.with_roots(ruby, |roots| Ok(roots.bytes().len()))
    }

    /// `file.default?`: whether there is a default value.
    fn has_default(ruby: &Ruby, this: &Self) -> Result<bool, Error> {
        this.with_roots(ruby, |roots| Ok(roots.has_default()))
    }

    /// `file.shares?(root)`: whether other roots share objects with this one.
    fn shares(ruby: &Ruby, this: &Self, root: usize) -> Result<bool, Error> {
        this.with_roots(ruby, |roots| Ok(roots.shares(root)))
    }

    /// `file.group(root)`: the roots that share objects with this one, itself among them; nil if it
    /// shares none.
    fn group(ruby: &Ruby, this: &Self, root: usize) -> Result<Option<Vec<usize>>, Error> {
        this.with_roots(ruby, |roots| Ok(Some(roots.group(root)).filter(|group| group.len() > 1)))
    }

    /// `file.lift(root)`: the value of a root as a stream of its own.
    fn lift(ruby: &Ruby, this: &Self, root: usize) -> Result<RString, Error> {
        this.with_roots(ruby, |roots| stream(ruby, roots.lift(root)))
    }

    /// `file.lift_all(roots)`: the values of roots as the stream of an Array.
    fn lift_all(ruby: &Ruby, this: &Self, members: Vec<usize>) -> Result<RString, Error> {
        this.with_roots(ruby, |roots| stream(ruby, roots.lift_all(&members)))
    }

    /// `file.changed(values, added)`: which roots of those in `values`, objects by the numbers of roots,
    /// have to be dumped, in order, if `added` are new roots.
    ///
    /// A value that is still the same scalar is not. But an object that is dumped takes with it all that
    /// it may hold: a String that is the value of two roots is written once, and links lead to it.
    fn changed(ruby: &Ruby, this: &Self, values: RHash, added: RHash) -> Result<Vec<usize>, Error> {
        this.with_roots(ruby, |roots| {
            let mut touched = Touched::default();
            values.foreach(|root: usize, value: Value| {
                touched.look(roots, root, value);
                Ok(ForEach::Continue)
            })?;
            added.foreach(|_: Value, value: Value| {
                touched.look_at_new(value);
                Ok(ForEach::Continue)
            })?;
            Ok(touched.into_changed())
        })
    }

    /// `file.change(stream, replaced, deleted, is_durable)`: changes roots. `stream` has their new
    /// values by their keys: first those of the roots `replaced`, then of new ones. False if that cannot
    /// be done root by root, and nothing was.
    fn change(
        ruby: &Ruby,
        this: &Self,
        stream: RString,
        replaced: Vec<usize>,
        deleted: Vec<usize>,
        is_durable: bool,
    ) -> Result<bool, Error> {
        this.change_by(ruby, bytes_of(stream), &replaced, &deleted, is_durable)
    }

    /// `file.change_scalar(root, value, is_durable)`: the same for one root with another scalar, which is
    /// an object of its own. False, too, if the value is none.
    fn change_scalar(
        ruby: &Ruby,
        this: &Self,
        root: usize,
        value: Value,
        is_durable: bool,
    ) -> Result<bool, Error> {
        // A String that is frozen may be the key itself.
        if is_string(value) && value.is_frozen() {
            return Ok(false);
        }
        let mut store = this.borrow(ruby)?;
        let durability = durability(is_durable);
        let outcome = if is_durable || memory(&store) >= MANY_BYTES {
            // Bytes of Ruby's are not to be used without its lock.
            let Some(value) = with_scalar(value, |value| value.map(OwnedScalar::new)) else {
                return Ok(false);
            };
            unlocked(ruby, &mut store, |store| store.assign(root, value.get(), durability))
        } else {
            let changed = with_scalar(value, |value| match value {
                Some(value) => store.assign(root, value, durability),
                None => Ok(Err(NotIndexable { reason: Reason::BadEdit, offset: 0 })),
            });
            raised(ruby, changed)
        };
        this.tell_memory(memory(&store));
        Ok(outcome?.is_ok())
    }

    fn change_by(
        &self,
        ruby: &Ruby,
        stream: Vec<u8>,
        replaced: &[usize],
        deleted: &[usize],
        is_durable: bool,
    ) -> Result<bool, Error> {
        let mut store = self.borrow(ruby)?;
        let is_much = stream.len() + memory(&store) >= MANY_BYTES;
        let stream = Cell::new(stream);
        let outcome = locked_or_not(ruby, &mut store, is_durable || is_much, |store| {
            let Ok(changes) = RootStream::scan(stream.take(), marshal::Hooks::Known) else {
                return Ok(false);
            };
            let edits = edits(replaced, deleted, changes.root_count());
            Ok(store.change(&changes, &edits, durability(is_durable))?.is_ok())
        });
        self.tell_memory(memory(&store));
        outcome
    }

    /// `file.replace(stream, is_durable)`: makes the file hold the stream.
    fn replace(ruby: &Ruby, this: &Self, stream: RString, is_durable: bool) -> Result<bool, Error> {
        let stream = bytes_of(stream);
        let mut store = this.borrow(ruby)?;
        let is_much = stream.len() >= MANY_BYTES;
        let stream = Cell::new(stream);
        let outcome = locked_or_not(ruby, &mut store, is_durable || is_much, |store| {
            store.replace(stream.take(), durability(is_durable))
        });
        this.tell_memory(memory(&store));
        outcome
    }

    /// `PStoreFile.class_names(stream)`: the names of all classes in a stream; nil if it is damaged.
    fn class_names(ruby: &Ruby, stream: RString) -> Result<Option<RArray>, Error> {
        let stream = bytes_of(stream);
        let Ok(found) = marshal::class_names(&stream) else { return Ok(None) };
        let names = ruby.ary_new_capa(found.len());
        for name in found {
            names.push(string_of(name, encoding_index(None)))?;
        }
        Ok(Some(names))
    }

    fn borrow(&self, ruby: &Ruby) -> Result<RefMut<'_, Store>, Error> {
        self.store.try_borrow_mut().map_err(|_| not_in_transaction(ruby))
    }

    fn with_roots<R>(
        &self,
        ruby: &Ruby,
        look: impl FnOnce(&RootStream) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let store = self.store.try_borrow().map_err(|_| not_in_transaction(ruby))?;
        match store.content() {
            Content::Roots(roots) => look(roots),
            _ => Err(not_in_transaction(ruby)),
        }
    }

    /// Tells the garbage collector of the memory that is used, where it is much more or less than before.
    fn tell_memory(&self, used: usize) {
        let told = self.told.get();
        if used.abs_diff(told) > MEMORY_UNTOLD {
            adjust_memory_usage(used as isize - told as isize);
            self.told.set(used);
        }
    }
}

/// A scalar with the bytes of its text.
struct OwnedScalar {
    scalar: Scalar<'static>,
    text: Vec<u8>,
}

impl OwnedScalar {
    fn new(scalar: Scalar<'_>) -> OwnedScalar {
        let (scalar, text) = match scalar {
            Scalar::String(text, encoding) => (Scalar::String(&[], encoding), text),
            Scalar::Symbol(text, encoding) => (Scalar::Symbol(&[], encoding), text),
            Scalar::Nil => (Scalar::Nil, &[][..]),
            Scalar::Bool(value) => (Scalar::Bool(value), &[][..]),
            Scalar::Integer(number) => (Scalar::Integer(number), &[][..]),
            Scalar::Float(number) => (Scalar::Float(number), &[][..]),
        };
        OwnedScalar { scalar, text: text.to_vec() }
    }

    fn get(&self) -> Scalar<'_> {
        match self.scalar {
            Scalar::String(_, encoding) => Scalar::String(&self.text, encoding),
            Scalar::Symbol(_, encoding) => Scalar::Symbol(&self.text, encoding),
            other => other,
        }
    }
}

/// Values that a transaction has touched, by what becomes of them.
#[derive(Default)]
struct Touched {
    /// Roots that have other values than before, or may have.
    changed: Vec<usize>,
    /// Roots that hold the Strings that they held, as far as their bytes tell.
    kept: Vec<usize>,
    /// The Strings of both, and of new roots: which objects they are.
    strings: Vec<rb_sys::VALUE>,
    /// True if there is an object that may hold others.
    is_nested: bool,
    has_new: bool,
}

impl Touched {
    fn look(&mut self, roots: &RootStream, root: usize, value: Value) {
        let is_same = with_scalar(value, |scalar| {
            scalar.is_some_and(|scalar| roots.scalar(root) == Some(scalar))
        });
        match (is_same, is_immediate(value)) {
            (true, true) => {}
            (true, false) => {
                self.kept.push(root);
                self.strings.push(value.as_raw());
            }
            (false, _) => {
                self.changed.push(root);
                self.look_at_object(value);
            }
        }
    }

    fn look_at_new(&mut self, value: Value) {
        self.has_new = true;
        self.look_at_object(value);
    }

    fn look_at_object(&mut self, value: Value) {
        if is_string(value) {
            self.strings.push(value.as_raw());
        } else if !is_immediate(value) {
            self.is_nested = true;
        }
    }

    /// The roots that are to be dumped.
    fn into_changed(mut self) -> Vec<usize> {
        let has_changes = !self.changed.is_empty() || self.has_new;
        let may_be_shared = has_changes && self.is_nested || {
            let count = self.strings.len();
            self.strings.sort_unstable();
            self.strings.dedup();
            self.strings.len() < count
        };
        let mut roots = self.changed;
        if may_be_shared {
            roots.extend(self.kept);
        }
        roots.sort_unstable();
        roots
    }
}

fn edits(replaced: &[usize], deleted: &[usize], count: usize) -> Vec<Edit> {
    let replaced_count = replaced.len();
    let replaced = replaced.iter().enumerate();
    let replaced = replaced.map(|(with, &root)| Edit::Replace { root, with });
    let deleted = deleted.iter().map(|&root| Edit::Delete { root });
    let appended = (replaced_count..count).map(|with| Edit::Append { with });
    replaced.chain(deleted).chain(appended).collect()
}

fn find_text(roots: &RootStream, key: Value) -> Lookup {
    with_scalar(key, |key| match key {
        Some(text @ (Scalar::String(..) | Scalar::Symbol(..))) => roots.find_text(text),
        _ => Lookup::Undecidable,
    })
}

fn found_object(ruby: &Ruby, found: Lookup) -> Value {
    match found {
        Lookup::Found(root) => ruby.integer_from_u64(root as u64).as_value(),
        Lookup::Absent => ruby.qfalse().as_value(),
        Lookup::Undecidable => ruby.qnil().as_value(),
    }
}

fn stream(ruby: &Ruby, lifted: Result<Vec<u8>, NotIndexable>) -> Result<RString, Error> {
    let bytes = lifted.map_err(|why| to_ruby(ruby, &why.into()))?;
    Ok(ruby.str_from_slice(&bytes))
}

fn not_in_transaction(ruby: &Ruby) -> Error {
    let class = || -> Result<ExceptionClass, Error> {
        module(ruby).const_get::<_, magnus::RClass>("PStore")?.const_get("Error")
    };
    match class() {
        Ok(class) => Error::new(class, "not in transaction"),
        Err(error) => error,
    }
}

/// Waits for the lock of a file that another has, without Ruby's lock; other threads and signals have
/// their turn.
fn wait(ruby: &Ruby, store: &mut Store) -> Result<(), Error> {
    let store = RefCell::new(store);
    loop {
        match without_lock_until_signal(ruby, &|| store.borrow_mut().wait())? {
            Some(Ok(true)) => return Ok(()),
            Some(Err(error)) => return Err(to_ruby(ruby, &error)),
            // A signal came, or an interrupt was pending: Ruby does what it has to, and raises it may be.
            Some(Ok(false)) | None => ruby.thread_check_ints()?,
        }
    }
}

fn locked_or_not<R>(
    ruby: &Ruby,
    store: &mut Store,
    without_lock: bool,
    work: impl Fn(&mut Store) -> bytewright::Result<R>,
) -> Result<R, Error> {
    if without_lock { unlocked(ruby, store, work) } else { raised(ruby, work(store)) }
}

/// Works without Ruby's lock to the end.
fn unlocked<R>(
    ruby: &Ruby,
    store: &mut Store,
    work: impl Fn(&mut Store) -> bytewright::Result<R>,
) -> Result<R, Error> {
    let outcome = lock::to_the_end(ruby, || work(store))?;
    raised(ruby, outcome)
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<PStoreFile>(ruby, "PStoreFile")?;
    class.define_singleton_method("new", function!(PStoreFile::new, 1))?;
    class.define_singleton_method("format_of", function!(PStoreFile::format_of, 1))?;
    class.define_singleton_method("class_names", function!(PStoreFile::class_names, 1))?;
    class.define_method("begin", method!(PStoreFile::begin, 3))?;
    class.define_method("end", method!(PStoreFile::end, 0))?;
    class.define_method("bytes", method!(PStoreFile::bytes, 0))?;
    class.define_method("find", method!(PStoreFile::find, 1))?;
    class.define_method("find_dumped", method!(PStoreFile::find_dumped, 1))?;
    class.define_method("get", method!(PStoreFile::get, 2))?;
    class.define_method("scalar", method!(PStoreFile::scalar, 1))?;
    class.define_method("key", method!(PStoreFile::key, 1))?;
    class.define_method("keys", method!(PStoreFile::keys, 0))?;
    class.define_method("lift_keys", method!(PStoreFile::lift_keys, 2))?;
    class.define_method("bytesize", method!(PStoreFile::bytesize, 0))?;
    class.define_method("default?", method!(PStoreFile::has_default, 0))?;
    class.define_method("shares?", method!(PStoreFile::shares, 1))?;
    class.define_method("group", method!(PStoreFile::group, 1))?;
    class.define_method("lift", method!(PStoreFile::lift, 1))?;
    class.define_method("lift_all", method!(PStoreFile::lift_all, 1))?;
    class.define_method("changed", method!(PStoreFile::changed, 2))?;
    class.define_method("change", method!(PStoreFile::change, 4))?;
    class.define_method("change_scalar", method!(PStoreFile::change_scalar, 3))?;
    class.define_method("replace", method!(PStoreFile::replace, 2))
}
