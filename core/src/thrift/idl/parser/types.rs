//! Types as they are written.
//!
//! ```text
//! type       name | base annotations | container annotations
//! container  map cpp < type , type > | set cpp < type > | list cpp < type > cpp
//! cpp        [cpp_type literal]
//! ```

use super::super::syntax::{TypeForm, TypeSyntax};
use super::super::text::TextSpan;
use super::IdlParser;
use crate::Result;
use crate::thrift::{TYPE_DEPTH_MAX, Type};

impl IdlParser<'_> {
    /// A type.
    pub(super) fn type_(&mut self) -> Result<TypeSyntax> {
        self.type_in(0)
    }

    /// A type in so many containers.
    fn type_in(&mut self, depth: usize) -> Result<TypeSyntax> {
        self.bound_depth(depth, TYPE_DEPTH_MAX, "a depth of nested containers")?;
        let span = self.span;
        let form = match self.word() {
            Some("map") => self.map(depth + 1)?,
            Some("set") => TypeForm::Set(Box::new(self.element(depth + 1)?)),
            Some("list") => {
                let element = self.element(depth + 1)?;
                self.cpp_type()?;
                TypeForm::List(Box::new(element))
            }
            Some(word) => match base_type(word) {
                Some(base) => {
                    self.advance()?;
                    TypeForm::Base(base)
                }
                None => return self.named_type(span),
            },
            None => return Err(self.expected("a type")),
        };
        self.annotations()?;
        Ok(TypeSyntax { form, span })
    }

    fn named_type(&mut self, span: TextSpan) -> Result<TypeSyntax> {
        let name = self.dotted_name("a type")?.text;
        // Older files may have a type of that name, so it is looked up like any other.
        if name == "uuid" {
            self.annotations()?;
        }
        Ok(TypeSyntax { form: TypeForm::Named(name), span })
    }

    fn map(&mut self, depth: usize) -> Result<TypeForm> {
        self.advance()?;
        self.cpp_type()?;
        self.symbol(b'<', "and the types of a map")?;
        let key = self.type_in(depth)?;
        self.symbol(b',', "between the types of a map")?;
        let value = self.type_in(depth)?;
        self.symbol(b'>', "after the types of a map")?;
        Ok(TypeForm::Map(Box::new((key, value))))
    }

    /// The element of the list or set whose keyword is in view.
    fn element(&mut self, depth: usize) -> Result<TypeSyntax> {
        self.advance()?;
        self.cpp_type()?;
        self.symbol(b'<', "and the type of the elements")?;
        let element = self.type_in(depth)?;
        self.symbol(b'>', "after the type of the elements")?;
        Ok(element)
    }

    fn cpp_type(&mut self) -> Result<()> {
        if self.take_keyword("cpp_type")? {
            self.literal("a type of C++ in quotes")?;
        }
        Ok(())
    }
}

fn base_type(word: &str) -> Option<Type> {
    Some(match word {
        "bool" => Type::Bool,
        "byte" | "i8" => Type::Byte,
        "i16" => Type::I16,
        "i32" => Type::I32,
        "i64" => Type::I64,
        "double" => Type::Double,
        "string" => Type::String,
        "binary" => Type::Binary,
        _ => return None,
    })
}
