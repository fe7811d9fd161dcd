//! Columns that messages are read into, as a tree: the wanted parts of a struct, in each other as they are in the message.

use std::collections::BTreeMap;

use super::path::PathStep;
use super::plan::{Plan, ReadOperation};
use super::schema::StructId;
use super::wire_type::WireType;
use crate::batch::{DataType, Field};
use crate::error::excerpt;
use crate::{Error, ErrorKind, Result};

// Bound (Thrift): columns of whole structs and of paths through lists = 4,096.
/// Structs that hold each other more than once could make any number.
const COLUMNS_MAX: usize = 4096;

// Bound (Thrift): columns of structs and lists in each other = 64.
const LEVELS_MAX: usize = 64;

/// A column, and the way in which its values are read.
#[derive(Debug)]
pub(super) struct ColumnNode {
    /// The type that its value has in the message.
    pub(super) kind: WireType,
    pub(super) values: NodeValues,
    /// Bytes that a row takes in it and in its columns, without what is in lists.
    pub(super) row_bytes: u32,
}

/// Values of a column. The form has a byte of its own, which is looked at for each value.
#[derive(Debug)]
#[repr(u8)]
pub(super) enum NodeValues {
    Single(ReadOperation),
    // Row (thrift-paths): `place` | a struct: a Hash of its fields, `nil` for those that are not set. Unions are
    // structs of which one field is set
    Struct(StructNode),
    // Row (thrift-paths): `tags`, a list or a set | a list: an Array
    List(Box<ListNode>),
    // Row (thrift-paths): `tags`, a map | a map: a Hash
    Map(Box<MapNode>),
}

/// A struct: the fields that are wanted of it, by id.
#[derive(Debug)]
pub(super) struct StructNode {
    pub(super) fields: Vec<FieldNode>,
    /// True if some fields are selected, of which the first counts if a message has one twice. Of a whole struct the last one
    /// does.
    pub(super) takes_first: bool,
}

#[derive(Debug)]
pub(super) struct FieldNode {
    pub(super) id: i32,
    /// Its place among the columns of the struct.
    pub(super) place: usize,
    pub(super) node: ColumnNode,
}

#[derive(Debug)]
pub(super) struct ListNode {
    /// The path to it, for errors.
    pub(super) path: String,
    pub(super) element: ColumnNode,
}

#[derive(Debug)]
pub(super) struct MapNode {
    pub(super) path: String,
    pub(super) kinds: (WireType, WireType),
    /// True if the map itself is wanted, which has no key that is null.
    pub(super) is_whole: bool,
    /// The wanted ones of key and value.
    pub(super) key: Option<ColumnNode>,
    pub(super) value: Option<ColumnNode>,
}

/// Wanted parts of a value.
#[derive(Debug)]
pub(super) enum Wanted {
    Whole,
    Fields(BTreeMap<u16, Wanted>),
    Elements(Box<Wanted>),
    /// Of the entries of a map, key and value.
    Entries(Option<Box<Wanted>>, Option<Box<Wanted>>),
}

impl Wanted {
    /// The parts that `steps` lead to, beside those that there are.
    pub(super) fn with(before: Option<Wanted>, steps: &[PathStep]) -> Wanted {
        let Some((step, rest)) = steps.split_first() else { return Wanted::Whole };
        let boxed = |before: Option<Box<Wanted>>, rest: &[PathStep]| {
            Some(Box::new(Wanted::with(before.map(|wanted| *wanted), rest)))
        };
        match (step.without_rows(), before) {
            (PathStep::Field(number), before) => {
                let mut fields = match before {
                    Some(Wanted::Fields(fields)) => fields,
                    _ => BTreeMap::new(),
                };
                let inside = Wanted::with(fields.remove(&number), rest);
                fields.insert(number, inside);
                Wanted::Fields(fields)
            }
            (PathStep::Key, Some(Wanted::Entries(key, value))) => {
                Wanted::Entries(boxed(key, rest), value)
            }
            (PathStep::Value, Some(Wanted::Entries(key, value))) => {
                Wanted::Entries(key, boxed(value, rest))
            }
            (PathStep::Key, _) => Wanted::Entries(boxed(None, rest), None),
            (PathStep::Value, _) => Wanted::Entries(None, boxed(None, rest)),
            (PathStep::Entries, before) => Wanted::with(before, rest),
            (_, Some(Wanted::Elements(before))) => {
                Wanted::Elements(Box::new(Wanted::with(Some(*before), rest)))
            }
            _ => Wanted::Elements(Box::new(Wanted::with(None, rest))),
        }
    }

    /// The place of a field among those that are wanted.
    pub(super) fn place_of(&self, number: u16) -> Option<usize> {
        match self {
            Wanted::Fields(fields) => fields.keys().position(|wanted| *wanted == number),
            _ => Some(usize::from(number)),
        }
    }
}

/// Makes the nodes of a tree, and the fields that its columns are of.
pub(super) struct TreeBuilder<'p> {
    plan: &'p Plan,
    count: usize,
    /// Whole structs that hold the one that is made.
    open: Vec<u32>,
    levels: usize,
}

impl<'p> TreeBuilder<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        TreeBuilder { plan, count: 0, open: Vec::new(), levels: 0 }
    }

    /// The tree of the struct `root`.
    ///
    /// # Errors
    /// `Argument` for a struct that holds itself, and for more columns than there may be.
    pub(super) fn root(&mut self, root: StructId, wanted: &Wanted) -> Result<(ColumnNode, Field)> {
        let operation = ReadOperation::Struct(root.0);
        self.node((operation, WireType::STRUCT), wanted, "", "")
    }

    /// The node and the field of a value, which is called `name` and is at the end of `path`.
    fn node(
        &mut self,
        (operation, kind): (ReadOperation, WireType),
        wanted: &Wanted,
        name: &str,
        path: &str,
    ) -> Result<(ColumnNode, Field)> {
        self.count += 1;
        self.levels += 1;
        if self.count > COLUMNS_MAX {
            return Err(argument(format!(
                "expected at most {COLUMNS_MAX} columns, found more in {}",
                excerpt(path)
            )));
        }
        if self.levels > LEVELS_MAX {
            return Err(argument(format!(
                "expected at most {LEVELS_MAX} columns in each other, found more in {}",
                excerpt(path)
            )));
        }
        let name = name.to_owned();
        let (values, field, row_bytes) = match operation {
            ReadOperation::Struct(id) => self.structure(id, wanted, name, path)?,
            ReadOperation::List(of) | ReadOperation::Set(of) => {
                let plan = self.plan.container(of).ok_or_else(unplanned)?;
                let inside = match wanted {
                    Wanted::Elements(inside) => inside,
                    _ => &Wanted::Whole,
                };
                let inner = format!("{path}[]");
                let (element, field) =
                    self.node((plan.key, plan.key_kind), inside, "item", &inner)?;
                let list = ListNode { path: path.to_owned(), element };
                (NodeValues::List(Box::new(list)), Field::list(name, field, true), 5)
            }
            ReadOperation::Map(of) => self.map(of, wanted, name, path)?,
            single => {
                let data_type = data_type(single);
                let field = Field::new(name, data_type, true, String::new());
                // Offsets of text; bits are counted as bytes.
                let row_bytes = data_type.width().unwrap_or(8) as u32 + 1;
                (NodeValues::Single(single), field, row_bytes)
            }
        };
        self.levels -= 1;
        Ok((ColumnNode { kind, values, row_bytes }, field))
    }

    fn structure(
        &mut self,
        id: u32,
        wanted: &Wanted,
        name: String,
        path: &str,
    ) -> Result<(NodeValues, Field, u32)> {
        let schema = self.plan.schema();
        let struct_fields = schema.fields(StructId(id));
        let all =
            || (0..struct_fields.len()).map(|number| (number as u16, &Wanted::Whole)).collect();
        let (takes_first, inside): (bool, Vec<(u16, &Wanted)>) = match wanted {
            Wanted::Fields(fields) => {
                (true, fields.iter().map(|(number, of)| (*number, of)).collect())
            }
            _ => (false, all()),
        };
        if !takes_first {
            if self.open.contains(&id) {
                return Err(self.recursive(id, path));
            }
            self.open.push(id);
        }
        let (mut nodes, mut fields, mut row_bytes) = (Vec::new(), Vec::new(), 1_u32);
        for (place, (number, wanted)) in inside.into_iter().enumerate() {
            let plan = *self.plan.field(id, number).ok_or_else(unplanned)?;
            let name = struct_fields.get(usize::from(number)).map_or("", |field| &field.name);
            let inner = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let (node, field) = self.node((plan.value, plan.kind), wanted, name, &inner)?;
            row_bytes = row_bytes.saturating_add(node.row_bytes);
            nodes.push(FieldNode { id: plan.id, place, node });
            fields.push(field);
        }
        if !takes_first {
            self.open.pop();
        }
        nodes.sort_by_key(|field| field.id);
        let values = NodeValues::Struct(StructNode { fields: nodes, takes_first });
        Ok((values, Field::structure(name, fields, true), row_bytes))
    }

    fn map(
        &mut self,
        of: u32,
        wanted: &Wanted,
        name: String,
        path: &str,
    ) -> Result<(NodeValues, Field, u32)> {
        let plan = self.plan.container(of).ok_or_else(unplanned)?;
        let (key, value) = match wanted {
            Wanted::Entries(key, value) => (key.as_deref(), value.as_deref()),
            _ => (Some(&Wanted::Whole), Some(&Wanted::Whole)),
        };
        let sides = [
            (key, (plan.key, plan.key_kind), "key"),
            (value, (plan.value, plan.value_kind), "value"),
        ];
        let (mut nodes, mut fields) = (Vec::new(), Vec::new());
        for (wanted, of, name) in sides {
            nodes.push(match wanted {
                Some(wanted) => {
                    let (node, field) =
                        self.node(of, wanted, name, &format!("{path}{{}}.{name}"))?;
                    fields.push(field);
                    Some(node)
                }
                None => None,
            });
        }
        let (value, key) = (nodes.pop().flatten(), nodes.pop().flatten());
        let field = match <[Field; 2]>::try_from(fields) {
            Ok([key, value]) => Field::map(name, key, value, true),
            // One of the two alone is no map, and becomes a list of its own.
            Err(fields) => {
                Field::list(name, Field::structure("item".to_owned(), fields, false), true)
            }
        };
        let kinds = (plan.key_kind, plan.value_kind);
        let is_whole = matches!(wanted, Wanted::Whole);
        let map = MapNode { path: path.to_owned(), kinds, is_whole, key, value };
        Ok((NodeValues::Map(Box::new(map)), field, 5))
    }

    #[cold]
    fn recursive(&self, id: u32, path: &str) -> Error {
        let schema = self.plan.schema();
        let name = schema.get(StructId(id)).map_or("", |found| found.name.as_str());
        let (name, path) = (excerpt(name), excerpt(path));
        argument(format!(
            "expected structs that do not hold themselves for columns, found {name} in {path} inside of {name}; name the fields"
        ))
    }
}

/// Returns the type of the column of single values.
pub(super) fn data_type(operation: ReadOperation) -> DataType {
    match operation {
        ReadOperation::Bool => DataType::Bool,
        ReadOperation::Byte => DataType::I8,
        ReadOperation::I16 => DataType::I16,
        ReadOperation::I32 => DataType::I32,
        ReadOperation::I64 => DataType::I64,
        ReadOperation::Double => DataType::Double,
        ReadOperation::String => DataType::Text,
        ReadOperation::Uuid => DataType::Uuid,
        _ => DataType::Bytes,
    }
}

/// A number of another schema.
#[cold]
fn unplanned() -> Error {
    argument("expected a type of the schema, found one of another".to_owned())
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}
