//! Goal: an address has the label of the smallest network that it is in, as a file gives it, in packets and in flows; a file that
//! is wrong is told with the place; and no file costs more than its bounds.
//!
//! Method: random networks in each other are looked up by halving, and by their slow and obvious twin, which tries all of them.
//! Databases in MaxMind's format are written by the test, and damaged.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use bytewright::ErrorKind;
use bytewright::ask::{Answer, Answers, FlowQuestion, Question, Run};
use bytewright::batch::Value;
use bytewright::flow::{FlowField, FlowOptions};
use bytewright::input::{CaptureOptions, CaptureReader, DamagePolicy, FrameBatch};
use bytewright::labels::read_labels;
use bytewright::options::Settings;
use bytewright::packet::{Field, NetworkLabels, PacketColumns};
use bytewright::query::Condition;

use crate::folder::Folder;
use crate::generate::{Random, seeds};

/// Networks with labels, in the order of their lines.
type Lines = Vec<(IpAddr, u8, String)>;

fn labels_of(content: impl AsRef<[u8]>) -> bytewright::Result<NetworkLabels> {
    let folder = Folder::new("labels");
    let path = folder.path("networks");
    std::fs::write(&path, content).unwrap();
    read_labels(&path)
}

fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

fn is_in(address: IpAddr, network: IpAddr, prefix_len: u8) -> bool {
    let behind = u128::MAX.checked_shr(prefix_len.into()).unwrap_or(0);
    let ((address, of), (network, same)) = (bits(address), bits(network));
    of == same && address & !behind == network & !behind
}

/// The obvious way: all networks, and the last of the longest prefix.
fn twin(lines: &Lines, address: IpAddr) -> Option<&str> {
    let fitting = lines.iter().filter(|(network, len, _)| is_in(address, *network, *len));
    fitting.max_by_key(|(_, len, _)| *len).map(|(.., label)| label.as_str())
}

fn masked(address: IpAddr, prefix_len: u8) -> IpAddr {
    let behind = u128::MAX.checked_shr(prefix_len.into()).unwrap_or(0);
    match (address, bits(address).0 & !behind) {
        (IpAddr::V4(_), bits) => IpAddr::from(Ipv4Addr::from_bits((bits >> 96) as u32)),
        (IpAddr::V6(_), bits) => IpAddr::from(Ipv6Addr::from_bits(bits)),
    }
}

/// An address near others: few of its bits differ.
fn random_address(random: &mut Random) -> IpAddr {
    let flips = (0..random.below(6)).fold(0_u128, |bits, _| bits | 1 << random.below(128));
    let ends = [0, u128::MAX, 0x0a00_0000 << 96][random.below(3)];
    match random.below(2) {
        0 => IpAddr::from(Ipv4Addr::from_bits(((ends ^ flips) >> 96) as u32)),
        _ => IpAddr::from(Ipv6Addr::from_bits(ends ^ flips)),
    }
}

fn random_lines(random: &mut Random) -> Lines {
    let count = 1 + random.below(60);
    let line = |_| {
        let address = random_address(random);
        let len = random.below(usize::from(bits(address).1) + 1) as u8;
        (masked(address, len), len, format!("l{}", random.below(7)))
    };
    (0..count).map(line).collect()
}

fn text_of(lines: &Lines) -> String {
    lines.iter().map(|(address, len, label)| format!("{address}/{len},{label}\n")).collect()
}

fn compare(lines: &Lines, labels: &NetworkLabels, random: &mut Random) {
    let ends = lines.iter().flat_map(|(network, len, _)| {
        let behind = u128::MAX.checked_shr((*len).into()).unwrap_or(0);
        let (first, last) = (bits(*network).0, bits(*network).0 | behind);
        let around =
            [first, last, first.wrapping_sub(1 << 96), last.wrapping_add(1), first.wrapping_sub(1)];
        around.map(|bits| match network {
            IpAddr::V4(_) => IpAddr::from(Ipv4Addr::from_bits((bits >> 96) as u32)),
            IpAddr::V6(_) => IpAddr::from(Ipv6Addr::from_bits(bits)),
        })
    });
    let others: Vec<IpAddr> = (0..200).map(|_| random_address(random)).collect();
    for address in ends.chain(others) {
        assert_eq!(labels.label_of(address), twin(lines, address), "{address} of {lines:?}");
    }
}

#[test]
fn random_networks_in_each_other_give_the_labels_of_the_twin() {
    seeds(40, |random| {
        let lines = random_lines(random);
        let labels = labels_of(text_of(&lines)).unwrap();
        compare(&lines, &labels, random);
    });
}

#[test]
fn all_forms_of_lines_are_read() {
    let text = "\u{feff}network,label\r\n# sites\r\n\r\n10.0.0.0/8, office \r\n10.1.2.3,\"a \"\"b\"\", c\"\nfd00::/8,é\n::1,\u{fffd}";
    let labels = labels_of(text).unwrap();
    let label = |address: &str| labels.label_of(address.parse().unwrap());
    assert_eq!(label("10.1.2.2"), Some("office"));
    assert_eq!(label("10.1.2.3"), Some("a \"b\", c"));
    assert_eq!(label("fdff::"), Some("é"));
    assert_eq!(label("::1"), Some("\u{fffd}"));
    assert_eq!((label("11.0.0.0"), label("fe00::"), label("9.255.255.255")), (None, None, None));
    assert!(labels_of("").unwrap().label_of([10, 0, 0, 1].into()).is_none());
}

#[test]
fn a_network_with_two_labels_has_the_later_one_and_that_is_told() {
    let labels = labels_of("10.0.0.0/8,a\n10.0.0.0/9,a\n10.0.0.0/8,b\n::/0,c\n::/0,c\n").unwrap();
    assert_eq!(labels.label_of([10, 200, 0, 1].into()), Some("b"));
    assert_eq!(labels.label_of([10, 0, 0, 1].into()), Some("a"));
    let told = labels.replaced().unwrap().to_string();
    let (file, told) = told.split_once(": ").unwrap();
    assert!(file.ends_with("/networks"), "{file}");
    assert_eq!(told, "10.0.0.0/8 has two labels, and the later one counts: b, not a");
    let labels = labels_of("::/0,c\n::/0,d\n::/0,e\n1.2.3.4,a\n1.2.3.4,a\n").unwrap();
    let told = labels.replaced().unwrap().to_string();
    assert!(told.ends_with("1 other label is replaced, too"), "{told}");
    assert!(labels_of("10.0.0.0/8,a\n10.0.0.0/9,b").unwrap().replaced().is_none());
}

#[test]
fn a_wrong_line_is_told_with_its_number_and_what_was_expected() {
    for (text, told) in [
        (
            "10.0.0.0/8,a\nnonsense\n",
            "line 2: expected a network, a comma and its label, such as 10.0.0.0/8,office, found nonsense",
        ),
        ("10.0.0.0/33,a", "line 1: expected a network such as 10.0.0.0/8, found 10.0.0.0/33"),
        ("10.0.0.0/-1,a", "line 1: expected a network such as 10.0.0.0/8, found 10.0.0.0/-1"),
        ("fd00::/129,a", "found fd00::/129"),
        ("10.0.0/8,a", "found 10.0.0/8"),
        ("# x\nnetwork,label", "line 2: expected a network such as 10.0.0.0/8, found network"),
        (
            "10.1.0.0/8,a",
            "expected the first address of a network, such as 10.0.0.0/8, found 10.1.0.0/8",
        ),
        ("10.0.0.0/8,", "expected a label behind the comma"),
        (
            "10.0.0.0/8,a,b",
            "expected two columns, and a label with commas in quotes, found 10.0.0.0/8,a,b",
        ),
        ("10.0.0.0/8,\"a", "expected one label between quotes"),
        ("10.0.0.0/8,\"a\"b\"", "expected one label between quotes"),
        ("10.0.0.0/8,\"", "expected one label between quotes"),
        (
            &format!("10.0.0.0/8,{}", "x".repeat(256)),
            "expected a label of at most 255 bytes instead of 256",
        ),
    ] {
        let error = labels_of(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format, "{text}: {error}");
        assert!(error.message().contains(told), "{text}: {error}");
        assert!(error.file().is_some_and(|file| file.ends_with("networks")));
    }
    let error = labels_of(b"10.0.0.0/8,\xff\n").unwrap_err();
    assert!(error.message().contains("line 1: expected text in UTF-8"), "{error}");
}

#[test]
fn a_file_that_is_not_there_is_told_as_the_system_tells_it() {
    let error = read_labels("/nonesuch/labels.csv".as_ref()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(Some(2))), "{error:?}");
    let error = read_labels("/dev/zero".as_ref()).unwrap_err();
    assert!(error.message().contains("expected a file"), "{error}");
}

/// Writer of databases in MaxMind's format, with records of 24 bits.
struct Database {
    nodes: Vec<[u32; 2]>,
    /// Offset of each network's data.
    data: Vec<u8>,
}

/// In the place of a node: nothing, or data at an offset.
const EMPTY: u32 = u32::MAX;
const DATA: u32 = 1 << 30;

fn string(text: &str) -> Vec<u8> {
    let head = match text.len() as u8 {
        len @ 0..29 => vec![2 << 5 | len],
        len => vec![2 << 5 | 29, len - 29],
    };
    [&head, text.as_bytes()].concat()
}

fn map(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = vec![7 << 5 | entries.len() as u8];
    for (key, value) in entries {
        bytes.extend(string(key));
        bytes.extend(value);
    }
    bytes
}

fn number(kind: u8, number: u32) -> Vec<u8> {
    [&[kind << 5 | 4], &number.to_be_bytes()[..]].concat()
}

impl Database {
    fn new() -> Self {
        Database { nodes: vec![[EMPTY; 2]], data: Vec::new() }
    }

    /// Adds a network whose prefix no other one has; networks of IPv4 are below `::/96`.
    fn add(&mut self, network: IpAddr, prefix_len: u8, record: &[u8]) {
        let (word, len) = match network {
            IpAddr::V4(address) => (u128::from(address.to_bits()), prefix_len + 96),
            IpAddr::V6(address) => (address.to_bits(), prefix_len),
        };
        let mut node = 0;
        for depth in 0..len {
            let side = (word >> (127 - depth) & 1) as usize;
            if depth + 1 == len {
                self.nodes[node][side] = DATA | self.data.len() as u32;
                break;
            }
            if self.nodes[node][side] == EMPTY {
                self.nodes[node][side] = self.nodes.len() as u32;
                self.nodes.push([EMPTY; 2]);
            }
            node = self.nodes[node][side] as usize;
        }
        self.data.extend(record);
    }

    fn bytes(&self) -> Vec<u8> {
        let count = self.nodes.len() as u32;
        let mut bytes = Vec::new();
        for record in self.nodes.iter().flatten() {
            let value = match *record {
                EMPTY => count,
                data if data & DATA != 0 => count + 16 + (data & !DATA),
                node => node,
            };
            bytes.extend(&value.to_be_bytes()[1..]);
        }
        bytes.extend([0; 16]);
        bytes.extend(&self.data);
        bytes.extend(b"\xab\xcd\xefMaxMind.com");
        let short = |value: u16| [&[5 << 5 | 2], &value.to_be_bytes()[..]].concat();
        bytes.extend(map(&[
            ("node_count", number(6, count)),
            ("record_size", short(24)),
            ("ip_version", short(6)),
            ("database_type", string("Test")),
            ("languages", vec![0, 4]),
            ("binary_format_major_version", short(2)),
            ("binary_format_minor_version", short(0)),
            ("build_epoch", [&[8, 2], &1_u64.to_be_bytes()[..]].concat()),
            ("description", map(&[])),
        ]));
        bytes
    }
}

fn country(code: &str) -> Vec<u8> {
    map(&[("country", map(&[("iso_code", string(code))]))])
}

fn database() -> Database {
    let mut database = Database::new();
    database.add([10, 0, 0, 0].into(), 8, &country("DE"));
    database.add(
        [11, 0, 0, 0].into(),
        9,
        &map(&[("registered_country", map(&[("iso_code", string("FR"))]))]),
    );
    let asn = [
        ("autonomous_system_number", number(6, 64_500)),
        ("autonomous_system_organization", string("Example")),
    ];
    database.add("2001:db8::".parse().unwrap(), 32, &map(&asn));
    database.add("fd00::".parse().unwrap(), 8, &map(&asn[..1]));
    let names = map(&[("en", string("Berlin")), ("de", string("Bärlin"))]);
    let city =
        [("country", map(&[("iso_code", string("DE"))])), ("city", map(&[("names", names)]))];
    database.add([12, 0, 0, 0].into(), 8, &map(&city));
    database.add([13, 0, 0, 0].into(), 8, &map(&[("label", string("own")), ("x", string("y"))]));
    database.add([14, 0, 0, 0].into(), 8, &string("bare"));
    database.add([15, 0, 0, 0].into(), 8, &map(&[("x", string("y"))]));
    database
}

#[test]
fn a_database_in_the_format_of_maxmind_gives_the_labels_of_its_records() {
    let labels = labels_of(database().bytes()).unwrap();
    let label = |address: &str| labels.label_of(address.parse().unwrap());
    for (address, expected) in [
        ("10.255.255.255", Some("DE")),
        ("11.127.0.1", Some("FR")),
        ("11.128.0.1", None),
        ("12.0.0.1", Some("DE Berlin")),
        ("13.0.0.1", Some("own")),
        ("14.0.0.1", Some("bare")),
        ("15.0.0.1", None),
        ("2001:db8:1::1", Some("AS64500 Example")),
        ("fd00:1::1", Some("AS64500")),
        ("2001:db9::", None),
    ] {
        assert_eq!(label(address), expected, "{address}");
    }
}

#[test]
fn a_database_without_labels_is_told() {
    let mut database = Database::new();
    database.add([15, 0, 0, 0].into(), 8, &map(&[("x", string("y"))]));
    let error = labels_of(database.bytes()).unwrap_err();
    assert!(error.message().contains("expected records with a label, a country"), "{error}");
}

#[test]
fn a_damaged_database_gives_labels_or_an_error() {
    seeds(1, |random| {
        let whole = database().bytes();
        let mut refused = 0;
        for _ in 0..3_000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] = random.byte();
            }
            if random.once_in(4) {
                let from = random.below(bytes.len());
                bytes.drain(from..(from + random.below(40)).min(whole.len()));
            }
            refused += u32::from(labels_of(bytes).is_err());
        }
        assert!(refused > 100, "{refused} of 3000 were refused");
    });
}

#[test]
fn a_tree_that_leads_to_itself_ends() {
    let mut database = database();
    // Both ways from the root, over and over: 2^128 networks.
    database.nodes = vec![[1, 1], [2, 2], [0, 0]];
    let error = labels_of(database.bytes()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Format | ErrorKind::Limit), "{error}");
    // A way to many networks without a record.
    let many = (1..128).map(|node| [node, node]).chain([[EMPTY, EMPTY]]).collect();
    database.nodes = many;
    let error = labels_of(database.bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

fn sample(name: &str) -> PathBuf {
    format!("{}/../samples/{name}", env!("CARGO_MANIFEST_DIR")).into()
}

fn options(jobs: usize) -> (CaptureOptions, Lines, Folder) {
    let folder = Folder::new("labels");
    let path = folder.path("networks.csv");
    let lines: Lines =
        [("10.0.0.0", 8, "home"), ("fd00:20:1::", 48, "web, six"), ("fd00:20:1::2", 128, "client")]
            .map(|(address, len, label)| (address.parse().unwrap(), len, label.to_owned()))
            .into();
    let text: String = lines
        .iter()
        .map(|(network, len, label)| format!("{network}/{len},\"{label}\"\n"))
        .collect();
    std::fs::write(&path, text).unwrap();
    let mut settings =
        Settings::of(const { &[<CaptureOptions as bytewright::options::NamedOptions>::OPTIONS] });
    settings.give_named(&[&format!("label={}", path.display()), &format!("jobs={jobs}")]).unwrap();
    (settings.take().unwrap(), lines, folder)
}

fn text(value: Value<'_>) -> Option<String> {
    match value {
        Value::Null => None,
        value => Some(value.to_string()),
    }
}

#[test]
fn packets_have_the_labels_of_their_addresses_however_they_are_read() {
    for (jobs, name) in [(1, "web.pcap.gz"), (3, "fragments.pcap"), (1, "interfaces.pcapng")] {
        let (options, lines, _folder) = options(jobs);
        let open = || CaptureReader::open(&sample(name), &options).unwrap();
        let mut expected = Vec::new();
        open()
            .each_frame(|frame| {
                let twin =
                    |ip: Option<IpAddr>| ip.and_then(|ip| twin(&lines, ip)).map(str::to_owned);
                let labels = [twin(frame.packet().src_ip()), twin(frame.packet().dst_ip())];
                assert_eq!(
                    [Field::SrcLabel, Field::DstLabel].map(|f| text(frame.value(f))),
                    labels
                );
                let kept = frame.to_kept();
                let restored = bytewright::packet::KeptFrame::from_bytes(&kept.to_bytes()).unwrap();
                assert!(restored == kept);
                assert_eq!(text(restored.frame().value(Field::SrcLabel)), labels[0]);
                expected.push(labels);
            })
            .unwrap();
        let (mut batch, mut reader, mut found) = (FrameBatch::new(), open(), Vec::new());
        loop {
            reader.read_frames(&mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            found.extend((0..batch.len()).map(|at| {
                let frame = batch.frame(at).unwrap();
                [Field::SrcLabel, Field::DstLabel].map(|field| text(frame.value(field)))
            }));
        }
        assert_eq!(found, expected, "{name}");
        let condition = Condition::new("src_label = 'client'", &Field::SCHEMA).unwrap();
        let mut columns = PacketColumns::new(&[Field::SrcLabel, Field::Number]);
        let (mut reader, mut rows) = (open(), 0);
        loop {
            reader.read_columns_where(&mut columns, 1000, &condition).unwrap();
            rows += columns.len();
            if columns.is_empty() {
                break;
            }
        }
        assert_eq!(
            rows,
            expected.iter().filter(|pair| pair[0].as_deref() == Some("client")).count()
        );
    }
}

#[derive(Default)]
struct LabelledFlows(BTreeMap<[Option<String>; 4], u32>);

impl Answers for LabelledFlows {
    type Error = bytewright::Error;

    fn take(&mut self, answer: Answer) -> bytewright::Result<()> {
        let Answer::Flows(flows) = answer else { return Ok(()) };
        for flow in flows {
            let fields =
                [FlowField::SrcIp, FlowField::DstIp, FlowField::SrcLabel, FlowField::DstLabel];
            *self.0.entry(fields.map(|field| text(flow.value(field)))).or_default() += 1;
        }
        Ok(())
    }

    fn note_damage(&mut self, damage: bytewright::Error) -> bytewright::Result<()> {
        Err(damage)
    }
}

#[test]
fn flows_have_the_labels_of_their_addresses_beside_their_features_and_without() {
    for features in ["none", "tcp"] {
        let (options, lines, _folder) = options(1);
        let limits = FlowOptions { features: features.parse().unwrap(), ..FlowOptions::default() };
        let question = FlowQuestion::from(limits);
        let run = Run::new(Question::Flows(vec![FlowField::SrcLabel, FlowField::Rtt], question));
        let mut found = LabelledFlows::default();
        let mut reader = CaptureReader::open(&sample("web.pcap.gz"), &options).unwrap();
        run.read(&mut reader, DamagePolicy::Raise, &mut found).unwrap().unwrap();
        run.finish(&mut found).unwrap();
        assert!(found.0.len() > 2);
        for [src, dst, src_label, dst_label] in found.0.keys() {
            let twin = |ip: &Option<String>| twin(&lines, ip.as_ref().unwrap().parse().unwrap());
            assert_eq!((src_label.as_deref(), dst_label.as_deref()), (twin(src), twin(dst)));
        }
    }
}
