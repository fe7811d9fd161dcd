//! The fields of a call and of a method's sums: their names, types and meanings, in one table each. `--json` keys,
//! CSV columns and the getters of every face come from here.

use super::call::{Call, OUTCOMES, PROTOCOLS};
use super::summary::MethodSummary;
use crate::batch::schema::record_fields;
use crate::batch::{DataType, Schema, Value};

record_fields! { "A field of a call." "calls" CallField {
    Ts "ts" optional DataType::TimeNs, "Time of its first byte, nanoseconds since 1970-01-01 00:00 UTC; of an answer whose call is missing, the answer's.";
    SrcIp "src_ip" required DataType::Address, "Address of the caller.";
    SrcPort "src_port" required DataType::U16, "Port of the caller.";
    DstIp "dst_ip" required DataType::Address, "Address of the side that is called.";
    DstPort "dst_port" required DataType::U16, "Port of the side that is called.";
    Protocol "protocol" required DataType::Enumeration(&PROTOCOLS), "binary, compact or json; behind framed- if messages have frames, or header- if these have headers of THeader.";
    Method "method" required DataType::Text, "The method that is called, with the service and a colon before it if the message has them.";
    SequenceId "sequence_id" required DataType::I32, "Sequence number of the call and its answer.";
    Outcome "outcome" required DataType::Enumeration(&OUTCOMES), "returned, exception (a declared one), failure (any other), oneway, unanswered, or cut (too little of the answer is there).";
    Latency "latency" optional DataType::DurationUs, "Microseconds from its first byte to the last one of its answer; null where one of them is missing, or the times go back.";
    RequestBytes "request_bytes" optional DataType::U64, "Bytes of the call with its frame; null where it is missing.";
    ReplyBytes "reply_bytes" optional DataType::U64, "Bytes of the answer with its frame; null where there is none.";
} }

record_fields! { "Content of a call, by an IDL file: columns behind those of the call." "values" CarriedField {
    Arguments "arguments" optional DataType::Json, "The arguments of the call; null where they are incomplete in the capture, or do not fit the IDL.";
    Result "result" optional DataType::Json, "The result or exception of the call; null as for the arguments.";
} }

/// A column of the calls of a service: what a call is, or what it carries by the IDL file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallColumn {
    /// A field of the call.
    Own(CallField),
    /// Arguments or result of the call, as JSON.
    Carried(CarriedField),
}

impl CallColumn {
    /// Every column, as [`CallColumn::schema`] has them.
    pub fn all() -> Vec<CallColumn> {
        let carried = CarriedField::ALL.iter().copied().map(CallColumn::Carried);
        CallField::ALL.iter().copied().map(CallColumn::Own).chain(carried).collect()
    }

    /// All of them: those of the call first.
    pub fn schema() -> Schema {
        CallField::SCHEMA.with(CarriedField::SCHEMA.fields())
    }

    /// Its place in [`CallColumn::schema`].
    pub fn place(self) -> usize {
        match self {
            CallColumn::Own(field) => field as usize,
            CallColumn::Carried(field) => CallField::ALL.len() + field as usize,
        }
    }
}

record_fields! { "A field of the sums of a method's calls." "methods" MethodField {
    Method "method" required DataType::Text, "The method that is called.";
    Calls "calls" required DataType::U64, "Calls; an answer whose call is missing counts as one.";
    Errors "errors" required DataType::U64, "Calls that returned an exception, or failed.";
    Failures "failures" required DataType::U64, "Errors among them that the method does not declare.";
    Unanswered "unanswered" required DataType::U64, "Calls whose answer is not in the capture; excludes oneway calls.";
    Oneway "oneway" required DataType::U64, "Calls that have no answer.";
    P50 "p50" optional DataType::DurationUs, "Median latency, microseconds, to 1/32; null without any.";
    P99 "p99" optional DataType::DurationUs, "99th percentile of the latencies, microseconds, to 1/32; null without any.";
    Max "max" optional DataType::DurationUs, "The longest latency, microseconds; null without any.";
    RequestBytes "request_bytes" required DataType::U64, "Bytes of the calls with their frames.";
    ReplyBytes "reply_bytes" required DataType::U64, "Bytes of the answers with their frames.";
} }

/// Nanoseconds in a microsecond.
const MICROSECOND: u64 = 1000;

impl Call {
    /// The value of the field at a place of [`CallField::SCHEMA`]; null behind its end.
    pub fn value_at(&self, place: usize) -> Value<'_> {
        CallField::ALL.get(place).map_or(Value::Null, |field| self.value(*field))
    }

    /// The value of `field`.
    pub fn value(&self, field: CallField) -> Value<'_> {
        match field {
            CallField::Ts => self.ts.map_or(Value::Null, Value::Time),
            CallField::SrcIp => self.client.ip().into(),
            CallField::SrcPort => self.client.port().into(),
            CallField::DstIp => self.server.ip().into(),
            CallField::DstPort => self.server.port().into(),
            CallField::Protocol => self.protocol.name().into(),
            CallField::Method => Value::Text(&self.method),
            CallField::SequenceId => self.sequence_id.into(),
            CallField::Outcome => self.outcome.name().into(),
            CallField::Latency => microseconds(self.latency),
            CallField::RequestBytes => self.request_bytes.into(),
            CallField::ReplyBytes => self.reply_bytes.into(),
        }
    }
}

impl MethodSummary {
    /// The value of `field`; `method` is whose sums they are.
    pub fn value<'m>(&self, method: &'m str, field: MethodField) -> Value<'m> {
        match field {
            MethodField::Method => Value::Text(method),
            MethodField::Calls => self.calls.into(),
            MethodField::Errors => self.errors.into(),
            MethodField::Failures => self.failures.into(),
            MethodField::Unanswered => self.unanswered.into(),
            MethodField::Oneway => self.oneway.into(),
            MethodField::P50 => microseconds(self.latency.quantile(500)),
            MethodField::P99 => microseconds(self.latency.quantile(990)),
            MethodField::Max => microseconds(self.latency.quantile(1000)),
            MethodField::RequestBytes => self.request_bytes.into(),
            MethodField::ReplyBytes => self.reply_bytes.into(),
        }
    }
}

fn microseconds(latency: Option<u64>) -> Value<'static> {
    latency.map_or(Value::Null, |latency| Value::Duration(latency / MICROSECOND))
}
