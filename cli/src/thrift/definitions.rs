//! Definitions of messages in an IDL file: which struct a type's name means, and which one a function
//! takes or returns.

use std::collections::HashMap;
use std::sync::Arc;

use bytewright::ask::load_idl;
use bytewright::thrift::idl::{Document, IdlOptions};
use bytewright::thrift::{
    EnumSchema, FieldSchema, MessageHeader, MessageKind, Plan, StructId, StructKind, ThriftSchema,
    Type,
};
use bytewright::{Error, ErrorKind, Result};

use crate::args::ThriftInput;

/// Exception that a server returns if it could not call a function, as Thrift's libraries number its kinds
/// (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-rpc.md>).
const APPLICATION_EXCEPTION: &str = "TApplicationException";
const APPLICATION_EXCEPTION_TYPES: [&str; 11] = [
    "UNKNOWN",
    "UNKNOWN_METHOD",
    "INVALID_MESSAGE_TYPE",
    "WRONG_METHOD_NAME",
    "BAD_SEQUENCE_ID",
    "MISSING_RESULT",
    "INTERNAL_ERROR",
    "PROTOCOL_ERROR",
    "INVALID_TRANSFORM",
    "INVALID_PROTOCOL",
    "UNSUPPORTED_CLIENT_TYPE",
];

/// Definitions of the messages.
pub(super) struct Definitions {
    pub(super) plan: Arc<Plan>,
    /// Structs that each function takes and returns, by its name, and by `service:function`, as multiplexed
    /// services call it.
    functions: HashMap<String, Function>,
    application_exception: StructId,
}

#[derive(Clone, Copy)]
struct Function {
    arguments: StructId,
    result: StructId,
}

impl Definitions {
    /// Reads the IDL file; answers the struct of the type's name with it, if there is one.
    pub(super) fn load(
        input: &ThriftInput,
        type_name: Option<&str>,
    ) -> Result<(Self, Option<StructId>)> {
        let mut document = load_idl(&input.idl, &input.include, IdlOptions::default())?;
        let root = type_name.map(|name| document.struct_named(name)).transpose()?;
        let functions = functions(&document);
        if root.is_none() && functions.is_empty() {
            let path = input.idl.display();
            let message = format!("expected --type, because {path} has no services, found none");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        let application_exception = declare_application_exception(&mut document.schema)?;
        let plan = Arc::new(Plan::new(Arc::new(document.schema))?);
        Ok((Definitions { plan, functions, application_exception }, root))
    }

    /// The struct behind a header: what the function takes or answers; of an exception, the one that
    /// all functions share. `named` is what the user says it is.
    pub(super) fn body(
        &self,
        header: &MessageHeader<'_>,
        named: Option<StructId>,
    ) -> Option<StructId> {
        if header.kind == MessageKind::EXCEPTION {
            return Some(self.application_exception);
        }
        if named.is_some() {
            return named;
        }
        let function = self.functions.get(std::str::from_utf8(header.name).ok()?)?;
        Some(match header.kind {
            MessageKind::REPLY => function.result,
            _ => function.arguments,
        })
    }
}

/// All functions. One that several services have is that of the last service, by its name alone: the file
/// that was asked for comes last.
fn functions(document: &Document) -> HashMap<String, Function> {
    let mut functions = HashMap::new();
    for service in &document.services {
        let mut next = Some(service);
        while let Some(of) = next {
            for function in &of.functions {
                let (arguments, result) = (function.arguments, function.result);
                let structs = Function { arguments, result };
                functions.insert(format!("{}:{}", service.name, function.name), structs);
                if std::ptr::eq(of, service) {
                    functions.insert(function.name.clone(), structs);
                }
            }
            next = of.extends.and_then(|id| document.service(id));
        }
    }
    functions
}

fn declare_application_exception(schema: &mut ThriftSchema) -> Result<StructId> {
    let names = APPLICATION_EXCEPTION_TYPES.iter().map(|name| (*name).to_owned());
    let values = names.zip(0..).collect();
    let kinds = schema.add_enum(EnumSchema { name: "type".to_owned(), values });
    let id = schema.declare_struct(APPLICATION_EXCEPTION, StructKind::Exception);
    let message = FieldSchema::new(1, "message", Type::String);
    let kind = FieldSchema::new(2, "type", Type::Enum(kinds));
    schema.define_struct(id, vec![message, kind])?;
    Ok(id)
}
