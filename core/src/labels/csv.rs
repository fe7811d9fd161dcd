//! Lines of a network and its label: `10.0.0.0/8,office`.
//!
//! An address without a length of its prefix is a network of one. Empty lines and those that begin with `#` are left out, and so
//! is a first line whose first column is called `network`. A label in quotes may have commas, and quotes that stand twice.

use std::net::IpAddr;

use super::{LABEL_LEN_MAX, NETWORKS_MAX, too_many};
use crate::error::{excerpt, excerpt_of_bytes};
use crate::packet::{LabelBuilder, Network, NetworkLabels};
use crate::{Error, ErrorKind, Result};

/// The name of the first column, in files that have a line of names.
const HEADING: &str = "network";

/// Reads the lines of a file.
pub(super) fn read(bytes: &[u8]) -> Result<NetworkLabels> {
    let mut labels = LabelBuilder::default();
    // A mark of the encoding that some programs write.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let parsed = parse(line).and_then(|(network, label)| {
            if index == 0 && network == HEADING {
                return Ok(None);
            }
            Ok(Some((network_of(network)?, label)))
        });
        match parsed {
            Ok(None) => {}
            Ok(Some(_)) if labels.len() == NETWORKS_MAX => return Err(too_many()),
            Ok(Some((network, label))) => {
                let text = labels.text(&label);
                labels.add(network, text);
            }
            Err(message) => {
                let message = format!("line {}: {message}", index + 1);
                return Err(Error::new(ErrorKind::Format, message));
            }
        }
    }
    Ok(labels.finish())
}

/// The two columns of a line.
fn parse(line: &[u8]) -> Result<(&str, String), String> {
    let Ok(text) = std::str::from_utf8(line) else {
        return Err(format!("expected text in UTF-8, found {}", excerpt_of_bytes(line)));
    };
    let wrong = |expected: &str| format!("expected {expected}, found {}", excerpt(text));
    let Some((network, label)) = text.split_once(',') else {
        return Err(wrong("a network, a comma and its label, such as 10.0.0.0/8,office"));
    };
    let label = label.trim();
    let label = match label.strip_prefix('"') {
        None if label.contains(',') => {
            return Err(wrong("two columns, and a label with commas in quotes"));
        }
        None => label.to_owned(),
        Some(quoted) => {
            let inner = quoted.strip_suffix('"').unwrap_or("\"");
            let parts: Vec<&str> = inner.split("\"\"").collect();
            if parts.iter().any(|part| part.contains('"')) {
                return Err(wrong("one label between quotes"));
            }
            parts.join("\"")
        }
    };
    match label.len() {
        0 => Err(wrong("a label behind the comma")),
        1..=LABEL_LEN_MAX => Ok((network.trim(), label)),
        len => Err(wrong(&format!("a label of at most {LABEL_LEN_MAX} bytes instead of {len}"))),
    }
}

fn network_of(text: &str) -> Result<Network, String> {
    let wrong = || format!("expected a network such as 10.0.0.0/8, found {}", excerpt(text));
    let (address, prefix_len) = match text.split_once('/') {
        Some((address, len)) => (address, Some(len)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let bits: u8 = if address.is_ipv4() { 32 } else { 128 };
    let prefix_len: u8 = match prefix_len {
        None => bits,
        Some(len) => len.parse().ok().filter(|len| *len <= bits).ok_or_else(wrong)?,
    };
    let first = masked(address, prefix_len);
    if first != address {
        let network = Network { address: first, prefix_len };
        return Err(format!(
            "expected the first address of a network, such as {network}, found {}",
            excerpt(text)
        ));
    }
    Ok(Network { address, prefix_len })
}

/// The address with the bits behind a prefix gone.
fn masked(address: IpAddr, prefix_len: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let behind = u32::MAX.checked_shr(prefix_len.into()).unwrap_or(0);
            IpAddr::from((address.to_bits() & !behind).to_be_bytes())
        }
        IpAddr::V6(address) => {
            let behind = u128::MAX.checked_shr(prefix_len.into()).unwrap_or(0);
            IpAddr::from((address.to_bits() & !behind).to_be_bytes())
        }
    }
}
