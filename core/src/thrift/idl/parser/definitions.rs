//! Definitions in a file, but for the fields of its structs.
//!
//! ```text
//! definition  const type name = value separator
//!             typedef type name annotations separator
//!             enum name { {name [= integer] annotations separator} } annotations
//!             struct name [xsd_all] { fields } annotations, and so union
//!             exception name { fields } annotations
//!             service name [extends name] { {function} } annotations
//! function    [oneway | async] (type | void) name ( fields ) [throws ( fields )] annotations separator
//! ```

use std::collections::HashSet;

use super::super::lexer::IdlToken;
use super::super::syntax::{
    ConstSyntax, DefinitionSyntax, EnumSyntax, EnumValueSyntax, FieldSyntax, FunctionSyntax, Name,
    ServiceSyntax, StructSyntax, TypedefSyntax,
};
use super::IdlParser;
use super::fields::FieldsOf;
use crate::Result;
use crate::thrift::{Requiredness, StructKind};

impl IdlParser<'_> {
    /// The next definition; none at the end of the file.
    pub(super) fn definition(&mut self) -> Result<Option<DefinitionSyntax>> {
        let Some(word) = self.word() else {
            let is_end = self.token == IdlToken::End;
            return if is_end { Ok(None) } else { Err(self.expected("a definition")) };
        };
        let parse: fn(&mut Self) -> Result<DefinitionSyntax> = match word {
            "const" => Self::constant,
            "typedef" => Self::typedef,
            "enum" => Self::enumeration,
            "struct" => |parser| parser.structure(StructKind::Struct),
            "union" => |parser| parser.structure(StructKind::Union),
            "exception" => |parser| parser.structure(StructKind::Exception),
            "service" => Self::service,
            "include" | "cpp_include" | "namespace" => {
                let expected = format!("`{word}` before the first definition");
                return Err(self.text.expected(self.span, expected, "it after one"));
            }
            _ => {
                let expected = "const, typedef, enum, struct, union, exception or service";
                return Err(self.expected(expected));
            }
        };
        self.advance()?;
        parse(self).map(Some)
    }

    fn constant(&mut self) -> Result<DefinitionSyntax> {
        let value_type = self.type_()?;
        let name = self.new_name("the name of a constant")?;
        self.symbol(b'=', "and a value")?;
        let value = self.value()?;
        self.take_separator()?;
        Ok(DefinitionSyntax::Const(ConstSyntax { name, value_type, value }))
    }

    fn typedef(&mut self) -> Result<DefinitionSyntax> {
        let stands_for = self.type_()?;
        let name = self.new_name("the new name of the type")?;
        let annotations = self.annotations()?;
        self.take_separator()?;
        Ok(DefinitionSyntax::Typedef(TypedefSyntax { name, stands_for, annotations }))
    }

    fn enumeration(&mut self) -> Result<DefinitionSyntax> {
        let name = self.new_name("the name of an enum")?;
        self.symbol(b'{', "and the values of the enum")?;
        let mut values: Vec<EnumValueSyntax> = Vec::new();
        let mut names = HashSet::new();
        while !self.take_symbol(b'}')? {
            let last = values.last().map(|value| value.number);
            let value = self.enum_value(last)?;
            if !names.insert(value.name.text.clone()) {
                let found = self.text.quoted(value.name.span);
                let expected = "a name that no other value of the enum has";
                return Err(self.text.expected(value.name.span, expected, found));
            }
            values.push(value);
        }
        let annotations = self.annotations()?;
        Ok(DefinitionSyntax::Enum(EnumSyntax { name, values, annotations }))
    }

    /// A value of an enum, which gets the number after the `last` one where it has none of its own.
    fn enum_value(&mut self, last: Option<i32>) -> Result<EnumValueSyntax> {
        let name = self.dotted_name("the name of a value or `}`")?;
        let name = self.without_dot(name, "the name of a value")?;
        let number = if self.take_symbol(b'=')? {
            let IdlToken::Integer(number) = self.token else {
                return Err(self.expected("an integer"));
            };
            let number = i32::try_from(number);
            let number = number.map_err(|_| self.expected("a number of 32 bits with a sign"))?;
            self.advance()?;
            number
        } else {
            let next = last.map_or(Some(0), |last| last.checked_add(1));
            next.ok_or_else(|| {
                let found = "2147483647 before this value";
                self.text.expected(name.span, "a number of 32 bits with a sign", found)
            })?
        };
        let annotations = self.annotations()?;
        self.take_separator()?;
        Ok(EnumValueSyntax { name, number, annotations })
    }

    fn structure(&mut self, kind: StructKind) -> Result<DefinitionSyntax> {
        let name = self.new_name("the name of a struct")?;
        if kind != StructKind::Exception {
            self.take_keyword("xsd_all")?;
        }
        self.symbol(b'{', "and fields")?;
        let mut fields = self.fields(b'}', FieldsOf::Struct)?;
        if kind == StructKind::Union {
            self.check_union(&mut fields)?;
        }
        let annotations = self.annotations()?;
        Ok(DefinitionSyntax::Struct(StructSyntax { name, kind, fields, annotations }))
    }

    /// One field of a union is set, so none is required, and one at most is set from the start.
    fn check_union(&self, fields: &mut [FieldSyntax]) -> Result<()> {
        let mut has_default = false;
        for field in fields {
            field.requiredness = Requiredness::Optional;
            if let Some(default) = &field.default {
                if has_default {
                    let found = format!("a second one, of {}", field.name.text);
                    let expected = "at most one default in a union";
                    return Err(self.text.expected(default.span, expected, found));
                }
                has_default = true;
            }
        }
        Ok(())
    }

    fn service(&mut self) -> Result<DefinitionSyntax> {
        let name = self.new_name("the name of a service")?;
        let extends = match self.take_keyword("extends")? {
            true => Some(self.dotted_name("the name of the service that it extends")?),
            false => None,
        };
        self.symbol(b'{', "and functions")?;
        let mut functions: Vec<FunctionSyntax> = Vec::new();
        let mut names = HashSet::new();
        while !self.take_symbol(b'}')? {
            let function = self.function()?;
            if !names.insert(function.name.text.clone()) {
                let found = self.text.quoted(function.name.span);
                let expected = "a name that no other function of the service has";
                return Err(self.text.expected(function.name.span, expected, found));
            }
            functions.push(function);
        }
        let annotations = self.annotations()?;
        Ok(DefinitionSyntax::Service(ServiceSyntax { name, extends, functions, annotations }))
    }

    fn function(&mut self) -> Result<FunctionSyntax> {
        let is_oneway = self.take_keyword("oneway")? || self.take_keyword("async")?;
        let is_void = self.take_keyword("void")?;
        let return_type = if is_void { None } else { Some(self.type_()?) };
        let name = self.new_name("the name of a function")?;
        self.symbol(b'(', "and arguments")?;
        let arguments = self.fields(b')', FieldsOf::Arguments)?;
        let throws = if self.take_keyword("throws")? {
            self.symbol(b'(', "and exceptions")?;
            self.fields(b')', FieldsOf::Throws)?
        } else {
            Vec::new()
        };
        self.check_throws(&throws, is_oneway, is_void)?;
        let annotations = self.annotations()?;
        self.take_separator()?;
        Ok(FunctionSyntax { name, is_oneway, return_type, arguments, throws, annotations })
    }

    fn check_throws(&self, throws: &[FieldSyntax], is_oneway: bool, is_void: bool) -> Result<()> {
        let refuse = |name: &Name, expected: &str| {
            Err(self.text.expected(name.span, expected, self.text.quoted(name.span)))
        };
        for field in throws {
            if is_oneway {
                return refuse(&field.name, "no exceptions of a function that has no answer");
            }
            if !is_void && (field.name.text == "success" || field.id == 0) {
                return refuse(&field.name, "success and 0 left to what the function returns");
            }
        }
        Ok(())
    }
}
