//! One flow's life: which packet comes next, and when it is over.

use crate::endpoint::{Addresses, Direction, Endpoints};
use crate::payload::{Content, Payload, PayloadSource};
use generator::random::Random;

pub const FIN: u8 = 0x01;
pub const SYN: u8 = 0x02;
pub const RST: u8 = 0x04;
pub const PSH: u8 = 0x08;
pub const ACK: u8 = 0x10;

pub struct Conversation {
    pub endpoints: Endpoints,
    pub transport: Transport,
    pub payload: Payload,
    /// The IPv4 identification of the next packet each way.
    pub identification: [u16; 2],
    exchanges_left: usize,
}

pub enum Transport {
    Tcp(TcpConnection),
    Udp { client_port: u16, server_port: u16 },
    Echo { identifier: u16, requests_sent: u16, awaiting_reply: bool },
}

pub struct TcpConnection {
    pub client_port: u16,
    pub server_port: u16,
    /// The next sequence number of the sender, by direction.
    pub sequence: [u32; 2],
    pub timestamp_base: [u32; 2],
    state: TcpState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TcpState {
    Closed,
    SynSent,
    SynReceived,
    Established,
    ClientClosed,
    ServerClosed,
    Done,
}

/// Next packet of a conversation; the frame builder knows how to write it.
pub struct Step {
    pub direction: Direction,
    pub tcp_flags: u8,
    pub payload_bytes: usize,
}

const TCP_SERVICES: [u16; 10] = [443, 443, 443, 443, 80, 80, 25, 22, 8080, 5432];
const UDP_SERVICES: [u16; 8] = [443, 443, 53, 53, 53, 123, 5004, 51820];
const ENCRYPTED_SERVICES: [u16; 3] = [443, 22, 51820];

impl Conversation {
    pub fn random(content: Content, source: &PayloadSource, random: &mut Random) -> Self {
        let endpoints = Endpoints::random(random);
        let transport = Transport::random(random);
        let payload = choose_payload(content, transport.server_port(), source, random);
        let identification = [random.bits() as u16, random.bits() as u16];
        Conversation {
            endpoints,
            transport,
            payload,
            identification,
            exchanges_left: random_exchanges(random),
        }
    }

    /// Skips the handshake, as a capture sees of a connection that was there before it began.
    pub fn joined_midway(mut self) -> Self {
        if let Transport::Tcp(connection) = &mut self.transport {
            connection.state = TcpState::Established;
        }
        self
    }

    /// The next packet, or none when the conversation is over.
    pub fn next_step(&mut self, random: &mut Random) -> Option<Step> {
        let segment_bytes_max = match self.endpoints.addresses {
            Addresses::V4 { .. } => 1_448,
            Addresses::V6 { .. } => 1_428,
        };
        match &mut self.transport {
            Transport::Tcp(connection) => {
                connection.next_step(&mut self.exchanges_left, segment_bytes_max, random)
            }
            Transport::Udp { server_port, .. } => {
                self.exchanges_left = self.exchanges_left.checked_sub(1)?;
                Some(datagram(*server_port, random))
            }
            Transport::Echo { requests_sent, awaiting_reply, .. } => {
                self.exchanges_left = self.exchanges_left.checked_sub(1)?;
                Some(echo(requests_sent, awaiting_reply))
            }
        }
    }
}

impl Transport {
    fn random(random: &mut Random) -> Self {
        let client_port = random.between(32_768, 60_999) as u16;
        match random.below(100) {
            0..=77 => Transport::Tcp(TcpConnection {
                client_port,
                server_port: *random.pick(&TCP_SERVICES),
                sequence: [random.bits() as u32, random.bits() as u32],
                timestamp_base: [random.bits() as u32, random.bits() as u32],
                state: TcpState::Closed,
            }),
            78..=97 => Transport::Udp { client_port, server_port: *random.pick(&UDP_SERVICES) },
            _ => {
                Transport::Echo { identifier: client_port, requests_sent: 0, awaiting_reply: false }
            }
        }
    }

    fn server_port(&self) -> Option<u16> {
        match self {
            Transport::Tcp(connection) => Some(connection.server_port),
            Transport::Udp { server_port, .. } => Some(*server_port),
            Transport::Echo { .. } => None,
        }
    }
}

fn choose_payload(
    content: Content,
    server_port: Option<u16>,
    source: &PayloadSource,
    random: &mut Random,
) -> Payload {
    let encrypted = server_port.is_some_and(|port| ENCRYPTED_SERVICES.contains(&port));
    match content {
        Content::Patterned => source.records(random),
        Content::Mixed if encrypted => Payload::Encrypted,
        Content::Mixed if random.percent(15) => source.records(random),
        Content::Mixed => source.text(random),
    }
}

/// Most conversations are short, and a few carry most of the bytes.
fn random_exchanges(random: &mut Random) -> usize {
    match random.below(100) {
        0..=59 => random.between(2, 12),
        60..=84 => random.between(8, 40),
        85..=96 => random.between(30, 120),
        _ => random.between(120, 900),
    }
}

impl TcpConnection {
    fn next_step(
        &mut self,
        exchanges_left: &mut usize,
        segment_bytes_max: usize,
        random: &mut Random,
    ) -> Option<Step> {
        use Direction::{ToClient, ToServer};
        let (next_state, direction, tcp_flags) = match self.state {
            TcpState::Closed => (TcpState::SynSent, ToServer, SYN),
            TcpState::SynSent => (TcpState::SynReceived, ToClient, SYN | ACK),
            TcpState::SynReceived => (TcpState::Established, ToServer, ACK),
            TcpState::Established if *exchanges_left > 0 => {
                *exchanges_left -= 1;
                return Some(established_step(segment_bytes_max, random));
            }
            TcpState::Established if random.percent(8) => (TcpState::Done, ToServer, RST | ACK),
            TcpState::Established => (TcpState::ClientClosed, ToServer, FIN | ACK),
            TcpState::ClientClosed => (TcpState::ServerClosed, ToClient, FIN | ACK),
            TcpState::ServerClosed => (TcpState::Done, ToServer, ACK),
            TcpState::Done => return None,
        };
        self.state = next_state;
        Some(Step { direction, tcp_flags, payload_bytes: 0 })
    }

    /// Moves the sender's sequence number past a packet. SYN and FIN count as a byte each.
    pub fn advance(&mut self, step: &Step) {
        let counted = step.payload_bytes as u32 + u32::from(step.tcp_flags & (SYN | FIN) != 0);
        let sequence = &mut self.sequence[step.direction.index()];
        *sequence = sequence.wrapping_add(counted);
    }
}

/// A download with requests in between: full segments one way, bare acknowledgements the other.
fn established_step(segment_bytes_max: usize, random: &mut Random) -> Step {
    use Direction::{ToClient, ToServer};
    let (direction, tcp_flags, payload_bytes) = match random.below(100) {
        0..=36 => (ToServer, ACK, 0),
        37..=71 => (ToClient, ACK, segment_bytes_max),
        72..=80 => (ToClient, PSH | ACK, segment_bytes_max),
        81..=89 => (ToServer, PSH | ACK, random.between(40, 600)),
        _ => (ToClient, PSH | ACK, random.between(1, segment_bytes_max)),
    };
    Step { direction, tcp_flags, payload_bytes }
}

fn datagram(server_port: u16, random: &mut Random) -> Step {
    let direction = Direction::either(random);
    let payload_bytes = match (server_port, direction) {
        (53, Direction::ToServer) => random.between(28, 60),
        (53, Direction::ToClient) => random.between(60, 400),
        (123, _) => 48,
        (443, Direction::ToServer) => random.between(30, 80),
        (443, Direction::ToClient) => 1_200,
        (_, _) => random.between(60, 1_200),
    };
    Step { direction, tcp_flags: 0, payload_bytes }
}

fn echo(requests_sent: &mut u16, awaiting_reply: &mut bool) -> Step {
    const PING_BYTES: usize = 56;
    let direction = if *awaiting_reply { Direction::ToClient } else { Direction::ToServer };
    *awaiting_reply = !*awaiting_reply;
    if *awaiting_reply {
        *requests_sent = requests_sent.wrapping_add(1);
    }
    Step { direction, tcp_flags: 0, payload_bytes: PING_BYTES }
}
