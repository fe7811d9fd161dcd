//! Meaning of a document beyond what the compiler of version 0.17 can be asked for.

use bytewright::thrift::idl::{ConstValue, IdlOptions, ProgramId, StructOrigin};
use bytewright::thrift::{Requiredness, Type};

use super::{as_json, as_ruby, document_of_text, document_of_texts, of_corpus};

fn constant(document: &bytewright::thrift::idl::Document, name: &str) -> ConstValue {
    let consts = &document.main().expect("a program").consts;
    consts.iter().find(|found| found.name == name).expect(name).value.clone()
}

fn ints(numbers: &[i64]) -> Vec<ConstValue> {
    numbers.iter().copied().map(ConstValue::Int).collect()
}

#[test]
fn constants_that_are_other_lists_and_maps_have_their_values() {
    let document = of_corpus("container_references");
    let list = ConstValue::List(ints(&[1, 2]));
    assert_eq!(constant(&document, "SAME_LIST"), list);
    let text = |text: &str| ConstValue::String(text.to_owned());
    let map = ConstValue::Map(vec![(text("a"), list.clone()), (text("b"), list)]);
    assert_eq!(constant(&document, "SAME_MAP"), map);
    assert_eq!(constant(&document, "SAME_WHOLE"), ConstValue::Int(5));
}

#[test]
fn uuid_is_a_type_unless_a_file_has_one_of_that_name() {
    let document = of_corpus("latest_uuid");
    let known = document.schema.get(document.schema.find("Known").expect("Known")).expect("Known");
    assert_eq!(known.fields[0].value_type, Type::Uuid);
    assert_eq!(known.fields[1].value_type, Type::list(Type::Uuid));
    assert_eq!(known.fields[2].value_type, Type::map(Type::Uuid, Type::String));
    let braces = ConstValue::String("01234567-89ab-cdef-ABCD-EF0123456789".to_owned());
    assert_eq!(constant(&document, "BRACES"), braces);
    let document = of_corpus("names");
    let typedefs = &document.main().expect("a program").typedefs;
    assert!(matches!(typedefs[0].stands_for, Type::Struct(_)));
}

#[test]
fn words_of_the_language_and_of_others_can_be_names() {
    let document = of_corpus("latest_words");
    let words = document.schema.get(document.schema.find("Words").expect("Words")).expect("Words");
    let names: Vec<&str> = words.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names[..5], ["list", "struct", "namespace", "i8", "async"]);
    assert_eq!((names[6], words.fields[6].requiredness), ("optional", Requiredness::Optional));
    let document = of_corpus("reserved_words");
    let node = document.schema.get(document.schema.find("Node").expect("Node")).expect("Node");
    assert_eq!(node.fields[1].name, "next");
}

#[test]
fn doubles_have_all_their_digits() {
    let document = document_of_text(
        "const double A = 0.30000000000000004, const double B = 1e400, const double C = 4.9e-324",
    );
    let document = document.expect("read");
    assert_eq!(constant(&document, "A"), ConstValue::Double(0.1 + 0.2));
    assert_eq!(constant(&document, "B"), ConstValue::Double(f64::INFINITY));
    assert_eq!(constant(&document, "C"), ConstValue::Double(f64::from_bits(1)));
}

#[test]
fn negative_ids_are_kept_where_that_is_asked_for() {
    let text = "struct S {-5: i32 a, i32 b, 0: i32 c, i32 d, 4: i32 e}";
    let ids = |keep_negative_ids: bool| -> Vec<i16> {
        let options = IdlOptions { keep_negative_ids };
        let document = document_of_texts(&[("t.thrift", text)], options).expect("read");
        document.schema.structs()[0].fields.iter().map(|field| field.id).collect()
    };
    assert_eq!(ids(true), [-5, -6, 0, -1, 4]);
    assert_eq!(ids(false), [-1, -2, -3, -4, 4]);
}

#[test]
fn exceptions_are_never_required_in_a_result() {
    let document = document_of_text(
        "exception E {} service S { i32 f() throws (1: required E a, optional E b) void g() throws (E c) }",
    );
    let document = document.expect("read");
    let functions = &document.services[0].functions;
    let exceptions: Vec<_> = functions.iter().map(|of| document.exceptions(of)).collect();
    assert_eq!(exceptions[0].len(), 2);
    assert!(exceptions[0].iter().all(|field| field.requiredness == Requiredness::Default));
    assert_eq!((exceptions[1][0].name.as_str(), exceptions[1][0].id), ("c", -1));
}

#[test]
fn each_definition_knows_its_file() {
    let texts = [
        ("a/main.thrift", "include 'left.thrift' include 'right.thrift' struct M {1: left.L l}"),
        ("left.thrift", "include 'base.thrift' enum F {A} struct L {1: base.B b}"),
        (
            "right.thrift",
            "include 'base.thrift' service R extends base.S { base.B get(1: base.E e) }",
        ),
        ("base.thrift", "struct B {} enum E {A} service S {}"),
    ];
    let document = document_of_texts(&texts, IdlOptions::default()).expect("read");
    let names: Vec<&str> = document.programs.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["base", "left", "right", "main"], "included ones first, each once");
    let main = document.main().expect("a program");
    assert_eq!(main.includes, [ProgramId(1), ProgramId(2)]);
    assert_eq!(main.path, "a/main.thrift");
    let structs = document.schema.structs().iter().zip(&document.structs);
    let homes = structs.map(|(schema, definition)| {
        (schema.name.as_str(), definition.program.0, definition.origin)
    });
    assert_eq!(
        homes.collect::<Vec<_>>(),
        [
            ("B", 0, StructOrigin::Declared),
            ("L", 1, StructOrigin::Declared),
            ("get_args", 2, StructOrigin::Arguments),
            ("get_result", 2, StructOrigin::Result),
            ("M", 3, StructOrigin::Declared),
        ]
    );
    let enums: Vec<u32> = document.enums.iter().map(|of| of.program.0).collect();
    assert_eq!(enums, [0, 1]);
    let above = document.services[1].extends.and_then(|id| document.service(id)).expect("S");
    assert_eq!((above.name.as_str(), above.program), ("S", ProgramId(0)));
}

#[test]
fn namespaces_fall_back_on_the_one_for_all() {
    let document = of_corpus("headers");
    let main = document.main().expect("a program");
    assert_eq!(main.namespace("rb"), Some("Office.papers"));
    assert_eq!(main.namespace("go"), Some("every.where"));
    assert_eq!(main.cpp_includes, ["<vector>", "more.h"]);
    let twisted = main.namespaces.iter().find(|of| of.scope == "py.twisted").expect("it");
    let notes: Vec<_> = twisted.annotations.iter().map(|of| (&*of.key, &*of.value)).collect();
    assert_eq!(notes, [("purpose", "events"), ("plain", "1")]);
}

#[test]
fn what_is_said_of_fields_and_values_is_there() {
    let document = of_corpus("annotations");
    let level = &document.enums[0];
    assert_eq!(level.value_annotations[1][0].value, "red");
    let noted = &document.structs[0];
    assert_eq!(noted.fields[2].annotations[4].key, "dotted.name");
    let document = of_corpus("recursion");
    let tree = document.struct_definition(document.schema.find("Tree").expect("Tree"));
    let references: Vec<_> = tree.expect("Tree").fields.iter().map(|of| of.is_reference).collect();
    assert_eq!(references, [false, false, true, true]);
}

#[test]
fn the_words_that_are_compared_with_the_compiler_tell_documents_apart() {
    let of = |text: &str| {
        let document = document_of_text(text).expect("read");
        (as_ruby::lines(&document), as_json::of_main(&document))
    };
    let usual = of("enum E {A} struct S {1: i32 a, 2: E b = 0}");
    for other in [
        "enum E {B} struct S {1: i32 a, 2: E b = 0}",
        "enum E {A, B} struct S {1: i32 a, 2: E b = 0}",
        "enum E {A} struct S {1: required i32 a, 2: E b = 0}",
        "enum E {A} struct S {1: optional i32 a, 2: E b = 0}",
        "enum E {A} struct S {3: i32 a, 2: E b = 0}",
        "enum E {A} struct S {2: E b = 0, 1: i32 a}",
        "enum E {A} struct S {1: i64 a, 2: E b = 0}",
        "enum E {A} struct S {1: i32 a, 2: E b}",
        "enum E {A} union S {1: i32 a, 2: E b = 0}",
        "enum E {A} exception S {1: i32 a, 2: E b = 0}",
        "enum E {A} struct S {1: i32 a, 2: E b = 0} const i32 C = 1",
        "enum E {A} struct S {1: i32 a, 2: E b = 0} service T {}",
    ] {
        let other = of(other);
        assert_ne!(usual.0, other.0);
        assert_ne!(usual.1, other.1);
    }
}

#[test]
fn definitions_know_the_line_of_their_name() {
    let text = "\u{feff}namespace rb\n a.b\n/* two\n lines */ const i32\n A = 1\nenum E { A,\r\nB }\nunion U {\n1: i32 a\n2: i32 b }\nservice S {\nvoid f(1: i32 x,\n2: i32 y),\n i32 g() }";
    let document = document_of_text(text).expect("read");
    let main = document.main().expect("a program");
    assert_eq!((main.namespaces[0].line, main.consts[0].line), (2, 5));
    assert_eq!((document.enums[0].line, &document.enums[0].value_lines), (6, &vec![6, 7]));
    let lines = |place: usize| {
        let definition = &document.structs[place];
        (definition.line, definition.fields.iter().map(|field| field.line).collect::<Vec<_>>())
    };
    assert_eq!(lines(0), (8, vec![9, 10]));
    assert_eq!([lines(1), lines(2)], [(12, vec![12, 13]), (12, vec![])]);
    assert_eq!([lines(3), lines(4)], [(14, vec![]), (14, vec![0])]);
    assert_eq!(document.services[0].line, 11);

    // Texts of more than one block, at and around where blocks meet.
    for len in 4094..4099 {
        let text =
            format!("{}\nconst i32 A = 1\n{}const i32 B = 2", " ".repeat(len), "\n".repeat(len));
        let document = document_of_text(&text).expect("read");
        let consts = &document.main().expect("a program").consts;
        assert_eq!((consts[0].line, consts[1].line), (2, len as u32 + 3));
    }
}
