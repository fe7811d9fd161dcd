//! Texts that the compiler refuses, and what we say of them; and those that only we refuse.

use bytewright::ErrorKind;
use bytewright::thrift::idl::IdlOptions;

use super::compiler::{self, Folder};
use super::{document_of_text, document_of_texts};

/// Texts that the compiler refuses too.
#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    ("foo", "line 1, column 1: expected const, typedef, enum, struct, union, exception or service, found `foo`"),
    (";", "line 1, column 1: expected a definition, found `;`"),
    ("struct S {1: i32 é}", "line 1, column 18: expected a name or a symbol, found `é`"),
    ("struct S {1: i32 a", "line 1, column 19: expected a field or `}`, found the end of the file"),
    ("struct {1: i32 a}", "line 1, column 8: expected the name of a struct, found `{`"),
    ("struct S 1: i32 a}", "line 1, column 10: expected `{` and fields, found `1`"),
    ("struct S.T {1: i32 a}", "line 1, column 8: expected the name of a struct without a dot, found `S.T`"),
    ("struct S {1: i32 a.b}", "line 1, column 18: expected the name of a field without a dot, found `a.b`"),
    ("struct S {1 i32 a}", "line 1, column 13: expected `:` after the id of a field, found `i32`"),
    ("struct S {1: a}", "line 1, column 15: expected the name of a field, found `}`"),
    ("struct S {1: i32 a,, 2: i32 b}", "line 1, column 20: expected a field or `}`, found `,`"),
    ("struct S {1: void a}", "line 1, column 14: expected a type, found `void`, which is a word of the language"),
    ("struct S {1: optional required i32 a}", "line 1, column 23: expected a type, found `required`, which is a word of the language"),
    ("struct S {1: i32 xsd_all}", "line 1, column 18: expected the name of a field, found `xsd_all`, which is a word of the language"),
    ("struct S {1: i32 a 1: i32 b}", "line 1, column 27: expected an id for each field, found 1 for a second one, b"),
    ("struct S {1: i32 a 2: i32 a}", "line 1, column 27: expected a name for each field, found a for a second one, 2"),
    ("struct S {};", "line 1, column 12: expected a definition, found `;`"),
    ("struct S (a = \"b\") {}", "line 1, column 10: expected `{` and fields, found `(`"),
    ("struct S {1: list<i32 a}", "line 1, column 23: expected `>` after the type of the elements, found `a`"),
    ("struct S {1: map<i32> a}", "line 1, column 21: expected `,` between the types of a map, found `>`"),
    ("struct S {1: slist a}", "line 1, column 14: expected `string`, found `slist`, an older form that is no longer supported"),
    ("struct S {1: Nope a}", "line 1, column 14: expected a type, found `Nope`, which is not defined"),
    ("struct S {1: list<far.Nope> a}", "line 1, column 19: expected a type, found `far.Nope`, which is not defined, and no file `far` is included"),
    ("struct S {} struct S {}", "line 1, column 20: expected a name that nothing else in the file has, found `S`"),
    ("struct S {} typedef i32 S", "line 1, column 25: expected a name that nothing else in the file has, found `S`"),
    ("struct S {} enum S {}", "line 1, column 18: expected a name that nothing else in the file has, found `S`"),
    ("struct S {} service S {}", "line 1, column 21: expected a name that nothing else in the file has, found `S`"),
    ("struct T {} struct S {1: T (a = \"b\") t}", "line 1, column 28: expected the name of a field, found `(`"),
    ("struct S {1: i32 a (b = 5)}", "line 1, column 25: expected a string as the value of the annotation, found `5`"),
    ("struct S {1: i32 a (struct)}", "line 1, column 21: expected the name of an annotation or `)`, found `struct`, which is a word of the language"),
    ("struct S {1: i32 a} include \"b.thrift\"", "line 1, column 21: expected `include` before the first definition, found it after one"),
    ("exception S xsd_all {}", "line 1, column 13: expected `{` and fields, found `xsd_all`"),
    ("union U {1: i32 a = 1, 2: i32 b = 2}", "line 1, column 35: expected at most one default in a union, found a second one, of b"),
    ("namespace", "line 1, column 10: expected a language or `*`, found the end of the file"),
    ("namespace rb", "line 1, column 13: expected the name of a namespace, found the end of the file"),
    ("namespace rb \"A\"", "line 1, column 14: expected the name of a namespace, found `\"A\"`"),
    ("namespace * A (b = \"c\")", "line 1, column 15: expected a definition, found `(`"),
    ("namespace struct A", "line 1, column 11: expected a language or `*`, found `struct`, which is a word of the language"),
    ("py_module A", "line 1, column 1: expected `namespace py`, found `py_module`, an older form that is no longer supported"),
    ("include b.thrift", "line 1, column 9: expected a file name in quotes, found `b.thrift`"),
    ("cpp_include", "line 1, column 12: expected a file name in quotes, found the end of the file"),
    ("typedef list<> A", "line 1, column 14: expected a type, found `>`"),
    ("typedef i32", "line 1, column 12: expected the new name of the type, found the end of the file"),
    ("typedef service S", "line 1, column 9: expected a type, found `service`, which is a word of the language"),
    ("service A {} struct S {1: A a}", "line 1, column 27: expected a type, found `A`, which is not defined"),
    ("enum E {A A}", "line 1, column 11: expected a name that no other value of the enum has, found `A`"),
    ("enum E {A = B}", "line 1, column 13: expected an integer, found `B`"),
    ("enum E {A = 1.5}", "line 1, column 13: expected an integer, found `1.5`"),
    ("enum E {A.B}", "line 1, column 9: expected the name of a value without a dot, found `A.B`"),
    ("enum E {A = 2147483648}", "line 1, column 13: expected a number of 32 bits with a sign, found `2147483648`"),
    ("enum E {A = 2147483647 B}", "line 1, column 24: expected a number of 32 bits with a sign, found 2147483647 before this value"),
    ("enum E {A};", "line 1, column 11: expected a definition, found `;`"),
    ("const i32 A", "line 1, column 12: expected `=` and a value, found the end of the file"),
    ("const i32 A =", "line 1, column 14: expected a value, found the end of the file"),
    ("const i32 A = \"a\"", "line 1, column 15: expected a value of i32, found `\"a\"`"),
    ("const i32 A = 1.5", "line 1, column 15: expected a value of i32, found `1.5`"),
    ("const i32 A = 5x", "line 1, column 16: expected const, typedef, enum, struct, union, exception or service, found `x`"),
    ("const i32 A = 0x", "line 1, column 16: expected const, typedef, enum, struct, union, exception or service, found `x`"),
    ("const i32 A.B = 1", "line 1, column 11: expected the name of a constant without a dot, found `A.B`"),
    ("const i32 A = 1 (a = \"b\")", "line 1, column 17: expected a definition, found `(`"),
    ("const i32 A = 1 const i32 A = 1", "line 1, column 27: expected a name that no other constant has, found `A`"),
    ("const i32 A = B const i32 B = 1", "line 1, column 15: expected a constant or a value of an enum, found `B`, which is not defined above"),
    ("const i32 A = B.C", "line 1, column 15: expected a constant or a value of an enum, found `B.C`, which is not defined above, and no file `B` is included"),
    ("const i64 A = 9223372036854775808", "line 1, column 15: expected a number of 64 bits with a sign, found `9223372036854775808`"),
    ("const i64 A = 0xffffffffffffffff", "line 1, column 15: expected a number of 64 bits with a sign, found `0xffffffffffffffff`"),
    ("const i64 A = -0x8000000000000000", "line 1, column 15: expected a number of 64 bits with a sign, found `-0x8000000000000000`"),
    ("const double A = 1.", "line 1, column 19: expected a name or a symbol, found `.`"),
    ("const double A = \"a\"", "line 1, column 18: expected a value of double, found `\"a\"`"),
    ("const double A = 1.5 const i32 B = A", "line 1, column 36: expected a value of i32, found `A`, one of double"),
    ("const string A = 1", "line 1, column 18: expected a value of string, found `1`"),
    ("const string A = \"a\nb\"", "line 1, column 18: expected \" at the end of this string, found the end of the line"),
    ("const string A = \"\\0\"", "line 1, column 19: expected one of \\n \\r \\t \\\\ \\\" \\', found `\\0`"),
    ("const string A = \"a\" const i32 B = A", "line 1, column 36: expected a value of i32, found `A`, one of string"),
    ("const i32 A = 1 const string B = A", "line 1, column 34: expected a value of string, found `A`, one of i32"),
    ("const bool A = \"true\"", "line 1, column 16: expected a value of bool, found `\"true\"`"),
    ("const list<i32> A = [1, 2", "line 1, column 26: expected a value, found the end of the file"),
    ("const list<i32> A = [1, \"b\"]", "line 1, column 25: expected a value of i32, found `\"b\"`"),
    ("const map<i32, i32> A = {1: 2, 3}", "line 1, column 33: expected `:` between a key and its value, found `}`"),
    ("const Nope A = 1", "line 1, column 7: expected a type, found `Nope`, which is not defined"),
    ("const void A = 1", "line 1, column 7: expected a type, found `void`, which is a word of the language"),
    ("enum E {A} const E B = A", "line 1, column 24: expected a value of enum E, found `A`"),
    ("enum E {A} const E B = E.C", "line 1, column 24: expected a value of enum E, found `E.C`"),
    ("enum E {A} const E B = 5", "line 1, column 24: expected a value of enum E, found `5`"),
    ("enum E {A} const E B = E.A const E C = B", "line 1, column 40: expected a value of enum E, found `B`"),
    ("enum E {A} const E B = E.A const i32 C = B", "line 1, column 42: expected a value of i32, found `B`, one of enum E"),
    ("enum E {A} const string B = E.A", "line 1, column 29: expected a value of string, found `E.A`"),
    ("const E A = E.B enum E {B}", "line 1, column 13: expected a value of a type that is defined above, found `E.B`"),
    ("struct P {1: i32 x} const P A = {\"y\": 1}", "line 1, column 34: expected the name of a field of P, found `\"y\"`"),
    ("struct P {1: i32 x} const P A = {x: 1}", "line 1, column 34: expected the name of a field in quotes, found `x`"),
    ("struct P {1: i32 x} const P A = []", "line 1, column 33: expected a value of struct P, found `[`"),
    ("struct P {1: i32 x} const P A = {\"x\": \"y\"}", "line 1, column 39: expected a value of i32, found `\"y\"`"),
    ("struct P {1: i32 x} const P A = {\"x\": 1} const P B = A", "line 1, column 54: expected a value of struct P, found `A`"),
    ("struct S {1: T t = {}} struct T {}", "line 1, column 20: expected a value of a type that is defined above, found `{`"),
    ("struct S {1: optional S s = {}}", "line 1, column 29: expected a value of a type that is defined above, found `{`"),
    ("struct S {1: i32 a = \"b\"}", "line 1, column 22: expected a value of i32, found `\"b\"`"),
    ("struct S {1: i32 a = B.C}", "line 1, column 22: expected a constant or a value of an enum, found `B.C`, which is not defined above, and no file `B` is included"),
    ("service S", "line 1, column 10: expected `{` and functions, found the end of the file"),
    ("service S {f()}", "line 1, column 13: expected the name of a function, found `(`"),
    ("service S {void f}", "line 1, column 18: expected `(` and arguments, found `}`"),
    ("service S {void f(}", "line 1, column 19: expected a field or `)`, found `}`"),
    ("service S {void f() void f()}", "line 1, column 26: expected a name that no other function of the service has, found `f`"),
    ("service S {oneway oneway void f()}", "line 1, column 19: expected a type, found `oneway`, which is a word of the language"),
    ("service S {void f(1: i32 a, 1: i32 b)}", "line 1, column 36: expected an id for each field, found 1 for a second one, b"),
    ("service S {void f(1: i32 a = \"b\")}", "line 1, column 30: expected a value of i32, found `\"b\"`"),
    ("service S extends {}", "line 1, column 19: expected the name of the service that it extends, found `{`"),
    ("service S extends T {}", "line 1, column 19: expected a service, found `T`, which is not defined above"),
    ("service S extends T {} service T {}", "line 1, column 19: expected a service, found `T`, which is not defined above"),
    ("service S {void f()} service T extends S {void f()}", "line 1, column 48: expected a name that no function of a service it extends has, found `f`"),
    ("service S {void f()} service T extends S {} service U extends T {void g() void f()}", "line 1, column 80: expected a name that no function of a service it extends has, found `f`"),
    ("service S {void f() throws (1: i32 e)}", "line 1, column 32: expected an exception, found `i32`"),
    ("struct E {} service S {void f() throws (1: E e)}", "line 1, column 44: expected an exception, found `E`"),
    ("service S {void f() throws (1: E e)} exception E {}", "line 1, column 32: expected an exception that is defined above, found `E`"),
    ("exception E {} service S {void f() throws (1: E e, 1: E f)}", "line 1, column 57: expected an id for each field, found 1 for a second one, f"),
    ("exception E {} service S {oneway void f() throws (1: E e)}", "line 1, column 56: expected no exceptions of a function that has no answer, found `e`"),
];

/// Texts that the compiler of version 0.17 accepts with or without a warning, or never comes to an end with.
#[rustfmt::skip]
const REFUSED_BY_US: &[(&str, &str)] = &[
    ("typedef A A struct S {1: A a}", "line 1, column 9: expected a type that is not a typedef of itself, found `A`"),
    ("typedef A B typedef B A struct S {1: A a}", "line 1, column 21: expected a type that is not a typedef of itself, found `B`"),
    ("typedef Nope S", "line 1, column 9: expected a type, found `Nope`, which is not defined"),
    ("struct S {} /* without end", "line 1, column 13: expected */ after this /*, found the end of the file"),
    ("const string A = \"a", "line 1, column 18: expected \" at the end of this string, found the end of the file"),
    ("struct S {32768: i32 a}", "line 1, column 11: expected an id between -32768 and 32767, found 32768"),
    ("struct S {4294967297: i32 a}", "line 1, column 11: expected an id between -32768 and 32767, found 4294967297"),
    ("enum E {A.B = 1}", "line 1, column 9: expected the name of a value without a dot, found `A.B`"),
    ("enum E {A} const E B = \"A\"", "line 1, column 24: expected a value of enum E, found `\"A\"`"),
    ("const double A = -", "line 1, column 18: expected a digit after the sign, found `-`"),
    ("const double A = -e10", "line 1, column 18: expected a digit after the sign, found `-`"),
    ("const list<i32> A = {1: 2}", "line 1, column 21: expected a value of list<i32>, found `{`"),
    ("const map<i32, i32> A = [1]", "line 1, column 25: expected a value of map<i32, i32>, found `[`"),
    ("const list<i32> A = 5", "line 1, column 21: expected a value of list<i32>, found `5`"),
    ("const i32 A = 5 const list<i32> B = A", "line 1, column 37: expected a value of list<i32>, found `A`, one of i32"),
    ("const list<i32> A = [1] const list<string> B = A", "line 1, column 48: expected a value of list<string>, found `A`, one of list<i32>"),
    ("exception E {} service S {i32 f() throws (1: E success)}", "line 1, column 48: expected success and 0 left to what the function returns, found `success`"),
    ("const uuid A = \"00112233-4455-6677-8899-aabbccddeef\"", "line 1, column 16: expected a UUID like 00112233-4455-6677-8899-aabbccddeeff, found `\"00112233-4455-6677-8899-aabbccddeef\"`"),
    ("const uuid A = \"00112233x4455-6677-8899-aabbccddeeff\"", "line 1, column 16: expected a UUID like 00112233-4455-6677-8899-aabbccddeeff, found `\"00112233x4455-6677-8899-aabbccddeeff\"`"),
    ("const string A = \"a\" const uuid B = A", "line 1, column 37: expected a UUID like 00112233-4455-6677-8899-aabbccddeeff, found `A`"),
];

fn first_line_of_error(text: &str) -> String {
    let error = document_of_text(text).err();
    let error = error.unwrap_or_else(|| panic!("accepted: {text}"));
    assert_eq!(error.kind(), ErrorKind::Format, "{text}: {error}");
    assert_eq!(error.file(), Some("t.thrift"));
    error.message().lines().next().expect("a line").to_owned()
}

#[test]
fn what_the_language_does_not_allow_is_refused_with_what_was_expected_and_found() {
    for (text, message) in [REFUSED, REFUSED_BY_US].concat() {
        assert_eq!(first_line_of_error(text), message, "{text}");
    }
}

#[test]
fn the_compiler_refuses_the_same() {
    if !compiler::is_here("the_compiler_refuses_the_same") {
        return;
    }
    let folder = Folder::new();
    for (text, _) in REFUSED {
        let file = folder.file("t.thrift", text.as_bytes());
        let answer = compiler::generate("rb", &file, folder.path());
        assert!(answer.is_err(), "{text}");
    }
}

#[test]
fn an_error_shows_its_place_in_the_text() {
    let shown = |text: &str| document_of_text(text).expect_err(text).to_string();
    assert_eq!(
        shown("struct S {\r\n\t1: i32 a,\r\n\t2: lost b // where?\r\n}\r\n"),
        "t.thrift: line 3, column 5: expected a type, found `lost`, which is not defined\n    \
         \t2: lost b // where?\n    \t   ^"
    );
    // Characters are counted, not bytes, and what could do harm to a terminal is not shown.
    assert_eq!(
        shown("const string A = \"\u{e9}\u{1f980}\u{1b}[31m\" = 1"),
        "t.thrift: line 1, column 28: expected a definition, found `=`\n    \
         const string A = \"\u{e9}\u{1f980}\u{fffd}[31m\" = 1\n                               ^"
    );
    assert_eq!(
        shown("\u{feff}struct S {\n\n"),
        "t.thrift: line 3, column 1: expected a field or `}`, found the end of the file\n    \n    ^"
    );
}

#[test]
fn only_a_piece_of_a_long_line_is_shown() {
    let text = format!("{} struct S {{1: lost a}} {}", "/**/".repeat(1000), "/**/".repeat(1000));
    let error = document_of_text(&text).expect_err("refused").to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert!(lines[0].contains("line 1, column 4015: "), "{error}");
    assert!(lines[1].len() < 120 && lines[1].contains("struct S {1: lost a}"), "{error}");
    assert_eq!(lines[2].find('^'), lines[1].find("lost"), "{error}");
}

#[test]
fn an_error_in_an_included_file_names_that_file() {
    let error = |texts: &[(&str, &str)]| {
        let refused = document_of_texts(texts, IdlOptions::default()).expect_err("refused");
        let shown = refused.to_string();
        shown.lines().next().expect("a line").to_owned()
    };
    let base = ("base.thrift", "enum E {A}\nconst i32 K = 1\nstruct S {1: E e}\nservice B {}");
    for (text, expected) in [
        (
            "struct T {1: base.Lost t}",
            "a type, found `base.Lost`, which base.thrift does not define",
        ),
        (
            "const i32 T = base.L",
            "a constant or a value of an enum, found `base.L`, which base.thrift does not define",
        ),
        (
            "const i32 T = base.E.B",
            "a constant or a value of an enum, found `base.E.B`, which base.thrift does not define",
        ),
        (
            "service T extends base.C {}",
            "a service, found `base.C`, which base.thrift does not define",
        ),
        (
            "struct T {1: bass.S t}",
            "a type, found `bass.S`, which is not defined, and no file `bass` is included",
        ),
        ("struct T {1: S t}", "a type, found `S`, which is not defined"),
        (
            "struct S {1: i32 a}",
            "a name that base.thrift with the same namespaces does not have, found `S`",
        ),
        (
            "struct B {1: i32 a}",
            "a name that base.thrift with the same namespaces does not have, found `B`",
        ),
    ] {
        let main = format!("include \"base.thrift\"\n{text}");
        let found = error(&[("main.thrift", &main), base]);
        let (place, found) = found.split_once(": expected ").expect("an expectation");
        assert!(place.starts_with("main.thrift: line 2, column "), "{place}");
        assert_eq!(found, expected, "{text}");
    }
    let main = ("main.thrift", "include 'middle.thrift' struct S {}");
    let middle = ("middle.thrift", "\n  include 'base.thrift' struct M {1: lost.S s}");
    assert_eq!(
        error(&[main, middle, base]),
        "middle.thrift: line 2, column 38: expected a type, found `lost.S`, which is not defined, \
         and no file `lost` is included"
    );
    assert_eq!(error(&[main]), "main.thrift: line 1, column 9: no such file");
}

#[test]
fn files_that_include_each_other_are_refused() {
    let texts = [
        ("a.thrift", "include 'b.thrift'"),
        ("b.thrift", "include 'c.thrift'"),
        ("c.thrift", "\ninclude 'b.thrift'"),
    ];
    for start in 0..2 {
        let refused = document_of_texts(&texts[start..], IdlOptions::default());
        let refused = refused.expect_err("refused").to_string();
        let expected = "c.thrift: line 2, column 9: expected files that do not include each other in a \
                        circle, found b.thrift, which leads here\n";
        assert!(refused.starts_with(expected), "{refused}");
    }
    let itself = document_of_text("include 't.thrift'").expect_err("refused").to_string();
    assert!(itself.contains("in a circle"), "{itself}");
}

#[test]
fn a_string_that_is_not_utf_8_is_refused() {
    let source = bytewright::thrift::idl::SourceText {
        path: "t.thrift".to_owned(),
        bytes: b"const string A = 'caf\xe9'".to_vec(),
    };
    let mut none = |_: &str, _: &str| unreachable!("nothing is included");
    let refused = bytewright::thrift::idl::parse(source, &mut none, IdlOptions::default());
    let refused = refused.expect_err("refused").to_string();
    let expected = "line 1, column 18: expected UTF-8 in a string, found caf\\xe9";
    assert!(refused.contains(expected), "{refused}");
}
