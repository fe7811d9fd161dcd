//! Any bytes as messages, in both protocols, of a schema that holds each type and itself: no panic,
//! bounded memory; what is read has an extent, and fields plucked from it are those that it has.

#![no_main]

use std::sync::{Arc, LazyLock};

use bytewright::thrift::{
    Columns, Encoding, FieldSchema, FrameHeader, Frames, INFLATED_MAX, Limits, MessageForm,
    MessageHeader, Plan, Progress, Projection, ProtocolErrorKind, Strictness, StructExtent,
    StructId, StructKind, Tape, TapeCursor, TapeValue, ThriftSchema, Type,
};
use libfuzzer_sys::fuzz_target;

static PLAN: LazyLock<Arc<Plan>> = LazyLock::new(|| {
    let mut schema = ThriftSchema::new();
    let node = schema.declare_struct("Node", StructKind::Struct);
    let either = schema.declare_struct("Either", StructKind::Union);
    let types = [
        Type::Bool,
        Type::Byte,
        Type::I16,
        Type::I32,
        Type::I64,
        Type::Double,
        Type::String,
        Type::Binary,
        Type::Uuid,
        Type::Struct(node),
        Type::Struct(either),
        Type::list(Type::I32),
        Type::set(Type::String),
        Type::list(Type::Struct(node)),
        Type::map(Type::String, Type::list(Type::I64)),
        Type::list(Type::Bool),
        Type::set(Type::Double),
        Type::map(Type::Byte, Type::Struct(either)),
    ];
    let fields = |types: &[Type]| {
        let numbered = types.iter().zip(1..);
        numbered.map(|(t, id)| FieldSchema::new(id, format!("f{id}"), t.clone())).collect()
    };
    schema.define_struct(node, fields(&types)).expect("all differ");
    schema.define_struct(either, fields(&types[..12])).expect("all differ");
    Arc::new(Plan::new(Arc::new(schema)).expect("all are declared"))
});

/// Takes all that belongs to a value, and answers how many values those are.
fn take(cursor: &mut TapeCursor<'_>, value: TapeValue<'_>) -> usize {
    let mut count = 1;
    let values = match value {
        TapeValue::Struct(_) | TapeValue::Union { .. } => {
            while let Some((_, value)) = cursor.field() {
                count += take(cursor, value);
            }
            0
        }
        TapeValue::List(values) | TapeValue::Set(values) => values,
        TapeValue::Map(entries) => entries * 2,
        _ => 0,
    };
    for _ in 0..values {
        let value = cursor.value();
        count += take(cursor, value);
    }
    count
}

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::default();
    let mut tape = Tape::new();
    if let Ok(header) = FrameHeader::read(bytes)
        && let Ok(message) = header.payload(bytes)
    {
        assert!(message.len() <= bytes.len().max(INFLATED_MAX as usize));
        if let MessageForm::Packed(encoding) = header.form {
            let _ = PLAN.decode(encoding, StructId(0), &message, limits, &mut tape);
        }
    }
    for encoding in [Encoding::Binary, Encoding::Compact] {
        for strictness in [Strictness::Strict, Strictness::Lenient] {
            let _ = MessageHeader::read(encoding, strictness, bytes, limits);
        }
        let read = PLAN.decode(encoding, StructId(0), bytes, limits, &mut tape);
        assert!(tape.memory_bytes() <= 64 * bytes.len() + 4096);
        let progress = StructExtent::new(encoding, limits).advance(bytes);
        let projection = Projection::new(PLAN.clone(), StructId(0), &["f7", "f10.f4", "f1"]);
        let projection = Arc::new(projection.expect("names of the schema"));
        // An extent does not know which fields are skipped, so that it allows what is too deep for either.
        let is_too_deep =
            read.as_ref().is_err_and(|error| error.kind() == ProtocolErrorKind::DepthLimit);
        if let Ok(len) = read {
            let mut cursor = tape.cursor(bytes);
            let value = cursor.value();
            assert!(take(&mut cursor, value) <= 2 * len);
            assert!(matches!(progress, Ok(Progress::Complete(found)) if found == len));
            projection.pluck(encoding, bytes, limits, &mut tape).expect("it was read whole");
        } else if !is_too_deep {
            assert!(!matches!(progress, Ok(Progress::Complete(_))));
        }
        let mut columns = Columns::new(projection).expect("one value each");
        let mut frames = Frames::new(bytes, 0);
        while columns.extend(encoding, &mut frames, usize::MAX, limits).is_err() {
            if frames.clone().next_frame().is_err() {
                break;
            }
        }
        for column in columns.batch().columns() {
            assert_eq!(column.validity().len(), columns.batch().len().div_ceil(8));
        }
    }
});
