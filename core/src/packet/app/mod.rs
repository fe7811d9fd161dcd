//! Content of the payload of a transport protocol: only of the packet that it begins in, without joining streams.

mod client_hello;
mod dns;
mod http;
mod ja4;
mod names;
mod quic;
mod tls;

use self::client_hello::{Carrier, ClientHello};
pub(crate) use self::names::ConversationNames;
use super::net::proto;
use super::{Field, Packet};
use crate::batch::Value;

/// Content that the payload of a packet was understood as.
#[derive(Debug)]
pub(super) enum Application {
    Dns(dns::DnsMessage),
    Tls(TlsClient),
    Http(http::HttpMessage),
}

/// A client of TLS, as its ClientHello tells of it.
#[derive(Debug)]
pub(super) struct TlsClient {
    server_name: Option<String>,
    version: String,
    protocols: Option<String>,
    ja4: Option<String>,
}

impl TlsClient {
    fn of(hello: ClientHello, carrier: Carrier) -> Self {
        TlsClient {
            version: hello.version_text(),
            protocols: hello.protocols_text(),
            ja4: hello.ja4(carrier),
            server_name: hello.server_name,
        }
    }

    fn value(&self, field: Field) -> Value<'_> {
        let text = match field {
            Field::TlsSni => self.server_name.as_deref(),
            Field::TlsVersion => Some(self.version.as_str()),
            Field::TlsAlpn => self.protocols.as_deref(),
            Field::Ja4 => self.ja4.as_deref(),
            _ => None,
        };
        text.map_or(Value::Null, Value::Text)
    }
}

impl Application {
    /// Reads the payload of `packet`, if it is one of these.
    pub(super) fn of(packet: &Packet, payload: &[u8]) -> Option<Self> {
        match packet.proto()? {
            proto::UDP if is_dns(packet) => dns::DnsMessage::read(payload).map(Application::Dns),
            proto::UDP if packet.has(Field::PayloadLen) => {
                let hello = quic::client_hello(payload)?;
                Some(Application::Tls(TlsClient::of(hello, Carrier::Quic)))
            }
            proto::TCP if packet.has(Field::TcpFlags) => Application::of_segment(packet, payload),
            _ => None,
        }
    }

    /// Reads the payload of a segment of TCP.
    fn of_segment(packet: &Packet, payload: &[u8]) -> Option<Self> {
        if is_dns(packet)
            && let Some(message) = dns::DnsMessage::read_segment(payload)
        {
            return Some(Application::Dns(message));
        }
        match payload.first()? {
            &tls::HANDSHAKE | &tls::CHANGE_CIPHER_SPEC => {
                let hello = tls::client_hello(payload)?;
                Some(Application::Tls(TlsClient::of(hello, Carrier::Tcp)))
            }
            _ => http::HttpMessage::read(payload).map(Application::Http),
        }
    }

    /// The value of a field of its protocol; null for the fields of others.
    pub(super) fn value(&self, field: Field) -> Value<'_> {
        match self {
            Application::Dns(message) => message.value(field),
            Application::Tls(client) => client.value(field),
            Application::Http(message) => message.value(field),
        }
    }
}

/// Returns true if one of the ports is that of DNS, multicast DNS (RFC 6762) or LLMNR (RFC 4795).
fn is_dns(packet: &Packet) -> bool {
    let ports = [packet.src_port(), packet.dst_port()];
    ports.into_iter().flatten().any(|port| matches!(port, 53 | 5353 | 5355))
}
