//! The server name of a TLS ClientHello (RFC 8446, section 4.1.2; RFC 6066, section 3), as far as the packet has it.

use crate::wire::{Endian::Big, Reader};

/// Types of records (RFC 8446, section 5.1): a handshake, and one that may stand before the second ClientHello of a
/// connection (appendix D.4).
pub(super) const HANDSHAKE: u8 = 22;
pub(super) const CHANGE_CIPHER_SPEC: u8 = 20;

const CLIENT_HELLO: u8 = 1;
const VERSION_MAJOR: u8 = 3;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// The server name of the ClientHello that `payload` begins with.
pub(super) fn server_name(payload: &[u8]) -> Option<String> {
    let mut reader = Reader::new(payload);
    if payload.first() == Some(&CHANGE_CIPHER_SPEC) {
        reader.take(6)?;
    }
    let [kind, major, _, _, _, message, _, _, _] = reader.array::<9>()?;
    if (kind, major, message) != (HANDSHAKE, VERSION_MAJOR, CLIENT_HELLO) {
        return None;
    }
    // Version and random, session id, cipher suites, compression methods.
    reader.take(2 + 32)?;
    let [session_id_len] = reader.array()?;
    reader.take(session_id_len.into())?;
    let cipher_suites_len = reader.u16(Big)?;
    reader.take(cipher_suites_len.into())?;
    let [compression_len] = reader.array()?;
    reader.take(compression_len.into())?;
    let _extensions_len = reader.u16(Big)?;
    loop {
        let (kind, len) = (reader.u16(Big)?, reader.u16(Big)?);
        let extension = reader.take(len.into())?;
        if kind == SERVER_NAME {
            return host_name(extension);
        }
    }
}

/// The first host name of a list of server names.
fn host_name(extension: &[u8]) -> Option<String> {
    let mut reader = Reader::new(extension);
    let _list_len = reader.u16(Big)?;
    loop {
        let ([kind], len) = (reader.array()?, reader.u16(Big)?);
        let name = reader.take(len.into())?;
        if kind == HOST_NAME {
            return Some(String::from_utf8_lossy(name).into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ClientHello with these extensions.
    fn hello(extensions: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![HANDSHAKE, 3, 1, 0, 0, CLIENT_HELLO, 0, 0, 0, 3, 3];
        bytes.extend_from_slice(&[7; 32]);
        bytes.extend_from_slice(&[2, 9, 9, 0, 4, 0x13, 1, 0x13, 2, 1, 0]);
        let mut list = Vec::new();
        for (kind, data) in extensions {
            list.extend_from_slice(&kind.to_be_bytes());
            list.extend_from_slice(&(data.len() as u16).to_be_bytes());
            list.extend_from_slice(data);
        }
        bytes.extend_from_slice(&(list.len() as u16).to_be_bytes());
        bytes.extend_from_slice(&list);
        bytes
    }

    #[test]
    fn the_server_name_is_found_behind_other_extensions() {
        let bytes = hello(&[(43, &[2, 3, 4]), (0, b"\0\x0e\0\0\x0bexample.org")]);
        assert_eq!(server_name(&bytes).as_deref(), Some("example.org"));
    }

    #[test]
    fn a_second_hello_stands_behind_a_change_of_the_cipher() {
        let hello = hello(&[(0, b"\0\x0e\0\0\x0bexample.org")]);
        let bytes = [&[CHANGE_CIPHER_SPEC, 3, 3, 0, 1, 1], hello.as_slice()].concat();
        assert_eq!(server_name(&bytes).as_deref(), Some("example.org"));
        assert_eq!(server_name(&bytes[..6]), None);
    }

    #[test]
    fn a_hello_that_goes_on_in_the_next_packet_tells_the_name_if_it_has_it() {
        let mut bytes = hello(&[(0, b"\0\x0e\0\0\x0bexample.org"), (51, &[1; 1200])]);
        bytes.truncate(200);
        assert_eq!(server_name(&bytes).as_deref(), Some("example.org"));
        bytes.truncate(65);
        assert_eq!(server_name(&bytes), None);
    }

    #[test]
    fn what_is_no_hello_or_has_no_name_gives_none() {
        assert_eq!(server_name(&hello(&[(43, &[2, 3, 4])])), None);
        assert_eq!(server_name(&hello(&[(0, b"\0\0")])), None);
        let mut server = hello(&[(0, b"\0\x0e\0\0\x0bexample.org")]);
        server[5] = 2;
        assert_eq!(server_name(&server), None);
        assert_eq!(server_name(&[HANDSHAKE]), None);
    }
}
