//! A question to captures that are read as one run, one after another.

use std::sync::{Arc, Mutex, PoisonError};

use super::answer::{Answer, Answers};
use super::calls::CallBatches;
use super::count::count_by;
use super::flows::FlowBatches;
use super::info::info;
use super::packets;
use super::question::Question;
use super::summary::Adder;
use super::{CallQuestion, FlowQuestion};
use crate::Result;
use crate::flow::{Flow, FlowOptions};
use crate::input::{CaptureReader, DamagePolicy, end_of};
use crate::rpc::Call;

/// Flows that are handed on together.
const FLOWS_LEN: usize = 1024;

/// A run: what a question has found in the captures so far, and goes on with in the next one. Clones are the same run.
#[derive(Clone)]
pub struct Run {
    question: Arc<Question>,
    open: Arc<Mutex<OpenQuestion>>,
}

/// State that goes on from one capture to the next.
enum OpenQuestion {
    Nothing,
    Flows(FlowBatches, FlowQuestion),
    Calls(CallBatches, CallQuestion),
    Summary(Box<dyn Adder>),
}

impl Run {
    /// No capture read yet.
    pub fn new(question: Question) -> Self {
        let open = match &question {
            Question::Flows(fields, flows) => {
                let limits = FlowOptions { features: flows.features(fields), ..flows.limits };
                OpenQuestion::Flows(FlowBatches::new(limits, FLOWS_LEN), flows.clone())
            }
            Question::Summary(summary) => OpenQuestion::Summary(summary.adder()),
            other => other
                .calls()
                .map_or(OpenQuestion::Nothing, |calls| OpenQuestion::Calls(calls.batches(), calls)),
        };
        Run { question: Arc::new(question), open: Arc::new(Mutex::new(open)) }
    }

    /// The question.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Reads a capture to its end and gives what that answers. Returns how reading ended: with an error, unless that
    /// is damage, and `policy` keeps the answer before it.
    ///
    /// # Errors
    /// The first one of `answers`, with which reading ends.
    pub fn read<A: Answers>(
        &self,
        reader: &mut CaptureReader,
        policy: DamagePolicy,
        answers: &mut A,
    ) -> Result<Result<()>, A::Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        reader.leave_out_but(&self.question.wanted());
        let read = match (&*self.question, &mut *open) {
            (Question::Frames, _) => packets::frames(reader, answers)?,
            (Question::Frame(number), _) => packets::frame(reader, *number, answers)?,
            (Question::Packets(fields, options), _) => {
                packets::columns(reader, fields, options, answers)?
            }
            (_, OpenQuestion::Flows(batches, flows)) => {
                batches.read(reader, &mut |found| give_flows(flows, found, answers))?
            }
            (_, OpenQuestion::Calls(batches, calls)) => {
                batches.read(reader, &mut |found| give_calls(calls, found, answers))?
            }
            (_, OpenQuestion::Summary(adder)) => adder.read(reader),
            (Question::Counts(field, options), _) => {
                let (counts, read) = count_by(reader, *field, options.condition.as_ref());
                return end_with(reader, read, policy, Some(Answer::Counts(counts)), answers);
            }
            (Question::Info, _) => match info(reader) {
                // Damage is a part of the answer.
                Ok(info) => {
                    answers.take(Answer::Info(Box::new(info)))?;
                    Ok(())
                }
                Err(error) => Err(error),
            },
            // The run is over.
            _ => Ok(()),
        };
        end_with(reader, read, policy, None, answers)
    }

    /// Ends the run, and gives what has not ended by itself.
    ///
    /// # Errors
    /// The first one of `answers`.
    pub fn finish<A: Answers>(&self, answers: &mut A) -> Result<(), A::Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *open, OpenQuestion::Nothing) {
            OpenQuestion::Flows(batches, flows) => {
                batches.finish(&mut |found| give_flows(&flows, found, answers))
            }
            OpenQuestion::Calls(batches, calls) => {
                batches.finish(&mut |found| give_calls(&calls, found, answers))
            }
            OpenQuestion::Summary(adder) => answers.take(Answer::Sums(adder.finish())),
            OpenQuestion::Nothing => Ok(()),
        }
    }
}

/// Ends a capture: notes the damage that is kept, and gives the answer that stands for the whole capture.
fn end_with<A: Answers>(
    reader: &CaptureReader,
    read: Result<()>,
    policy: DamagePolicy,
    answer: Option<Answer>,
    answers: &mut A,
) -> Result<Result<()>, A::Error> {
    let facts = reader.facts();
    // An index that was to be made beside the answer, and could not be, is no reason to have no answer.
    let unmade = facts.index.and_then(Result::err);
    for fault in facts.index_fault.into_iter().chain(unmade) {
        answers.note_index(fault)?;
    }
    match end_of(reader, read, policy) {
        Ok(damage) => damage.map_or(Ok(()), |damage| answers.note_damage(damage))?,
        Err(error) => return Ok(Err(error)),
    }
    answer.map_or(Ok(()), |answer| answers.take(answer))?;
    Ok(Ok(()))
}

/// Gives the flows that are told.
fn give_flows<A: Answers>(
    question: &FlowQuestion,
    mut flows: Vec<Flow>,
    answers: &mut A,
) -> Result<(), A::Error> {
    question.told.retain(&mut flows);
    if flows.is_empty() { Ok(()) } else { answers.take(Answer::Flows(flows)) }
}

/// Gives the calls that are told, with the methods that read what they carry.
fn give_calls<A: Answers>(
    question: &CallQuestion,
    mut calls: Vec<Call>,
    answers: &mut A,
) -> Result<(), A::Error> {
    question.retain(&mut calls);
    match calls.is_empty() {
        true => Ok(()),
        false => answers.take(Answer::Calls(calls, question.methods.clone())),
    }
}
