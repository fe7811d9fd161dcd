//! Any bytes as a message in JSON of a schema that holds each type and itself: no panic, an error has a place in the text, and what is
//! transcoded is a message in Binary that is read to its end, in memory that its text bounds.

#![no_main]

use std::sync::{Arc, LazyLock};

use bytewright::thrift::{
    Encoding, FieldSchema, Frames, Limits, MessageForm, MessageHeader, Plan, Progress,
    ReadableMessage, Strictness, StructExtent, StructId, StructKind, Tape, ThriftSchema, Type,
};
use libfuzzer_sys::fuzz_target;

/// Bytes of Binary for each of a text, at most: a digit and a comma are a number of 64 bits.
const GROWTH_MAX: usize = 4;

static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let mut schema = ThriftSchema::new();
    let node = schema.declare_struct("Node", StructKind::Struct);
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
        Type::list(Type::Binary),
        Type::map(Type::Binary, Type::Struct(node)),
        Type::set(Type::list(Type::Double)),
        Type::map(Type::Double, Type::Bool),
    ];
    let fields = types.iter().zip(1..);
    let fields = fields.map(|(of, id)| FieldSchema::new(id, format!("f{id}"), of.clone()));
    schema.define_struct(node, fields.collect()).expect("all differ");
    Plan::new(Arc::new(schema)).expect("all are declared")
});

fuzz_target!(|text: &[u8]| {
    let (limits, form) = (Limits::default(), MessageForm::Json);
    if let Ok(header) = MessageHeader::read(form, Strictness::Strict, text, limits) {
        assert!(header.len <= text.len());
    }
    let progress = StructExtent::new(form, limits).advance(text);
    let message = ReadableMessage { form, offset: 0, bytes: text.into() };
    match message.packed(&PLAN, StructId(0), limits) {
        Ok(packed) => {
            assert!(packed.bytes.len() <= GROWTH_MAX * text.len());
            let read =
                PLAN.decode(Encoding::Binary, StructId(0), &packed.bytes, limits, &mut Tape::new());
            assert_eq!(read.expect("it was transcoded"), packed.bytes.len());
            let len = packed.text_len.expect("it was a text");
            assert_eq!(progress.expect("it is whole"), Progress::Complete(len));
        }
        Err(error) => {
            assert!(error.error().offset().is_some_and(|offset| offset <= text.len() as u64));
        }
    }
    let passed: usize = Frames::unframed(text, 0, form, limits)
        .map_while(Result::ok)
        .map(|frame| frame.bytes.len())
        .sum();
    assert!(passed <= text.len());
});
