//! Goal: endpoints and services have the packets and bytes that go to and from each, over one capture or several.
//!
//! Method: the samples are added up by a map, packet by packet, and random conditions leave packets out of both.

use std::collections::BTreeMap;

use bytewright::ask::{Answer, Answers, QuestionSpec, Run};
use bytewright::batch::{Batch, Value};
use bytewright::input::{CaptureOptions, CaptureReader, DamagePolicy};
use bytewright::options::Settings;
use bytewright::packet::{Field, Packet};
use bytewright::query::Condition;
use bytewright::{Error, ErrorKind};

const SAMPLES: [&str; 4] = ["web.pcap.gz", "tunnels.pcap", "fragments.pcap", "vlan.pcapng"];

/// The packets and bytes of an address: sent, and received.
type Both = [(u64, u64); 2];

fn sample(name: &str) -> CaptureReader {
    let path = format!("{}/../samples/{name}", env!("CARGO_MANIFEST_DIR"));
    CaptureReader::open(path.as_ref(), &CaptureOptions::default()).unwrap()
}

fn asked(question: &str, named: &[&str]) -> bytewright::Result<Run> {
    let question = QuestionSpec::named(question)?;
    let mut settings = Settings::of(question.own_tables());
    settings.give_named(named)?;
    Ok(Run::new(question.question(&settings)?))
}

/// Keeps tables.
#[derive(Default)]
struct Kept(Vec<Batch>);

impl Answers for Kept {
    type Error = Error;

    fn take(&mut self, answer: Answer) -> bytewright::Result<()> {
        self.0.extend(answer.into_batch());
        Ok(())
    }

    fn note_damage(&mut self, damage: Error) -> bytewright::Result<()> {
        Err(damage)
    }
}

fn table(question: &str, named: &[&str], samples: &[&str]) -> Batch {
    let (run, mut kept) = (asked(question, named).unwrap(), Kept::default());
    for name in samples {
        run.read(&mut sample(name), DamagePolicy::Raise, &mut kept).unwrap().unwrap();
    }
    run.finish(&mut kept).unwrap();
    let [table] = <[Batch; 1]>::try_from(kept.0).unwrap();
    table
}

/// Adds the samples up, one packet after the other.
fn added_up(condition: Option<&Condition>, samples: &[&str]) -> BTreeMap<String, Both> {
    let mut endpoints: BTreeMap<String, Both> = BTreeMap::new();
    for name in samples {
        let add = |packet: &Packet, _: &_| {
            if condition
                .is_some_and(|condition| !condition.holds(|place| packet.value(Field::ALL[place])))
            {
                return;
            }
            for (way, field) in [Field::SrcIp, Field::DstIp].into_iter().enumerate() {
                if let Value::Address(address) = packet.value(field) {
                    let (packets, bytes) =
                        &mut endpoints.entry(address.to_string()).or_default()[way];
                    *packets += 1;
                    *bytes += u64::from(packet.length());
                }
            }
        };
        sample(name).each(add).unwrap();
    }
    endpoints
}

fn number(table: &Batch, row: usize, name: &str) -> u64 {
    match table.column(name).unwrap().value(row) {
        Value::Unsigned(number) => number,
        other => panic!("{name}: {other:?}"),
    }
}

fn address(table: &Batch, row: usize) -> String {
    match table.column("address").unwrap().value(row) {
        Value::Address(address) => address.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_address_has_what_goes_to_it_and_from_it() {
    let conditions = [
        None,
        Some("dst_port == 53 or src_port == 53"),
        Some("ip_version == 6"),
        Some("length > 100000"),
    ];
    for samples in SAMPLES.iter().map(std::slice::from_ref).chain([&SAMPLES[..]]) {
        for condition in conditions {
            let named = condition.map(|text| format!("where={text}"));
            let table =
                table("endpoints", &named.as_deref().into_iter().collect::<Vec<_>>(), samples);
            let condition = condition.map(|text| Condition::new(text, &Field::SCHEMA).unwrap());
            let mut expected = added_up(condition.as_ref(), samples);
            assert_eq!(table.len(), expected.len(), "{samples:?}");
            let mut before = u64::MAX;
            for row in 0..table.len() {
                let [(sent, sent_bytes), (received, received_bytes)] =
                    expected.remove(&address(&table, row)).unwrap();
                assert_eq!(number(&table, row, "sent_packets"), sent);
                assert_eq!(number(&table, row, "sent_bytes"), sent_bytes);
                assert_eq!(number(&table, row, "received_packets"), received);
                assert_eq!(number(&table, row, "received_bytes"), received_bytes);
                let bytes = number(&table, row, "bytes");
                assert!(bytes <= before, "the largest come first");
                before = bytes;
                if sent == 0 || received == 0 {
                    assert_eq!(number(&table, row, "packets"), sent + received);
                    assert_eq!(bytes, sent_bytes + received_bytes);
                }
            }
        }
    }
}

#[test]
fn a_packet_that_an_address_sends_to_itself_counts_once() {
    const ITSELF: &str = "src_ip == 127.0.0.1 and dst_ip == 127.0.0.1";
    let table = table("endpoints", &[&format!("where={ITSELF}")], &["loopback.pcap.zst"]);
    let condition = Condition::new(ITSELF, &Field::SCHEMA).unwrap();
    let expected = added_up(Some(&condition), &["loopback.pcap.zst"]);
    assert_eq!(table.len(), 1);
    let [(sent, bytes), received] = expected[&address(&table, 0)];
    assert!(sent > 0 && (sent, bytes) == received);
    assert_eq!((number(&table, 0, "packets"), number(&table, 0, "bytes")), (sent, bytes));
}

#[test]
fn endpoints_are_as_many_as_asked_for_and_told_apart_by_time() {
    let all = table("endpoints", &[], &["web.pcap.gz"]);
    let top = table("endpoints", &["top=2"], &["web.pcap.gz"]);
    assert_eq!(top.len(), 2);
    assert_eq!(address(&top, 0), address(&all, 0));
    let minutes = table("endpoints", &["every=1m"], &["web.pcap.gz"]);
    assert_eq!(minutes.schema().fields()[0].name(), "ts");
    let sum = |table: &Batch| (0..table.len()).map(|row| number(table, row, "bytes")).sum::<u64>();
    assert_eq!(sum(&minutes), sum(&all));
}

#[test]
fn a_question_that_there_is_not_is_refused_with_those_that_there_are() {
    let error = QuestionSpec::named("endpoint").err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.message().contains("did you mean endpoints?"), "{error}");
    let error = asked("endpoints", &["tops=3"]).err().unwrap();
    assert!(error.message().contains("did you mean top?"), "{error}");
}

#[test]
fn each_service_has_what_goes_to_its_port_and_from_it() {
    for name in SAMPLES {
        let mut expected: BTreeMap<(String, u64), Both> = BTreeMap::new();
        let add = |packet: &Packet, _: &_| {
            let [from, to] = [Field::SrcPort, Field::DstPort].map(|field| packet.value(field));
            let (Value::Unsigned(from), Value::Unsigned(to)) = (from, to) else { return };
            let service = (packet.value(Field::Proto).to_string(), from.min(to));
            let both = expected.entry(service).or_default();
            for (port, (packets, bytes)) in [from, to].into_iter().zip(both) {
                if port == from.min(to) {
                    *packets += 1;
                    *bytes += u64::from(packet.length());
                }
            }
        };
        sample(name).each(add).unwrap();
        let table = table("services", &[], &[name]);
        assert_eq!(table.len(), expected.len(), "{name}");
        for row in 0..table.len() {
            let proto = table.column("proto").unwrap().value(row).to_string();
            let [(sent, sent_bytes), (received, received_bytes)] =
                expected[&(proto, number(&table, row, "port"))];
            assert_eq!(number(&table, row, "sent_packets"), sent);
            assert_eq!(number(&table, row, "sent_bytes"), sent_bytes);
            assert_eq!(number(&table, row, "received_packets"), received);
            assert_eq!(number(&table, row, "received_bytes"), received_bytes);
        }
    }
}
