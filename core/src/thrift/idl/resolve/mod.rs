//! Looking names up: trees of texts become a [`Document`].
//!
//! File by file, included ones first: all names of types are declared, typedefs resolved, structs
//! defined, since types may be used before they stand in the text. Then constants, defaults and
//! services in the order of the text, because they may not.

mod names;
mod services;
mod structs;
mod types;
mod values;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::document::{Const, Document, FieldDefinition, Program, ProgramId};
use super::gather::ParsedFile;
use super::syntax::{ConstSyntax, DefinitionSyntax, EnumSyntax};
use crate::thrift::StructId;
use crate::{Error, Result};
use names::{Constant, Scope};
use values::{DeclaredEnum, DefinitionPlace, FieldNumbers};

// Bound (Thrift): copies of the types and values behind names in IDL = 1,048,576 parts in all.
/// A few lines, each of which names the one before twice, would fill any memory.
const COPIES_MAX: usize = 1 << 20;

/// Resolves files that are taken apart to one document.
pub(super) fn resolve(files: &[ParsedFile]) -> Result<Document> {
    let mut resolver = Resolver {
        files,
        document: Document::default(),
        scopes: Vec::new(),
        struct_places: Vec::new(),
        enums: Vec::new(),
        function_names: Vec::new(),
        field_numbers: RefCell::default(),
        copied: Cell::new(0),
        typedef_depth: 0,
    };
    for file in 0..files.len() {
        resolver.file(file)?;
    }
    Ok(resolver.document)
}

struct Resolver<'f> {
    files: &'f [ParsedFile],
    document: Document,
    /// The names of each file, by its number.
    scopes: Vec<Scope<'f>>,
    /// Place of each struct, by its number.
    struct_places: Vec<DefinitionPlace>,
    /// Facts about each enum that values need, by its number.
    enums: Vec<DeclaredEnum<'f>>,
    /// Names of the functions of each service, by its number.
    function_names: Vec<HashSet<&'f str>>,
    /// The numbers of fields by their names, of structs that values were asked for.
    field_numbers: RefCell<HashMap<StructId, Rc<FieldNumbers>>>,
    /// Parts of types and values that were copied.
    copied: Cell<usize>,
    /// Typedefs that are being resolved.
    typedef_depth: usize,
}

impl<'f> Resolver<'f> {
    fn file(&mut self, file: usize) -> Result<()> {
        let Some(parsed) = self.files.get(file) else { return Ok(()) };
        self.document.programs.push(Program {
            path: parsed.text.path.clone(),
            name: program_name(&parsed.text.path),
            namespaces: parsed.syntax.namespaces.clone(),
            includes: parsed.includes.iter().map(|&include| program_id(include)).collect(),
            cpp_includes: parsed.syntax.cpp_includes.clone(),
            ..Program::default()
        });
        self.declare(file, parsed)?;
        self.typedefs(file, parsed)?;
        for definition in &parsed.syntax.definitions {
            if let DefinitionSyntax::Struct(syntax) = definition {
                self.define_struct(file, syntax)?;
            }
        }
        for (order, definition) in parsed.syntax.definitions.iter().enumerate() {
            let place = DefinitionPlace { file, order };
            match definition {
                DefinitionSyntax::Const(syntax) => self.constant(place, syntax)?,
                DefinitionSyntax::Enum(syntax) => self.enum_constants(file, syntax),
                DefinitionSyntax::Struct(syntax) => self.struct_defaults(place, syntax)?,
                DefinitionSyntax::Service(syntax) => self.service(place, syntax)?,
                DefinitionSyntax::Typedef(_) => {}
            }
        }
        Ok(())
    }

    fn constant(&mut self, place: DefinitionPlace, syntax: &ConstSyntax) -> Result<()> {
        let value_type = self.type_of(place.file, &syntax.value_type)?;
        let value = self.value(place, &syntax.value, &value_type)?;
        let (name, line) = (syntax.name.text.clone(), self.line(place, &syntax.name));
        let Some(program) = self.document.programs.get_mut(place.file) else { return Ok(()) };
        let Some(scope) = self.scopes.get_mut(place.file) else { return Ok(()) };
        let known = scope.constants.insert(name.clone(), Constant::Const(program.consts.len()));
        if known.is_some() {
            let expected = "a name that no other constant has";
            return Err(self.refuse(place.file, syntax.name.span, expected));
        }
        program.consts.push(Const { name, value_type, value, line });
        Ok(())
    }

    /// The values of an enum are constants from where it stands.
    fn enum_constants(&mut self, file: usize, syntax: &EnumSyntax) {
        let Some(scope) = self.scopes.get_mut(file) else { return };
        for value in &syntax.values {
            let name = format!("{}.{}", syntax.name.text, value.name.text);
            scope.constants.insert(name, Constant::EnumValue(value.number));
        }
    }

    /// Counts parts that are copied, and fails above the bound.
    fn count_copies(&self, count: usize) -> Result<(), usize> {
        self.copied.set(self.copied.get().saturating_add(count));
        if self.copied.get() <= COPIES_MAX { Ok(()) } else { Err(COPIES_MAX) }
    }
}

/// A defect: what was declared is not there.
fn lost(what: &str) -> Error {
    Error::internal(format_args!("{what} of an IDL file is lost"))
}

fn program_id(file: usize) -> ProgramId {
    ProgramId(u32::try_from(file).unwrap_or(u32::MAX))
}

/// Returns the name of a file in files that include it.
fn program_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.rfind('.').unwrap_or(name.len());
    name.get(..end).unwrap_or(name).to_owned()
}

/// Definitions of fields that nothing is said of.
fn plain_fields(count: usize) -> Vec<FieldDefinition> {
    vec![FieldDefinition::default(); count]
}
