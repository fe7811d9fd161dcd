//! Goal: the layers of the core stay as ARCHITECTURE.md draws them, and what must hold for a whole
//! module holds in each of its files.
//!
//! Method: the sources are read as text, without comments and without items that are for tests only; every
//! path that begins with `crate::` or climbs out of its module with `super::` is an arrow, and an arrow must be
//! in the table, which is compared with the drawing. A new arrow is a reviewed edit of both.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Modules of the core that a module may use, beside itself.
const MAY_USE: &[(&str, &[&str])] = &[
    ("terminal", &[]),
    ("error", &["terminal"]),
    ("spelling", &[]),
    ("options", &["spelling", "error"]),
    ("forks", &[]),
    ("panics", &["forks"]),
    ("threads", &[]),
    ("workers", &["threads", "panics", "error"]),
    ("wire", &["error"]),
    ("batch", &["options", "spelling", "terminal", "panics", "error"]),
    ("heap", &["wire", "error"]),
    ("capture", &["wire", "error"]),
    ("packet", &["batch", "wire", "error"]),
    ("marshal", &["wire", "forks", "error"]),
    ("thrift", &["batch", "wire", "terminal", "error"]),
    ("bytes", &["wire", "workers", "forks", "error"]),
    ("files", &["heap", "wire", "forks", "error"]),
    ("labels", &["packet", "bytes", "error"]),
    ("query", &["options", "spelling", "batch", "error"]),
    (
        "table",
        &[
            "options", "bytes", "files", "heap", "batch", "wire", "threads", "panics", "forks",
            "error",
        ],
    ),
    (
        "export",
        &["options", "capture", "table", "bytes", "batch", "files", "threads", "panics", "error"],
    ),
    ("pstore", &["table", "marshal", "files", "wire", "error"]),
    ("flow", &["options", "packet", "batch", "error"]),
    ("tcp", &["packet", "error"]),
    ("rpc", &["tcp", "thrift", "packet", "query", "batch", "error"]),
    ("sums", &["batch", "flow", "rpc", "packet", "table", "files", "wire", "error"]),
    (
        "input",
        &[
            "options", "capture", "labels", "packet", "query", "files", "bytes", "wire", "workers",
            "forks", "error",
        ],
    ),
    (
        "ask",
        &[
            "options", "input", "sums", "export", "query", "rpc", "thrift", "flow", "packet",
            "capture", "bytes", "batch", "wire", "workers", "spelling", "error",
        ],
    ),
    (
        "report",
        &[
            "options", "input", "export", "query", "rpc", "flow", "packet", "files", "batch",
            "error",
        ],
    ),
    (
        "host",
        &[
            "options", "report", "ask", "input", "sums", "rpc", "thrift", "flow", "packet",
            "table", "export", "query", "bytes", "files", "batch", "wire", "threads", "panics",
            "forks", "error",
        ],
    ),
];

/// The files that may hold `unsafe`: records in memory that never moves, memory that is mapped, the signal that says that
/// mapped memory is missing, words that processes share, pages that one writer changes, memory that the system writes to first,
/// structs that other languages take over, the signals of a thread, what a fork waits for, and one C library each.
const UNSAFE_FILES: &[&str] = &[
    "forks.rs",
    "heap/memory.rs",
    "heap/prefetch.rs",
    "heap/segment.rs",
    "bytes/isal.rs",
    "files/bus_guard.rs",
    "files/file_end.rs",
    "files/mapping.rs",
    "files/no_bus_guard.rs",
    "files/page_map.rs",
    "files/shared_area/kernel.rs",
    "table/file/tree_table/transaction.rs",
    "table/file/tree_table/tree_file.rs",
    "bytes/read_at.rs",
    "bytes/zlib.rs",
    "batch/arrow.rs",
    "input/device.rs",
    "input/libpcap.rs",
    "threads.rs",
];

/// Ways to start a thread, of which only `threads.rs` has one: it blocks the signals there, and forks wait for no lock of it.
const THREADS_STARTED: &[&str] =
    &["thread::Builder", "thread::spawn", "thread::scope", "pthread_create"];

/// Types that stay locked for ever in a forked child if they stand in a static and a thread held them at the fork.
const BLOCKING: &[&str] =
    &["Mutex", "RwLock", "Condvar", "Once", "OnceLock", "LazyLock", "Lazy", "OnceCell"];

/// The file that takes care of that.
const FORKS: &str = "forks.rs";

/// Modules that work in memory only: no input or output, no waiting.
const IN_MEMORY: &[&str] = &["capture", "packet", "marshal", "thrift", "flow", "tcp", "rpc"];

/// Names that these modules never use.
const NOT_IN_MEMORY: &[&str] = &[
    "std::io",
    "std::fs",
    "std::net::Tcp",
    "std::net::Udp",
    "std::thread",
    "std::process",
    "std::env",
];

/// Modules that are bytes in, values out, and that no input makes panic.
const DECODERS: &[&str] = &["capture", "packet", "marshal", "thrift", "tcp", "rpc"];

/// Ways to panic that clippy's list for the workspace does not deny.
const PANICS: &[&str] = &[
    "unreachable!",
    "unimplemented!",
    "assert!",
    "assert_eq!",
    "assert_ne!",
    ".unwrap()",
    ".expect(",
];

/// Names that several types of the core have, since these are the same thing to whoever uses them, and why.
const SHARED_NAMES: &[(&str, &str)] = &[
    ("Device", "in a build for a system and in one for WebAssembly, which has none"),
    ("DevicePacket", "in a build for a system and in one for WebAssembly, which has none"),
    ("Effort", "in a build for a system and in one for WebAssembly, which has none"),
    ("FileWriter", "in a build for a system and in one for WebAssembly, which has none"),
    ("FilterProgram", "in a build for a system and in one for WebAssembly, which has none"),
    ("HashScan", "of a table in memory and of one in a file"),
    ("HashSnapshot", "of a table in memory and of one in a file"),
    ("HashTable", "in memory and in a file: one interface"),
    ("IndexFile", "in a build for a system and in one for WebAssembly, which has none"),
    ("IndexPlace", "in a build for a system and in one for WebAssembly, which has none"),
    ("Inflate", "in a build for a system and in one for WebAssembly, which has none"),
    ("JoinHandle", "in a build for a system and in one for WebAssembly, which has none"),
    ("NewIndexFile", "in a build for a system and in one for WebAssembly, which has none"),
    ("OutputOptions", "in a build for a system and in one for WebAssembly, which has none"),
    ("ParquetFile", "in a build with Parquet and in one without"),
    ("RowWriter", "of CSV and of JSON: one interface"),
    ("Savepoint", "of a table in memory and of one in a file"),
    ("Statistics", "in a build for a system and in one for WebAssembly, which has none"),
    ("TreeScan", "of a table in memory and of one in a file"),
    ("TreeTable", "in memory and in a file: one interface"),
];

/// Keywords that define a type.
const TYPE_KEYWORDS: &[&str] = &["struct", "enum", "trait", "union"];

/// Beginnings of words in front of them, `pub(in super::super)` among them.
const BEFORE_KEYWORDS: &[&str] = &["pub", "crate", "super", "unsafe"];

/// The languages that have, or may have, a face.
const HOST_LANGUAGES: &[&str] = &["ruby", "magnus", "rb_sys", "python", "pyo3", "perl", "duckdb"];

/// Modules of the Ruby face that its classes stand on.
const BELOW_CLASSES: &[&str] = &["border", "class", "error", "host", "memory_report", "turn"];

/// A source file.
struct Source {
    /// Its path below `src`, with `/` on every system.
    path: String,
    code: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        Source { path: path.to_owned(), code: code_of(text) }
    }

    /// The module of the core it belongs to; the crate root, which names all modules, is none.
    fn module(&self) -> Option<&str> {
        let name = self.path.split('/').next()?.trim_end_matches(".rs");
        (name != "lib").then_some(name)
    }
}

/// The text without comments, so that words about code are not taken for code, and without items that carry
/// `#[cfg(test)]`.
fn code_of(text: &str) -> String {
    let (mut code, mut plain) = code_and_plain(text);
    while let Some(start) = plain.find(TESTS_ONLY) {
        let end = start + item_len(&plain[start..]);
        code.replace_range(start..end, "");
        plain.replace_range(start..end, "");
    }
    code
}

const TESTS_ONLY: &str = "#[cfg(test)]";

/// Returns the length of an item with its attributes, in text without comments and quotes: to the `;` or the closing
/// brace that ends it.
fn item_len(plain: &str) -> usize {
    let mut open = Vec::new();
    for (at, c) in plain.char_indices() {
        match c {
            '(' | '[' | '{' => open.push(c),
            ')' | ']' => drop(open.pop()),
            '}' => {
                open.pop();
                if open.is_empty() {
                    return at + 1;
                }
            }
            ';' if open.is_empty() => return at + 1,
            _ => {}
        }
    }
    plain.len()
}

/// Kind of a piece of source text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Comment,
    /// Text between the quotes of a string or of a character.
    Quote,
}

/// The text with spaces for the bytes of comments, and the same with spaces for those of quotes, too.
fn code_and_plain(text: &str) -> (String, String) {
    let (mut code, mut plain) = (String::new(), String::new());
    let mut rest = text;
    while !rest.is_empty() {
        let (part, len) = first_part(rest, code.chars().next_back());
        let (first, behind) = rest.split_at(len);
        let spaces = || first.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' });
        match part {
            Part::Comment => code.extend(spaces()),
            Part::Code | Part::Quote => code.push_str(first),
        }
        match part {
            Part::Code => plain.push_str(first),
            Part::Comment | Part::Quote => plain.extend(spaces()),
        }
        rest = behind;
    }
    (code, plain)
}

/// Returns the kind of the first part of the text, and its bytes; `before` is the character in front of it.
fn first_part(text: &str, before: Option<char>) -> (Part, usize) {
    let may_begin = ['/', '"', '\'', 'r', 'b'];
    if !text.starts_with(may_begin) {
        return (Part::Code, text.find(may_begin).unwrap_or(text.len()));
    }
    let is_in_name = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let raw = text.strip_prefix('b').unwrap_or(text).strip_prefix('r').filter(|_| !is_in_name);
    let hashes = raw.map_or(0, |raw| raw.len() - raw.trim_start_matches('#').len());
    if text.starts_with("//") {
        (Part::Comment, text.find('\n').unwrap_or(text.len()))
    } else if text.starts_with("/*") {
        (Part::Comment, block_comment_len(text))
    } else if raw.is_some_and(|raw| raw[hashes..].starts_with('"')) {
        let begin = text.find('"').map_or(0, |at| at + 1);
        let end = format!("\"{}", "#".repeat(hashes));
        (Part::Quote, text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len()))
    } else if text.starts_with('"') {
        (Part::Quote, quoted_len(text, '"'))
    } else if text.starts_with('\'') && !is_lifetime(text) {
        (Part::Quote, quoted_len(text, '\''))
    } else {
        (Part::Code, 1)
    }
}

fn is_lifetime(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    let begins_name = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    begins_name && chars.next() != Some('\'')
}

/// To behind the closing quote, over what a backslash escapes.
fn quoted_len(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// To behind the end of a comment that may hold others.
fn block_comment_len(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        depth += i32::from(rest.starts_with(b"/*"));
        depth -= i32::from(rest.starts_with(b"*/"));
        at += if rest.starts_with(b"/*") || rest.starts_with(b"*/") { 2 } else { 1 };
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The sources of the core, read once.
fn sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| sources_below("src"));
    &SOURCES
}

/// The sources in a folder, which is named as seen from this crate.
fn sources_below(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let below = path.strip_prefix(&root).expect("a path below it");
                let name = below.to_string_lossy().replace('\\', "/");
                found.push(Source::new(&name, &fs::read_to_string(&path).expect("UTF-8")));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Every rule that a source breaks, as a sentence each.
fn breaches(source: &Source) -> Vec<String> {
    let Some(module) = source.module() else { return Vec::new() };
    let mut breaches = Vec::new();
    let Some((_, may_use)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
        return vec![format!("{}: the module {module} is not in the table", source.path)];
    };
    for used in modules_used(source) {
        if used != module && !may_use.contains(&used.as_str()) {
            breaches.push(format!("{}: {module} uses {used}", source.path));
        }
    }
    let mut forbid = |words: &[&str], why: &str| {
        for word in words.iter().filter(|word| has_word(&source.code, word)) {
            breaches.push(format!("{}: {why} {word}", source.path));
        }
    };
    if IN_MEMORY.contains(&module) {
        forbid(NOT_IN_MEMORY, "what works in memory names");
    }
    if DECODERS.contains(&module) {
        forbid(PANICS, "a decoder can panic with");
    }
    if !UNSAFE_FILES.contains(&source.path.as_str()) {
        forbid(&["unsafe", "allow(unsafe_code)"], "only the named files may hold");
    }
    if module != "threads" {
        forbid(THREADS_STARTED, "only `threads` may name");
    }
    if source.path != FORKS {
        breaches.extend(blocking_statics(source));
    }
    let small = source.code.to_lowercase();
    for language in HOST_LANGUAGES.iter().filter(|language| has_word(&small, language)) {
        breaches.push(format!("{}: the core names {language}", source.path));
    }
    breaches
}

/// Statics that a forked child may find locked for ever; those of `forks` it does not.
fn blocking_statics(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in source.code.match_indices("static ") {
        let is_item =
            !source.code[..at].ends_with(|c: char| c.is_alphanumeric() || "_'".contains(c));
        let item = &source.code[at + word.len()..];
        let declared = &item[..item.find(['=', ';']).unwrap_or(item.len())];
        if is_item && let Some(word) = BLOCKING.iter().find(|word| has_word(declared, word)) {
            found.push(format!("{}: a static with {word}, which {FORKS} has for", source.path));
        }
    }
    found
}

/// Returns true if `word` stands in `code` and is no part of a longer name.
fn has_word(code: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let begins = !word.starts_with(is_name) || !code[..at].ends_with(is_name);
        let ends = !word.ends_with(is_name) || !code[at + word.len()..].starts_with(is_name);
        begins && ends
    })
}

/// The modules of the core that a source names by a path, with `crate::` or out of its module by
/// `super::`.
fn modules_used(source: &Source) -> Vec<String> {
    let code: String = source.code.split_whitespace().collect::<Vec<_>>().join(" ");
    let code = code.replace(":: ", "::").replace(" ::", "::");
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            used.extend(first_names(&code[at + "crate::".len()..]));
        }
    }
    let depth = source.path.trim_end_matches("/mod.rs").matches('/').count();
    let out = "super::".repeat(depth + 1);
    for (at, _) in code.match_indices(&out) {
        used.extend(first_names(&code[at + out.len()..]));
    }
    let root = ["Error", "ErrorKind", "Result"];
    used.iter_mut().filter(|name| root.contains(&name.as_str())).for_each(|name| {
        // These the crate root takes from there.
        *name = "error".to_owned();
    });
    used.sort();
    used.dedup();
    used
}

/// The first name of a path, or of each path in braces.
fn first_names(path: &str) -> Vec<String> {
    let name = |path: &str| -> String {
        path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(inside) = path.strip_prefix('{') else { return vec![name(path)] };
    let mut names = Vec::new();
    let (mut depth, mut begins) = (0, 0);
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&inside[begins..at]));
                begins = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn every_module_uses_only_what_lies_below_it() {
    let sources = sources();
    assert!(sources.len() > 20, "the sources were found");
    let breaches: Vec<String> = sources.iter().flat_map(breaches).collect();
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
}

#[test]
fn no_static_of_the_c_library_can_block_a_forked_child() {
    let found: Vec<String> =
        sources_below("../c/ext/bytewright/src").iter().flat_map(blocking_statics).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_table_has_no_circle() {
    // A module may use only modules that come before it.
    for (index, (module, uses)) in MAY_USE.iter().enumerate() {
        for used in *uses {
            let before = &MAY_USE[..index];
            assert!(before.iter().any(|(name, _)| name == used), "{module} uses {used}");
        }
    }
}

#[test]
fn the_border_of_the_ruby_face_uses_no_class_above_it() {
    let mut found = Vec::new();
    for source in sources_below("../ruby/ext/bytewright/src") {
        if source.module().is_some_and(|module| BELOW_CLASSES.contains(&module)) {
            let used = modules_used(&source).into_iter();
            found.extend(
                used.filter(|used| !BELOW_CLASSES.contains(&used.as_str()))
                    .map(|used| (source.path.clone(), used)),
            );
        }
    }
    assert_eq!(found, Vec::<(String, String)>::new());
}

#[test]
fn the_border_of_the_python_face_has_all_its_unsafe_and_uses_nothing_above_it() {
    for source in sources_below("../python/ext/bytewright/src") {
        if source.module() == Some("border") {
            let above: Vec<String> =
                modules_used(&source).into_iter().filter(|used| used != "border").collect();
            assert_eq!(above, Vec::<String>::new(), "{}", source.path);
        } else {
            assert!(!has_word(&source.code, "unsafe"), "{}", source.path);
        }
    }
}

#[test]
fn the_borders_of_the_page_and_of_duckdb_have_all_their_unsafe() {
    for face in ["page", "duckdb"] {
        let sources = sources_below(&format!("../{face}/ext/bytewright/src"));
        assert!(sources.iter().any(|source| has_word(&source.code, "unsafe")), "{face}: no border");
        for source in sources.iter().filter(|source| source.module() != Some("border")) {
            assert!(!has_word(&source.code, "unsafe"), "{face}: {}", source.path);
        }
    }
}

#[test]
fn the_drawing_in_architecture_is_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md");
    let drawn = drawn_layers(&fs::read_to_string(page).expect("UTF-8"));
    let table: BTreeMap<String, Vec<String>> = MAY_USE
        .iter()
        .map(|(module, uses)| (module.to_string(), uses.iter().map(ToString::to_string).collect()))
        .collect();
    for (module, uses) in &drawn {
        assert_eq!(Some(uses), table.get(module), "{module} in ARCHITECTURE.md and in the table");
    }
    assert_eq!(drawn.len(), table.len(), "a module of the table is not drawn");
}

/// Returns the modules that each module of the core may use, as the block below "## Layers" draws them:
/// `name ▶ uses   what it is`, with more uses in lines that have no arrow.
fn drawn_layers(page: &str) -> BTreeMap<String, Vec<String>> {
    let (_, layers) = page.split_once("## Layers").expect("the heading");
    let (layers, _) = layers.split_once("\n## ").expect("the next heading");
    let (_, core) = layers.split_once("────\n").expect("a line above the core");
    let mut drawn: Vec<(String, Vec<String>)> = Vec::new();
    for line in core.lines().take_while(|line| line.starts_with("    ")) {
        let (module, right) =
            line.split_once('▶').map_or((None, line), |(m, uses)| (Some(m), uses));
        if let Some(module) = module {
            drawn.push((module.trim().to_owned(), Vec::new()));
        }
        let uses = right.trim_start().split("  ").next().unwrap_or_default();
        let uses =
            uses.split(' ').filter(|used| !matches!(*used, "nothing" | "")).map(str::to_owned);
        drawn.last_mut().expect("a module").1.extend(uses);
    }
    drawn.into_iter().collect()
}

#[test]
fn a_forbidden_use_is_found_however_it_is_written() {
    for (path, text) in [
        ("packet/link/mpls.rs", "use crate::bytes::ByteStream;"),
        ("packet/mod.rs", "use crate::{Error, bytes::{ByteStream, Source}, wire::Reader};"),
        ("packet/mod.rs", "use crate::{\n    wire::{Endian, Reader},\n    input,\n};"),
        ("packet/mod.rs", "fn f() -> crate::bytes::ByteStream { todo() }"),
        ("packet/mod.rs", "use super::bytes::ByteStream;"),
        ("packet/net/ipv4.rs", "use super::super::super::table::Row;"),
        ("wire.rs", "pub use crate::capture::Step;"),
        ("error.rs", "use crate::wire::Reader;"),
        ("bytes/byte_stream.rs", "use crate :: packet :: Packet;"),
        ("mystery.rs", "fn f() {}"),
        ("wire.rs", "#[cfg(test)]\nfn len() -> u8 { b'}' }\nuse crate::packet::Packet;"),
        ("wire.rs", "#[cfg(test)]\nuse crate::ask::info;\nuse crate::packet::Packet;"),
        (
            "wire.rs",
            "#[cfg(test)]\n#[allow(x)]\nmod tests { fn f<'a>() { r#\"}\"#; } }\nuse crate::input;",
        ),
        ("wire.rs", "const URL: &str = \"http://a\"; use crate::input;"),
    ] {
        assert_eq!(breaches(&Source::new(path, text)).len(), 1, "{path}: {text}");
    }
}

#[test]
fn what_decoders_and_the_core_never_name_is_found() {
    for (path, text) in [
        ("capture/mod.rs", "use std::fs::File;"),
        ("packet/mod.rs", "fn f() { std::thread::yield_now() }"),
        ("packet/mod.rs", "fn f(x: u8) { assert!(x > 0) }"),
        ("packet/mod.rs", "fn f() { unsafe { g() } }"),
        ("bytes/source.rs", "#![allow(unsafe_code)]"),
        ("input/prefetch.rs", "fn f() { std::thread::spawn(g); }"),
        ("workers.rs", "use std::thread::Builder;"),
        ("input/mod.rs", "/* for */ use magnus::Ruby;"),
        ("input/mod.rs", "fn f() { static ONCE: std::sync::Once = std::sync::Once::new(); }"),
        ("input/mod.rs", "static ALL: OnceLock<&'static str> = OnceLock::new();"),
    ] {
        assert!(!breaches(&Source::new(path, text)).is_empty(), "{path}: {text}");
    }
}

#[test]
fn what_is_allowed_is_not_found() {
    for (path, text) in [
        ("packet/mod.rs", "//! Never std::fs, never unsafe.\nuse crate::wire::Reader;"),
        ("packet/mod.rs", "use crate::{Error, Result};\nuse std::net::{IpAddr, Ipv4Addr};"),
        ("packet/net/arp.rs", "use super::super::link::ethertype;\nuse super::Walk;"),
        ("packet/mod.rs", "fn f() { debug_assert!(true) }"),
        ("bytes/isal.rs", "unsafe fn f() {}"),
        (
            "bytes/isal.rs",
            "static ALL: ProcessValue<u8> = ProcessValue::new(); struct S { a: &'static Mutex<u8> }",
        ),
        ("wire.rs", "fn f() {}\n#[cfg(test)]\nmod tests { use crate::packet::Packet; }"),
        (
            "wire.rs",
            "#[cfg(test)]\nmod tests { const BRACE: char = '}'; use crate::packet::Packet; }",
        ),
        ("wire.rs", "/* crate::input /* crate::table */ crate::flow */ fn f() {}"),
    ] {
        assert_eq!(breaches(&Source::new(path, text)), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn a_name_of_a_type_is_used_once() {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in sources() {
        for name in types_defined(&source.code) {
            files.entry(name).or_default().push(&source.path);
        }
    }
    assert!(files.len() > 500, "the types were found");
    files.retain(|_, files| files.len() > 1);
    let expected: Vec<&str> = SHARED_NAMES.iter().map(|(name, _)| *name).collect();
    let found: Vec<&str> = files.keys().copied().collect();
    assert_eq!(found, expected, "names of several types, and the list of those allowed: {files:?}");
    let code = "pub(in crate::a) struct A<T>(T);\n    enum B {}\npub unsafe trait C {}\nunion D {}";
    assert_eq!(types_defined(code), ["A", "B", "C", "D"]);
    assert!(types_defined("type A = u8;\nimpl A {}\nlet union = a;\nfn f(a: A) {}").is_empty());
}

/// The names of the types that a source defines, each in a line that begins with its definition.
fn types_defined(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in code.lines() {
        let mut words = line
            .split_whitespace()
            .skip_while(|word| BEFORE_KEYWORDS.iter().any(|beginning| word.starts_with(beginning)));
        if words.next().is_some_and(|word| TYPE_KEYWORDS.contains(&word))
            && let Some(rest) = words.next()
            && rest.starts_with(|c: char| c.is_ascii_uppercase())
        {
            let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            found.push(&rest[..len.unwrap_or(rest.len())]);
        }
    }
    found
}

#[test]
fn every_file_that_may_hold_unsafe_is_there() {
    let sources = sources();
    for file in UNSAFE_FILES {
        assert!(sources.iter().any(|source| source.path == *file), "{file}");
    }
}

#[test]
fn decoders_index_by_constants_only() {
    for source in sources() {
        if source.module().is_some_and(|module| DECODERS.contains(&module)) {
            let indexed = variable_indices(&source.code);
            assert!(indexed.is_empty(), "{}: {indexed:?}", source.path);
        }
    }
    assert_eq!(variable_indices("let x = bytes[at];"), ["bytes[at]"]);
    assert_eq!(variable_indices("let x = rest[2..n].len();"), ["rest[2..n]"]);
    assert!(variable_indices("let x = [a, b]; #[inline] x[12..16]; x[..]; &mut [u8]").is_empty());
}

/// Indexing with anything but numbers: what the eye has to prove cannot be out of bounds.
fn variable_indices(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices('[') {
        let before = &code[..at];
        let is_index =
            before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'));
        let Some(len) = code[at..].find(']') else { continue };
        let index = &code[at + 1..at + len];
        let is_constant = index.chars().all(|c| c.is_ascii_digit() || c == '.');
        if is_index && !is_constant {
            let name = before.rfind(|c: char| !(c.is_alphanumeric() || c == '_'));
            found.push(code[name.map_or(0, |at| at + 1)..=at + len].to_owned());
        }
    }
    found
}
