//! A question to captures that are read as one run, and its answer from one of them after another.

use super::background::Outlet;
use super::flows::OpenFlows;
use super::kept_damage::KeptDamage;
use super::pass::Item;
use super::question::Question;
use super::reading;
use crate::input::{CaptureReader, Needs};
use crate::packet::Field;
use crate::query::Condition;
use crate::{Error, ErrorKind, Result};

/// Batches of frames, of some 300 KB each, that a pass may be ahead of the host.
const FRAMES_AHEAD: usize = 8;

/// Batches of flows or calls that a pass may be ahead of the host.
const SUMS_AHEAD: usize = 2;

/// A question to one capture of a run.
pub struct Asked {
    question: Question,
    /// The flows under way, where they are asked for.
    flows: OpenFlows,
    /// True for the last capture of the run.
    is_last: bool,
}

impl Asked {
    /// A question to a capture of a run, with the flows that are under way in it.
    pub(super) fn of_run(question: Question, flows: OpenFlows, is_last: bool) -> Asked {
        Asked { question, flows, is_last }
    }

    /// Flows under way, to which the packets of a capture are added: all of them end where the capture is the last, or its
    /// damage is not kept.
    pub fn flows(flows: &OpenFlows, is_last: bool) -> Asked {
        let question = Question::Flows(Vec::new(), flows.question().clone());
        Asked { question, flows: flows.clone(), is_last }
    }

    /// Refuses what no pass can answer.
    ///
    /// # Errors
    /// `Argument` for batches without rows.
    pub(super) fn check(&self) -> Result<()> {
        match &self.question {
            Question::Packets(_, options) if options.rows == 0 => {
                Err(Error::new(ErrorKind::Argument, "expected rows above 0, found 0"))
            }
            _ => Ok(()),
        }
    }

    /// Hands over what one capture answers; `is_end` says that it is the last of its pass.
    pub(super) fn read(
        &self,
        reader: &mut CaptureReader,
        is_end: bool,
        damage: &KeptDamage,
        outlet: &Outlet<Item>,
    ) -> Result<()> {
        let read = match &self.question {
            Question::Frames => reading::frames(reader, outlet),
            Question::Packets(fields, options) => reading::columns(reader, fields, options, outlet),
            Question::Calls(_, calls) | Question::CallsCarrying(_, calls) => {
                reading::calls(reader, calls, outlet)
            }
            Question::Flows(..) => {
                let give = &mut |flows| outlet.send(Item::Flows(flows));
                return self.flows.add(reader, self.is_last && is_end, damage, give);
            }
        };
        damage.end(reader, read)
    }

    /// The items that a pass may be ahead of the host.
    pub(super) fn ahead_max(&self) -> usize {
        match &self.question {
            Question::Frames => FRAMES_AHEAD,
            Question::Packets(..) => 1,
            Question::Flows(..) | Question::Calls(..) | Question::CallsCarrying(..) => SUMS_AHEAD,
        }
    }

    /// The parts of packets that captures read ahead have to decode.
    pub(super) fn needs(&self) -> Needs {
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

/// A question to one capture alone.
impl From<Question> for Asked {
    fn from(question: Question) -> Asked {
        let flows = OpenFlows::of(&question);
        Asked { question, flows, is_last: true }
    }
}
