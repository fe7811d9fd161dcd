//! Goal: lists, structs and maps in a batch are those that were put into it, as values, as JSON and through Arrow's C interface.
//!
//! Method: random types, in each other up to a depth, and random trees of values of them. The trees go into columns part by part,
//! as a decoder has them, and are compared by values, as text, and with what a program in C finds.

use std::sync::Arc;

use bytewright::ErrorKind;
use bytewright::batch::arrow::{ArrowArray, ArrowSchema, Layout};
use bytewright::batch::{Batch, Column, DataType, ExportOptions, Field, Schema, Value, json};

use super::arrow::{CArray, CSchema, hex};
use super::{Model, TYPES};
use crate::generate::{Random, seeds};

/// A value with the values in it.
#[derive(Debug, Clone)]
pub(super) enum Tree {
    Null,
    Plain(Model),
    List(Vec<Tree>),
    Struct(Vec<Tree>),
    Map(Vec<(Tree, Tree)>),
}

pub(super) fn random_field(random: &mut Random, name: &str, depth: usize) -> Field {
    let name = name.to_owned();
    match random.below(if depth == 0 { 1 } else { 6 }) {
        1 => Field::list(name, random_field(random, "x", depth - 1), true),
        2 => {
            let key = Field::new("k".into(), scalar(random), true, String::new());
            Field::map(name, key, random_field(random, "v", depth - 1), true)
        }
        3 | 4 => {
            let places = 0..1 + random.below(3);
            let fields = places.map(|place| random_field(random, &format!("f{place}"), depth - 1));
            Field::structure(name, fields.collect(), random.once_in(2))
        }
        _ => Field::new(name, scalar(random), true, String::new()),
    }
}

/// A type that leaves as it is: the others are conversions of flat columns.
fn scalar(random: &mut Random) -> DataType {
    loop {
        let found = TYPES[random.below(TYPES.len())];
        let is_converted = matches!(found, DataType::Address | DataType::Enumeration(_));
        if !is_converted && found != DataType::TimeNs && found != DataType::DurationUs {
            return found;
        }
    }
}

pub(super) fn random_tree(random: &mut Random, field: &Field) -> Tree {
    if field.is_nullable() && random.once_in(4) {
        return Tree::Null;
    }
    let count = random.below(4);
    match (field.data_type(), field.children()) {
        (DataType::List, [item]) => {
            Tree::List((0..count).map(|_| random_tree(random, item)).collect())
        }
        (DataType::Map, [entries]) => {
            let [key, value] = entries.children() else { panic!("an entry has two fields") };
            let mut entry = || (random_tree(random, key), random_tree(random, value));
            Tree::Map((0..count).map(|_| entry()).collect())
        }
        (DataType::Struct, fields) => {
            Tree::Struct(fields.iter().map(|field| random_tree(random, field)).collect())
        }
        (data_type, _) => loop {
            let value = Model::random(random, data_type);
            if !value.value().is_null() {
                return Tree::Plain(value);
            }
        },
    }
}

/// Appends a tree as a decoder does; a field without a value in a struct is left out.
pub(super) fn push(column: &mut Column, tree: &Tree) {
    match tree {
        Tree::Null => column.push(Value::Null),
        Tree::Plain(model) => column.push(model.value()),
        Tree::List(items) => {
            items.iter().for_each(|item| push(&mut column.children_mut()[0], item));
            column.end_list().unwrap();
        }
        Tree::Map(entries) => {
            for (key, value) in entries {
                let entry = &mut column.children_mut()[0];
                push(&mut entry.children_mut()[0], key);
                push(&mut entry.children_mut()[1], value);
                entry.end_struct();
            }
            column.end_list().unwrap();
        }
        Tree::Struct(values) => {
            for (place, value) in values.iter().enumerate() {
                if !matches!(value, Tree::Null) {
                    push(&mut column.children_mut()[place], value);
                }
            }
            column.end_struct();
        }
    }
}

pub(super) fn batch_of(schema: &Schema, rows: &[Vec<Tree>]) -> Batch {
    let mut batch = Batch::new(schema.clone());
    for row in rows {
        let mut scratch: Vec<Column> = schema.fields().iter().map(Column::of).collect();
        scratch.iter_mut().zip(row).for_each(|(column, tree)| push(column, tree));
        batch.push_row(|place| scratch[place].value(0));
    }
    batch
}

pub(super) fn random_rows(random: &mut Random) -> (Schema, Vec<Vec<Tree>>) {
    let fields: Vec<Field> = (0..1 + random.below(3))
        .map(|place| random_field(random, &format!("c{place}"), 3))
        .collect();
    let schema = Schema::new("rows", fields);
    let row = |random: &mut Random| {
        schema.fields().iter().map(|field| random_tree(random, field)).collect()
    };
    let rows = (0..random.below(30)).map(|_| row(random)).collect();
    (schema, rows)
}

/// Compares a value with the tree that it was made of.
fn is_of(value: Value<'_>, tree: &Tree) {
    match (value, tree) {
        (Value::Nested(found), Tree::List(items)) => {
            assert_eq!(found.elements().len(), items.len());
            found.elements().zip(items).for_each(|(value, tree)| is_of(value, tree));
        }
        (Value::Nested(found), Tree::Map(entries)) => {
            assert_eq!(found.entries().len(), entries.len());
            for ((key, value), (key_tree, value_tree)) in found.entries().zip(entries) {
                is_of(key, key_tree);
                is_of(value, value_tree);
            }
        }
        (Value::Nested(found), Tree::Struct(values)) => {
            assert_eq!(found.fields().len(), values.len());
            found.fields().zip(values).for_each(|((_, value), tree)| is_of(value, tree));
        }
        (value, Tree::Plain(model)) => assert_eq!(value, model.value()),
        (value, tree) => {
            assert!(value.is_null() && matches!(tree, Tree::Null), "{value:?} {tree:?}")
        }
    }
}

fn holds(batch: &Batch, rows: &[Vec<Tree>]) {
    assert_eq!(batch.len(), rows.len());
    for (row, trees) in rows.iter().enumerate() {
        trees.iter().enumerate().for_each(|(place, tree)| is_of(batch.value(row, place), tree));
    }
    for (place, column) in batch.columns().iter().enumerate() {
        let nulls = rows.iter().filter(|row| matches!(row[place], Tree::Null)).count();
        assert_eq!(column.null_count(), nulls);
        is_whole(column);
    }
}

/// Compares the lengths of a column and of those in it.
fn is_whole(column: &Column) {
    let rows = match column.data_type() {
        DataType::Struct => column.len(),
        _ => column.list_offsets().last().map_or(0, |end| *end as usize),
    };
    assert!(column.children().iter().all(|child| child.len() == rows));
    column.children().iter().for_each(is_whole);
}

#[test]
fn nested_values_are_those_that_were_put_in() {
    seeds(300, |random| {
        let (schema, mut rows) = random_rows(random);
        let mut batch = batch_of(&schema, &rows);
        holds(&batch, &rows);
        let kept = random.below(30);
        batch.truncate(kept);
        rows.truncate(kept);
        holds(&batch, &rows);
        for place in 0..batch.columns().len() {
            let mut column = Column::of(&schema.fields()[place]);
            (0..batch.len()).rev().for_each(|row| column.push(batch.value(row, place)));
            let backwards: Vec<Vec<Tree>> =
                rows.iter().rev().map(|row| vec![row[place].clone()]).collect();
            backwards.iter().enumerate().for_each(|(row, tree)| is_of(column.value(row), &tree[0]));
            is_whole(&column);
        }
        assert!(batch.memory_bytes() > 0);
        batch.clear();
        holds(&batch, &[]);
    });
}

#[test]
fn nested_values_are_equal_and_in_an_order_as_their_parts_are() {
    seeds(200, |random| {
        let field = random_field(random, "a", 3);
        let trees: Vec<Tree> = (0..6).map(|_| random_tree(random, &field)).collect();
        let mut column = Column::of(&field);
        trees.iter().chain(&trees).for_each(|tree| push(&mut column, tree));
        for row in 0..trees.len() {
            let (one, same) = (column.value(row), column.value(row + trees.len()));
            assert_eq!(one, same);
            assert_eq!(one.cmp(&column.value(0)).reverse(), column.value(0).cmp(&same));
        }
    });
}

#[test]
fn a_struct_that_a_list_was_begun_in_is_taken_back_whole() {
    let item = Field::new("x".into(), DataType::I32, true, String::new());
    let fields = vec![Field::list("l".into(), item, true)];
    let mut column = Column::of(&Field::structure("s".into(), fields, true));
    let list = &mut column.children_mut()[0];
    list.children_mut()[0].push(Value::Signed(1));
    list.end_list().unwrap();
    column.end_struct();
    column.children_mut()[0].children_mut()[0].push(Value::Signed(2));
    column.truncate(1);
    column.end_struct();
    is_whole(&column);
    assert_eq!(column.value(0).to_string(), "{\"l\":[1]}");
    assert_eq!(column.value(1).to_string(), "{\"l\":null}");
}

#[test]
fn lists_are_arrays_structs_objects_and_maps_objects_or_entries_in_json() {
    let number = || Field::new("n".into(), DataType::I64, true, String::new());
    let text = || Field::new("t".into(), DataType::Text, true, String::new());
    let pair = Field::structure("p".into(), vec![number(), text()], true);
    let schema = Schema::new(
        "rows",
        vec![
            Field::list("l".into(), pair.clone(), true),
            Field::map("m".into(), text(), number(), true),
            Field::map("numbered".into(), number(), text(), true),
            Field::map("by_struct".into(), pair, number(), true),
        ],
    );
    let number = |number| Tree::Plain(Model::Plain(Value::Signed(number)));
    let text = |text| Tree::Plain(Model::Plain(Value::Text(text)));
    let pair = |one| Tree::Struct(vec![number(one), Tree::Null]);
    let not_text = Tree::Plain(Model::Bytes(vec![0xff]));
    let rows = [
        vec![
            Tree::List(vec![pair(1), Tree::Null]),
            Tree::Map(vec![(text("a\""), number(1)), (text(""), Tree::Null)]),
            Tree::Map(vec![(number(-1), text("x"))]),
            Tree::Map(vec![(pair(2), number(3))]),
        ],
        vec![
            Tree::List(vec![]),
            Tree::Map(vec![(not_text, number(1))]),
            Tree::Map(vec![]),
            Tree::Map(vec![]),
        ],
    ];
    let batch = batch_of(&schema, &rows);
    let mut lines = Vec::new();
    json::RowWriter::new(&schema).push_batch(&mut lines, &batch);
    let expected = r#"{"l":[{"n":1,"t":null},null],"m":{"a\"":1,"":null},"numbered":{"-1":"x"},"by_struct":{"entries":[[{"n":2,"t":null},3]]}}
{"l":[],"m":{"entries":[[{"base64":"/w=="},1]]},"numbered":{},"by_struct":{}}
"#;
    assert_eq!(String::from_utf8_lossy(&lines), expected);
}

/// The text of a tree, in the form that [`text_in_c`] has.
fn text(tree: &Tree, field: &Field) -> String {
    let all = |texts: Vec<String>| texts.join(",");
    match (tree, field.children()) {
        (Tree::Null, _) => "null".to_owned(),
        (Tree::List(items), [item]) => {
            format!("[{}]", all(items.iter().map(|tree| text(tree, item)).collect()))
        }
        (Tree::Struct(values), fields) => {
            let values = fields.iter().zip(values);
            let values =
                values.map(|(field, tree)| format!("{}:{}", field.name(), text(tree, field)));
            format!("{{{}}}", all(values.collect()))
        }
        (Tree::Map(entries), [structs]) => {
            let [key_field, value_field] = structs.children() else { panic!("two fields") };
            let entry = |(key, value): &(Tree, Tree)| {
                format!("{{key:{},value:{}}}", text(key, key_field), text(value, value_field))
            };
            format!("[{}]", all(entries.iter().map(entry).collect()))
        }
        (Tree::Plain(model), _) => match model.value() {
            Value::Double(number) => number.to_bits().to_string(),
            Value::Bytes(bytes) => hex(bytes),
            Value::Uuid(bytes) => hex(&bytes),
            value => value.to_string(),
        },
        _ => panic!("{tree:?} is no {field:?}"),
    }
}

/// The text of a value, by the rules of Arrow's specification alone.
fn text_in_c(schema: &CSchema, array: &CArray, row: usize) -> String {
    let format = CSchema::text(schema.format);
    if !format.starts_with('+') {
        return array.value(&format, row);
    }
    assert_eq!(array.n_buffers, if format == "+s" { 1 } else { 2 });
    if array.is_null(row) {
        return "null".to_owned();
    }
    let (fields, children) = (schema.children(), array.children());
    if format == "+s" {
        let values = fields.iter().zip(children).map(|(field, child)| {
            format!("{}:{}", CSchema::text(field.name), text_in_c(field, child, row))
        });
        return format!("{{{}}}", values.collect::<Vec<_>>().join(","));
    }
    if format == "+m" {
        assert_eq!((CSchema::text(fields[0].name).as_str(), fields[0].flags), ("entries", 0));
        assert_eq!(
            (CSchema::text(fields[0].children()[0].name).as_str(), fields[0].children()[0].flags),
            ("key", 0)
        );
    } else {
        assert_eq!((format.as_str(), CSchema::text(fields[0].name).as_str()), ("+l", "item"));
    }
    let rows = array.buffer::<i32>(1, row)..array.buffer::<i32>(1, row + 1);
    let items = rows.map(|row| text_in_c(fields[0], children[0], row as usize));
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

#[test]
fn nested_columns_leave_as_arrows_lists_structs_and_maps() {
    seeds(300, |random| {
        let (schema, rows) = random_rows(random);
        let batch = batch_of(&schema, &rows);
        let options = ExportOptions::default();
        let described = CSchema::take(ArrowSchema::new(&schema, options, &[]));
        let layout = Layout::new(&schema, options);
        let shared = layout.shared_array(&Arc::new(batch.clone()));
        for array in [shared, layout.array(batch)] {
            let array = CArray::take(array.unwrap());
            assert_eq!(array.length, rows.len() as i64);
            for (row, trees) in rows.iter().enumerate() {
                for (place, tree) in trees.iter().enumerate() {
                    let (field, column) = (described.children()[place], array.children()[place]);
                    assert_eq!(text_in_c(field, column, row), text(tree, &schema.fields()[place]));
                }
            }
        }
    });
}

#[test]
fn children_of_a_nested_column_outlive_it_where_they_were_taken_over() {
    let item = Field::new("x".into(), DataType::I32, true, String::new());
    let schema = Schema::new("rows", vec![Field::list("l".into(), item, true)]);
    let number = |number| Tree::Plain(Model::Plain(Value::Signed(number)));
    let batch = batch_of(&schema, &[vec![Tree::List(vec![number(5), number(6)])]]);
    let array = CArray::take(ArrowArray::new(batch, ExportOptions::default()).unwrap());
    let child = array.children()[0].take_child(0);
    drop(array);
    assert_eq!((child.value("i", 0), child.value("i", 1)), ("5".to_owned(), "6".to_owned()));
}

#[test]
fn text_in_a_nested_column_that_is_not_utf_8_is_refused_by_its_place_in_arrow() {
    let text = Field::new("t".into(), DataType::Text, true, String::new());
    let fields = vec![Field::list("names".into(), text, true)];
    let schema = Schema::new("rows", vec![Field::structure("s".into(), fields, true)]);
    let names = Tree::List(vec![Tree::Plain(Model::Bytes(vec![0xff]))]);
    let batch = batch_of(&schema, &[vec![Tree::Struct(vec![names])]]);
    let layout = Layout::new(&schema, ExportOptions::default());
    let shared = layout.shared_array(&Arc::new(batch.clone()));
    for array in [shared, layout.array(batch)] {
        let error = array.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert!(error.to_string().contains("s.names.item"), "{error}");
    }
}
