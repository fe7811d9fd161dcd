//! The fields of a call and of a method's sums: their names, units and meanings, in one table each. `--json` keys,
//! CSV columns and the getters of every face come from here.

use super::call::Call;
use super::summary::MethodSummary;
use crate::value::FieldValue;

/// Declares an enum of fields with, for each line, `Variant "name" "meaning"`. It expands to the enum, its
/// `ALL` in the same order, and the `match`es behind `name` and `meaning`.
macro_rules! fields {
    ($of:literal $enum:ident { $($variant:ident $name:literal $meaning:literal;)* }) => {
        #[doc = $of]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum {
            $(#[doc = $meaning] $variant,)*
        }

        impl $enum {
            /// Every field, in the order of the documentation.
            pub const ALL: &'static [$enum] = &[$($enum::$variant),*];

            /// The name it has in JSON, CSV and Ruby.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name),* }
            }

            /// What it is, with its unit.
            pub const fn meaning(self) -> &'static str {
                match self { $($enum::$variant => $meaning),* }
            }
        }
    };
}

fields! { "A field of a call." CallField {
    Ts "ts" "Time of its first byte, nanoseconds since 1970-01-01 00:00 UTC; of an answer whose call is missing, the answer's.";
    SrcIp "src_ip" "Address of the caller.";
    SrcPort "src_port" "Port of the caller.";
    DstIp "dst_ip" "Address of the side that is called.";
    DstPort "dst_port" "Port of the side that is called.";
    Protocol "protocol" "binary, compact, framed-binary or framed-compact.";
    Method "method" "The method that is called, with the service and a colon before it if the message has them.";
    SequenceId "sequence_id" "The number that an answer has from its call.";
    Outcome "outcome" "returned, exception (a declared one), failure (any other), oneway, unanswered, or cut (too little of the answer is there).";
    Latency "latency" "Microseconds from its first byte to the last one of its answer; null where one of them is missing, or the times go back.";
    RequestBytes "request_bytes" "Bytes of the call with its frame; null where it is missing.";
    ReplyBytes "reply_bytes" "Bytes of the answer with its frame; null where there is none.";
} }

fields! { "A field of the sums of a method's calls." MethodField {
    Method "method" "The method that is called.";
    Calls "calls" "Calls; an answer whose call is missing counts as one.";
    Errors "errors" "Calls that answered an exception, or failed.";
    Failures "failures" "Calls among the errors that failed in a way that they do not declare.";
    Unanswered "unanswered" "Calls whose answer is not in the capture; oneway calls are none of them.";
    Oneway "oneway" "Calls that have no answer.";
    P50 "p50" "Microseconds that half of the latencies are not above, to 1/32; null without any.";
    P99 "p99" "Microseconds that 99 of 100 latencies are not above, to 1/32; null without any.";
    Max "max" "The longest latency, microseconds; null without any.";
    RequestBytes "request_bytes" "Bytes of the calls with their frames.";
    ReplyBytes "reply_bytes" "Bytes of the answers with their frames.";
} }

/// Nanoseconds in a microsecond.
const MICROSECOND: u64 = 1000;

impl Call {
    /// The value of `field`.
    pub fn value(&self, field: CallField) -> FieldValue {
        let unsigned = |number: Option<u64>| number.map_or(FieldValue::Null, FieldValue::Unsigned);
        match field {
            CallField::Ts => self.ts.map_or(FieldValue::Null, FieldValue::Signed),
            CallField::SrcIp => FieldValue::Address(self.client.ip()),
            CallField::SrcPort => FieldValue::Unsigned(self.client.port().into()),
            CallField::DstIp => FieldValue::Address(self.server.ip()),
            CallField::DstPort => FieldValue::Unsigned(self.server.port().into()),
            CallField::Protocol => FieldValue::Text(self.protocol.name().to_owned()),
            CallField::Method => FieldValue::Text(self.method.to_string()),
            CallField::SequenceId => FieldValue::Signed(self.sequence_id.into()),
            CallField::Outcome => FieldValue::Text(self.outcome.name().to_owned()),
            CallField::Latency => unsigned(self.latency.map(|latency| latency / MICROSECOND)),
            CallField::RequestBytes => unsigned(self.request_bytes),
            CallField::ReplyBytes => unsigned(self.reply_bytes),
        }
    }
}

impl MethodSummary {
    /// The value of `field`; `method` is whose sums they are.
    pub fn value(&self, method: &str, field: MethodField) -> FieldValue {
        let quantile = |per_mille| match self.latency.quantile(per_mille) {
            Some(latency) => FieldValue::Unsigned(latency / MICROSECOND),
            None => FieldValue::Null,
        };
        match field {
            MethodField::Method => FieldValue::Text(method.to_owned()),
            MethodField::Calls => FieldValue::Unsigned(self.calls),
            MethodField::Errors => FieldValue::Unsigned(self.errors),
            MethodField::Failures => FieldValue::Unsigned(self.failures),
            MethodField::Unanswered => FieldValue::Unsigned(self.unanswered),
            MethodField::Oneway => FieldValue::Unsigned(self.oneway),
            MethodField::P50 => quantile(500),
            MethodField::P99 => quantile(990),
            MethodField::Max => quantile(1000),
            MethodField::RequestBytes => FieldValue::Unsigned(self.request_bytes),
            MethodField::ReplyBytes => FieldValue::Unsigned(self.reply_bytes),
        }
    }
}
