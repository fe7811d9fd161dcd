//! Captures of real programs.

use std::collections::BTreeMap;
use std::path::Path;

use bytewright::ask::load_idl;
use bytewright::packet::DecodeOptions;
use bytewright::rpc::{Call, Methods, Outcome, Rpc, RpcOptions};
use bytewright::thrift::Tape;
use bytewright::thrift::idl::IdlOptions;

use crate::files;

fn sample(name: &str) -> Option<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples").join(name);
    path.exists().then(|| files::plain(&path))
}

fn calls(capture: &[u8], inner: bool, options: RpcOptions) -> Vec<Call> {
    let (records, _) = files::records(capture);
    let mut rpc = Rpc::new(options);
    let mut calls = Vec::new();
    for (record, number) in records.iter().zip(1..) {
        let packet =
            files::packet(number, record, DecodeOptions { inner, ..DecodeOptions::default() });
        rpc.add(&packet, record.captured, &mut |call| calls.push(call));
    }
    rpc.finish(&mut |call| calls.push(call));
    calls
}

#[test]
fn all_calls_of_the_sample_are_found_as_tshark_counts_them() {
    let Some(capture) = sample("warehouse.pcap.zst") else { return };
    let calls = calls(&capture, false, RpcOptions::default());
    // Three clients for each protocol, 201 calls each.
    let mut by_protocol: BTreeMap<&str, usize> = BTreeMap::new();
    calls.iter().for_each(|call| *by_protocol.entry(call.protocol.name()).or_default() += 1);
    let expected = ["binary", "compact", "framed-binary", "framed-compact"].map(|name| (name, 603));
    assert_eq!(by_protocol, BTreeMap::from(expected));
    // `tshark -Y thrift -T fields -e thrift.method -e thrift.mtype` knows three of them.
    let known = calls.iter().filter(|call| call.protocol.name() != "compact");
    let mut by_method: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for call in known {
        let counts = by_method.entry(&call.method).or_default();
        counts[0] += 1;
        counts[1] += usize::from(call.reply_bytes.is_some());
    }
    let expected = [
        ("audit", [41, 41]),
        ("find", [463, 463]),
        ("log", [189, 0]),
        ("picture", [41, 41]),
        ("ping", [416, 416]),
        ("reserve", [290, 290]),
        ("search", [272, 272]),
        ("weigh", [97, 97]),
    ];
    assert_eq!(by_method, BTreeMap::from(expected));
    assert!(
        calls
            .iter()
            .all(|call| (call.method.as_ref() == "audit") == (call.outcome == Outcome::Failure))
    );
}

#[test]
fn the_idl_file_of_the_sample_reads_every_message_in_it() {
    let Some(capture) = sample("warehouse.pcap.zst") else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/warehouse.thrift");
    let document = load_idl(&path, &[], IdlOptions::default()).unwrap();
    let methods = Methods::new(&document, Some("NextStore")).unwrap();
    let mut tape = Tape::new();
    for call in calls(&capture, false, RpcOptions { keeps_messages: true, ..RpcOptions::default() })
    {
        assert!(methods.has(&call));
        assert!(methods.read_arguments(&call, &mut tape).unwrap().is_some());
        assert_eq!(
            methods.read_result(&call, &mut tape).unwrap().is_some(),
            call.outcome != Outcome::Oneway
        );
    }
}

#[test]
fn a_service_is_chosen_by_its_name() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/warehouse.thrift");
    if !path.exists() {
        return;
    }
    let document = load_idl(&path, &[], IdlOptions::default()).unwrap();
    let message = |name| Methods::new(&document, name).unwrap_err().to_string();
    let several =
        "expected the name of a service where there are several, found Catalog, Store, NextStore";
    assert_eq!(message(None), several);
    let unknown = "expected the service Shop, found Catalog, Store, NextStore";
    assert_eq!(message(Some("Shop")), unknown);
}

#[test]
fn captures_without_thrift_have_no_call() {
    for name in ["web.pcap.gz", "vlan.pcapng", "tunnels.pcap", "interfaces.pcapng"] {
        let Some(capture) = sample(name) else { continue };
        assert_eq!(calls(&capture, true, RpcOptions::default()), [], "{name}");
    }
    let Some(folder) = files::corpus("captures_without_thrift_have_no_call") else { return };
    for name in files::names(&folder) {
        let capture = files::plain(&folder.join(&name));
        for inner in [false, true] {
            assert_eq!(calls(&capture, inner, RpcOptions::default()), [], "{name}");
        }
    }
}
