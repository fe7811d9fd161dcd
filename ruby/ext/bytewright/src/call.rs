//! `Bytewright::Call`.

use std::borrow::Cow;
use std::sync::Arc;

use bytewright::batch;
use bytewright::host::{call_of_bytes, call_to_bytes};
use bytewright::rpc::{Call, CallField, Methods};
use bytewright::thrift::{ProtocolResult, StructId, Tape, TapeCursor, TapeValue as Read};
use magnus::{Error, RString, Ruby, TryConvert, Value, function, method, prelude::*};

use crate::border::bytes_of;
use crate::class;
use crate::error::to_ruby;
use crate::memory_report::MemoryReport;
use crate::record::{Record, define_getters, not_dumped};

/// One call, and what reads the structs in it.
#[magnus::wrap(class = "Bytewright::Call", free_immediately, size)]
pub(crate) struct CallObject {
    call: Call,
    methods: Option<Arc<Methods>>,
    _memory: MemoryReport,
}

impl CallObject {
    pub(crate) fn new(call: Call, methods: Option<Arc<Methods>>) -> Self {
        let memory = MemoryReport::of(call.struct_bytes());
        CallObject { call, methods, _memory: memory }
    }

    /// `call._dump(depth)`, which Marshal calls.
    fn dump(ruby: &Ruby, this: &Self, _depth: Value) -> Result<RString, Error> {
        let bytes = call_to_bytes(&this.call).ok_or_else(|| {
            let message = "expected a call without structs, found one that an IDL file reads; dump its fields (to_h), \
                           arguments and result";
            Error::new(ruby.exception_type_error(), message)
        })?;
        Ok(ruby.str_from_slice(&bytes))
    }

    /// `Call._load(bytes)`, which Marshal calls.
    fn load(ruby: &Ruby, dumped: RString) -> Result<CallObject, Error> {
        let call = call_of_bytes(&bytes_of(dumped));
        call.map(|call| CallObject::new(call, None)).ok_or_else(|| not_dumped(ruby, "Call"))
    }

    fn is_equal(&self, other: Value) -> bool {
        <&CallObject>::try_convert(other).is_ok_and(|other| self.call == other.call)
    }

    fn arguments(ruby: &Ruby, this: &Self) -> Result<Option<Value>, Error> {
        this.values(ruby, Methods::read_arguments)
    }

    fn result(ruby: &Ruby, this: &Self) -> Result<Option<Value>, Error> {
        this.values(ruby, Methods::read_result)
    }

    /// A struct of the call as a Hash, if there is one that the IDL file knows.
    fn values(
        &self,
        ruby: &Ruby,
        read: impl for<'c> FnOnce(
            &Methods,
            &'c Call,
            &mut Tape,
        ) -> ProtocolResult<Option<Cow<'c, [u8]>>>,
    ) -> Result<Option<Value>, Error> {
        let Some(methods) = &self.methods else { return Ok(None) };
        let mut tape = Tape::new();
        let read = read(methods, &self.call, &mut tape)
            .map_err(|error| to_ruby(ruby, &bytewright::Error::from(error)))?;
        let Some(bytes) = read else { return Ok(None) };
        let mut cursor = tape.cursor(&bytes);
        let value = cursor.value();
        Objects { ruby, methods }.value(&mut cursor, value).map(Some)
    }
}

impl Record for CallObject {
    type Field = CallField;

    const ALL: &'static [CallField] = CallField::ALL;

    fn name(field: CallField) -> &'static str {
        field.name()
    }

    /// Every object has a method `method`, which gives its methods.
    fn getter_name(field: CallField) -> &'static str {
        match field {
            CallField::Method => "method_name",
            other => other.name(),
        }
    }

    fn named(name: &str) -> bytewright::Result<CallField> {
        CallField::named(name)
    }

    fn field(&self, field: CallField) -> batch::Value<'_> {
        self.call.value(field)
    }
}

/// Values of a tape on their way to Ruby.
struct Objects<'r> {
    ruby: &'r Ruby,
    methods: &'r Methods,
}

impl Objects<'_> {
    fn value<'t>(&self, cursor: &mut TapeCursor<'t>, value: Read<'t>) -> Result<Value, Error> {
        let ruby = self.ruby;
        Ok(match value {
            Read::Null => ruby.qnil().as_value(),
            Read::Bool(true) => ruby.qtrue().as_value(),
            Read::Bool(false) => ruby.qfalse().as_value(),
            Read::Int(number) => ruby.integer_from_i64(number).as_value(),
            Read::Double(number) => ruby.float_from_f64(number).as_value(),
            Read::String(bytes) => ruby.enc_str_new(bytes, ruby.utf8_encoding()).as_value(),
            Read::Binary(bytes) | Read::Uuid(bytes) => ruby.str_from_slice(bytes).as_value(),
            Read::Struct(id) | Read::Union { id, .. } => self.structure(cursor, id)?,
            Read::Map(count) => {
                let hash = ruby.hash_new();
                for _ in 0..count {
                    let key = cursor.value();
                    let key = self.value(cursor, key)?;
                    let value = cursor.value();
                    hash.aset(key, self.value(cursor, value)?)?;
                }
                hash.as_value()
            }
            container => {
                let mut elements = container.elements();
                let array = ruby.ary_new_capa(elements.count());
                for _ in 0..elements.count() {
                    let value = elements.next(cursor);
                    array.push(self.value(cursor, value)?)?;
                }
                array.as_value()
            }
        })
    }

    /// The fields that are set, by their names.
    fn structure(&self, cursor: &mut TapeCursor<'_>, id: StructId) -> Result<Value, Error> {
        let fields = self.methods.schema().fields(id);
        let hash = self.ruby.hash_new();
        while let Some((_, field, value)) = cursor.field_in(fields) {
            hash.aset(self.ruby.to_symbol(&field.name), self.value(cursor, value)?)?;
        }
        Ok(hash.as_value())
    }
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = class::define::<CallObject>(ruby, "Call")?;
    define_getters! { class CallObject }
    class.define_method("arguments", method!(CallObject::arguments, 0))?;
    class.define_method("result", method!(CallObject::result, 0))?;
    class.define_method("[]", method!(CallObject::fetch, 1))?;
    class.define_method("to_h", method!(CallObject::to_hash, 0))?;
    class.define_method("==", method!(CallObject::is_equal, 1))?;
    class.define_private_method("_dump", method!(CallObject::dump, 1))?;
    class.define_singleton_method("_load", function!(CallObject::load, 1))?;
    class.const_set("FIELDS", CallObject::names(ruby))?;
    Ok(())
}
