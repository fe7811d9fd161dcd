//! Names in the first packets of a conversation: a ClientHello, which may come in several segments of TCP or packets of QUIC, or
//! the host or name of the first request.

use super::client_hello::{Carrier, ClientHello};
use super::{Application, TlsClient, quic, tls};
use crate::batch::Value;
use crate::packet::net::proto;
use crate::packet::{Field, Packet};

// Bound (Flows): ClientHello of a flow = 16 KiB in 16 packets, 256 frames of QUIC.
/// Those with keys of post-quantum cryptography have 2 KiB.
const HELLO_LEN_MAX: usize = 16 << 10;

/// Packets with payload that are looked at.
const PACKETS_MAX: u8 = 16;

/// Bytes of a name that is kept: those that a host name has at most. Longer ones are left out.
const NAME_LEN_MAX: usize = 255;

/// Fields of packets that are names.
const NAMES: [Field; 6] = [
    Field::TlsSni,
    Field::TlsVersion,
    Field::TlsAlpn,
    Field::Ja4,
    Field::DnsQuery,
    Field::HttpHost,
];

/// Names of a conversation, read from the packets of its initiator.
#[derive(Debug, Default)]
pub(crate) struct ConversationNames {
    /// Packets with payload so far.
    packets: u8,
    hello: JoinedHello,
    found: Vec<(Field, Box<str>)>,
    is_over: bool,
}

/// A ClientHello that was not whole so far.
#[derive(Debug, Default)]
enum JoinedHello {
    #[default]
    None,
    /// Bytes of TCP, and the sequence number behind them.
    Tcp(Vec<u8>, u32),
    Quic(quic::Handshake),
}

impl ConversationNames {
    /// Reads a packet of the initiator.
    pub(crate) fn add(&mut self, packet: &Packet, captured: &[u8]) {
        let payload = packet.payload_range().and_then(|range| captured.get(range));
        let Some(payload) = payload.filter(|payload| !payload.is_empty() && !self.is_over) else {
            return;
        };
        self.packets += 1;
        let is_cut = payload.len() < packet.payload_len as usize;
        self.read(packet, payload, is_cut);
        if self.packets == PACKETS_MAX {
            self.stop();
        }
    }

    /// Ends reading; what was found stays.
    pub(crate) fn stop(&mut self) {
        self.is_over = true;
        self.hello = JoinedHello::None;
    }

    /// Returns true if no more packets are read.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Reads the payload of a packet, of which some was not captured where it is cut.
    fn read(&mut self, packet: &Packet, payload: &[u8], is_cut: bool) {
        match &mut self.hello {
            JoinedHello::None => {
                self.begin(packet, payload);
                if is_cut {
                    self.stop();
                }
            }
            JoinedHello::Tcp(bytes, next) if packet.seq == *next => {
                bytes.extend_from_slice(payload);
                *next = next.wrapping_add(packet.payload_len);
                let hello = tls::client_hello(bytes);
                let is_full = bytes.len() > HELLO_LEN_MAX;
                self.take(hello, Carrier::Tcp);
                if is_full || is_cut {
                    self.stop();
                }
            }
            JoinedHello::Tcp(..) => {}
            JoinedHello::Quic(handshake) => {
                handshake.add_datagram(payload);
                let hello = handshake.client_hello();
                self.take(hello, Carrier::Quic);
            }
        }
    }

    /// The value of a field of packets; null for those that are no names.
    pub(crate) fn value(&self, field: Field) -> Value<'_> {
        let found = self.found.iter().find(|(name, _)| *name == field);
        found.map_or(Value::Null, |(_, text)| Value::Text(text))
    }

    /// Bytes of memory that it has taken besides its own.
    pub(crate) fn memory_bytes(&self) -> usize {
        match &self.hello {
            JoinedHello::None => 0,
            JoinedHello::Tcp(bytes, _) => bytes.capacity(),
            JoinedHello::Quic(handshake) => handshake.memory_bytes(),
        }
    }

    fn begin(&mut self, packet: &Packet, payload: &[u8]) {
        if packet.proto() == Some(proto::UDP) && quic::begins(payload) {
            let mut handshake = quic::Handshake::default();
            handshake.add_datagram(payload);
            let hello = handshake.client_hello();
            self.hello = JoinedHello::Quic(handshake);
            return self.take(hello, Carrier::Quic);
        }
        if packet.has(Field::TcpFlags) && payload.first() == Some(&tls::HANDSHAKE) {
            let next = packet.seq.wrapping_add(packet.payload_len);
            self.hello = JoinedHello::Tcp(payload.to_vec(), next);
            return self.take(tls::client_hello(payload), Carrier::Tcp);
        }
        if let Some(found) =
            Application::of(packet, payload).filter(|found| may_have_names(found, packet))
        {
            self.keep(&found);
            self.is_over = true;
        }
    }

    fn keep(&mut self, found: &Application) {
        let name = |field| match found.value(field) {
            Value::Text(text) if text.len() <= NAME_LEN_MAX => Some((field, text.into())),
            _ => None,
        };
        self.found = NAMES.into_iter().filter_map(name).collect();
    }

    /// Takes note of a ClientHello, and needs no more once it is whole.
    fn take(&mut self, hello: Option<ClientHello>, carrier: Carrier) {
        let Some(hello) = hello else { return };
        self.is_over |= hello.is_whole;
        self.keep(&Application::Tls(TlsClient::of(hello, carrier)));
        if self.is_over {
            self.stop();
        }
    }
}

/// Returns false of a message of HTTP without a host, because the next one may have it, and of DNS over TCP, because
/// conversations name the questions over UDP.
fn may_have_names(found: &Application, packet: &Packet) -> bool {
    match found {
        Application::Http(message) => message.has_host(),
        Application::Dns(_) => packet.proto() == Some(proto::UDP),
        Application::Tls(_) => true,
    }
}
