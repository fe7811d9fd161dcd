//! A text as the grammar takes it apart: names are not looked up yet, and nothing is known of other
//! files. The order of definitions is that of the text.

use super::document::{Annotation, Namespace};
use super::text::TextSpan;
use crate::thrift::{Requiredness, StructKind, Type};

/// A whole text.
#[derive(Debug, Default)]
pub(super) struct FileSyntax {
    pub(super) namespaces: Vec<Namespace>,
    pub(super) includes: Vec<Name>,
    pub(super) cpp_includes: Vec<String>,
    pub(super) definitions: Vec<DefinitionSyntax>,
}

/// A name, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) span: TextSpan,
}

#[derive(Debug)]
pub(super) enum DefinitionSyntax {
    Const(ConstSyntax),
    Typedef(TypedefSyntax),
    Enum(EnumSyntax),
    Struct(StructSyntax),
    Service(ServiceSyntax),
}

#[derive(Debug)]
pub(super) struct ConstSyntax {
    pub(super) name: Name,
    pub(super) value_type: TypeSyntax,
    pub(super) value: ValueSyntax,
}

#[derive(Debug)]
pub(super) struct TypedefSyntax {
    pub(super) name: Name,
    pub(super) stands_for: TypeSyntax,
    pub(super) annotations: Vec<Annotation>,
}

#[derive(Debug)]
pub(super) struct EnumSyntax {
    pub(super) name: Name,
    pub(super) values: Vec<EnumValueSyntax>,
    pub(super) annotations: Vec<Annotation>,
}

/// A value of an enum, numbered already.
#[derive(Debug)]
pub(super) struct EnumValueSyntax {
    pub(super) name: Name,
    pub(super) number: i32,
    pub(super) annotations: Vec<Annotation>,
}

#[derive(Debug)]
pub(super) struct StructSyntax {
    pub(super) name: Name,
    pub(super) kind: StructKind,
    pub(super) fields: Vec<FieldSyntax>,
    pub(super) annotations: Vec<Annotation>,
}

/// A field, whose id is numbered already where the text has none.
#[derive(Debug)]
pub(super) struct FieldSyntax {
    pub(super) id: i16,
    pub(super) name: Name,
    pub(super) value_type: TypeSyntax,
    pub(super) requiredness: Requiredness,
    pub(super) is_reference: bool,
    pub(super) default: Option<ValueSyntax>,
    pub(super) annotations: Vec<Annotation>,
}

#[derive(Debug)]
pub(super) struct ServiceSyntax {
    pub(super) name: Name,
    pub(super) extends: Option<Name>,
    pub(super) functions: Vec<FunctionSyntax>,
    pub(super) annotations: Vec<Annotation>,
}

#[derive(Debug)]
pub(super) struct FunctionSyntax {
    pub(super) name: Name,
    pub(super) is_oneway: bool,
    /// None for `void`.
    pub(super) return_type: Option<TypeSyntax>,
    pub(super) arguments: Vec<FieldSyntax>,
    pub(super) throws: Vec<FieldSyntax>,
    pub(super) annotations: Vec<Annotation>,
}

/// A type as it is written.
#[derive(Debug)]
pub(super) struct TypeSyntax {
    pub(super) form: TypeForm,
    pub(super) span: TextSpan,
}

#[derive(Debug)]
pub(super) enum TypeForm {
    /// One that the language has, without others in it.
    Base(Type),
    Named(String),
    List(Box<TypeSyntax>),
    Set(Box<TypeSyntax>),
    Map(Box<(TypeSyntax, TypeSyntax)>),
}

/// A value as it is written.
#[derive(Debug)]
pub(super) struct ValueSyntax {
    pub(super) form: ValueForm,
    pub(super) span: TextSpan,
}

#[derive(Debug)]
pub(super) enum ValueForm {
    Integer(i64),
    Double(f64),
    Literal(String),
    /// A constant or a value of an enum.
    Named(String),
    List(Vec<ValueSyntax>),
    /// Sorted by the keys, which differ.
    Map(Vec<(ValueSyntax, ValueSyntax)>),
}
