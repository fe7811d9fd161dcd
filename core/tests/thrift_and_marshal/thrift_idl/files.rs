//! IDL files on disk: included ones are found where the compiler finds them.

use std::fs;
use std::path::Path;

use bytewright::ErrorKind;
use bytewright::ask::load_idl;
use bytewright::thrift::idl::{IdlOptions, TEXT_LEN_MAX};

use super::compiler::Folder;
use super::{as_json, corpus, document_of};

fn load(path: &Path, folders: &[&Path]) -> bytewright::Result<Vec<String>> {
    let folders: Vec<_> = folders.iter().map(|folder| folder.to_path_buf()).collect();
    let document = load_idl(path, &folders, IdlOptions::default())?;
    let structs = document.schema.structs().iter().map(|schema| schema.name.clone());
    Ok(structs.collect())
}

#[test]
fn a_file_is_read_with_what_it_includes() {
    for (name, path) in corpus() {
        let loaded = load_idl(&path, &[], IdlOptions::default());
        let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
        let read = document_of(&path).expect("read");
        assert_eq!(as_json::of_main(&loaded), as_json::of_main(&read), "{name}");
    }
}

#[test]
fn includes_are_looked_for_beside_the_file_and_then_in_folders() {
    let folder = Folder::new();
    for (path, text) in [
        ("main.thrift", "include 'beside.thrift' include 'far.thrift' include 'deep/down.thrift'"),
        ("beside.thrift", "struct Beside {}"),
        ("one/beside.thrift", "struct NotThis {}"),
        ("one/far.thrift", "include 'near.thrift' include '../main2.thrift' struct Far {}"),
        ("one/near.thrift", "struct Near {}"),
        ("two/far.thrift", "struct NorThis {}"),
        ("two/deep/down.thrift", "include '../../beside.thrift' struct Down {}"),
        ("main2.thrift", "struct Up {}"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let at = |name: &str| folder.path().join(name);
    let (main, one, two) = (at("main.thrift"), at("one"), at("two"));
    let structs = load(&main, &[&one, &two]).expect("read");
    assert_eq!(structs, ["Beside", "Near", "Up", "Far", "Down"], "a file is read once");

    let error = load(&main, &[&one]).expect_err("nowhere");
    assert_eq!(error.kind(), ErrorKind::Io(Some(2)));
    let home = fs::canonicalize(folder.path()).expect("a path");
    let expected = format!(
        "cannot find it in {}, nor in {}; line 1, column 54 of {} includes it\n",
        home.display(),
        one.display(),
        home.join("main.thrift").display()
    );
    assert_eq!(error.file(), Some("deep/down.thrift"), "the file that is missing");
    assert!(error.message().starts_with(&expected), "{error}");
    let whole = format!("include '{}' struct Main {{}}", at("one/near.thrift").display());
    let whole = folder.file("whole.thrift", whole.as_bytes());
    assert_eq!(load(&whole, &[]).expect("read"), ["Near", "Main"]);
}

#[test]
fn what_is_no_file_or_too_long_is_refused() {
    let folder = Folder::new();
    let absent = load(&folder.path().join("absent.thrift"), &[]).expect_err("absent");
    assert_eq!(absent.kind(), ErrorKind::Io(Some(2)));
    assert_eq!(absent.file(), folder.path().join("absent.thrift").to_str());
    assert_eq!(absent.message(), "cannot find: No such file or directory");
    let directory = load(folder.path(), &[]).expect_err("a folder");
    assert!(matches!(directory.kind(), ErrorKind::Io(_)));
    assert_eq!(directory.file(), folder.path().to_str());
    let includes_one = folder.file("one.thrift", b"include '.'");
    let directory = load(&includes_one, &[]).expect_err("a folder");
    let home = fs::canonicalize(folder.path()).expect("a path");
    assert_eq!(directory.file(), home.to_str());
    assert!(directory.message().contains("; line 1, column 9 of "), "{directory}");
    let endless = load(Path::new("/dev/zero"), &[]).expect_err("no end");
    assert_eq!(endless.kind(), ErrorKind::Argument);
    let long = folder.file("long.thrift", &vec![b' '; TEXT_LEN_MAX + 1]);
    assert_eq!(load(&long, &[]).expect_err("too long").kind(), ErrorKind::Limit);
    let itself = folder.file("itself.thrift", b"include 'itself.thrift'");
    let circle = load(&itself, &[]).expect_err("a circle").to_string();
    assert!(circle.contains("in a circle"), "{circle}");
}
