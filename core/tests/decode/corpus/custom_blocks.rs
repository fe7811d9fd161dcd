//! tshark counts pcapng's custom blocks as packets of the protocol "data", we step over them.

use super::Tally;
use super::oracle::{Answer, Row};
use super::rules::CUSTOM_BLOCK;

/// Blocks that tshark makes a row of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Packet,
    Custom,
}

/// The rows of `answer` that are packets, told by the order of the blocks in the file.
pub(crate) fn without<'a>(answer: &'a Answer, bytes: &[u8], tally: &mut Tally) -> Vec<&'a Row> {
    let blocks = blocks(bytes);
    if answer.rows.len() != blocks.len() || !blocks.contains(&Block::Custom) {
        return answer.rows.iter().collect();
    }
    let mut packets = Vec::new();
    for (row, block) in answer.rows.iter().zip(blocks) {
        if block == Block::Packet {
            packets.push(row);
        } else {
            assert_eq!(row.protocols(), ["data"], "{}: a custom block", answer.file);
            let number = row.text("frame.number").unwrap_or_default();
            tally.add(Some(CUSTOM_BLOCK), format!("{} packet {number}", answer.file));
        }
    }
    packets
}

/// The blocks of a pcapng file that tshark makes rows of, in order.
fn blocks(bytes: &[u8]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = bytes;
    let mut is_little = true;
    while let Some(header) = rest.first_chunk::<12>() {
        let word = |at: usize| {
            let word = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            if is_little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) }
        };
        if word(0) == 0x0a0d_0d0a {
            is_little = header[8] == 0x4d;
        } else if bytes.len() == rest.len() {
            break;
        }
        let word = |at: usize| {
            let word = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            if is_little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) }
        };
        match word(0) {
            2 | 3 | 6 => blocks.push(Block::Packet),
            0xbad | 0x4000_0bad => blocks.push(Block::Custom),
            _ => {}
        }
        let len = word(4).max(12) as usize;
        rest = rest.get(len..).unwrap_or_default();
    }
    blocks
}
