//! The Internet checksum (RFC 1071).

#[derive(Default, Clone, Copy)]
pub struct Checksum {
    sum: u64,
}

impl Checksum {
    /// Adds bytes, a last odd one as if a zero followed it. Only the last part may be odd.
    pub fn add(mut self, bytes: &[u8]) -> Self {
        let mut pairs = bytes.chunks_exact(2);
        for pair in &mut pairs {
            self.sum += u64::from(u16::from_be_bytes([pair[0], pair[1]]));
        }
        if let [last] = pairs.remainder() {
            self.sum += u64::from(*last) << 8;
        }
        self
    }

    pub fn add_number(mut self, number: u64) -> Self {
        self.sum += (number >> 16) + (number & 0xffff);
        self
    }

    pub fn finish(mut self) -> u16 {
        while self.sum > 0xffff {
            self.sum = (self.sum >> 16) + (self.sum & 0xffff);
        }
        !(self.sum as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    #[test]
    fn the_example_of_rfc_1071_gives_its_sum() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Checksum::default().add(&bytes).finish(), !0xddf2);
    }
}
