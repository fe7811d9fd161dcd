//! Schema of messages, as a set of structs that name each other: the common ground of those who
//! know it (a host's generated classes, an IDL file) and those who use it (plans, projections).
//!
//! A struct is declared first and defined later, and others name it by its number, so that structs
//! may hold each other and themselves. Type definitions, includes and constants are resolved before
//! anything comes here. The values of defaults stay with the code that filled the schema.

use std::collections::HashSet;
use std::fmt;

use crate::{Error, ErrorKind, Result};

// Bound (Thrift): nesting of IDL types = 16.
/// Maximum depth of containers in a type: `list<list<i32>>` is two.
pub const TYPE_DEPTH_MAX: usize = 16;

/// The number of a struct, union or exception in its [`ThriftSchema`], in order of declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(pub u32);

/// The number of an enum in its [`ThriftSchema`], in order of declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub u32);

/// Structs, unions, exceptions and enums that belong together.
#[derive(Debug, Clone, Default)]
pub struct ThriftSchema {
    structs: Vec<StructSchema>,
    enums: Vec<EnumSchema>,
}

/// A struct, union or exception. What a function of a service takes, and what it answers, are structs
/// too.
#[derive(Debug, Clone)]
pub struct StructSchema {
    /// Name shown to people. Names need not differ: a number tells structs apart.
    pub name: String,
    /// Kind of the struct, which the bytes do not tell.
    pub kind: StructKind,
    /// Its fields in the order of the declaration. The place of a field is its *number*, by which
    /// tapes and faces know it; its id is what the bytes hold.
    pub fields: Vec<FieldSchema>,
}

/// Kind of a set of fields; all three are alike as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StructKind {
    /// Any of its fields may be set.
    Struct,
    /// Exactly one of its fields is set.
    Union,
    /// A struct that a function may answer in place of its result.
    Exception,
}

/// A field of a struct.
#[derive(Debug, Clone)]
pub struct FieldSchema {
    /// Id of the field in the bytes. Fields that an IDL gives no id have negative ones.
    pub id: i16,
    /// Name for people.
    pub name: String,
    /// Type of the value.
    pub value_type: Type,
    /// Presence: required, optional, or neither.
    pub requiredness: Requiredness,
    /// True if it has a value where none is set.
    pub has_default: bool,
}

/// Required or optional presence of a field. It is for those who check and write objects: a decoder gives what
/// the bytes hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Requiredness {
    /// Neither word was said: written if it has a value, not missed if it has none.
    #[default]
    Default,
    /// A struct without it is invalid.
    Required,
    /// It may be without a value.
    Optional,
}

/// Type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// True or false.
    Bool,
    /// A number of 8 bits, signed; `byte` or `i8` in IDL.
    Byte,
    /// A number of 16 bits, signed.
    I16,
    /// A number of 32 bits, signed.
    I32,
    /// A number of 64 bits, signed.
    I64,
    /// A floating-point number of 64 bits.
    Double,
    /// Text in UTF-8, which is not checked.
    String,
    /// Bytes; as a message has them, the same as a string.
    Binary,
    /// 16 bytes, the most significant first.
    Uuid,
    /// One of the values of an enum, or any other number of 32 bits that a newer writer knows.
    Enum(EnumId),
    /// A struct, union or exception.
    Struct(StructId),
    /// Values in an order.
    List(Box<Type>),
    /// Values that differ. That they do, no decoder checks.
    Set(Box<Type>),
    /// Values by keys that differ.
    Map(Box<Type>, Box<Type>),
}

/// Names for numbers.
#[derive(Debug, Clone)]
pub struct EnumSchema {
    /// Name shown to people.
    pub name: String,
    /// The names and their numbers, in the order of the declaration.
    pub values: Vec<(String, i32)>,
}

impl ThriftSchema {
    /// A schema without structs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a struct without fields, which types may name from now on.
    pub fn declare_struct(&mut self, name: impl Into<String>, kind: StructKind) -> StructId {
        let id = StructId(u32::try_from(self.structs.len()).unwrap_or(u32::MAX));
        self.structs.push(StructSchema { name: name.into(), kind, fields: Vec::new() });
        id
    }

    /// Gives a declared struct its fields, which take the place of those it had. Structs that are
    /// named in their types may be declared later; compiling a plan asks for them.
    ///
    /// # Errors
    ///
    /// `Argument` where two fields have the same id or name, containers are nested too deep, or no such
    /// struct is declared. The struct is then as it was.
    pub fn define_struct(&mut self, id: StructId, fields: Vec<FieldSchema>) -> Result<()> {
        let Some(defined) = self.structs.get_mut(id.0 as usize) else {
            return Err(argument(format!("expected a declared struct, found number {}", id.0)));
        };
        let name = &defined.name;
        let (mut ids, mut names) = (HashSet::new(), HashSet::new());
        for field in &fields {
            if !ids.insert(field.id) {
                let found = format!("{} for a second one, {}", field.id, field.name);
                return Err(argument(format!(
                    "{name}: expected an id for each field, found {found}"
                )));
            }
            if !names.insert(field.name.as_str()) {
                let found = format!("{} for a second one, {}", field.name, field.id);
                return Err(argument(format!(
                    "{name}: expected a name for each field, found {found}"
                )));
            }
            if field.value_type.depth() > TYPE_DEPTH_MAX {
                return Err(argument(format!(
                    "{name}: expected at most {TYPE_DEPTH_MAX} nested containers, found more in {}",
                    field.name
                )));
            }
        }
        if fields.len() > usize::from(u16::MAX) {
            return Err(argument(format!("{name}: expected at most 65535 fields, found more")));
        }
        defined.fields = fields;
        Ok(())
    }

    /// Adds an enum.
    pub fn add_enum(&mut self, added: EnumSchema) -> EnumId {
        let id = EnumId(u32::try_from(self.enums.len()).unwrap_or(u32::MAX));
        self.enums.push(added);
        id
    }

    /// The structs, in order of declaration.
    pub fn structs(&self) -> &[StructSchema] {
        &self.structs
    }

    /// The enums, in the order they were added.
    pub fn enums(&self) -> &[EnumSchema] {
        &self.enums
    }

    /// The struct with that number.
    pub fn get(&self, id: StructId) -> Option<&StructSchema> {
        self.structs.get(id.0 as usize)
    }

    /// The fields of the struct with that number; none where there is no such struct.
    pub fn fields(&self, id: StructId) -> &[FieldSchema] {
        self.get(id).map(|found| found.fields.as_slice()).unwrap_or_default()
    }

    /// The enum with that number.
    pub fn get_enum(&self, id: EnumId) -> Option<&EnumSchema> {
        self.enums.get(id.0 as usize)
    }

    /// The name of a number, where it is of an enum that has one for it.
    pub fn enum_name(&self, of: &Type, number: i64) -> Option<&str> {
        let Type::Enum(id) = of else { return None };
        self.get_enum(*id)?.name_of(i32::try_from(number).ok()?)
    }

    /// The first struct of that name.
    pub fn find(&self, name: &str) -> Option<StructId> {
        let at = self.structs.iter().position(|found| found.name == name)?;
        u32::try_from(at).ok().map(StructId)
    }
}

impl StructSchema {
    /// The number of the field of that name.
    pub fn field_number(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

impl FieldSchema {
    /// A field that was said neither to be required nor to be optional, without a default.
    pub fn new(id: i16, name: impl Into<String>, value_type: Type) -> Self {
        let requiredness = Requiredness::Default;
        FieldSchema { id, name: name.into(), value_type, requiredness, has_default: false }
    }
}

impl Type {
    /// The type of the elements of a list or a set; of others, itself.
    pub fn element(&self) -> &Type {
        match self {
            Type::List(element) | Type::Set(element) => element,
            other => other,
        }
    }

    /// The types of the keys and the values of a map; of others, itself twice.
    pub fn entry(&self) -> (&Type, &Type) {
        match self {
            Type::Map(key, value) => (key, value),
            other => (other, other),
        }
    }

    /// A list of such values.
    pub fn list(element: Type) -> Self {
        Type::List(Box::new(element))
    }

    /// A set of such values.
    pub fn set(element: Type) -> Self {
        Type::Set(Box::new(element))
    }

    /// A map of such values.
    pub fn map(key: Type, value: Type) -> Self {
        Type::Map(Box::new(key), Box::new(value))
    }

    /// Returns true if it is one value, not a struct nor a container.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Type::Struct(_) | Type::List(_) | Type::Set(_) | Type::Map(..))
    }

    /// Returns the depth of the containers in it; 0 if it is not a container.
    pub fn depth(&self) -> usize {
        match self {
            Type::List(element) | Type::Set(element) => 1 + element.depth(),
            Type::Map(key, value) => 1 + key.depth().max(value.depth()),
            _ => 0,
        }
    }
}

impl EnumSchema {
    /// The name of a number; the first, where several are for the same one.
    pub fn name_of(&self, number: i32) -> Option<&str> {
        self.values.iter().find(|(_, value)| *value == number).map(|(name, _)| name.as_str())
    }
}

/// As IDL spells it; structs and enums by their numbers.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Byte => f.write_str("byte"),
            Type::I16 => f.write_str("i16"),
            Type::I32 => f.write_str("i32"),
            Type::I64 => f.write_str("i64"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Binary => f.write_str("binary"),
            Type::Uuid => f.write_str("uuid"),
            Type::Enum(EnumId(number)) => write!(f, "enum {number}"),
            Type::Struct(StructId(number)) => write!(f, "struct {number}"),
            Type::List(element) => write!(f, "list<{element}>"),
            Type::Set(element) => write!(f, "set<{element}>"),
            Type::Map(key, value) => write!(f, "map<{key}, {value}>"),
        }
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
