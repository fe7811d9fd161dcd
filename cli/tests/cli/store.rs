//! `bytewright store`.

use bytewright::table::file::{self, OpenOptions, TableKind};

use crate::run::Folder;

/// Ruby's dump of `{"name" => "Zoë", :tags => [1, nil, 1.5, "\xff".b], 7 => {:a => Place["x", 2]}}`.
const STORE: &[u8] =
    b"\x04\x08{\x08I\"\x09name\x06:\x06ETI\"\x09Zo\xc3\xab\x06;\x00T:\x09tags[\x09i\x060\
    f\x081.5\"\x06\xffi\x0c{\x06:\x06aS:\x0aPlace\x07:\x09townI\"\x06x\x06;\x00T:\x0amilesi\x07";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("app.pstore", STORE);
    folder
}

/// Runs the command, which must succeed; returns what it prints.
fn printed(folder: &Folder, args: &[&str]) -> String {
    let outcome = folder.run(&[&["store"], args].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{args:?}");
    outcome.stdout
}

#[test]
fn roots_are_listed_with_class_and_bytes() {
    let folder = folder();
    assert_eq!(
        printed(&folder, &["roots", "app.pstore"]),
        "\"name\"\tString\t11\n:tags\tArray\t13\n7\tHash\t37\n"
    );
    assert_eq!(
        printed(&folder, &["roots", "app.pstore", "--json", "--limit", "2"]),
        "{\"key\":\"name\",\"class\":\"String\",\"bytes\":11}\n\
         {\"key\":\"tags\",\"class\":\"Array\",\"bytes\":13}\n"
    );
}

#[test]
fn values_are_printed_as_ruby_inspects_them_or_as_json() {
    let folder = folder();
    assert_eq!(
        printed(&folder, &["get", "app.pstore", "7", ":tags", "name"]),
        "{:a=>#<struct Place town=\"x\", miles=2>}\n[1, nil, 1.5, \"\\xff\"]\n\"Zoë\"\n"
    );
    assert_eq!(
        printed(&folder, &["get", "app.pstore", "7", "tags", "name", "--json"]),
        "{\"key\":7,\"value\":{\"a\":{\"class\":\"Place\",\"members\":{\"town\":\"x\",\"miles\":2}}}}\n\
         {\"key\":\"tags\",\"value\":[1,null,1.5,{\"base64\":\"/w==\"}]}\n\
         {\"key\":\"name\",\"value\":\"Zoë\"}\n"
    );
}

#[test]
fn a_key_that_is_not_there_fails_after_those_that_are() {
    let folder = folder();
    let get = folder.run(&["store", "get", "app.pstore", "x", "name"]);
    let missing = "bytewright: app.pstore: no root of the key \"x\"\n";
    assert_eq!((get.code, get.stdout.as_str(), get.stderr.as_str()), (1, "\"Zoë\"\n", missing));
    let get = folder.run(&["store", "get", "app.pstore", ":name", "--json"]);
    assert_eq!((get.code, get.stdout.as_str()), (1, "{\"key\":\":name\",\"value\":null}\n"));
}

#[test]
fn a_string_comes_before_a_symbol_of_the_same_text() {
    let folder = Folder::new();
    folder.write("s", b"\x04\x08{\x08i\x06T:\x061i\x07\"\x061i\x08");
    assert_eq!(printed(&folder, &["get", "s", "1", ":1"]), "3\n2\n");
}

#[test]
fn what_stands_before_damage_is_printed() {
    let folder = folder();
    folder.write("cut", &STORE[..54]);
    let roots = folder.run(&["store", "roots", "cut"]);
    assert_eq!((roots.code, roots.stdout.as_str()), (1, "\"name\"\tString\t-\n:tags\tArray\t-\n"));
    let damage = "bytewright: cut: byte ";
    assert!(roots.stderr.starts_with(damage), "{}", roots.stderr);
    let get = folder.run(&["store", "get", "cut", "tags"]);
    assert_eq!((get.code, get.stdout.as_str()), (1, "[1, nil, 1.5, \"\\xff\"]\n"));
    let check = folder.run(&["store", "check", "cut"]);
    assert_eq!((check.code, check.stdout.as_str()), (1, ""));
    assert!(check.stderr.starts_with("bytewright: cut: damaged behind 2 whole roots\n"));
    assert!(check.stderr.contains(damage), "{}", check.stderr);
}

#[test]
fn a_whole_store_is_said_to_be_whole() {
    let folder = folder();
    folder.write("empty", b"");
    folder.write("trailing", &[STORE, b"junk"].concat());
    assert_eq!(printed(&folder, &["check", "app.pstore"]), "app.pstore: whole, 3 roots\n");
    assert_eq!(printed(&folder, &["check", "empty"]), "empty: whole, 0 roots\n");
    let because = format!("byte {}: expected the end, found more bytes", STORE.len());
    assert_eq!(
        printed(&folder, &["check", "trailing"]),
        format!(
            "trailing: whole, 3 roots\n  4 bytes behind them are not read\n  \
             loaded and written all together: {because}\n"
        )
    );
    assert_eq!(
        printed(&folder, &["check", "trailing", "--json"]),
        format!(
            "{{\"file\":\"trailing\",\"roots\":3,\"trailing_bytes\":4,\"root_by_root\":false,\
             \"because\":\"{because}\"}}\n"
        )
    );
}

#[test]
fn a_file_that_is_not_there_is_not_made() {
    let folder = Folder::new();
    let roots = folder.run(&["store", "roots", "none"]);
    let missing = "bytewright: none: cannot open: No such file or directory\n";
    assert_eq!((roots.code, roots.stderr.as_str()), (1, missing));
    assert!(folder.names().is_empty());
}

#[test]
fn links_to_links_do_not_fill_the_disk() {
    // Arrays of two, each with the next in both places: 2^40 values behind 200 bytes.
    let mut store = b"\x04\x08{\x06:\x06a".to_vec();
    (0..40).for_each(|_| store.extend(b"[\x07"));
    store.push(b'0');
    store.push(b'0');
    for number in (2..41).rev() {
        store.extend([b'@', number + 5]);
    }
    let folder = Folder::new();
    folder.write("bomb", &store);
    let get = folder.run(&["store", "get", "bomb", "a"]);
    assert_eq!(get.code, 1);
    assert!(get.stderr.contains("values with many links"), "{}", get.stderr);
    assert!(get.stdout.len() < 4 << 20);
}

#[test]
fn nothing_that_a_terminal_would_act_on_is_printed() {
    let folder = Folder::new();
    let store = b"\x04\x08{\x06I\"\x08\x1b[1\x06:\x06ETo:\x06A\x06I:\x08@\xc3\xa9\x06;\x00T[\x06I\"\x08\x1b[2\x06;\x00T";
    folder.write("s", store);
    let all = [
        printed(&folder, &["roots", "s"]),
        printed(&folder, &["get", "s", "\u{1b}[1"]),
        printed(&folder, &["get", "s", "\u{1b}[1", "--json"]),
    ];
    assert!(
        all.concat().bytes().all(|byte| byte == b'\n' || byte == b'\t' || byte >= b' '),
        "{all:?}"
    );
}

/// Ruby's dump of a value, without the version.
const NAME: &[u8] = b"I\"\x09Zo\xc3\xab\x06:\x06ET";

#[test]
fn a_path_leads_to_a_value_in_a_root() {
    let folder = folder();
    // {"users" => [nil, {"name" => "Zoë", :name => 1, 2 => 3}], "users.2" => {"x.y" => 4, "x" => {"z" => 5}}}
    let users = b"\x04\x08{\x07\"\x0ausers[\x070{\x08I\"\x09name\x06:\x06ET";
    let rest = b":\x09namei\x06i\x07i\x08\"\x0cusers.2{\x07\"\x08x.yi\x09\"\x06x{\x06\"\x06zi\x0a";
    let name = [&NAME[..NAME.len() - 4], b";\x00T"].concat();
    folder.write("s", &[&users[..], &name, rest].concat());
    for (path, value) in [
        ("users.1.name", "\"Zoë\""),
        ("users.-1.name", "\"Zoë\""),
        ("users.1.:name", "1"),
        ("users.1.2", "3"),
        ("users.0", "nil"),
        ("users.2.x.y", "4"),
        ("users.2.x.z", "5"),
    ] {
        assert_eq!(printed(&folder, &["get", "s", path]), format!("{value}\n"), "{path}");
    }
    assert_eq!(printed(&folder, &["get", "app.pstore", "7.a.town"]), "\"x\"\n");
    assert_eq!(
        printed(&folder, &["get", "s", "users.1.name", "--json"]),
        "{\"key\":\"users.1.name\",\"value\":\"Zoë\"}\n"
    );
    for (path, told) in [
        ("user.1", "no root of the key \"user.1\""),
        ("users.1.age", "no value \"age\" in \"users.1\""),
        ("users.1.name.x", "no value \"x\" in \"users.1.name\""),
        ("users.7", "no value \"7\" in \"users\""),
        ("users.-3", "no value \"-3\" in \"users\""),
    ] {
        let get = folder.run(&["store", "get", "s", path]);
        assert_eq!((get.code, get.stdout.as_str()), (1, ""), "{path}");
        assert_eq!(get.stderr, format!("bytewright: s: {told}\n"));
    }
}

#[test]
fn all_roots_are_printed_a_line_each() {
    let folder = folder();
    assert_eq!(
        printed(&folder, &["get", "app.pstore"]),
        "\"name\"\t\"Zoë\"\n:tags\t[1, nil, 1.5, \"\\xff\"]\n7\t{:a=>#<struct Place town=\"x\", miles=2>}\n"
    );
    assert_eq!(
        printed(&folder, &["get", "app.pstore", "--json"]),
        "{\"key\":\"name\",\"value\":\"Zoë\"}\n\
         {\"key\":\"tags\",\"value\":[1,null,1.5,{\"base64\":\"/w==\"}]}\n\
         {\"key\":7,\"value\":{\"a\":{\"class\":\"Place\",\"members\":{\"town\":\"x\",\"miles\":2}}}}\n"
    );
}

#[test]
fn a_store_that_keeps_each_root_by_itself_is_read_as_any_other() {
    let folder = Folder::new();
    for (name, kind) in [("s.bwh", TableKind::Hashed), ("s.bwt", TableKind::Ordered)] {
        let options = OpenOptions { create: true, ..OpenOptions::default() };
        let mut table = file::open(folder.path(name), Some(kind), options).unwrap();
        // :a => [:b, :b], "c" => "Zoë"; each stream counts its symbols from 0.
        table.as_table_mut().put(b"\x04\x08:\x06a", b"\x04\x08[\x07:\x06b;\x00").unwrap();
        let value = [b"\x04\x08", NAME].concat();
        table.as_table_mut().put(b"\x04\x08I\"\x06c\x06:\x06ET", &value).unwrap();
        drop(table);
        let expected = ":a\tArray\t7\n\"c\"\tString\t12\n";
        let mut roots: Vec<String> =
            printed(&folder, &["roots", name]).lines().map(|line| format!("{line}\n")).collect();
        roots.sort_by_key(|line| line.starts_with('"'));
        assert_eq!(roots.concat(), expected);
        assert_eq!(printed(&folder, &["get", name, "a.1", "c"]), ":b\n\"Zoë\"\n");
        assert_eq!(printed(&folder, &["get", name]).lines().count(), 2);
        assert_eq!(printed(&folder, &["check", name]), format!("{name}: whole, 2 roots\n"));

        let mut table = file::open(folder.path(name), None, OpenOptions::default()).unwrap();
        table.as_table_mut().put(b"\x04\x08i\x06", b"\x04\x08[\x09").unwrap();
        drop(table);
        let check = folder.run(&["store", "check", name]);
        assert_eq!(check.code, 1);
        let told = format!("bytewright: {name}: expected a dumped root, found damage in");
        assert!(check.stderr.starts_with(&told), "{}", check.stderr);
    }
}
