// Generated from the core's schemas by `make generate`. Do not edit.
//! The fields of records, as `name Variant`, for the macro that makes attributes of them.

macro_rules! packet_fields {
    ($class:ident $($more:tt)*) => {
        fields! { $class {
            ts Ts,
            src_ip SrcIp,
            dst_ip DstIp,
            src_port SrcPort,
            dst_port DstPort,
            proto Proto,
            length Length,
            caplen Caplen,
            vlan Vlan,
            ttl Ttl,
            tcp_flags TcpFlags,
            payload_len PayloadLen,
            number Number,
            status Status,
            link_type LinkType,
            ethertype Ethertype,
            ip_version IpVersion,
            ip_len IpLen,
            frag_offset FragOffset,
            seq Seq,
            ack Ack,
            icmp_type IcmpType,
            icmp_code IcmpCode,
            arp_op ArpOp,
            arp_src_ip ArpSrcIp,
            arp_dst_ip ArpDstIp,
            src_mac SrcMac,
            dst_mac DstMac,
            interface Interface,
            interface_name InterfaceName,
            dns_query DnsQuery,
            dns_type DnsType,
            dns_id DnsId,
            dns_rcode DnsRcode,
            dns_answers DnsAnswers,
            tls_sni TlsSni,
            http_host HttpHost,
        } $($more)* }
    };
}

macro_rules! flow_fields {
    ($class:ident $($more:tt)*) => {
        fields! { $class {
            ts Ts,
            src_ip SrcIp,
            dst_ip DstIp,
            src_port SrcPort,
            dst_port DstPort,
            proto Proto,
            packets Packets,
            bytes Bytes,
            rev_packets RevPackets,
            rev_bytes RevBytes,
            duration Duration,
            tcp_flags TcpFlags,
            rev_tcp_flags RevTcpFlags,
            community_id CommunityId,
        } $($more)* }
    };
}

macro_rules! call_fields {
    ($class:ident $($more:tt)*) => {
        fields! { $class {
            ts Ts,
            src_ip SrcIp,
            src_port SrcPort,
            dst_ip DstIp,
            dst_port DstPort,
            protocol Protocol,
            method Method,
            sequence_id SequenceId,
            outcome Outcome,
            latency Latency,
            request_bytes RequestBytes,
            reply_bytes ReplyBytes,
        } $($more)* }
    };
}

pub(super) use {call_fields, flow_fields, packet_fields};
