//! Names that Wireshark's display filters and `tshark -e` have for our fields, so that an error can tell the name here.
//! (<https://www.wireshark.org/docs/dfref/>)

/// Each of Wireshark's names with the name here. `host` and `port` are those of either side.
const NAMES: &[(&str, &str)] = &[
    ("_ws.col.protocol", "proto"),
    ("arp.dst.proto_ipv4", "arp_dst_ip"),
    ("arp.opcode", "arp_op"),
    ("arp.src.proto_ipv4", "arp_src_ip"),
    ("dns.a", "dns_answers"),
    ("dns.aaaa", "dns_answers"),
    ("dns.cname", "dns_answer_names"),
    ("dns.flags.rcode", "dns_rcode"),
    ("dns.flags.response", "dns_is_response"),
    ("dns.id", "dns_id"),
    ("dns.ptr.domain_name", "dns_answer_names"),
    ("dns.qry.name", "dns_query"),
    ("dns.qry.type", "dns_type"),
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
    ("ip.frag_offset", "frag_offset"),
    ("ip.len", "ip_len"),
    ("ip.proto", "proto"),
    ("ip.src", "src_ip"),
    ("ip.ttl", "ttl"),
    ("ip.version", "ip_version"),
    ("ipv6.addr", "host"),
    ("ipv6.dst", "dst_ip"),
    ("ipv6.hlim", "ttl"),
    ("ipv6.nxt", "proto"),
    ("ipv6.src", "src_ip"),
    ("tcp.ack", "ack"),
    ("tcp.ack_raw", "ack"),
    ("tcp.dstport", "dst_port"),
    ("tcp.flags", "tcp_flags"),
    ("tcp.len", "payload_len"),
    ("tcp.port", "port"),
    ("tcp.seq", "seq"),
    ("tcp.seq_raw", "seq"),
    ("tcp.srcport", "src_port"),
    ("tls.handshake.extensions_server_name", "tls_sni"),
    ("udp.dstport", "dst_port"),
    ("udp.port", "port"),
    ("udp.srcport", "src_port"),
    ("vlan.id", "vlan"),
];

/// The name here of a field that Wireshark calls so; nothing where no field is the same.
pub(crate) fn ours(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(wireshark, _)| *wireshark == name).map(|(_, ours)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Field;
    use crate::query::Condition;

    #[test]
    fn every_name_of_wireshark_leads_to_a_field_of_packets_or_to_one_of_either_side() {
        for (wireshark, ours) in NAMES {
            let condition = Condition::new(&format!("{ours} is null"), &Field::SCHEMA);
            assert!(condition.is_ok(), "{wireshark}: no condition can ask for {ours}");
        }
    }
}
