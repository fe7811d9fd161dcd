//! Files that are read side by side, and are one pass for the host: it gives what is in the first, then what is in the next.

use std::path::PathBuf;
use std::sync::Arc;

use super::background::Outlet;
use super::flows::OpenFlows;
use super::kept_damage::{KeptDamage, LatestDamage};
use super::pass::{Item, Pass, Passes};
use super::question::Question;
use super::reading::{self, FRAMES_AHEAD, SUMS_AHEAD};
use crate::packet::Field;
use crate::query::Condition;
use crate::scan::{CaptureList, CaptureOptions, CaptureReader, CapturesAhead, Needs};
use crate::stream::Cancel;
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

/// What is asked of all files of a pass.
pub(super) struct Asked {
    pub(super) question: Question,
    /// The flows under way, where they are asked for.
    pub(super) flows: OpenFlows,
    /// Whether no captures follow these.
    pub(super) is_last: bool,
}

impl Asked {
    /// A pass over files on as many threads as `options` say. A file that cannot be opened ends it.
    ///
    /// # Errors
    /// `Argument` for no rows; `Io` where the system gives no thread.
    pub(super) fn start(self, files: Vec<PathBuf>, options: &CaptureOptions) -> Result<Pass> {
        if let Question::Packets(_, options) = &self.question {
            reading::check_rows(options.rows)?;
        }
        let cancel = Cancel::new();
        let mut options = options.clone();
        options.stream.cancel = Some(cancel.clone());
        let damage = KeptDamage::new(options.damage, LatestDamage::default());
        let noted = damage.clone();
        let pass = Passes::over("capture").start(cancel, self.ahead_max(), move |outlet, _| {
            let (count, jobs) = (files.len(), options.stream.jobs);
            let captures = CapturesAhead::new(Files(files), jobs, &options, self.needs());
            for (number, reader) in (1..).zip(captures) {
                self.read(&mut reader?, self.is_last && number == count, &noted, outlet)?;
            }
            Ok(())
        })?;
        Ok(pass.noting(damage))
    }

    fn read(
        &self,
        reader: &mut CaptureReader,
        is_last: bool,
        damage: &KeptDamage,
        outlet: &Outlet<Item>,
    ) -> Result<()> {
        let read = match &self.question {
            Question::Frames => reading::frames(reader, outlet),
            Question::Packets(fields, options) => reading::columns(reader, fields, options, outlet),
            Question::Calls(_, calls) => reading::calls(reader, calls, outlet),
            Question::CallsCarrying(_, methods) => {
                reading::calls(reader, &Some(Arc::clone(methods)).into(), outlet)
            }
            Question::Flows(..) => {
                let give = &mut |flows| outlet.send(Item::Flows(flows));
                return self.flows.add(reader, is_last, damage, give);
            }
        };
        damage.end(reader, read)
    }

    fn ahead_max(&self) -> usize {
        match &self.question {
            Question::Frames => FRAMES_AHEAD,
            Question::Packets(..) => 1,
            Question::Flows(..) | Question::Calls(..) | Question::CallsCarrying(..) => SUMS_AHEAD,
        }
    }

    fn needs(&self) -> Needs {
        match &self.question {
            Question::Packets(fields, options) => {
                let places = options.condition.iter().flat_map(Condition::places);
                let asked = places.filter_map(|place| Field::ALL.get(place));
                Needs::of(fields.iter().chain(asked).copied())
            }
            Question::Flows(..) => Needs::Fields,
            Question::Frames | Question::Calls(..) | Question::CallsCarrying(..) => Needs::Frames,
        }
    }
}
