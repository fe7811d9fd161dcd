//! Random schemas, and messages that nearly follow them.

use std::ops::Range;
use std::sync::Arc;

use bytewright::thrift::{
    EnumSchema, FieldSchema, Plan, StructId, StructKind, ThriftSchema, Type, WireType,
};

use super::twin::{KINDS, Raw};
use crate::generate::Random;

/// A schema that was made up, and what it becomes.
pub(crate) struct Inventor {
    pub(crate) schema: Arc<ThriftSchema>,
    pub(crate) plan: Arc<Plan>,
    is_plain: bool,
}

/// Approximate depth of structs and containers in a message.
const DEPTH: usize = 4;

impl Inventor {
    /// Of all types.
    pub(crate) fn new(random: &mut Random) -> Inventor {
        Inventor::of(random, false, true)
    }

    /// Of all types, with structs that hold those behind them only.
    pub(crate) fn without_recursion(random: &mut Random) -> Inventor {
        Inventor::of(random, false, false)
    }

    /// Without unions and uuids, which old libraries do not read as new ones do.
    pub(crate) fn plain(random: &mut Random) -> Inventor {
        Inventor::of(random, true, true)
    }

    fn of(random: &mut Random, is_plain: bool, is_recursive: bool) -> Inventor {
        let mut schema = ThriftSchema::new();
        schema.add_enum(EnumSchema { name: "Enum".into(), values: vec![("ONE".into(), 1)] });
        let kinds = [StructKind::Struct, StructKind::Exception, StructKind::Union];
        let count = 1 + random.below(4);
        for number in 0..count {
            let kind = if is_plain { kinds[0] } else { random.pick(&kinds) };
            schema.declare_struct(format!("Struct{number}"), kind);
        }
        for number in 0..count {
            let first = if is_recursive { 0 } else { number + 1 };
            let fields = fields(random, first..count, is_plain);
            schema.define_struct(StructId(number as u32), fields).expect("all differ");
        }
        let schema = Arc::new(schema);
        let plan = Arc::new(Plan::new(schema.clone()).expect("all are declared"));
        Inventor { schema, plan, is_plain }
    }

    /// A struct of the schema and a message of it.
    pub(crate) fn message(&self, random: &mut Random) -> (StructId, Raw) {
        let id = StructId(random.below(self.schema.structs().len()) as u32);
        (id, self.structure(random, id, DEPTH))
    }

    fn structure(&self, random: &mut Random, id: StructId, depth: usize) -> Raw {
        let mut fields = Vec::new();
        let defined = self.schema.get(id).expect("declared");
        for field in &defined.fields {
            let id = i32::from(field.id);
            if depth == 0 || random.once_in(4) {
                continue;
            }
            if random.once_in(12) {
                fields.push((id, self.anything(random, depth - 1)));
            } else {
                fields.push((id, self.value(random, &field.value_type, depth - 1)));
            }
            if random.once_in(20) {
                fields.push((id, self.value(random, &field.value_type, depth - 1)));
            }
        }
        if depth > 0 && random.once_in(4) {
            let id = random.pick(&[-1, 40, 55, 1000, 32767, -32768]);
            fields.push((id, self.anything(random, depth - 1)));
        }
        // By id, as most writers do, or in any order.
        if random.once_in(3) {
            for at in (1..fields.len()).rev() {
                fields.swap(at, random.below(at + 1));
            }
        } else {
            fields.sort_by_key(|(id, _)| *id);
        }
        Raw::Struct(fields)
    }

    /// A value of a type, or nearly: of its containers, some have other elements.
    fn value(&self, random: &mut Random, value_type: &Type, depth: usize) -> Raw {
        let raw = match value_type {
            Type::Struct(id) => self.structure(random, *id, depth),
            Type::List(_) | Type::Set(_) | Type::Map(..) if random.once_in(15) => {
                match (value_type, self.anything(random, depth)) {
                    (Type::List(_), raw) => Raw::List(raw.kind(), vec![raw]),
                    (Type::Set(_), raw) => Raw::Set(raw.kind(), vec![raw]),
                    (_, raw) => Raw::Map(raw.kind(), 8, vec![(raw, Raw::I32(1))]),
                }
            }
            Type::List(element) => {
                let kind = WireType::of(element).number();
                Raw::List(kind, self.elements(random, element, depth))
            }
            Type::Set(element) => {
                Raw::Set(WireType::of(element).number(), self.elements(random, element, depth))
            }
            Type::Map(key, value) => {
                let keys = self.elements(random, key, depth);
                let entries = keys.into_iter().map(|raw| {
                    let value = self.value(random, value, depth.saturating_sub(1));
                    (raw, value)
                });
                let kinds = (WireType::of(key).number(), WireType::of(value).number());
                Raw::Map(kinds.0, kinds.1, entries.collect())
            }
            scalar => self.scalar(random, WireType::of(scalar)),
        };
        assert_eq!(raw.kind(), WireType::of(value_type).number());
        raw
    }

    fn elements(&self, random: &mut Random, element: &Type, depth: usize) -> Vec<Raw> {
        let count = if random.once_in(12) { 13 + random.below(8) } else { random.below(4) };
        let count = if depth == 0 { 0 } else { count };
        (0..count).map(|_| self.value(random, element, depth - 1)).collect()
    }

    /// A value of any type.
    fn anything(&self, random: &mut Random, depth: usize) -> Raw {
        let kind = random.pick(&KINDS);
        let inside = |random: &mut Random| {
            let kind = random.pick(&KINDS[..7]);
            let elements = (0..random.below(4)).map(|_| self.scalar(random, kind)).collect();
            (kind.number(), elements)
        };
        match kind {
            WireType::STRUCT if depth > 0 => {
                let mut field = || (random.below(30) as i32, self.anything(random, depth - 1));
                Raw::Struct(vec![field(), field()])
            }
            WireType::STRUCT => Raw::Struct(Vec::new()),
            WireType::LIST if depth > 0 && random.once_in(3) => {
                let raw = self.anything(random, depth - 1);
                Raw::List(raw.kind(), vec![raw.clone(), raw])
            }
            WireType::LIST | WireType::SET => {
                let (kind, elements) = inside(random);
                if random.once_in(2) { Raw::List(kind, elements) } else { Raw::Set(kind, elements) }
            }
            WireType::MAP => {
                let ((key, keys), (value, values)) = (inside(random), inside(random));
                let (keys, values): (Vec<Raw>, Vec<Raw>) = (keys, values);
                Raw::Map(key, value, keys.into_iter().zip(values).collect())
            }
            WireType::UUID if self.is_plain => Raw::Byte(1),
            scalar => self.scalar(random, scalar),
        }
    }

    fn scalar(&self, random: &mut Random, kind: WireType) -> Raw {
        // Of all widths, as often short as long.
        let number = (random.next() as i64) >> random.below(64);
        match kind {
            WireType::BOOL => Raw::Bool(number & 1 == 1),
            WireType::BYTE => Raw::Byte(number as i8),
            WireType::I16 => Raw::I16(number as i16),
            WireType::I32 => Raw::I32(number as i32),
            WireType::I64 => Raw::I64(number),
            // Numbers that equal themselves only, also as a key in other languages.
            WireType::DOUBLE if self.is_plain => Raw::Double((number as f64 + 0.5).to_bits()),
            WireType::DOUBLE => Raw::Double(number as u64),
            WireType::UUID => Raw::Uuid(random.array()),
            _ => {
                let len = if random.once_in(10) { random.below(300) } else { random.below(12) };
                Raw::Bytes(random.bytes(len))
            }
        }
    }
}

fn fields(random: &mut Random, structs: Range<usize>, is_plain: bool) -> Vec<FieldSchema> {
    let ids: Vec<i16> = match random.below(4) {
        0 => vec![1, 2, 300, 301, 17, 2000],
        1 => vec![-2, 5, 3, 1, 20, 0],
        _ => (1..=random.below(14) as i16).collect(),
    };
    let field = |(number, id): (usize, &i16), random: &mut Random| {
        FieldSchema::new(*id, format!("field{number}"), value_type(random, &structs, 2, is_plain))
    };
    ids.iter().enumerate().map(|named| field(named, random)).collect()
}

fn value_type(random: &mut Random, structs: &Range<usize>, depth: usize, is_plain: bool) -> Type {
    let inside = |random: &mut Random| value_type(random, structs, depth - 1, is_plain);
    match random.below(if depth == 0 { 11 } else { 15 }) {
        0 => Type::Bool,
        1 => Type::Byte,
        2 => Type::I16,
        3 => Type::I32,
        4 => Type::I64,
        5 => Type::Double,
        6 => Type::String,
        7 => Type::Binary,
        8 if is_plain => Type::String,
        8 => Type::Uuid,
        9 => Type::Enum(bytewright::thrift::EnumId(0)),
        10 if structs.is_empty() => Type::I64,
        10 => Type::Struct(StructId((structs.start + random.below(structs.len())) as u32)),
        11 | 12 => Type::list(inside(random)),
        13 => Type::set(inside(random)),
        _ => {
            let key = inside(random);
            Type::map(key, inside(random))
        }
    }
}
