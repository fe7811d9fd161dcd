//! Checksums of headers that follow what was changed under them (RFC 1071, RFC 1624): one that was right is right
//! afterwards, and one that was wrong, or is left to the network card, stays wrong.

use super::IPV6_LEN;
use crate::packet::{HeaderKind, HeaderPlace};

/// Makes the checksum of a header inside of `outer` ones right where it was, after what it sums up was changed: the bytes
/// before `headers_end`, and those behind it that `old` has.
pub(super) fn mend(
    place: HeaderPlace,
    outer: &[HeaderPlace],
    old: &[u8],
    new: &mut [u8],
    headers_end: usize,
) {
    let start = place.start;
    let ip = outer.iter().rfind(|place| matches!(place.kind, HeaderKind::Ipv4 | HeaderKind::Ipv6));
    let Some(checksum_at) = offset_in(place.kind).map(|offset| start + offset) else {
        return;
    };
    let end = match place.kind {
        HeaderKind::Ipv4 => {
            start + usize::from(old.get(start).copied().unwrap_or_default() & 0x0f) * 4
        }
        _ => ip.map_or(old.len(), |ip| ip_end(*ip, old)),
    };
    let addresses = match (place.kind, ip) {
        (HeaderKind::Ipv4 | HeaderKind::Icmp, _) | (_, None) => 0..0,
        (_, Some(HeaderPlace { kind: HeaderKind::Ipv4, start })) => start + 12..start + 20,
        (_, Some(ip)) => ip.start + 8..ip.start + 40,
    };
    let total = |bytes: &[u8], len: usize| {
        let parts = [start..end.min(len), addresses.clone()];
        parts.map(|part| bytes.get(part).map_or(0, sum)).iter().sum::<u64>()
    };
    let Some(old_checksum) = old.get(checksum_at..).and_then(|rest| rest.first_chunk::<2>()) else {
        return;
    };
    let old_checksum = u16::from_be_bytes(*old_checksum);
    // In UDP 0 says that there is none (RFC 768).
    if place.kind == HeaderKind::Udp && old_checksum == 0 {
        return;
    }
    let updated = match updated(old_checksum, total(old, old.len()), total(new, headers_end)) {
        0 if place.kind == HeaderKind::Udp => u16::MAX,
        updated => updated,
    };
    if let Some(checksum) = new.get_mut(checksum_at..).and_then(|rest| rest.first_chunk_mut()) {
        *checksum = updated.to_be_bytes();
    }
}

/// The offset of a header's checksum. That of SCTP is another sum (RFC 9260, appendix A) over what is payload here.
fn offset_in(kind: HeaderKind) -> Option<usize> {
    match kind {
        HeaderKind::Ipv4 => Some(10),
        HeaderKind::Tcp => Some(16),
        HeaderKind::Udp => Some(6),
        HeaderKind::Icmp | HeaderKind::Icmpv6 => Some(2),
        _ => None,
    }
}

/// The end of an IP packet as its header states it; that of the frame where it leaves it to others.
fn ip_end(ip: HeaderPlace, old: &[u8]) -> usize {
    let len = |at: usize| {
        let bytes = old.get(ip.start + at..).and_then(|rest| rest.first_chunk().copied());
        usize::from(u16::from_be_bytes(bytes.unwrap_or_default()))
    };
    let (stated, header_len) = match ip.kind {
        HeaderKind::Ipv4 => (len(2), 0),
        _ => (len(4), IPV6_LEN),
    };
    match stated {
        0 => old.len(),
        stated => ip.start + header_len + stated,
    }
}

/// Adds up words of two bytes, down to one word; an odd last byte is the first of its word.
///
/// Four words are added at once: 2^16 is 1 where 2^16 - 1 is 0. Bytes may be swapped before or after (RFC 1071, section 2).
fn sum(bytes: &[u8]) -> u64 {
    let (fours, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(into, byte)| *into = *byte);
    let fours: u128 = fours.iter().map(|four| u128::from(u64::from_ne_bytes(*four))).sum();
    let all = fours + u128::from(u64::from_ne_bytes(last));
    let halves = (all >> 64) + u128::from(all as u64 >> 32) + u128::from(all as u32);
    u16::from_be(fold(halves as u64)).into()
}

/// The checksum of what added up to `old` with `checksum`, and adds up to `new` now.
fn updated(checksum: u16, old: u64, new: u64) -> u16 {
    const MODULUS: u64 = 0xffff;
    if old % MODULUS == new % MODULUS {
        return checksum;
    }
    let complement = u64::from(!checksum) + new % MODULUS + (MODULUS - old % MODULUS);
    !fold(complement)
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_that_of_its_words() {
        for len in 0..70_u32 {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 37 + len) as u8 | 0x81).collect();
            let words = bytes.chunks(2).map(|word| {
                u64::from(word[0]) << 8 | word.get(1).map_or(0, |byte| u64::from(*byte))
            });
            assert_eq!(sum(&bytes) % 0xffff, words.sum::<u64>() % 0xffff, "{len}");
        }
    }

    #[test]
    fn an_updated_checksum_is_the_one_that_is_computed_anew() {
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as u8
        };
        for len in 0..200 {
            let old: Vec<u8> = (0..len).map(|_| random()).collect();
            let new: Vec<u8> =
                old.iter().map(|byte| if random() < 40 { random() } else { *byte }).collect();
            let updated = updated(!fold(sum(&old)), sum(&old), sum(&new));
            // Both zeros of the complement stand for nothing.
            assert_eq!(u64::from(updated) % 0xffff, u64::from(!fold(sum(&new))) % 0xffff, "{len}");
        }
    }
}
