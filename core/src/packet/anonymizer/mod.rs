//! Frames without the addresses of those who sent them: each header that the walk knows keeps its layout, its lengths and
//! its ports, and has other addresses by a key. What no header is, is overwritten, so that what is not understood tells
//! nothing.

mod address_cipher;
mod checksum;

use std::ops::Range;

use address_cipher::AddressCipher;

use super::link::CookedLayout;
use super::net::{authentication_len, proto};
use super::{HeaderKind, HeaderPlace, LinkType, Packet};

/// The rule for bytes behind the last header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PayloadRule {
    /// Zeros take their place.
    #[default]
    Zero,
    /// They are left out, as by a snaplen.
    Cut,
    /// They stay, with all addresses and names that are in them.
    Keep,
}

/// A frame after its addresses were changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnonymousFrame<'a> {
    /// Its bytes.
    pub captured: &'a [u8],
    /// True if it has no header with addresses that is known: all of it counts as payload.
    pub is_opaque: bool,
}

/// Changes the addresses of frames. One key makes the same of the same addresses; the first bits that two IP addresses have
/// in common, they have in common afterwards.
pub struct Anonymizer {
    addresses: AddressCipher,
    payload: PayloadRule,
    vxlan_port: u16,
    /// Memory of the last frame and of the places of its headers.
    frame: Vec<u8>,
    places: Vec<HeaderPlace>,
}

impl Anonymizer {
    /// Makes one of a key, for tunnels of VXLAN at its own port and at `vxlan_port`.
    pub fn new(key: &[u8], payload: PayloadRule, vxlan_port: u16) -> Self {
        let addresses = AddressCipher::new(key);
        Anonymizer { addresses, payload, vxlan_port, frame: Vec::new(), places: Vec::new() }
    }

    /// Changes a copy of a frame of `link_type`.
    pub fn frame(&mut self, link_type: LinkType, captured: &[u8]) -> AnonymousFrame<'_> {
        let Anonymizer { addresses, payload, vxlan_port, frame, places } = self;
        let (payload, vxlan_port) = (*payload, *vxlan_port);
        let headers_end = Packet::header_places(link_type, captured, vxlan_port, places);
        frame.clear();
        // In the common shape, the bytes that nobody is to see are not even copied.
        let zeros_from = headers_end.filter(|_| payload == PayloadRule::Zero);
        frame.extend_from_slice(
            captured.get(..zeros_from.unwrap_or(captured.len())).unwrap_or(captured),
        );
        frame.resize(captured.len(), 0);
        let mut rewrite = Rewrite { addresses, payload, vxlan_port, quotes_left: QUOTES_MAX };
        let rewritten = rewrite.headers(captured, frame, places, zeros_from);
        let captured = self.frame.get(..rewritten.len).unwrap_or(&self.frame);
        AnonymousFrame { captured, is_opaque: rewritten.is_opaque }
    }
}

/// Errors of ICMP that may quote each other; none does in a network (RFC 1122, section 3.2.2).
const QUOTES_MAX: u8 = 2;

/// Bytes of headers before what varies in them.
const ETHERNET_LEN: usize = 14;
const ARP_LEN: usize = 28;
const IPV4_LEN: usize = 20;
const IPV6_LEN: usize = 40;
const FRAGMENT_LEN: usize = 8;
const AUTHENTICATION_LEN: usize = 12;
const TCP_LEN: usize = 20;
const UDP_LEN: usize = 8;
const SCTP_LEN: usize = 12;
const ICMP_LEN: usize = 8;

/// Changes the frames of one call.
struct Rewrite<'a> {
    addresses: &'a mut AddressCipher,
    payload: PayloadRule,
    vxlan_port: u16,
    quotes_left: u8,
}

struct Rewritten {
    /// Bytes of the frame that are left.
    len: usize,
    is_opaque: bool,
}

impl Rewrite<'_> {
    /// Changes `new`, which is a copy of `old`.
    fn frame(
        &mut self,
        link_type: LinkType,
        old: &[u8],
        new: &mut [u8],
        places: &mut Vec<HeaderPlace>,
    ) -> Rewritten {
        Packet::header_places(link_type, old, self.vxlan_port, places);
        self.headers(old, new, places, None)
    }

    /// Changes the headers at `places`, and overwrites what is behind them, unless there are zeros.
    fn headers(
        &mut self,
        old: &[u8],
        new: &mut [u8],
        places: &[HeaderPlace],
        zeros_from: Option<usize>,
    ) -> Rewritten {
        let mut end = 0;
        for (index, place) in places.iter().enumerate() {
            end = self.header(*place, old, new);
            if let Some(next) = places.get(index + 1) {
                between(*place, end..next.start, new);
            }
        }
        let len = match self.payload {
            _ if end >= old.len() => old.len(),
            PayloadRule::Keep => old.len(),
            PayloadRule::Cut => end,
            PayloadRule::Zero => {
                zero(new, end..zeros_from.unwrap_or(old.len()));
                old.len()
            }
        };
        // What is not overwritten adds up to the same, and zeros to nothing.
        let old_summed = match self.payload {
            PayloadRule::Zero => old,
            PayloadRule::Cut | PayloadRule::Keep => old.get(..end).unwrap_or(old),
        };
        // Those inside first: their checksums are bytes of what is around them.
        let mut outer = places;
        while let Some((place, rest)) = outer.split_last() {
            checksum::mend(*place, rest, old_summed, new, end);
            outer = rest;
        }
        let is_opaque = !places.iter().any(|place| {
            !matches!(place.kind, HeaderKind::Ethernet | HeaderKind::Cooked | HeaderKind::Cooked2)
        });
        Rewritten { len, is_opaque }
    }

    /// Changes one header; answers where it ends.
    fn header(&mut self, place: HeaderPlace, old: &[u8], new: &mut [u8]) -> usize {
        let start = place.start;
        let at = |offset: usize| old.get(start + offset).copied().unwrap_or_default();
        let end = match place.kind {
            HeaderKind::Ethernet => {
                self.mac(new, start);
                self.mac(new, start + 6);
                start + ETHERNET_LEN
            }
            HeaderKind::Cooked => self.cooked(old, new, start, CookedLayout::FIRST),
            HeaderKind::Cooked2 => self.cooked(old, new, start, CookedLayout::SECOND),
            HeaderKind::Arp => self.arp(old, new, start),
            HeaderKind::Ipv4 => {
                self.ipv4(new, start + 12);
                self.ipv4(new, start + 16);
                let end = start + usize::from(at(0) & 0x0f) * 4;
                // Routes and times of routers; zeros end the options.
                zero(new, start + IPV4_LEN..end);
                end
            }
            HeaderKind::Ipv6 => {
                self.ipv6(new, start + 8);
                self.ipv6(new, start + 24);
                start + IPV6_LEN
            }
            // Their values name routers and homes; what is left tells where they end.
            HeaderKind::Extension => {
                let end = start + (usize::from(at(1)) + 1) * 8;
                zero(new, start + 2..end);
                end
            }
            HeaderKind::Fragment => start + FRAGMENT_LEN,
            HeaderKind::Authentication => {
                let end = start + authentication_len(at(1));
                zero(new, start + AUTHENTICATION_LEN..end);
                end
            }
            HeaderKind::Tcp => {
                let end = start + (usize::from(at(12) >> 4) * 4).max(TCP_LEN);
                without_unknown_options(new, start + TCP_LEN..end);
                end
            }
            HeaderKind::Udp => start + UDP_LEN,
            HeaderKind::Sctp => start + SCTP_LEN,
            HeaderKind::Icmp => self.icmp(old, new, start),
            HeaderKind::Icmpv6 => self.icmpv6(old, new, start),
        };
        end.min(old.len())
    }

    /// Changes the address of the sender, and overwrites what else is in its room.
    fn cooked(&mut self, old: &[u8], new: &mut [u8], start: usize, layout: CookedLayout) -> usize {
        let at = start + layout.address_at;
        match layout.has_mac(old.get(start..).unwrap_or_default()) {
            true => {
                self.mac(new, at);
                zero(new, at + 6..at + 8);
            }
            false => zero(new, at..at + 8),
        }
        start + layout.len
    }

    /// Changes the addresses of Ethernet and IPv4; others count as payload.
    fn arp(&mut self, old: &[u8], new: &mut [u8], start: usize) -> usize {
        const ETHERNET_AND_IPV4: [u8; 6] = [0, 1, 8, 0, 6, 4];
        if !old.get(start..).is_some_and(|header| header.starts_with(&ETHERNET_AND_IPV4)) {
            return start + 8;
        }
        for pair in [start + 8, start + 18] {
            self.mac(new, pair);
            self.ipv4(new, pair + 6);
        }
        start + ARP_LEN
    }

    /// Changes what errors and redirections name.
    fn icmp(&mut self, old: &[u8], new: &mut [u8], start: usize) -> usize {
        const REDIRECT: u8 = 5;
        let kind = old.get(start).copied().unwrap_or_default();
        if kind == REDIRECT {
            self.ipv4(new, start + 4);
        }
        match kind {
            3 | 4 | REDIRECT | 11 | 12 => self.quoted(old, new, start + ICMP_LEN),
            _ => start + ICMP_LEN,
        }
    }

    /// Changes what errors and messages between neighbours name (RFC 4443, RFC 4861).
    fn icmpv6(&mut self, old: &[u8], new: &mut [u8], start: usize) -> usize {
        const SOLICITATION_OF_ROUTERS: u8 = 133;
        const ADVERTISEMENT_OF_ROUTER: u8 = 134;
        const REDIRECT: u8 = 137;
        match old.get(start).copied().unwrap_or_default() {
            1..=4 => self.quoted(old, new, start + ICMP_LEN),
            SOLICITATION_OF_ROUTERS => self.neighbour_options(old, new, start + 8),
            ADVERTISEMENT_OF_ROUTER => self.neighbour_options(old, new, start + 16),
            kind @ 135..=REDIRECT => {
                self.ipv6(new, start + 8);
                if kind == REDIRECT {
                    self.ipv6(new, start + 24);
                }
                self.neighbour_options(old, new, start + if kind == REDIRECT { 40 } else { 24 })
            }
            _ => start + ICMP_LEN,
        }
    }

    /// Changes the addresses of the link, and overwrites other options but for their lengths.
    fn neighbour_options(&mut self, old: &[u8], new: &mut [u8], mut at: usize) -> usize {
        const SOURCE: u8 = 1;
        const TARGET: u8 = 2;
        const MTU: u8 = 5;
        while let Some([kind, words]) = old.get(at..).and_then(|rest| rest.first_chunk().copied()) {
            let end = at + usize::from(words) * 8;
            if words == 0 || end > old.len() {
                break;
            }
            match (kind, words) {
                (SOURCE | TARGET, 1) => self.mac(new, at + 2),
                (MTU, 1) => (),
                _ => zero(new, at + 2..end),
            }
            at = end;
        }
        at
    }

    /// Changes the packet that an error quotes, as far as it does.
    fn quoted(&mut self, old: &[u8], new: &mut [u8], start: usize) -> usize {
        let (Some(old_quote), Some(new_quote)) = (old.get(start..), new.get_mut(start..)) else {
            return start;
        };
        if self.quotes_left == 0 {
            return start;
        }
        self.quotes_left -= 1;
        start + self.frame(LinkType::RAW, old_quote, new_quote, &mut Vec::new()).len
    }

    fn mac(&mut self, new: &mut [u8], at: usize) {
        changed(new, at, |address| self.addresses.mac(address));
    }

    fn ipv4(&mut self, new: &mut [u8], at: usize) {
        changed(new, at, |address| self.addresses.ipv4(address));
    }

    fn ipv6(&mut self, new: &mut [u8], at: usize) {
        changed(new, at, |address| self.addresses.ipv6(address));
    }
}

/// Puts another address at a place; overwrites one that was not captured as a whole.
fn changed<const LEN: usize>(
    new: &mut [u8],
    at: usize,
    change: impl FnOnce([u8; LEN]) -> [u8; LEN],
) {
    match new.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        Some(address) => *address = change(*address),
        None => zero(new, at..usize::MAX),
    }
}

/// Overwrites the part of a range that was captured.
fn zero(new: &mut [u8], range: Range<usize>) {
    let end = range.end.min(new.len());
    if let Some(bytes) = new.get_mut(range.start.min(end)..end) {
        bytes.fill(0);
    }
}

/// Keeps headers that stand between two with addresses: tags, labels, those of tunnels. Where one may have addresses
/// of its own, it is overwritten.
fn between(outer: HeaderPlace, gap: Range<usize>, new: &mut [u8]) {
    const TEREDO_PORT: [u8; 2] = 3544_u16.to_be_bytes();
    const ROUTES: u8 = 0x40;
    let header = new.get(outer.start..).unwrap_or_default();
    match outer.kind {
        // The address and port that a server saw.
        HeaderKind::Udp => {
            let is_teredo =
                [0, 2].into_iter().any(|at| header.get(at..at + 2) == Some(&TEREDO_PORT));
            if is_teredo {
                zero(new, gap);
            }
        }
        // Routes of GRE (RFC 1701).
        HeaderKind::Ipv4
            if header.get(9) == Some(&proto::GRE)
                && new.get(gap.start).is_some_and(|flags| flags & ROUTES != 0) =>
        {
            zero(new, gap.start + 4..gap.end);
        }
        _ => {}
    }
}

/// Overwrites options of TCP but for those that size windows and segments and tell times and gaps (RFC 9293, RFC 7323,
/// RFC 2018): others have keys, cookies and addresses.
fn without_unknown_options(new: &mut [u8], options: Range<usize>) {
    const END: u8 = 0;
    const NO_OPERATION: u8 = 1;
    const KEPT: [u8; 5] = [2, 3, 4, 5, 8];
    let end = options.end.min(new.len());
    let mut at = options.start;
    while at < end {
        let kind = new.get(at).copied().unwrap_or(END);
        let len = match kind {
            END => break,
            NO_OPERATION => 1,
            _ => usize::from(new.get(at + 1).copied().unwrap_or_default()),
        };
        if len == 0 || at + len > end || len == 1 && kind != NO_OPERATION {
            break;
        }
        if kind != NO_OPERATION
            && !KEPT.contains(&kind)
            && let Some(option) = new.get_mut(at..at + len)
        {
            option.fill(NO_OPERATION);
        }
        at += len;
    }
    zero(new, at..end);
}
