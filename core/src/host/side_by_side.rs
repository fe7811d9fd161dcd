//! Files that are read side by side, and are one pass for the host: it gives what is in the first, then what is in the next.

use std::path::PathBuf;

use super::asked::Asked;
use super::kept_damage::{KeptDamage, LatestDamage};
use super::pass::{Pass, Passes};
use crate::bytes::Cancel;
use crate::input::{CaptureList, CaptureOptions, CaptureReader, PrefetchedCaptures};
use crate::{Error, Result};

/// The files of a pass.
struct Files(Vec<PathBuf>);

impl CaptureList for Files {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn is_regular(&self, index: usize) -> bool {
        self.0.get(index).is_some_and(|path| path.is_file())
    }

    fn open(&self, index: usize, options: &CaptureOptions) -> Result<CaptureReader> {
        let Some(path) = self.0.get(index) else { return Err(Error::internal("no such capture")) };
        CaptureReader::open(path, options)
    }
}

/// A pass over files on as many threads as `options` say. A file that cannot be opened ends it.
///
/// # Errors
/// Those of [`Asked::check`]; `Io` where the system gives no thread.
pub(super) fn start(asked: Asked, files: Vec<PathBuf>, options: &CaptureOptions) -> Result<Pass> {
    asked.check()?;
    let cancel = Cancel::new();
    let mut options = options.clone();
    options.stream.cancel = Some(cancel.clone());
    asked.question().prepare(&mut options);
    let damage = KeptDamage::new(options.damage, LatestDamage::default());
    let noted = damage.clone();
    let pass = Passes::over("capture").start(cancel, asked.ahead_max(), move |outlet, _| {
        let (count, jobs) = (files.len(), options.stream.jobs);
        let captures = PrefetchedCaptures::new(Files(files), jobs, &options, asked.needs());
        for (number, reader) in (1..).zip(captures) {
            asked.read(&mut reader?, number == count, &noted, outlet)?;
        }
        Ok(())
    })?;
    Ok(pass.noting(damage))
}
