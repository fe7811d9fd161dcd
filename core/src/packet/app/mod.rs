//! Content of the payload of a transport protocol: only of the packet that it begins in, without joining streams.

mod dns;
mod http;
mod tls;

use super::net::proto;
use super::{Field, Packet};
use crate::batch::Value;

/// Content that the payload of a packet was understood as.
#[derive(Debug)]
pub(super) enum Application {
    Dns(dns::DnsMessage),
    /// The server name of a TLS ClientHello.
    Tls(String),
    /// The Host header of an HTTP request.
    Http(String),
}

impl Application {
    /// Reads the payload of `packet`, if it is one of these.
    pub(super) fn of(packet: &Packet, payload: &[u8]) -> Option<Self> {
        match packet.proto()? {
            proto::UDP if is_dns(packet) => dns::DnsMessage::read(payload).map(Application::Dns),
            proto::TCP if packet.has(Field::TcpFlags) => match payload.first()? {
                &tls::HANDSHAKE | &tls::CHANGE_CIPHER_SPEC => {
                    tls::server_name(payload).map(Application::Tls)
                }
                _ => http::host(payload).map(Application::Http),
            },
            _ => None,
        }
    }

    /// The value of a field of its protocol; null for the fields of others.
    pub(super) fn value(&self, field: Field) -> Value<'_> {
        match (self, field) {
            (Application::Dns(message), field) => message.value(field),
            (Application::Tls(name), Field::TlsSni) => Value::Text(name),
            (Application::Http(host), Field::HttpHost) => Value::Text(host),
            _ => Value::Null,
        }
    }
}

/// Returns true if one of the ports is that of DNS, multicast DNS (RFC 6762) or LLMNR (RFC 4795).
fn is_dns(packet: &Packet) -> bool {
    let ports = [packet.src_port(), packet.dst_port()];
    ports.into_iter().flatten().any(|port| matches!(port, 53 | 5353 | 5355))
}
