//! JSON lines by the Elastic Common Schema, an object for each flow.
//!
//! Source: the field reference of ECS 8 (<https://www.elastic.co/guide/en/ecs/current/ecs-field-reference.html>).

use super::AppProtocol;
use crate::batch::notation::iso_time;
use crate::batch::{ShortText, Value, json};
use crate::flow::{Flow, FlowField};
use crate::packet::{PROTOCOLS, proto};

/// Features that the lines tell.
pub(super) const FEATURES: &[FlowField] =
    &[FlowField::TlsSni, FlowField::TlsVersion, FlowField::DnsQuery, FlowField::HttpHost];

/// The version of the schema. These fields are the same in all of 8.
const VERSION: &str = "8.11.0";

/// A field by its path: the names of the objects that it is in, and its own.
type PathField = (&'static [&'static str], fn(&Flow) -> Value<'_>);

/// The fields. Those of one object stand together.
const FIELDS: &[PathField] = &[
    (&["@timestamp"], |flow| flow.value(FlowField::Ts)),
    (&["ecs", "version"], |_| Value::Text(VERSION)),
    (&["event", "kind"], |_| Value::Text("event")),
    (&["event", "category"], |_| Value::Json(r#"["network"]"#)),
    (&["event", "type"], |_| Value::Json(r#"["connection"]"#)),
    (&["event", "start"], |flow| flow.value(FlowField::Ts)),
    (&["event", "end"], |flow| flow.last_ts().map_or(Value::Null, Value::Time)),
    (&["event", "duration"], nanoseconds),
    (&["source", "address"], |flow| flow.src_ip().into()),
    (&["source", "ip"], |flow| flow.src_ip().into()),
    (&["source", "port"], |flow| flow.src_port().into()),
    (&["source", "packets"], |flow| flow.packets().into()),
    (&["source", "bytes"], |flow| flow.bytes().into()),
    (&["destination", "address"], |flow| flow.dst_ip().into()),
    (&["destination", "ip"], |flow| flow.dst_ip().into()),
    (&["destination", "port"], |flow| flow.dst_port().into()),
    (&["destination", "packets"], |flow| flow.rev_packets().into()),
    (&["destination", "bytes"], |flow| flow.rev_bytes().into()),
    (&["network", "type"], version),
    (&["network", "transport"], transport),
    (&["network", "iana_number"], iana_number),
    (&["network", "protocol"], protocol),
    (&["network", "packets"], |flow| flow.packets().saturating_add(flow.rev_packets()).into()),
    (&["network", "bytes"], |flow| flow.bytes().saturating_add(flow.rev_bytes()).into()),
    (&["network", "community_id"], |flow| flow.value(FlowField::CommunityId)),
    (&["dns", "question", "name"], |flow| flow.value(FlowField::DnsQuery)),
    (&["tls", "client", "server_name"], |flow| flow.value(FlowField::TlsSni)),
    (&["url", "domain"], domain),
];

/// Appends a flow as an object in a line. A field without a value is not there, nor is an object without fields.
pub(super) fn line(flow: &Flow, into: &mut Vec<u8>) {
    let mut open: &[&str] = &[];
    let mut opening = b'{';
    for (path, value) in FIELDS {
        let value = value(flow);
        let Some((name, objects)) = path.split_last().filter(|_| value != Value::Null) else {
            continue;
        };
        let shared = open.iter().zip(objects).take_while(|(one, other)| one == other).count();
        into.extend(open.iter().skip(shared).map(|_| b'}'));
        for object in objects.iter().skip(shared) {
            into.push(std::mem::replace(&mut opening, b','));
            json::text(into, object);
            into.push(b':');
            opening = b'{';
        }
        open = objects;
        into.push(std::mem::replace(&mut opening, b','));
        json::text(into, name);
        into.push(b':');
        push_value(value, into);
    }
    into.extend(open.iter().map(|_| b'}'));
    into.extend_from_slice(b"}\n");
}

/// Appends a value: a time as ISO 8601 in UTC.
fn push_value(value: Value<'_>, into: &mut Vec<u8>) {
    match value {
        Value::Time(ts) => {
            into.push(b'"');
            iso_time(into, ts);
            into.push(b'"');
        }
        value => json::value(into, value),
    }
}

fn nanoseconds(flow: &Flow) -> Value<'_> {
    flow.span.map_or(Value::Null, |span| Value::Unsigned(span.last.abs_diff(span.first)))
}

fn version(flow: &Flow) -> Value<'_> {
    Value::Text(if flow.src_ip().is_ipv4() { "ipv4" } else { "ipv6" })
}

/// The protocol by the keyword that IANA has for it, in small letters.
fn transport(flow: &Flow) -> Value<'_> {
    match flow.proto() {
        proto::ICMPV6 => Value::Text("ipv6-icmp"),
        number => PROTOCOLS.name(number).into(),
    }
}

/// Its number, which the schema has as text.
fn iana_number(flow: &Flow) -> Value<'_> {
    ShortText::new(&flow.proto().to_string()).map_or(Value::Null, Value::ShortText)
}

fn protocol(flow: &Flow) -> Value<'_> {
    flow.application().map_or(Value::Null, |application| {
        Value::Text(match application {
            AppProtocol::Dns => "dns",
            AppProtocol::Http => "http",
            AppProtocol::Quic => "quic",
            AppProtocol::Tls => "tls",
        })
    })
}

/// The host of the first request, without a port.
fn domain(flow: &Flow) -> Value<'_> {
    let Value::Text(host) = flow.value(FlowField::HttpHost) else { return Value::Null };
    let is_host = |name: &str| !name.contains(':') || name.ends_with(']');
    let split = host
        .rsplit_once(':')
        .filter(|(name, port)| is_host(name) && port.bytes().all(|byte| byte.is_ascii_digit()));
    Value::Text(split.map_or(host, |(name, _)| name))
}
