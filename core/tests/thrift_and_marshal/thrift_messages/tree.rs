//! Meaning of a message by a schema, as a tree: from a tape, and from what the twin read.

use bytewright::thrift::{
    Collection, StructId, StructKind, Tape, TapeCursor, TapeValue, ThriftSchema, Type, WireType,
};

use super::twin::Raw;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    /// A container of other elements than the schema says.
    Null,
    /// A list or a set without elements that names others than the schema.
    Empty(Collection),
    Bool(bool),
    Int(i64),
    /// The bits, as NaN is not itself.
    Double(u64),
    String(Vec<u8>),
    Binary(Vec<u8>),
    Uuid(Vec<u8>),
    /// Its number, of a union the fields in the message, and the known fields by their numbers.
    Struct(u32, Option<u8>, Vec<(usize, Tree)>),
    List(Vec<Tree>),
    Set(Vec<Tree>),
    Map(Vec<(Tree, Tree)>),
}

impl Tree {
    /// The values on a tape.
    pub(crate) fn of_tape(tape: &Tape, message: &[u8]) -> Tree {
        let mut cursor = tape.cursor(message);
        let value = cursor.value();
        let tree = Tree::of_value(&mut cursor, value);
        assert_eq!(cursor.value(), TapeValue::Null, "nothing is left");
        tree
    }

    fn of_value<'t>(cursor: &mut TapeCursor<'t>, value: TapeValue<'t>) -> Tree {
        let tree = Tree::of_form(cursor, value);
        if let TapeValue::Ints(..)
        | TapeValue::Doubles(..)
        | TapeValue::Bools(..)
        | TapeValue::Empty(_) = value
        {
            assert_eq!(Tree::of_elements(cursor, value), tree.without_form(), "as elements");
        }
        tree
    }

    /// A list or a set by its elements, one after the other.
    fn of_elements<'t>(cursor: &mut TapeCursor<'t>, value: TapeValue<'t>) -> Tree {
        let mut elements = value.elements();
        let trees = (0..elements.count()).map(|_| {
            let value = elements.next(cursor);
            Tree::of_value(cursor, value)
        });
        let trees = trees.collect();
        match value.elements().kind() {
            Collection::List => Tree::List(trees),
            Collection::Set => Tree::Set(trees),
        }
    }

    /// The tree of a container without elements as that of any other.
    fn without_form(&self) -> Tree {
        match self {
            Tree::Empty(Collection::List) => Tree::List(Vec::new()),
            Tree::Empty(Collection::Set) => Tree::Set(Vec::new()),
            other => other.clone(),
        }
    }

    fn of_form<'t>(cursor: &mut TapeCursor<'t>, value: TapeValue<'t>) -> Tree {
        let next = |cursor: &mut TapeCursor<'_>| {
            let value = cursor.value();
            Tree::of_value(cursor, value)
        };
        let in_order = |is_list: bool, elements| match is_list {
            true => Tree::List(elements),
            false => Tree::Set(elements),
        };
        let is_list = |collection| collection == Collection::List;
        match value {
            TapeValue::Null => Tree::Null,
            TapeValue::Empty(of) => Tree::Empty(of),
            TapeValue::Bool(value) => Tree::Bool(value),
            TapeValue::Int(value) => Tree::Int(value),
            TapeValue::Double(value) => Tree::Double(value.to_bits()),
            TapeValue::String(bytes) => Tree::String(bytes.to_vec()),
            TapeValue::Binary(bytes) => Tree::Binary(bytes.to_vec()),
            TapeValue::Uuid(bytes) => Tree::Uuid(bytes.to_vec()),
            TapeValue::Struct(id) => Tree::Struct(id.0, None, Tree::fields(cursor)),
            TapeValue::Union { id, field_count } => {
                Tree::Struct(id.0, Some(field_count), Tree::fields(cursor))
            }
            TapeValue::List(_) | TapeValue::Set(_) => Tree::of_elements(cursor, value),
            TapeValue::Map(count) => {
                Tree::Map((0..count).map(|_| (next(cursor), next(cursor))).collect())
            }
            TapeValue::Ints(of, numbers) => {
                in_order(is_list(of), numbers.iter().map(|number| Tree::Int(*number)).collect())
            }
            TapeValue::Doubles(of, numbers) => {
                let doubles = numbers.iter().map(|number| Tree::Double(number.to_bits()));
                in_order(is_list(of), doubles.collect())
            }
            TapeValue::Bools(of, truths) => {
                in_order(is_list(of), truths.iter().map(|truth| Tree::Bool(*truth == 1)).collect())
            }
        }
    }

    fn fields(cursor: &mut TapeCursor<'_>) -> Vec<(usize, Tree)> {
        let mut fields = Vec::new();
        while let Some((number, value)) = cursor.field() {
            fields.push((number, Tree::of_value(cursor, value)));
        }
        fields
    }

    /// Makes the tree of a message by the struct `id` of a schema.
    pub(crate) fn of_raw(schema: &ThriftSchema, id: StructId, raw: &Raw) -> Tree {
        Tree::typed(schema, &Type::Struct(id), raw)
    }

    /// A value of the right type in the message, by the schema.
    pub(crate) fn typed(schema: &ThriftSchema, value_type: &Type, raw: &Raw) -> Tree {
        match (value_type, raw) {
            (Type::Bool, Raw::Bool(value)) => Tree::Bool(*value),
            (Type::Byte, Raw::Byte(value)) => Tree::Int(i64::from(*value)),
            (Type::I16, Raw::I16(value)) => Tree::Int(i64::from(*value)),
            (Type::I32 | Type::Enum(_), Raw::I32(value)) => Tree::Int(i64::from(*value)),
            (Type::I64, Raw::I64(value)) => Tree::Int(*value),
            (Type::Double, Raw::Double(bits)) => Tree::Double(*bits),
            (Type::String, Raw::Bytes(bytes)) => Tree::String(bytes.clone()),
            (Type::Binary, Raw::Bytes(bytes)) => Tree::Binary(bytes.clone()),
            (Type::Uuid, Raw::Uuid(bytes)) => Tree::Uuid(bytes.to_vec()),
            (Type::Struct(id), Raw::Struct(fields)) => {
                let defined = schema.get(*id).unwrap();
                let is_union = defined.kind == StructKind::Union;
                let count = is_union.then_some(fields.len().min(255) as u8);
                let known = fields.iter().filter_map(|(id, raw)| {
                    let number = defined.fields.iter().position(|f| i32::from(f.id) == *id)?;
                    let value_type = &defined.fields[number].value_type;
                    let is_same = WireType::of(value_type).number() == raw.kind();
                    is_same.then(|| (number, Tree::typed(schema, value_type, raw)))
                });
                Tree::Struct(id.0, count, known.collect())
            }
            (Type::List(element), Raw::List(kind, elements))
            | (Type::Set(element), Raw::Set(kind, elements)) => {
                let is_set = matches!(value_type, Type::Set(_));
                if WireType::of(element).number() != *kind {
                    return match (elements.is_empty(), is_set) {
                        (false, _) => Tree::Null,
                        (true, false) => Tree::Empty(Collection::List),
                        (true, true) => Tree::Empty(Collection::Set),
                    };
                }
                let trees = elements.iter().map(|raw| Tree::typed(schema, element, raw)).collect();
                if is_set { Tree::Set(trees) } else { Tree::List(trees) }
            }
            (Type::Map(key, value), Raw::Map(key_kind, value_kind, entries)) => {
                let kinds = [WireType::of(key).number(), WireType::of(value).number()];
                if !entries.is_empty() && kinds != [*key_kind, *value_kind] {
                    return Tree::Null;
                }
                let typed = |(k, v)| (Tree::typed(schema, key, k), Tree::typed(schema, value, v));
                Tree::Map(entries.iter().map(|(k, v)| typed((k, v))).collect())
            }
            (value_type, raw) => panic!("{raw:?} is no {value_type}"),
        }
    }
}
