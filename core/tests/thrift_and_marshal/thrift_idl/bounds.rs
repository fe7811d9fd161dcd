//! Texts that ask for much: an error, not memory or time. A text of a few lines must not become
//! gigabytes, and none may use up the stack.

use std::fmt::Write;

use bytewright::thrift::idl::{
    FILES_MAX, IdlOptions, SourceText, TEXT_LEN_MAX, TEXTS_LEN_MAX, VALUE_DEPTH_MAX,
};
use bytewright::thrift::{TYPE_DEPTH_MAX, idl};
use bytewright::{ErrorKind, Result};

use super::document_of_text;

#[track_caller]
fn assert_above_a_bound(text: &str) {
    let start = text.get(..200).unwrap_or(text);
    let error = document_of_text(text).err().unwrap_or_else(|| panic!("accepted: {start}"));
    assert_eq!(error.kind(), ErrorKind::Limit, "{start}: {error}");
    assert!(error.message().contains("at most"), "{error}");
}

fn nested(open: &str, inside: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + inside + &close.repeat(depth)
}

#[test]
fn types_and_values_are_nested_up_to_their_bounds() {
    let of_type = |depth| format!("struct S {{1: {} a}}", nested("list<", "i32", ">", depth));
    document_of_text(&of_type(TYPE_DEPTH_MAX)).expect("as deep as may be");
    assert_above_a_bound(&of_type(TYPE_DEPTH_MAX + 1));
    assert_above_a_bound(&of_type(100_000));
    let of_struct = "struct N {1: list<N> n} const N A = ";
    let of_value = |depth| of_struct.to_owned() + &nested("{'n': [", "", "]}", depth / 2);
    document_of_text(&of_value(VALUE_DEPTH_MAX)).expect("as deep as may be");
    assert_above_a_bound(&of_value(VALUE_DEPTH_MAX + 2));
    for (open, close) in [("[", "]"), ("{1:", "}"), ("[", ""), ("{", "")] {
        assert_above_a_bound(&format!("const list<i32> A = {}", nested(open, "", close, 100_000)));
    }
    let attributes = nested("i32 a xsd_attrs {", "", "}", 50_000);
    assert_above_a_bound(&format!("struct S {{{attributes}}}"));
}

#[test]
fn names_that_double_what_they_stand_for_are_bounded() {
    let mut types = String::from("typedef i32 T0\n");
    for number in 1..100 {
        let before = number - 1;
        writeln!(types, "typedef map<T{before}, T{before}> T{number}").expect("written");
    }
    assert_above_a_bound(&types);

    let doubled = types.lines().take(7).collect::<Vec<_>>().join("\n");
    let wide: String = (1..10_000).map(|id| format!("{id}: T6 f{id}\n")).collect();
    assert_above_a_bound(&format!("{doubled}\nstruct S {{\n{wide}}}"));

    let mut values = String::from("struct N {1: list<N> n}\nconst list<N> A0 = []\n");
    for number in 1..100 {
        let before = number - 1;
        let twice = format!("{{'n': A{before}}}, {{'n': A{before}}}");
        writeln!(values, "const list<N> A{number} = [{twice}]").expect("written");
    }
    assert_above_a_bound(&values);

    let long = "x".repeat(1 << 20);
    let many = "A,".repeat(1 << 16);
    assert_above_a_bound(&format!("const string A = '{long}' const list<string> B = [{many}]"));
}

#[test]
fn rows_of_names_that_stand_for_the_next_are_bounded() {
    let row = |count: usize, line: &dyn Fn(usize) -> String| -> String {
        (0..count).map(|number| line(number) + "\n").collect()
    };
    let forwards = |number| format!("typedef T{} T{number}", number + 1);
    document_of_text(&(row(30, &forwards) + "typedef i32 T30")).expect("a short row");
    assert_above_a_bound(&(row(10_000, &forwards) + "typedef i32 T10000"));
    // Backwards, each is known when it is named.
    let backwards = |number| format!("typedef T{number} T{}", number + 1);
    let text = "typedef i32 T0\n".to_owned() + &row(10_000, &backwards);
    document_of_text(&text).expect("a long row of known ones");

    let values = |number| format!("const list<N> A{} = [{{'n': A{number}}}]", number + 1);
    let start = "struct N {1: list<N> n} const list<N> A0 = []\n";
    document_of_text(&(start.to_owned() + &row(20, &values))).expect("a short row");
    assert_above_a_bound(&(start.to_owned() + &row(10_000, &values)));

    let services = |number| format!("service S{} extends S{number} {{}}", number + 1);
    assert_above_a_bound(&("service S0 {}\n".to_owned() + &row(10_000, &services)));
}

#[test]
fn texts_names_and_files_have_a_longest() {
    assert_above_a_bound(&" ".repeat(TEXT_LEN_MAX + 1));
    document_of_text(&" ".repeat(TEXT_LEN_MAX)).expect("as long as may be");
    assert_above_a_bound(&format!("struct {} {{}}", "a.".repeat(1_000_000) + "a"));
    assert_above_a_bound(&format!("struct {} {{}}", "a".repeat(1_000_000)));
    let many: String = (0..70_000).map(|number| format!("1: i32 f{number},")).collect();
    let refused = document_of_text(&format!("struct S {{{many}}}")).expect_err("same ids");
    assert_eq!(refused.kind(), ErrorKind::Format);
    assert_above_a_bound(&many_fields(70_000));
}

/// More fields than ids are left for.
fn many_fields(count: usize) -> String {
    let id =
        |number: usize| if number < 32_767 { format!("{}:", number + 1) } else { String::new() };
    let fields: String =
        (0..count).map(|number| format!("{} i32 f{number},", id(number))).collect();
    // Arguments of XML have numbers of their own, but one list is one list.
    format!("struct S {{{fields}}}")
}

/// Reads a file that includes as `next` says: a name becomes the text of that file.
fn with_includes(next: impl Fn(&str) -> String) -> Result<idl::Document> {
    let source = |name: &str| SourceText { path: name.to_owned(), bytes: next(name).into_bytes() };
    let mut includes = |name: &str, _: &str| Ok(source(name));
    idl::parse(source("0"), &mut includes, IdlOptions::default())
}

#[test]
fn files_are_bounded_in_number_depth_and_length() {
    let number = |name: &str| name.parse::<usize>().expect("a number");
    let endless = with_includes(|name| format!("include '{}'", number(name) + 1));
    assert_eq!(endless.expect_err("no end").kind(), ErrorKind::Limit);

    let wide = |count: usize| {
        with_includes(|name| match name {
            "0" => (1..=count).map(|number| format!("include '{number}'\n")).collect(),
            _ => "const i32 A = 1".to_owned(),
        })
    };
    assert_eq!(wide(FILES_MAX - 1).expect("as many as may be").programs.len(), FILES_MAX);
    assert_eq!(wide(FILES_MAX).expect_err("too many").kind(), ErrorKind::Limit);

    let long = with_includes(|name| match name {
        "0" => (1..10).map(|number| format!("include '{number}'\n")).collect(),
        _ => " ".repeat(TEXTS_LEN_MAX / 8),
    });
    assert_eq!(long.expect_err("too long").kind(), ErrorKind::Limit);

    // Each file includes all before it: paths between them are without number, files are few.
    let web = with_includes(|name| {
        (number(name) + 1..20).map(|number| format!("include '{number}'\n")).collect()
    });
    assert_eq!(web.expect("few files").programs.len(), 20);
}

#[test]
fn much_of_everything_is_read_in_one_pass() {
    // Twice as much of each takes twice as long, or this takes minutes.
    let mut text = String::from("enum E {");
    (0..20_000).for_each(|number| text += &format!("V{number},"));
    text += "}\nconst list<E> ALL = [";
    (0..20_000).for_each(|number| text += &format!("E.V{number},"));
    text += "]\nconst map<i32, E> MAP = {";
    (0..20_000).for_each(|number| text += &format!("{}: {number},", 20_000 - number));
    text += "}\nstruct S {";
    (1..20_000).for_each(|number| text += &format!("{number}: E f{number} = E.V{number}\n"));
    text += "}\nconst S VALUE = {";
    (1..20_000).for_each(|number| text += &format!("'f{number}': {number},"));
    text += "}\nservice F {";
    (0..5_000).for_each(|number| text += &format!("void f{number}(1: S s)\n"));
    text += "}";
    (0..5_000).for_each(|number| {
        text += &format!("struct T{number} {{1: T{} t}}\n", (number + 1) % 5_000)
    });
    let document = document_of_text(&text).expect("read");
    assert_eq!(document.schema.structs().len(), 15_001);
}
