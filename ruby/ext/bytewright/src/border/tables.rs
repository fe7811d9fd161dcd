//! The methods of a table that programs call most, without a conversion and without a copy of keys.
//!
//! While one of these reads or changes a table, nothing of Ruby's runs: Ruby's lock is kept, whoever
//! works without it has said so in the table's turn, and making a String runs no Ruby code. So bytes
//! that the table shows stay where they are until they are in a String.

use std::cell::{Cell, RefCell, RefMut};
use std::ffi::c_int;
use std::hint::black_box;

use bytewright::host::table::{TableContent, TableHandle};
use bytewright::panics::{self, Panic};
use bytewright::table::file::TableKind;
use bytewright::table::{PackedEntries, Table};
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::{Error, RArray, RClass, RString, Ruby, TypedData, Value, kwargs, prelude::*};
use rb_sys::VALUE;

use super::conversion::{Conversion, ValueObjects};
use super::{AnyMethod, inside, or_raise, raise};
use crate::error::{defect, refusal, shown, to_ruby};

const NIL: VALUE = rb_sys::Qnil as VALUE;

// Bound (Tables): values from a file before they are Strings of Ruby = 1 MiB and one value, for each table.
const SCRATCH_LEN_MAX: usize = 1 << 20;

/// Interface that the methods of this file need of a table's object.
pub(crate) trait SharedTable: TypedData {
    /// Who takes turns at it.
    type Caller: Clone;

    /// The table of the core.
    fn handle(&self) -> &TableHandle<Self::Caller>;

    /// Returns when no other fiber has the table for itself.
    fn wait(&self, ruby: &Ruby) -> Result<(), Error>;

    /// Returns when the table can be read at once.
    fn wait_until_idle(&self, ruby: &Ruby) -> Result<(), Error>;

    /// Changes the table without Ruby's lock.
    fn change_at_length(
        &self,
        ruby: &Ruby,
        work: &mut (dyn FnMut(&mut dyn Table) -> bytewright::Result<()> + Send),
    ) -> Result<(), Error>;

    /// Tells Ruby how much memory the table takes.
    fn report_memory(&self, ruby: &Ruby);

    /// Conversion of its entries to objects.
    fn conversion(&self) -> Conversion;

    /// Values on their way to Strings, for as long as nothing of Ruby's runs.
    fn scratch(&self) -> &RefCell<Vec<u8>>;

    /// An empty table in memory.
    fn in_memory(kind: TableKind) -> Self;
}

/// The number of an encoding: UTF-8 where none is given.
pub(crate) fn encoding_index(encoding: Option<Value>) -> c_int {
    match encoding {
        // SAFETY: Ruby is there, as the value shows; for an Encoding it cannot raise.
        Some(encoding) => unsafe { rb_sys::rb_to_encoding_index(encoding.as_raw()) },
        // SAFETY: it answers a constant of the process.
        None => unsafe { rb_sys::rb_utf8_encindex() },
    }
}

/// The encoding with the number `index`.
pub(crate) fn encoding_object(index: c_int) -> Value {
    // SAFETY: `index` came from `encoding_index`; the object lives as long as the process.
    unsafe { Value::from_raw(rb_sys::rb_enc_from_encoding(rb_sys::rb_enc_from_index(index))) }
}

/// A new String of `bytes`, in the encoding with the number `encoding`.
pub(crate) fn string_of(bytes: &[u8], encoding: c_int) -> RString {
    // Without memory magnus cannot return an error either.
    // SAFETY: what it makes is a String.
    unsafe { RString::from_value(Value::from_raw(new_string(bytes, encoding))) }.unwrap_or_else(
        || Ruby::get().map_or_else(|_| std::process::abort(), |ruby| ruby.str_new("")),
    )
}

/// A new String of `bytes`. It raises where there is no memory.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping; `bytes` must stay what they are while
/// the garbage collector runs.
#[inline]
pub(super) unsafe fn new_string(bytes: &[u8], encoding: c_int) -> VALUE {
    const INLINE_MAX: c_int = rb_sys::ruby_encoding_consts::RUBY_ENCODING_INLINE_MAX as c_int;
    const SHIFT: u32 = rb_sys::ruby_encoding_consts::RUBY_ENCODING_SHIFT as u32;
    // SAFETY: the pointer and the length are those of a slice. A String begins as one of bytes, whose
    // encoding has the number 0, so a number that fits the flags of its header is set by adding it;
    // this is what Ruby's macro does for C, and spares four calls.
    unsafe {
        let string = rb_sys::rb_str_new(bytes.as_ptr().cast(), bytes.len() as _);
        match (0..INLINE_MAX).contains(&encoding) {
            true => (*(string as *mut rb_sys::RBasic)).flags |= (encoding as VALUE) << SHIFT,
            false => {
                rb_sys::rb_enc_associate_index(string, encoding);
            }
        }
        string
    }
}

/// `object` as a String: itself, or what `to_str` gives. It raises TypeError for what is none.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping. It may run Ruby code.
#[inline]
pub(super) unsafe fn string(object: VALUE) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        match rb_sys::RB_TYPE_P(object, rb_sys::ruby_value_type::RUBY_T_STRING) {
            true => object,
            false => {
                refuse_keywords(object);
                rb_sys::rb_str_to_str(object)
            }
        }
    }
}

/// Raises ArgumentError where `object` is the Hash of keywords that the running method has not got.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping.
#[cold]
unsafe fn refuse_keywords(object: VALUE) {
    // SAFETY: as the caller promises.
    let are_keywords = unsafe {
        rb_sys::rb_keyword_given_p() != 0
            && rb_sys::RB_TYPE_P(object, rb_sys::ruby_value_type::RUBY_T_HASH)
    };
    if are_keywords {
        or_raise(|ruby| {
            // SAFETY: Ruby keeps the arguments of a method alive.
            let keywords = unsafe { Value::from_raw(object) };
            Err::<(), _>(refusal(ruby, ruby.exception_arg_error(), keywords, |found| {
                format!("expected no keywords, found {found}")
            }))
        });
    }
}

/// The bytes of a String.
///
/// # Safety
/// The String must be kept alive, and no Ruby code may run while they are used.
#[inline]
pub(super) unsafe fn bytes<'a>(string: VALUE) -> &'a [u8] {
    // SAFETY: Ruby keeps this many bytes there, which as the caller promises stay what they are.
    unsafe {
        let len = rb_sys::RSTRING_LEN(string) as usize;
        match len {
            0 => &[],
            _ => std::slice::from_raw_parts(rb_sys::RSTRING_PTR(string).cast(), len),
        }
    }
}

/// The Strings of two Arrays as keys and values.
pub(crate) fn pack_strings(
    ruby: &Ruby,
    keys: RArray,
    values: RArray,
) -> Result<PackedEntries, Error> {
    let mut packed = PackedEntries::default();
    for at in 0..keys.len().min(values.len()) as isize {
        let (key, value) = (keys.entry::<Value>(at)?, values.entry::<Value>(at)?);
        let strings = RString::from_value(key).zip(RString::from_value(value));
        let Some((key, value)) = strings else {
            return Err(Error::new(
                ruby.exception_type_error(),
                "expected Strings as keys and values, found another object",
            ));
        };
        // SAFETY: the Arrays keep the Strings alive, and nothing of Ruby's runs while they are copied.
        unsafe { packed.push(key.as_slice(), value.as_slice()) };
    }
    Ok(packed)
}

/// Runs `work`, which calls nothing of Ruby's; a panic in it is raised as InternalError.
#[inline]
fn caught<T>(work: impl FnOnce() -> T) -> T {
    match panics::catch(work) {
        Ok(result) => result,
        Err(panic) => raise(or_internal(panic)),
    }
}

#[cold]
fn or_internal(panic: Panic) -> Error {
    // SAFETY: Ruby called the function that ends up here.
    let ruby = unsafe { Ruby::get_unchecked() };
    defect(&ruby, &panic)
}

/// Raises what went wrong, if something did.
#[inline]
fn check(outcome: bytewright::Result<()>) {
    if let Err(error) = outcome {
        or_raise(|ruby| Err::<(), _>(to_ruby(ruby, &error)));
    }
}

/// The table inside, when it is this fiber's turn to use it.
///
/// # Safety
/// Ruby must keep `object` alive meanwhile. What is borrowed must be gone before Ruby code runs.
#[inline]
unsafe fn content<'a, T: SharedTable>(object: VALUE) -> (&'a T, &'a TableContent) {
    // SAFETY: as the caller promises.
    let this: &T = unsafe { inside(object) };
    if this.handle().turn().is_taken() || this.handle().is_in_file() {
        or_raise(|ruby| this.wait_until_idle(ruby));
    }
    // SAFETY: a guard would be lost where making a String raises. Nobody borrows it to change it while
    // Ruby's lock is here and no Ruby code runs.
    match unsafe { this.handle().content().try_borrow_unguarded() } {
        Ok(content) => (this, content),
        Err(_) => or_raise(|ruby| {
            this.wait_until_idle(ruby)?;
            Err(to_ruby(ruby, &bytewright::Error::internal("a table in use is asked")))
        }),
    }
}

/// Shows `found` the value of `key`; the bytes are there until something of Ruby's runs.
#[inline]
fn find<'a>(this: &'a impl SharedTable, content: &'a TableContent, key: &[u8]) -> Option<&'a [u8]> {
    match content {
        TableContent::Hash(table) => caught(|| table.value(key)),
        TableContent::Tree(table) => caught(|| table.value(key)),
        _ => find_in_file(this, content, key),
    }
}

/// Finds the value of a key in a file: it stands in the table's scratch buffer, which goes with the table.
fn find_in_file<'a>(
    this: &'a impl SharedTable,
    content: &'a TableContent,
    key: &[u8],
) -> Option<&'a [u8]> {
    let found = caught(|| {
        let table = content.table()?;
        let mut scratch = empty_scratch(this);
        table.get_with(key, &mut |value| scratch.extend_from_slice(value))
    });
    let is_there = match found {
        Ok(is_there) => is_there,
        Err(error) => or_raise(|ruby| Err(to_ruby(ruby, &error))),
    };
    // SAFETY: nobody else uses the buffer until something of Ruby's runs.
    let scratch = unsafe { this.scratch().try_borrow_unguarded() };
    scratch.ok().filter(|_| is_there).map(Vec::as_slice)
}

/// The table's scratch buffer, empty and not too large.
fn empty_scratch(this: &impl SharedTable) -> RefMut<'_, Vec<u8>> {
    let mut scratch = this.scratch().borrow_mut();
    if scratch.capacity() > SCRATCH_LEN_MAX {
        *scratch = Vec::new();
    }
    scratch.clear();
    scratch
}

/// Makes the part of the object of `key`'s value that needs no Ruby code; returns None if there is no value.
///
/// # Safety
/// `object` and `key`, a String, must be kept alive, and nothing that needs dropping may be.
#[inline]
unsafe fn plain_value<T: SharedTable>(object: VALUE, key: VALUE) -> Option<(Conversion, VALUE)> {
    // SAFETY: as the caller promises; nothing of Ruby's runs before an object is made of the value.
    unsafe {
        let (this, content) = content::<T>(object);
        let value = find(this, content, bytes(key))?;
        let conversion = this.conversion();
        Some((conversion, conversion.plain_value(value)))
    }
}

/// The value of `key` as a new object, where it has one.
///
/// # Safety
/// As for [`plain_value`]. It may run Ruby code that loads the value.
#[inline]
unsafe fn value_object<T: SharedTable>(object: VALUE, key: VALUE) -> Option<VALUE> {
    // SAFETY: as the caller promises.
    unsafe {
        let (conversion, plain) = plain_value::<T>(object, key)?;
        Some(conversion.loaded(plain))
    }
}

/// `table[key]`
unsafe extern "C" fn get<T: SharedTable>(object: VALUE, key: VALUE) -> VALUE {
    // SAFETY: Ruby keeps the receiver and the arguments of a method alive.
    unsafe { value_object::<T>(object, string(key)).unwrap_or(NIL) }
}

/// `table.key?(key)`
unsafe extern "C" fn has_key<T: SharedTable>(object: VALUE, key: VALUE) -> VALUE {
    // SAFETY: as for `get`.
    unsafe {
        let key = string(key);
        let (this, content) = content::<T>(object);
        let found = find(this, content, bytes(key)).is_some();
        black_box(key);
        boolean(found)
    }
}

fn boolean(value: bool) -> VALUE {
    match value {
        true => rb_sys::Qtrue as VALUE,
        false => rb_sys::Qfalse as VALUE,
    }
}

/// `table[key] = value`
unsafe extern "C" fn put<T: SharedTable>(
    object: VALUE,
    key_given: VALUE,
    value_given: VALUE,
) -> VALUE {
    // SAFETY: as for `get`; the Strings are used while nothing of Ruby's runs.
    unsafe {
        rb_sys::rb_check_frozen(object);
        let key = string(key_given);
        let value = inside::<T>(object).conversion().given_value(value_given);
        change(
            object,
            |table| table.put(bytes(key), value.bytes()),
            |this: &T, ruby| {
                let (key, value) = (bytes(key).to_vec(), value.bytes().to_vec());
                this.change_at_length(ruby, &mut |table| table.put(&key, &value))
            },
        );
        black_box(key);
        value.keep();
        value_given
    }
}

/// Changes a table: at once, or where that would wait for a disk or another process by `otherwise`, which may run Ruby
/// code of other threads.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping. `work` calls nothing of Ruby's.
#[inline]
unsafe fn change<T: SharedTable>(
    object: VALUE,
    work: impl FnOnce(&mut dyn Table) -> bytewright::Result<()>,
    otherwise: impl FnOnce(&T, &Ruby) -> Result<(), Error>,
) {
    // SAFETY: as the caller promises.
    let this: &T = unsafe { inside(object) };
    // Content that may be read meanwhile must not be changed.
    if this.handle().turn().is_taken() {
        or_raise(|ruby| this.wait(ruby));
    }
    // SAFETY: as the caller promises.
    let (_, found) = unsafe { content::<T>(object) };
    let is_slow = match found {
        TableContent::Hash(_) | TableContent::Tree(_) | TableContent::Closed => false,
        _ => found.table().is_ok_and(Table::waits_for_disk),
    };
    if is_slow {
        return or_raise(|ruby| otherwise(this, ruby));
    }
    let outcome = caught(|| match this.handle().content().try_borrow_mut() {
        Ok(mut content) => match &mut *content {
            // Called by its type, so that it is compiled into here.
            TableContent::Hash(table) => work(table).map(Some),
            content => content.try_change(|content| work(content.table_mut()?)),
        },
        Err(_) => Err(bytewright::Error::internal("a table in use is changed")),
    });
    match outcome {
        Ok(Some(())) => (),
        Ok(None) => return or_raise(|ruby| otherwise(this, ruby)),
        Err(error) => or_raise(|ruby| Err(to_ruby(ruby, &error))),
    }
    if this.handle().note_change() {
        or_raise(|ruby| {
            this.report_memory(ruby);
            Ok(())
        });
    }
}

/// `table.delete(key)`, with what a block gives where there is no such key.
unsafe extern "C" fn delete<T: SharedTable>(object: VALUE, key_given: VALUE) -> VALUE {
    // SAFETY: as for `put`. The old value is a String before it is gone from the table.
    unsafe {
        rb_sys::rb_check_frozen(object);
        let key = string(key_given);
        let this: &T = inside(object);
        let taken = match this.handle().is_in_file() {
            true => take_from_file::<T>(object, key),
            false => plain_value::<T>(object, key).inspect(|_| {
                change(object, |table| table.delete(bytes(key)).map(drop), |_: &T, _| Ok(()));
            }),
        };
        match taken {
            Some((conversion, old)) => {
                let (_, old) = black_box((key, old));
                conversion.loaded(old)
            }
            None if rb_sys::rb_block_given_p() == 0 => NIL,
            None => rb_sys::rb_yield(key_given),
        }
    }
}

/// Takes the entry of `key` out of a table in a file, and makes the part of its value's object that needs no Ruby code. No other
/// process changes the entry between.
///
/// # Safety
/// As for [`plain_value`].
unsafe fn take_from_file<T: SharedTable>(object: VALUE, key: VALUE) -> Option<(Conversion, VALUE)> {
    let is_there = Cell::new(false);
    let take = |this: &T, table: &mut dyn Table, key: &[u8]| {
        let mut scratch = empty_scratch(this);
        let found = table.get_with(key, &mut |value| scratch.extend_from_slice(value))?;
        is_there.set(found && table.delete(key)?);
        Ok(())
    };
    // SAFETY: as the caller promises. The value is in the buffer of the table, which nobody else uses before something of Ruby's
    // runs.
    unsafe {
        let this: &T = inside(object);
        change(
            object,
            |table| take(this, table, bytes(key)),
            |this: &T, ruby| {
                let (key, mut value) = (bytes(key).to_vec(), None);
                this.change_at_length(ruby, &mut |table| {
                    value = table.get(&key)?;
                    if value.is_some() {
                        table.delete(&key)?;
                    }
                    Ok(())
                })?;
                is_there.set(value.is_some());
                empty_scratch(this).extend_from_slice(&value.unwrap_or_default());
                Ok(())
            },
        );
        let conversion = this.conversion();
        let value = this.scratch().try_borrow_unguarded().ok().filter(|_| is_there.get())?;
        Some((conversion, conversion.plain_value(value)))
    }
}

/// `table.fetch(key)`, `table.fetch(key, default)`, `table.fetch(key) { |key| }`
unsafe extern "C" fn fetch<T: SharedTable>(
    count: c_int,
    arguments: *const VALUE,
    object: VALUE,
) -> VALUE {
    // SAFETY: as for `get`; Ruby gives as many arguments as it says.
    unsafe {
        if !(1..=2).contains(&count) {
            rb_sys::rb_error_arity(count, 1, 2);
        }
        let key = *arguments;
        if let Some(value) = value_object::<T>(object, string(key)) {
            return value;
        }
        match (rb_sys::rb_block_given_p(), count) {
            (0, 2) => *arguments.add(1),
            (0, _) => {
                or_raise(|ruby| Err(key_error(ruby, Value::from_raw(object), Value::from_raw(key))))
            }
            (_, 2) => {
                rb_sys::rb_warn(c"block supersedes default value argument".as_ptr());
                rb_sys::rb_yield(key)
            }
            _ => rb_sys::rb_yield(key),
        }
    }
}

/// The KeyError that Hash raises.
fn key_error(ruby: &Ruby, receiver: Value, key: Value) -> Error {
    let made = shown(ruby, key).and_then(|found| {
        let options = kwargs!(ruby, "receiver" => receiver, "key" => key);
        let message = format!("key not found: {found}");
        ruby.exception_key_error().funcall::<_, _, magnus::Exception>("new", (message, options))
    });
    made.map_or_else(|raised| raised, Error::from)
}

/// Keys whose values are looked for together, where nobody can change the table in between.
const BLOCK_LEN: usize = 64;

/// `table.values_at(*keys)`
unsafe extern "C" fn values_at<T: SharedTable>(
    count: c_int,
    arguments: *const VALUE,
    object: VALUE,
) -> VALUE {
    // SAFETY: as for `fetch`; the Arrays keep the Strings alive.
    unsafe {
        let count = count as usize;
        let keys = rb_sys::rb_ary_new_capa(count as _);
        for at in 0..count {
            rb_sys::rb_ary_push(keys, string(*arguments.add(at)));
        }
        let values = rb_sys::rb_ary_new_capa(count as _);
        let (this, _) = content::<T>(object);
        // Another process may write the file: its values are asked for in one call.
        let block_len = if this.handle().is_in_file() { count.max(1) } else { BLOCK_LEN };
        for begin in (0..count).step_by(block_len) {
            push_values::<T>(object, keys, begin, block_len.min(count - begin), values);
        }
        load_values(this.conversion(), values);
        black_box(keys);
        values
    }
}

/// Pushes the values of `len` of the `keys` from `begin` on.
///
/// # Safety
/// All are kept alive, the keys are Strings, and nothing that needs dropping is alive.
unsafe fn push_values<T: SharedTable>(
    object: VALUE,
    keys: VALUE,
    begin: usize,
    len: usize,
    values: VALUE,
) {
    // SAFETY: as the caller promises; no key changes before the values stand in the scratch buffer,
    // and nothing but Strings is made before they are read there.
    unsafe {
        let (this, content) = content::<T>(object);
        let key = |at: usize| bytes(rb_sys::rb_ary_entry(keys, (begin + at) as _));
        let found = caught(|| {
            let mut block = [&[][..]; BLOCK_LEN];
            match block.get_mut(..len) {
                Some(block) => {
                    block.iter_mut().enumerate().for_each(|(at, slot)| *slot = key(at));
                    copy_values(this, content, block)
                }
                None => copy_values(this, content, &(0..len).map(key).collect::<Vec<_>>()),
            }
        });
        check(found);
        let Ok(scratch) = this.scratch().try_borrow_unguarded() else { return };
        let mut copied = scratch.as_slice();
        for _ in 0..len {
            let value = next_copied(&mut copied);
            let value = value.map(|value| this.conversion().plain_value(value));
            rb_sys::rb_ary_push(values, value.unwrap_or(NIL));
        }
    }
}

/// Loads those of `values` that are Strings of dumped objects. It may run Ruby code.
///
/// # Safety
/// The Array is kept alive, and nothing that needs dropping is alive.
unsafe fn load_values(conversion: Conversion, values: VALUE) {
    if !matches!(conversion.values, ValueObjects::Dumped(_)) {
        return;
    }
    // SAFETY: as the caller promises.
    unsafe {
        for at in 0..rb_sys::RARRAY_LEN(values) {
            let plain = rb_sys::rb_ary_entry(values, at as _);
            if plain != NIL {
                rb_sys::rb_ary_store(values, at as _, conversion.loaded(plain));
            }
        }
    }
}

/// The length that stands in the scratch buffer for a key without a value.
const NO_VALUE: usize = usize::MAX;

/// Copies the values of `keys` to the scratch buffer, each behind its length.
fn copy_values(
    this: &impl SharedTable,
    content: &TableContent,
    keys: &[&[u8]],
) -> bytewright::Result<()> {
    let mut scratch = empty_scratch(this);
    content.table()?.get_many(keys, &mut |_, value| {
        let len = value.map_or(NO_VALUE, <[u8]>::len);
        scratch.extend_from_slice(&len.to_ne_bytes());
        scratch.extend_from_slice(value.unwrap_or_default());
    })
}

/// The next value that [`copy_values`] has copied, if the key has one.
fn next_copied<'a>(copied: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, rest) = copied.split_first_chunk()?;
    let len = usize::from_ne_bytes(*len);
    *copied = rest;
    if len == NO_VALUE { None } else { copied.split_off(..len) }
}

/// `table.size`
unsafe extern "C" fn size<T: SharedTable>(object: VALUE) -> VALUE {
    // SAFETY: as for `get`.
    unsafe {
        let (_, content) = content::<T>(object);
        let len = match content {
            TableContent::Hash(table) => caught(|| table.len()),
            content => caught(|| content.table()?.len()),
        };
        match len {
            Ok(len) => rb_sys::rb_ull2inum(len),
            Err(error) => or_raise(|ruby| Err(to_ruby(ruby, &error))),
        }
    }
}

unsafe extern "C" fn allocate_hash<T: SharedTable>(class: VALUE) -> VALUE {
    allocate::<T>(class, TableKind::Hashed)
}

unsafe extern "C" fn allocate_tree<T: SharedTable>(class: VALUE) -> VALUE {
    allocate::<T>(class, TableKind::Ordered)
}

/// An empty table in memory, as an object of `class`.
fn allocate<T: SharedTable>(class: VALUE, kind: TableKind) -> VALUE {
    or_raise(|ruby| {
        // SAFETY: Ruby calls an allocator with a class.
        let class = unsafe { Value::from_raw(class) };
        let class = RClass::from_value(class).ok_or_else(|| {
            Error::new(
                ruby.exception_type_error(),
                "expected a class to make a table of, found another object",
            )
        })?;
        Ok(ruby.obj_wrap_as(T::in_memory(kind), class).as_raw())
    })
}

/// Lets `new` make tables of either kind.
pub(crate) fn define_allocators<T: SharedTable>(hash: RClass, tree: RClass) {
    // SAFETY: Ruby calls an allocator with the class, and takes the object that it answers.
    unsafe {
        rb_sys::rb_define_alloc_func(hash.as_raw(), Some(allocate_hash::<T>));
        rb_sys::rb_define_alloc_func(tree.as_raw(), Some(allocate_tree::<T>));
    }
}

/// Defines the methods of this file.
pub(crate) fn define_table_methods<T: SharedTable>(class: RClass) {
    type None = unsafe extern "C" fn(VALUE) -> VALUE;
    type One = unsafe extern "C" fn(VALUE, VALUE) -> VALUE;
    type Two = unsafe extern "C" fn(VALUE, VALUE, VALUE) -> VALUE;
    type Any = unsafe extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE;
    // SAFETY: each function takes self and as many arguments as its arity says, or with -1 their
    // count, where they are, and self; the type is erased because Ruby takes methods of any arity.
    unsafe {
        let define = |name: &std::ffi::CStr, method: AnyMethod, arity: c_int| {
            rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(method), arity);
        };
        define(c"[]", std::mem::transmute::<One, AnyMethod>(get::<T>), 1);
        define(c"key?", std::mem::transmute::<One, AnyMethod>(has_key::<T>), 1);
        define(c"[]=", std::mem::transmute::<Two, AnyMethod>(put::<T>), 2);
        define(c"delete", std::mem::transmute::<One, AnyMethod>(delete::<T>), 1);
        define(c"fetch", std::mem::transmute::<Any, AnyMethod>(fetch::<T>), -1);
        define(c"values_at", std::mem::transmute::<Any, AnyMethod>(values_at::<T>), -1);
        define(c"size", std::mem::transmute::<None, AnyMethod>(size::<T>), 0);
    }
}
