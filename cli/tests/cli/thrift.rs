//! `bytewright thrift`: messages that the core's writers made, printed by an IDL file.

use std::io::Write as _;
use std::process::Stdio;

use bytewright::thrift::{
    BinaryWriter, CompactWriter, MessageKind, ProtocolResult, Strictness, WireType, Write,
};

use crate::capture::gzip;
use crate::run::{Folder, Outcome, outcome};

const IDL: &str = "
include 'shared.thrift'
enum Kind { SMALL = 1, LARGE = 2 }
struct Inner { 1: i32 id, 2: string name }
union Choice { 1: i32 number, 2: string text }
exception Failure { 1: string message }
typedef Inner Renamed
struct LikeHeader { 8: bool first, 10: bool second, 11: string text }
struct All {
  1: bool flag, 2: i64 large, 3: double real, 4: string text, 5: binary blob, 6: Kind kind,
  7: Inner inner, 8: list<i32> ints, 9: list<Inner> inners, 10: set<string> tags,
  11: map<string, i32> by_name, 12: map<i32, Inner> by_id, 13: map<Inner, bool> by_inner,
  14: Choice choice, 15: list<double> reals, 16: list<bool> truths, 17: list<Kind> kinds,
  18: uuid id, 19: map<Kind, string> by_kind, 20: map<binary, i32> by_bytes
}
service Adder {
  i32 add(1: i32 a, 2: i32 b) throws (1: Failure failure),
  oneway void note(1: Inner inner)
}
service Other { void add(1: string text) }
";

const DECODE: &[&str] = &["thrift", "decode", "m", "--idl", "s.thrift"];

/// Bytes that `write` wrote in both protocols, with the options that read them.
fn both(write: impl Fn(&mut dyn Write) -> ProtocolResult<()>) -> [(&'static str, Vec<u8>); 2] {
    let mut binary = BinaryWriter::new(Strictness::Strict);
    let mut compact = CompactWriter::new();
    write(&mut binary).unwrap();
    write(&mut compact).unwrap();
    [("binary", binary.bytes().to_vec()), ("compact", compact.bytes().to_vec())]
}

/// Bytes that `write` wrote in Binary.
fn binary(write: impl Fn(&mut dyn Write) -> ProtocolResult<()>) -> Vec<u8> {
    let [(_, bytes), _] = both(write);
    bytes
}

fn inner(to: &mut dyn Write, id: i32, name: &str) -> ProtocolResult<()> {
    to.struct_begin()?;
    to.field(WireType::I32, 1);
    to.i32(id);
    to.field(WireType::STRING, 2);
    to.string(name.as_bytes())?;
    to.struct_end();
    Ok(())
}

fn framed(messages: &[Vec<u8>]) -> Vec<u8> {
    let frames = messages.iter().map(|message| {
        let len = u32::try_from(message.len()).unwrap().to_be_bytes();
        [&len[..], message].concat()
    });
    frames.collect::<Vec<_>>().concat()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.thrift", IDL.as_bytes());
    folder.write("shared.thrift", b"struct Shared { 1: i32 number }");
    folder
}

/// Runs the command on a file `m` of these bytes, with more options.
fn decode(folder: &Folder, bytes: &[u8], options: &[&str]) -> Outcome {
    folder.write("m", bytes);
    folder.run(&[DECODE, options].concat())
}

fn all(to: &mut dyn Write) -> ProtocolResult<()> {
    to.struct_begin()?;
    to.field(WireType::BOOL, 1);
    to.bool(true);
    to.field(WireType::I64, 2);
    to.i64((1 << 53) + 1);
    to.field(WireType::DOUBLE, 3);
    to.double(1.5);
    to.field(WireType::STRING, 4);
    to.string("grün \"x\"".as_bytes())?;
    to.field(WireType::STRING, 5);
    to.string(b"ab")?;
    to.field(WireType::I32, 6);
    to.i32(2);
    to.field(WireType::STRUCT, 7);
    inner(to, 7, "seven")?;
    to.field(WireType::LIST, 8);
    to.list(WireType::I32, 2)?;
    to.i32(1);
    to.i32(-1);
    to.container_end();
    to.field(WireType::LIST, 9);
    to.list(WireType::STRUCT, 1)?;
    inner(to, 9, "nine")?;
    to.container_end();
    to.field(WireType::SET, 10);
    to.set(WireType::STRING, 2)?;
    to.string(b"x")?;
    to.string(b"y")?;
    to.container_end();
    to.field(WireType::MAP, 11);
    to.map(WireType::STRING, WireType::I32, 1)?;
    to.string(b"k")?;
    to.i32(3);
    to.container_end();
    to.field(WireType::MAP, 12);
    to.map(WireType::I32, WireType::STRUCT, 1)?;
    to.i32(12);
    inner(to, 12, "twelve")?;
    to.container_end();
    to.field(WireType::STRUCT, 14);
    to.struct_begin()?;
    to.field(WireType::STRING, 2);
    to.string(b"chosen")?;
    to.struct_end();
    to.field(WireType::STRING, 99);
    to.string(b"unknown to the IDL")?;
    to.struct_end();
    Ok(())
}

#[test]
fn a_struct_is_printed_nested_for_people() {
    let folder = folder();
    for (protocol, bytes) in both(all) {
        let options = ["--type", "All", "--protocol", protocol];
        let stdout = decode(&folder, &bytes, &options).stdout_of_success();
        let expected = "\
byte 0: All {
  flag: true
  large: 9007199254740993
  real: 1.5
  text: \"grün \\\"x\\\"\"
  blob: \"ab\"
  kind: LARGE
  inner: Inner {
    id: 7
    name: \"seven\"
  }
  ints: [1, -1]
  inners: [
    Inner {
      id: 9
      name: \"nine\"
    }
  ]
  tags: {\"x\", \"y\"}
  by_name: {\"k\": 3}
  by_id: {
    12: Inner {
      id: 12
      name: \"twelve\"
    }
  }
  choice: Choice {
    text: \"chosen\"
  }
}
";
        assert_eq!(stdout, expected, "{protocol}");
    }
}

#[test]
fn json_has_a_struct_a_line() {
    let folder = folder();
    for (protocol, bytes) in both(all) {
        let options = ["--type", "All", "--json", "--protocol", protocol];
        let stdout = decode(&folder, &[&bytes[..], &bytes].concat(), &options).stdout_of_success();
        let expected = "{\"flag\":true,\"large\":9007199254740993,\"real\":1.5,\
            \"text\":\"grün \\\"x\\\"\",\"blob\":{\"base64\":\"YWI=\"},\"kind\":\"LARGE\",\
            \"inner\":{\"id\":7,\"name\":\"seven\"},\"ints\":[1,-1],\
            \"inners\":[{\"id\":9,\"name\":\"nine\"}],\"tags\":[\"x\",\"y\"],\"by_name\":{\"k\":3},\
            \"by_id\":{\"12\":{\"id\":12,\"name\":\"twelve\"}},\"choice\":{\"text\":\"chosen\"}}\n";
        assert_eq!(stdout, expected.repeat(2), "{protocol}");
    }
}

#[test]
fn json_has_a_place_for_what_it_has_no_values_for() {
    let folder = folder();
    let written = |to: &mut dyn Write| {
        to.struct_begin()?;
        to.field(WireType::DOUBLE, 3);
        to.double(f64::NAN);
        to.field(WireType::STRING, 4);
        to.string(b"\xff")?;
        to.field(WireType::I32, 6);
        to.i32(77);
        to.field(WireType::MAP, 11);
        to.map(WireType::STRING, WireType::I32, 1)?;
        to.string(b"\xff")?;
        to.i32(1);
        to.container_end();
        to.field(WireType::MAP, 13);
        to.map(WireType::STRUCT, WireType::BOOL, 1)?;
        inner(to, 1, "")?;
        to.bool(false);
        to.container_end();
        to.field(WireType::LIST, 15);
        to.list(WireType::DOUBLE, 2)?;
        to.double(f64::INFINITY);
        to.double(f64::NEG_INFINITY);
        to.container_end();
        to.field(WireType::LIST, 16);
        to.list(WireType::BOOL, 1)?;
        to.bool(true);
        to.container_end();
        to.field(WireType::LIST, 17);
        to.list(WireType::I32, 2)?;
        to.i32(1);
        to.i32(3);
        to.container_end();
        to.field(WireType::UUID, 18);
        to.uuid(&[0x12, 0x34, 0x56, 0x78, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0xff]);
        to.field(WireType::MAP, 19);
        to.map(WireType::I32, WireType::STRING, 2)?;
        to.i32(1);
        to.string(b"a")?;
        to.i32(9);
        to.string(b"b")?;
        to.container_end();
        to.field(WireType::MAP, 20);
        to.map(WireType::STRING, WireType::I32, 1)?;
        to.string(b"k")?;
        to.i32(1);
        to.container_end();
        // Elements of another type than the IDL has.
        to.field(WireType::LIST, 8);
        to.list(WireType::STRING, 1)?;
        to.string(b"no number")?;
        to.container_end();
        // A field that comes twice.
        to.field(WireType::I32, 6);
        to.i32(1);
        to.struct_end();
        Ok(())
    };
    let expected = "{\"real\":\"NaN\",\"text\":{\"base64\":\"/w==\"},\"kind\":77,\
        \"by_name\":{\"entries\":[[{\"base64\":\"/w==\"},1]]},\
        \"by_inner\":{\"entries\":[[{\"id\":1,\"name\":\"\"},false]]},\
        \"reals\":[\"Infinity\",\"-Infinity\"],\"truths\":[true],\"kinds\":[\"SMALL\",3],\
        \"id\":\"12345678-0001-0203-0405-060708090aff\",\"by_kind\":{\"SMALL\":\"a\",\"9\":\"b\"},\
        \"by_bytes\":{\"entries\":[[{\"base64\":\"aw==\"},1]]},\"ints\":null,\"kind\":\"SMALL\"}\n";
    for (protocol, bytes) in both(written) {
        let options = ["--type", "All", "--json", "--protocol", protocol];
        let stdout = decode(&folder, &bytes, &options).stdout_of_success();
        assert_eq!(stdout, expected, "{protocol}");
    }
}

#[test]
fn messages_are_found_however_they_lie_in_the_file() {
    let folder = folder();
    let messages: Vec<Vec<u8>> = (1..=3).map(|id| binary(|to| inner(to, id, "x"))).collect();
    let expected =
        "{\"id\":1,\"name\":\"x\"}\n{\"id\":2,\"name\":\"x\"}\n{\"id\":3,\"name\":\"x\"}\n";
    let options = ["--type", "Inner", "--json"];
    let one_by_one = messages.concat();
    assert_eq!(decode(&folder, &one_by_one, &options).stdout_of_success(), expected);
    assert_eq!(decode(&folder, &gzip(&one_by_one), &options).stdout_of_success(), expected);
    let frames = framed(&messages);
    let framed = ["--type", "Inner", "--json", "--framed"];
    assert_eq!(decode(&folder, &frames, &framed).stdout_of_success(), expected);
    let first = decode(&folder, &frames, &[&framed[..], &["--limit", "1"]].concat());
    assert_eq!(first.stdout_of_success(), "{\"id\":1,\"name\":\"x\"}\n");
    let stdin = ["thrift", "decode", "-", "--idl", "s.thrift", "--type", "Inner", "--json"];
    assert_eq!(folder.run_with_input(&stdin, &one_by_one).stdout_of_success(), expected);
    assert_eq!(decode(&folder, b"", &options).stdout_of_success(), "");
}

/// Frames with headers of THeader, the second message deflated.
fn header_frames(messages: &[Vec<u8>]) -> Vec<u8> {
    let frames = messages.iter().enumerate().map(|(at, message)| {
        let deflated = || {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Default::default());
            encoder.write_all(message).unwrap();
            encoder.finish().unwrap()
        };
        let (header, payload): (&[u8], _) = match at {
            1 => (b"\0\x01\x01\0", deflated()),
            _ => (b"\0\0\0\0", message.clone()),
        };
        [b"\x0f\xff\0\0\0\0\0\x07\0\x01", header, &payload].concat()
    });
    framed(&frames.collect::<Vec<_>>())
}

#[test]
fn frames_with_headers_say_how_their_messages_are_written() {
    let folder = folder();
    let messages: Vec<Vec<u8>> = (1..=3).map(|id| binary(|to| inner(to, id, "x"))).collect();
    let frames = header_frames(&messages);
    let options = ["--type", "Inner", "--json", "--protocol", "header"];
    let expected =
        "{\"id\":1,\"name\":\"x\"}\n{\"id\":2,\"name\":\"x\"}\n{\"id\":3,\"name\":\"x\"}\n";
    assert_eq!(decode(&folder, &frames, &options).stdout_of_success(), expected);
    let mut damaged = frames.clone();
    damaged[14] = 3;
    let outcome = decode(&folder, &damaged, &options);
    assert_eq!(outcome.stdout, expected.split_once('\n').unwrap().1);
    let told =
        "byte 14: expected protocol 0 (Binary), 1 (JSON) or 2 (Compact) in a header, found 3";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
}

#[test]
fn texts_are_read_with_headers_and_without_a_line_each_or_in_frames() {
    let folder = folder();
    let call = r#"[1,"Adder:add",1,7,{"1":{"i32":1},"2":{"i32":2}}]"#;
    let structs = "{\"1\":{\"i32\":1},\"2\":{\"str\":\"x\"}}\n\n {\"1\":{\"i32\":2}} ";
    let typed = ["--type", "Inner", "--json", "--protocol", "json"];
    let expected = "{\"id\":1,\"name\":\"x\"}\n{\"id\":2}\n";
    assert_eq!(decode(&folder, structs.as_bytes(), &typed).stdout_of_success(), expected);
    let frames = framed(&[b"{\"1\":{\"i32\":2}}\n".to_vec(), call.as_bytes().to_vec()]);
    let framed = [&typed[..], &["--framed"]].concat();
    let called = "{\"name\":\"Adder:add\",\"kind\":\"call\",\"sequence_id\":7,\"value\":{\"a\":1,\"b\":2}}\n";
    let expected = format!("{{\"id\":2}}\n{}", called.replace("a\":1,\"b\":2", "id\":1"));
    assert_eq!(decode(&folder, &frames, &framed).stdout_of_success(), expected);
    let calls = format!("{call}\n{call}{call}");
    let options = ["--json", "--protocol", "json"];
    assert_eq!(decode(&folder, calls.as_bytes(), &options).stdout_of_success(), called.repeat(3));
    let pluck = ["thrift", "pluck", "m", "--idl", "s.thrift", "--type", "Inner", "id", "name"];
    folder.write("m", structs.as_bytes());
    let plucked = folder.run(&[&pluck[..], &["--protocol", "json"]].concat());
    assert_eq!(plucked.stdout_of_success(), "1\t\"x\"\n2\t-\n");
    let bad = format!("{call}\n[1,\"Adder:add\",1,7,{{\"1\":{{\"i32\":x");
    let outcome = decode(&folder, bad.as_bytes(), &options);
    assert_eq!(outcome.stdout, called);
    let told = format!("byte {}: expected a token of JSON, found x", bad.len() - 1);
    assert!(outcome.stderr.contains(&told), "{}", outcome.stderr);
}

#[test]
fn a_message_is_printed_as_soon_as_a_pipe_has_it() {
    let folder = folder();
    let args = ["thrift", "decode", "-", "--idl", "s.thrift", "--type", "Inner", "--json"];
    let mut command = folder.command(&args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    // Half of the next message comes with each.
    let messages: Vec<Vec<u8>> = (1..=3).map(|id| binary(|to| inner(to, id, "x"))).collect();
    let bytes = messages.concat();
    let half = messages[0].len() / 2;
    let mut sent = 0;
    for id in 1..=3 {
        let until = (messages[0].len() * id + half).min(bytes.len());
        stdin.write_all(&bytes[sent..until]).unwrap();
        sent = until;
        let mut line = String::new();
        std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
        assert_eq!(line, format!("{{\"id\":{id},\"name\":\"x\"}}\n"));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

fn call(to: &mut dyn Write) -> ProtocolResult<()> {
    to.message(b"note", MessageKind::ONEWAY, 3)?;
    to.struct_begin()?;
    to.field(WireType::STRUCT, 1);
    inner(to, 1, "x")?;
    to.struct_end();
    to.message(b"Adder:add", MessageKind::CALL, -4)?;
    to.struct_begin()?;
    to.field(WireType::I32, 1);
    to.i32(40);
    to.field(WireType::I32, 2);
    to.i32(2);
    to.struct_end();
    to.message(b"Adder:add", MessageKind::REPLY, -4)?;
    to.struct_begin()?;
    to.field(WireType::I32, 0);
    to.i32(42);
    to.struct_end();
    to.message(b"add", MessageKind::EXCEPTION, 5)?;
    to.struct_begin()?;
    to.field(WireType::STRING, 1);
    to.string(b"no such function")?;
    to.field(WireType::I32, 2);
    to.i32(1);
    to.struct_end();
    Ok(())
}

#[test]
fn calls_and_answers_are_printed_by_their_functions() {
    let folder = folder();
    for (protocol, bytes) in both(call) {
        let options = ["--json", "--protocol", protocol];
        assert_eq!(
            decode(&folder, &bytes, &options).stdout_of_success(),
            "{\"name\":\"note\",\"kind\":\"oneway\",\"sequence_id\":3,\
             \"value\":{\"inner\":{\"id\":1,\"name\":\"x\"}}}\n\
             {\"name\":\"Adder:add\",\"kind\":\"call\",\"sequence_id\":-4,\"value\":{\"a\":40,\"b\":2}}\n\
             {\"name\":\"Adder:add\",\"kind\":\"reply\",\"sequence_id\":-4,\"value\":{\"success\":42}}\n\
             {\"name\":\"add\",\"kind\":\"exception\",\"sequence_id\":5,\
             \"value\":{\"message\":\"no such function\",\"type\":\"UNKNOWN_METHOD\"}}\n"
        );
        let people = decode(&folder, &bytes, &["--protocol", protocol, "--limit", "1"]);
        assert_eq!(
            people.stdout_of_success(),
            "byte 0: oneway note, sequence id 3: note_args {\n  inner: Inner {\n    id: 1\n    \
             name: \"x\"\n  }\n}\n"
        );
    }
}

#[test]
fn headers_without_a_version_are_read_where_all_messages_have_one() {
    let folder = folder();
    let mut writer = BinaryWriter::new(Strictness::Lenient);
    call(&mut writer).unwrap();
    let stdout = decode(&folder, writer.bytes(), &["--json"]).stdout_of_success();
    assert_eq!(stdout.lines().count(), 4);
    assert!(stdout.contains("\"success\":42"), "{stdout}");
}

#[test]
fn a_header_before_a_named_type_is_seen() {
    let folder = folder();
    let written = |to: &mut dyn Write| {
        to.message(b"anything", MessageKind::CALL, 9)?;
        inner(to, 1, "x")?;
        inner(to, 2, "y")
    };
    for (protocol, bytes) in both(written) {
        let options = ["--type", "Inner", "--json", "--protocol", protocol];
        assert_eq!(
            decode(&folder, &bytes, &options).stdout_of_success(),
            "{\"name\":\"anything\",\"kind\":\"call\",\"sequence_id\":9,\
             \"value\":{\"id\":1,\"name\":\"x\"}}\n{\"id\":2,\"name\":\"y\"}\n"
        );
    }
}

#[test]
fn a_struct_that_looks_like_a_header_is_a_struct() {
    let folder = folder();
    // As a header: a call of "hello", sequence id 24.
    let options = ["--type", "LikeHeader", "--json", "--protocol", "compact"];
    assert_eq!(
        decode(&folder, b"\x82\x21\x18\x05hello\0", &options).stdout_of_success(),
        "{\"first\":false,\"second\":true,\"text\":\"hello\"}\n"
    );
}

#[test]
fn a_function_that_the_idl_does_not_have_is_told_and_passed() {
    let folder = folder();
    let written = |to: &mut dyn Write| {
        to.message(b"gone", MessageKind::CALL, 1)?;
        inner(to, 1, "x")?;
        to.message(b"note", MessageKind::CALL, 2)?;
        to.struct_begin()?;
        to.struct_end();
        Ok(())
    };
    for (protocol, bytes) in both(written) {
        let outcome = decode(&folder, &bytes, &["--json", "--protocol", protocol]);
        let expected = "{\"name\":\"gone\",\"kind\":\"call\",\"sequence_id\":1,\"value\":null}\n\
            {\"name\":\"note\",\"kind\":\"call\",\"sequence_id\":2,\"value\":{}}\n";
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, expected), "{protocol}");
        assert!(outcome.stderr.contains("found \"gone\""), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    }
}

#[test]
fn fields_are_plucked_by_their_paths() {
    let folder = folder();
    for (protocol, bytes) in both(all) {
        folder.write("m", &bytes);
        folder.write("frames", &framed(&[bytes.clone(), bytes[..bytes.len() - 9].to_vec()]));
        let pluck = |file: &str, options: &[&str]| {
            let args = ["thrift", "pluck", file, "--idl", "s.thrift", "--type", "All"];
            let paths = ["inner.name", "by_kind", "large", "ints", "inners"];
            folder.run(&[&args[..], &paths, &["--protocol", protocol], options].concat())
        };
        assert_eq!(
            pluck("m", &["--json"]).stdout_of_success(),
            "{\"inner.name\":\"seven\",\"by_kind\":null,\"large\":9007199254740993,\"ints\":[1,-1],\
             \"inners\":[{\"id\":9,\"name\":\"nine\"}]}\n"
        );
        let line = "\"seven\"\t-\t9007199254740993\t[1, -1]\t[Inner {id: 9, name: \"nine\"}]\n";
        assert_eq!(pluck("m", &[]).stdout_of_success(), line);
        // The field that no message has makes each be read to its end, which the second has not.
        let outcome = pluck("frames", &["--framed"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, line));
        let args = ["thrift", "pluck", "frames", "flag", "--idl", "s.thrift", "--type", "All"];
        let early = folder.run(&[&args[..], &["--framed", "--protocol", protocol]].concat());
        assert_eq!(early.stdout_of_success(), "true\ntrue\n");
    }
}

#[test]
fn a_path_through_a_list_prints_a_list_and_with_brackets_a_line_for_each_element() {
    let folder = folder();
    for (protocol, bytes) in both(all) {
        folder.write("m", &bytes);
        let pluck = |options: &[&str]| {
            let args = ["thrift", "pluck", "m", "--idl", "s.thrift", "--type", "All"];
            folder.run(&[&args[..], &["--protocol", protocol], options].concat())
        };
        let lines = pluck(&["inners[].id", "large", "inners[].name", "--json"]);
        let expected =
            "{\"inners[].id\":9,\"large\":9007199254740993,\"inners[].name\":\"nine\"}\n";
        assert_eq!(lines.stdout_of_success(), expected);
        assert_eq!(pluck(&["ints[]", "flag"]).stdout_of_success(), "1\ttrue\n-1\ttrue\n");
        assert_eq!(pluck(&["inners.name", "ints"]).stdout_of_success(), "[\"nine\"]\t[1, -1]\n");
        assert_eq!(pluck(&["by_kind{}.key"]).stdout_of_success(), "", "a message without the map");
        let refused = pluck(&["inners[].id", "ints[]"]);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("found ints[] beside inners[].id"), "{}", refused.stderr);
    }
}

#[test]
fn what_comes_before_damage_is_printed() {
    let folder = folder();
    let message = binary(|to| inner(to, 1, "x"));
    let options = ["--type", "Inner", "--json"];
    let line = "{\"id\":1,\"name\":\"x\"}\n";
    let unknown_type = [&message[..], b"\x01", &[0; 9]].concat();
    let cut = [&message[..], &message[..10]].concat();
    for (bytes, expected) in [
        (unknown_type, "bytewright: m: byte 19: expected"),
        (cut, "bytewright: m: byte 16: expected a message of 15 bytes, found 10"),
    ] {
        let outcome = decode(&folder, &bytes, &options);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, line), "{}", outcome.stderr);
        assert!(outcome.stderr.starts_with(expected), "{}", outcome.stderr);
    }
    let zipped = gzip(&message.repeat(1000));
    let outcome = decode(&folder, &zipped[..zipped.len() - 9], &options);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stdout.starts_with(line), "{}", outcome.stderr);
}

#[test]
fn a_bad_frame_costs_only_itself() {
    let folder = folder();
    let good = binary(|to| inner(to, 1, "x"));
    let frames = [good.clone(), b"\x08\0".to_vec(), [&good[..], b"rest"].concat(), good.clone()];
    let outcome = decode(&folder, &framed(&frames), &["--type", "Inner", "--json", "--framed"]);
    assert_eq!(
        (outcome.code, outcome.stdout.as_str()),
        (1, "{\"id\":1,\"name\":\"x\"}\n".repeat(3).as_str())
    );
    let errors: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[1].ends_with("expected the end of the frame, found 4 more bytes"), "{errors:?}");
    let many = framed(&vec![b"\x08\0".to_vec(); 30]);
    let outcome = decode(&folder, &many, &["--type", "Inner", "--framed"]);
    assert_eq!((outcome.code, outcome.stderr.lines().count()), (1, 11));
    assert!(outcome.stderr.ends_with("bytewright: 20 more messages are damaged\n"));
}

#[test]
fn who_forgot_that_messages_are_framed_is_told() {
    let folder = folder();
    let frames = framed(&[binary(|to| inner(to, 1, "x"))]);
    let outcome = decode(&folder, &frames, &["--type", "Inner"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("--framed reads those"), "{}", outcome.stderr);
}

#[test]
fn claims_beyond_the_file_take_no_memory() {
    let folder = folder();
    for (options, bytes) in [
        (&["--type", "Inner"][..], &b"\x0b\0\x02\x7f\xff\xff\xff"[..]),
        (&["--type", "All"], b"\x0f\0\x09\x0c\x7f\xff\xff\xff"),
        (&["--type", "All", "--protocol", "compact"], b"\x99\xfc\xff\xff\xff\xff\x07"),
        (&["--type", "Inner", "--framed"], b"\x7f\xff\xff\xff"),
        (&[], b"\x80\x01\0\x01\x7f\xff\xff\xff"),
        (
            &["--max-message", "15", "--type", "Inner"],
            b"\x08\0\x01\0\0\0\x01\x0b\0\x02\0\0\0\x01x\0",
        ),
    ] {
        folder.write("m", bytes);
        let args = [DECODE, options].concat();
        // 256 MiB for all of the program.
        let mut command = folder.command(&args);
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -v 262144 && exec \"$0\" \"$@\""]);
        limited.arg(command.get_program()).args(command.get_args());
        limited.current_dir(command.get_current_dir().unwrap());
        command = limited;
        let outcome = outcome(command);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{options:?}: {outcome:?}");
        assert!(outcome.stderr.starts_with("bytewright: m: byte "), "{}", outcome.stderr);
    }
}

#[test]
fn text_for_people_is_bounded_and_harmless() {
    let folder = folder();
    let written = |to: &mut dyn Write| {
        to.struct_begin()?;
        to.field(WireType::STRING, 4);
        to.string("\u{1b}[1mé".repeat(1000).as_bytes())?;
        to.field(WireType::LIST, 8);
        to.list(WireType::I32, 1000)?;
        (0..1000).for_each(|number| to.i32(number));
        to.container_end();
        to.field(WireType::LIST, 9);
        to.list(WireType::STRUCT, 1000)?;
        (0..1000).try_for_each(|id| inner(to, id, &"long ".repeat(100)))?;
        to.container_end();
        to.field(WireType::MAP, 12);
        to.map(WireType::I32, WireType::STRUCT, 1000)?;
        (0..1000).try_for_each(|id| {
            to.i32(id);
            inner(to, id, &"long ".repeat(100))
        })?;
        to.container_end();
        to.struct_end();
        Ok(())
    };
    let bytes = binary(written);
    let stdout = decode(&folder, &bytes, &["--type", "All"]).stdout_of_success();
    assert!(stdout.len() < 66 << 10, "{}", stdout.len());
    assert!(stdout.contains("... 6000 bytes\n"), "{}", &stdout[..500]);
    assert!(stdout.contains("49, ... 950 more]\n") && stdout.contains("    ... 950 more\n"));
    assert!(stdout.ends_with("\n}\n"));
    let json = decode(&folder, &bytes, &["--type", "All", "--json"]).stdout_of_success();
    assert!(json.len() > 1_000_000);
    let text = stdout + &json;
    assert!(text.bytes().all(|byte| byte == b'\n' || byte >= b' '));
}

#[test]
fn types_may_be_renamed_or_come_from_an_included_file() {
    let folder = folder();
    let message = binary(|to| inner(to, 1, "x"));
    for name in ["Renamed", "s.Inner", "note_args"] {
        decode(&folder, &message, &["--type", name]).stdout_of_success();
    }
    let shared = decode(&folder, &message, &["--type", "shared.Shared", "--json"]);
    assert_eq!(shared.stdout_of_success(), "{\"number\":1}\n");
}

#[test]
fn what_the_idl_does_not_have_is_a_usage_error() {
    let folder = folder();
    folder.write("plain.thrift", b"struct S { 1: i32 a }");
    folder.write("m", b"\0");
    for (args, expected) in [
        (&["decode", "m", "--idl", "s.thrift", "--type", "None"][..], "Inner, Choice"),
        (&["decode", "m", "--idl", "s.thrift", "--type", "Kind"], "found \"Kind\""),
        (&["decode", "m", "--idl", "plain.thrift"], "expected --type"),
        (&["decode", "m"], "--idl"),
        (&["pluck", "m", "--idl", "s.thrift", "--type", "Inner"], "FIELD.PATH"),
        (&["pluck", "m", "id", "--idl", "s.thrift"], "--type"),
        (&["pluck", "m", "ip", "--idl", "s.thrift", "--type", "Inner"], "(id, name)"),
        (&["decode", "m", "--idl", "s.thrift", "--max-message", "0"], "--max-message"),
    ] {
        let outcome = folder.run(&[&["thrift"], args].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{args:?}");
        assert!(outcome.stderr.contains(expected), "{args:?}: {}", outcome.stderr);
    }
    folder.write("bad.thrift", b"struct S { 1: i32 }");
    let outcome = folder.run(&["thrift", "decode", "m", "--idl", "bad.thrift", "--type", "S"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("bad.thrift: line 1, column 19: "), "{}", outcome.stderr);
    let outcome = folder.run(&["thrift", "decode", "m", "--idl", "no.thrift", "--type", "S"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
}
