//! Zeek's conn.log, as its ASCII writer and its JSON writer have it.
//!
//! Sources: Zeek's documentation of `Conn::Info`
//! (<https://docs.zeek.org/en/master/scripts/base/protocols/conn/main.zeek.html>) and of its log formats
//! (<https://docs.zeek.org/en/master/log-formats.html>).

use std::net::IpAddr;

use sha1::{Digest, Sha1};

use super::AppProtocol;
use super::zeek_roles::as_zeek_sees;
use crate::batch::notation::{address, civil_time, padded, seconds, signed, unsigned};
use crate::batch::{ShortText, Value, json};
use crate::flow::{Flow, FlowField};
use crate::packet::proto;

/// Features that the log tells.
pub(super) const FEATURES: &[FlowField] = &[
    FlowField::ConnState,
    FlowField::History,
    FlowField::LostSegments,
    FlowField::TlsVersion,
    FlowField::DnsQuery,
    FlowField::HttpHost,
    FlowField::IpBytes,
    FlowField::PayloadBytes,
    FlowField::StreamBytes,
];

/// A column of the log.
struct ZeekColumn {
    name: &'static str,
    /// The name of Zeek's type.
    kind: &'static str,
    value: fn(&Flow) -> Value<'_>,
}

/// The columns of [`Conn::Info`], in its order.
const COLUMNS: &[ZeekColumn] = &[
    column("ts", "time", |flow| flow.value(FlowField::Ts)),
    column("uid", "string", uid),
    column("id.orig_h", "addr", |flow| flow.src_ip().into()),
    column("id.orig_p", "port", |flow| port(flow, 0)),
    column("id.resp_h", "addr", |flow| flow.dst_ip().into()),
    column("id.resp_p", "port", |flow| port(flow, 1)),
    column("proto", "enum", transport),
    column("service", "string", service),
    column("duration", "interval", |flow| lasting(flow, FlowField::Duration)),
    column("orig_bytes", "count", |flow| {
        sent(flow, FlowField::StreamBytes, FlowField::PayloadBytes)
    }),
    column("resp_bytes", "count", |flow| {
        sent(flow, FlowField::RevStreamBytes, FlowField::RevPayloadBytes)
    }),
    column("conn_state", "string", |flow| flow.value(FlowField::ConnState)),
    column("local_orig", "bool", |flow| Value::Bool(is_private(flow.src_ip()))),
    column("local_resp", "bool", |flow| Value::Bool(is_private(flow.dst_ip()))),
    column("missed_bytes", "count", missed_bytes),
    column("history", "string", |flow| flow.value(FlowField::History)),
    column("orig_pkts", "count", |flow| flow.packets().into()),
    column("orig_ip_bytes", "count", |flow| flow.value(FlowField::IpBytes)),
    column("resp_pkts", "count", |flow| flow.rev_packets().into()),
    column("resp_ip_bytes", "count", |flow| flow.value(FlowField::RevIpBytes)),
    column("tunnel_parents", "set[string]", |_| Value::Null),
    column("ip_proto", "count", |flow| Value::Unsigned(flow.proto().into())),
];

const fn column(
    name: &'static str,
    kind: &'static str,
    value: fn(&Flow) -> Value<'_>,
) -> ZeekColumn {
    ZeekColumn { name, kind, value }
}

/// Appends the lines that say how to read the others.
pub(super) fn header(now: i64, into: &mut Vec<u8>) {
    into.extend_from_slice(
        b"#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n",
    );
    clock_line(b"#open", now, into);
    listed(b"#fields", COLUMNS.iter().map(|column| column.name), into);
    listed(b"#types", COLUMNS.iter().map(|column| column.kind), into);
}

/// Appends the line that says that the log is whole.
pub(super) fn footer(now: i64, into: &mut Vec<u8>) {
    clock_line(b"#close", now, into);
}

/// Appends a flow as a line with tabs.
pub(super) fn line(flow: &Flow, into: &mut Vec<u8>) {
    let flow = &*as_zeek_sees(flow);
    for (place, column) in COLUMNS.iter().enumerate() {
        into.extend_from_slice(if place > 0 { b"\t" } else { b"" });
        match (column.value)(flow) {
            Value::Null => into.push(b'-'),
            Value::Bool(is_true) => into.push(if is_true { b'T' } else { b'F' }),
            Value::Address(known) => address(into, known),
            // The letters of Zeek and names of protocols: there is nothing to escape in them.
            Value::Text(text) => into.extend_from_slice(text.as_bytes()),
            Value::ShortText(text) => into.extend_from_slice(text.as_str().as_bytes()),
            value => number(value, into),
        }
    }
    into.push(b'\n');
}

/// Appends a flow as an object. Its names are flat, and what is not set is not there.
pub(super) fn json_line(flow: &Flow, into: &mut Vec<u8>) {
    let flow = &*as_zeek_sees(flow);
    let mut opening = b'{';
    for column in COLUMNS {
        let value = (column.value)(flow);
        if value == Value::Null {
            continue;
        }
        into.push(std::mem::replace(&mut opening, b','));
        json::text(into, column.name);
        into.push(b':');
        match value {
            Value::Time(_) | Value::Duration(_) => number(value, into),
            value => json::value(into, value),
        }
    }
    into.extend_from_slice(b"}\n");
}

/// Appends a number; of times and durations, seconds with six digits behind the point.
fn number(value: Value<'_>, into: &mut Vec<u8>) {
    match value {
        Value::Time(ts) => {
            // Rounded down, before 1970 too: the fraction counts from there to zero.
            let micros = ts.div_euclid(1000);
            into.extend_from_slice(if micros < 0 { b"-" } else { b"" });
            seconds(into, micros.unsigned_abs());
        }
        Value::Duration(micros) => seconds(into, micros),
        Value::Unsigned(number) => unsigned(into, number),
        Value::Signed(number) => signed(into, number),
        _ => {}
    }
}

/// Appends a line with a time of day.
fn clock_line(name: &[u8], now: i64, into: &mut Vec<u8>) {
    into.extend_from_slice(name);
    let [year, parts @ ..] = civil_time(now);
    into.push(b'\t');
    padded(into, year, 4);
    for part in parts {
        into.push(b'-');
        padded(into, part, 2);
    }
    into.push(b'\n');
}

fn listed(name: &[u8], words: impl Iterator<Item = &'static str>, into: &mut Vec<u8>) {
    into.extend_from_slice(name);
    for word in words {
        into.push(b'\t');
        into.extend_from_slice(word.as_bytes());
    }
    into.push(b'\n');
}

/// Digits of Zeek's identifiers.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Digits that 96 bits have at most.
const UID_DIGITS_MAX: usize = 17;

/// The identifier of a connection: `C`, and 96 bits to the base of 62. Zeek's are random; this one is the same for the same
/// endpoints and time of begin, so that logs that are made twice agree.
fn uid(flow: &Flow) -> Value<'_> {
    let mut hash = Sha1::new();
    hash.update(flow.community_id());
    hash.update([flow.initiator]);
    hash.update(flow.ts().unwrap_or(0).to_be_bytes());
    let digest = hash.finalize();
    let bits = digest.iter().take(12).fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    let mut text = [b'0'; UID_DIGITS_MAX + 1];
    text[0] = b'C';
    let mut rest = bits;
    for digit in text[1..].iter_mut().rev() {
        *digit = DIGITS[(rest % 62) as usize];
        rest /= 62;
    }
    let text = std::str::from_utf8(&text).ok().and_then(ShortText::new);
    text.map_or(Value::Null, Value::ShortText)
}

/// The port of the initiator or of the other side: of ICMP, the type and its counterpart or code, and 0 without either.
fn port(flow: &Flow, side: usize) -> Value<'_> {
    let ports = flow.key.ports.unwrap_or_default();
    let place = (flow.initiator() + side) & 1;
    Value::Unsigned(ports[place].into())
}

fn transport(flow: &Flow) -> Value<'_> {
    Value::Text(match flow.proto() {
        proto::TCP => "tcp",
        proto::UDP => "udp",
        proto::ICMP | proto::ICMPV6 => "icmp",
        _ => "unknown_transport",
    })
}

fn service(flow: &Flow) -> Value<'_> {
    flow.application().map_or(Value::Null, |application| {
        Value::Text(match application {
            AppProtocol::Dns => "dns",
            AppProtocol::Http => "http",
            AppProtocol::Quic => "quic,ssl",
            AppProtocol::Tls => "ssl",
        })
    })
}

/// The value of a field of a flow that lasted: Zeek leaves out durations of nothing, and byte counts with them.
fn lasting(flow: &Flow, field: FlowField) -> Value<'_> {
    let lasts = flow.span.is_some_and(|span| span.first != span.last);
    if lasts { flow.value(field) } else { Value::Null }
}

/// Bytes that a side sent: those of its stream, or else of its payloads.
fn sent(flow: &Flow, stream: FlowField, payload: FlowField) -> Value<'_> {
    match lasting(flow, stream) {
        Value::Null => lasting(flow, payload),
        bytes => bytes,
    }
}

/// Bytes that a stream lacks: none where there was no gap. How many there are in gaps is not known.
fn missed_bytes(flow: &Flow) -> Value<'_> {
    let gaps = [FlowField::LostSegments, FlowField::RevLostSegments];
    let has_gap = gaps.iter().any(|field| matches!(flow.value(*field), Value::Unsigned(1..)));
    match flow.value(FlowField::ConnState) == Value::Null || has_gap {
        true => Value::Null,
        false => Value::Unsigned(0),
    }
}

/// Networks that are not routed over the Internet, which Zeek takes for local ones (`Site::private_address_space`): those of
/// the IANA IPv4 Special-Purpose Address Registry, and groups of a link and a site (RFC 5771, RFC 2365); by their addresses and
/// lengths of prefix.
const PRIVATE_IPV4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 24),
    ([239, 0, 0, 0], 8),
    ([240, 0, 0, 0], 4),
];

/// Those of the IANA IPv6 Special-Purpose Address Registry, by their first three groups.
const PRIVATE_IPV6: &[([u16; 3], u32)] = &[
    ([0x0064, 0xff9b, 0x0001], 48),
    ([0x2001, 0, 0], 23),
    ([0x2001, 0x0db8, 0], 32),
    ([0xfc00, 0, 0], 7),
    ([0xfe80, 0, 0], 10),
    ([0xfec0, 0, 0], 10),
];

/// Returns true if an address is of one of those networks.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let bits = address.to_bits();
            PRIVATE_IPV4.iter().any(|(network, prefix)| {
                (bits ^ u32::from_be_bytes(*network)).leading_zeros() >= *prefix
            })
        }
        IpAddr::V6(address) => {
            let [first, second, third, ..] = address.segments();
            // The unspecified address and that of the loopback; 100::/64, which discards; 6to4 of a network of IPv4.
            if address.to_bits() <= 1 || address.to_bits() >> 64 == 0x0100 << 48 {
                return true;
            }
            if first == 0x2002 {
                let [high, low] = [second, third].map(u16::to_be_bytes);
                return is_private(IpAddr::from([high[0], high[1], low[0], low[1]]));
            }
            let bits = |[first, second, third]: [u16; 3]| {
                u64::from(first) << 48 | u64::from(second) << 32 | u64::from(third) << 16
            };
            PRIVATE_IPV6.iter().any(|(network, prefix)| {
                (bits([first, second, third]) ^ bits(*network)).leading_zeros() >= *prefix
            })
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::is_private;

    #[test]
    fn networks_that_are_not_routed_are_local() {
        for local in [
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "169.254.3.4",
            "172.31.255.255",
            "192.168.0.1",
            "198.19.0.1",
            "224.0.0.251",
            "239.1.1.1",
            "240.0.0.1",
            "fec0::1",
            "255.255.255.255",
            "::",
            "::1",
            "64:ff9b:1::1",
            "100::1",
            "2001:2::1",
            "2001:db8::1",
            "2002:a00::1",
            "2002:c0a8:101::1",
            "fdff::1",
            "fe80::1",
            "febf::1",
        ] {
            assert!(is_private(local.parse().unwrap()), "{local}");
        }
        for routed in [
            "1.1.1.1",
            "100.128.0.0",
            "172.32.0.0",
            "192.0.1.1",
            "198.20.0.0",
            "224.0.1.1",
            "238.1.1.1",
            "::2",
            "64:ff9b::1",
            "100:0:0:1::",
            "2001:200::1",
            "2002:808:808::1",
            "2606:4700::1",
            "ff02::fb",
        ] {
            assert!(!is_private(routed.parse().unwrap()), "{routed}");
        }
    }
}
