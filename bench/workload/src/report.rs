//! Output of a program: its answer, by which it is compared with the others, and its figures.

use std::fmt::{self, Display, Formatter};

use crate::{Engine, Records, Result};

/// Values that are compared, taken in shuffled order after everything is measured.
const CHECKED_COUNT_MAX: usize = 20_000;

/// A line of JSON.
#[derive(Debug, Default)]
pub struct Report {
    answer: Vec<(&'static str, u64)>,
    figures: Vec<(&'static str, f64)>,
}

impl Report {
    /// Adds a number in which all engines must agree.
    pub fn answer(&mut self, name: &'static str, number: u64) -> &mut Self {
        self.answer.push((name, number));
        self
    }

    /// Adds a number that was measured, in the unit with which its name ends.
    pub fn figure(&mut self, name: &'static str, number: f64) -> &mut Self {
        self.figures.push((name, number));
        self
    }

    /// Adds the answer that all tasks give that leave the records as they are in the file.
    pub fn records(&mut self, records: &Records, engine: &impl Engine) -> Result<()> {
        let keys = Report::checked_keys(records)?;
        let mut checksum = Checksum::default();
        for key in &keys {
            if !engine.get(key, |value| checksum.add(value))? {
                return Err("a record is missing".into());
            }
        }
        self.answer("records", engine.len()?).answer("crc", checksum.value());
        Ok(())
    }

    /// Returns the answer from the file itself, which every engine must give.
    pub fn of_input(records: &Records) -> Result<Report> {
        let mut checksum = Checksum::default();
        records
            .values_at(&records.order(CHECKED_COUNT_MAX)?)?
            .iter()
            .for_each(|it| checksum.add(it));
        let mut report = Report::default();
        report.answer("records", records.count as u64).answer("crc", checksum.value());
        Ok(report)
    }

    /// The keys whose values [`Report::records`] compares.
    pub fn checked_keys(records: &Records) -> Result<Vec<Vec<u8>>> {
        records.keys_at(&records.order(CHECKED_COUNT_MAX)?)
    }
}

/// CRC-32 of values one after the other.
#[derive(Debug, Default)]
pub struct Checksum(crc32fast::Hasher);

impl Checksum {
    pub fn add(&mut self, value: &[u8]) {
        self.0.update(value);
    }

    pub fn value(self) -> u64 {
        u64::from(self.0.finalize())
    }
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let figures: Vec<String> =
            self.figures.iter().map(|(name, number)| format!("\"{name}\":{number:.9}")).collect();
        write!(out, "{{")?;
        self.answer.iter().try_for_each(|(name, number)| write!(out, "\"{name}\":{number},"))?;
        write!(out, "\"figures\":{{{}}}}}", figures.join(","))
    }
}
