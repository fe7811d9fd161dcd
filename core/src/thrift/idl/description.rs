//! A [`Document`] as lists in lists: all that a host needs of it to make classes. A face makes its host's objects of the lists,
//! and knows no more of IDL.
//!
//! ```text
//! document   programs, enums, structs, services
//! program    path, name, namespace, line of the namespace, numbers of the programs that it includes, constants
//! constant   name, type, value, line
//! enum       program, name, values (name, number), line
//! struct     program, name, kind, true if it is declared and not made for a function, fields, line
//! field      id, name, type, requiredness, default
//! service    program, name, the service that it extends, functions, line
//! function   name, true if it is oneway, true if it returns something, struct that it takes, struct that it answers
//! type       number, as Type::numbered takes it, then the enum, the struct, or the types inside
//! value      of a list or a set: the values; of a map: pairs; of a struct: pairs of the number of a field and its value
//! ```
//!
//! Programs, enums, structs and services are named by their numbers. What a type says is not said again by a value.

use super::document::{
    ConstValue, Document, EnumDefinition, FieldDefinition, Program, Service, StructDefinition,
    StructOrigin,
};
use crate::batch;
use crate::thrift::{
    EnumId, EnumSchema, FieldSchema, Requiredness, StructId, StructKind, StructSchema, Type,
};

/// A part of a description.
#[derive(Debug, Clone)]
pub enum Described<'d> {
    /// A fact: a text, a number, true or false, or null.
    Fact(batch::Value<'d>),
    /// One of a few words, for which a host may have something better than a text.
    Word(&'static str),
    /// Parts in an order.
    List(Vec<Described<'d>>),
}

impl Document {
    /// Describes the document to a host whose namespaces are those of the language `scope`.
    pub fn described(&self, scope: &str) -> Described<'_> {
        let enums = self.schema.enums().iter().zip(&self.enums);
        let structs = self.schema.structs().iter().zip(&self.structs);
        list([
            each(&self.programs, |program| program_in(scope, program)),
            each(enums, enumeration),
            each(structs, structure),
            each(&self.services, service),
        ])
    }
}

fn program_in<'d>(scope: &str, program: &'d Program) -> Described<'d> {
    let namespace = program.namespace_for(scope);
    list([
        fact(program.path.as_str()),
        fact(program.name.as_str()),
        fact(namespace.map(|own| own.name.as_str())),
        fact(namespace.map(|own| own.line)),
        each(&program.includes, |id| fact(id.0)),
        each(&program.consts, |own| {
            let (name, line) = (fact(own.name.as_str()), fact(own.line));
            list([name, type_of(&own.value_type), value_of(&own.value), line])
        }),
    ])
}

fn enumeration<'d>((schema, own): (&'d EnumSchema, &EnumDefinition)) -> Described<'d> {
    let values = each(&schema.values, |(name, value)| list([fact(name.as_str()), fact(*value)]));
    list([fact(own.program.0), fact(schema.name.as_str()), values, fact(own.line)])
}

fn structure<'d>((schema, own): (&'d StructSchema, &'d StructDefinition)) -> Described<'d> {
    let kind = Described::Word(match schema.kind {
        StructKind::Struct => "struct",
        StructKind::Union => "union",
        StructKind::Exception => "exception",
    });
    let (program, name) = (fact(own.program.0), fact(schema.name.as_str()));
    let is_declared = fact(own.origin == StructOrigin::Declared);
    let fields = each(schema.fields.iter().zip(&own.fields), field);
    list([program, name, kind, is_declared, fields, fact(own.line)])
}

fn field<'d>((schema, own): (&'d FieldSchema, &'d FieldDefinition)) -> Described<'d> {
    let requiredness = Described::Word(match schema.requiredness {
        Requiredness::Default => "default",
        Requiredness::Required => "required",
        Requiredness::Optional => "optional",
    });
    let (id, name) = (fact(schema.id), fact(schema.name.as_str()));
    let default = own.default.as_ref().map_or(Described::Fact(batch::Value::Null), value_of);
    list([id, name, type_of(&schema.value_type), requiredness, default])
}

fn service(own: &Service) -> Described<'_> {
    let functions = each(&own.functions, |function| {
        list([
            fact(function.name.as_str()),
            fact(function.is_oneway),
            fact(function.return_type.is_some()),
            fact(function.arguments.0),
            fact(function.result.0),
        ])
    });
    let extends = fact(own.extends.map(|id| id.0));
    list([fact(own.program.0), fact(own.name.as_str()), extends, functions, fact(own.line)])
}

fn type_of(value_type: &Type) -> Described<'static> {
    let number = fact(value_type.number());
    match value_type {
        Type::Enum(EnumId(id)) | Type::Struct(StructId(id)) => list([number, fact(*id)]),
        Type::List(element) | Type::Set(element) => list([number, type_of(element)]),
        Type::Map(key, value) => list([number, type_of(key), type_of(value)]),
        _ => list([number]),
    }
}

fn value_of(value: &ConstValue) -> Described<'_> {
    match value {
        ConstValue::Bool(truth) => fact(*truth),
        ConstValue::Int(number) => fact(*number),
        ConstValue::Double(number) => fact(*number),
        ConstValue::String(text) => fact(text.as_str()),
        ConstValue::List(values) | ConstValue::Set(values) => each(values, value_of),
        ConstValue::Map(entries) => {
            each(entries, |(key, value)| list([value_of(key), value_of(value)]))
        }
        ConstValue::Struct(_, fields) => {
            each(fields, |(place, value)| list([fact(*place as u64), value_of(value)]))
        }
    }
}

fn fact<'d>(fact: impl Into<batch::Value<'d>>) -> Described<'d> {
    Described::Fact(fact.into())
}

fn list<'d, const N: usize>(parts: [Described<'d>; N]) -> Described<'d> {
    Described::List(parts.into())
}

fn each<'d, T>(
    items: impl IntoIterator<Item = T>,
    of: impl Fn(T) -> Described<'d>,
) -> Described<'d> {
    Described::List(items.into_iter().map(of).collect())
}
