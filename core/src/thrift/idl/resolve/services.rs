//! Services: the structs of their functions, and the services that they extend.

use super::super::document::{Function, Service, ServiceId, StructOrigin};
use super::super::syntax::{FieldSyntax, FunctionSyntax, Name, ServiceSyntax};
use super::values::DefinitionPlace;
use super::{Resolver, program_id};
use crate::Result;
use crate::thrift::{FieldSchema, StructId, StructKind, Type};

/// Maximum number of services that extend each other in a row.
const EXTENDS_MAX: usize = 32;

impl<'f> Resolver<'f> {
    /// Adds a service with the structs of its functions.
    pub(super) fn service(
        &mut self,
        place: DefinitionPlace,
        syntax: &'f ServiceSyntax,
    ) -> Result<()> {
        let extends = match &syntax.extends {
            Some(name) => Some(self.extended(place.file, name)?),
            None => None,
        };
        self.check_inherited(place.file, syntax, extends)?;
        let mut functions = Vec::new();
        for function in &syntax.functions {
            functions.push(self.function(place, function)?);
        }
        let number = self.document.services.len();
        let id = ServiceId(u32::try_from(number).unwrap_or(u32::MAX));
        let names = syntax.functions.iter().map(|function| function.name.text.as_str());
        self.function_names.push(names.collect());
        self.document.services.push(Service {
            name: syntax.name.text.clone(),
            program: program_id(place.file),
            extends,
            functions,
            line: self.line(place, &syntax.name),
            annotations: syntax.annotations.clone(),
        });
        if let Some(program) = self.document.programs.get_mut(place.file) {
            program.services.push(id);
        }
        if let Some(scope) = self.scopes.get_mut(place.file) {
            scope.services.insert(&syntax.name.text, id);
        }
        Ok(())
    }

    fn extended(&self, file: usize, name: &Name) -> Result<ServiceId> {
        let find = |scope: &super::Scope<'f>, name: &str| scope.services.get(name).copied();
        let found = self.look_up(file, &name.text, find).map(|(_, id)| id);
        found.ok_or_else(|| {
            self.unknown(file, (&name.text, name.span), "a service", "defined above")
        })
    }

    /// No function may be called like one of the services that are extended.
    fn check_inherited(
        &self,
        file: usize,
        syntax: &ServiceSyntax,
        extends: Option<ServiceId>,
    ) -> Result<()> {
        let mut next = extends;
        let mut depth = 0;
        while let Some(id) = next {
            depth += 1;
            if depth > EXTENDS_MAX {
                let what = "a row of services that extend each other";
                return Err(self.above(file, syntax.name.span, what, EXTENDS_MAX));
            }
            let names = self.function_names.get(id.0 as usize);
            for function in &syntax.functions {
                let name = &function.name;
                if names.is_some_and(|names| names.contains(name.text.as_str())) {
                    let expected = "a name that no function of a service it extends has";
                    return Err(self.refuse(file, name.span, expected));
                }
            }
            next = self.document.service(id).and_then(|service| service.extends);
        }
        Ok(())
    }

    fn function(&mut self, place: DefinitionPlace, syntax: &FunctionSyntax) -> Result<Function> {
        let (name, line) = (&syntax.name.text, self.line(place, &syntax.name));
        let taken = self.fields_of(place.file, &syntax.arguments)?;
        let own_struct = |resolver: &mut Self, name: String, origin| {
            resolver.new_struct(place, (&name, line), StructKind::Struct, origin)
        };
        let arguments = own_struct(self, format!("{name}_args"), StructOrigin::Arguments);
        self.define_fields(arguments, taken)?;
        self.defaults(place, arguments, &syntax.arguments)?;

        let return_type = match &syntax.return_type {
            Some(written) => Some(self.type_of(place.file, written)?),
            None => None,
        };
        let success = return_type.clone().map(|returned| FieldSchema::new(0, "success", returned));
        let mut answered: Vec<FieldSchema> = success.into_iter().collect();
        let returned_count = answered.len();
        answered.extend(self.fields_of(place.file, &syntax.throws)?);
        self.check_exceptions(place, &syntax.throws, answered.get(returned_count..))?;
        let result = own_struct(self, format!("{name}_result"), StructOrigin::Result);
        self.define_fields(result, answered)?;
        self.result_definitions(place, result, returned_count, &syntax.throws)?;

        let (is_oneway, annotations) = (syntax.is_oneway, syntax.annotations.clone());
        let name = name.clone();
        Ok(Function { name, is_oneway, return_type, arguments, result, annotations })
    }

    /// Checks that everything thrown is an exception that stands before the service.
    fn check_exceptions(
        &self,
        place: DefinitionPlace,
        syntax: &[FieldSyntax],
        fields: Option<&[FieldSchema]>,
    ) -> Result<()> {
        for (syntax, field) in syntax.iter().zip(fields.unwrap_or_default()) {
            let span = syntax.value_type.span;
            let kind = match field.value_type {
                Type::Struct(id) => {
                    self.check_struct_is_above(place, id, span, "an exception")?;
                    self.document.schema.get(id).map(|schema| schema.kind)
                }
                _ => None,
            };
            if kind != Some(StructKind::Exception) {
                return Err(self.refuse(place.file, span, "an exception"));
            }
        }
        Ok(())
    }

    /// Puts the definitions of exceptions behind that of the value returned, of which nothing is said.
    fn result_definitions(
        &mut self,
        place: DefinitionPlace,
        result: StructId,
        returned_count: usize,
        throws: &[FieldSyntax],
    ) -> Result<()> {
        let fields = self.document.schema.fields(result);
        let thrown = fields.get(returned_count..).unwrap_or_default();
        let thrown = self.field_definitions(place, throws, thrown)?;
        if let Some(definition) = self.document.structs.get_mut(result.0 as usize) {
            definition.fields.truncate(returned_count);
            definition.fields.extend(thrown);
        }
        Ok(())
    }
}
