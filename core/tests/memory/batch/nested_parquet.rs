//! Goal: a Parquet file of lists, structs and maps has the values that were put into it, for a reader by another program.
//!
//! Method: random trees are written, and read back by the records of the crate that knows nothing of batches.

use std::fs::{self, File};
use std::io::Write;

use bytewright::ErrorKind;
use bytewright::batch::parquet::ParquetWriter;
use bytewright::batch::{DataType, ExportOptions, Field, Schema, Value};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field as Found;

use super::arrow::hex;
use super::nested::{Tree, batch_of, random_rows};
use crate::generate::seeds;

/// A file that is gone when it is closed.
fn tempfile() -> File {
    let path =
        std::env::temp_dir().join(format!("bytewright-nested-{}.parquet", std::process::id()));
    let options = File::options().read(true).write(true).create(true).truncate(true).to_owned();
    let file = options.open(&path).unwrap();
    fs::remove_file(path).unwrap();
    file
}

fn written(schema: &Schema, rows: &[Vec<Tree>]) -> Vec<u8> {
    let mut writer = ParquetWriter::new(Vec::new(), schema, ExportOptions::default(), &[]).unwrap();
    for some in rows.chunks(7) {
        writer.write(batch_of(schema, some)).unwrap();
    }
    writer.finish().unwrap()
}

/// The text of a value that was read.
fn text_of(found: &Found) -> String {
    match found {
        Found::Null => "null".to_owned(),
        Found::Group(row) => {
            let fields = row.get_column_iter();
            let fields = fields.map(|(name, value)| format!("{name}:{}", text_of(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Found::ListInternal(list) => {
            let items: Vec<String> = list.elements().iter().map(text_of).collect();
            format!("[{}]", items.join(","))
        }
        Found::MapInternal(map) => {
            let entries = map.entries().iter();
            let entries =
                entries.map(|(key, value)| format!("{}={}", text_of(key), text_of(value)));
            format!("({})", entries.collect::<Vec<_>>().join(","))
        }
        Found::Double(number) => number.to_bits().to_string(),
        Found::Bytes(bytes) => hex(bytes.data()),
        Found::Str(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The text of a tree that went in.
fn text(tree: &Tree, field: &Field) -> String {
    match (tree, field.children()) {
        (Tree::Null, _) => "null".to_owned(),
        (Tree::List(items), [item]) => {
            let items: Vec<String> = items.iter().map(|tree| text(tree, item)).collect();
            format!("[{}]", items.join(","))
        }
        (Tree::Struct(values), fields) => {
            let values = fields.iter().zip(values);
            let values =
                values.map(|(field, tree)| format!("{}:{}", field.name(), text(tree, field)));
            format!("{{{}}}", values.collect::<Vec<_>>().join(","))
        }
        (Tree::Map(entries), [structs]) => {
            let entry = |(key, value): &(Tree, Tree)| {
                let [key_field, value_field] = structs.children() else { panic!("two fields") };
                format!("{}={}", text(key, key_field), text(value, value_field))
            };
            format!("({})", entries.iter().map(entry).collect::<Vec<_>>().join(","))
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

#[test]
fn nested_columns_are_in_parquet_what_was_put_in() {
    seeds(300, |random| {
        let (schema, rows) = random_rows(random);
        let mut file = tempfile();
        file.write_all(&written(&schema, &rows)).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let mut count = 0;
        for (found, trees) in reader.get_row_iter(None).unwrap().zip(&rows) {
            let found = found.unwrap();
            for ((_, value), (field, tree)) in
                found.get_column_iter().zip(schema.fields().iter().zip(trees))
            {
                assert_eq!(text_of(value), text(tree, field), "{field:?}");
            }
            count += 1;
        }
        assert_eq!(count, rows.len());
    });
}

#[test]
fn a_struct_without_fields_is_refused_by_its_name() {
    let empty = Field::structure("nothing".into(), Vec::new(), true);
    let schema = Schema::new("rows", vec![Field::list("l".into(), empty, true)]);
    let refused = ParquetWriter::new(Vec::new(), &schema, ExportOptions::default(), &[]);
    let error = refused.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.to_string().starts_with("expected a struct with fields for Parquet"), "{error}");
    let number = Field::new("n".into(), DataType::I32, true, String::new());
    let schema = Schema::new("rows", vec![Field::list("l".into(), number, true)]);
    assert!(!written(&schema, &[]).is_empty());
}
