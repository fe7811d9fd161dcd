//! Descriptions of documents, of which faces make classes.

use bytewright::thrift::idl::{Described, IdlOptions};

use super::document_of_texts;

/// A description as text: words behind a colon, lists in brackets.
fn text(described: &Described<'_>) -> String {
    match described {
        Described::Fact(fact) if fact.is_null() => "-".to_owned(),
        Described::Fact(fact) => fact.to_string(),
        Described::Word(word) => format!(":{word}"),
        Described::List(parts) => {
            let parts: Vec<String> = parts.iter().map(text).collect();
            format!("[{}]", parts.join(" "))
        }
    }
}

const MAIN: &str = "namespace py office
namespace rb office
include \"kinds.thrift\"
const map<string, double> RATES = {\"a\": 1.5}
union Either { 1: i32 left, 2: kinds.Kind right }
struct Entry {
  3: required binary blob,
  1: optional list<set<i64>> sets = [[7]],
  2: Either either = {\"right\": kinds.Kind.BIG},
}
service Base {}
service Log extends Base { oneway void add(1: Entry entry), bool has() }
";

#[test]
fn a_description_has_all_that_classes_are_made_of() {
    let texts = [("main.thrift", MAIN), ("kinds.thrift", "enum Kind { SMALL, BIG = 5 }")];
    let document = document_of_texts(&texts, IdlOptions::default()).expect("read");
    let Described::List(parts) = document.described("rb") else { panic!("a list") };
    let parts: Vec<String> = parts.iter().map(text).collect();
    let programs = "[[kinds.thrift kinds - - [] []] \
                    [main.thrift main office 2 [0] [[RATES [13 [11] [4]] [[a 1.5]] 4]]]]";
    let enums = "[[0 Kind [[SMALL 0] [BIG 5]] 1]]";
    let structs = "[[1 Either :union true [[1 left [8] :optional -] [2 right [8 0] :optional -]] 5] \
                   [1 Entry :struct true [[3 blob [111] :required -] \
                   [1 sets [15 [14 [10]]] :optional [[7]]] \
                   [2 either [12 0] :default [[1 5]]]] 6] \
                   [1 add_args :struct false [[1 entry [12 1] :default -]] 12] \
                   [1 add_result :struct false [] 12] \
                   [1 has_args :struct false [] 12] \
                   [1 has_result :struct false [[0 success [2] :default -]] 12]]";
    let services = "[[1 Base - [] 11] [1 Log 0 [[add true false 2 3] [has false true 4 5]] 12]]";
    assert_eq!(parts, [programs, enums, structs, services]);
}
