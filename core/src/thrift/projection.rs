//! Some fields of a struct, and of the structs in it, by the paths of their names: compiled once, and
//! then looked for in many messages.

use std::sync::{Arc, OnceLock};

use super::path::{self, FieldPath, PathStep};
use super::plan::{Plan, ReadOperation};
use super::row_layout::RowLayout;
use super::schema::{StructId, Type};
use super::through::ThroughPath;
use super::wire_type::WireType;
use crate::error::excerpt;
use crate::{Error, ErrorKind, Result};

// Bound (Thrift): paths of a projection = 64.
/// Paths of a projection: a bit is kept for each.
pub const PATHS_MAX: usize = 64;

/// Fields that are wanted. A path names fields with `.` between them, `"address.city"`, each but the
/// last a struct in the one before, or a list, a set or a map: see [`PathStep`]. The *number* of a path is its place in the
/// list it came in, where a `*` takes as many places as it has fields.
#[derive(Debug, Clone)]
pub struct Projection {
    plan: Arc<Plan>,
    root: StructId,
    paths: Vec<(String, Type)>,
    /// Of each path.
    steps: Vec<Vec<PathStep>>,
    nodes: Vec<ProjectionNode>,
    /// Containers in which paths go on, by their numbers.
    through: Vec<Vec<ThroughPath>>,
    is_whole: bool,
    /// Layout of its rows, once there are any: batches of it share one schema.
    layout: OnceLock<RowLayout>,
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
    /// It is a list, a set or a map; the number of the paths that go on in it.
    Through(u32),
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
    /// has no fields, a path that is there twice or ends in one through which another goes, and more than
    /// [`PATHS_MAX`] of them.
    pub fn new<S: AsRef<str>>(plan: Arc<Plan>, root: StructId, paths: &[S]) -> Result<Self> {
        let mut projection = Projection::without_paths(plan, root)?;
        let mut count = paths.len();
        for path in paths {
            let found = path::find(projection.plan.schema(), root, path.as_ref())?;
            count += found.len() - 1;
            if count > PATHS_MAX {
                return Err(argument(format!(
                    "expected at most {PATHS_MAX} fields, found {count}"
                )));
            }
            found.into_iter().try_for_each(|path| projection.add(path))?;
        }
        Ok(projection)
    }

    /// All fields of the struct `root`, as columns: of a field that a message has twice, the last is taken. Nothing is plucked by it.
    ///
    /// # Errors
    ///
    /// `Argument` where the plan does not have the struct.
    pub fn whole(plan: Arc<Plan>, root: StructId) -> Result<Self> {
        let mut projection =
            Projection { is_whole: true, ..Projection::without_paths(plan, root)? };
        for (number, field) in (0..).zip(projection.plan.schema().fields(root)) {
            projection.paths.push((field.name.clone(), field.value_type.clone()));
            projection.steps.push(vec![PathStep::Field(number)]);
        }
        Ok(projection)
    }

    /// The fields that `paths` name, as columns; all fields of the struct without any.
    ///
    /// # Errors
    ///
    /// Those of [`Projection::new`] and [`Projection::whole`].
    pub fn of_columns<S: AsRef<str>>(plan: Arc<Plan>, root: StructId, paths: &[S]) -> Result<Self> {
        if paths.is_empty() { Self::whole(plan, root) } else { Self::new(plan, root, paths) }
    }

    fn without_paths(plan: Arc<Plan>, root: StructId) -> Result<Self> {
        plan.root(root)?;
        let (paths, steps, through) = (Vec::new(), Vec::new(), Vec::new());
        let (nodes, layout) = (vec![ProjectionNode::default()], OnceLock::new());
        Ok(Projection { plan, root, paths, steps, nodes, through, is_whole: false, layout })
    }

    /// Fails where a path makes rows of a list, which is one for columns.
    ///
    /// # Errors
    ///
    /// `Argument` with the path.
    pub fn expect_no_rows(&self) -> Result<()> {
        let Some((path, _)) = self.rows_path()?.and_then(|number| self.paths.get(number)) else {
            return Ok(());
        };
        let plain = path.replace("[]", "").replace("{}", "");
        let (path, plain) = (excerpt(path), excerpt(&plain));
        Err(argument(format!(
            "expected a path without [] and {{}}, which make rows of columns, found {path}; {plain} has a list"
        )))
    }

    /// The number of the first path that goes through most of the lists that make rows; nothing if a message is one row.
    ///
    /// # Errors
    ///
    /// `Argument` where these lists are not in each other.
    pub fn rows_path(&self) -> Result<Option<usize>> {
        let of = |steps: &[PathStep]| steps.iter().rposition(|step| step.is_rows());
        let rows = |steps: &Vec<PathStep>| of(steps).map_or(0, |end| end + 1);
        let numbers = 0..self.steps.len();
        let level = |number: &usize| {
            let steps = self.steps.get(*number).map(Vec::as_slice).unwrap_or_default();
            steps.iter().filter(|step| step.is_rows()).count()
        };
        let deepest = numbers.rev().max_by_key(level).filter(|number| level(number) > 0);
        let Some(steps) = deepest.and_then(|number| self.steps.get(number)) else {
            return Ok(None);
        };
        let mut others = self.paths.iter().zip(&self.steps);
        let beside = others
            .find(|(_, other)| !steps.starts_with(other.get(..rows(other)).unwrap_or_default()));
        match (beside, deepest.and_then(|number| self.paths.get(number))) {
            (Some(((other, _), _)), Some((path, _))) => {
                let (path, other) = (excerpt(path), excerpt(other));
                Err(argument(format!(
                    "expected all [] and {{}} of one call in each other, found {other} beside {path}; read them in two calls"
                )))
            }
            _ => Ok(deepest),
        }
    }

    /// Returns the layout of rows of its fields, made by `make` the first time.
    ///
    /// # Errors
    ///
    /// Those of `make`.
    pub(super) fn layout(
        &self,
        make: impl FnOnce(&Self) -> Result<RowLayout>,
    ) -> Result<RowLayout> {
        if let Some(layout) = self.layout.get() {
            return Ok(layout.clone());
        }
        let layout = make(self)?;
        Ok(self.layout.get_or_init(|| layout).clone())
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

    /// The steps of each path.
    pub fn steps(&self) -> &[Vec<PathStep>] {
        &self.steps
    }

    /// Returns true if it is all fields of the struct.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// A bit for each path; none of a whole struct.
    pub(super) fn all(&self) -> u64 {
        if self.is_whole {
            return 0;
        }
        u64::MAX.checked_shr((PATHS_MAX - self.paths.len()) as u32).unwrap_or(0)
    }

    /// The paths that go on in a container, with their numbers.
    pub(super) fn through(&self, number: u32) -> &[ThroughPath] {
        self.through.get(number as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// The wanted fields of a struct on the way.
    #[inline(always)]
    pub(super) fn node(&self, number: u32) -> Option<&ProjectionNode> {
        self.nodes.get(number as usize)
    }

    /// Adds the next path.
    fn add(&mut self, path: FieldPath) -> Result<()> {
        let (bit, number) = (1 << self.paths.len(), self.paths.len() as u16);
        let (mut at, mut id) = (0, self.root);
        let mut steps = path.steps.iter().copied().enumerate().peekable();
        while let Some((place, PathStep::Field(field))) = steps.next() {
            let Some(want) = self.field(id, field) else { break };
            match (steps.peek(), want.target) {
                (None, _) => {
                    if self.place_of(at, want.id).is_some() {
                        return Err(twice(&path.name));
                    }
                    self.want(at, Want { paths: bit, ..want });
                    break;
                }
                (_, FieldTarget::Value(ReadOperation::Struct(inside), _)) => {
                    (at, id) = (self.inside(at, want, bit, &path.name)?, StructId(inside));
                }
                (_, FieldTarget::Value(operation, _)) => {
                    let rest = path.steps.get(place + 1..).unwrap_or_default();
                    let through = ThroughPath::new(&self.plan, number, operation, rest);
                    let through = through.ok_or_else(|| twice(&path.name))?;
                    self.go_through(at, Want { paths: bit, ..want }, through, &path.name)?;
                    break;
                }
                _ => break,
            }
        }
        self.paths.push((path.name, path.value_type));
        self.steps.push(path.steps);
        Ok(())
    }

    /// A field of a struct as the end of the next path.
    fn field(&self, id: StructId, number: u16) -> Option<Want> {
        let field = self.plan.field(id.0, number)?;
        let target = FieldTarget::Value(field.value, self.paths.len() as u16);
        Some(Want { id: field.id, kind: field.kind, paths: 0, target })
    }

    fn place_of(&self, at: usize, id: i32) -> Option<usize> {
        self.nodes.get(at)?.wants.iter().position(|want| want.id == id)
    }

    /// The want that is there for a field.
    fn there(&mut self, at: usize, id: i32) -> Option<&mut Want> {
        let place = self.place_of(at, id)?;
        self.nodes.get_mut(at)?.wants.get_mut(place)
    }

    /// The node of the struct in a field of another node's struct, which is made if there is none.
    fn inside(&mut self, at: usize, want: Want, bit: u64, path: &str) -> Result<usize> {
        match self.there(at, want.id) {
            None => {
                let number = self.nodes.len();
                self.nodes.push(ProjectionNode::default());
                let target = FieldTarget::Inside(number as u32);
                self.want(at, Want { paths: bit, target, ..want });
                Ok(number)
            }
            Some(Want { target: FieldTarget::Inside(number), paths, .. }) => {
                *paths |= bit;
                Ok(*number as usize)
            }
            Some(_) => Err(in_another(path)),
        }
    }

    /// Adds a path that goes on in a container.
    fn go_through(
        &mut self,
        at: usize,
        want: Want,
        through: ThroughPath,
        path: &str,
    ) -> Result<()> {
        let number = match self.there(at, want.id) {
            None => {
                let target = FieldTarget::Through(self.through.len() as u32);
                self.want(at, Want { target, ..want });
                self.through.push(vec![through]);
                return Ok(());
            }
            Some(Want { target: FieldTarget::Through(number), paths, .. }) => {
                *paths |= want.paths;
                *number as usize
            }
            Some(_) => return Err(in_another(path)),
        };
        let Some(others) = self.through.get_mut(number) else { return Ok(()) };
        if others.iter().any(|other| other.meets(&through)) {
            return Err(twice(path));
        }
        others.push(through);
        Ok(())
    }

    fn want(&mut self, at: usize, want: Want) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.ids |= 1 << (want.id & 63);
            node.wants.push(want);
        }
    }
}

fn twice(path: &str) -> Error {
    let path = excerpt(path);
    argument(format!("expected {path} once, found it twice, or a field in it too"))
}

fn in_another(path: &str) -> Error {
    argument(format!("expected {} once, found it in another field too", excerpt(path)))
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
