//! What IDL files say: a [`Schema`], and beside it all that the bytes of messages do not need but a
//! host's classes do.

use crate::error::excerpt;
use crate::thrift::{EnumId, FieldSchema, Schema, StructId, Type};
use crate::{Error, ErrorKind, Result};

/// Names that an error lists at most.
const LISTED_MAX: usize = 30;

/// What an IDL file and all that it includes define.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The structs and enums of all files, and a struct each for what a function takes and answers.
    pub schema: Schema,
    /// The files, included ones before those that include them: the one that was asked for is last.
    pub programs: Vec<Program>,
    /// What the schema does not say of its structs, by [`StructId`].
    pub structs: Vec<StructDefinition>,
    /// What the schema does not say of its enums, by [`EnumId`].
    pub enums: Vec<EnumDefinition>,
    /// The services of all files, by [`ServiceId`].
    pub services: Vec<Service>,
}

/// The number of a file in its [`Document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramId(pub u32);

/// The number of a service in its [`Document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServiceId(pub u32);

/// What one file defines, each kind in the order of the text.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The path that it was included by, as [`Includes`](super::Includes) gave it.
    pub path: String,
    /// The last part of the path without its extension: what names of this file begin with in files
    /// that include it.
    pub name: String,
    /// Where generated code goes, by language.
    pub namespaces: Vec<Namespace>,
    /// The files that it includes itself.
    pub includes: Vec<ProgramId>,
    /// What C++ code of it is to include.
    pub cpp_includes: Vec<String>,
    /// Other names for types.
    pub typedefs: Vec<Typedef>,
    /// The enums.
    pub enums: Vec<EnumId>,
    /// The constants.
    pub consts: Vec<Const>,
    /// The structs, unions and exceptions, without those of functions.
    pub structs: Vec<StructId>,
    /// The services.
    pub services: Vec<ServiceId>,
}

/// Where generated code of a language goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// The language (`rb`, `java`), or `*` for those that are not named.
    pub scope: String,
    /// The name, its parts with dots between them.
    pub name: String,
    /// The line of its name, from 1.
    pub line: u32,
    /// What is said of it.
    pub annotations: Vec<Annotation>,
}

/// A note for a generator, `key = "value"` in parentheses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// What it is called.
    pub key: String,
    /// Its value; `1` where none is written.
    pub value: String,
}

/// Another name for a type.
#[derive(Debug, Clone)]
pub struct Typedef {
    /// The new name.
    pub name: String,
    /// What it stands for, without other typedefs.
    pub stands_for: Type,
    /// What is said of it.
    pub annotations: Vec<Annotation>,
}

/// A constant.
#[derive(Debug, Clone)]
pub struct Const {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub value_type: Type,
    /// Its value.
    pub value: Value,
    /// The line of its name, from 1.
    pub line: u32,
}

/// A value in an IDL file, of a constant or a default, with names in it resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Of a `bool`.
    Bool(bool),
    /// Of a number type, also of a `double` that is written without dot and exponent, and of an enum.
    /// It is as written: whether it fits the type is not checked.
    Int(i64),
    /// Of a `double`.
    Double(f64),
    /// Of a `string`, a `binary`, or a `uuid` as 36 characters.
    String(String),
    /// Of a list.
    List(Vec<Value>),
    /// Of a set, as written: values may be there twice.
    Set(Vec<Value>),
    /// Of a map, in the compiler's order: integers, doubles, strings, maps, lists, names, each sorted.
    Map(Vec<(Value, Value)>),
    /// Of a struct: the numbers of fields (not their ids) with their values, by the names' order.
    Struct(StructId, Vec<(usize, Value)>),
}

/// What the schema does not say of a struct.
#[derive(Debug, Clone)]
pub struct StructDefinition {
    /// The file that it is in.
    pub program: ProgramId,
    /// Whether it is written as a struct, or comes of a function.
    pub origin: Origin,
    /// What the schema does not say of its fields, in their order.
    pub fields: Vec<FieldDefinition>,
    /// The line of its name, or of the function that it comes of, from 1.
    pub line: u32,
    /// What is said of it.
    pub annotations: Vec<Annotation>,
}

/// Where a struct of a schema comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It is defined by its name.
    Declared,
    /// A function takes it.
    Arguments,
    /// A function answers it.
    Result,
}

/// What the schema does not say of a field.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldDefinition {
    /// Its value where none is set.
    pub default: Option<Value>,
    /// Whether `&` stands before its name: generated code holds a reference, where languages differ.
    pub is_reference: bool,
    /// The line of its name, from 1; 0 for what a function returns, which has none.
    pub line: u32,
    /// What is said of it.
    pub annotations: Vec<Annotation>,
}

/// What the schema does not say of an enum.
#[derive(Debug, Clone)]
pub struct EnumDefinition {
    /// The file that it is in.
    pub program: ProgramId,
    /// What is said of it.
    pub annotations: Vec<Annotation>,
    /// What is said of its values, in their order.
    pub value_annotations: Vec<Vec<Annotation>>,
    /// The line of its name, from 1.
    pub line: u32,
    /// The lines of its values, in their order.
    pub value_lines: Vec<u32>,
}

/// Functions that are called from afar.
#[derive(Debug, Clone)]
pub struct Service {
    /// What it is called.
    pub name: String,
    /// The file that it is in.
    pub program: ProgramId,
    /// The service whose functions it has too, which it does not list.
    pub extends: Option<ServiceId>,
    /// Its own functions, in the order of the text.
    pub functions: Vec<Function>,
    /// The line of its name, from 1.
    pub line: u32,
    /// What is said of it.
    pub annotations: Vec<Annotation>,
}

/// A function of a service.
#[derive(Debug, Clone)]
pub struct Function {
    /// What it is called.
    pub name: String,
    /// Whether nobody waits for an answer; there is no message for it then.
    pub is_oneway: bool,
    /// What it returns; none for `void`.
    pub return_type: Option<Type>,
    /// The struct that it takes.
    pub arguments: StructId,
    /// The struct that it answers: what it returns as field `success` with id 0, unless that is
    /// `void`, and a field for each exception.
    pub result: StructId,
    /// What is said of it.
    pub annotations: Vec<Annotation>,
}

impl Document {
    /// The file that was asked for.
    pub fn main(&self) -> Option<&Program> {
        self.programs.last()
    }

    /// The file with that number.
    pub fn program(&self, id: ProgramId) -> Option<&Program> {
        self.programs.get(id.0 as usize)
    }

    /// The service with that number.
    pub fn service(&self, id: ServiceId) -> Option<&Service> {
        self.services.get(id.0 as usize)
    }

    /// What the schema does not say of that struct.
    pub fn struct_definition(&self, id: StructId) -> Option<&StructDefinition> {
        self.structs.get(id.0 as usize)
    }

    /// What the schema does not say of that enum.
    pub fn enum_definition(&self, id: EnumId) -> Option<&EnumDefinition> {
        self.enums.get(id.0 as usize)
    }

    /// The struct of a name: of the file itself, of an included one with its name before a dot, of a function (`add_args`,
    /// `add_result`), or what a typedef stands for.
    ///
    /// # Errors
    ///
    /// `Argument` where there is none, with those that the file has.
    pub fn struct_named(&self, name: &str) -> Result<StructId> {
        let (program, own_name) = match name.split_once('.') {
            Some((program, rest)) => {
                (self.programs.iter().find(|found| found.name == program), rest)
            }
            None => (self.main(), name),
        };
        let found = program.and_then(|program| self.struct_in(program, own_name));
        found.or_else(|| self.schema.find(name)).ok_or_else(|| {
            let known = self.main().map(|main| self.struct_names(main)).unwrap_or_default();
            let expected =
                format!("expected a struct, union or exception of the IDL file ({known})");
            Error::new(ErrorKind::Argument, format!("{expected}, found {:?}", excerpt(name)))
        })
    }

    fn struct_in(&self, program: &Program, name: &str) -> Option<StructId> {
        let is_named = |id: &&StructId| self.schema.get(**id).is_some_and(|own| own.name == name);
        let stands_for = || {
            let typedef = program.typedefs.iter().find(|typedef| typedef.name == name)?;
            match typedef.stands_for {
                Type::Struct(id) => Some(id),
                _ => None,
            }
        };
        program.structs.iter().find(is_named).copied().or_else(stands_for)
    }

    fn struct_names(&self, program: &Program) -> String {
        let schemas = program.structs.iter().filter_map(|id| self.schema.get(*id));
        let mut names: Vec<&str> =
            schemas.map(|own| own.name.as_str()).take(LISTED_MAX + 1).collect();
        if names.len() > LISTED_MAX {
            names.truncate(LISTED_MAX);
            names.push("...");
        }
        names.join(", ")
    }

    /// What a function may throw: the fields of its result but `success`.
    pub fn exceptions(&self, function: &Function) -> &[FieldSchema] {
        let result = self.schema.get(function.result);
        let fields = result.map_or(&[] as &[FieldSchema], |result| result.fields.as_slice());
        let returned = usize::from(function.return_type.is_some());
        fields.get(returned..).unwrap_or_default()
    }
}

impl Program {
    /// The namespace of a language, or the one of `*` where it has none of its own.
    pub fn namespace(&self, scope: &str) -> Option<&str> {
        let find = |scope: &str| self.namespaces.iter().find(|found| found.scope == scope);
        find(scope).or_else(|| find("*")).map(|found| found.name.as_str())
    }
}
