//! Structs and enums: declared first, defined when all names are there, given defaults in the order
//! of the text.

use super::super::document::{EnumDefinition, FieldDefinition, StructDefinition, StructOrigin};
use super::super::syntax::{EnumSyntax, FieldSyntax, Name, StructSyntax};
use super::names::NamedType;
use super::values::{DeclaredEnum, DefinitionPlace};
use super::{Resolver, lost, plain_fields, program_id};
use crate::Result;
use crate::thrift::{EnumId, EnumSchema, FieldSchema, StructId, StructKind};

impl<'f> Resolver<'f> {
    /// The line that a name stands in.
    pub(super) fn line(&self, place: DefinitionPlace, name: &Name) -> u32 {
        self.files.get(place.file).map_or(0, |file| file.text.line(name.span))
    }

    /// Declares an enum, which is whole then.
    pub(super) fn declare_enum(
        &mut self,
        place: DefinitionPlace,
        syntax: &'f EnumSyntax,
    ) -> EnumId {
        let values = syntax.values.iter().map(|value| (value.name.text.clone(), value.number));
        let (name, values) = (syntax.name.text.clone(), values.collect());
        let id = self.document.schema.add_enum(EnumSchema { name, values });
        let of_values = syntax.values.iter().map(|value| value.annotations.clone());
        let value_lines = syntax.values.iter().map(|value| self.line(place, &value.name)).collect();
        self.document.enums.push(EnumDefinition {
            program: program_id(place.file),
            annotations: syntax.annotations.clone(),
            value_annotations: of_values.collect(),
            line: self.line(place, &syntax.name),
            value_lines,
        });
        self.enums.push(DeclaredEnum::new(place, syntax));
        if let Some(program) = self.document.programs.get_mut(place.file) {
            program.enums.push(id);
        }
        id
    }

    /// Declares a struct by its name, so that types can name it.
    pub(super) fn declare_struct(
        &mut self,
        place: DefinitionPlace,
        syntax: &'f StructSyntax,
    ) -> StructId {
        let line = self.line(place, &syntax.name);
        let id =
            self.new_struct(place, (&syntax.name.text, line), syntax.kind, StructOrigin::Declared);
        if let Some(definition) = self.document.structs.get_mut(id.0 as usize) {
            definition.annotations = syntax.annotations.clone();
        }
        if let Some(program) = self.document.programs.get_mut(place.file) {
            program.structs.push(id);
        }
        id
    }

    /// Adds a struct without fields to the schema, and what belongs to it beside that.
    pub(super) fn new_struct(
        &mut self,
        place: DefinitionPlace,
        (name, line): (&str, u32),
        kind: StructKind,
        origin: StructOrigin,
    ) -> StructId {
        let program = program_id(place.file);
        self.struct_places.push(place);
        let (fields, annotations) = (Vec::new(), Vec::new());
        self.document.structs.push(StructDefinition { program, origin, fields, line, annotations });
        self.document.schema.declare_struct(name, kind)
    }

    /// Gives a struct of a file its fields, without values of defaults.
    pub(super) fn define_struct(&mut self, file: usize, syntax: &StructSyntax) -> Result<()> {
        let id = self.declared(file, syntax)?;
        let fields = self.fields_of(file, &syntax.fields)?;
        self.define_fields(id, fields)
    }

    /// The struct that a text declares.
    fn declared(&self, file: usize, syntax: &StructSyntax) -> Result<StructId> {
        let types = self.scopes.get(file).map(|scope| &scope.types);
        match types.and_then(|types| types.get(syntax.name.text.as_str())) {
            Some(NamedType::Struct(id)) => Ok(*id),
            _ => Err(lost("a struct")),
        }
    }

    /// Fields as a schema has them.
    pub(super) fn fields_of(
        &mut self,
        file: usize,
        fields: &[FieldSyntax],
    ) -> Result<Vec<FieldSchema>> {
        let fields = fields.iter().map(|field| {
            Ok(FieldSchema {
                id: field.id,
                name: field.name.text.clone(),
                value_type: self.type_of(file, &field.value_type)?,
                requiredness: field.requiredness,
                has_default: field.default.is_some(),
            })
        });
        fields.collect()
    }

    /// Gives a struct its fields; the parser has seen to it that they can be told apart.
    pub(super) fn define_fields(&mut self, id: StructId, fields: Vec<FieldSchema>) -> Result<()> {
        if let Some(definition) = self.document.structs.get_mut(id.0 as usize) {
            definition.fields = plain_fields(fields.len());
        }
        self.document.schema.define_struct(id, fields)
    }

    /// Gives the fields of a struct of a file the values of their defaults.
    pub(super) fn struct_defaults(
        &mut self,
        place: DefinitionPlace,
        syntax: &StructSyntax,
    ) -> Result<()> {
        let id = self.declared(place.file, syntax)?;
        self.defaults(place, id, &syntax.fields)
    }

    /// Gives the fields of a struct the values of their defaults.
    pub(super) fn defaults(
        &mut self,
        place: DefinitionPlace,
        id: StructId,
        fields: &[FieldSyntax],
    ) -> Result<()> {
        let Some(schema) = self.document.schema.get(id) else { return Err(lost("a struct")) };
        let definitions = self.field_definitions(place, fields, &schema.fields)?;
        if let Some(definition) = self.document.structs.get_mut(id.0 as usize) {
            definition.fields = definitions;
        }
        Ok(())
    }

    /// Returns the facts about fields, beyond the schema.
    pub(super) fn field_definitions(
        &self,
        place: DefinitionPlace,
        fields: &[FieldSyntax],
        schemas: &[FieldSchema],
    ) -> Result<Vec<FieldDefinition>> {
        let definitions = fields.iter().zip(schemas).map(|(syntax, field)| {
            let default = syntax.default.as_ref();
            let default = default.map(|value| self.value(place, value, &field.value_type));
            Ok(FieldDefinition {
                default: default.transpose()?,
                is_reference: syntax.is_reference,
                line: self.line(place, &syntax.name),
                annotations: syntax.annotations.clone(),
            })
        });
        definitions.collect()
    }
}
