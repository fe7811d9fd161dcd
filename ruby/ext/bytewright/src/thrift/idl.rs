//! Content of IDL files, as Arrays and Hashes of which `ruby/lib` makes classes.

use bytewright::ErrorKind;
use bytewright::thrift::idl::{
    Document, Function, IdlOptions, Origin, SourceText, Value as IdlValue, parse,
};
use bytewright::thrift::{FieldSchema, Requiredness, StructKind, Type, WireType};
use magnus::block::Proc;
use magnus::{Error, IntoValue, RArray, RClass, RHash, RString, Ruby, Value, function, prelude::*};

use crate::border::bytes_of;
use crate::error::to_ruby;

/// The number by which descriptions tell binary from strings.
const BINARY: u8 = 111;

/// `ThriftCodec.read_idl(path, text, finder)`: the finder is asked for included files by their name and
/// the path of the file that includes them, and answers a path and a text.
fn read_idl(ruby: &Ruby, path: String, text: RString, finder: Proc) -> Result<RHash, Error> {
    let main = SourceText { path, bytes: bytes_of(text) };
    let mut failure = None;
    let mut find = |name: &str, from: &str| {
        let found: Result<(String, RString), Error> = finder.call((name, from));
        found.map(|(path, text)| SourceText { path, bytes: bytes_of(text) }).map_err(|error| {
            failure = Some(error);
            bytewright::Error::new(ErrorKind::Io(None), "an included file cannot be read")
        })
    };
    match parse(main, &mut find, IdlOptions::default()) {
        Ok(document) => described(ruby, &document),
        Err(error) => Err(failure.unwrap_or_else(|| to_ruby(ruby, &error))),
    }
}

fn described(ruby: &Ruby, document: &Document) -> Result<RHash, Error> {
    let all = ruby.hash_new();
    all.aset(ruby.to_symbol("programs"), programs(ruby, document)?)?;
    all.aset(ruby.to_symbol("enums"), enums(ruby, document)?)?;
    all.aset(ruby.to_symbol("structs"), structs(ruby, document)?)?;
    all.aset(ruby.to_symbol("services"), services(ruby, document)?)?;
    Ok(all)
}

/// Of each file its path, its namespace in Ruby or nil and the line of that, and its constants' names, values and lines.
fn programs(ruby: &Ruby, document: &Document) -> Result<RArray, Error> {
    let programs = ruby.ary_new();
    for program in &document.programs {
        let consts = ruby.ary_new();
        for constant in &program.consts {
            consts.push((constant.name.as_str(), value(ruby, &constant.value)?, constant.line))?;
        }
        let name = program.namespace("rb");
        let namespace = program.namespaces.iter().find(|own| Some(own.name.as_str()) == name);
        let line = namespace.map(|namespace| namespace.line);
        programs.push((program.path.as_str(), name, line, consts))?;
    }
    Ok(programs)
}

/// Of each enum the number of its file, its name, names and numbers, and its line.
fn enums(ruby: &Ruby, document: &Document) -> Result<RArray, Error> {
    let enums = ruby.ary_new();
    for (defined, definition) in document.schema.enums().iter().zip(&document.enums) {
        let values = ruby.ary_new();
        for (name, number) in &defined.values {
            values.push((name.as_str(), *number))?;
        }
        enums.push((definition.program.0, defined.name.as_str(), values, definition.line))?;
    }
    Ok(enums)
}

/// Of each struct the number of its file, its name, its kind, whether it is written as such, fields, and its line.
fn structs(ruby: &Ruby, document: &Document) -> Result<RArray, Error> {
    let structs = ruby.ary_new();
    for (defined, definition) in document.schema.structs().iter().zip(&document.structs) {
        let fields = ruby.ary_new();
        for (field, more) in defined.fields.iter().zip(&definition.fields) {
            let default = more.default.as_ref().map(|default| value(ruby, default)).transpose()?;
            fields.push(described_field(ruby, field, default)?)?;
        }
        let kind = match defined.kind {
            StructKind::Struct => "struct",
            StructKind::Union => "union",
            StructKind::Exception => "exception",
        };
        let is_declared = definition.origin == Origin::Declared;
        let (program, kind) = (definition.program.0, ruby.to_symbol(kind));
        let name = defined.name.as_str();
        structs.push((program, name, kind, is_declared, fields, definition.line))?;
    }
    Ok(structs)
}

fn described_field(
    ruby: &Ruby,
    field: &FieldSchema,
    default: Option<Value>,
) -> Result<RArray, Error> {
    let requiredness = match field.requiredness {
        Requiredness::Default => "default",
        Requiredness::Required => "required",
        Requiredness::Optional => "optional",
    };
    let described = ruby.ary_new();
    described.push(field.id)?;
    described.push(field.name.as_str())?;
    described.push(described_type(ruby, &field.value_type)?)?;
    described.push(ruby.to_symbol(requiredness))?;
    described.push(default)?;
    Ok(described)
}

/// An Array of the type's number in Binary, and the types inside or the number of an enum or a struct.
fn described_type(ruby: &Ruby, value_type: &Type) -> Result<RArray, Error> {
    let described = ruby.ary_new();
    match value_type {
        Type::Binary => described.push(BINARY)?,
        other => described.push(WireType::of(other).number())?,
    }
    match value_type {
        Type::Enum(id) => described.push(id.0)?,
        Type::Struct(id) => described.push(id.0)?,
        Type::List(element) | Type::Set(element) => {
            described.push(described_type(ruby, element)?)?
        }
        Type::Map(key, element) => {
            described.push(described_type(ruby, key)?)?;
            described.push(described_type(ruby, element)?)?;
        }
        _ => {}
    }
    Ok(described)
}

/// Of each service the number of its file, its name, the number of the one it extends, functions, and its line.
fn services(ruby: &Ruby, document: &Document) -> Result<RArray, Error> {
    let services = ruby.ary_new();
    for service in &document.services {
        let functions = ruby.ary_new();
        for function in &service.functions {
            functions.push(described_function(function))?;
        }
        let extends = service.extends.map(|id| id.0);
        let (program, name) = (service.program.0, service.name.as_str());
        services.push((program, name, extends, functions, service.line))?;
    }
    Ok(services)
}

/// Its name, whether it is oneway, whether it returns something, and the numbers of its structs.
fn described_function(function: &Function) -> (String, bool, bool, u32, u32) {
    let returns = function.return_type.is_some();
    let (arguments, result) = (function.arguments.0, function.result.0);
    (function.name.clone(), function.is_oneway, returns, arguments, result)
}

/// A value as Ruby's; of a struct an Array of `:struct`, its number, and numbers of fields with values; of
/// a set an Array of `:set` and the elements.
fn value(ruby: &Ruby, given: &IdlValue) -> Result<Value, Error> {
    let all = |given: &[IdlValue]| -> Result<RArray, Error> {
        let values = ruby.ary_new();
        for element in given {
            values.push(value(ruby, element)?)?;
        }
        Ok(values)
    };
    let named = |name: &str, inside: Value| (ruby.to_symbol(name), inside).into_value_with(ruby);
    Ok(match given {
        IdlValue::Bool(truth) => truth.into_value_with(ruby),
        IdlValue::Int(number) => number.into_value_with(ruby),
        IdlValue::Double(number) => number.into_value_with(ruby),
        IdlValue::String(text) => text.as_str().into_value_with(ruby),
        IdlValue::List(elements) => named("list", all(elements)?.as_value()),
        IdlValue::Set(elements) => named("set", all(elements)?.as_value()),
        IdlValue::Map(entries) => {
            let pairs = ruby.ary_new();
            for (key, element) in entries {
                pairs.push((value(ruby, key)?, value(ruby, element)?))?;
            }
            named("map", pairs.as_value())
        }
        IdlValue::Struct(id, fields) => {
            let pairs = ruby.ary_new();
            for (number, element) in fields {
                pairs.push((*number, value(ruby, element)?))?;
            }
            (ruby.to_symbol("struct"), id.0, pairs).into_value_with(ruby)
        }
    })
}

pub(super) fn define(class: RClass) -> Result<(), Error> {
    class.define_singleton_method("read_idl", function!(read_idl, 3))
}
