//! What a pass does with one capture: it reads the capture to its end and hands over what was asked of it.

use std::sync::Arc;

use super::background::Outlet;
use super::pass::Item;
use super::question::{CallQuestion, PacketOptions};
use crate::Result;
use crate::ask::CallBatches;
use crate::input::{CaptureReader, FrameBatch};
use crate::packet::{Columns, Field};
use crate::rpc::RpcOptions;

/// Hands over the packets with their bytes.
pub(super) fn frames(reader: &mut CaptureReader, outlet: &Outlet<Item>) -> Result<()> {
    loop {
        let mut batch = match outlet.spare() {
            Some(Item::Frames(batch)) => batch,
            _ => FrameBatch::new(),
        };
        reader.read_frames(&mut batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        outlet.send(Item::Frames(batch))?;
    }
}

/// Hands over these fields of the packets that are asked for.
pub(super) fn columns(
    reader: &mut CaptureReader,
    fields: &[Field],
    options: &PacketOptions,
    outlet: &Outlet<Item>,
) -> Result<()> {
    let mut columns = Columns::new(fields);
    loop {
        match &options.condition {
            None => reader.read_columns(&mut columns, options.rows)?,
            Some(condition) => reader.read_columns_where(&mut columns, options.rows, condition)?,
        }
        if columns.is_empty() {
            return Ok(());
        }
        outlet.send(Item::Columns(columns.take()))?;
    }
}

/// Hands over the calls that are asked for, with what is in them where their methods are known.
pub(super) fn calls(
    reader: &mut CaptureReader,
    question: &CallQuestion,
    outlet: &Outlet<Item>,
) -> Result<()> {
    let methods = question.methods.as_ref();
    let options = RpcOptions { keeps_messages: methods.is_some(), ..RpcOptions::default() };
    let mut batches = CallBatches::new(options, methods.map(Arc::as_ref));
    let mut send = |mut calls| {
        question.retain(&mut calls);
        match calls.is_empty() {
            true => Ok(()),
            false => outlet.send(Item::Calls(calls, methods.cloned())),
        }
    };
    let read = batches.read(reader, &mut send)?;
    batches.finish(&mut send)?;
    read
}
