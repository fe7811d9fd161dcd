//! Content of IDL files: a [`ThriftSchema`], and beside it all that the bytes of messages do not need but a
//! host's classes do.

use crate::error::excerpt;
use crate::thrift::{EnumId, FieldSchema, StructId, ThriftSchema, Type};
use crate::{Error, ErrorKind, Result};

/// Names that an error lists at most.
const LISTED_MAX: usize = 30;

/// Definitions in an IDL file and in all that it includes.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The structs and enums of all files, and a struct each for what a function takes and answers.
    pub schema: ThriftSchema,
    /// The files, included ones before those that include them: the one that was asked for is last.
    pub programs: Vec<Program>,
    /// Facts about its structs, beyond the schema, by [`StructId`].
    pub structs: Vec<StructDefinition>,
    /// Facts about its enums, beyond the schema, by [`EnumId`].
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

/// Definitions in one file, each kind in the order of the text.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The path that it was included by, as [`Includes`](super::Includes) gave it.
    pub path: String,
    /// The last part of the path without its extension: what names of this file begin with in files
    /// that include it.
    pub name: String,
    /// Namespaces of generated code, by language.
    pub namespaces: Vec<Namespace>,
    /// The files that it includes itself.
    pub includes: Vec<ProgramId>,
    /// Files that C++ code of it is to include.
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

/// Namespace of the generated code of a language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// The language (`rb`, `java`), or `*` for those that are not named.
    pub scope: String,
    /// The name, its parts with dots between them.
    pub name: String,
    /// The line of its name, from 1.
    pub line: u32,
    /// Annotations of the namespace.
    pub annotations: Vec<Annotation>,
}

/// A note for a generator, `key = "value"` in parentheses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// Key of the annotation.
    pub key: String,
    /// Its value; `1` where none is written.
    pub value: String,
}

/// Another name for a type.
#[derive(Debug, Clone)]
pub struct Typedef {
    /// The new name.
    pub name: String,
    /// Type that it stands for, without other typedefs.
    pub stands_for: Type,
    /// Annotations of the typedef.
    pub annotations: Vec<Annotation>,
}

/// A constant.
#[derive(Debug, Clone)]
pub struct Const {
    /// Name of the constant.
    pub name: String,
    /// Type of the constant.
    pub value_type: Type,
    /// Its value.
    pub value: ConstValue,
    /// The line of its name, from 1.
    pub line: u32,
}

/// A value in an IDL file, of a constant or a default, with names in it resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstValue {
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
    List(Vec<ConstValue>),
    /// Of a set, as written: values may be there twice.
    Set(Vec<ConstValue>),
    /// Of a map, in the compiler's order: integers, doubles, strings, maps, lists, names, each sorted.
    Map(Vec<(ConstValue, ConstValue)>),
    /// Of a struct: the numbers of fields (not their ids) with their values, by the names' order.
    Struct(StructId, Vec<(usize, ConstValue)>),
}

/// Facts about a struct, beyond the schema.
#[derive(Debug, Clone)]
pub struct StructDefinition {
    /// The file that it is in.
    pub program: ProgramId,
    /// Origin of the struct: written as one, or made for a function.
    pub origin: StructOrigin,
    /// Facts about its fields, beyond the schema, in their order.
    pub fields: Vec<FieldDefinition>,
    /// The line of its name, or of the function that it comes of, from 1.
    pub line: u32,
    /// Annotations of the struct.
    pub annotations: Vec<Annotation>,
}

/// Origin of a struct of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StructOrigin {
    /// It is defined by its name.
    Declared,
    /// A function takes it.
    Arguments,
    /// A function answers it.
    Result,
}

/// Facts about a field, beyond the schema.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldDefinition {
    /// Its value where none is set.
    pub default: Option<ConstValue>,
    /// True if `&` stands before its name: generated code holds a reference, where languages differ.
    pub is_reference: bool,
    /// The line of its name, from 1; 0 for what a function returns, which has none.
    pub line: u32,
    /// Annotations of the field.
    pub annotations: Vec<Annotation>,
}

/// Facts about an enum, beyond the schema.
#[derive(Debug, Clone)]
pub struct EnumDefinition {
    /// The file that it is in.
    pub program: ProgramId,
    /// Annotations of the enum.
    pub annotations: Vec<Annotation>,
    /// Annotations of its values, in their order.
    pub value_annotations: Vec<Vec<Annotation>>,
    /// The line of its name, from 1.
    pub line: u32,
    /// The lines of its values, in their order.
    pub value_lines: Vec<u32>,
}

/// Functions that are called from afar.
#[derive(Debug, Clone)]
pub struct Service {
    /// Name of the service.
    pub name: String,
    /// The file that it is in.
    pub program: ProgramId,
    /// The service whose functions it has too, which it does not list.
    pub extends: Option<ServiceId>,
    /// Its own functions, in the order of the text.
    pub functions: Vec<Function>,
    /// The line of its name, from 1.
    pub line: u32,
    /// Annotations of the service.
    pub annotations: Vec<Annotation>,
}

/// A function of a service.
#[derive(Debug, Clone)]
pub struct Function {
    /// Name of the function.
    pub name: String,
    /// True if nobody waits for an answer; there is no message for it then.
    pub is_oneway: bool,
    /// Type that it returns; None for `void`.
    pub return_type: Option<Type>,
    /// The struct that it takes.
    pub arguments: StructId,
    /// The struct that it answers: what it returns as field `success` with id 0, unless that is
    /// `void`, and a field for each exception.
    pub result: StructId,
    /// Annotations of the function.
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

    /// Returns the facts about that struct, beyond the schema.
    pub fn struct_definition(&self, id: StructId) -> Option<&StructDefinition> {
        self.structs.get(id.0 as usize)
    }

    /// Returns the facts about that enum, beyond the schema.
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

    /// Returns the exceptions that a function may throw: the fields of its result but `success`.
    pub fn exceptions(&self, function: &Function) -> &[FieldSchema] {
        let returned = usize::from(function.return_type.is_some());
        self.schema.fields(function.result).get(returned..).unwrap_or_default()
    }
}

impl Program {
    /// The namespace of a language, or the one of `*` where it has none of its own.
    pub fn namespace(&self, scope: &str) -> Option<&str> {
        self.namespace_for(scope).map(|found| found.name.as_str())
    }

    pub(super) fn namespace_for(&self, scope: &str) -> Option<&Namespace> {
        let find = |scope: &str| self.namespaces.iter().find(|found| found.scope == scope);
        find(scope).or_else(|| find("*"))
    }
}
