//! A ClientHello of TLS (RFC 8446, section 4.1.2): who is asked for, and the fingerprint of who asks.

use super::ja4;
use crate::wire::{Endian::Big, Reader};

/// Type of the handshake message.
pub(super) const CLIENT_HELLO: u8 = 1;

/// Extensions (RFC 6066, section 3; RFC 7301; RFC 8446, section 4.2).
pub(super) mod extension {
    pub(in crate::packet::app) const SERVER_NAME: u16 = 0;
    pub(in crate::packet::app) const SIGNATURE_ALGORITHMS: u16 = 13;
    pub(in crate::packet::app) const ALPN: u16 = 16;
    pub(in crate::packet::app) const SUPPORTED_VERSIONS: u16 = 43;
}

const HOST_NAME: u8 = 0;

/// Content of a ClientHello, as far as it was captured.
#[derive(Debug, Default)]
pub(super) struct ClientHello {
    pub(super) server_name: Option<String>,
    /// The protocols that are offered, the preferred one first.
    pub(super) protocols: Vec<Vec<u8>>,
    /// The highest version that is offered.
    pub(super) version: u16,
    pub(super) ciphers: Vec<u16>,
    pub(super) extensions: Vec<u16>,
    pub(super) signature_algorithms: Vec<u16>,
    /// All of it was captured.
    pub(super) is_whole: bool,
}

/// Carrier of a ClientHello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    Tcp,
    Quic,
}

impl ClientHello {
    /// Reads a handshake message that is one.
    pub(super) fn read(message: &[u8]) -> Option<ClientHello> {
        let mut reader = Reader::new(message);
        let [kind, len_high, len_middle, len_low] = reader.array()?;
        if kind != CLIENT_HELLO {
            return None;
        }
        let len = u32::from_be_bytes([0, len_high, len_middle, len_low]) as usize;
        let is_captured = reader.remaining() >= len;
        reader.limit(len);
        let mut hello = ClientHello { version: reader.u16(Big)?, ..ClientHello::default() };
        // Random and session id.
        reader.take(32)?;
        let [session_id_len] = reader.array()?;
        reader.take(session_id_len.into())?;
        let ciphers_len = reader.u16(Big)?;
        hello.ciphers = numbers(reader.take(ciphers_len.into())?);
        let [compression_len] = reader.array()?;
        reader.take(compression_len.into())?;
        let are_read = reader.remaining() == 0 || hello.read_extensions(&mut reader).is_some();
        hello.is_whole = is_captured && are_read;
        Some(hello)
    }

    /// Reads extensions up to their end; none if that is not there.
    fn read_extensions(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        let len = reader.u16(Big)?;
        reader.limit(len.into());
        while reader.remaining() > 0 {
            let (kind, len) = (reader.u16(Big)?, reader.u16(Big)?);
            let content = reader.take(len.into())?;
            self.extensions.push(kind);
            self.read_extension(kind, content);
        }
        Some(())
    }

    fn read_extension(&mut self, kind: u16, content: &[u8]) -> Option<()> {
        let mut reader = Reader::new(content);
        match kind {
            extension::SERVER_NAME => self.server_name = host_name(content),
            extension::SIGNATURE_ALGORITHMS => {
                let len = reader.u16(Big)?;
                self.signature_algorithms = numbers(reader.take(len.into())?);
            }
            extension::ALPN => {
                let len = reader.u16(Big)?;
                reader.limit(len.into());
                while let Some([len]) = reader.array() {
                    self.protocols.push(reader.take(len.into())?.to_vec());
                }
            }
            extension::SUPPORTED_VERSIONS => {
                let [len] = reader.array()?;
                let versions = numbers(reader.take(len.into())?);
                let known = versions.into_iter().filter(|version| !ja4::is_grease(*version));
                self.version = known.max().unwrap_or(self.version);
            }
            _ => {}
        }
        Some(())
    }

    /// The version as people write it, such as 1.3; that of others in hexadecimal.
    pub(super) fn version_text(&self) -> String {
        match self.version {
            0x0304 => "1.3".to_owned(),
            0x0303 => "1.2".to_owned(),
            0x0302 => "1.1".to_owned(),
            0x0301 => "1.0".to_owned(),
            0x0300 => "ssl3".to_owned(),
            other => format!("{other:#06x}"),
        }
    }

    /// The protocols that are offered, with commas between them; none without that extension.
    pub(super) fn protocols_text(&self) -> Option<String> {
        let names = self.protocols.iter().map(|name| String::from_utf8_lossy(name));
        (!self.protocols.is_empty()).then(|| names.collect::<Vec<_>>().join(","))
    }

    /// The fingerprint JA4; none unless all of it was captured.
    pub(super) fn ja4(&self, carrier: Carrier) -> Option<String> {
        self.is_whole.then(|| ja4::fingerprint(self, carrier))
    }
}

/// The 16-bit numbers in a row.
fn numbers(bytes: &[u8]) -> Vec<u16> {
    let mut reader = Reader::new(bytes);
    std::iter::from_fn(|| reader.u16(Big)).collect()
}

/// The first host name of a list of server names.
fn host_name(extension: &[u8]) -> Option<String> {
    let mut reader = Reader::new(extension);
    let list_len = reader.u16(Big)?;
    reader.limit(list_len.into());
    loop {
        let ([kind], len) = (reader.array()?, reader.u16(Big)?);
        let name = reader.take(len.into())?;
        if kind == HOST_NAME {
            return Some(String::from_utf8_lossy(name).into_owned());
        }
    }
}
