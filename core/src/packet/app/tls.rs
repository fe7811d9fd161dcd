//! Records of TLS (RFC 8446, section 5.1), as far as a packet has them.

use std::borrow::Cow;

use super::client_hello::ClientHello;
use crate::wire::Reader;

/// Types of records (RFC 8446, section 5.1): a handshake, and one that may stand before the second ClientHello of a
/// connection (appendix D.4).
pub(super) const HANDSHAKE: u8 = 22;
pub(super) const CHANGE_CIPHER_SPEC: u8 = 20;

const VERSION_MAJOR: u8 = 3;

/// The ClientHello that `payload` begins with.
pub(super) fn client_hello(payload: &[u8]) -> Option<ClientHello> {
    ClientHello::read(&handshake(payload)?)
}

/// The bytes of the handshake that `payload` begins with, as far as it has them. A sender may part a message into
/// records anywhere (RFC 8446, section 5.1): their headers do not belong to it.
fn handshake(payload: &[u8]) -> Option<Cow<'_, [u8]>> {
    let mut reader = Reader::new(payload);
    if payload.first() == Some(&CHANGE_CIPHER_SPEC) {
        record(&mut reader)?;
    }
    let mut joined = Cow::Borrowed(handshake_record(&mut reader)?);
    while let Some(more) = handshake_record(&mut reader) {
        joined.to_mut().extend_from_slice(more);
    }
    Some(joined)
}

/// Steps over a record, if it is of a handshake; answers what it holds.
fn handshake_record<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    if reader.rest().first() == Some(&HANDSHAKE) { record(reader) } else { None }
}

/// Steps over a record: type, version, length. Answers what it holds, as far as that was captured.
fn record<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let [_, major, _, len_high, len_low] = reader.array()?;
    if major != VERSION_MAJOR {
        return None;
    }
    let len = usize::from(u16::from_be_bytes([len_high, len_low]));
    reader.take(len.min(reader.remaining()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::app::client_hello::CLIENT_HELLO;

    fn server_name(payload: &[u8]) -> Option<String> {
        client_hello(payload)?.server_name
    }

    /// The handshake message of a ClientHello with these extensions.
    fn message(extensions: &[(u16, &[u8])]) -> Vec<u8> {
        let mut list = Vec::new();
        for (kind, data) in extensions {
            list.extend_from_slice(&kind.to_be_bytes());
            list.extend_from_slice(&(data.len() as u16).to_be_bytes());
            list.extend_from_slice(data);
        }
        let fixed = [&[3, 3], &[7; 32][..], &[2, 9, 9, 0, 4, 0x13, 1, 0x13, 2, 1, 0]].concat();
        let body = [&fixed, &(list.len() as u16).to_be_bytes()[..], &list].concat();
        [&[CLIENT_HELLO], &(body.len() as u32).to_be_bytes()[1..], &body].concat()
    }

    fn record_of(kind: u8, bytes: &[u8]) -> Vec<u8> {
        [&[kind, 3, 1], &(bytes.len() as u16).to_be_bytes()[..], bytes].concat()
    }

    /// The handshake message of a ClientHello with these extensions, in a record of its own.
    fn hello(extensions: &[(u16, &[u8])]) -> Vec<u8> {
        record_of(HANDSHAKE, &message(extensions))
    }

    const NAME: &[u8] = b"\0\x0e\0\0\x0bexample.org";

    #[test]
    fn the_server_name_is_found_behind_other_extensions() {
        let bytes = hello(&[(43, &[2, 3, 4]), (0, NAME)]);
        assert_eq!(server_name(&bytes).as_deref(), Some("example.org"));
    }

    #[test]
    fn a_second_hello_stands_behind_a_change_of_the_cipher() {
        let hello = hello(&[(0, NAME)]);
        let bytes = [&[CHANGE_CIPHER_SPEC, 3, 3, 0, 1, 1], hello.as_slice()].concat();
        assert_eq!(server_name(&bytes).as_deref(), Some("example.org"));
        assert_eq!(server_name(&bytes[..6]), None);
    }

    #[test]
    fn a_hello_that_goes_on_in_the_next_packet_tells_the_name_if_it_has_it() {
        let mut bytes = hello(&[(0, NAME), (51, &[1; 1200])]);
        bytes.truncate(200);
        assert_eq!(server_name(&bytes).as_deref(), Some("example.org"));
        bytes.truncate(65);
        assert_eq!(server_name(&bytes), None);
    }

    #[test]
    fn a_message_in_several_records_is_joined() {
        let message = message(&[(43, &[2, 3, 4]), (0, NAME), (51, &[1; 40])]);
        for cut in 1..message.len() {
            let (first, second) = message.split_at(cut);
            let records = [record_of(HANDSHAKE, first), record_of(HANDSHAKE, second)].concat();
            assert_eq!(server_name(&records).as_deref(), Some("example.org"), "cut at {cut}");
        }
        let single: Vec<u8> =
            message.iter().flat_map(|byte| record_of(HANDSHAKE, &[*byte])).collect();
        assert_eq!(server_name(&single).as_deref(), Some("example.org"));
    }

    #[test]
    fn a_message_that_other_records_interrupt_gives_none() {
        let message = message(&[(0, NAME)]);
        let (first, second) = message.split_at(message.len() - 4);
        for between in
            [record_of(23, second), record_of(21, &[1, 0]), b"\x16\x02\0\0\x04.org".into()]
        {
            let records = [record_of(HANDSHAKE, first), between].concat();
            assert_eq!(server_name(&records), None);
        }
    }

    #[test]
    fn a_name_ends_where_what_is_around_it_ends() {
        let short_list = hello(&[(0, b"\0\x08\0\0\x0bexample.org")]);
        assert_eq!(server_name(&short_list), None, "the list of names");
        let mut short_message = hello(&[(0, NAME)]);
        short_message[8] -= 1;
        assert_eq!(server_name(&short_message), None, "the message");
        let mut short_extensions = hello(&[(43, &[2, 3, 4]), (0, NAME)]);
        short_extensions[9 + 2 + 32 + 11 + 1] = 7;
        assert_eq!(server_name(&short_extensions), None, "the extensions");
    }

    #[test]
    fn what_is_no_hello_or_has_no_name_gives_none() {
        assert_eq!(server_name(&hello(&[(43, &[2, 3, 4])])), None);
        assert_eq!(server_name(&hello(&[(0, b"\0\0")])), None);
        let mut server = hello(&[(0, NAME)]);
        server[5] = 2;
        assert_eq!(server_name(&server), None);
        assert_eq!(server_name(&[HANDSHAKE]), None);
    }
}
