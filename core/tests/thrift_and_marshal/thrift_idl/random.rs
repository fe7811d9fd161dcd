//! Random texts: valid ones must be read, and mean what the compiler finds in them; damaged ones must
//! come to an end.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bytewright::Error;
use bytewright::thrift::idl::{self, IdlOptions, SourceText};

use super::compiler::{self, Folder};
use super::{as_json, assert_same, corpus, document_of_text};
use crate::generate::{Random, seeds};

/// Returns the number of texts: as many as is usual, times BYTEWRIGHT_TIMES if that is set.
fn cases(usual: u64) -> u64 {
    let times = std::env::var("BYTEWRIGHT_TIMES");
    usual * times.map_or(1, |times| times.parse::<u64>().expect("a number"))
}

#[test]
fn random_texts_mean_what_the_compiler_finds_in_them() {
    let is_compiled = compiler::is_here("random_texts_mean_what_the_compiler_finds_in_them");
    seeds(cases(100), |random| {
        let text = Writer::new(random).text();
        let document = document_of_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        if !is_compiled {
            return;
        }
        let folder = Folder::new();
        let file = folder.file("t.thrift", text.as_bytes());
        let answer = compiler::generate("json", &file, folder.path());
        answer.unwrap_or_else(|why| panic!("{why}\n{text}"));
        let printed = fs::read_to_string(folder.path().join("t.json")).expect("generated JSON");
        assert_same(&text, &as_json::of_main(&document), &as_json::tokens(&printed));
    });
}

#[test]
fn damaged_texts_come_to_an_end() {
    let corpus = corpus();
    let texts = corpus.iter().map(|(_, path)| (path, fs::read(path).expect("a file")));
    let texts: Vec<_> = texts.collect();
    let all: Vec<&[u8]> = texts.iter().map(|(_, text)| text.as_slice()).collect();
    let all = all.concat();
    let mut includes = |name: &str, from: &str| {
        let path = Path::new(from).with_file_name(name);
        let bytes = fs::read(&path).map_err(|error| Error::io("read", &error))?;
        Ok(SourceText { path: path.to_string_lossy().into_owned(), bytes })
    };
    let includes = std::cell::RefCell::new(&mut includes);
    seeds(cases(3000), |random| {
        let (path, text) = &texts[random.below(texts.len())];
        let mut text = text.clone();
        for _ in 0..=random.below(4) {
            damage(&mut text, &all, random);
        }
        let source = SourceText { path: path.to_string_lossy().into_owned(), bytes: text.clone() };
        let began = Instant::now();
        let answer = idl::parse(source, *includes.borrow_mut(), IdlOptions::default());
        // Microseconds are usual; this is what no pause of the machine makes of them.
        assert!(began.elapsed() < Duration::from_secs(20), "{}", String::from_utf8_lossy(&text));
        if let Err(error) = answer {
            assert!(error.file().is_some(), "{error}");
            assert!(!error.message().contains("defect"), "{error}");
        }
    });
}

/// Changes a text at a random place, mostly by what stands elsewhere.
fn damage(text: &mut Vec<u8>, all: &[u8], random: &mut Random) {
    let at = random.below(text.len() + 1);
    let end = (at + random.below(12)).min(text.len());
    let from = random.below(all.len());
    let piece = all[from..(from + random.below(20)).min(all.len())].to_vec();
    match random.below(6) {
        0 => drop(text.drain(at..end)),
        1 => drop(text.splice(at..end, piece)),
        2 => drop(text.splice(at..at, piece)),
        3 => text.truncate(at),
        4 if at < text.len() => text[at] = random.byte(),
        _ => {
            let words: [&[u8]; 8] =
                [b"{", b"}", b" list<", b" 0x7fffffffffffffff ", b"= ", b" a.b ", b"/*", b"'"];
            let word = random.pick(&words).iter().copied();
            drop(text.splice(at..at, word));
        }
    }
}

/// A type that a text uses, with what values of it need.
#[derive(Clone)]
enum Kind {
    Bool,
    Int,
    Double,
    String,
    Enum(String, Vec<String>),
    Struct(Vec<(String, Kind)>),
    List(Box<Kind>),
    Map(Box<Kind>, Box<Kind>),
}

/// Writes a valid text. Names come of numbers, so that none is a word that generators refuse.
struct Writer<'r> {
    random: &'r mut Random,
    text: String,
    /// Types that are defined already, by their names.
    known: Vec<(String, Kind)>,
    /// Structs that are defined at the end, which types may use, but not values.
    later: Vec<String>,
    exceptions: Vec<String>,
    services: Vec<String>,
    consts: Vec<(String, Kind)>,
    names: usize,
}

impl<'r> Writer<'r> {
    fn new(random: &'r mut Random) -> Self {
        Writer {
            random,
            text: String::new(),
            known: Vec::new(),
            later: Vec::new(),
            exceptions: Vec::new(),
            services: Vec::new(),
            consts: Vec::new(),
            names: 0,
        }
    }

    fn text(mut self) -> String {
        for _ in 0..self.random.below(3) {
            let scope = self.random.pick(&["rb", "java", "cpp", "py.twisted", "*"]);
            let name = self.name("space");
            self.put(&format!("namespace {scope} a.{name}"));
        }
        for _ in 0..self.random.below(3) {
            let name = self.name("Later");
            self.later.push(name);
        }
        for _ in 0..self.random.below(14) {
            match self.random.below(7) {
                0 => self.enumeration(),
                1 => self.typedef(),
                2 | 3 => self.structure(),
                4 => self.service(),
                _ => self.constant(),
            }
        }
        for name in std::mem::take(&mut self.later) {
            self.put(&format!("struct {name}"));
            self.fields("{", "}", false);
        }
        self.text
    }

    /// Adds words, and what may stand between words.
    fn put(&mut self, words: &str) {
        self.text += words;
        let between = [
            " ",
            " ",
            " ",
            "\n",
            "\t",
            "\r\n",
            " // x\n",
            " # 'x\n",
            " /* x */ ",
            " /**/",
            " /***/",
        ];
        self.text += self.random.pick(&between);
    }

    fn separator(&mut self) {
        let separator = self.random.pick(&["", ",", ";"]);
        self.put(separator);
    }

    fn name(&mut self, start: &str) -> String {
        self.names += 1;
        format!("{start}{}", self.names)
    }

    fn annotations(&mut self) {
        if !self.random.once_in(6) {
            return;
        }
        self.put("(");
        for _ in 0..self.random.below(3) {
            let annotation = self.random.pick(&["a", "b = 'c'", "d.e = \"\"", "a = 'later'"]);
            self.put(annotation);
            self.separator();
        }
        // The compiler prints no empty ones, and we cannot tell them from none.
        self.put("last)");
    }

    fn enumeration(&mut self) {
        let name = self.name("Enum");
        self.put(&format!("enum {name} {{"));
        let mut values = Vec::new();
        for _ in 0..=self.random.below(5) {
            let value = self.name("V");
            self.put(&value);
            if self.random.once_in(3) {
                let number = self.random.pick(&["0", "5", "-7", "0x1F", "+3", "100000"]);
                self.put(&format!("= {number}"));
            }
            self.annotations();
            self.separator();
            values.push(value);
        }
        self.put("}");
        self.annotations();
        self.known.push((name.clone(), Kind::Enum(name, values)));
    }

    fn typedef(&mut self) {
        let (words, kind) = self.type_of(2);
        let name = self.name("Typedef");
        self.put(&format!("typedef {words} {name}"));
        self.annotations();
        self.separator();
        if let Some(kind) = kind {
            self.known.push((name, kind));
        }
    }

    fn structure(&mut self) {
        let word = self.random.pick(&["struct", "struct", "union", "exception"]);
        let name = self.name("Struct");
        self.put(&format!("{word} {name}"));
        let fields = self.fields("{", "}", word == "struct");
        self.annotations();
        match word {
            "struct" => self.known.push((name, Kind::Struct(fields))),
            "exception" => self.exceptions.push(name),
            _ => {}
        }
    }

    /// Fields, of which those are given back that can be in values.
    fn fields(&mut self, open: &str, close: &str, has_defaults: bool) -> Vec<(String, Kind)> {
        self.put(open);
        let mut fields = Vec::new();
        let mut id = 0;
        for _ in 0..self.random.below(6) {
            id += 1 + self.random.below(3);
            let name = self.name("f");
            if !self.random.once_in(4) {
                self.put(&format!("{id}:"));
            }
            let requiredness = self.random.pick(&["", "", "required", "optional"]);
            self.put(requiredness);
            let (words, kind) = self.type_of(3);
            let reference = if self.random.once_in(8) { "&" } else { "" };
            self.put(&format!("{words} {reference} {name}"));
            if let Some(kind) = kind {
                if has_defaults && self.random.once_in(3) {
                    let value = self.value(&kind, 0);
                    self.put(&format!("= {value}"));
                }
                fields.push((name, kind));
            }
            self.annotations();
            self.separator();
        }
        self.put(close);
        fields
    }

    fn service(&mut self) {
        let name = self.name("Service");
        self.put(&format!("service {name}"));
        if !self.services.is_empty() && self.random.once_in(2) {
            let above = self.services[self.random.below(self.services.len())].clone();
            self.put(&format!("extends {above}"));
        }
        self.put("{");
        for _ in 0..self.random.below(4) {
            let oneway = self.random.once_in(4);
            let (returned, _) = self.type_of(2);
            let returned =
                if oneway || self.random.once_in(3) { "void".to_owned() } else { returned };
            let function = self.name("call");
            let oneway_word = if oneway { self.random.pick(&["oneway", "async"]) } else { "" };
            self.put(&format!("{oneway_word} {returned} {function}"));
            self.fields("(", ")", true);
            if !oneway && !self.exceptions.is_empty() && self.random.once_in(2) {
                let thrown = self.exceptions[self.random.below(self.exceptions.len())].clone();
                self.put(&format!("throws (1: {thrown} e)"));
            }
            self.annotations();
            self.separator();
        }
        self.put("}");
        self.annotations();
        self.services.push(name);
    }

    fn constant(&mut self) {
        let (words, kind) = self.type_of(2);
        let Some(kind) = kind else { return };
        let name = self.name("CONST");
        let value = self.value(&kind, 0);
        self.put(&format!("const {words} {name} = {value}"));
        self.separator();
        // Constants of other kinds cannot be used in 0.17, or are another number there.
        if matches!(kind, Kind::Int | Kind::String) {
            self.consts.push((name, kind));
        }
    }

    /// A type, and what its values need, if there can be any above its definition.
    fn type_of(&mut self, depth: usize) -> (String, Option<Kind>) {
        let plain = |words: &str, kind: Kind| (words.to_owned(), Some(kind));
        match self.random.below(if depth == 0 { 8 } else { 11 }) {
            0 => plain("bool", Kind::Bool),
            1 | 2 => plain(self.random.pick(&["byte", "i8", "i16", "i32", "i64"]), Kind::Int),
            3 => plain("double", Kind::Double),
            4 => plain(self.random.pick(&["string", "binary", "string (a = 'b')"]), Kind::String),
            5 if !self.later.is_empty() => {
                (self.later[self.random.below(self.later.len())].clone(), None)
            }
            5..=7 if !self.known.is_empty() => {
                let (name, kind) = self.known[self.random.below(self.known.len())].clone();
                (name, Some(kind))
            }
            8 | 9 => {
                let (element, kind) = self.type_of(depth - 1);
                let container = self.random.pick(&["list", "set"]);
                (format!("{container}<{element}>"), kind.map(|kind| Kind::List(Box::new(kind))))
            }
            10 => {
                let (key, key_kind) = self.type_of(0);
                let (value, kind) = self.type_of(depth - 1);
                let kinds = key_kind.zip(kind);
                let kinds = kinds.map(|(key, value)| Kind::Map(Box::new(key), Box::new(value)));
                (format!("map < {key} , {value} >"), kinds)
            }
            _ => plain("i32", Kind::Int),
        }
    }

    fn value(&mut self, of: &Kind, depth: usize) -> String {
        let same = |found: &Kind| std::mem::discriminant(found) == std::mem::discriminant(of);
        let usable: Vec<&String> =
            self.consts.iter().filter(|(_, kind)| same(kind)).map(|(name, _)| name).collect();
        if !usable.is_empty() && self.random.once_in(3) {
            return usable[self.random.below(usable.len())].clone();
        }
        let count = if depth > 3 { 0 } else { self.random.below(4) };
        match of {
            Kind::Bool => self.random.pick(&["true", "false", "0", "1"]).to_owned(),
            Kind::Int => {
                let odd = ["0", "-1", "+7", "0x7f", "-0xA", "9223372036854775807", "010"];
                match self.random.once_in(2) {
                    true => self.random.pick(&odd).to_owned(),
                    false => self.random.below(100_000).to_string(),
                }
            }
            Kind::Double => {
                let odd = ["0.5", "-.25", "1e10", "1.5E-7", "3", "+2.0", "0.1", "123456.789"];
                self.random.pick(&odd).to_owned()
            }
            Kind::String => {
                let odd =
                    ["''", "\"\"", "'a\\n\\t\\\\'", "\"it's\"", "'\u{e9} \u{1f980}'", "'/* # //'"];
                match self.random.once_in(2) {
                    true => self.random.pick(&odd).to_owned(),
                    false => format!("'{}'", self.random.below(50)),
                }
            }
            Kind::Enum(name, values) => {
                format!("{name}.{}", values[self.random.below(values.len())])
            }
            Kind::List(element) => {
                let elements: Vec<_> = (0..count).map(|_| self.value(element, depth + 1)).collect();
                format!("[{}]", elements.join(self.random.pick(&[", ", "; ", " "])))
            }
            Kind::Map(key, value) => {
                let entries: Vec<_> = (0..count)
                    .map(|_| {
                        format!("{}: {}", self.value(key, depth + 1), self.value(value, depth + 1))
                    })
                    .collect();
                format!("{{{}}}", entries.join(self.random.pick(&[", ", "; ", " "])))
            }
            Kind::Struct(fields) => {
                let some = fields.iter().filter(|_| depth < 4 && self.random.once_in(2));
                let some: Vec<_> = some.cloned().collect();
                let values = some
                    .iter()
                    .map(|(name, kind)| format!("'{name}': {}", self.value(kind, depth + 1)));
                format!("{{{}}}", values.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
