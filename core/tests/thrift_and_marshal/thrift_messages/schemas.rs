//! Schemas that contradict themselves are refused, and the rest says what it holds.

use std::sync::Arc;

use bytewright::ErrorKind;
use bytewright::thrift::{
    Encoding, EnumId, EnumSchema, FieldSchema, Limits, Plan, StructId, StructKind, TYPE_DEPTH_MAX,
    Tape, ThriftSchema, Type,
};

#[test]
fn a_struct_with_the_same_id_or_name_twice_or_a_bottomless_type_is_refused() {
    let mut schema = ThriftSchema::new();
    let id = schema.declare_struct("Pair", StructKind::Struct);
    let field = FieldSchema::new;
    schema.define_struct(id, vec![field(1, "left", Type::I32)]).unwrap();
    let mut deepest = Type::I32;
    for _ in 0..TYPE_DEPTH_MAX {
        deepest = Type::list(deepest);
    }
    let too_deep = Type::map(Type::I32, deepest.clone());
    for fields in [
        vec![field(1, "left", Type::I32), field(1, "right", Type::I32)],
        vec![field(1, "left", Type::I32), field(2, "left", Type::I32)],
        vec![field(1, "left", too_deep)],
    ] {
        let error = schema.define_struct(id, fields).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.to_string().starts_with("Pair: expected "), "{error}");
    }
    assert_eq!(schema.get(id).unwrap().fields.len(), 1, "it is as it was");
    schema.define_struct(id, vec![field(1, "left", deepest)]).unwrap();
    assert!(schema.define_struct(StructId(7), Vec::new()).is_err());
}

#[test]
fn a_type_that_the_schema_does_not_have_is_refused_by_the_plan() {
    for missing in [Type::Struct(StructId(1)), Type::list(Type::Enum(EnumId(0)))] {
        let mut schema = ThriftSchema::new();
        let id = schema.declare_struct("Pair", StructKind::Struct);
        schema.define_struct(id, vec![FieldSchema::new(1, "left", missing)]).unwrap();
        let error = Plan::new(Arc::new(schema)).unwrap_err();
        assert!(
            error.to_string().contains("Pair") && error.to_string().contains("left"),
            "{error}"
        );
    }
}

#[test]
fn a_struct_of_another_schema_is_refused_as_an_error() {
    let plan = Plan::new(Arc::new(ThriftSchema::new())).unwrap();
    let read =
        plan.decode(Encoding::Binary, StructId(3), &[0], Limits::default(), &mut Tape::new());
    assert!(read.is_err());
}

#[test]
fn structs_fields_and_enums_are_found_by_name() {
    let mut schema = ThriftSchema::new();
    let colour =
        EnumSchema { name: "Colour".into(), values: vec![("RED".into(), 1), ("ROT".into(), 1)] };
    let colour = schema.add_enum(colour);
    let pair = schema.declare_struct("Pair", StructKind::Struct);
    let fields = vec![
        FieldSchema::new(2, "left", Type::Enum(colour)),
        FieldSchema::new(1, "right", Type::map(Type::String, Type::set(Type::Struct(pair)))),
    ];
    schema.define_struct(pair, fields).unwrap();
    assert_eq!(schema.find("Pair"), Some(pair));
    assert_eq!(schema.find("Triple"), None);
    let found = schema.get(pair).unwrap();
    assert_eq!(found.field_number("right"), Some(1));
    assert_eq!(found.fields[1].value_type.to_string(), "map<string, set<struct 0>>");
    assert_eq!(schema.get_enum(colour).unwrap().name_of(1), Some("RED"));
    assert_eq!(schema.get_enum(colour).unwrap().name_of(2), None);
}
