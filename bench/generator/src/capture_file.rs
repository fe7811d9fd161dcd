//! The two containers, little-endian: pcap 2.4 and pcapng 1.0 with one Ethernet interface.

use std::io::{self, Write};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Container {
    Pcap,
    Pcapng,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    Microseconds,
    Nanoseconds,
}

pub struct CaptureWriter<W: Write> {
    output: W,
    container: Container,
    unit: TimeUnit,
    bytes_written: u64,
}

const LINK_TYPE_ETHERNET: u16 = 1;
const SNAP_LENGTH: u32 = 262_144;

impl<W: Write> CaptureWriter<W> {
    pub fn start(output: W, container: Container, unit: TimeUnit) -> io::Result<Self> {
        let mut writer = CaptureWriter { output, container, unit, bytes_written: 0 };
        let header = match container {
            Container::Pcap => pcap_header(unit),
            Container::Pcapng => pcapng_header(unit),
        };
        writer.write(&header)?;
        Ok(writer)
    }

    pub fn packet(&mut self, time_ns: u64, frame: &[u8]) -> io::Result<()> {
        match self.container {
            Container::Pcap => self.pcap_record(time_ns, frame),
            Container::Pcapng => self.enhanced_packet_block(time_ns, frame),
        }
    }

    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    pub fn finish(mut self) -> io::Result<u64> {
        self.output.flush()?;
        Ok(self.bytes_written)
    }

    fn pcap_record(&mut self, time_ns: u64, frame: &[u8]) -> io::Result<()> {
        let fraction_ns = (time_ns % 1_000_000_000) as u32;
        let fraction = match self.unit {
            TimeUnit::Microseconds => fraction_ns / 1_000,
            TimeUnit::Nanoseconds => fraction_ns,
        };
        let bytes = frame.len() as u32;
        let mut header = Vec::with_capacity(16);
        push_words(&[(time_ns / 1_000_000_000) as u32, fraction, bytes, bytes], &mut header);
        self.write(&header)?;
        self.write(frame)
    }

    fn enhanced_packet_block(&mut self, time_ns: u64, frame: &[u8]) -> io::Result<()> {
        const BLOCK_TYPE: u32 = 6;
        const INTERFACE: u32 = 0;
        const FIXED_BYTES: usize = 32;
        let ticks = match self.unit {
            TimeUnit::Microseconds => time_ns / 1_000,
            TimeUnit::Nanoseconds => time_ns,
        };
        let bytes = frame.len() as u32;
        let padded_bytes = frame.len().next_multiple_of(4);
        let block_bytes = (FIXED_BYTES + padded_bytes) as u32;
        let mut header = Vec::with_capacity(28);
        push_words(
            &[BLOCK_TYPE, block_bytes, INTERFACE, (ticks >> 32) as u32, ticks as u32, bytes, bytes],
            &mut header,
        );
        self.write(&header)?;
        self.write(frame)?;
        self.write(&[0; 3][..padded_bytes - frame.len()])?;
        self.write(&block_bytes.to_le_bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes_written += bytes.len() as u64;
        self.output.write_all(bytes)
    }
}

fn pcap_header(unit: TimeUnit) -> Vec<u8> {
    let magic: u32 = match unit {
        TimeUnit::Microseconds => 0xa1b2_c3d4,
        TimeUnit::Nanoseconds => 0xa1b2_3c4d,
    };
    const VERSION_2_4: u32 = 4 << 16 | 2;
    let mut header = Vec::with_capacity(24);
    push_words(&[magic, VERSION_2_4, 0, 0, SNAP_LENGTH, LINK_TYPE_ETHERNET.into()], &mut header);
    header
}

fn pcapng_header(unit: TimeUnit) -> Vec<u8> {
    const VERSION_1_0: u32 = 1;
    const LENGTH_UNKNOWN: u32 = u32::MAX;
    let mut header = Vec::with_capacity(60);
    push_words(
        &[0x0a0d_0d0a, 28, 0x1a2b_3c4d, VERSION_1_0, LENGTH_UNKNOWN, LENGTH_UNKNOWN, 28],
        &mut header,
    );

    // if_tsresol (9), one byte with the value 9, padding; then opt_endofopt.
    const NANOSECOND_OPTIONS: [u32; 3] = [1 << 16 | 9, 9, 0];
    let options: &[u32] = match unit {
        TimeUnit::Microseconds => &[],
        TimeUnit::Nanoseconds => &NANOSECOND_OPTIONS,
    };
    let block_bytes = 20 + 4 * options.len() as u32;
    push_words(&[1, block_bytes, LINK_TYPE_ETHERNET.into(), SNAP_LENGTH], &mut header);
    push_words(options, &mut header);
    push_words(&[block_bytes], &mut header);
    header
}

fn push_words(words: &[u32], out: &mut Vec<u8>) {
    for word in words {
        out.extend_from_slice(&word.to_le_bytes());
    }
}
