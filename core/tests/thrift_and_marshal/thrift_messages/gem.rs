//! Oracle for reading a message and writing it again: the Ruby gem thrift, if it is installed. Unions
//! and uuids are left out, which the gem reads in a way of its own or not at all.

use std::fmt::Write as _;
use std::io::BufRead;
use std::process::{Command, Stdio};

use bytewright::thrift::{Encoding, StructId, ThriftSchema, Type, WireType};

use super::invent::Inventor;
use super::tree::Tree;
use super::{ENCODINGS, cases, read, twin};
use crate::generate::seeds;
use crate::ruby_process::RubyProcess;

/// The gem in a process of its own.
struct Gem(RubyProcess);

impl Gem {
    /// `None` where the gem is not installed.
    fn start() -> Option<Gem> {
        let there =
            Command::new("ruby").args(["-e", "require 'thrift'"]).stderr(Stdio::null()).status();
        there
            .is_ok_and(|status| status.success())
            .then(|| Gem(RubyProcess::start("thrift_and_marshal/thrift_messages/gem.rb")))
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.0.answers.read_line(&mut line).expect("ruby answers");
        assert!(line.ends_with('\n'), "ruby ended");
        line.trim_end().to_owned()
    }

    /// Makes classes of a schema.
    fn learn(&mut self, schema: &ThriftSchema) {
        let structs = schema.structs().iter().map(|defined| {
            let fields = defined.fields.iter().map(|field| {
                let (kind, name) = (ruby_type(&field.value_type), &field.name);
                format!("{} => {{name: '{name}', {kind}}}", field.id)
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        });
        self.0.tell(&format!("schema [{}]", structs.collect::<Vec<_>>().join(", ")));
    }

    /// Returns what the gem reads, as text, and what it writes for that; `None` for what it cannot write.
    fn read(
        &mut self,
        encoding: Encoding,
        id: StructId,
        bytes: &[u8],
    ) -> (String, Option<Vec<u8>>) {
        self.0.tell(&format!("{} {} {}", format!("{encoding:?}").to_lowercase(), id.0, hex(bytes)));
        let shown = self.answer();
        let written = self.answer();
        (shown, unhex(&written))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes all");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(str::from_utf8(two).ok()?, 16).ok()).collect()
}

/// A type as generated classes say it.
fn ruby_type(value_type: &Type) -> String {
    let number = WireType::of(value_type).number();
    let inside = match value_type {
        Type::Binary => ", binary: true".to_owned(),
        Type::Struct(id) => format!(", class: CLASSES[{}]", id.0),
        Type::List(element) | Type::Set(element) => {
            format!(", element: {{{}}}", ruby_type(element))
        }
        Type::Map(key, value) => {
            format!(", key: {{{}}}, value: {{{}}}", ruby_type(key), ruby_type(value))
        }
        _ => String::new(),
    };
    format!("type: {number}{inside}")
}

/// A value as `gem.rb` shows it: of what came twice the last, sets and maps in an order.
fn shown(tree: &Tree) -> String {
    let all = |trees: &[Tree]| trees.iter().map(shown).collect::<Vec<_>>();
    match tree {
        Tree::Null | Tree::Empty(_) => "nil".to_owned(),
        Tree::Bool(value) => value.to_string(),
        Tree::Int(value) => value.to_string(),
        Tree::Double(bits) => format!("d{bits:016x}"),
        Tree::String(bytes) => format!("s{}", hex(bytes)),
        Tree::Binary(bytes) | Tree::Uuid(bytes) => format!("b{}", hex(bytes)),
        Tree::Struct(_, _, fields) => {
            let mut last: Vec<Option<&Tree>> = vec![None; 100];
            fields.iter().for_each(|(number, tree)| last[*number] = Some(tree));
            let set = last.iter().enumerate().filter_map(|(number, tree)| {
                let tree = tree.filter(|tree| !matches!(tree, Tree::Null | Tree::Empty(_)))?;
                Some(format!("{number}:{}", shown(tree)))
            });
            format!("{{{}}}", set.collect::<Vec<_>>().join(" "))
        }
        Tree::List(elements) => format!("[{}]", all(elements).join(" ")),
        Tree::Set(elements) => {
            let mut elements = all(elements);
            elements.sort();
            elements.dedup();
            format!("<{}>", elements.join(" "))
        }
        Tree::Map(entries) => {
            let last: std::collections::BTreeMap<String, String> =
                entries.iter().map(|(key, value)| (shown(key), shown(value))).collect();
            let entries = last.iter().map(|(key, value)| format!("{key}=>{value}"));
            format!("({})", entries.collect::<Vec<_>>().join(" "))
        }
    }
}

#[test]
fn the_gem_reads_the_same_and_what_it_writes_is_read_as_it_meant_it() {
    let Some(gem) = Gem::start() else {
        eprintln!("gap: the gem thrift is not installed; nothing was compared with it");
        return;
    };
    let gem = std::cell::RefCell::new(gem);
    seeds(cases(150), |random| {
        let gem = &mut *gem.borrow_mut();
        let inventor = Inventor::plain(random);
        gem.learn(&inventor.schema);
        for _ in 0..3 {
            let (id, raw) = inventor.message(random);
            for encoding in ENCODINGS {
                let bytes = twin::encode(encoding, &raw);
                let (found, _) = read(&inventor.plan, encoding, id, &bytes).expect("it is whole");
                let (expected, written) = gem.read(encoding, id, &bytes);
                assert_eq!(shown(&found), expected, "{encoding:?} {}", hex(&bytes));
                if let Some(written) = written {
                    let (again, len) =
                        read(&inventor.plan, encoding, id, &written).expect("the gem's");
                    assert_eq!(shown(&again), expected, "{encoding:?} {}", hex(&written));
                    assert_eq!(len, written.len());
                }
            }
        }
    });
}
