//! A tiny writer of pcap files: Ethernet, IPv4, UDP, TCP and ARP, just enough to be told apart.

/// A second of the captures' time.
pub(crate) const START: u32 = 1_700_000_000;

/// The bytes of a pcap file, microseconds, little-endian, Ethernet.
#[derive(Clone)]
pub(crate) struct Capture(pub(crate) Vec<u8>);

/// One end of a conversation: the last byte of 10.0.0.x, and the port.
pub(crate) type End = (u8, u16);

impl Capture {
    pub(crate) fn new() -> Self {
        let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
        for word in [0u32, 0, 262_144, 1] {
            bytes.extend(word.to_le_bytes());
        }
        Capture(bytes)
    }

    /// A UDP packet, `second` after the start.
    pub(crate) fn udp(self, second: u32, from: End, to: End, payload_len: u16) -> Self {
        let mut udp = Vec::new();
        for half in [from.1, to.1, 8 + payload_len, 0] {
            udp.extend(half.to_be_bytes());
        }
        udp.resize(8 + usize::from(payload_len), 0);
        self.ipv4(second, from.0, to.0, 17, &udp)
    }

    /// A TCP segment without payload, `second` after the start.
    pub(crate) fn tcp(self, second: u32, from: End, to: End, flags: u8) -> Self {
        let mut tcp = Vec::new();
        tcp.extend(from.1.to_be_bytes());
        tcp.extend(to.1.to_be_bytes());
        tcp.extend([0; 8]);
        tcp.extend([0x50, flags, 0, 0, 0, 0, 0, 0]);
        self.ipv4(second, from.0, to.0, 6, &tcp)
    }

    /// A frame of an EtherType that has no IP addresses, `second` after the start.
    pub(crate) fn other(self, second: u32) -> Self {
        self.ethernet(second, 0x88b5, &[0; 46])
    }

    fn ipv4(self, second: u32, from: u8, to: u8, proto: u8, payload: &[u8]) -> Self {
        let len = u16::try_from(20 + payload.len()).unwrap();
        let mut ip = vec![0x45, 0];
        ip.extend(len.to_be_bytes());
        ip.extend([0, 0, 0, 0, 64, proto, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
        ip.extend(payload);
        self.ethernet(second, 0x0800, &ip)
    }

    fn ethernet(mut self, second: u32, ethertype: u16, payload: &[u8]) -> Self {
        let len = u32::try_from(14 + payload.len()).unwrap();
        for word in [START + second, 5, len, len] {
            self.0.extend(word.to_le_bytes());
        }
        self.0.extend([2; 12]);
        self.0.extend(ethertype.to_be_bytes());
        self.0.extend(payload);
        self
    }

    /// Cuts off the last `count` bytes.
    pub(crate) fn cut(mut self, count: usize) -> Self {
        self.0.truncate(self.0.len() - count);
        self
    }
}

/// A capture of a query and its answer, a frame without IP, and a segment of another conversation.
pub(crate) fn mixed() -> Capture {
    Capture::new().udp(0, (1, 5000), (2, 53), 30).udp(1, (2, 53), (1, 5000), 100).other(2).tcp(
        3,
        (3, 40_000),
        (2, 443),
        0x12,
    )
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    zstd_safe::compress(&mut compressed, bytes, 1).unwrap();
    compressed
}
