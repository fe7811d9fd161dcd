//! Some fields of a struct, and of the structs in it, by the paths of their names: compiled once, and
//! then looked for in many messages.

use std::sync::{Arc, OnceLock};

use super::plan::{Plan, ReadOperation};
use super::schema::{StructId, Type};
use super::wire_type::WireType;
use crate::batch::Schema;
use crate::error::excerpt;
use crate::{Error, ErrorKind, Result};

/// Paths of a projection: a bit is kept for each.
pub const PATHS_MAX: usize = 64;

/// Fields that are wanted. A path names fields with `.` between them, `"address.city"`, each but the
/// last a struct in the one before. The *number* of a path is its place in the list it came in.
#[derive(Debug, Clone)]
pub struct Projection {
    plan: Arc<Plan>,
    root: StructId,
    paths: Vec<(String, Type)>,
    nodes: Vec<ProjectionNode>,
    /// Schema of its rows, once there are any: batches of it share one.
    schema: OnceLock<Schema>,
}

/// The wanted fields of one struct.
#[derive(Debug, Clone, Default)]
pub(super) struct ProjectionNode {
    /// For each wanted id, the bit of its lowest six bits: most other fields are told by this alone.
    pub(super) ids: u64,
    pub(super) wants: Vec<Want>,
}

/// A wanted field, or a struct in which some are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Want {
    pub(super) id: i32,
    pub(super) kind: WireType,
    /// A bit for each path that ends here or goes through here.
    pub(super) paths: u64,
    pub(super) target: FieldTarget,
}

/// Role of a wanted field in its paths.
#[derive(Debug, Clone, Copy)]
pub(super) enum FieldTarget {
    /// It is the end of the path with that number.
    Value(ReadOperation, u16),
    /// It is a struct; the number of its node.
    Inside(u32),
}

impl ProjectionNode {
    /// The want for a field of the message.
    #[inline(always)]
    pub(super) fn want(&self, id: i32) -> Option<&Want> {
        if self.ids >> (id & 63) & 1 == 0 {
            return None;
        }
        self.wants.iter().find(|want| want.id == id)
    }
}

impl Projection {
    /// The fields that `paths` name, beginning in the struct `root`.
    ///
    /// # Errors
    ///
    /// `Argument` for a name that the struct does not have (with those that it has), a path through what
    /// is no struct, a path that is there twice or ends in one through which another goes, and more than
    /// [`PATHS_MAX`] of them.
    pub fn new<S: AsRef<str>>(plan: Arc<Plan>, root: StructId, paths: &[S]) -> Result<Self> {
        plan.root(root)?;
        if paths.len() > PATHS_MAX {
            let found = paths.len();
            return Err(argument(format!("expected at most {PATHS_MAX} fields, found {found}")));
        }
        let nodes = vec![ProjectionNode::default()];
        let mut projection =
            Projection { plan, root, paths: Vec::new(), nodes, schema: OnceLock::new() };
        for path in paths {
            projection.add(path.as_ref())?;
        }
        Ok(projection)
    }

    /// Returns the schema of rows of its fields, made by `schema_of` the first time.
    ///
    /// # Errors
    ///
    /// Those of `schema_of`.
    pub(super) fn schema(
        &self,
        schema_of: impl FnOnce(&[(String, Type)]) -> Result<Schema>,
    ) -> Result<Schema> {
        if let Some(schema) = self.schema.get() {
            return Ok(schema.clone());
        }
        let schema = schema_of(&self.paths)?;
        Ok(self.schema.get_or_init(|| schema).clone())
    }

    /// The plan by which values are read.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The struct in which the paths begin.
    pub fn root(&self) -> StructId {
        self.root
    }

    /// The paths in the order they were given, each with the type of the field it ends in.
    pub fn paths(&self) -> &[(String, Type)] {
        &self.paths
    }

    /// A bit for each path.
    pub(super) fn all(&self) -> u64 {
        u64::MAX.checked_shr((PATHS_MAX - self.paths.len()) as u32).unwrap_or(0)
    }

    /// The wanted fields of a struct on the way.
    #[inline(always)]
    pub(super) fn node(&self, number: u32) -> Option<&ProjectionNode> {
        self.nodes.get(number as usize)
    }

    /// Adds the next path.
    fn add(&mut self, path: &str) -> Result<()> {
        let bit = 1 << self.paths.len();
        let (mut at, mut id) = (0, self.root);
        let mut names = path.split('.').peekable();
        while let Some(name) = names.next() {
            let (want, value_type) = self.named(id, name, path)?;
            let place = self.nodes.get(at).and_then(|node| node.place_of(want.id));
            if names.peek().is_none() {
                if place.is_some() {
                    return Err(argument(format!(
                        "expected {path} once, found it twice, or a field in it too"
                    )));
                }
                let operation = self.plan_of(id, want.id).ok_or_else(|| unnamed(path, name))?;
                let target = FieldTarget::Value(operation, self.paths.len() as u16);
                self.want(at, Want { paths: bit, target, ..want });
                self.paths.push((path.to_owned(), value_type));
                return Ok(());
            }
            let Type::Struct(inside) = value_type else {
                let (path, name) = (excerpt(path), excerpt(name));
                return Err(argument(format!(
                    "expected a struct before the . in {path}, found {value_type} {name}"
                )));
            };
            (at, id) = (self.inside(at, want, bit, place, path)?, inside);
        }
        Err(unnamed(path, ""))
    }

    /// The node of the struct in a field of another node's struct, which is made if there is none.
    fn inside(
        &mut self,
        at: usize,
        want: Want,
        bit: u64,
        place: Option<usize>,
        path: &str,
    ) -> Result<usize> {
        let Some(place) = place else {
            let number = self.nodes.len();
            self.nodes.push(ProjectionNode::default());
            self.want(at, Want { paths: bit, target: FieldTarget::Inside(number as u32), ..want });
            return Ok(number);
        };
        let there = self.nodes.get_mut(at).and_then(|node| node.wants.get_mut(place));
        match there {
            Some(Want { target: FieldTarget::Inside(number), paths, .. }) => {
                *paths |= bit;
                Ok(*number as usize)
            }
            _ => Err(argument(format!("expected {path} once, found it in another field too"))),
        }
    }

    fn want(&mut self, at: usize, want: Want) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.ids |= 1 << (want.id & 63);
            node.wants.push(want);
        }
    }

    /// The field of a struct by its name, wanted by no path yet.
    fn named(&self, id: StructId, name: &str, path: &str) -> Result<(Want, Type)> {
        let schema = self.plan.schema().get(id).ok_or_else(|| unnamed(path, name))?;
        let found = schema.fields.iter().find(|field| field.name == name).ok_or_else(|| {
            let names: Vec<&str> = schema.fields.iter().map(|field| field.name.as_str()).collect();
            let (names, name, path) = (names.join(", "), excerpt(name), excerpt(path));
            argument(format!(
                "expected a field of {} ({names}), found {name:?} in {path:?}",
                schema.name
            ))
        })?;
        let kind = WireType::of(&found.value_type);
        let target = FieldTarget::Inside(0);
        let want = Want { id: i32::from(found.id), kind, paths: 0, target };
        Ok((want, found.value_type.clone()))
    }

    /// Returns the operation by which the plan reads a field.
    fn plan_of(&self, id: StructId, field: i32) -> Option<ReadOperation> {
        let plan = self.plan.get(id.0)?;
        plan.at(plan.place(field)?).map(|field| field.value)
    }
}

impl ProjectionNode {
    fn place_of(&self, id: i32) -> Option<usize> {
        self.wants.iter().position(|want| want.id == id)
    }
}

fn unnamed(path: &str, name: &str) -> Error {
    let (path, name) = (excerpt(path), excerpt(name));
    argument(format!("expected the name of a field, found {name:?} in {path:?}"))
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
