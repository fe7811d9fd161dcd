//! `Bytewright::AbstractDatabase`: what a database of Tokyo Cabinet's is beside its table, for `Bytewright::ADB`.

use bytewright::host::adb::{self, AbstractDatabase, OpenedTable};
use bytewright::host::table::{Cost, TableHandle};
use magnus::{Error, RArray, RString, Ruby, Value, function, method, prelude::*};

use crate::border::bytes_of;
use crate::class;
use crate::error::module;
use crate::table::TableObject;
use crate::turn::{Sharing, TurnMutex};

/// A database in a Ruby object.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::AbstractDatabase", free_immediately)]
pub(crate) struct DatabaseObject(AbstractDatabase);

impl magnus::DataTypeFunctions for DatabaseObject {}

impl DatabaseObject {
    /// `AbstractDatabase.open(name) { |table, database| }`: the block notes both, before an interrupt can come where this
    /// returns.
    fn open(ruby: &Ruby, name: RString) -> Result<Value, Error> {
        let mutex = TurnMutex::default();
        let host = Sharing::new(ruby, &mutex);
        let (database, opened) = host.raised(adb::open(&host, &bytes_of(name)))?;
        let handle = match opened {
            OpenedTable::InMemory(kind) => TableHandle::in_memory(kind),
            OpenedTable::InFile(file, options) => TableHandle::in_file(file, options),
        };
        let database = ruby.obj_wrap(DatabaseObject(database));
        ruby.yield_values((TableObject::wrapped(ruby, handle)?.as_value(), database))
    }

    /// `database.call(table, method, arguments)`: an Array of Strings, or nil.
    fn call(
        ruby: &Ruby,
        this: &Self,
        table: &TableObject,
        method: String,
        arguments: RArray,
    ) -> Result<Option<RArray>, Error> {
        let arguments = arguments.into_iter().map(|each| RString::try_convert(each).map(bytes_of));
        let arguments = arguments.collect::<Result<Vec<_>, Error>>()?;
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let answer = table
            .run(ruby, |handle, host| this.0.call_shared((handle, host), &method, &arguments))?;
        Ok(answer.map(|strings| {
            ruby.ary_from_iter(strings.iter().map(|each| ruby.str_from_slice(each)))
        }))
    }

    /// `database.keep_bounds(table)`: after a change.
    fn keep_bounds(ruby: &Ruby, this: &Self, table: &TableObject) -> Result<(), Error> {
        table.run(ruby, |handle, host| {
            handle.change_by_cost(host, Cost::Brief, |table| this.0.keep_bounds(table))
        })
    }

    fn has_bounds(&self) -> bool {
        self.0.has_bounds()
    }

    fn is_in_memory(&self) -> bool {
        self.0.is_in_memory()
    }

    fn release(&self) {
        self.0.release();
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<DatabaseObject>(ruby, "AbstractDatabase")?;
    class.define_singleton_method("open", function!(DatabaseObject::open, 1))?;
    class.define_method("call", method!(DatabaseObject::call, 3))?;
    class.define_method("keep_bounds", method!(DatabaseObject::keep_bounds, 1))?;
    class.define_method("bounds?", method!(DatabaseObject::has_bounds, 0))?;
    class.define_method("in_memory?", method!(DatabaseObject::is_in_memory, 0))?;
    class.define_method("release", method!(DatabaseObject::release, 0))?;
    module(ruby).funcall::<_, _, Value>("private_constant", ("AbstractDatabase",))?;
    Ok(())
}
