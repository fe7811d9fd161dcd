//! Names that Wireshark's display filters and `tshark -e` have for our fields, so that an error can tell the name here.
//! (<https://www.wireshark.org/docs/dfref/>)

/// Each of Wireshark's names with the name here. `host` and `port` are those of either side.
const NAMES: &[(&str, &str)] = &[
    ("_ws.col.protocol", "proto"),
    ("arp.dst.proto_ipv4", "arp_dst_ip"),
    ("arp.opcode", "arp_op"),
    ("arp.src.proto_ipv4", "arp_src_ip"),
    ("data.len", "payload_len"),
    ("dns.a", "dns_answers"),
    ("dns.aaaa", "dns_answers"),
    ("dns.cname", "dns_answer_names"),
    ("dns.flags.rcode", "dns_rcode"),
    ("dns.flags.response", "dns_is_response"),
    ("dns.id", "dns_id"),
    ("dns.ptr.domain_name", "dns_answer_names"),
    ("dns.qry.name", "dns_query"),
    ("dns.qry.type", "dns_type"),
    ("eth.addr", "mac"),
    ("eth.dst", "dst_mac"),
    ("eth.src", "src_mac"),
    ("eth.type", "ethertype"),
    ("frame.cap_len", "caplen"),
    ("frame.interface_id", "interface"),
    ("frame.interface_name", "interface_name"),
    ("frame.len", "length"),
    ("frame.number", "number"),
    ("frame.time", "ts"),
    ("frame.time_epoch", "ts"),
    ("http.host", "http_host"),
    ("http.request.method", "http_method"),
    ("http.request.uri", "http_path"),
    ("http.response.code", "http_status"),
    ("http.user_agent", "http_user_agent"),
    ("icmp.code", "icmp_code"),
    ("icmp.type", "icmp_type"),
    ("icmpv6.code", "icmp_code"),
    ("icmpv6.type", "icmp_type"),
    ("ip.addr", "host"),
    ("ip.dst", "dst_ip"),
    ("ip.dst_host", "dst_ip"),
    ("ip.frag_offset", "frag_offset"),
    ("ip.geoip.dst_country_iso", "dst_label"),
    ("ip.geoip.src_country_iso", "src_label"),
    ("ip.host", "host"),
    ("ip.len", "ip_len"),
    ("ip.proto", "proto"),
    ("ip.src", "src_ip"),
    ("ip.src_host", "src_ip"),
    ("ip.ttl", "ttl"),
    ("ip.version", "ip_version"),
    ("ipv6.addr", "host"),
    ("ipv6.dst", "dst_ip"),
    ("ipv6.hlim", "ttl"),
    ("ipv6.nxt", "proto"),
    ("ipv6.src", "src_ip"),
    ("sctp.dstport", "dst_port"),
    ("sctp.port", "port"),
    ("sctp.srcport", "src_port"),
    ("tcp.ack", "ack"),
    ("tcp.ack_raw", "ack"),
    ("tcp.dstport", "dst_port"),
    ("tcp.flags", "tcp_flags"),
    ("tcp.len", "payload_len"),
    ("tcp.port", "port"),
    ("tcp.seq", "seq"),
    ("tcp.seq_raw", "seq"),
    ("tcp.srcport", "src_port"),
    ("tls.handshake.extensions_alpn_str", "tls_alpn"),
    ("tls.handshake.extensions_server_name", "tls_sni"),
    ("tls.handshake.ja4", "ja4"),
    ("udp.dstport", "dst_port"),
    ("udp.port", "port"),
    ("udp.srcport", "src_port"),
    ("vlan.id", "vlan"),
];

/// Names that Wireshark has for what is a condition on a field here: the name, the field, the condition.
const CONDITIONS: &[(&str, &str, &str)] = &[
    ("arp", "arp_op", "arp_op is not null"),
    ("dns", "dns_id", "dns_id is not null"),
    ("dns.response", "dns_is_response", "dns_is_response"),
    ("http", "http_method", "http_method is not null or http_status is not null"),
    ("http.request", "http_method", "http_method is not null"),
    ("http.response", "http_status", "http_status is not null"),
    ("icmp", "proto", "proto == icmp"),
    ("icmpv6", "proto", "proto == icmpv6"),
    ("ip", "ip_version", "ip_version == 4"),
    ("ip.flags.mf", "frag_offset", "frag_offset is not null"),
    ("ipv6", "ip_version", "ip_version == 6"),
    ("sctp", "proto", "proto == sctp"),
    ("tcp", "proto", "proto == tcp"),
    ("tcp.flags.ack", "tcp_flags", "tcp_flags has ACK"),
    ("tcp.flags.cwr", "tcp_flags", "tcp_flags has CWR"),
    ("tcp.flags.ece", "tcp_flags", "tcp_flags has ECE"),
    ("tcp.flags.fin", "tcp_flags", "tcp_flags has FIN"),
    ("tcp.flags.push", "tcp_flags", "tcp_flags has PSH"),
    ("tcp.flags.reset", "tcp_flags", "tcp_flags has RST"),
    ("tcp.flags.syn", "tcp_flags", "tcp_flags has SYN"),
    ("tcp.flags.urg", "tcp_flags", "tcp_flags has URG"),
    ("tls.handshake", "tls_version", "tls_version is not null"),
    ("tls.handshake.type", "tls_version", "tls_version is not null"),
    ("udp", "proto", "proto == udp"),
];

/// Names for counts of flows here: they are no fields of packets.
const OF_FLOWS: &[(&str, &str)] = &[
    ("tcp.analysis.duplicate_ack", "duplicate_acks"),
    ("tcp.analysis.lost_segment", "lost_segments"),
    ("tcp.analysis.out_of_order", "out_of_order"),
    ("tcp.analysis.retransmission", "retransmissions"),
    ("tcp.analysis.zero_window", "zero_windows"),
    ("tcp.stream", "community_id"),
];

/// The two fields that a name of either side stands for.
const EITHER: &[(&str, &str)] = &[
    ("host", "src_ip and dst_ip"),
    ("mac", "src_mac and dst_mac"),
    ("port", "src_port and dst_port"),
];

/// The name here of a field that Wireshark calls so; nothing where no field is the same.
pub(crate) fn ours(name: &str) -> Option<&'static str> {
    let fields = NAMES.iter().chain(OF_FLOWS).copied();
    let conditions = CONDITIONS.iter().map(|(wireshark, ours, _)| (*wireshark, *ours));
    fields.chain(conditions).find(|(wireshark, _)| *wireshark == name).map(|(_, ours)| ours)
}

/// Returns true if flows have it, and packets have not.
pub(crate) fn is_of_flows(name: &str) -> bool {
    OF_FLOWS.iter().any(|(wireshark, _)| *wireshark == name)
}

/// The condition here that Wireshark calls so.
pub(crate) fn condition(name: &str) -> Option<&'static str> {
    CONDITIONS.iter().find(|(wireshark, ..)| *wireshark == name).map(|(.., condition)| *condition)
}

/// Fields here that are meant by one name of either side.
pub(crate) fn sides(ours: &str) -> Option<&'static str> {
    EITHER.iter().find(|(either, _)| *either == ours).map(|(_, sides)| *sides)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::packet::Field;
    use crate::query::Condition;

    use crate::flow::FlowField;

    #[test]
    fn every_name_of_wireshark_leads_to_a_field_of_packets_or_to_one_of_either_side() {
        for (wireshark, ours) in NAMES.iter().filter(|(_, ours)| *ours != "mac") {
            let condition = Condition::new(&format!("{ours} is null"), &Field::SCHEMA);
            assert!(condition.is_ok(), "{wireshark}: no condition can ask for {ours}");
        }
        for (wireshark, ours) in OF_FLOWS {
            assert!(FlowField::SCHEMA.find(ours).is_some(), "{wireshark}: flows have no {ours}");
        }
    }

    #[test]
    fn every_condition_can_be_asked_and_is_on_its_field() {
        for (wireshark, ours, condition) in CONDITIONS {
            assert!(
                Field::SCHEMA.find(ours).is_some() && condition.starts_with(ours),
                "{wireshark}"
            );
            assert!(Condition::new(condition, &Field::SCHEMA).is_ok(), "{wireshark}: {condition}");
        }
    }

    #[test]
    fn a_name_of_wireshark_is_answered_with_what_to_type_here() {
        for (condition, told) in [
            ("ip.src == 10.0.0.1", "found ip.src, as Wireshark calls it; here it is src_ip"),
            ("tcp.port == 80", "found tcp.port, as Wireshark calls it; here it is port"),
            ("tcp.flags.syn == 1", "found tcp.flags.syn; here it is tcp_flags has SYN"),
            (
                "tcp port 80",
                "found tcp; here it is proto == tcp, and the option filter takes libpcap's",
            ),
            ("dns and length > 5", "found dns; here it is dns_id is not null"),
            (
                "tcp.stream == 5",
                "found tcp.stream, as Wireshark calls it; flows have it as community_id",
            ),
        ] {
            let error = Condition::new(condition, &Field::SCHEMA).unwrap_err();
            assert!(error.message().contains(told), "{condition}: {error}");
        }
        let told = |name: &str| Field::SCHEMA.no_field(name).message().to_owned();
        assert!(told("tcp.port").ends_with("here it is src_port and dst_port"));
        assert!(told("eth.addr").ends_with("here it is src_mac and dst_mac"));
        assert!(told("tcp.flags.syn").ends_with("here it is tcp_flags"));
        let flows = Condition::new("ip.src is null", &FlowField::SCHEMA).unwrap_err();
        assert!(flows.message().ends_with("here it is src_ip"), "{flows}");
        let flows = Condition::new("frame.cap_len > 5", &FlowField::SCHEMA).unwrap_err();
        assert!(
            flows.message().starts_with("condition, column 1: expected a field (ts, "),
            "{flows}"
        );
    }
}
