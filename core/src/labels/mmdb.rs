//! Databases in MaxMind's format (<https://maxmind.github.io/MaxMind-DB/>): GeoIP, GeoLite, and those that others write.
//!
//! The crate `maxminddb` reads the format. Each record is read once, though many networks have it.

use std::collections::HashMap;

use maxminddb::{LookupResult, MaxMindDbError, PathElement, Reader, WithinOptions};

use super::{LABEL_LEN_MAX, NETWORKS_MAX, too_many};
use crate::packet::{LabelBuilder, Network, NetworkLabels};
use crate::{Error, ErrorKind, Result};

/// Bytes in front of the last part of a database, which describes it, and the longest such part.
const MARK: &[u8] = b"\xab\xcd\xefMaxMind.com";
const LAST_PART_MAX: usize = 128 << 10;

/// Networks that are looked at, those without a record counted: a damaged tree could lead to more than anybody can wait for.
const VISITED_MAX: usize = 2 * NETWORKS_MAX;

/// Returns true if these bytes are a database.
pub(super) fn is_database(bytes: &[u8]) -> bool {
    let last = bytes.get(bytes.len().saturating_sub(LAST_PART_MAX)..).unwrap_or_default();
    memchr::memmem::rfind(last, MARK).is_some()
}

/// Reads all networks of a database.
pub(super) fn read(bytes: Vec<u8>) -> Result<NetworkLabels> {
    let reader = Reader::from_source(bytes).map_err(damaged)?;
    let mut labels = LabelBuilder::default();
    let mut texts: HashMap<usize, Option<u32>> = HashMap::new();
    let all = WithinOptions::default().include_networks_without_data();
    for (visited, found) in reader.networks(all).map_err(damaged)?.enumerate() {
        let found = found.map_err(damaged)?;
        if visited == VISITED_MAX || labels.len() == NETWORKS_MAX {
            return Err(too_many());
        }
        let Some(record) = found.offset() else { continue };
        let text = match texts.get(&record) {
            Some(text) => *text,
            None => {
                let text = text_of(&found).map_err(damaged)?.map(|text| labels.text(&text));
                texts.insert(record, text);
                text
            }
        };
        let network = found.network().map_err(damaged)?;
        if let Some(text) = text {
            labels.add(Network { address: network.ip(), prefix_len: network.prefix() }, text);
        }
    }
    if labels.len() == 0 {
        let message =
            "expected records with a label, a country or an autonomous system, found none";
        return Err(Error::new(ErrorKind::Format, message));
    }
    Ok(labels.finish())
}

/// The label that a record has: its own, the autonomous system, or the country and the city.
fn text_of(record: &LookupResult<'_, Vec<u8>>) -> Result<Option<String>, MaxMindDbError> {
    if let Ok(Some(text)) = record.decode::<&str>() {
        return Ok(label(&[text]));
    }
    let text = |path: &[&'static str]| {
        let path: Vec<PathElement<'_>> = path.iter().copied().map(PathElement::Key).collect();
        record.decode_path::<&str>(&path)
    };
    if let Some(own) = text(&["label"])? {
        return Ok(label(&[own]));
    }
    let number = record.decode_path::<u32>(&[PathElement::Key("autonomous_system_number")])?;
    if let Some(number) = number {
        let organization = text(&["autonomous_system_organization"])?.unwrap_or_default();
        return Ok(label(&[&format!("AS{number}"), organization]));
    }
    let country = match text(&["country", "iso_code"])? {
        None => text(&["registered_country", "iso_code"])?,
        country => country,
    };
    let city = text(&["city", "names", "en"])?;
    Ok(label(&[country.unwrap_or_default(), city.unwrap_or_default()]))
}

/// Parts of a label with spaces between them, as far as there is room; none where all are empty.
fn label(parts: &[&str]) -> Option<String> {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    let mut text = parts.join(" ");
    let fits = |at: &usize| *at <= LABEL_LEN_MAX && text.is_char_boundary(*at);
    text.truncate((0..=text.len()).rev().find(fits).unwrap_or(0));
    (!text.is_empty()).then_some(text)
}

fn damaged(error: MaxMindDbError) -> Error {
    Error::new(ErrorKind::Format, format!("expected a database in MaxMind's format, found {error}"))
}
