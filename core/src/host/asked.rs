//! A question to one capture, which may be one of a run.

use super::background::Outlet;
use super::kept_damage::KeptDamage;
use super::pass::Item;
use crate::ask::{Answer, Answers, Question, Run};
use crate::input::{CaptureReader, Needs};
use crate::{Error, Result};

// Bound (Captures): results of a pass that wait = 8 batches of frames, 1 of columns, 2 of flows or calls.
/// Batches of frames, of some 300 KB each.
const FRAMES_AHEAD: usize = 8;

/// Batches of flows or calls that a pass may be ahead of the host.
const SUMS_AHEAD: usize = 2;

/// A question to one capture of a run.
pub struct Asked {
    run: Run,
    /// True for the last capture of the run.
    is_last: bool,
}

impl Asked {
    /// The question of a run, to one of its captures. The run ends with the last one, or with damage that is not kept.
    pub fn of_run(run: &Run, is_last: bool) -> Asked {
        Asked { run: run.clone(), is_last }
    }

    /// Refuses what no pass can answer.
    ///
    /// # Errors
    /// `Argument` for batches without rows.
    pub(super) fn check(&self) -> Result<()> {
        self.run.question().check()
    }

    /// Hands over what one capture answers; `is_end` says that it is the last of its pass.
    pub(super) fn read(
        &self,
        reader: &mut CaptureReader,
        is_end: bool,
        damage: &KeptDamage,
        outlet: &Outlet<Item>,
    ) -> Result<()> {
        let answers = &mut OutletOfPass { outlet, damage };
        let ended = self.run.read(reader, damage.policy(), answers)?;
        let has_answer = match &ended {
            Ok(()) => self.is_last && is_end,
            // Flows that are open so far are rows before the error; a table of the whole run is none then.
            Err(_) => !self.run.question().is_of_whole_run(),
        };
        if has_answer {
            self.run.finish(answers)?;
        }
        ended
    }

    /// The items that a pass may be ahead of the host.
    pub(super) fn ahead_max(&self) -> usize {
        match self.run.question() {
            Question::Frames => FRAMES_AHEAD,
            Question::Frame(_)
            | Question::Packets(..)
            | Question::Counts(..)
            | Question::Summary(_)
            | Question::Info => 1,
            Question::Flows(..) | Question::Calls(..) | Question::CallsCarrying(..) => SUMS_AHEAD,
        }
    }

    /// The question.
    pub(super) fn question(&self) -> &Question {
        self.run.question()
    }

    /// The parts of packets that captures read ahead have to decode.
    pub(super) fn needs(&self) -> Needs {
        self.run.question().needs()
    }
}

/// A question to one capture alone.
impl From<Question> for Asked {
    fn from(question: Question) -> Asked {
        Asked { run: Run::new(question), is_last: true }
    }
}

/// The place that a pass takes answers to.
struct OutletOfPass<'p> {
    outlet: &'p Outlet<Item>,
    damage: &'p KeptDamage,
}

impl Answers for OutletOfPass<'_> {
    type Error = Error;

    fn take(&mut self, answer: Answer) -> Result<()> {
        self.outlet.send(Item::Answer(answer))
    }

    fn note_damage(&mut self, damage: Error) -> Result<()> {
        self.damage.note(damage);
        Ok(())
    }

    fn note_index(&mut self, fault: Error) -> Result<()> {
        self.damage.note_index(fault);
        Ok(())
    }

    fn spare(&mut self) -> Option<Answer> {
        match self.outlet.spare()? {
            Item::Answer(answer) => Some(answer),
            _ => None,
        }
    }
}
