//! Goal: IDL files say to us what they say to Thrift's compiler, and what it refuses we refuse, with a
//! message that shows the place.
//!
//! Method: the files of `corpus/`, which together have all that the language has, go through the
//! compiler too: Ruby says what the code is that it generates (`dump.rb`), and its JSON generator says
//! the rest; a document of ours, in the same words, must be equal. So must what is refused in
//! `refused.rs`. In `random.rs`, generated and damaged texts only have to end, soon, and without panic.

mod as_json;
mod as_ruby;
mod bounds;
mod compiler;
mod description;
mod files;
mod meaning;
mod random;
mod refused;

use std::fs;
use std::path::{Path, PathBuf};

use bytewright::thrift::idl::{Document, IdlOptions, SourceText};
use bytewright::{Error, ErrorKind, Result};
use compiler::{Folder, Ruby};

/// Files that a compiler of version 0.17 cannot say anything about, and why.
const BEYOND_THE_COMPILER: &[(&str, &str)] = &[
    ("container_references", "it leaves a constant empty that is another list"),
    ("latest_cpp_type", "cpp_type before the element of a list came later"),
    ("latest_uuid", "uuid came later"),
    ("latest_words", "words of the language as names of fields came later"),
    ("reserved_words", "its generators refuse names that are words of many languages"),
];

/// Files that only the JSON generator can say something about, and why.
const BEYOND_RUBY: &[(&str, &str)] = &[
    ("names_of_many", "names that differ in a capital are the same constant"),
    ("same_file_names", "the generated files have the same name, so one is lost"),
];

/// Files that only the generator for Ruby can say something about, and why.
const BEYOND_JSON: &[(&str, &str)] =
    &[("odd_truth", "it writes a truth as the number that it is written as")];

fn corpus() -> Vec<(String, PathBuf)> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/thrift_and_marshal/thrift_idl/corpus");
    let entries = fs::read_dir(folder).expect("the corpus");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let files = files.filter(|path| path.is_file());
    let name = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut files: Vec<_> = files.map(|path| (name(&path), path)).collect();
    files.sort();
    files
}

/// A document of a file, whose includes are read from its folder.
fn document_of(path: &Path) -> Result<Document> {
    let source = |path: &Path| -> Result<SourceText> {
        let bytes = fs::read(path).map_err(|error| Error::io("read", &error))?;
        Ok(SourceText { path: path.to_string_lossy().into_owned(), bytes })
    };
    let mut includes = |name: &str, from: &str| source(&Path::new(from).with_file_name(name));
    bytewright::thrift::idl::parse(source(path)?, &mut includes, IdlOptions::default())
}

fn of_corpus(name: &str) -> Document {
    let (_, path) = corpus().into_iter().find(|(found, _)| found == name).expect("a file");
    document_of(&path).unwrap_or_else(|error| panic!("{error}"))
}

/// Texts by their names; the first is the one that is asked for.
fn document_of_texts(texts: &[(&str, &str)], options: IdlOptions) -> Result<Document> {
    let source = |name: &str| {
        let found = texts.iter().find(|(found, _)| *found == name);
        let (path, text) =
            found.ok_or_else(|| Error::new(ErrorKind::Io(Some(2)), "no such file"))?;
        Ok(SourceText { path: (*path).to_owned(), bytes: text.as_bytes().to_vec() })
    };
    let mut includes = |name: &str, _: &str| source(name);
    bytewright::thrift::idl::parse(source(texts[0].0)?, &mut includes, options)
}

fn document_of_text(text: &str) -> Result<Document> {
    document_of_texts(&[("t.thrift", text)], IdlOptions::default())
}

fn is_listed(list: &[(&str, &str)], name: &str) -> bool {
    list.iter().any(|(listed, _)| *listed == name)
}

#[test]
fn every_file_of_the_corpus_is_read() {
    let files = corpus();
    assert!(files.len() > 35, "{} files", files.len());
    for (name, path) in &files {
        let document = document_of(path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(document.main().expect("a program").name, *name);
        assert_eq!(document.structs.len(), document.schema.structs().len());
        assert_eq!(document.enums.len(), document.schema.enums().len());
    }
    for (listed, _) in [BEYOND_THE_COMPILER, BEYOND_RUBY, BEYOND_JSON].concat() {
        assert!(files.iter().any(|(name, _)| name == listed), "{listed}");
    }
}

#[test]
fn classes_are_those_that_the_compiler_generates() {
    let test = "classes_are_those_that_the_compiler_generates";
    if !compiler::is_here(test) {
        return;
    }
    let Some(mut ruby) = Ruby::start(test) else { return };
    for (name, path) in corpus() {
        if is_listed(BEYOND_THE_COMPILER, &name) || is_listed(BEYOND_RUBY, &name) {
            continue;
        }
        let folder = Folder::new();
        compiler::generate("rb", &path, folder.path())
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        let expected = ruby.dump(folder.path());
        let document = document_of(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_same(&name, &as_ruby::lines(&document), &expected);
    }
}

#[test]
fn documents_say_what_the_compiler_says() {
    if !compiler::is_here("documents_say_what_the_compiler_says") {
        return;
    }
    for (name, path) in corpus() {
        if is_listed(BEYOND_THE_COMPILER, &name) || is_listed(BEYOND_JSON, &name) {
            continue;
        }
        let folder = Folder::new();
        compiler::generate("json", &path, folder.path())
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        let printed = folder.path().join(&name).with_extension("json");
        let printed = fs::read_to_string(printed).expect("generated JSON");
        let document = document_of(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_same(&name, &as_json::of_main(&document), &as_json::tokens(&printed));
    }
}

#[track_caller]
fn assert_same(name: &str, ours: &[String], expected: &[String]) {
    let same = ours.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let around =
        |lines: &[String]| lines[same.saturating_sub(12)..lines.len().min(same + 4)].join(" ");
    assert!(
        ours == expected,
        "{name}, from {same}\n  ours         {}\n  the compiler {}",
        around(ours),
        around(expected)
    );
}
