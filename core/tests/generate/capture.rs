//! Capture files record by record and block by block, for examples, and random ones.

use bytewright::wire::Endian;

use super::Random;
use super::frame;

pub(crate) const MICROSECONDS: u32 = 0xa1b2_c3d4;
pub(crate) const NANOSECONDS: u32 = 0xa1b2_3c4d;
pub(crate) const MODIFIED: u32 = 0xa1b2_cd34;

/// Bytes with numbers in one byte order.
#[derive(Debug, Clone)]
struct Bytes {
    endian: Endian,
    bytes: Vec<u8>,
}

impl Bytes {
    fn u16(&mut self, value: u16) {
        match self.endian {
            Endian::Little => self.bytes.extend(value.to_le_bytes()),
            Endian::Big => self.bytes.extend(value.to_be_bytes()),
        }
    }

    fn u32(&mut self, value: u32) {
        match self.endian {
            Endian::Little => self.bytes.extend(value.to_le_bytes()),
            Endian::Big => self.bytes.extend(value.to_be_bytes()),
        }
    }

    fn u64(&mut self, value: u64) {
        match self.endian {
            Endian::Little => self.bytes.extend(value.to_le_bytes()),
            Endian::Big => self.bytes.extend(value.to_be_bytes()),
        }
    }
}

/// Fields of the header of a pcap file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PcapHeader {
    pub(crate) endian: Endian,
    pub(crate) magic: u32,
    pub(crate) version: (u16, u16),
    pub(crate) snaplen: u32,
    /// The whole word: link type, and above it the bits of the frame check sequence.
    pub(crate) link: u32,
}

impl Default for PcapHeader {
    fn default() -> Self {
        PcapHeader {
            endian: Endian::Little,
            magic: MICROSECONDS,
            version: (2, 4),
            snaplen: 65_535,
            link: 1,
        }
    }
}

/// A pcap file that is being written.
#[derive(Debug, Clone)]
pub(crate) struct Pcap(Bytes);

impl Pcap {
    pub(crate) fn new(header: PcapHeader) -> Self {
        let mut bytes = Bytes { endian: header.endian, bytes: Vec::new() };
        bytes.u32(header.magic);
        bytes.u16(header.version.0);
        bytes.u16(header.version.1);
        bytes.u64(0);
        bytes.u32(header.snaplen);
        bytes.u32(header.link);
        Pcap(bytes)
    }

    /// A record header of these four words, then `rest`.
    pub(crate) fn record(mut self, words: [u32; 4], rest: &[u8]) -> Self {
        for word in words {
            self.0.u32(word);
        }
        self.0.bytes.extend(rest);
        self
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0.bytes
    }
}

/// A pcapng file that is being written.
#[derive(Debug, Clone)]
pub(crate) struct Pcapng(Bytes);

impl Pcapng {
    /// A file that begins with a section of unknown length in that byte order.
    pub(crate) fn new(endian: Endian) -> Self {
        Pcapng(Bytes { endian, bytes: Vec::new() }).section(endian, u64::MAX, &[])
    }

    /// A section of `section_len` bytes, with `options` as they stand in the file.
    pub(crate) fn section(mut self, endian: Endian, section_len: u64, options: &[u8]) -> Self {
        self.0.endian = endian;
        let mut body = self.body();
        body.u32(0x1a2b_3c4d);
        body.u16(1);
        body.u16(0);
        body.u64(section_len);
        body.bytes.extend(options);
        self.block(0x0a0d_0d0a, &body.bytes)
    }

    pub(crate) fn interface(self, link_type: u16, snaplen: u32, options: &[u8]) -> Self {
        let mut body = self.body();
        body.u16(link_type);
        body.u16(0);
        body.u32(snaplen);
        body.bytes.extend(options);
        self.block(1, &body.bytes)
    }

    pub(crate) fn enhanced(self, interface: u32, ts: u64, length: u32, captured: &[u8]) -> Self {
        let mut body = self.body();
        body.u32(interface);
        body.u32((ts >> 32) as u32);
        body.u32(ts as u32);
        body.u32(captured.len() as u32);
        body.u32(length);
        body.bytes.extend(captured);
        self.block(6, &body.bytes)
    }

    pub(crate) fn simple(self, length: u32, captured: &[u8]) -> Self {
        let mut body = self.body();
        body.u32(length);
        body.bytes.extend(captured);
        self.block(3, &body.bytes)
    }

    /// The obsolete packet block.
    pub(crate) fn packet(self, interface: u16, ts: u64, length: u32, captured: &[u8]) -> Self {
        let mut body = self.body();
        body.u16(interface);
        body.u16(0xffff);
        body.u32((ts >> 32) as u32);
        body.u32(ts as u32);
        body.u32(captured.len() as u32);
        body.u32(length);
        body.bytes.extend(captured);
        self.block(2, &body.bytes)
    }

    /// A block of any kind, padded and framed.
    pub(crate) fn block(mut self, kind: u32, body: &[u8]) -> Self {
        let padding = body.len().next_multiple_of(4) - body.len();
        let total_len = (12 + body.len() + padding) as u32;
        self.0.u32(kind);
        self.0.u32(total_len);
        self.0.bytes.extend(body);
        self.0.bytes.extend(vec![0; padding]);
        self.0.u32(total_len);
        self
    }

    /// Bytes as they are.
    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.bytes.extend(bytes);
        self
    }

    /// An option with its padding, in the byte order of the section.
    pub(crate) fn option(&self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut option = self.body();
        option.u16(code);
        option.u16(value.len() as u16);
        option.bytes.extend(value);
        option.bytes.resize(option.bytes.len().next_multiple_of(4), 0);
        option.bytes
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0.bytes
    }

    fn body(&self) -> Bytes {
        Bytes { endian: self.0.endian, bytes: Vec::new() }
    }
}

/// A random capture file: whole, or in a third of the files with changed bytes or cut.
pub(crate) fn random(random: &mut Random) -> Vec<u8> {
    let bytes = match random.once_in(2) {
        true => {
            let count = random.below(20);
            random_pcap(random, |records, _| records == count)
        }
        false => {
            let count = random.below(30);
            random_pcapng(random, |blocks, _| blocks == count)
        }
    };
    perhaps_damaged(random, bytes)
}

/// Makes a random capture file of at least `len` bytes, unless it is cut.
pub(crate) fn random_large(random: &mut Random, len: usize) -> Vec<u8> {
    let bytes = match random.once_in(2) {
        true => random_pcap(random, |_, bytes| bytes >= len),
        false => random_pcapng(random, |_, bytes| bytes >= len),
    };
    perhaps_damaged(random, bytes)
}

fn perhaps_damaged(random: &mut Random, mut bytes: Vec<u8>) -> Vec<u8> {
    match random.below(6) {
        0 => {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = random.byte();
            }
        }
        1 => bytes.truncate(random.below(bytes.len())),
        _ => {}
    }
    bytes
}

/// A frame, once in a while a long one.
fn random_frame(random: &mut Random) -> frame::Frame {
    let mut frame = frame::random(random);
    if random.once_in(100) {
        let length = random.below(200_000);
        frame.captured.extend(random.bytes(length));
        frame.length = frame.captured.len() as u32;
    }
    frame
}

/// Records until there are `enough`, which is asked with their number and all bytes so far.
fn random_pcap(random: &mut Random, enough: impl Fn(usize, usize) -> bool) -> Vec<u8> {
    let header = PcapHeader {
        endian: random_endian(random),
        magic: random.pick(&[MICROSECONDS, NANOSECONDS, MODIFIED]),
        version: random.pick(&[(2, 4), (2, 4), (2, 4), (2, 3), (2, 2)]),
        snaplen: random.pick(&[0, 96, 65_535, 262_144]),
        link: random.pick(&[1, 101, 113, 0x2400_0001]),
    };
    let mut file = Pcap::new(header);
    let mut count = 0;
    while !enough(count, file.0.bytes.len()) {
        count += 1;
        let frame = random_frame(random);
        let caplen = frame.captured.len() as u32;
        let (first, second) =
            if header.version < (2, 3) { (frame.length, caplen) } else { (caplen, frame.length) };
        let fraction = random.pick(&[0, 999_999, 999_999_999, 1_000_000, u32::MAX]);
        let words = [random.next() as u32, fraction, first, second];
        let modified_words = if header.magic == MODIFIED { random.bytes(8) } else { Vec::new() };
        file = file.record(words, &[modified_words, frame.captured].concat());
    }
    file.bytes()
}

fn random_pcapng(random: &mut Random, enough: impl Fn(usize, usize) -> bool) -> Vec<u8> {
    let mut file = Pcapng::new(random_endian(random));
    let mut interfaces = 0;
    let mut count = 0;
    while !enough(count, file.0.bytes.len()) {
        count += 1;
        let frame = random_frame(random);
        let interface = random.below(interfaces) as u32;
        file = match random.below(12) {
            _ if interfaces == 0 => {
                interfaces += 1;
                random_interface(random, file)
            }
            0 => {
                interfaces = 0;
                file.section(random_endian(random), u64::MAX, &[])
            }
            1 => {
                interfaces += 1;
                random_interface(random, file)
            }
            2 => {
                let unknown = random.next() as u32 | 16;
                let kind = random.pick(&[4, 5, 10, 0xbad, 0x4000_0bad, unknown]);
                let count = random.below(60);
                file.block(kind, &random.bytes(count))
            }
            3 => file.simple(frame.length, &frame.captured),
            4 => file.packet(interface as u16, random.next() >> 12, frame.length, &frame.captured),
            _ => {
                let ts = random.next() >> random.below(64);
                file.enhanced(interface, ts, frame.length, &frame.captured)
            }
        };
    }
    file.bytes()
}

fn random_interface(random: &mut Random, file: Pcapng) -> Pcapng {
    let mut options = Vec::new();
    if random.once_in(2) {
        options
            .extend(file.option(9, &[random.pick(&[0, 3, 6, 9, 12, 18, 0x80, 0x88, 0x94, 0xa0])]));
    }
    if random.once_in(4) {
        let offset = random.pick(&[0i64, 1, -1, 1_000_000_000, i64::MIN]);
        let offset = match file.0.endian {
            Endian::Little => offset.to_le_bytes(),
            Endian::Big => offset.to_be_bytes(),
        };
        options.extend(file.option(14, &offset));
    }
    if random.once_in(2) {
        options.extend(file.option(0, &[]));
    }
    file.interface(random.pick(&[1, 101, 113]), random.pick(&[0, 96, 65_535]), &options)
}

fn random_endian(random: &mut Random) -> Endian {
    random.pick(&[Endian::Little, Endian::Big])
}
