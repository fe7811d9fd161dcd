//! `Bytewright::Cache`: a table that is used by the rules of a cache, with objects of Ruby's as keys and values.
//!
//! The table is an object of its own, which threads share by its turns (`table.rs`). Nothing calls Ruby while it is used: keys and
//! values are bytes before, and what needs Ruby code to be made of bytes is made afterwards.

use std::cell::{Cell, OnceCell};

use bytewright::host::table::{Cost, OnDamage, TableContent};
use bytewright::options::NamedOptions;
use bytewright::table::Table;
use bytewright::table::cache::{Cache, CacheEntry, CacheOptions};
use magnus::typed_data::Obj;
use magnus::value::{InnerValue, Opaque};
use magnus::{Error, Float, Integer, RHash, RString, Ruby, Value, method, prelude::*};

use crate::border::{bytes_of, path_of};
use crate::cache_data::{FoundObject, ObjectForms};
use crate::class;
use crate::error::{closed, raised};
use crate::options::settings;
use crate::table::TableObject;

/// A cache in a Ruby object, empty until it is opened.
#[derive(Default, magnus::TypedData)]
#[magnus(class = "Bytewright::Cache", free_immediately, mark, size)]
pub(crate) struct CacheObject {
    opened: OnceCell<OpenCache>,
    hits: Cell<u64>,
    misses: Cell<u64>,
}

struct OpenCache {
    table: Opaque<Obj<TableObject>>,
    rules: Cache,
    forms: ObjectForms,
    on_damage: OnDamage,
}

impl magnus::DataTypeFunctions for CacheObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        if let Some(opened) = self.opened.get() {
            marker.mark(opened.table);
            opened.forms.mark(marker);
        }
    }
}

impl OpenCache {
    fn table(&self, ruby: &Ruby) -> Obj<TableObject> {
        self.table.get_inner_with(ruby)
    }

    /// Makes the key of the table for an object.
    fn key(&self, ruby: &Ruby, key: Value) -> Result<Vec<u8>, Error> {
        Ok(self.forms.bytes(ruby, key, "key")?.data().to_key())
    }

    /// Changes the table; `len` bytes are put.
    fn change<R: Send>(
        &self,
        ruby: &Ruby,
        len: usize,
        mut work: impl FnMut(&Cache, &mut dyn Table) -> bytewright::Result<R> + Send,
    ) -> Result<R, Error> {
        let rules = self.rules;
        self.table(ruby).run(ruby, |handle, host| {
            handle.mending(host, self.on_damage, told_of_clearing(ruby), || {
                handle.change_by_cost(host, Cost::of_bytes(len), |table| work(&rules, table))
            })
        })
    }

    /// Asks the table something brief. No Ruby code may run in `work`.
    fn look<R>(
        &self,
        ruby: &Ruby,
        mut work: impl FnMut(&TableContent) -> bytewright::Result<R>,
    ) -> Result<R, Error> {
        self.table(ruby).run(ruby, |handle, host| {
            handle.mending(host, self.on_damage, told_of_clearing(ruby), || {
                handle.read(host, &mut work)
            })
        })
    }
}

impl CacheObject {
    fn opened(&self, ruby: &Ruby) -> Result<&OpenCache, Error> {
        self.opened.get().ok_or_else(|| closed(ruby, "expected a cache that was opened"))
    }

    /// `cache.open_table(path, marshal, clears, options)`: opens the table of the cache, in memory where the path is nil. `marshal` is
    /// an object that dumps and loads what a cache does not keep by itself, or nil. Where it `clears`, an empty table takes the place
    /// of a damaged one, with a warning.
    fn open_table(
        ruby: &Ruby,
        this: &Self,
        path: Option<RString>,
        marshal: Option<Value>,
        clears: bool,
        options: RHash,
    ) -> Result<(), Error> {
        let path = path.map(path_of).transpose()?;
        let mut found = CacheOptions::default();
        raised(ruby, settings(ruby, &[CacheOptions::OPTIONS], options)?.fill(&mut found))?;
        let rules = raised(ruby, Cache::new(found.limits))?;
        if this.opened.get().is_some() {
            return Err(Error::new(
                ruby.exception_arg_error(),
                "expected a new cache to open, found an open one",
            ));
        }
        let on_damage = if clears { OnDamage::Clear } else { OnDamage::Raise };
        let table = match path {
            Some(path) => {
                let told = told_of_clearing(ruby);
                TableObject::of_cache_file(ruby, &path, found.opening, on_damage, told)?
            }
            None => TableObject::of_cache(ruby)?,
        };
        let forms = ObjectForms::new(marshal);
        let _ = this.opened.set(OpenCache { table: table.into(), rules, forms, on_damage });
        Ok(())
    }

    /// `cache.clear_damage(message)`: clears damage that a walk has met, unless the table is whole by now. CorruptError with the
    /// message where it is not to be cleared.
    fn clear_damage(ruby: &Ruby, this: &Self, message: String) -> Result<(), Error> {
        let opened = this.opened(ruby)?;
        let error = bytewright::Error::new(bytewright::ErrorKind::Corrupt, message);
        let cleared = opened.table(ruby).run(ruby, |handle, host| {
            handle.clear_damage(host, opened.on_damage, (handle.clearings(), false), &error)
        })?;
        if cleared { told_of_clearing(ruby)(&error) } else { Ok(()) }
    }

    /// The table that has the entries; nil before the cache is opened.
    fn table(ruby: &Ruby, this: &Self) -> Option<Value> {
        this.opened.get().map(|opened| opened.table(ruby).as_value())
    }

    /// Finds the object of a key's value.
    fn found(&self, ruby: &Ruby, key: Value) -> Result<Option<Value>, Error> {
        let opened = self.opened(ruby)?;
        let (key, now, mut found) = (opened.key(ruby, key)?, Cache::now(), None);
        opened.look(ruby, |content| {
            let note = &mut |entry: CacheEntry<'_>| {
                found = Some(FoundObject::of(ruby, entry.value));
            };
            opened.rules.get(content.table()?, &key, now, note)
        })?;
        let counted = if found.is_some() { &self.hits } else { &self.misses };
        counted.set(counted.get() + 1);
        found.map(|found| opened.forms.object(ruby, found)).transpose()
    }

    fn get(ruby: &Ruby, this: &Self, key: Value) -> Result<Option<Value>, Error> {
        this.found(ruby, key)
    }

    /// `cache.find(key, default)`: the value of a key, or the default.
    fn find(ruby: &Ruby, this: &Self, key: Value, default: Value) -> Result<Value, Error> {
        Ok(this.found(ruby, key)?.unwrap_or(default))
    }

    fn has_key(ruby: &Ruby, this: &Self, key: Value) -> Result<bool, Error> {
        let opened = this.opened(ruby)?;
        let (key, now) = (opened.key(ruby, key)?, Cache::now());
        opened.look(ruby, |content| opened.rules.contains(content.table()?, &key, now))
    }

    fn put(ruby: &Ruby, this: Obj<Self>, key: Value, value: Value) -> Result<Value, Error> {
        Self::set(ruby, this, key, value, (None, None, false))?;
        Ok(value)
    }

    /// `cache.put(key, value, expires_in, tag, only_new)`: sets an entry, or only adds it if there is none; gives true if it did.
    fn put_entry(
        ruby: &Ruby,
        this: Obj<Self>,
        key: Value,
        value: Value,
        expires_in: Option<Value>,
        tag: Option<Value>,
        only_new: bool,
    ) -> Result<bool, Error> {
        Self::set(ruby, this, key, value, (expires_in, tag, only_new))
    }

    fn set(
        ruby: &Ruby,
        this: Obj<Self>,
        key: Value,
        value: Value,
        (expires_in, tag, only_new): (Option<Value>, Option<Value>, bool),
    ) -> Result<bool, Error> {
        let opened = changeable(ruby, &this)?;
        let key = opened.key(ruby, key)?;
        let value = opened.forms.bytes(ruby, value, "value")?;
        let tag = tag.map(|tag| opened.forms.bytes(ruby, tag, "tag")).transpose()?;
        let now = Cache::now();
        let expires_at = expiry(ruby, now, expires_in)?;
        let (value, tag) = (value.data(), tag.as_ref().map(|tag| tag.data()));
        let entry = CacheEntry { value, expires_at, tag };
        opened.change(ruby, value.bytes.len(), |rules, table| match only_new {
            true => rules.add(table, &key, entry, now),
            false => rules.set(table, &key, entry, now).map(|()| true),
        })
    }

    /// `cache.touch_entry(key, expires_in)`: gives an entry another expiry, and true if there is one.
    fn touch(
        ruby: &Ruby,
        this: Obj<Self>,
        key: Value,
        expires_in: Option<Value>,
    ) -> Result<bool, Error> {
        let opened = changeable(ruby, &this)?;
        let (key, now) = (opened.key(ruby, key)?, Cache::now());
        let expires_at = expiry(ruby, now, expires_in)?;
        opened.change(ruby, 0, |rules, table| rules.touch(table, &key, expires_at, now))
    }

    /// `cache.add_to(key, by, default)`: adds to an Integer, and gives the sum; nil where there is neither an entry nor a default.
    fn increment(
        ruby: &Ruby,
        this: Obj<Self>,
        key: Value,
        by: i64,
        default: Option<i64>,
    ) -> Result<Option<i64>, Error> {
        let opened = changeable(ruby, &this)?;
        let (key, now) = (opened.key(ruby, key)?, Cache::now());
        opened.change(ruby, 0, |rules, table| rules.increment(table, &key, by, default, now))
    }

    /// `cache.take_entry(key, default)`: deletes an entry, and gives its value, or the default.
    fn take(ruby: &Ruby, this: Obj<Self>, key: Value, default: Value) -> Result<Value, Error> {
        let opened = changeable(ruby, &this)?;
        let (key, now) = (opened.key(ruby, key)?, Cache::now());
        let taken = opened.change(ruby, 0, |rules, table| {
            let mut taken = None;
            rules.take(table, &key, now, &mut |entry| taken = Some(entry.to_value()))?;
            Ok(taken)
        })?;
        let Some(taken) = taken else { return Ok(default) };
        let entry = raised(ruby, CacheEntry::of_value(&taken))?;
        opened.forms.object(ruby, FoundObject::of(ruby, entry.value))
    }

    fn delete(ruby: &Ruby, this: Obj<Self>, key: Value) -> Result<bool, Error> {
        let opened = changeable(ruby, &this)?;
        let (key, now) = (opened.key(ruby, key)?, Cache::now());
        opened.change(ruby, 0, |rules, table| rules.take(table, &key, now, &mut |_| ()))
    }

    fn expire(ruby: &Ruby, this: Obj<Self>) -> Result<u64, Error> {
        let now = Cache::now();
        changeable(ruby, &this)?.change(ruby, usize::MAX, |rules, table| rules.expire(table, now))
    }

    fn evict(ruby: &Ruby, this: Obj<Self>, tag: Value) -> Result<u64, Error> {
        let opened = changeable(ruby, &this)?;
        let tag = opened.forms.bytes(ruby, tag, "tag")?;
        let tag = tag.data();
        opened.change(ruby, usize::MAX, |rules, table| rules.evict_tag(table, tag))
    }

    fn cull(ruby: &Ruby, this: Obj<Self>) -> Result<u64, Error> {
        let now = Cache::now();
        changeable(ruby, &this)?.change(ruby, usize::MAX, |rules, table| rules.cull(table, now))
    }

    fn clear(ruby: &Ruby, this: Obj<Self>) -> Result<u64, Error> {
        changeable(ruby, &this)?.change(ruby, usize::MAX, |rules, table| rules.clear(table))
    }

    fn size(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        this.opened(ruby)?.look(ruby, |content| content.table()?.len())
    }

    /// Returns the bytes that its file, or its memory, takes.
    fn volume(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        this.opened(ruby)?.look(ruby, |content| content.table()?.used_bytes())
    }

    fn size_limit(ruby: &Ruby, this: &Self) -> Result<u64, Error> {
        Ok(this.opened(ruby)?.rules.limits().bytes)
    }

    /// `cache.counts(reset)`: the look-ups of this object that found an entry, and the others.
    fn counts(&self, reset: bool) -> (u64, u64) {
        let counts = (self.hits.get(), self.misses.get());
        if reset {
            self.hits.set(0);
            self.misses.set(0);
        }
        counts
    }

    /// `cache.key_of(key, value)`: the object that a key of the table stands for, in an Array; nil if its value has expired.
    fn key_of(
        ruby: &Ruby,
        this: &Self,
        key: RString,
        value: RString,
    ) -> Result<Option<(Value,)>, Error> {
        let (forms, value) = (&this.opened(ruby)?.forms, bytes_of(value));
        let entry = raised(ruby, CacheEntry::of_value(&value))?;
        match entry.counts(Cache::now()) {
            true => Ok(Some((forms.object_of_key(ruby, &bytes_of(key))?,))),
            false => Ok(None),
        }
    }

    /// `cache.entry_of(key, value)`: the objects that an entry of the table stands for; nil if it has expired.
    fn entry_of(
        ruby: &Ruby,
        this: &Self,
        key: RString,
        value: RString,
    ) -> Result<Option<(Value, Value)>, Error> {
        let (forms, value) = (&this.opened(ruby)?.forms, bytes_of(value));
        let entry = raised(ruby, CacheEntry::of_value(&value))?;
        if !entry.counts(Cache::now()) {
            return Ok(None);
        }
        let key = forms.object_of_key(ruby, &bytes_of(key))?;
        Ok(Some((key, forms.object(ruby, FoundObject::of(ruby, entry.value))?)))
    }
}

/// Returns what warns of damage for which a cache was cleared. The error is that of a program which makes errors of warnings.
fn told_of_clearing(ruby: &Ruby) -> impl FnOnce(&bytewright::Error) -> Result<(), Error> {
    move |error| {
        let text = format!("a damaged cache was cleared: {error}");
        ruby.module_kernel().funcall::<_, _, Value>("warn", (text,)).map(drop)
    }
}

/// Returns the cache of an object that may be changed. FrozenError for a frozen one.
fn changeable<'a>(ruby: &Ruby, this: &'a Obj<CacheObject>) -> Result<&'a OpenCache, Error> {
    this.check_frozen()?;
    this.opened(ruby)
}

/// The time at which what is set now expires, after so many seconds.
fn expiry(ruby: &Ruby, now: u64, seconds: Option<Value>) -> Result<Option<u64>, Error> {
    let Some(seconds) = seconds else { return Ok(None) };
    let number = if let Some(integer) = Integer::from_value(seconds) {
        integer.to_i64().map_or_else(|_| f64::try_convert(seconds), |integer| Ok(integer as f64))?
    } else if let Some(float) = Float::from_value(seconds) {
        float.to_f64()
    } else if RString::from_value(seconds).is_some() {
        let message = "expected a number of seconds after which an entry expires, found a String";
        return Err(Error::new(ruby.exception_type_error(), message));
    } else {
        // Such as a duration of ActiveSupport's, which is no Numeric.
        ruby.module_kernel().funcall("Float", (seconds,))?
    };
    raised(ruby, Cache::expiry(now, number)).map(Some)
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let cache = class::define::<CacheObject>(ruby, "Cache")?;
    cache.define_alloc_func::<CacheObject>();
    cache.define_method("[]", method!(CacheObject::get, 1))?;
    cache.define_method("[]=", method!(CacheObject::put, 2))?;
    cache.define_method("key?", method!(CacheObject::has_key, 1))?;
    cache.define_method("delete", method!(CacheObject::delete, 1))?;
    cache.define_method("expire", method!(CacheObject::expire, 0))?;
    cache.define_method("evict", method!(CacheObject::evict, 1))?;
    cache.define_method("cull", method!(CacheObject::cull, 0))?;
    cache.define_method("clear", method!(CacheObject::clear, 0))?;
    cache.define_method("size", method!(CacheObject::size, 0))?;
    cache.define_method("volume", method!(CacheObject::volume, 0))?;
    cache.define_method("size_limit", method!(CacheObject::size_limit, 0))?;
    cache.define_private_method("open_table", method!(CacheObject::open_table, 4))?;
    cache.define_private_method("clear_damage", method!(CacheObject::clear_damage, 1))?;
    cache.define_private_method("table", method!(CacheObject::table, 0))?;
    cache.define_private_method("find_value", method!(CacheObject::find, 2))?;
    cache.define_private_method("put_entry", method!(CacheObject::put_entry, 5))?;
    cache.define_private_method("touch_entry", method!(CacheObject::touch, 2))?;
    cache.define_private_method("add_to", method!(CacheObject::increment, 3))?;
    cache.define_private_method("take_entry", method!(CacheObject::take, 2))?;
    cache.define_private_method("counts", method!(CacheObject::counts, 1))?;
    cache.define_private_method("key_of", method!(CacheObject::key_of, 2))?;
    cache.define_private_method("entry_of", method!(CacheObject::entry_of, 2))
}
