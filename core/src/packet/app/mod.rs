//! Content of the payload of a transport protocol: only of the packet that it begins in, without joining streams.

mod dns;
mod http;
mod tls;

use super::net::proto;
use super::{Field, Packet};

/// Content that the payload of a packet was understood as.
#[derive(Debug)]
pub(super) enum Application {
    Dns(dns::Message),
    /// The server name of a TLS ClientHello.
    Tls(String),
    /// The Host header of an HTTP request.
    Http(String),
}

impl Application {
    /// Reads the payload of `packet`, if it is one of these.
    pub(super) fn of(packet: &Packet, payload: &[u8]) -> Option<Self> {
        match packet.proto()? {
            proto::UDP if is_dns(packet) => dns::Message::read(payload).map(Application::Dns),
            proto::TCP if packet.has(Field::TcpFlags) => match payload.first()? {
                &tls::HANDSHAKE | &tls::CHANGE_CIPHER_SPEC => {
                    tls::server_name(payload).map(Application::Tls)
                }
                _ => http::host(payload).map(Application::Http),
            },
            _ => None,
        }
    }

    pub(super) fn dns_query(&self) -> Option<&str> {
        match self {
            Application::Dns(message) => message.query.as_deref(),
            _ => None,
        }
    }

    pub(super) fn dns_type(&self) -> Option<u16> {
        match self {
            Application::Dns(message) => message.query_type,
            _ => None,
        }
    }

    pub(super) fn dns_answers(&self) -> Option<&str> {
        match self {
            Application::Dns(message) => message.answers.as_deref(),
            _ => None,
        }
    }

    pub(super) fn tls_sni(&self) -> Option<&str> {
        match self {
            Application::Tls(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn http_host(&self) -> Option<&str> {
        match self {
            Application::Http(host) => Some(host),
            _ => None,
        }
    }
}

/// Returns true if one of the ports is that of DNS, multicast DNS (RFC 6762) or LLMNR (RFC 4795).
fn is_dns(packet: &Packet) -> bool {
    let ports = [packet.src_port(), packet.dst_port()];
    ports.into_iter().flatten().any(|port| matches!(port, 53 | 5353 | 5355))
}
