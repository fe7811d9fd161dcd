//! The Thrift calls of a whole capture.

use super::CaptureReader;
use crate::Result;
use crate::rpc::{Call, Rpc, RpcOptions, Summary};

/// Tells `each` the calls of a capture in the order in which they are over: those before its end or its damage,
/// and how it ended, as [`CaptureReader::each`] tells it.
pub fn calls(
    reader: &mut CaptureReader,
    options: RpcOptions,
    each: &mut impl FnMut(Call),
) -> Result<()> {
    let mut rpc = Rpc::new(options);
    let result = reader.each(|packet, captured| rpc.add(packet, captured, each));
    rpc.finish(each);
    result
}

/// The calls of a capture, added up by method: those before its end or its damage, and how it ended.
pub fn summarize_calls(reader: &mut CaptureReader, options: RpcOptions) -> (Summary, Result<()>) {
    let mut summary = Summary::new();
    let result = calls(reader, options, &mut |call| summary.add(&call));
    (summary, result)
}
