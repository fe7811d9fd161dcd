//! Types by their names, and what typedefs stand for.

use super::super::document::Typedef;
use super::super::gather::ParsedFile;
use super::super::syntax::{DefinitionSyntax, TypeForm, TypeSyntax};
use super::super::text::TextSpan;
use super::Resolver;
use super::names::{NamedType, TypedefState};
use crate::Result;
use crate::thrift::{TYPE_DEPTH_MAX, Type};

/// Maximum number of typedefs that stand for each other in a row, each before the one it names.
const TYPEDEF_DEPTH_MAX: usize = 32;

/// Maximum number of parts of a type once typedefs are resolved.
const TYPE_PARTS_MAX: usize = 1024;

impl<'f> Resolver<'f> {
    /// Resolves all typedefs of a file.
    pub(super) fn typedefs(&mut self, file: usize, parsed: &'f ParsedFile) -> Result<()> {
        let mut number = 0;
        for definition in &parsed.syntax.definitions {
            let DefinitionSyntax::Typedef(syntax) = definition else { continue };
            let stands_for = self.typedef(file, number, syntax.name.span)?;
            number += 1;
            let (name, annotations) = (syntax.name.text.clone(), syntax.annotations.clone());
            if let Some(program) = self.document.programs.get_mut(file) {
                program.typedefs.push(Typedef { name, stands_for, annotations });
            }
        }
        Ok(())
    }

    /// Resolves a type that is written in a file.
    pub(super) fn type_of(&mut self, file: usize, syntax: &TypeSyntax) -> Result<Type> {
        let resolved = self.type_with_names(file, syntax)?;
        if resolved.depth() > TYPE_DEPTH_MAX {
            let what = "a depth of nested containers";
            return Err(self.above(file, syntax.span, what, TYPE_DEPTH_MAX));
        }
        if part_count(&resolved) > TYPE_PARTS_MAX {
            return Err(self.above(file, syntax.span, "a number of parts", TYPE_PARTS_MAX));
        }
        Ok(resolved)
    }

    fn type_with_names(&mut self, file: usize, syntax: &TypeSyntax) -> Result<Type> {
        Ok(match &syntax.form {
            TypeForm::Base(base) => base.clone(),
            TypeForm::List(element) => Type::list(self.type_with_names(file, element)?),
            TypeForm::Set(element) => Type::set(self.type_with_names(file, element)?),
            TypeForm::Map(types) => {
                let key = self.type_with_names(file, &types.0)?;
                Type::map(key, self.type_with_names(file, &types.1)?)
            }
            TypeForm::Named(name) => self.named_type(file, name, syntax.span)?,
        })
    }

    fn named_type(&mut self, file: usize, name: &str, span: TextSpan) -> Result<Type> {
        let found = self.look_up(file, name, |scope, name| scope.types.get(name).copied());
        let Some((home, named)) = found else {
            if name == "uuid" {
                return Ok(Type::Uuid);
            }
            return Err(self.unknown(file, (name, span), "a type", "defined"));
        };
        match named {
            NamedType::Struct(id) => Ok(Type::Struct(id)),
            NamedType::Enum(id) => Ok(Type::Enum(id)),
            NamedType::Typedef(number) => {
                let resolved = self.typedef(home, number, span)?;
                match self.count_copies(part_count(&resolved)) {
                    Ok(()) => Ok(resolved),
                    Err(limit) => Err(self.above(file, span, "parts of typedefs in all", limit)),
                }
            }
        }
    }

    /// Resolves a typedef; `span` is the place that asks.
    fn typedef(&mut self, file: usize, number: usize, span: TextSpan) -> Result<Type> {
        let Some(state) = self.typedef_state(file, number) else {
            return Err(super::lost("a typedef"));
        };
        let syntax = match state {
            TypedefState::Known(known) => return Ok(known.clone()),
            TypedefState::InWork => {
                return Err(self.refuse(file, span, "a type that is not a typedef of itself"));
            }
            TypedefState::Written(syntax) => *syntax,
        };
        *state = TypedefState::InWork;
        self.typedef_depth += 1;
        if self.typedef_depth > TYPEDEF_DEPTH_MAX {
            return Err(self.above(file, span, "a row of typedefs", TYPEDEF_DEPTH_MAX));
        }
        let resolved = self.type_of(file, &syntax.stands_for)?;
        self.typedef_depth -= 1;
        if let Some(state) = self.typedef_state(file, number) {
            *state = TypedefState::Known(resolved.clone());
        }
        Ok(resolved)
    }

    fn typedef_state(&mut self, file: usize, number: usize) -> Option<&mut TypedefState<'f>> {
        self.scopes.get_mut(file)?.typedefs.get_mut(number)
    }
}

/// Returns the number of types in a type, itself counted.
fn part_count(counted: &Type) -> usize {
    1 + match counted {
        Type::List(element) | Type::Set(element) => part_count(element),
        Type::Map(key, value) => part_count(key) + part_count(value),
        _ => 0,
    }
}
