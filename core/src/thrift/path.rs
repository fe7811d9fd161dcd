//! Paths of fields by a schema: names with `.` between them, through structs, lists, sets and maps.
//!
//! A path that goes through a list, a set or a map has a list of values, `rows.columns.size`. With `[]` behind a list or a set, and
//! `{}` behind a map, it has a row for each element or entry, `rows[].columns[].size`. A map has `key` and `value`. `*` at the end
//! stands for all fields of a struct with one value.

use super::schema::{StructId, ThriftSchema, Type};
use crate::error::excerpt;
use crate::{Error, ErrorKind, Result};

/// Step of a path from a value to those in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathStep {
    /// The field of a struct with that number in the schema.
    Field(u16),
    // Row (thrift-paths): `groups.chunks.size` | a list for each list on the way: `[[1, 2], [3]]`
    /// The elements of a list or a set, as a list.
    Elements,
    // Row (thrift-paths): `groups[].chunks[].size` | a row for each chunk, and the other columns repeated beside it
    /// The elements of a list or a set, a row each.
    ElementRows,
    /// The entries of a map, as a list.
    Entries,
    // Row (thrift-paths): `tags{}.key`, `tags{}.value` | a row for each entry of a map; `tags.key` is the list of its
    // keys
    /// The entries of a map, a row each.
    EntryRows,
    /// The key of an entry.
    Key,
    /// The value of an entry.
    Value,
}

impl PathStep {
    /// Returns true if it makes rows.
    pub fn is_rows(self) -> bool {
        matches!(self, PathStep::ElementRows | PathStep::EntryRows)
    }

    /// Returns true if it makes a list of what follows.
    pub fn is_list(self) -> bool {
        matches!(self, PathStep::Elements | PathStep::Entries)
    }

    /// Step to the same values, which are not rows.
    pub(super) fn without_rows(self) -> PathStep {
        match self {
            PathStep::ElementRows => PathStep::Elements,
            PathStep::EntryRows => PathStep::Entries,
            other => other,
        }
    }
}

/// A path, found in a schema.
#[derive(Debug, Clone)]
pub(super) struct FieldPath {
    pub(super) name: String,
    pub(super) steps: Vec<PathStep>,
    /// The type of what it ends in, a list for each list that it goes through.
    pub(super) value_type: Type,
}

/// The paths that `path` stands for in the struct `root`: one, or with `*` any number.
///
/// # Errors
/// `Argument` for a name that is not there, with those that are, and for a step that the type before it does not have.
pub(super) fn find(schema: &ThriftSchema, root: StructId, path: &str) -> Result<Vec<FieldPath>> {
    let at = PathPlace::Value(Type::Struct(root));
    let mut walk = PathWalk { schema, path, at, steps: Vec::new(), last: "" };
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        if part == "*" && parts.peek().is_none() {
            return walk.all_scalars();
        }
        walk.part(part)?;
    }
    walk.end().map(|path| vec![path])
}

/// Value that was reached.
#[derive(Debug, Clone)]
enum PathPlace {
    Value(Type),
    /// Key and value of a map.
    Entry(Type, Type),
}

struct PathWalk<'s> {
    schema: &'s ThriftSchema,
    path: &'s str,
    at: PathPlace,
    steps: Vec<PathStep>,
    /// The part before.
    last: &'s str,
}

impl<'s> PathWalk<'s> {
    /// Goes to a name, and through what is marked behind it.
    fn part(&mut self, part: &'s str) -> Result<()> {
        let (name, marks) = part.split_at(part.find(['[', '{']).unwrap_or(part.len()));
        self.name(name)?;
        self.last = part;
        for mark in marks.as_bytes().chunks(2) {
            self.mark(mark)?;
        }
        Ok(())
    }

    fn name(&mut self, name: &str) -> Result<()> {
        loop {
            let (step, at) = match &self.at {
                PathPlace::Value(Type::Struct(id)) => self.field(*id, name)?,
                PathPlace::Value(Type::List(element) | Type::Set(element)) => {
                    (PathStep::Elements, PathPlace::Value((**element).clone()))
                }
                PathPlace::Value(Type::Map(key, value)) => {
                    (PathStep::Entries, PathPlace::Entry((**key).clone(), (**value).clone()))
                }
                PathPlace::Value(other) => {
                    let (path, last) = (excerpt(self.path), excerpt(self.last));
                    return Err(argument(format!(
                        "expected a struct before the . in {path}, found {other} {last}"
                    )));
                }
                PathPlace::Entry(key, value) => match name {
                    "key" => (PathStep::Key, PathPlace::Value(key.clone())),
                    "value" => (PathStep::Value, PathPlace::Value(value.clone())),
                    _ => {
                        let (path, name) = (excerpt(self.path), excerpt(name));
                        return Err(argument(format!(
                            "expected key or value of a map, found {name:?} in {path:?}"
                        )));
                    }
                },
            };
            self.steps.push(step);
            self.at = at;
            if !step.is_list() {
                return Ok(());
            }
        }
    }

    /// The field of a struct by its name.
    fn field(&self, id: StructId, name: &str) -> Result<(PathStep, PathPlace)> {
        let schema = self.schema.get(id).ok_or_else(|| self.unnamed(name))?;
        if let Some(number) = schema.field_number(name)
            && let Some(field) = schema.fields.get(number)
        {
            return Ok((
                PathStep::Field(number as u16),
                PathPlace::Value(field.value_type.clone()),
            ));
        }
        if name.is_empty() {
            return Err(self.unnamed(name));
        }
        let names: Vec<&str> = schema.fields.iter().map(|field| field.name.as_str()).collect();
        let (names, name, path) = (names.join(", "), excerpt(name), excerpt(self.path));
        Err(argument(format!(
            "expected a field of {} ({names}), found {name:?} in {path:?}",
            schema.name
        )))
    }

    /// Makes rows of a list, a set or a map.
    fn mark(&mut self, mark: &[u8]) -> Result<()> {
        let (step, at) = match (&self.at, mark) {
            (PathPlace::Value(Type::List(element) | Type::Set(element)), b"[]") => {
                (PathStep::ElementRows, PathPlace::Value((**element).clone()))
            }
            (PathPlace::Value(Type::Map(key, value)), b"{}") => {
                (PathStep::EntryRows, PathPlace::Entry((**key).clone(), (**value).clone()))
            }
            (at, _) => {
                let found = match at {
                    PathPlace::Value(found) => found.to_string(),
                    PathPlace::Entry(..) => "an entry".to_owned(),
                };
                let (path, last) = (excerpt(self.path), excerpt(self.last));
                return Err(argument(format!(
                    "expected [] behind a list or a set, {{}} behind a map, found {found} {last} in {path}"
                )));
            }
        };
        if self.steps.iter().any(|step| step.is_list()) {
            let path = excerpt(self.path);
            return Err(argument(format!(
                "expected [] or {{}} behind each list, set and map before another that has it, found none in {path}"
            )));
        }
        self.steps.push(step);
        self.at = at;
        Ok(())
    }

    fn end(self) -> Result<FieldPath> {
        let PathPlace::Value(mut value_type) = self.at else {
            let path = excerpt(self.path);
            return Err(argument(format!("expected .key or .value behind {path}, found none")));
        };
        for _ in self.steps.iter().filter(|step| step.is_list()) {
            value_type = Type::list(value_type);
        }
        Ok(FieldPath { name: self.path.to_owned(), steps: self.steps, value_type })
    }

    // Row (thrift-paths): `place.*` | a column for each field of the struct with one value
    /// The fields of the struct with one value.
    fn all_scalars(mut self) -> Result<Vec<FieldPath>> {
        while let PathPlace::Value(Type::List(element) | Type::Set(element)) = &self.at {
            (self.steps, self.at) = {
                let steps = [self.steps.as_slice(), &[PathStep::Elements]].concat();
                (steps, PathPlace::Value((**element).clone()))
            };
        }
        let PathPlace::Value(Type::Struct(id)) = self.at else {
            let (path, last) = (excerpt(self.path), excerpt(self.last));
            return Err(argument(format!(
                "expected a struct before the * in {path}, found {last}"
            )));
        };
        let before = self.path.strip_suffix('*').unwrap_or_default();
        let fields = self.schema.fields(id).iter().enumerate();
        let scalars = fields.filter(|(_, field)| field.value_type.is_scalar());
        let paths: Vec<FieldPath> = scalars
            .map(|(number, field)| {
                let steps = [self.steps.as_slice(), &[PathStep::Field(number as u16)]].concat();
                let levels = steps.iter().filter(|step| step.is_list()).count();
                let value_type = (0..levels).fold(field.value_type.clone(), |of, _| Type::list(of));
                FieldPath { name: format!("{before}{}", field.name), steps, value_type }
            })
            .collect();
        match paths.is_empty() {
            true => Err(argument(format!(
                "expected a struct that has fields with one value, found none in {}",
                excerpt(self.path)
            ))),
            false => Ok(paths),
        }
    }

    fn unnamed(&self, name: &str) -> Error {
        let (path, name) = (excerpt(self.path), excerpt(name));
        argument(format!("expected the name of a field, found {name:?} in {path:?}"))
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
