//! JA4, the fingerprint of a TLS client (<https://github.com/FoxIO-LLC/ja4>, `technical_details/JA4.md`, BSD 3-Clause).

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::client_hello::{Carrier, ClientHello, extension};

/// Digits of a hash that count.
const HASH_LEN: usize = 12;

/// The largest count that has two digits.
const COUNT_MAX: usize = 99;

/// Returns true for a number that is reserved so that servers get used to unknown ones (GREASE, RFC 8701).
pub(super) fn is_grease(number: u16) -> bool {
    let [high, low] = number.to_be_bytes();
    high == low && low & 0x0f == 0x0a
}

/// The fingerprint of a ClientHello that was captured as a whole.
pub(super) fn fingerprint(hello: &ClientHello, carrier: Carrier) -> String {
    let ciphers = without_grease(&hello.ciphers);
    let extensions = without_grease(&hello.extensions);
    let carried = if carrier == Carrier::Quic { 'q' } else { 't' };
    let named = if extensions.contains(&extension::SERVER_NAME) { 'd' } else { 'i' };
    let mut text = format!(
        "{carried}{}{named}{:02}{:02}{}",
        version(hello.version),
        ciphers.len().min(COUNT_MAX),
        extensions.len().min(COUNT_MAX),
        protocol_ends(hello.protocols.first()),
    );
    let told: Vec<u16> = extensions
        .iter()
        .copied()
        .filter(|kind| !matches!(*kind, extension::SERVER_NAME | extension::ALPN))
        .collect();
    let mut hashed = listed(sorted(told.clone()));
    let algorithms = without_grease(&hello.signature_algorithms);
    if !algorithms.is_empty() {
        let _ = write!(hashed, "_{}", listed(algorithms));
    }
    let ciphers = if ciphers.is_empty() { None } else { Some(listed(sorted(ciphers))) };
    let extensions = if told.is_empty() { None } else { Some(hashed) };
    for part in [ciphers, extensions] {
        let _ = write!(text, "_{}", short_hash(part.as_deref()));
    }
    text
}

fn version(version: u16) -> &'static str {
    match version {
        0x0304 => "13",
        0x0303 => "12",
        0x0302 => "11",
        0x0301 => "10",
        0x0300 => "s3",
        0x0002 => "s2",
        _ => "00",
    }
}

/// The first and the last character of the first protocol; of its hexadecimal digits where one of them is no letter or digit.
fn protocol_ends(protocol: Option<&Vec<u8>>) -> String {
    let ends = protocol.and_then(|name| Some((*name.first()?, *name.last()?)));
    let Some((first, last)) = ends else { return "00".to_owned() };
    if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() {
        return [char::from(first), char::from(last)].iter().collect();
    }
    format!("{:x}{:x}", first >> 4, last & 0x0f)
}

fn without_grease(numbers: &[u16]) -> Vec<u16> {
    numbers.iter().copied().filter(|number| !is_grease(*number)).collect()
}

fn sorted(mut numbers: Vec<u16>) -> Vec<u16> {
    numbers.sort_unstable();
    numbers
}

fn listed(numbers: Vec<u16>) -> String {
    let texts = numbers.iter().map(|number| format!("{number:04x}"));
    texts.collect::<Vec<_>>().join(",")
}

/// The first digits of the SHA-256 of a list; zeros for none.
fn short_hash(list: Option<&str>) -> String {
    let Some(list) = list else { return "0".repeat(HASH_LEN) };
    let mut text = String::new();
    for byte in Sha256::digest(list.as_bytes()).iter().take(HASH_LEN / 2) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of JA4's own documents.
    #[test]
    fn the_fingerprint_of_the_example_is_that_of_its_documents() {
        let hello = ClientHello {
            version: 0x0304,
            protocols: vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            ciphers: vec![
                0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc013,
                0xc014, 0x009c, 0x009d, 0x002f, 0x0035, 0x0a0a,
            ],
            extensions: vec![
                0x001b, 0x0000, 0x0033, 0x0010, 0x4469, 0x0017, 0x002d, 0x000d, 0x0005, 0x0023,
                0x0012, 0x002b, 0xff01, 0x000b, 0x000a, 0x0015, 0x1a1a,
            ],
            signature_algorithms: vec![
                0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601,
            ],
            server_name: Some("example.org".to_owned()),
            is_whole: true,
        };
        assert_eq!(fingerprint(&hello, Carrier::Tcp), "t13d1516h2_8daaf6152771_e5627efa2ab1");
        assert_eq!(&fingerprint(&hello, Carrier::Quic)[..10], "q13d1516h2");
    }

    #[test]
    fn a_hello_without_ciphers_and_extensions_has_zeros() {
        let hello = ClientHello { version: 0x0303, is_whole: true, ..ClientHello::default() };
        assert_eq!(fingerprint(&hello, Carrier::Tcp), "t12i000000_000000000000_000000000000");
    }

    #[test]
    fn a_protocol_that_is_no_text_is_told_by_its_digits() {
        let ends = |name: &[u8]| protocol_ends(Some(&name.to_vec()));
        assert_eq!(
            [ends(b"h3"), ends(b"x"), ends(&[0xab]), ends(&[0x30, 0xab])],
            ["h3", "xx", "ab", "3b"]
        );
    }
}
