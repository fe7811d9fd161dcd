//! Layout of the rows that messages become: a column for each path, read on its own or out of a tree of columns.

use std::sync::Arc;

use super::column_tree::{ColumnNode, TreeBuilder, Wanted};
use super::path::PathStep;
use super::projection::Projection;
use super::schema::Type;
use crate::Result;
use crate::batch::{DataType, Field, Schema};

/// Layout of rows, which batches of one projection share.
#[derive(Debug, Clone)]
pub(super) struct RowLayout {
    pub(super) schema: Schema,
    /// Tree that messages are read into; none if each path is a single value in structs, which has its column at once.
    pub(super) tree: Option<Arc<RowTree>>,
}

/// Tree of columns, and the columns of rows that are taken out of it.
#[derive(Debug)]
pub(super) struct RowTree {
    pub(super) root: ColumnNode,
    pub(super) field: Field,
    pub(super) outputs: Vec<TreeOutput>,
    /// Way to the elements that each are a row; empty if a message is one.
    pub(super) rows: Vec<ColumnStep>,
}

/// Column of the rows.
#[derive(Debug)]
pub(super) struct TreeOutput {
    pub(super) path: String,
    pub(super) route: Vec<ColumnStep>,
    /// The lists whose elements are rows, on the way.
    pub(super) level: usize,
    /// The field of the column in the tree.
    pub(super) field: Field,
}

/// Step in the tree of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnStep {
    /// A column of a struct.
    Child(usize),
    /// The elements of a list, as lists.
    Elements,
    /// The elements of a list, as rows.
    Rows,
}

impl RowLayout {
    /// The layout of a projection's rows.
    ///
    /// # Errors
    /// `Argument` for structs that hold themselves, and for rows of lists that are not in each other.
    pub(super) fn of(projection: &Projection) -> Result<RowLayout> {
        let is_single =
            |steps: &Vec<PathStep>| steps.iter().all(|step| matches!(step, PathStep::Field(_)));
        let mut paths = projection.paths().iter().zip(projection.steps());
        let is_flat =
            paths.all(|((_, value_type), steps)| value_type.is_scalar() && is_single(steps));
        if is_flat && !projection.is_whole() {
            let fields = projection.paths().iter().map(|(path, value_type)| {
                Field::new(path.clone(), data_type(value_type), true, String::new())
            });
            return Ok(RowLayout { schema: Schema::new("messages", fields.collect()), tree: None });
        }
        let tree = RowTree::of(projection)?;
        let fields = tree.outputs.iter().map(TreeOutput::row_field).collect();
        Ok(RowLayout { schema: Schema::new("messages", fields), tree: Some(Arc::new(tree)) })
    }
}

impl RowTree {
    fn of(projection: &Projection) -> Result<RowTree> {
        let wanted = match projection.is_whole() {
            true => Wanted::Whole,
            false => {
                let wanted = projection.steps().iter();
                let wanted = wanted.fold(None, |before, steps| Some(Wanted::with(before, steps)));
                wanted.unwrap_or(Wanted::Fields(Default::default()))
            }
        };
        let (root, field) = TreeBuilder::new(projection.plan()).root(projection.root(), &wanted)?;
        let paths = projection.paths().iter().zip(projection.steps());
        let outputs = paths.map(|((path, _), steps)| TreeOutput::of(path, steps, &wanted, &field));
        let outputs: Vec<TreeOutput> = outputs.collect();
        let deepest = projection.rows_path()?.and_then(|number| outputs.get(number));
        let rows = deepest.map(TreeOutput::rows).unwrap_or_default().to_vec();
        Ok(RowTree { root, field, outputs, rows })
    }
}

impl TreeOutput {
    fn of(path: &str, steps: &[PathStep], wanted: &Wanted, root: &Field) -> TreeOutput {
        let (mut route, mut at) = (Vec::with_capacity(steps.len()), wanted);
        for step in steps {
            let (place, inside) = match (step, at) {
                (PathStep::Field(number), Wanted::Fields(fields)) => {
                    (at.place_of(*number), fields.get(number))
                }
                (PathStep::Field(number), _) => (Some(usize::from(*number)), None),
                (PathStep::Key, Wanted::Entries(key, _)) => (Some(0), key.as_deref()),
                (PathStep::Value, Wanted::Entries(key, value)) => {
                    (Some(usize::from(key.is_some())), value.as_deref())
                }
                (PathStep::Key, _) => (Some(0), None),
                (PathStep::Value, _) => (Some(1), None),
                (PathStep::Entries | PathStep::EntryRows, _) => (None, Some(at)),
                (_, Wanted::Elements(inside)) => (None, Some(&**inside)),
                _ => (None, None),
            };
            route.push(match place {
                Some(place) => ColumnStep::Child(place),
                None if step.is_rows() => ColumnStep::Rows,
                None => ColumnStep::Elements,
            });
            at = inside.unwrap_or(&Wanted::Whole);
        }
        let level = route.iter().filter(|step| **step == ColumnStep::Rows).count();
        let field = route.iter().fold(root, |field, step| step.field(field));
        TreeOutput { path: path.to_owned(), level, field: field.clone(), route }
    }

    /// The way up to the last elements that are rows.
    fn rows(&self) -> &[ColumnStep] {
        let end = self.route.iter().rposition(|step| *step == ColumnStep::Rows);
        end.and_then(|end| self.route.get(..=end)).unwrap_or_default()
    }

    /// The field of its rows: a list for each list on the way whose elements are none.
    fn row_field(&self) -> Field {
        let lists = self.route.iter().filter(|step| **step == ColumnStep::Elements);
        let field =
            lists.fold(self.field.clone(), |field, _| Field::list(String::new(), field, true));
        field.nullable().named(self.path.clone())
    }
}

impl ColumnStep {
    /// The place of the column that it leads to, among the children of another.
    pub(super) fn place(self) -> usize {
        match self {
            ColumnStep::Child(place) => place,
            ColumnStep::Elements | ColumnStep::Rows => 0,
        }
    }

    fn field(self, field: &Field) -> &Field {
        field.children().get(self.place()).unwrap_or(field)
    }
}

/// Returns the type of a single value's column.
fn data_type(value_type: &Type) -> DataType {
    match value_type {
        Type::Bool => DataType::Bool,
        Type::Byte => DataType::I8,
        Type::I16 => DataType::I16,
        Type::I32 | Type::Enum(_) => DataType::I32,
        Type::I64 => DataType::I64,
        Type::Double => DataType::Double,
        Type::Uuid => DataType::Uuid,
        Type::String => DataType::Text,
        _ => DataType::Bytes,
    }
}
