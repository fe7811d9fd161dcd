//! The names that a file defines, and those of the files that it includes.

use std::collections::{HashMap, HashSet};

use super::super::document::ServiceId;
use super::super::gather::ParsedFile;
use super::super::syntax::{DefinitionSyntax, Name, TypedefSyntax};
use super::super::text::TextSpan;
use super::Resolver;
use super::values::DefinitionPlace;
use crate::thrift::{EnumId, StructId, Type};
use crate::{Error, Result};

/// The names of one file.
#[derive(Debug, Default)]
pub(super) struct Scope<'f> {
    pub(super) types: HashMap<&'f str, NamedType>,
    pub(super) typedefs: Vec<TypedefState<'f>>,
    /// Services that stand in the text before what is being resolved.
    pub(super) services: HashMap<&'f str, ServiceId>,
    /// Constants and values of enums, as `ENUM.VALUE`, that stand before what is being resolved.
    pub(super) constants: HashMap<String, Constant>,
    /// All names of types and services.
    defined: HashSet<&'f str>,
    /// The files that it includes, by the name that their definitions have here.
    includes: HashMap<String, Vec<usize>>,
}

/// Definition that a name of a type stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum NamedType {
    Struct(StructId),
    Enum(EnumId),
    /// The number of a typedef of the file.
    Typedef(usize),
}

/// State of a typedef while names are resolved.
#[derive(Debug)]
pub(super) enum TypedefState<'f> {
    Written(&'f TypedefSyntax),
    InWork,
    Known(Type),
}

/// Definition that a name in a value stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Constant {
    EnumValue(i32),
    /// The number of a constant of the file.
    Const(usize),
}

impl<'f> Resolver<'f> {
    /// Declares all types of a file.
    pub(super) fn declare(&mut self, file: usize, parsed: &'f ParsedFile) -> Result<()> {
        let mut scope = Scope::default();
        for &include in &parsed.includes {
            let name = self.document.programs.get(include).map(|program| program.name.clone());
            scope.includes.entry(name.unwrap_or_default()).or_default().push(include);
        }
        let rivals = self.rivals(file, parsed);
        for (order, definition) in parsed.syntax.definitions.iter().enumerate() {
            let place = DefinitionPlace { file, order };
            let (name, named_type) = match definition {
                DefinitionSyntax::Typedef(syntax) => {
                    scope.typedefs.push(TypedefState::Written(syntax));
                    (&syntax.name, Some(NamedType::Typedef(scope.typedefs.len() - 1)))
                }
                DefinitionSyntax::Enum(syntax) => {
                    (&syntax.name, Some(NamedType::Enum(self.declare_enum(place, syntax))))
                }
                DefinitionSyntax::Struct(syntax) => {
                    (&syntax.name, Some(NamedType::Struct(self.declare_struct(place, syntax))))
                }
                DefinitionSyntax::Service(syntax) => (&syntax.name, None),
                DefinitionSyntax::Const(_) => continue,
            };
            self.check_unique(file, &scope, &rivals, name)?;
            scope.defined.insert(&name.text);
            named_type.map(|named| scope.types.insert(&name.text, named));
        }
        self.scopes.push(scope);
        Ok(())
    }

    /// The files whose names this one may not use too: included ones whose namespaces are all the same.
    fn rivals(&self, file: usize, parsed: &ParsedFile) -> Vec<usize> {
        let Some(own) = self.document.programs.get(file) else { return Vec::new() };
        let is_rival = |include: &&usize| {
            let Some(other) = self.document.programs.get(**include) else { return false };
            let scopes = own.namespaces.iter().chain(&other.namespaces);
            let mut scopes = scopes.map(|namespace| namespace.scope.as_str());
            scopes.all(|scope| own.namespace(scope) == other.namespace(scope))
        };
        parsed.includes.iter().filter(is_rival).copied().collect()
    }

    fn check_unique(
        &self,
        file: usize,
        scope: &Scope<'f>,
        rivals: &[usize],
        name: &Name,
    ) -> Result<()> {
        if scope.defined.contains(name.text.as_str()) {
            return Err(self.refuse(file, name.span, "a name that nothing else in the file has"));
        }
        for &rival in rivals {
            let names = self.scopes.get(rival).map(|scope| &scope.defined);
            if names.is_some_and(|names| names.contains(name.text.as_str())) {
                let expected = format!(
                    "a name that {} with the same namespaces does not have",
                    self.path(rival)
                );
                return Err(self.refuse(file, name.span, &expected));
            }
        }
        Ok(())
    }

    /// Looks a name up by `find`, first as it is in the file, then in the files that it includes: what
    /// stands before the last dot names the file, or before the last but one.
    pub(super) fn look_up<T>(
        &self,
        file: usize,
        name: &str,
        find: impl Fn(&Scope<'f>, &str) -> Option<T>,
    ) -> Option<(usize, T)> {
        let scope = self.scopes.get(file)?;
        if let Some(found) = find(scope, name) {
            return Some((file, found));
        }
        let last_dot = name.rfind('.')?;
        let dot_before = name.get(..last_dot).and_then(|before| before.rfind('.'));
        for dot in [Some(last_dot), dot_before].into_iter().flatten() {
            let (before, after) = name.split_at_checked(dot)?;
            // Of files with the same name, the one that is included last counts.
            for &include in scope.includes.get(before).into_iter().flatten().rev() {
                let found = self.scopes.get(include).and_then(|scope| find(scope, after.get(1..)?));
                if let Some(found) = found {
                    return Some((include, found));
                }
            }
        }
        None
    }

    /// An error that a name is not there, with where it was looked for. `defined` says where it should
    /// be in this file: it may be there, but too late.
    pub(super) fn unknown(
        &self,
        file: usize,
        name: (&str, TextSpan),
        expected: &str,
        defined: &str,
    ) -> Error {
        let Some(parsed) = self.files.get(file) else { return super::lost("a text") };
        let (name, span) = name;
        let scope = self.scopes.get(file);
        let included = |dot: usize| {
            let scope_includes = scope.map(|scope| &scope.includes)?;
            scope_includes.get(name.get(..dot)?)?.first()
        };
        let found = match name.rfind('.') {
            None => format!("`{name}`, which is not {defined}"),
            Some(last) => match name.match_indices('.').find_map(|(dot, _)| included(dot)) {
                Some(&include) => format!("`{name}`, which {} does not define", self.path(include)),
                None => format!(
                    "`{name}`, which is not {defined}, and no file `{}` is included",
                    name.get(..last).unwrap_or_default()
                ),
            },
        };
        parsed.text.expected(span, expected, found)
    }

    /// An error at a place of a file: what is expected there instead of what stands there.
    pub(super) fn refuse(&self, file: usize, span: TextSpan, expected: &str) -> Error {
        match self.files.get(file) {
            Some(parsed) => parsed.text.expected(span, expected, parsed.text.quoted(span)),
            None => super::lost("a text"),
        }
    }

    /// Makes the error of `refuse`, with what a name there turned out to be.
    pub(super) fn refuse_found(
        &self,
        file: usize,
        span: TextSpan,
        expected: &str,
        found: &str,
    ) -> Error {
        match self.files.get(file) {
            Some(parsed) => {
                let quoted = parsed.text.quoted(span);
                parsed.text.expected(span, expected, format_args!("{quoted}, {found}"))
            }
            None => super::lost("a text"),
        }
    }

    /// An error at a place of a file: more than the bound.
    pub(super) fn above(&self, file: usize, span: TextSpan, what: &str, limit: usize) -> Error {
        match self.files.get(file) {
            Some(parsed) => parsed.text.above(span, what, limit),
            None => super::lost("a text"),
        }
    }

    fn path(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |parsed| parsed.text.path.as_str())
    }
}
