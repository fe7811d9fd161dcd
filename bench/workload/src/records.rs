//! Reads what record-generator writes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::Result;

const READ_BUFFER_BYTES: usize = 256 << 10;

/// A file of records, of which nothing is in memory.
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    header_len: u64,
    pub count: usize,
    pub key_len: usize,
    pub value_len: usize,
}

/// A file of records in memory.
#[derive(Debug)]
pub struct Loaded {
    bytes: Vec<u8>,
    key_len: usize,
    record_len: usize,
}

impl Records {
    pub fn open(path: &Path) -> Result<Records> {
        let mut header = String::new();
        let header_len = BufReader::new(File::open(path)?).read_line(&mut header)? as u64;
        let numbers: std::result::Result<Vec<usize>, _> =
            header.split_whitespace().map(str::parse).collect();
        let [count, key_len, value_len] = numbers?[..] else {
            return Err("expected a file by record-generator".into());
        };
        Ok(Records { path: path.to_owned(), header_len, count, key_len, value_len })
    }

    /// Length of all keys and values.
    pub fn payload_bytes(&self) -> u64 {
        (self.count * self.record_len()) as u64
    }

    fn record_len(&self) -> usize {
        self.key_len + self.value_len
    }

    fn reader_at(&self, offset: u64) -> Result<BufReader<File>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(offset))?;
        Ok(BufReader::with_capacity(READ_BUFFER_BYTES, file))
    }

    /// One record after the other.
    pub fn stream(&self) -> Result<RecordStream> {
        let mut reader = self.reader_at(self.header_len)?;
        // Its buffer must have its pages before a task looks at memory.
        reader.fill_buf()?;
        Ok(RecordStream {
            reader,
            record: vec![0; self.record_len()],
            key_len: self.key_len,
            left: self.count,
        })
    }

    pub fn load(&self) -> Result<Loaded> {
        let mut bytes = vec![0; self.payload_bytes() as usize];
        self.reader_at(self.header_len)?.read_exact(&mut bytes)?;
        Ok(Loaded { bytes, key_len: self.key_len, record_len: self.record_len() })
    }

    /// The first `count_max` of the shuffled numbers.
    pub fn order(&self, count_max: usize) -> Result<Vec<u32>> {
        let mut bytes = vec![0; 4 * self.count.min(count_max)];
        self.reader_at(self.header_len + self.payload_bytes())?.read_exact(&mut bytes)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|number| u32::from_le_bytes(*number)).collect())
    }

    /// Keys by their numbers, read one by one.
    pub fn keys_at(&self, numbers: &[u32]) -> Result<Vec<Vec<u8>>> {
        self.read_at(numbers, 0, self.key_len)
    }

    /// Values, likewise.
    pub fn values_at(&self, numbers: &[u32]) -> Result<Vec<Vec<u8>>> {
        self.read_at(numbers, self.key_len, self.value_len)
    }

    /// `len` bytes of each record, from `start` of it on.
    fn read_at(&self, numbers: &[u32], start: usize, len: usize) -> Result<Vec<Vec<u8>>> {
        let file = File::open(&self.path)?;
        numbers
            .iter()
            .map(|number| {
                let mut bytes = vec![0; len];
                let offset = *number as usize * self.record_len() + start;
                file.read_exact_at(&mut bytes, self.header_len + offset as u64)?;
                Ok(bytes)
            })
            .collect()
    }
}

/// Gives the records of a file, with room for one.
#[derive(Debug)]
pub struct RecordStream {
    reader: BufReader<File>,
    record: Vec<u8>,
    key_len: usize,
    left: usize,
}

impl RecordStream {
    /// The next key and value.
    pub fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.reader.read_exact(&mut self.record)?;
        Ok(Some(self.record.split_at(self.key_len)))
    }
}

impl Loaded {
    pub fn len(&self) -> usize {
        self.bytes.len() / self.record_len
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.bytes.chunks_exact(self.record_len).map(|record| record.split_at(self.key_len))
    }

    pub fn key(&self, number: u32) -> &[u8] {
        let start = number as usize * self.record_len;
        &self.bytes[start..start + self.key_len]
    }
}
