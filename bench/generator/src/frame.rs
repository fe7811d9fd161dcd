//! From a step of a conversation to the bytes on the wire, checksums included.

use crate::checksum::Checksum;
use crate::conversation::{ACK, Conversation, SYN, Step, TcpConnection, Transport};
use crate::endpoint::{Addresses, Direction, Endpoints, Tags};
use crate::payload::PayloadSource;
use generator::random::Random;

const ETHERTYPE_V4: u16 = 0x0800;
const ETHERTYPE_V6: u16 = 0x86dd;
const ETHERTYPE_VLAN: u16 = 0x8100;
const ETHERTYPE_QINQ: u16 = 0x88a8;
const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const PROTOCOL_ICMPV6: u8 = 58;
/// Ethernet pads shorter frames; the capture sees the padding, but not the 4 bytes of FCS.
const FRAME_BYTES_MIN: usize = 60;

/// Offset of the checksum in a transport header, and the protocol number that announces it.
struct TransportLayout {
    protocol: u8,
    header_bytes: usize,
    checksum_offset: usize,
}

/// Writes the frame for `step` over what `frame` held before.
pub fn build(
    conversation: &mut Conversation,
    step: &Step,
    time_ns: u64,
    source: &PayloadSource,
    random: &mut Random,
    frame: &mut Vec<u8>,
) {
    let layout = transport_layout(conversation, step);
    let segment_bytes = layout.header_bytes + step.payload_bytes;
    let identification = next_identification(conversation, step.direction);

    frame.clear();
    push_ethernet(&conversation.endpoints, step.direction, frame);
    push_ip(
        conversation.endpoints.addresses,
        step.direction,
        layout.protocol,
        segment_bytes,
        identification,
        frame,
    );
    let segment_start = frame.len();
    push_transport(conversation, step, time_ns, segment_bytes, frame);
    debug_assert_eq!(frame.len() - segment_start, layout.header_bytes);
    source.append(&mut conversation.payload, step.payload_bytes, random, frame);
    fill_checksum(conversation.endpoints.addresses, &layout, &mut frame[segment_start..]);

    if frame.len() < FRAME_BYTES_MIN {
        frame.resize(FRAME_BYTES_MIN, 0);
    }
    if let Transport::Tcp(connection) = &mut conversation.transport {
        connection.advance(step);
    }
}

fn transport_layout(conversation: &Conversation, step: &Step) -> TransportLayout {
    match (&conversation.transport, conversation.endpoints.addresses) {
        (Transport::Tcp(_), _) => TransportLayout {
            protocol: PROTOCOL_TCP,
            header_bytes: if step.tcp_flags & SYN != 0 { 40 } else { 32 },
            checksum_offset: 16,
        },
        (Transport::Udp { .. }, _) => {
            TransportLayout { protocol: PROTOCOL_UDP, header_bytes: 8, checksum_offset: 6 }
        }
        (Transport::Echo { .. }, Addresses::V4 { .. }) => {
            TransportLayout { protocol: PROTOCOL_ICMP, header_bytes: 8, checksum_offset: 2 }
        }
        (Transport::Echo { .. }, Addresses::V6 { .. }) => {
            TransportLayout { protocol: PROTOCOL_ICMPV6, header_bytes: 8, checksum_offset: 2 }
        }
    }
}

fn next_identification(conversation: &mut Conversation, direction: Direction) -> u16 {
    let identification = &mut conversation.identification[direction.index()];
    *identification = identification.wrapping_add(1);
    *identification
}

fn push_ethernet(endpoints: &Endpoints, direction: Direction, frame: &mut Vec<u8>) {
    let (destination, source) = match direction {
        Direction::ToServer => (endpoints.gateway_mac, endpoints.client_mac),
        Direction::ToClient => (endpoints.client_mac, endpoints.gateway_mac),
    };
    frame.extend_from_slice(&destination);
    frame.extend_from_slice(&source);
    match endpoints.tags {
        Tags::None => {}
        Tags::Vlan(tag) => push_numbers(&[ETHERTYPE_VLAN, tag], frame),
        Tags::QinQ { outer, inner } => {
            push_numbers(&[ETHERTYPE_QINQ, outer, ETHERTYPE_VLAN, inner], frame);
        }
    }
    let ethertype = match endpoints.addresses {
        Addresses::V4 { .. } => ETHERTYPE_V4,
        Addresses::V6 { .. } => ETHERTYPE_V6,
    };
    push_numbers(&[ethertype], frame);
}

fn push_ip(
    addresses: Addresses,
    direction: Direction,
    protocol: u8,
    segment_bytes: usize,
    identification: u16,
    frame: &mut Vec<u8>,
) {
    let hops_left = match direction {
        Direction::ToServer => 64,
        Direction::ToClient => 52,
    };
    match addresses {
        Addresses::V4 { client, server } => {
            const DONT_FRAGMENT: u16 = 0x4000;
            let start = frame.len();
            let total_bytes = 20 + segment_bytes as u16;
            push_numbers(&[0x4500, total_bytes, identification, DONT_FRAGMENT], frame);
            frame.extend_from_slice(&[hops_left, protocol, 0, 0]);
            push_ordered(&client, &server, direction, frame);
            let checksum = Checksum::default().add(&frame[start..]).finish();
            frame[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
        }
        Addresses::V6 { client, server } => {
            push_numbers(&[0x6000, 0, segment_bytes as u16], frame);
            frame.extend_from_slice(&[protocol, hops_left]);
            push_ordered(&client, &server, direction, frame);
        }
    }
}

fn push_transport(
    conversation: &Conversation,
    step: &Step,
    time_ns: u64,
    segment_bytes: usize,
    frame: &mut Vec<u8>,
) {
    match &conversation.transport {
        Transport::Tcp(connection) => push_tcp(connection, step, time_ns, frame),
        Transport::Udp { client_port, server_port } => {
            push_ordered(
                &client_port.to_be_bytes(),
                &server_port.to_be_bytes(),
                step.direction,
                frame,
            );
            push_numbers(&[segment_bytes as u16, 0], frame);
        }
        Transport::Echo { identifier, requests_sent, .. } => {
            let kind = echo_kind(conversation.endpoints.addresses, step.direction);
            frame.extend_from_slice(&[kind, 0, 0, 0]);
            push_numbers(&[*identifier, *requests_sent], frame);
        }
    }
}

fn echo_kind(addresses: Addresses, direction: Direction) -> u8 {
    match (addresses, direction) {
        (Addresses::V4 { .. }, Direction::ToServer) => 8,
        (Addresses::V4 { .. }, Direction::ToClient) => 0,
        (Addresses::V6 { .. }, Direction::ToServer) => 128,
        (Addresses::V6 { .. }, Direction::ToClient) => 129,
    }
}

fn push_tcp(connection: &TcpConnection, step: &Step, time_ns: u64, frame: &mut Vec<u8>) {
    let sender = step.direction.index();
    let receiver = step.direction.opposite().index();
    let acknowledged = if step.tcp_flags & ACK != 0 { connection.sequence[receiver] } else { 0 };
    let opening = step.tcp_flags & SYN != 0;
    let header_words: u8 = if opening { 10 } else { 8 };

    let client_port = connection.client_port.to_be_bytes();
    let server_port = connection.server_port.to_be_bytes();
    push_ordered(&client_port, &server_port, step.direction, frame);
    frame.extend_from_slice(&connection.sequence[sender].to_be_bytes());
    frame.extend_from_slice(&acknowledged.to_be_bytes());
    frame.extend_from_slice(&[header_words << 4, step.tcp_flags]);
    const WINDOW: u16 = 501;
    push_numbers(&[WINDOW, 0, 0], frame);

    const NO_OPERATION: u8 = 1;
    if opening {
        const MAXIMUM_SEGMENT_AND_SACK: [u8; 6] = [2, 4, 0x05, 0xb4, 4, 2];
        frame.extend_from_slice(&MAXIMUM_SEGMENT_AND_SACK);
    } else {
        frame.extend_from_slice(&[NO_OPERATION, NO_OPERATION]);
    }
    let milliseconds = (time_ns / 1_000_000) as u32;
    let echoed = if acknowledged == 0 { 0 } else { connection.timestamp_base[receiver] };
    frame.extend_from_slice(&[8, 10]);
    frame.extend_from_slice(
        &milliseconds.wrapping_add(connection.timestamp_base[sender]).to_be_bytes(),
    );
    frame.extend_from_slice(&milliseconds.wrapping_add(echoed).to_be_bytes());
    if opening {
        const WINDOW_SCALE: [u8; 4] = [NO_OPERATION, 3, 3, 7];
        frame.extend_from_slice(&WINDOW_SCALE);
    }
}

fn fill_checksum(addresses: Addresses, layout: &TransportLayout, segment: &mut [u8]) {
    let mut checksum = Checksum::default();
    if layout.protocol != PROTOCOL_ICMP {
        checksum = match addresses {
            Addresses::V4 { client, server } => checksum.add(&client).add(&server),
            Addresses::V6 { client, server } => checksum.add(&client).add(&server),
        };
        checksum = checksum.add_number(segment.len() as u64 + u64::from(layout.protocol));
    }
    let mut sum = checksum.add(segment).finish();
    if sum == 0 && layout.protocol == PROTOCOL_UDP {
        // A zero in a UDP header means that no checksum was sent (RFC 768).
        sum = 0xffff;
    }
    segment[layout.checksum_offset..layout.checksum_offset + 2].copy_from_slice(&sum.to_be_bytes());
}

/// The client's part first on the way to the server, the server's first on the way back.
fn push_ordered(client: &[u8], server: &[u8], direction: Direction, frame: &mut Vec<u8>) {
    let (first, second) = match direction {
        Direction::ToServer => (client, server),
        Direction::ToClient => (server, client),
    };
    frame.extend_from_slice(first);
    frame.extend_from_slice(second);
}

fn push_numbers(numbers: &[u16], frame: &mut Vec<u8>) {
    for number in numbers {
        frame.extend_from_slice(&number.to_be_bytes());
    }
}
