//! Files that give networks labels: CSV of one's own, and databases in MaxMind's format.
//!
//! A file is read once, as a whole, and flattened. What labels mean for an address is said by [`NetworkLabels`].

mod csv;
mod mmdb;

use std::path::Path;

use crate::bytes::{FileSource, WholeFile};
use crate::packet::NetworkLabels;
use crate::{Error, Result};

// Bound (Captures): file of labels = 512 MiB.
/// MaxMind's largest have a fifth of it.
const FILE_LEN_MAX: usize = 512 << 20;

// Bound (Captures): networks in a file of labels = 8,388,608; twice as many of a database are looked at.
/// MaxMind's largest have half of them.
const NETWORKS_MAX: usize = 8 << 20;

// Bound (Captures): label of a network = 255 bytes.
const LABEL_LEN_MAX: usize = 255;

/// Reads the labels of networks in the file at `path`: lines such as `10.0.0.0/8,office`, or a database in MaxMind's format,
/// which its last part tells.
///
/// # Errors
/// `Io` where there is no such file, `Format` for a line that is none or a database that is damaged, with its place, `Limit`
/// for a file that is too large.
pub fn read_labels(path: &Path) -> Result<NetworkLabels> {
    let shown = path.display().to_string();
    let Some(file) = WholeFile::read(path, FILE_LEN_MAX)? else {
        // In the words of the system.
        let error = FileSource::open(path).err();
        let error = error.unwrap_or_else(|| Error::internal("a file that was not there"));
        return Err(error.in_file(&shown));
    };
    let read = if mmdb::is_database(&file.bytes) {
        mmdb::read(file.bytes)
    } else {
        csv::read(&file.bytes)
    };
    match read {
        Ok(labels) => Ok(labels.in_file(&shown)),
        Err(error) => Err(error.in_file(&shown)),
    }
}

/// The error for a file with more networks than are read.
fn too_many() -> Error {
    Error::limit("networks with labels", NETWORKS_MAX as u64, NETWORKS_MAX as u64 + 1)
}
