//! Values of constants and defaults: by the type that is wanted, names become what they stand for.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::super::VALUE_DEPTH_MAX;
use super::super::document::{Const, ConstValue};
use super::super::syntax::{EnumSyntax, ValueForm, ValueSyntax};
use super::super::text::TextSpan;
use super::names::Constant;
use super::{Resolver, lost};
use crate::Result;
use crate::thrift::{EnumId, StructId, Type};

/// Bytes of a string that weigh as much as a part of a value.
const BYTES_OF_PART: usize = 32;

/// Place of a definition: what values name must stand before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct DefinitionPlace {
    pub(super) file: usize,
    /// Its place among the definitions of the file.
    pub(super) order: usize,
}

/// Facts about an enum that values need.
#[derive(Debug)]
pub(super) struct DeclaredEnum<'f> {
    place: DefinitionPlace,
    numbers: HashMap<&'f str, i32>,
    named: HashSet<i32>,
}

impl<'f> DeclaredEnum<'f> {
    pub(super) fn new(place: DefinitionPlace, syntax: &'f EnumSyntax) -> Self {
        let numbers = syntax.values.iter().map(|value| (value.name.text.as_str(), value.number));
        let named = syntax.values.iter().map(|value| value.number).collect();
        DeclaredEnum { place, numbers: numbers.collect(), named }
    }
}

/// The numbers of the fields of a struct by their names.
pub(super) type FieldNumbers = HashMap<String, usize>;

impl Resolver<'_> {
    /// Resolves a value that is written at a place where one of such a type is wanted.
    pub(super) fn value(
        &self,
        place: DefinitionPlace,
        syntax: &ValueSyntax,
        of: &Type,
    ) -> Result<ConstValue> {
        self.value_in(place, syntax, of, 0)
    }

    /// A value in so many others.
    fn value_in(
        &self,
        place: DefinitionPlace,
        syntax: &ValueSyntax,
        of: &Type,
        depth: usize,
    ) -> Result<ConstValue> {
        match (of, &syntax.form) {
            (Type::Enum(id), form) => self.enum_number(place, *id, form, syntax.span),
            (Type::Struct(id), form) => self.struct_value(place, *id, form, syntax.span, depth),
            (_, ValueForm::Named(name)) => self.named(place, name, of, syntax.span, depth),
            (Type::List(element), ValueForm::List(values)) => {
                self.elements(place, values, element, depth).map(ConstValue::List)
            }
            (Type::Set(element), ValueForm::List(values)) => {
                self.elements(place, values, element, depth).map(ConstValue::Set)
            }
            (Type::Map(key, value), ValueForm::Map(entries)) => {
                let entries = entries.iter().map(|(written_key, written)| {
                    let key = self.value_in(place, written_key, key, depth + 1)?;
                    Ok((key, self.value_in(place, written, value, depth + 1)?))
                });
                entries.collect::<Result<Vec<_>>>().map(ConstValue::Map)
            }
            // Empty brackets of either kind mean the same.
            (Type::List(_), ValueForm::Map(none)) if none.is_empty() => {
                Ok(ConstValue::List(Vec::new()))
            }
            (Type::Set(_), ValueForm::Map(none)) if none.is_empty() => {
                Ok(ConstValue::Set(Vec::new()))
            }
            (Type::Map(..), ValueForm::List(none)) if none.is_empty() => {
                Ok(ConstValue::Map(Vec::new()))
            }
            (Type::Uuid, ValueForm::Literal(content)) => self.uuid(place, content, syntax.span),
            (_, form) => plain(form, of).ok_or_else(|| self.mismatch(place, of, syntax.span)),
        }
    }

    fn elements(
        &self,
        place: DefinitionPlace,
        values: &[ValueSyntax],
        of: &Type,
        depth: usize,
    ) -> Result<Vec<ConstValue>> {
        values.iter().map(|value| self.value_in(place, value, of, depth + 1)).collect()
    }

    /// A UUID, which may be in braces.
    fn uuid(&self, place: DefinitionPlace, content: &str, span: TextSpan) -> Result<ConstValue> {
        let inside = content.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let inside = inside.unwrap_or(content);
        let is_right = |(at, byte): (usize, u8)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        };
        if inside.len() == 36 && inside.bytes().enumerate().all(is_right) {
            return Ok(ConstValue::String(inside.to_owned()));
        }
        let expected = "a UUID like 00112233-4455-6677-8899-aabbccddeeff";
        Err(self.refuse(place.file, span, expected))
    }

    /// A value of an enum, by its name behind that of the enum, or by its number. As with the
    /// compiler, only the last name counts: the type is known.
    fn enum_number(
        &self,
        place: DefinitionPlace,
        id: EnumId,
        form: &ValueForm,
        span: TextSpan,
    ) -> Result<ConstValue> {
        let Some(declared) = self.enums.get(id.0 as usize) else { return Err(lost("an enum")) };
        self.check_is_above(place, declared.place, span, "a value of a type")?;
        let number = match form {
            ValueForm::Integer(number) => {
                i32::try_from(*number).ok().filter(|number| declared.named.contains(number))
            }
            ValueForm::Named(name) => {
                let after_dot = name.split_once('.').map(|(_, after)| after);
                let after_dots =
                    after_dot.map(|name| name.split_once('.').map_or(name, |two| two.1));
                after_dots.and_then(|name| declared.numbers.get(name).copied())
            }
            _ => None,
        };
        let number = number.map(|number| ConstValue::Int(i64::from(number)));
        number.ok_or_else(|| self.mismatch(place, &Type::Enum(id), span))
    }

    /// A struct, as a map of names of fields.
    fn struct_value(
        &self,
        place: DefinitionPlace,
        id: StructId,
        form: &ValueForm,
        span: TextSpan,
        depth: usize,
    ) -> Result<ConstValue> {
        self.check_struct_is_above(place, id, span, "a value of a type")?;
        let ValueForm::Map(entries) = form else {
            return Err(self.mismatch(place, &Type::Struct(id), span));
        };
        let Some(schema) = self.document.schema.get(id) else { return Err(lost("a struct")) };
        let numbers = self.field_numbers(id);
        let mut values = Vec::new();
        for (key, value) in entries {
            let ValueForm::Literal(name) = &key.form else {
                let expected = "the name of a field in quotes";
                return Err(self.refuse(place.file, key.span, expected));
            };
            let number = numbers.get(name.as_str()).copied();
            let field = number.and_then(|number| Some((number, schema.fields.get(number)?)));
            let Some((number, field)) = field else {
                let expected = format!("the name of a field of {}", schema.name);
                return Err(self.refuse(place.file, key.span, &expected));
            };
            values.push((number, self.value_in(place, value, &field.value_type, depth + 1)?));
        }
        Ok(ConstValue::Struct(id, values))
    }

    fn field_numbers(&self, id: StructId) -> Rc<FieldNumbers> {
        let mut known = self.field_numbers.borrow_mut();
        let numbers = known.entry(id).or_insert_with(|| {
            let fields = self.document.schema.fields(id).iter();
            let numbers = fields.enumerate().map(|(number, field)| (field.name.clone(), number));
            Rc::new(numbers.collect())
        });
        Rc::clone(numbers)
    }

    /// Resolves a constant or a value of an enum if neither enum nor struct is wanted.
    fn named(
        &self,
        place: DefinitionPlace,
        name: &str,
        of: &Type,
        span: TextSpan,
        depth: usize,
    ) -> Result<ConstValue> {
        let find = |scope: &super::Scope<'_>, name: &str| scope.constants.get(name).copied();
        let Some((home, found)) = self.look_up(place.file, name, find) else {
            let expected = "a constant or a value of an enum";
            return Err(self.unknown(place.file, (name, span), expected, "defined above"));
        };
        match found {
            Constant::EnumValue(number) => {
                let value = plain(&ValueForm::Integer(i64::from(number)), of);
                value.ok_or_else(|| self.mismatch(place, of, span))
            }
            Constant::Const(number) => {
                let consts = self.document.programs.get(home).map(|program| &program.consts);
                match consts.and_then(|consts| consts.get(number)) {
                    Some(constant) => self.copied(place, constant, of, span, depth),
                    None => Err(lost("a constant")),
                }
            }
        }
    }

    /// The value of a constant where one of another type may be wanted.
    fn copied(
        &self,
        place: DefinitionPlace,
        constant: &Const,
        of: &Type,
        span: TextSpan,
        depth: usize,
    ) -> Result<ConstValue> {
        let (parts, value_depth) = size_of(&constant.value);
        if let Err(limit) = self.count_copies(parts) {
            return Err(self.above(place.file, span, "parts of constants in all", limit));
        }
        if depth + value_depth > VALUE_DEPTH_MAX {
            let what = "a depth of nested values";
            return Err(self.above(place.file, span, what, VALUE_DEPTH_MAX));
        }
        // An enum's number is no integer where none of the enum is wanted.
        let is_number_of_enum = matches!(constant.value_type, Type::Enum(_));
        let value = match &constant.value {
            _ if is_number_of_enum => None,
            value if constant.value_type == *of => Some(value.clone()),
            ConstValue::Bool(is_set) => plain(&ValueForm::Integer(i64::from(*is_set)), of),
            ConstValue::Int(number) => plain(&ValueForm::Integer(*number), of),
            ConstValue::Double(number) => plain(&ValueForm::Double(*number), of),
            ConstValue::String(content) if *of == Type::Uuid => {
                return self.uuid(place, content, span);
            }
            ConstValue::String(content) => plain(&ValueForm::Literal(content.clone()), of),
            ConstValue::List(_)
            | ConstValue::Set(_)
            | ConstValue::Map(_)
            | ConstValue::Struct(..) => None,
        };
        value.ok_or_else(|| {
            let expected = format!("a value of {}", self.described(of));
            let found = format!("one of {}", self.described(&constant.value_type));
            self.refuse_found(place.file, span, &expected, &found)
        })
    }

    /// Checks that a definition that a value names stands above the value; types do not need that.
    fn check_is_above(
        &self,
        place: DefinitionPlace,
        named: DefinitionPlace,
        span: TextSpan,
        what: &str,
    ) -> Result<()> {
        if named.file != place.file || named.order < place.order {
            return Ok(());
        }
        Err(self.refuse(place.file, span, &format!("{what} that is defined above")))
    }

    /// Does this for a struct.
    pub(super) fn check_struct_is_above(
        &self,
        place: DefinitionPlace,
        id: StructId,
        span: TextSpan,
        what: &str,
    ) -> Result<()> {
        let named = self.struct_places.get(id.0 as usize);
        named.map_or(Ok(()), |named| self.check_is_above(place, *named, span, what))
    }

    fn mismatch(&self, place: DefinitionPlace, of: &Type, span: TextSpan) -> crate::Error {
        self.refuse(place.file, span, &format!("a value of {}", self.described(of)))
    }

    /// A type as people know it, with the names of structs and enums.
    fn described(&self, of: &Type) -> String {
        let schema = &self.document.schema;
        match of {
            Type::Enum(id) => schema
                .get_enum(*id)
                .map_or("enum".to_owned(), |found| format!("enum {}", found.name)),
            Type::Struct(id) => schema
                .get(*id)
                .map_or("struct".to_owned(), |found| format!("struct {}", found.name)),
            Type::List(element) => format!("list<{}>", self.described(element)),
            Type::Set(element) => format!("set<{}>", self.described(element)),
            Type::Map(key, value) => {
                format!("map<{}, {}>", self.described(key), self.described(value))
            }
            plain => plain.to_string(),
        }
    }
}

/// A number or a string of a type; none if it is of another.
fn plain(form: &ValueForm, of: &Type) -> Option<ConstValue> {
    match (of, form) {
        (Type::Bool, ValueForm::Integer(number)) => Some(ConstValue::Bool(*number > 0)),
        (Type::Double, ValueForm::Double(number)) => Some(ConstValue::Double(*number)),
        (
            Type::Byte | Type::I16 | Type::I32 | Type::I64 | Type::Double,
            ValueForm::Integer(number),
        ) => Some(ConstValue::Int(*number)),
        (Type::String | Type::Binary, ValueForm::Literal(content)) => {
            Some(ConstValue::String(content.clone()))
        }
        _ => None,
    }
}

/// Returns the number of parts of a value, itself counted, and how deep they are in each other.
fn size_of(value: &ConstValue) -> (usize, usize) {
    let of_all = |sizes: &mut dyn Iterator<Item = (usize, usize)>| {
        sizes.fold((1, 1), |(parts, depth), size| (parts + size.0, depth.max(1 + size.1)))
    };
    match value {
        ConstValue::Bool(_) | ConstValue::Int(_) | ConstValue::Double(_) => (1, 0),
        ConstValue::String(content) => (1 + content.len() / BYTES_OF_PART, 0),
        ConstValue::List(values) | ConstValue::Set(values) => {
            of_all(&mut values.iter().map(size_of))
        }
        ConstValue::Map(entries) => {
            of_all(&mut entries.iter().flat_map(|(key, value)| [size_of(key), size_of(value)]))
        }
        ConstValue::Struct(_, fields) => {
            of_all(&mut fields.iter().map(|(_, value)| size_of(value)))
        }
    }
}
