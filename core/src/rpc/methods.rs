//! The methods of a service by an IDL file, to read what calls carry.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::call::{Call, Outcome};
use super::field::CarriedField;
use crate::error::excerpt;
use crate::thrift::idl::{Document, Service, ServiceId};
use crate::thrift::{
    FieldSchema, Limits, Plan, ProtocolResult, ReadableMessage, StructId, StructKind, Tape,
    TapeValue, ThriftSchema, Type, json,
};
use crate::{Error, ErrorKind, Result};

/// Services that extend each other, one behind the other.
const ANCESTORS_MAX: usize = 64;

/// Structs of the messages of a service's methods.
#[derive(Debug)]
pub struct Methods {
    plan: Plan,
    /// The structs of arguments and of results, by method.
    by_name: HashMap<String, (StructId, StructId)>,
    failure: StructId,
}

impl Methods {
    /// The methods of the service of that name, with those of the services that it extends. Without a name,
    /// those of the only service of the file.
    ///
    /// # Errors
    ///
    /// `Argument` where there is no such service, or several without a name.
    pub fn new(document: &Document, service: Option<&str>) -> Result<Self> {
        let mut schema = document.schema.clone();
        let failure = declare_failure(&mut schema)?;
        let mut by_name = HashMap::new();
        let mut next = Some(find(document, service)?);
        for _ in 0..ANCESTORS_MAX {
            let Some(service) = next else { break };
            for function in &service.functions {
                let structs = (function.arguments, function.result);
                by_name.entry(function.name.clone()).or_insert(structs);
            }
            next = service.extends.and_then(|extended| document.service(extended));
        }
        Ok(Methods { plan: Plan::new(Arc::new(schema))?, by_name, failure })
    }

    /// The schema by which tapes are read.
    pub fn schema(&self) -> &ThriftSchema {
        self.plan.schema()
    }

    /// Returns true if the service has the method of a call.
    pub fn has(&self, call: &Call) -> bool {
        self.structs(call).is_some()
    }

    /// Reads the arguments of a call; returns the bytes by which the tape is read. `None`, and nothing on the tape, where the call
    /// does not have them or the service has no such method.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are invalid.
    pub fn read_arguments<'c>(
        &self,
        call: &'c Call,
        tape: &mut Tape,
    ) -> ProtocolResult<Option<Cow<'c, [u8]>>> {
        let found = self.structs(call).map(|(arguments, _)| arguments);
        self.read(call, found, call.arguments.as_deref(), tape)
    }

    /// Reads the result of a call: a struct with the field `success` or one of an exception, or of a failure
    /// `message` and `type`. `None` as for arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are invalid.
    pub fn read_result<'c>(
        &self,
        call: &'c Call,
        tape: &mut Tape,
    ) -> ProtocolResult<Option<Cow<'c, [u8]>>> {
        let found = match call.outcome {
            Outcome::Failure => Some(self.failure),
            _ => self.structs(call).map(|(_, result)| result),
        };
        self.read(call, found, call.result.as_deref(), tape)
    }

    /// Returns arguments or result of a call as JSON with fields by name; `None` if the call does not have it. A
    /// struct that does not fit the IDL is as good as one that is not there.
    pub fn json(&self, call: &Call, field: CarriedField, tape: &mut Tape) -> Option<String> {
        let read = match field {
            CarriedField::Arguments => self.read_arguments(call, tape),
            CarriedField::Result => self.read_result(call, tape),
        };
        let bytes = read.ok().flatten()?;
        let mut cursor = tape.cursor(&bytes);
        let value = cursor.value();
        let TapeValue::Struct(id) = value else { return None };
        let mut text = Vec::new();
        json(&mut text, self.schema(), &mut cursor, value, &Type::Struct(id));
        String::from_utf8(text).ok()
    }

    fn read<'c>(
        &self,
        call: &Call,
        id: Option<StructId>,
        bytes: Option<&'c [u8]>,
        tape: &mut Tape,
    ) -> ProtocolResult<Option<Cow<'c, [u8]>>> {
        tape.clear();
        let Some((id, bytes)) = id.zip(bytes) else { return Ok(None) };
        let limits = Limits::default();
        let message = ReadableMessage { form: call.protocol.form, offset: 0, bytes: bytes.into() };
        let message = message.packed(&self.plan, id, limits)?;
        self.plan.decode(message.encoding, id, &message.bytes, limits, tape)?;
        Ok(Some(message.bytes))
    }

    fn structs(&self, call: &Call) -> Option<(StructId, StructId)> {
        self.structs_of(call.bare_method())
    }

    /// The structs of arguments and of the result of a method.
    pub(super) fn structs_of(&self, method: &str) -> Option<(StructId, StructId)> {
        self.by_name.get(method).copied()
    }

    /// The names of the methods, in order.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

/// Declares the struct of a failure, which Thrift's libraries have without an IDL.
fn declare_failure(schema: &mut ThriftSchema) -> Result<StructId> {
    let id = schema.declare_struct("TApplicationException", StructKind::Exception);
    let fields =
        vec![FieldSchema::new(1, "message", Type::String), FieldSchema::new(2, "type", Type::I32)];
    schema.define_struct(id, fields)?;
    Ok(id)
}

fn find<'d>(document: &'d Document, name: Option<&str>) -> Result<&'d Service> {
    let Some(name) = name else { return only(document) };
    let found = document.services.iter().rev().find(|service| service.name == name);
    found.ok_or_else(|| argument(&format!("the service {name}"), &list(&document.services)))
}

/// The only service of the file itself.
fn only(document: &Document) -> Result<&Service> {
    let ids: &[ServiceId] = document.main().map_or(&[], |main| &main.services);
    let services: Vec<&Service> = ids.iter().filter_map(|id| document.service(*id)).collect();
    match services.as_slice() {
        [service] => Ok(service),
        [] => Err(argument("a service", "none")),
        several => {
            let found = list(several.iter().copied());
            Err(argument("the name of a service where there are several", &found))
        }
    }
}

fn list<'s>(services: impl IntoIterator<Item = &'s Service>) -> String {
    let names: Vec<&str> = services.into_iter().map(|service| service.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn argument(expected: &str, found: &str) -> Error {
    let (expected, found) = (excerpt(expected), excerpt(found));
    Error::new(ErrorKind::Argument, format!("expected {expected}, found {found}"))
}
