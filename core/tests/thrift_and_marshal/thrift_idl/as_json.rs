//! A file in the words of the compiler's JSON generator, token by token, which says what code for Ruby
//! does not: typedefs, constants with all their digits, annotations, how much a field is required.

use std::collections::BTreeMap;

use bytewright::thrift::idl::{
    Annotation, ConstValue, Document, Function, Program, ProgramId, Service,
};
use bytewright::thrift::{FieldSchema, Requiredness, StructId, StructKind, Type};

/// The tokens of what the compiler printed, but for documentation and what is
/// said of types in others. (It is not quite JSON: keys of
/// maps may be lists and maps.)
pub(crate) fn tokens(json: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = json.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '"' => string_len(rest),
            '{' | '}' | '[' | ']' | ':' | ',' => 1,
            _ => rest.find([',', '}', ']', ':', ' ', '\n']).expect("a token after a number"),
        };
        let (token, after) = rest.split_at(len);
        tokens.push(number(token));
        rest = after.trim_start();
    }
    while let Some(at) = tokens.iter().position(|token| token == "\"doc\"") {
        tokens.drain(at..at + 4);
    }
    let of_a_type =
        |six: &[String]| six[0] == "{" && six[1] == "\"typeId\"" && six[5] == "\"annotations\"";
    while let Some(at) = tokens.windows(6).position(of_a_type) {
        let len = tokens[at + 5..].iter().position(|token| token == "}").expect("an end") + 2;
        tokens.drain(at + 5..at + 5 + len);
    }
    // A list may be written as a map where there is nothing in it.
    for at in 1..tokens.len() {
        if tokens[at - 1] == "{" && tokens[at] == "}" {
            tokens[at - 1] = "[".to_owned();
            tokens[at] = "]".to_owned();
        }
    }
    tokens
}

fn string_len(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    panic!("a string without an end: {text}")
}

/// A token in the one form that all spellings of a number have.
fn number(token: &str) -> String {
    let plain = token.trim_matches('"');
    let is_double =
        plain.contains(['.', 'e']) && plain.starts_with(|c: char| "-.0123456789".contains(c));
    match plain.parse::<f64>() {
        Ok(double) if is_double => token.replace(plain, &shortest(double)),
        _ => token.to_owned(),
    }
}

fn shortest(double: f64) -> String {
    if double.fract() == 0.0 && double.abs() < 1e15 {
        format!("{double:.0}")
    } else {
        format!("{double:e}")
    }
}

/// Returns the tokens that the compiler should print for the file that was asked for.
pub(crate) fn of_main(document: &Document) -> Vec<String> {
    let json = AsJson { document, main: ProgramId(document.programs.len() as u32 - 1) };
    tokens(&json.program(document.main().expect("a program")))
}

struct AsJson<'d> {
    document: &'d Document,
    main: ProgramId,
}

impl AsJson<'_> {
    fn program(&self, program: &Program) -> String {
        let namespaces: BTreeMap<_, _> =
            program.namespaces.iter().map(|space| (&space.scope, &space.name)).collect();
        let namespaces = namespaces.iter().map(|(scope, name)| format!("{scope:?}: {name:?}"));
        let includes = program
            .includes
            .iter()
            .map(|id| format!("{:?}", self.document.program(*id).expect("a program").name));
        let enums = program.enums.iter().map(|id| {
            let schema = self.document.schema.get_enum(*id).expect("an enum");
            let definition = self.document.enum_definition(*id).expect("an enum");
            let member = |(name, number): &(String, i32)| {
                format!(r#"{{"name": {name:?}, "value": {number}}}"#)
            };
            let members = list(schema.values.iter().map(member));
            let annotations = annotations(&definition.annotations);
            format!(r#"{{"name": {:?}, {annotations} "members": {members}}}"#, schema.name)
        });
        let typedefs = program.typedefs.iter().map(|typedef| {
            let of = self.type_of("typeId", "type", &typedef.stands_for);
            let annotations = annotations(&typedef.annotations);
            let end = if annotations.is_empty() { "" } else { ", " };
            let annotations = annotations.trim_end_matches(", ");
            format!(r#"{{"name": {:?}, {of}{end}{annotations}}}"#, typedef.name)
        });
        let structs = program.structs.iter().map(|id| self.struct_of(*id));
        let constants = program.consts.iter().map(|constant| {
            let of = self.type_of("typeId", "type", &constant.value_type);
            let value = self.value(&constant.value);
            format!(r#"{{"name": {:?}, {of}, "value": {value}}}"#, constant.name)
        });
        let services = program.services.iter().map(|id| self.document.service(*id));
        let services = services.map(|service| self.service(service.expect("a service")));
        format!(
            r#"{{"name": {:?}, "namespaces": {{{}}}, "includes": {}, "enums": {}, "typedefs": {},
            "structs": {}, "constants": {}, "services": {}}}"#,
            program.name,
            namespaces.collect::<Vec<_>>().join(", "),
            list(includes),
            list(enums),
            list(typedefs),
            list(structs),
            list(constants),
            list(services),
        )
    }

    fn struct_of(&self, id: StructId) -> String {
        let schema = self.document.schema.get(id).expect("a struct");
        let definition = self.document.struct_definition(id).expect("a struct");
        format!(
            r#"{{"name": {:?}, {} "isException": {}, "isUnion": {}, "fields": {}}}"#,
            schema.name,
            annotations(&definition.annotations),
            schema.kind == StructKind::Exception,
            schema.kind == StructKind::Union,
            self.fields(id, &schema.fields, 0),
        )
    }

    /// Fields of a struct from a number on.
    fn fields(&self, id: StructId, fields: &[FieldSchema], from: usize) -> String {
        let definitions = &self.document.struct_definition(id).expect("a struct").fields;
        list(fields.iter().zip(definitions).skip(from).map(|(field, definition)| {
            let required = match field.requiredness {
                Requiredness::Default => "req_out",
                Requiredness::Required => "required",
                Requiredness::Optional => "optional",
            };
            let default = definition.default.as_ref().map(|value| self.value(value));
            let default = default.map(|value| format!(r#", "default": {value}"#));
            format!(
                r#"{{"key": {}, "name": {:?}, {}, {} "required": {required:?}{}}}"#,
                field.id,
                field.name,
                self.type_of("typeId", "type", &field.value_type),
                annotations(&definition.annotations),
                default.unwrap_or_default(),
            )
        }))
    }

    fn service(&self, service: &Service) -> String {
        let extends = service.extends.and_then(|id| self.document.service(id));
        let extends = extends
            .map(|above| format!(r#""extends": {:?}, "#, self.name_of(above.program, &above.name)));
        format!(
            r#"{{"name": {:?}, {} {} "functions": {}}}"#,
            service.name,
            extends.unwrap_or_default(),
            annotations(&service.annotations),
            list(service.functions.iter().map(|function| self.function(function))),
        )
    }

    fn function(&self, function: &Function) -> String {
        let returns = match &function.return_type {
            Some(of) => self.type_of("returnTypeId", "returnType", of),
            None => r#""returnTypeId": "void""#.to_owned(),
        };
        let fields = |id| self.document.schema.get(id).expect("a struct").fields.as_slice();
        let result = fields(function.result);
        let returned_count = result.len() - self.document.exceptions(function).len();
        format!(
            r#"{{"name": {:?}, {returns}, "oneway": {}, {} "arguments": {}, "exceptions": {}}}"#,
            function.name,
            function.is_oneway,
            annotations(&function.annotations),
            self.fields(function.arguments, fields(function.arguments), 0),
            self.fields(function.result, result, returned_count),
        )
    }

    fn type_id(&self, of: &Type) -> String {
        match of {
            Type::Byte => "i8".to_owned(),
            Type::Enum(_) => "i32".to_owned(),
            Type::List(_) => "list".to_owned(),
            Type::Set(_) => "set".to_owned(),
            Type::Map(..) => "map".to_owned(),
            Type::Struct(id) => match self.document.schema.get(*id).expect("a struct").kind {
                StructKind::Struct => "struct".to_owned(),
                StructKind::Union => "union".to_owned(),
                StructKind::Exception => "exception".to_owned(),
            },
            plain => plain.to_string(),
        }
    }

    /// The name of a type under one key, and what it is made of, if it is, under the other.
    fn type_of(&self, id_key: &str, key: &str, of: &Type) -> String {
        let id = format!("{id_key:?}: {:?}", self.type_id(of));
        match self.parts(of) {
            Some(parts) => {
                format!(r#"{id}, {key:?}: {{"typeId": {:?}, {parts}}}"#, self.type_id(of))
            }
            None => id,
        }
    }

    fn parts(&self, of: &Type) -> Option<String> {
        Some(match of {
            Type::List(element) | Type::Set(element) => {
                self.type_of("elemTypeId", "elemType", element)
            }
            Type::Map(key, value) => {
                let ids = [("keyTypeId", key), ("valueTypeId", value)];
                let ids = ids.map(|(name, of)| format!("{name:?}: {:?}", self.type_id(of)));
                let whole = [("keyType", key), ("valueType", value)];
                let whole = whole.into_iter().filter_map(|(name, of)| {
                    let parts = self.parts(of)?;
                    Some(format!(r#", {name:?}: {{"typeId": {:?}, {parts}}}"#, self.type_id(of)))
                });
                ids.join(", ") + &whole.collect::<String>()
            }
            Type::Struct(id) => {
                let definition = self.document.struct_definition(*id).expect("a struct");
                let name = &self.document.schema.get(*id).expect("a struct").name;
                format!(r#""class": {:?}"#, self.name_of(definition.program, name))
            }
            _ => return None,
        })
    }

    fn name_of(&self, program: ProgramId, name: &str) -> String {
        if program == self.main {
            return name.to_owned();
        }
        format!("{}.{name}", self.document.program(program).expect("a program").name)
    }

    fn value(&self, value: &ConstValue) -> String {
        match value {
            ConstValue::Bool(truth) => u8::from(*truth).to_string(),
            ConstValue::Int(number) => number.to_string(),
            ConstValue::Double(number) => shortest(*number),
            ConstValue::String(content) => string(content),
            ConstValue::List(values) | ConstValue::Set(values) => {
                list(values.iter().map(|value| self.value(value)))
            }
            ConstValue::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    let key = self.value(key);
                    let is_quoted = key.starts_with(['"', '[', '{']);
                    let key = if is_quoted { key } else { format!("\"{key}\"") };
                    format!("{key}: {}", self.value(value))
                });
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            ConstValue::Struct(id, values) => {
                let fields = &self.document.schema.get(*id).expect("a struct").fields;
                let values = values.iter().map(|(number, value)| {
                    format!("{:?}: {}", fields[*number].name, self.value(value))
                });
                format!("{{{}}}", values.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(", "))
}

/// Annotations by their keys, the last of each, with a comma behind; nothing where there are none.
fn annotations(annotations: &[Annotation]) -> String {
    if annotations.is_empty() {
        return String::new();
    }
    let sorted: BTreeMap<_, _> = annotations.iter().map(|note| (&note.key, &note.value)).collect();
    let sorted = sorted.iter().map(|(key, value)| format!("{key:?}: {}", string(value)));
    format!(r#""annotations": {{{}}}, "#, sorted.collect::<Vec<_>>().join(", "))
}

fn string(content: &str) -> String {
    let mut quoted = String::from("\"");
    for c in content.chars() {
        match c {
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '/' => quoted += "\\/",
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
