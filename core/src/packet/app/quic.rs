//! The first packets of a QUIC client (RFC 9000, section 17.2.2; version 2: RFC 9369), which everybody can decrypt: their keys
//! come from the packet itself (RFC 9001, section 5.2). Nothing else of QUIC is decrypted.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes128Gcm, Nonce, Tag};
use hkdf::Hkdf;
use sha2::Sha256;

use super::client_hello::ClientHello;
use crate::wire::{Endian::Big, Reader};

/// The bit of a long header, and the one that is always set.
const LONG_HEADER: u8 = 0xc0;

/// Bytes of the tag behind encrypted bytes.
const TAG_LEN: usize = 16;

/// Packets of one datagram that are looked at.
const PACKETS_MAX: usize = 4;

/// Bytes of a handshake that are joined; larger offsets are none of a ClientHello.
const HANDSHAKE_LEN_MAX: usize = 16 << 10;

/// Frames of a handshake that are joined.
const PIECES_MAX: usize = 256;

/// A version of QUIC.
struct Version {
    number: u32,
    /// The type of Initial packets.
    initial: u8,
    salt: [u8; 20],
    /// The labels of keys.
    labels: [&'static str; 3],
}

const VERSIONS: [Version; 2] = [
    Version {
        number: 1,
        initial: 0,
        salt: [
            0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8,
            0x0c, 0xad, 0xcc, 0xbb, 0x7f, 0x0a,
        ],
        labels: ["quic key", "quic iv", "quic hp"],
    },
    Version {
        number: 0x6b33_43cf,
        initial: 1,
        salt: [
            0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26,
            0x9d, 0xcb, 0xf9, 0xbd, 0x2e, 0xd9,
        ],
        labels: ["quicv2 key", "quicv2 iv", "quicv2 hp"],
    },
];

/// An Initial packet, encrypted.
struct InitialPacket<'a> {
    version: &'static Version,
    destination_id: &'a [u8],
    /// Header up to the packet number, and what is behind.
    header: &'a [u8],
    protected: &'a [u8],
}

/// The ClientHello in the packets of a datagram, as far as it is there.
pub(super) fn client_hello(datagram: &[u8]) -> Option<ClientHello> {
    let mut handshake = Handshake::default();
    handshake.add_datagram(datagram);
    handshake.client_hello()
}

/// Returns true if a datagram begins with a packet that may be one of these.
pub(super) fn begins(datagram: &[u8]) -> bool {
    InitialPacket::read(&mut Reader::new(datagram)).is_some()
}

impl<'a> InitialPacket<'a> {
    /// Reads the next packet of a datagram; none if it is of another kind.
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let datagram = reader.rest();
        let [first] = reader.array()?;
        let number = reader.u32(Big)?;
        let version = VERSIONS.iter().find(|version| version.number == number)?;
        if first & LONG_HEADER != LONG_HEADER || first >> 4 & 3 != version.initial {
            return None;
        }
        let [destination_len] = reader.array()?;
        let destination_id = reader.take(destination_len.into())?;
        let [source_len] = reader.array()?;
        reader.take(source_len.into())?;
        let token_len = variable_int(reader)?;
        reader.take(usize::try_from(token_len).ok()?)?;
        let len = usize::try_from(variable_int(reader)?).ok()?;
        let header = datagram.get(..datagram.len() - reader.remaining())?;
        let protected = reader.take(len)?;
        Some(InitialPacket { version, destination_id, header, protected })
    }

    /// The frames of the packet; none if the client of these ids did not send it.
    fn decrypt(&self) -> Option<Vec<u8>> {
        let [key, iv, protection] = self.keys()?;
        let mut mask = aes::Block::try_from(self.protected.get(4..20)?).ok()?;
        aes::Aes128::new_from_slice(&protection).ok()?.encrypt_block(&mut mask);
        let [flags_mask, number_mask @ ..]: [u8; 16] = mask.into();
        let mut header = self.header.to_vec();
        let flags = header.first_mut()?;
        *flags ^= flags_mask & 0x0f;
        let number_len = usize::from(*flags & 3) + 1;
        let (number, encrypted) = self.protected.split_at_checked(number_len)?;
        header.extend(number.iter().zip(number_mask).map(|(byte, mask)| byte ^ mask));
        // The numbers of first packets are small, so that none of their bytes is left out.
        let mut nonce: [u8; 12] = iv.get(..12)?.try_into().ok()?;
        let sent = header.iter().rev().take(number_len);
        nonce.iter_mut().rev().zip(sent).for_each(|(byte, number)| *byte ^= number);
        let (content, tag) = encrypted.split_at_checked(encrypted.len().checked_sub(TAG_LEN)?)?;
        let mut frames = content.to_vec();
        let cipher = Aes128Gcm::new_from_slice(&key).ok()?;
        let (nonce, tag) = (Nonce::from(nonce), Tag::try_from(tag).ok()?);
        cipher.decrypt_inout_detached(&nonce, &header, frames.as_mut_slice().into(), &tag).ok()?;
        Some(frames)
    }

    /// Key, initialization vector and key of the header's protection, 16 bytes each; the vector has 12.
    fn keys(&self) -> Option<[[u8; 16]; 3]> {
        let initial = Hkdf::<Sha256>::new(Some(&self.version.salt), self.destination_id);
        let mut secret = [0; 32];
        expand(&initial, "client in", &mut secret)?;
        let client = Hkdf::<Sha256>::from_prk(&secret).ok()?;
        let mut keys = [[0; 16]; 3];
        for ((key, label), len) in keys.iter_mut().zip(self.version.labels).zip([16, 12, 16]) {
            expand(&client, label, key.get_mut(..len)?)?;
        }
        Some(keys)
    }
}

/// HKDF-Expand-Label without context (RFC 8446, section 7.1).
fn expand(secret: &Hkdf<Sha256>, label: &str, key: &mut [u8]) -> Option<()> {
    let [len_high, len_low] = u16::try_from(key.len()).ok()?.to_be_bytes();
    let label_len = u8::try_from("tls13 ".len() + label.len()).ok()?;
    let info = [&[len_high, len_low, label_len], &b"tls13 "[..], label.as_bytes(), &[0]];
    secret.expand_multi_info(&info, key).ok()
}

/// An integer of 1, 2, 4 or 8 bytes (RFC 9000, section 16).
fn variable_int(reader: &mut Reader<'_>) -> Option<u64> {
    let [first] = reader.array()?;
    let mut value = u64::from(first & 0x3f);
    for _ in 1..1_u32 << (first >> 6) {
        let [byte] = reader.array()?;
        value = value << 8 | u64::from(byte);
    }
    Some(value)
}

/// Bytes of a handshake, which frames bring in any order.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    bytes: Vec<u8>,
    /// Begin and end of each frame.
    pieces: Vec<(usize, usize)>,
}

impl Handshake {
    /// Adds what the first packets in a datagram bring.
    pub(super) fn add_datagram(&mut self, datagram: &[u8]) {
        let mut reader = Reader::new(datagram);
        for _ in 0..PACKETS_MAX {
            let Some(packet) = InitialPacket::read(&mut reader) else { return };
            if let Some(frames) = packet.decrypt() {
                self.add_frames(&frames);
            }
        }
    }

    /// The ClientHello so far.
    pub(super) fn client_hello(&mut self) -> Option<ClientHello> {
        ClientHello::read(self.beginning())
    }

    /// Bytes of memory that it has taken besides its own.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.pieces.capacity() * size_of::<(usize, usize)>()
    }

    /// Adds the CRYPTO frames up to the first frame that no Initial packet has (RFC 9000, section 17.2.2).
    fn add_frames(&mut self, frames: &[u8]) -> Option<()> {
        let mut reader = Reader::new(frames);
        loop {
            match variable_int(&mut reader)? {
                // PADDING and PING.
                0 | 1 => {}
                // ACK, with counts of ECN.
                kind @ (2 | 3) => {
                    let [_, _, ranges, _] = variable_ints(&mut reader)?;
                    for _ in 0..ranges {
                        variable_ints::<2>(&mut reader)?;
                    }
                    if kind == 3 {
                        variable_ints::<3>(&mut reader)?;
                    }
                }
                6 => {
                    let [offset, len] = variable_ints(&mut reader)?;
                    let bytes = reader.take(usize::try_from(len).ok()?)?;
                    self.add(usize::try_from(offset).ok()?, bytes)?;
                }
                _ => return None,
            }
        }
    }

    fn add(&mut self, offset: usize, bytes: &[u8]) -> Option<()> {
        let end = offset.checked_add(bytes.len()).filter(|end| *end <= HANDSHAKE_LEN_MAX)?;
        if self.pieces.len() == PIECES_MAX {
            return None;
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes.get_mut(offset..end)?.copy_from_slice(bytes);
        self.pieces.push((offset, end));
        Some(())
    }

    /// The bytes from the first on, up to one that is missing.
    fn beginning(&mut self) -> &[u8] {
        self.pieces.sort_unstable();
        let whole = self
            .pieces
            .iter()
            .fold(0, |whole, (begin, end)| if *begin <= whole { whole.max(*end) } else { whole });
        self.bytes.get(..whole).unwrap_or_default()
    }
}

fn variable_ints<const COUNT: usize>(reader: &mut Reader<'_>) -> Option<[u64; COUNT]> {
    let mut numbers = [0; COUNT];
    for number in &mut numbers {
        *number = variable_int(reader)?;
    }
    Some(numbers)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const IDS: [u8; 8] = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn packet_of(version: &'static Version) -> InitialPacket<'static> {
        InitialPacket { version, destination_id: &IDS, header: &[], protected: &[] }
    }

    /// The handshake message of a ClientHello for example.org, with an extension of so many bytes behind.
    fn message(padding: usize) -> Vec<u8> {
        let name = b"\0\0\0\x10\0\x0e\0\0\x0bexample.org";
        let behind = [&[0, 21], &(padding as u16).to_be_bytes()[..], &vec![0; padding]].concat();
        let extensions = [&name[..], &behind].concat();
        let fixed = [&[3, 3][..], &[7; 32], &[0, 0, 2, 0x13, 1, 1, 0]].concat();
        let len = (extensions.len() as u16).to_be_bytes();
        let body = [&fixed[..], &len, &extensions].concat();
        [&[1], &(body.len() as u32).to_be_bytes()[1..], &body].concat()
    }

    fn crypto(message: &[u8], offset: usize, len: usize) -> Vec<u8> {
        let varint = |number: usize| (number as u16 | 0x4000).to_be_bytes();
        [&[6][..], &varint(offset), &varint(len), &message[offset..offset + len]].concat()
    }

    /// A datagram with one Initial packet, which has these frames.
    fn datagram(version: &'static Version, number: u8, frames: &[u8]) -> Vec<u8> {
        let [key, iv, protection] = packet_of(version).keys().unwrap();
        let mut header = vec![LONG_HEADER | version.initial << 4];
        header.extend(version.number.to_be_bytes());
        header.push(IDS.len() as u8);
        header.extend(IDS);
        header.extend([0, 0]);
        header.extend((0x4000 | (1 + frames.len() + TAG_LEN) as u16).to_be_bytes());
        let number_at = header.len();
        header.push(number);
        let mut nonce: [u8; 12] = iv[..12].try_into().unwrap();
        nonce[11] ^= number;
        let mut sealed = frames.to_vec();
        let cipher = Aes128Gcm::new_from_slice(&key).unwrap();
        let tag = cipher
            .encrypt_inout_detached(&Nonce::from(nonce), &header, sealed.as_mut_slice().into())
            .unwrap();
        sealed.extend_from_slice(&tag);
        let mut mask = aes::Block::try_from(&sealed[3..19]).unwrap();
        aes::Aes128::new_from_slice(&protection).unwrap().encrypt_block(&mut mask);
        header[0] ^= mask[0] & 0x0f;
        header[number_at] ^= mask[1];
        [header, sealed].concat()
    }

    /// RFC 9001, appendix A.1, and RFC 9369, appendix A.1.
    #[test]
    fn keys_are_those_of_the_specifications() {
        let keys = |version| {
            let [key, iv, protection] = packet_of(version).keys().unwrap();
            [hex(&key), hex(&iv[..12]), hex(&protection)]
        };
        assert_eq!(
            keys(&VERSIONS[0]),
            [
                "1f369613dd76d5467730efcbe3b1a22d",
                "fa044b2f42a3fd3b46fb255c",
                "9f50449e04a0e810283a1e9933adedd2",
            ]
        );
        assert_eq!(
            keys(&VERSIONS[1]),
            [
                "8b1a0bc121284290a29e0971b5cd045d",
                "91f73e2351d8fa91660e909f",
                "45b95e15235d6f45a6b19cbcb0294ba9",
            ]
        );
    }

    #[test]
    fn a_hello_is_read_out_of_frames_in_any_order_of_both_versions() {
        let message = message(40);
        let frames = [
            vec![0, 0, 1],
            crypto(&message, 30, message.len() - 30),
            vec![2, 0, 0, 0, 0],
            crypto(&message, 0, 30),
            vec![0; 20],
        ];
        for version in &VERSIONS {
            let hello = client_hello(&datagram(version, 0, &frames.concat())).unwrap();
            assert_eq!(hello.server_name.as_deref(), Some("example.org"));
            assert!(hello.is_whole);
        }
    }

    #[test]
    fn a_hello_goes_on_in_the_next_datagram() {
        let message = message(1_500);
        let mut handshake = Handshake::default();
        handshake.add_datagram(&datagram(&VERSIONS[0], 0, &crypto(&message, 0, 1_000)));
        let first = handshake.client_hello().unwrap();
        assert_eq!((first.server_name.as_deref(), first.is_whole), (Some("example.org"), false));
        let rest = crypto(&message, 1_000, message.len() - 1_000);
        handshake.add_datagram(&datagram(&VERSIONS[0], 1, &rest));
        assert!(handshake.client_hello().unwrap().is_whole);
    }

    #[test]
    fn a_changed_or_cut_packet_gives_nothing() {
        let message = message(40);
        let datagram = datagram(&VERSIONS[0], 0, &crypto(&message, 0, message.len()));
        assert!(client_hello(&datagram).is_some());
        for at in 0..datagram.len() {
            assert!(client_hello(&datagram[..at]).is_none(), "cut at {at}");
            let mut changed = datagram.clone();
            changed[at] ^= 0x11;
            assert!(client_hello(&changed).is_none(), "changed at {at}");
        }
    }

    #[test]
    fn offsets_beyond_a_hello_take_no_memory() {
        let far = [&[6][..], &[0xbf, 0xff, 0xff, 0xff], &[1], b"x"].concat();
        let mut handshake = Handshake::default();
        handshake.add_datagram(&datagram(&VERSIONS[0], 0, &[&far[..], &[0; 20]].concat()));
        assert_eq!(handshake.memory_bytes(), 0);
    }
}
