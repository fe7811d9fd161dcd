//! Columns of lists, structs and maps, rows of their elements, and what is plucked through them, are what a slow twin finds.
//!
//! The twin goes along a path in a tree of the message, one step after the other, and knows no columns.

use std::sync::Arc;

use bytewright::batch::{Batch, DataType, Value};
use bytewright::thrift::{
    Columns, Encoding, FieldSchema, Frames, Limits, MessageLayout, PathStep, Plan, Projection,
    ProtocolErrorKind, StructId, StructKind, Tape, ThriftSchema, Type, WireType,
};

use super::invent::Inventor;
use super::tree::Tree;
use super::twin::{self, Raw};
use super::{ENCODINGS, cases};
use crate::generate::{Random, seeds};

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Double(u64),
    Bytes(Vec<u8>),
    List(Vec<Cell>),
    Struct(Vec<Cell>),
    Map(Vec<(Cell, Cell)>),
}

impl Cell {
    /// A whole value of a type: of a field that is there twice, the last one of its type.
    fn whole(schema: &ThriftSchema, of: &Type, raw: &Raw) -> Cell {
        match (of, raw) {
            (Type::Struct(id), Raw::Struct(fields)) => {
                let field = |field: &FieldSchema| {
                    let found = fields.iter().rev().find(|(id, raw)| is_of(field, *id, raw));
                    found.map_or(Cell::Null, |(_, raw)| Cell::whole(schema, &field.value_type, raw))
                };
                Cell::Struct(schema.get(*id).unwrap().fields.iter().map(field).collect())
            }
            (Type::List(_) | Type::Set(_), raw) => match elements(of, raw) {
                None => Cell::Null,
                Some(raws) => Cell::List(
                    raws.iter().map(|raw| Cell::whole(schema, of.element(), raw)).collect(),
                ),
            },
            (Type::Map(key, value), raw) => match entries(of, raw) {
                None => Cell::Null,
                Some(raws) => {
                    let entry = |(key_raw, raw): &(Raw, Raw)| {
                        (Cell::whole(schema, key, key_raw), Cell::whole(schema, value, raw))
                    };
                    let cells: Vec<(Cell, Cell)> = raws.iter().map(entry).collect();
                    match cells.iter().any(|(key, _)| *key == Cell::Null) {
                        true => Cell::Null,
                        false => Cell::Map(cells),
                    }
                }
            },
            (_, Raw::Bool(truth)) => Cell::Bool(*truth),
            (_, Raw::Byte(number)) => Cell::Int((*number).into()),
            (_, Raw::I16(number)) => Cell::Int((*number).into()),
            (_, Raw::I32(number)) => Cell::Int((*number).into()),
            (_, Raw::I64(number)) => Cell::Int(*number),
            (_, Raw::Double(bits)) => Cell::Double(*bits),
            (_, Raw::Bytes(bytes)) => Cell::Bytes(bytes.clone()),
            (_, Raw::Uuid(bytes)) => Cell::Bytes(bytes.to_vec()),
            (of, raw) => panic!("{raw:?} is no {of}"),
        }
    }

    fn of_value(value: Value<'_>) -> Cell {
        match value {
            Value::Null => Cell::Null,
            Value::Bool(truth) => Cell::Bool(truth),
            Value::Signed(number) => Cell::Int(number),
            Value::Double(number) => Cell::Double(number.to_bits()),
            Value::Text(text) => Cell::Bytes(text.as_bytes().to_vec()),
            Value::Bytes(bytes) => Cell::Bytes(bytes.to_vec()),
            Value::Uuid(bytes) => Cell::Bytes(bytes.to_vec()),
            Value::Nested(nested) => match nested.data_type() {
                DataType::Struct => {
                    Cell::Struct(nested.fields().map(|(_, value)| Cell::of_value(value)).collect())
                }
                DataType::Map => {
                    let entries = nested.entries();
                    Cell::Map(
                        entries.map(|(k, v)| (Cell::of_value(k), Cell::of_value(v))).collect(),
                    )
                }
                _ => Cell::List(nested.elements().map(Cell::of_value).collect()),
            },
            other => panic!("{other:?} is in no message"),
        }
    }

    /// Cell of a value that was plucked, or decoded.
    fn of_tree(schema: &ThriftSchema, tree: &Tree) -> Cell {
        let all = |trees: &[Tree]| trees.iter().map(|tree| Cell::of_tree(schema, tree)).collect();
        match tree {
            Tree::Null => Cell::Null,
            Tree::Empty(_) => Cell::List(Vec::new()),
            Tree::Bool(truth) => Cell::Bool(*truth),
            Tree::Int(number) => Cell::Int(*number),
            Tree::Double(bits) => Cell::Double(*bits),
            Tree::String(bytes) | Tree::Binary(bytes) | Tree::Uuid(bytes) => {
                Cell::Bytes(bytes.clone())
            }
            Tree::List(trees) | Tree::Set(trees) => Cell::List(all(trees)),
            Tree::Struct(id, _, fields) => {
                let count = schema.get(StructId(*id)).unwrap().fields.len();
                let mut cells = vec![Cell::Null; count];
                for (number, tree) in fields {
                    cells[*number] = Cell::of_tree(schema, tree);
                }
                Cell::Struct(cells)
            }
            Tree::Map(entries) => {
                let entries = entries.iter();
                let entry =
                    |(k, v): &(Tree, Tree)| (Cell::of_tree(schema, k), Cell::of_tree(schema, v));
                Cell::Map(entries.map(entry).collect())
            }
        }
    }

    /// Arrow has no map with a key that is null: such a map is null in columns, at any depth.
    fn without_null_keys(self) -> Cell {
        let all = |cells: Vec<Cell>| cells.into_iter().map(Cell::without_null_keys).collect();
        match self {
            Cell::List(cells) => Cell::List(all(cells)),
            Cell::Struct(cells) => Cell::Struct(all(cells)),
            Cell::Map(entries) => {
                let entries = entries.into_iter();
                let entry = |(k, v): (Cell, Cell)| (k.without_null_keys(), v.without_null_keys());
                let entries: Vec<(Cell, Cell)> = entries.map(entry).collect();
                match entries.iter().any(|(key, _)| *key == Cell::Null) {
                    true => Cell::Null,
                    false => Cell::Map(entries),
                }
            }
            other => other,
        }
    }
}

fn is_of(field: &FieldSchema, id: i32, raw: &Raw) -> bool {
    id == i32::from(field.id) && raw.kind() == WireType::of(&field.value_type).number()
}

/// The elements of a list or a set, nothing if they are of another type.
fn elements<'r>(of: &Type, raw: &'r Raw) -> Option<&'r [Raw]> {
    let (Raw::List(kind, raws) | Raw::Set(kind, raws)) = raw else { panic!("{raw:?} is no list") };
    let is_of_type = raws.is_empty() || *kind == WireType::of(of.element()).number();
    is_of_type.then_some(raws.as_slice())
}

fn entries<'r>(of: &Type, raw: &'r Raw) -> Option<&'r [(Raw, Raw)]> {
    let Raw::Map(key, value, raws) = raw else { panic!("{raw:?} is no map") };
    let (key_type, value_type) = of.entry();
    let kinds = (WireType::of(key_type).number(), WireType::of(value_type).number());
    (raws.is_empty() || kinds == (*key, *value)).then_some(raws.as_slice())
}

/// A path on its way: what was reached, and the steps that are left. An entry of a map has its key and its value.
#[derive(Clone)]
struct PathState<'r> {
    at: Option<Reached<'r>>,
    steps: &'r [PathStep],
}

#[derive(Clone)]
enum Reached<'r> {
    Value(&'r Type, &'r Raw),
    Entry(&'r Type, &'r (Raw, Raw)),
}

impl<'r> PathState<'r> {
    /// Goes through fields, keys and values.
    fn advanced(mut self, schema: &'r ThriftSchema) -> Self {
        while let Some((step, rest)) = self.steps.split_first() {
            self.at = match (step, self.at.clone()) {
                (PathStep::Field(number), Some(Reached::Value(Type::Struct(id), raw))) => {
                    let field = &schema.get(*id).unwrap().fields[usize::from(*number)];
                    let Raw::Struct(fields) = raw else { panic!("no struct") };
                    let found = fields.iter().find(|(id, raw)| is_of(field, *id, raw));
                    found.map(|(_, raw)| Reached::Value(&field.value_type, raw))
                }
                (PathStep::Key, Some(Reached::Entry(of, (key, _)))) => {
                    Some(Reached::Value(of.entry().0, key))
                }
                (PathStep::Value, Some(Reached::Entry(of, (_, value)))) => {
                    Some(Reached::Value(of.entry().1, value))
                }
                (PathStep::Field(_) | PathStep::Key | PathStep::Value, None) => None,
                _ => return self,
            };
            self.steps = rest;
        }
        self
    }

    /// Elements of a list or entries of a map, to which the next step leads. Nothing without a list.
    fn items(&self) -> Option<Vec<PathState<'r>>> {
        let steps = &self.steps[1..];
        let at = |at| PathState { at: Some(at), steps };
        Some(match (self.at.as_ref()?, self.steps[0]) {
            (Reached::Value(of, raw), PathStep::Elements | PathStep::ElementRows) => {
                let raws = elements(of, raw)?.iter();
                raws.map(|raw| at(Reached::Value(of.element(), raw))).collect()
            }
            (Reached::Value(of, raw), PathStep::Entries | PathStep::EntryRows) => {
                entries(of, raw)?.iter().map(|entry| at(Reached::Entry(of, entry))).collect()
            }
            _ => panic!("no list"),
        })
    }

    fn cell(self, schema: &'r ThriftSchema) -> Cell {
        let state = self.advanced(schema);
        match (state.steps.is_empty(), &state.at) {
            (true, Some(Reached::Value(of, raw))) => Cell::whole(schema, of, raw),
            (true, _) => Cell::Null,
            (false, _) => state.items().map_or(Cell::Null, |items| {
                Cell::List(items.into_iter().map(|item| item.cell(schema)).collect())
            }),
        }
    }
}

/// The rows of a message: one for each element of the innermost list that makes rows, with what is beside it.
fn rows<'r>(schema: &'r ThriftSchema, states: Vec<PathState<'r>>) -> Vec<Vec<Cell>> {
    let states: Vec<_> = states.into_iter().map(|state| state.advanced(schema)).collect();
    let is_rows = |state: &PathState<'_>| state.steps.first().is_some_and(|step| step.is_rows());
    let Some(first) = states.iter().find(|state| is_rows(state)) else {
        return vec![states.into_iter().map(|state| state.cell(schema)).collect()];
    };
    let count = first.items().map_or(0, |items| items.len());
    let element = |place: usize| {
        let states = states.iter().map(|state| match is_rows(state) {
            true => state.items().unwrap().swap_remove(place),
            false => state.clone(),
        });
        rows(schema, states.collect())
    };
    (0..count).flat_map(element).collect()
}

fn expected(
    schema: &ThriftSchema,
    root: StructId,
    projection: &Projection,
    raw: &Raw,
) -> Vec<Vec<Cell>> {
    let of = Type::Struct(root);
    let states = projection
        .steps()
        .iter()
        .map(|steps| PathState { at: Some(Reached::Value(&of, raw)), steps });
    rows(schema, states.collect())
}

fn cells(batch: &Batch) -> Vec<Vec<Cell>> {
    let columns = 0..batch.columns().len();
    let row =
        |row| columns.clone().map(|column| Cell::of_value(batch.value(row, column))).collect();
    (0..batch.len()).map(row).collect()
}

/// A random path from a value of a type on; `[]` and `{}` are marked at random.
fn random_path(random: &mut Random, schema: &ThriftSchema, root: StructId) -> String {
    let (mut path, mut at) = (String::new(), Type::Struct(root));
    let mut may_mark = random.once_in(2);
    loop {
        if !path.is_empty() && random.once_in(4) {
            return path;
        }
        at = match at {
            Type::Struct(id) => {
                let fields = &schema.get(id).unwrap().fields;
                if fields.is_empty() {
                    return path;
                }
                if random.once_in(12) && fields.iter().any(|field| field.value_type.is_scalar()) {
                    return if path.is_empty() { "*".to_owned() } else { format!("{path}.*") };
                }
                let field = &fields[random.below(fields.len())];
                path = if path.is_empty() {
                    field.name.clone()
                } else {
                    format!("{path}.{}", field.name)
                };
                field.value_type.clone()
            }
            Type::List(element) | Type::Set(element) if may_mark => {
                path.push_str("[]");
                *element
            }
            Type::List(element) | Type::Set(element) => {
                may_mark = false;
                *element
            }
            Type::Map(key, value) => {
                path.push_str(if may_mark { "{}" } else { "" });
                let takes_key = random.once_in(2);
                path.push_str(if takes_key { ".key" } else { ".value" });
                if takes_key { *key } else { *value }
            }
            _ => return path,
        };
    }
}

/// A projection of some random paths that may be asked for together.
fn random_projection(
    random: &mut Random,
    inventor: &Inventor,
    root: StructId,
) -> Option<Projection> {
    let mut paths: Vec<String> = Vec::new();
    for _ in 0..1 + random.below(5) {
        let path = random_path(random, &inventor.schema, root);
        let tried = [paths.as_slice(), std::slice::from_ref(&path)].concat();
        let made = Projection::new(inventor.plan.clone(), root, &tried);
        match made.and_then(|projection| Columns::new(Arc::new(projection))) {
            Ok(_) => paths = tried,
            Err(error) => {
                let known =
                    ["twice", "in another field too", "in each other", "at most 64 fields", "\"\""];
                let message = error.to_string();
                assert!(
                    known.iter().any(|known| message.contains(known)),
                    "{message} of {tried:?}"
                );
            }
        }
    }
    let projection = Projection::new(inventor.plan.clone(), root, &paths).unwrap();
    (!paths.is_empty()).then_some(projection)
}

#[test]
fn columns_of_random_paths_through_random_messages_are_what_the_twin_finds() {
    seeds(cases(3000), |random| {
        let inventor = Inventor::without_recursion(random);
        let root = StructId(0);
        let Some(projection) = random_projection(random, &inventor, root) else { return };
        let projection = Arc::new(projection);
        for encoding in ENCODINGS {
            let mut columns = Columns::new(projection.clone()).unwrap();
            let mut found = Vec::new();
            let (mut framed, mut wanted) = (Vec::new(), Vec::new());
            let is_framed = random.once_in(2);
            for _ in 0..random.below(6) {
                let (of, raw) = inventor.message(random);
                let raw = if of == root { raw } else { Raw::Struct(Vec::new()) };
                let bytes = twin::encode(encoding, &raw);
                if is_framed {
                    framed.extend((bytes.len() as u32).to_be_bytes());
                }
                framed.extend(bytes);
                wanted.extend(expected(&inventor.schema, root, &projection, &raw));
            }
            let layout = MessageLayout {
                form: encoding.into(),
                is_framed,
                has_frame_headers: false,
                limits: Limits::default(),
            };
            let mut used = 0;
            while used < framed.len() {
                // A few bytes more each time, and rows that are taken out now and then.
                let end = framed.len().min(used + 1 + random.below(400));
                let row_max = columns.batch().len() + 1 + random.below(20);
                let at_end = end == framed.len();
                let shown = &framed[used..end];
                match columns.extend_whole(layout, shown, used as u64, at_end, row_max) {
                    Ok(0) if !at_end => {
                        let rest = &framed[used..];
                        used += columns
                            .extend_whole(layout, rest, used as u64, true, usize::MAX)
                            .unwrap();
                    }
                    Ok(more) => used += more,
                    // The end of what is shown was no end.
                    Err(error) => panic!("{error}"),
                }
                if random.once_in(3) {
                    found.extend(cells(&columns.take()));
                }
            }
            found.extend(cells(columns.batch()));
            assert_eq!(found, wanted, "{encoding:?} {:?}", projection.paths());
        }
    });
}

#[test]
fn what_is_plucked_through_lists_is_what_the_twin_finds() {
    seeds(cases(2000), |random| {
        let inventor = Inventor::new(random);
        let (root, raw) = inventor.message(random);
        let paths: Vec<String> = (0..1 + random.below(4))
            .map(|_| {
                random_path(random, &inventor.schema, root).replace("[]", "").replace("{}", "")
            })
            .collect();
        let Ok(projection) = Projection::new(inventor.plan.clone(), root, &paths) else { return };
        projection.expect_no_rows().unwrap();
        let schema = &inventor.schema;
        let [wanted] = expected(schema, root, &projection, &raw).try_into().unwrap();
        for encoding in ENCODINGS {
            let bytes = twin::encode(encoding, &raw);
            let mut tape = Tape::new();
            projection.pluck(encoding, &bytes, Limits::default(), &mut tape).unwrap();
            let Tree::Struct(_, None, fields) = Tree::of_tape(&tape, &bytes) else {
                panic!("no struct")
            };
            let mut found = vec![Cell::Null; projection.paths().len()];
            for (number, tree) in &fields {
                found[*number] = Cell::of_tree(schema, tree).without_null_keys();
            }
            assert_eq!(found, wanted, "{encoding:?} {:?}", projection.paths());
        }
    });
}

#[test]
fn whole_messages_are_what_is_decoded() {
    seeds(cases(2000), |random| {
        let inventor = Inventor::without_recursion(random);
        let (root, raw) = inventor.message(random);
        let projection = Projection::whole(inventor.plan.clone(), root).unwrap();
        let mut columns = Columns::new(Arc::new(projection)).unwrap();
        for encoding in ENCODINGS {
            let bytes = twin::encode(encoding, &raw);
            columns.clear();
            columns.push(encoding, &bytes, Limits::default()).unwrap();
            let mut tape = Tape::new();
            inventor.plan.decode(encoding, root, &bytes, Limits::default(), &mut tape).unwrap();
            let decoded = Cell::of_tree(&inventor.schema, &Tree::of_tape(&tape, &bytes));
            let Cell::Struct(wanted) = decoded.without_null_keys() else { panic!("no struct") };
            assert_eq!(cells(columns.batch()), [wanted], "{encoding:?}");
        }
    });
}

#[test]
fn a_message_that_is_damaged_or_cut_leaves_no_row_and_is_refused_if_it_is_when_decoded() {
    seeds(cases(600), |random| {
        let inventor = Inventor::without_recursion(random);
        let (root, raw) = inventor.message(random);
        let projection = Arc::new(Projection::whole(inventor.plan.clone(), root).unwrap());
        let mut columns = Columns::new(projection).unwrap();
        for encoding in ENCODINGS {
            let bytes = twin::encode(encoding, &raw);
            columns.clear();
            columns.push(encoding, &bytes, Limits::default()).unwrap();
            let first = cells(columns.batch());
            for _ in 0..20 {
                let mut damaged = bytes.clone();
                let at = random.below(damaged.len());
                match random.below(3) {
                    0 => damaged.truncate(at),
                    1 => damaged[at] ^= 1 << random.below(8),
                    _ => damaged[at] = random.pick(&[0, 1, 12, 13, 15, 0x7f, 0x80, 0xff]),
                }
                let mut tape = Tape::new();
                let decoded =
                    inventor.plan.decode(encoding, root, &damaged, Limits::default(), &mut tape);
                let before = columns.batch().len();
                let pushed = columns.push(encoding, &damaged, Limits::default());
                assert_eq!(pushed.is_ok(), decoded.is_ok(), "{encoding:?} {damaged:02x?}");
                assert_eq!(columns.batch().len(), before + usize::from(pushed.is_ok()));
                if let (Err(one), Err(other)) = (pushed, decoded) {
                    assert_eq!(
                        (one.kind(), one.error().offset()),
                        (other.kind(), other.error().offset())
                    );
                }
            }
            assert_eq!(cells(columns.batch())[..1], first[..]);
        }
    });
}

/// `File {1: string name, 2: list<Group> groups, 3: map<string, i32> tags, 4: list<list<i32>> matrix, 5: Node node}`,
/// `Group {1: i64 rows, 2: list<Chunk> chunks}`, `Chunk {1: i32 kind, 2: string path}`, `Node {1: i32 id, 2: Node next}`
fn files() -> Arc<Plan> {
    let mut schema = ThriftSchema::new();
    let names = ["File", "Group", "Chunk", "Node"];
    let [file, group, chunk, node] =
        names.map(|name| schema.declare_struct(name, StructKind::Struct));
    let fields = vec![
        FieldSchema::new(1, "name", Type::String),
        FieldSchema::new(2, "groups", Type::list(Type::Struct(group))),
        FieldSchema::new(3, "tags", Type::map(Type::String, Type::I32)),
        FieldSchema::new(4, "matrix", Type::list(Type::list(Type::I32))),
        FieldSchema::new(5, "node", Type::Struct(node)),
    ];
    schema.define_struct(file, fields).unwrap();
    let chunks = Type::list(Type::Struct(chunk));
    let fields =
        vec![FieldSchema::new(1, "rows", Type::I64), FieldSchema::new(2, "chunks", chunks)];
    schema.define_struct(group, fields).unwrap();
    let fields =
        vec![FieldSchema::new(1, "kind", Type::I32), FieldSchema::new(2, "path", Type::String)];
    schema.define_struct(chunk, fields).unwrap();
    let fields =
        vec![FieldSchema::new(1, "id", Type::I32), FieldSchema::new(2, "next", Type::Struct(node))];
    schema.define_struct(node, fields).unwrap();
    Arc::new(Plan::new(Arc::new(schema)).unwrap())
}

fn text(text: &str) -> Raw {
    Raw::Bytes(text.as_bytes().to_vec())
}

fn file() -> Raw {
    let structs = |raws| Raw::List(WireType::STRUCT.number(), raws);
    let chunk = |kind, path| Raw::Struct(vec![(1, Raw::I32(kind)), (2, text(path))]);
    let group = |rows, chunks| Raw::Struct(vec![(1, Raw::I64(rows)), (2, structs(chunks))]);
    let numbers = |numbers: &[i32]| {
        Raw::List(WireType::I32.number(), numbers.iter().map(|number| Raw::I32(*number)).collect())
    };
    let groups = vec![
        group(10, vec![chunk(1, "a"), chunk(2, "b")]),
        Raw::Struct(vec![(1, Raw::I64(20))]),
        group(30, vec![]),
        group(40, vec![Raw::Struct(vec![(2, text("c"))])]),
    ];
    let tags = vec![(text("x"), Raw::I32(1)), (text("y"), Raw::I32(2))];
    let matrix = vec![numbers(&[1, 2]), numbers(&[]), numbers(&[3])];
    Raw::Struct(vec![
        (1, text("one")),
        (2, structs(groups)),
        (3, Raw::Map(WireType::STRING.number(), WireType::I32.number(), tags)),
        (4, Raw::List(WireType::LIST.number(), matrix)),
    ])
}

/// The rows of paths in a file, as text.
fn rows_of(paths: &[&str]) -> Vec<String> {
    let projection = Arc::new(Projection::new(files(), StructId(0), paths).unwrap());
    let mut columns = Columns::new(projection).unwrap();
    columns
        .push(Encoding::Compact, &twin::encode(Encoding::Compact, &file()), Limits::default())
        .unwrap();
    let batch = columns.batch();
    let row = |row| {
        let values = (0..batch.columns().len()).map(|place| match batch.value(row, place) {
            Value::Null => "-".to_owned(),
            value => value.to_string(),
        });
        values.collect::<Vec<_>>().join(" ")
    };
    (0..batch.len()).map(row).collect()
}

#[test]
fn a_path_through_lists_is_a_list_of_lists_for_each_message() {
    let found = rows_of(&["groups.chunks.path", "groups.rows", "matrix", "tags.key", "name"]);
    let expected = r#"[["a","b"],null,[],["c"]] [10,20,30,40] [[1,2],[],[3]] ["x","y"] one"#;
    assert_eq!(found, [expected]);
    assert_eq!(rows_of(&["tags"]), [r#"{"x":1,"y":2}"#]);
}

#[test]
fn brackets_make_a_row_of_each_innermost_element_with_its_parents_beside_it() {
    let paths = ["groups[].chunks[].path", "groups[].chunks[].kind", "groups[].rows", "name"];
    assert_eq!(rows_of(&paths), ["a 1 10 one", "b 2 10 one", "c - 40 one"]);
    let paths = ["groups[].rows", "groups[].chunks.path", "tags.value"];
    let expected = [r#"10 ["a","b"] [1,2]"#, "20 - [1,2]", "30 [] [1,2]", r#"40 ["c"] [1,2]"#];
    assert_eq!(rows_of(&paths), expected);
    assert_eq!(rows_of(&["matrix[][]"]), ["1", "2", "3"]);
    assert_eq!(rows_of(&["matrix[]"]), ["[1,2]", "[]", "[3]"]);
    assert_eq!(rows_of(&["tags{}.key", "tags{}.value", "name"]), ["x 1 one", "y 2 one"]);
    assert_eq!(rows_of(&["groups[].chunks[]"]).len(), 3);
    assert_eq!(rows_of(&["groups[].chunks[].*"]), ["1 a", "2 b", "- c"]);
}

#[test]
fn paths_that_make_no_rows_or_no_columns_are_refused_with_what_there_is() {
    let refused = |paths: &[&str]| {
        let made = Projection::new(files(), StructId(0), paths);
        let made = made.and_then(|projection| Columns::new(Arc::new(projection)));
        let error = made.map(drop).unwrap_err();
        assert_eq!(error.kind(), bytewright::ErrorKind::Argument);
        error.to_string()
    };
    let beside = refused(&["groups[].rows", "matrix[]"]);
    assert!(beside.contains("in each other, found matrix[] beside groups[].rows"), "{beside}");
    assert!(refused(&["groups[].size"]).contains("expected a field of Group (rows, chunks)"));
    assert!(refused(&["groups.chunks[].path"]).contains("behind each list"));
    assert!(refused(&["name[]"]).contains("found string name"));
    assert!(refused(&["groups{}.rows"]).contains("expected [] behind a list"));
    assert!(refused(&["tags[].key"]).contains("{} behind a map"));
    assert!(refused(&["tags{}"]).contains("expected .key or .value behind tags{}"));
    assert!(refused(&["tags.name"]).contains("expected key or value of a map, found \"name\""));
    assert!(refused(&["name.*"]).contains("expected a struct before the *"));
    assert!(refused(&["groups[].rows", "groups.rows"]).contains("twice"));
    assert!(refused(&["groups", "groups.rows"]).contains("too"));
    assert!(refused(&["groups.rows", "groups"]).contains("too"));
    let recursive = refused(&["node"]);
    assert!(recursive.contains("found Node in node.next inside of Node"), "{recursive}");
    let whole = Projection::whole(files(), StructId(0)).unwrap();
    let error = Columns::new(Arc::new(whole)).unwrap_err().to_string();
    assert!(error.contains("found Node in node.next"), "{error}");
    assert_eq!(
        rows_of(&["node.next.next.id"]),
        ["-"],
        "some of its fields are no struct in itself"
    );
    let plucked = Projection::new(files(), StructId(0), &["groups[].rows"]).unwrap();
    let error = plucked.expect_no_rows().unwrap_err().to_string();
    assert!(error.contains("found groups[].rows; groups.rows has a list"), "{error}");
}

#[test]
fn structs_in_each_other_that_would_be_any_number_of_columns_are_refused() {
    let mut schema = ThriftSchema::new();
    let ids: Vec<StructId> =
        (0..40).map(|n| schema.declare_struct(format!("S{n}"), StructKind::Struct)).collect();
    for pair in ids.windows(2) {
        let field = |id, name| FieldSchema::new(id, name, Type::Struct(pair[1]));
        schema.define_struct(pair[0], vec![field(1, "a"), field(2, "b")]).unwrap();
    }
    let plan = Arc::new(Plan::new(Arc::new(schema)).unwrap());
    let whole = Arc::new(Projection::whole(plan, ids[0]).unwrap());
    let error = Columns::new(whole).unwrap_err().to_string();
    assert!(error.contains("expected at most 4096 columns, found more in a.a."), "{error}");
    let mut schema = ThriftSchema::new();
    let ids: Vec<StructId> =
        (0..200).map(|n| schema.declare_struct(format!("S{n}"), StructKind::Struct)).collect();
    for pair in ids.windows(2) {
        let fields = vec![FieldSchema::new(1, "a", Type::Struct(pair[1]))];
        schema.define_struct(pair[0], fields).unwrap();
    }
    let plan = Arc::new(Plan::new(Arc::new(schema)).unwrap());
    let error = Columns::new(Arc::new(Projection::whole(plan, ids[0]).unwrap())).unwrap_err();
    assert!(error.to_string().contains("at most 64 columns in each other"), "{error}");
}

/// `Wide {1: i64 a, ..., 100: i64}`, `Bomb {1: list<Wide> wides, 2: string text, 3: map<i8, map<i8, Wide>> maps}`
fn bombs() -> Arc<Plan> {
    let mut schema = ThriftSchema::new();
    let bomb = schema.declare_struct("Bomb", StructKind::Struct);
    let wide = schema.declare_struct("Wide", StructKind::Struct);
    let fields = (1..=100).map(|id| FieldSchema::new(id, format!("f{id}"), Type::I64));
    schema.define_struct(wide, fields.collect()).unwrap();
    let inner = Type::map(Type::Byte, Type::Struct(wide));
    let fields = vec![
        FieldSchema::new(1, "wides", Type::list(Type::Struct(wide))),
        FieldSchema::new(2, "text", Type::String),
        FieldSchema::new(3, "maps", Type::map(Type::Byte, inner)),
    ];
    schema.define_struct(bomb, fields).unwrap();
    Arc::new(Plan::new(Arc::new(schema)).unwrap())
}

#[test]
fn messages_that_would_become_many_times_their_bytes_are_refused_by_the_path() {
    let whole =
        || Columns::new(Arc::new(Projection::whole(bombs(), StructId(0)).unwrap())).unwrap();
    let limits = Limits { columns_max: 1 << 20, ..Limits::default() };
    let empty = || Raw::Struct(Vec::new());
    let structs = |count| Raw::List(WireType::STRUCT.number(), vec![empty(); count]);
    let refused = |columns: &mut Columns, raw: &Raw, limits| {
        let bytes = twin::encode(Encoding::Compact, raw);
        let error = columns.push(Encoding::Compact, &bytes, limits).unwrap_err();
        assert_eq!(error.kind(), ProtocolErrorKind::SizeLimit, "{error}");
        assert!(columns.batch().is_empty() && columns.batch().memory_bytes() < 1 << 20);
        error.to_string()
    };
    let message = Raw::Struct(vec![(1, structs(2000))]);
    let error = refused(&mut whole(), &message, limits);
    assert!(error.contains(", in wides"), "{error}");
    let bytes = twin::encode(Encoding::Compact, &message);
    whole().push(Encoding::Compact, &bytes, Limits::default()).unwrap();
    // Many small ones are refused together.
    let (byte, map) = (WireType::BYTE.number(), WireType::MAP.number());
    let small = |n| {
        Raw::Map(byte, WireType::STRUCT.number(), (0..n).map(|k| (Raw::Byte(k), empty())).collect())
    };
    let maps = (0..100).map(|key| (Raw::Byte(key), small(20))).collect();
    let error = refused(&mut whole(), &Raw::Struct(vec![(3, Raw::Map(byte, map, maps))]), limits);
    assert!(error.contains(", in maps{}.value"), "{error}");
    // A long text that is repeated in each row.
    let paths = ["wides[].f1", "text"];
    let rows =
        || Columns::new(Arc::new(Projection::new(bombs(), StructId(0), &paths).unwrap())).unwrap();
    let long = Raw::Struct(vec![(1, structs(500)), (2, text(&"x".repeat(5000)))]);
    let error = refused(&mut rows(), &long, limits);
    assert!(error.contains(", in text"), "{error}");
    let short = Raw::Struct(vec![(1, structs(500)), (2, text(&"x".repeat(50)))]);
    let bytes = twin::encode(Encoding::Compact, &short);
    rows().push(Encoding::Compact, &bytes, limits).unwrap();
}

/// Bytes of a message of `Bomb`, the path that the error names, and its kind.
fn claims(encoding: Encoding) -> Vec<(Vec<u8>, &'static str, ProtocolErrorKind)> {
    use ProtocolErrorKind::{InvalidData, NegativeSize, Truncated};
    let claim = |bytes: &[&[u8]], path, kind| (bytes.concat(), path, kind);
    match encoding {
        Encoding::Compact => {
            let most: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0x07];
            vec![
                claim(&[&[0x19, 0xfc], most], "wides", Truncated),
                claim(&[&[0x19, 0xfc], &[0x80, 0x80, 0x80, 0x80, 8]], "wides", NegativeSize),
                claim(&[&[0x3b], most, &[0x3b]], "maps", Truncated),
                claim(&[&[0x3b, 1, 0x3b, 7], most, &[0x3c]], "maps{}.value", Truncated),
                claim(&[&[0x3b, 1, 0x3b, 7, 1, 0x3e]], "maps{}.value", InvalidData),
                // An unknown field of the struct inside.
                claim(
                    &[&[0x3b, 1, 0x3b, 7, 1, 0x3c, 9, 0x08, 0xd0, 0x0f], most],
                    "maps{}.value",
                    Truncated,
                ),
            ]
        }
        Encoding::Binary => {
            let most: &[u8] = &[0x7f, 0xff, 0xff, 0xff];
            vec![
                claim(&[&[15, 0, 1, 12], most], "wides", Truncated),
                claim(&[&[15, 0, 1, 12, 0xff, 0xff, 0xff, 0xff]], "wides", NegativeSize),
                claim(&[&[13, 0, 3, 3, 13], most], "maps", Truncated),
                claim(&[&[13, 0, 3, 3, 13, 0, 0, 0, 1, 7, 3, 12], most], "maps{}.value", Truncated),
                claim(
                    &[&[13, 0, 3, 3, 13, 0, 0, 0, 1, 7, 3, 5, 0, 0, 0, 1]],
                    "maps{}.value",
                    InvalidData,
                ),
            ]
        }
    }
}

#[test]
fn what_claims_more_than_it_has_is_refused_by_the_path_in_bounded_memory() {
    for encoding in ENCODINGS {
        for (bytes, path, kind) in claims(encoding) {
            let projection = Arc::new(Projection::whole(bombs(), StructId(0)).unwrap());
            let mut columns = Columns::new(projection).unwrap();
            let error = columns.push(encoding, &bytes, Limits::default()).unwrap_err();
            assert_eq!(error.kind(), kind, "{bytes:02x?}: {error}");
            assert!(error.to_string().ends_with(&format!(", in {path}")), "{bytes:02x?}: {error}");
            assert!(columns.batch().is_empty() && columns.batch().memory_bytes() < 1 << 20);
            for is_framed in [true, false] {
                let layout = MessageLayout {
                    form: encoding.into(),
                    is_framed,
                    has_frame_headers: false,
                    limits: Limits::default(),
                };
                let length = (bytes.len() as u32).to_be_bytes();
                let input = if is_framed { [&length, &bytes[..]].concat() } else { bytes.clone() };
                let error = columns.extend_whole(layout, &input, 0, true, 9).unwrap_err();
                assert!(error.to_string().ends_with(&format!(", in {path}")), "{error}");
            }
        }
    }
}

#[test]
fn structs_that_are_nested_too_deep_in_what_is_skipped_are_refused_by_the_path_of_the_list() {
    let projection = Arc::new(Projection::whole(bombs(), StructId(0)).unwrap());
    let mut columns = Columns::new(projection).unwrap();
    // Each is in the field 200 of the one before, which no struct of the schema has.
    let deep = (0..500).fold(Raw::Struct(Vec::new()), |inside, _| Raw::Struct(vec![(200, inside)]));
    let message = Raw::Struct(vec![(1, Raw::List(WireType::STRUCT.number(), vec![deep]))]);
    for encoding in ENCODINGS {
        let bytes = twin::encode(encoding, &message);
        let error = columns.push(encoding, &bytes, Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ProtocolErrorKind::DepthLimit);
        assert!(error.to_string().ends_with("found more, in wides"), "{error}");
        assert!(columns.batch().is_empty());
    }
}

#[test]
fn rows_end_behind_the_message_that_makes_enough_of_them() {
    let projection = Arc::new(Projection::new(files(), StructId(0), &["groups[].rows"]).unwrap());
    let mut columns = Columns::new(projection).unwrap();
    let bytes = twin::encode(Encoding::Binary, &file());
    let framed = [(bytes.len() as u32).to_be_bytes().as_slice(), &bytes].concat().repeat(3);
    let mut frames = Frames::new(&framed, 0);
    assert_eq!(columns.extend(Encoding::Binary, &mut frames, 5, Limits::default()).unwrap(), 8);
    assert_eq!(columns.extend(Encoding::Binary, &mut frames, 9, Limits::default()).unwrap(), 4);
    let mut columns = columns.with_bytes_max(1);
    columns.clear();
    let layout = MessageLayout {
        form: Encoding::Binary.into(),
        is_framed: true,
        has_frame_headers: false,
        limits: Limits::default(),
    };
    let used = columns.extend_whole(layout, &framed, 0, true, usize::MAX).unwrap();
    assert_eq!((used, columns.batch().len()), (framed.len() / 3, 4));
    assert!(columns.is_full(usize::MAX));
}
