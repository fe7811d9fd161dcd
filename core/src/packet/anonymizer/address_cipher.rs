//! Addresses for addresses, by a key: two that have their first bits in common have as many in common afterwards.
//!
//! IP addresses are changed as by Crypto-PAn (Xu, Fan, Ammar, Moon: "Prefix-Preserving IP Address Anonymization", ICNP
//! 2002): each bit is kept or flipped by a random function of the bits before it. Here the function is of their number,
//! too: in Crypto-PAn an address that begins as the padding does is flipped by the same bit many times. It keeps those of
//! ranges that mean something everywhere, such as groups, and so all bits that lead to them.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use sha2::{Digest, Sha256};

/// Ranges of IPv4 that stay as they are: this host, loopback, groups and what is reserved behind them (RFC 6890).
const KEPT_IPV4: [Range; 3] =
    [Range::ipv4([0; 4], 8), Range::ipv4([127, 0, 0, 0], 8), Range::ipv4([224, 0, 0, 0], 3)];

/// Ranges of IPv6 that stay as they are: no address, loopback, groups (RFC 4291).
const KEPT_IPV6: [Range; 2] = [Range { start: 0, len: 127 }, Range { start: 0xff << 120, len: 8 }];

/// Addresses of one link, which stay such addresses.
const LINK_LOCAL: Range = Range { start: 0xfe80 << 112, len: 10 };

/// Groups that have the last 24 bits of an address of a host (RFC 4291, section 2.7.1).
const SOLICITED_NODE: Range = Range { start: 0xff02_0000_0000_0000_0000_0001_ff00_0000, len: 104 };

/// First bytes of the MAC address of such a group (RFC 2464, section 7).
const SOLICITED_NODE_MAC: [u8; 3] = [0x33, 0x33, 0xff];

// Bound (Captures): addresses that `anonymize` remembers = 32,768 of a kind, in 1.8 MB; others are computed again.
/// A power of two. For IPv6 they take a megabyte, for others less.
const REMEMBERED: usize = 1 << 15;

/// All addresses that begin with the first bits of one; the bits stand at the top.
#[derive(Clone, Copy)]
struct Range {
    start: u128,
    len: u32,
}

impl Range {
    const fn ipv4(start: [u8; 4], len: u32) -> Range {
        Range { start: (u32::from_be_bytes(start) as u128) << 96, len }
    }

    /// Returns true if the first `len` bits of `address` are those of the range, as far as it has them.
    fn agrees(self, address: u128, len: u32) -> bool {
        (address ^ self.start).checked_shr(128 - len.min(self.len)).unwrap_or(0) == 0
    }
}

/// Changes addresses.
pub(super) struct AddressCipher {
    ip: PrefixCipher,
    mac: aes::Aes128,
    known_ipv4: Known<u32>,
    known_ipv6: Known<u128>,
    known_macs: Known<u64>,
}

impl AddressCipher {
    /// The cipher of a key: the same addresses become the same ones by it.
    pub(super) fn new(key: &[u8]) -> Self {
        let [mac, _] = halves(&derived(b"bytewright MAC addresses\0", key));
        AddressCipher {
            ip: PrefixCipher::new(&derived(b"bytewright IP addresses\0", key)),
            mac: aes::Aes128::new(&mac.into()),
            known_ipv4: Known::default(),
            known_ipv6: Known::default(),
            known_macs: Known::default(),
        }
    }

    pub(super) fn ipv4(&mut self, address: [u8; 4]) -> [u8; 4] {
        let number = u32::from_be_bytes(address);
        let changed = self.known_ipv4.get_or(number, number.into(), || {
            let bits = u128::from(number) << 96;
            let is_kept = |len| KEPT_IPV4.iter().any(|kept| kept.agrees(bits, len));
            (self.ip.changed(bits, 32, is_kept) >> 96) as u32
        });
        changed.to_be_bytes()
    }

    pub(super) fn ipv6(&mut self, address: [u8; 16]) -> [u8; 16] {
        let bits = u128::from_be_bytes(address);
        let is_kept = |len| match len >= SOLICITED_NODE.len && SOLICITED_NODE.agrees(bits, len) {
            true => false,
            false => {
                KEPT_IPV6.iter().any(|kept| kept.agrees(bits, len))
                    || len < LINK_LOCAL.len && LINK_LOCAL.agrees(bits, len)
            }
        };
        let folded = (bits >> 64) as u64 ^ (bits as u64).rotate_left(32);
        let change = || self.ip.changed(bits, 128, is_kept);
        self.known_ipv6.get_or(bits, folded, change).to_be_bytes()
    }

    /// Groups stay as they are, but for what they have of a host; what an administrator chose stays told from what a
    /// maker did (IEEE 802, clause 8.2).
    pub(super) fn mac(&mut self, address: [u8; 6]) -> [u8; 6] {
        const GROUP: u8 = 1;
        const FLAGS: u8 = 3;
        let is_of_host = address.starts_with(&SOLICITED_NODE_MAC);
        if address == [0; 6] || address[0] & GROUP != 0 && !is_of_host {
            return address;
        }
        let [a, b, c, d, e, f] = address;
        let number = u64::from_be_bytes([a, b, c, d, e, f, 0, 0]);
        let change = || (encrypted(&self.mac, u128::from(number) << 64) >> 64) as u64;
        let [first, b2, c2, d2, e2, f2, ..] =
            self.known_macs.get_or(number, number >> 16, change).to_be_bytes();
        match is_of_host {
            true => [a, b, c, d2, e2, f2],
            false => [first & !FLAGS | a & FLAGS, b2, c2, d2, e2, f2],
        }
    }
}

/// The random function of the first bits of an address.
struct PrefixCipher {
    cipher: aes::Aes128,
    pad: u128,
}

impl PrefixCipher {
    fn new(key: &[u8; 32]) -> Self {
        let [key, pad] = halves(key);
        PrefixCipher { cipher: aes::Aes128::new(&key.into()), pad: u128::from_be_bytes(pad) }
    }

    /// The address for one of `len` bits, which stand at the top. `is_kept` says of the bit behind so many others that it
    /// stays.
    fn changed(&self, address: u128, len: u32, is_kept: impl Fn(u32) -> bool) -> u128 {
        let mut blocks = [aes::Block::default(); 128];
        for (block, before) in blocks.iter_mut().zip(0..len) {
            let known = !u128::MAX.checked_shr(before).unwrap_or(0);
            // A set bit behind them tells how many they are.
            let prefix = address & known | 1 << (127 - before);
            *block = (prefix ^ self.pad).to_be_bytes().into();
        }
        // The processor encrypts several at a time.
        if let Some(blocks) = blocks.get_mut(..len as usize) {
            self.cipher.encrypt_blocks(blocks);
        }
        let flips = blocks.iter().zip(0..len).map(|(block, before)| {
            let flip = u128::from_be_bytes((*block).into()) >> 127 << (127 - before);
            if is_kept(before) { 0 } else { flip }
        });
        address ^ flips.fold(0, |all, flip| all | flip)
    }
}

fn encrypted(cipher: &aes::Aes128, block: u128) -> u128 {
    let mut block = block.to_be_bytes().into();
    cipher.encrypt_block(&mut block);
    u128::from_be_bytes(block.into())
}

fn derived(purpose: &[u8], key: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(purpose).chain_update(key).finalize().into()
}

fn halves(bytes: &[u8; 32]) -> [[u8; 16]; 2] {
    let (halves, _) = bytes.as_chunks::<16>();
    [halves.first().copied().unwrap_or_default(), halves.get(1).copied().unwrap_or_default()]
}

/// The last addresses and what they became: of those that share a place, the last one. It has no memory before the first.
/// A place that nobody took has zeros, which become zeros in each kind.
#[derive(Default)]
struct Known<A>(Vec<(A, A)>);

impl<A: Copy + Default + PartialEq> Known<A> {
    fn get_or(&mut self, address: A, folded: u64, change: impl FnOnce() -> A) -> A {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        if self.0.is_empty() {
            self.0 = vec![(A::default(), A::default()); REMEMBERED];
        }
        let place = (folded.wrapping_mul(ODD) >> 32) as usize % REMEMBERED;
        match self.0.get_mut(place) {
            Some((known, changed)) if *known == address => *changed,
            Some(entry) => {
                *entry = (address, change());
                entry.1
            }
            None => change(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    #[test]
    fn each_bit_is_flipped_for_half_of_the_first_bits_before_it() {
        let cipher = PrefixCipher::new(&[7; 32]);
        let mut flipped = [0; 128];
        for number in 0..4000_u128 {
            let address = number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            let flips = cipher.changed(address, 128, |_| false) ^ address;
            flipped.iter_mut().enumerate().for_each(|(bit, count)| *count += flips >> bit & 1);
        }
        // The first bits have few before them.
        assert!(flipped[..118].iter().all(|count| (1600..2400).contains(count)), "{flipped:?}");
    }

    #[test]
    fn as_many_first_bits_are_in_common_as_before() {
        let mut cipher = AddressCipher::new(b"a key");
        let one = u32::from_be_bytes([10, 20, 30, 40]);
        let one_changed = u32::from_be_bytes(cipher.ipv4(one.to_be_bytes()));
        for bit in 0..32 {
            let other = u32::from_be_bytes(cipher.ipv4((one ^ 1 << bit).to_be_bytes()));
            assert_eq!((one_changed ^ other).leading_zeros(), 31 - bit);
        }
        let one = u128::from(Ipv6Addr::new(0x2001, 0xdb8, 1, 2, 3, 4, 5, 6));
        let one_changed = u128::from_be_bytes(cipher.ipv6(one.to_be_bytes()));
        for bit in 0..128 {
            let other = u128::from_be_bytes(cipher.ipv6((one ^ 1 << bit).to_be_bytes()));
            assert_eq!((one_changed ^ other).leading_zeros(), 127 - bit);
        }
    }

    #[test]
    fn ranges_that_mean_something_everywhere_are_kept_and_nothing_else_becomes_one_of_them() {
        let mut cipher = AddressCipher::new(b"a key");
        for kept in ["0.0.0.0", "127.0.0.1", "224.0.0.251", "239.1.2.3", "255.255.255.255"] {
            let address: Ipv4Addr = kept.parse().unwrap();
            assert_eq!(Ipv4Addr::from(cipher.ipv4(address.octets())).to_string(), kept);
        }
        for kept in ["::", "::1", "ff02::fb"] {
            let address: Ipv6Addr = kept.parse().unwrap();
            assert_eq!(Ipv6Addr::from(cipher.ipv6(address.octets())).to_string(), kept);
        }
        for number in 0..20_000_u32 {
            let address = Ipv4Addr::from(number.wrapping_mul(0x9e37_79b1));
            let is_kept = |address: Ipv4Addr| matches!(address.octets()[0], 0 | 127 | 224..);
            let changed = Ipv4Addr::from(cipher.ipv4(address.octets()));
            assert_eq!(is_kept(changed), is_kept(address), "{address} {changed}");
            assert_eq!(changed == address, is_kept(address), "{address} {changed}");
        }
        let local =
            Ipv6Addr::from(cipher.ipv6([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1]));
        assert_eq!(local.segments()[0] & 0xffc0, 0xfe80);
        let group: Ipv6Addr = "ff02::1:ff12:3456".parse().unwrap();
        let changed = Ipv6Addr::from(cipher.ipv6(group.octets()));
        assert_eq!(u128::from(changed) >> 24, u128::from(group) >> 24);
        assert_ne!(changed, group);
    }

    #[test]
    fn addresses_are_those_of_the_key_whatever_was_asked_before() {
        let mut cipher = AddressCipher::new(b"a key");
        let before = cipher.ipv4([192, 0, 2, 1]);
        for number in 0..100_000_u32 {
            cipher.ipv4(number.to_be_bytes());
        }
        assert_eq!(cipher.ipv4([192, 0, 2, 1]), before);
        assert_eq!(AddressCipher::new(b"a key").ipv4([192, 0, 2, 1]), before);
        assert_ne!(AddressCipher::new(b"another").ipv4([192, 0, 2, 1]), before);
    }

    #[test]
    fn of_mac_addresses_groups_and_both_flags_are_kept() {
        let mut cipher = AddressCipher::new(b"a key");
        for kept in [[0; 6], [0xff; 6], [1, 0, 0x5e, 0, 0, 0xfb], [0x33, 0x33, 0, 0, 0, 1]] {
            assert_eq!(cipher.mac(kept), kept);
        }
        let changed = cipher.mac([2, 0, 0, 0, 0, 1]);
        assert_eq!((changed[0] & 3, changed == [2, 0, 0, 0, 0, 1]), (2, false));
        let solicited = cipher.mac([0x33, 0x33, 0xff, 1, 2, 3]);
        assert_eq!(
            (&solicited[..3], solicited[3..] == [1, 2, 3]),
            (&SOLICITED_NODE_MAC[..], false)
        );
    }
}
