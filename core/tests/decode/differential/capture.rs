//! Our capture decoder beside pcap-parser.

use std::cell::RefCell;

use bytewright::{Error, ErrorKind};
use pcap_parser::pcapng::Block;
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    PcapBlockOwned, PcapNGSlice, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified,
    parse_pcap_header,
};

use super::Tally;
use crate::files;
use crate::generate::{self, seeds};

/// Fields of a packet that both tell.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    ts: Option<i128>,
    length: u32,
    link_type: u16,
    captured: Vec<u8>,
}

/// The packets that pcap-parser finds, and whether it finds damage behind them; `None` where it does
/// not read the file at all.
type Found = Option<(Vec<Told>, bool)>;

fn pcap(file: &[u8]) -> Found {
    let (mut rest, header) = parse_pcap_header(file).ok()?;
    let fraction = if header.is_nanosecond_precision() { 1 } else { 1000 };
    let mut found = Vec::new();
    while !rest.is_empty() {
        let frame = match (header.is_bigendian(), header.is_modified_format()) {
            (true, _) => parse_pcap_frame_be(rest),
            (_, true) => parse_pcap_frame_modified(rest),
            _ => parse_pcap_frame(rest),
        };
        let Ok((behind, frame)) = frame else { return Some((found, true)) };
        let seconds = i128::from(frame.ts_sec) * 1_000_000_000;
        found.push(Told {
            ts: Some(seconds + i128::from(frame.ts_usec) * fraction),
            length: frame.origlen,
            link_type: header.network.0 as u16,
            captured: frame.data.to_vec(),
        });
        rest = behind;
    }
    Some((found, false))
}

/// An interface as pcap-parser tells it: link type, snaplen, unit of time, offset.
struct Interface {
    link_type: u16,
    snaplen: u32,
    resolution: u8,
    offset: i64,
}

impl Interface {
    /// Nanoseconds, counted the plain way.
    fn nanoseconds(&self, high: u32, low: u32) -> Option<i128> {
        let units = i128::from(high) << 32 | i128::from(low);
        let power = u32::from(self.resolution & 0x7f);
        let per_second = if self.resolution & 0x80 == 0 {
            10i128.checked_pow(power)
        } else {
            1i128.checked_shl(power).filter(|unit| *unit > 0)
        };
        let fraction = per_second.map_or(0, |unit| units * 1_000_000_000 / unit);
        let ts = i128::from(self.offset) * 1_000_000_000 + fraction;
        i64::try_from(ts).is_ok().then_some(ts)
    }
}

fn pcapng(file: &[u8]) -> Found {
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut found = Vec::new();
    let mut is_big = false;
    for block in PcapNGSlice::from_slice(file).ok()? {
        let Ok(PcapBlockOwned::NG(block)) = block else { return Some((found, true)) };
        match block {
            Block::SectionHeader(section) => {
                interfaces.clear();
                is_big = section.big_endian();
            }
            Block::InterfaceDescription(interface) => interfaces.push(Interface {
                link_type: interface.linktype.0 as u16,
                snaplen: interface.snaplen,
                resolution: interface.if_tsresol,
                // pcap-parser 0.17 reads it as little-endian in either section.
                offset: match is_big {
                    true => interface.if_tsoffset.swap_bytes(),
                    false => interface.if_tsoffset,
                },
            }),
            Block::EnhancedPacket(packet) => {
                let Some(interface) = interfaces.get(packet.if_id as usize) else {
                    return Some((found, true));
                };
                found.push(Told {
                    ts: interface.nanoseconds(packet.ts_high, packet.ts_low),
                    length: packet.origlen,
                    link_type: interface.link_type,
                    captured: packet.packet_data().to_vec(),
                });
            }
            Block::SimplePacket(packet) => {
                let Some(interface) = interfaces.first() else { return Some((found, true)) };
                let snaplen = if interface.snaplen == 0 { u32::MAX } else { interface.snaplen };
                let captured = packet.packet_data();
                let cut = captured.len().min(snaplen as usize);
                found.push(Told {
                    ts: None,
                    length: packet.origlen,
                    link_type: interface.link_type,
                    captured: captured[..cut].to_vec(),
                });
            }
            _ => {}
        }
    }
    Some((found, false))
}

/// Decodes `file` with our decoder, into the same form.
fn ours(file: &[u8]) -> (Vec<Told>, Option<Error>) {
    let (records, damage) = files::records(file);
    let told = records.iter().map(|record| Told {
        ts: record.ts.map(i128::from),
        length: record.length,
        link_type: record.link_type,
        captured: record.captured.to_vec(),
    });
    (told.collect(), damage)
}

fn compare(file: &[u8], name: &str, tally: &mut Tally) {
    let is_pcapng = file.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]);
    let (ours, damage) = ours(file);
    let Some((theirs, is_damaged)) = (if is_pcapng { pcapng(file) } else { pcap(file) }) else {
        return tally.add(explain_refusal(file, damage.as_ref()), || format!("{name}: refused"));
    };
    if let Some(rule) = has_other_layout(file, is_pcapng) {
        return tally.add(Some(rule), String::new);
    }
    for (index, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        tally.compared += 1;
        assert!(ours == theirs, "{name} packet {}: {ours:?}, they: {theirs:?}", index + 1);
    }
    if ours.len() != theirs.len() || damage.is_some() != is_damaged {
        let rule = explain_end(&ours, &theirs, damage.as_ref(), is_damaged);
        tally.add(rule, || {
            let (count, their_count) = (ours.len(), theirs.len());
            format!("{name}: {count} packets, {damage:?}, they {their_count}, {is_damaged}")
        });
    }
}

/// Files whose packets pcap-parser cannot find.
fn has_other_layout(file: &[u8], is_pcapng: bool) -> Option<&'static str> {
    if is_pcapng {
        let mut decoder = bytewright::capture::Decoder::new();
        return has_packet_block(&mut decoder, file).then_some("obsolete packet block");
    }
    let version = match file {
        [0xa1, _, _, _, 0, major, 0, minor, ..] => (*major, *minor),
        [_, _, _, _, major, _, minor, ..] => (*major, *minor),
        _ => return None,
    };
    let is_modified_big = file.starts_with(&[0xa1, 0xb2, 0xcd, 0x34]);
    match version {
        _ if is_modified_big => Some("modified format in big endian"),
        (2, 0..=2) => Some("lengths the other way round"),
        _ => None,
    }
}

/// Returns true if one of the blocks that we step through is of type 2, which pcap-parser does not read.
fn has_packet_block(decoder: &mut bytewright::capture::Decoder, file: &[u8]) -> bool {
    use bytewright::capture::Step;
    let mut rest = file;
    loop {
        let kind = rest.first_chunk::<4>();
        let consumed = match decoder.step(rest, true) {
            Ok(Step::Record { consumed, .. }) => {
                if kind == Some(&[2, 0, 0, 0]) || kind == Some(&[0, 0, 0, 2]) {
                    return true;
                }
                consumed
            }
            Ok(Step::Skip(count)) => count as usize,
            _ => return false,
        };
        rest = rest.get(consumed..).unwrap_or_default();
    }
}

/// Returns the reason why pcap-parser does not begin to read a file.
fn explain_refusal(file: &[u8], damage: Option<&Error>) -> Option<&'static str> {
    if damage.is_some() {
        return Some("refused by both");
    }
    file.starts_with(&[0xa1, 0xb2, 0xcd, 0x34]).then_some("modified format in big endian")
}

/// Returns the reason why one of the two stopped earlier: it must have found damage there.
fn explain_end(
    ours: &[Told],
    theirs: &[Told],
    damage: Option<&Error>,
    is_damaged: bool,
) -> Option<&'static str> {
    match damage {
        Some(error) if ours.len() <= theirs.len() => Some(match error.kind() {
            ErrorKind::Limit => "a length above our bound",
            ErrorKind::Truncated { .. } => "a cut that pcap-parser passes over",
            _ => "a field that we check",
        }),
        None if is_damaged && ours.len() >= theirs.len() => Some("options that pcap-parser checks"),
        Some(_) if is_damaged => Some("options that pcap-parser checks"),
        _ => None,
    }
}

#[test]
fn random_captures_hold_what_pcap_parser_finds() {
    let tally = RefCell::new(Tally::default());
    seeds(4000, |random| {
        let capture = generate::capture::random(random);
        compare(&capture, "a random capture", &mut tally.borrow_mut());
    });
    tally.borrow().print("random captures");
    assert!(tally.borrow().compared > 1000);
}

#[test]
fn collected_captures_hold_what_pcap_parser_finds() {
    let Some(folder) = files::corpus("collected_captures_hold_what_pcap_parser_finds") else {
        return;
    };
    let mut tally = Tally::default();
    for name in files::names(&folder) {
        compare(&files::plain(&folder.join(&name)), &name, &mut tally);
    }
    tally.print("collected captures");
    assert!(tally.compared > 1000);
}
