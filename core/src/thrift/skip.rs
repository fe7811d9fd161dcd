//! Passing a value that nobody asked for: an unknown field, one of another type than the schema's, or
//! one beside those that a projection wants. Its depth has a limit of its own, wherever it is: a program that
//! knows less of a message refuses no more of it.

use super::error::ProtocolResult;
use super::input::{
    FieldHeader, ListHeader, MapHeader, MessageInput, NextField, ProtocolReader, ThriftMessage,
    Width,
};
use super::limits::Depth;
use super::open_structs::OpenStructs;
use super::wire_type::WireType;

/// Passes the value of a field.
#[inline(always)]
pub(super) fn skip_field<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    header: FieldHeader,
) -> ProtocolResult<()> {
    if P::BOOL_IN_HEADER && header.kind == WireType::BOOL || skip_flat(at, header.kind)? {
        return Ok(());
    }
    in_registers(at, |rest, message| skip_outermost::<P>(rest, message, header.kind))
}

/// Passes an element, a key or a value.
pub(super) fn skip_value<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    kind: WireType,
) -> ProtocolResult<()> {
    let depth = at.input().parts().1.skipped_depth;
    skip(at, kind, depth)
}

/// Passes all fields up to the end of the struct that they are in.
#[inline(always)]
pub(super) fn skip_rest<'a, P: ProtocolReader<'a>>(at: &mut P) -> ProtocolResult<()> {
    in_registers(at, |rest, message| match rest {
        // The end of a struct is the same in all protocols, and often comes at once.
        [0, behind @ ..] => Ok(behind),
        _ => skip_fields::<P>(rest, message, message.skipped_depth),
    })
}

/// Passes what `pass` does, which is not inlined: it is given the bytes and answers those that are left, as a cursor would be in
/// memory for it, and then for its caller.
#[inline(always)]
fn in_registers<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    pass: impl FnOnce(&'a [u8], &'a ThriftMessage<'a>) -> ProtocolResult<&'a [u8]>,
) -> ProtocolResult<()> {
    let (rest, message) = at.input().parts();
    *at = P::new(MessageInput::at(pass(rest, message)?, message));
    Ok(())
}

#[inline(never)]
fn skip_outermost<'a, P: ProtocolReader<'a>>(
    rest: &'a [u8],
    message: &'a ThriftMessage<'a>,
    kind: WireType,
) -> ProtocolResult<&'a [u8]> {
    let mut at = P::new(MessageInput::at(rest, message));
    skip_nested(&mut at, kind, message.skipped_depth)?;
    Ok(at.input().rest.rest())
}

/// Passes the elements of a list or a set whose header was read.
#[inline(always)]
pub(super) fn skip_list<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    header: ListHeader,
) -> ProtocolResult<()> {
    let depth = at.input().in_skipped_container(at.input().parts().1.skipped_depth)?;
    in_registers(at, |rest, message| {
        let mut at = P::new(MessageInput::at(rest, message));
        skip_elements(&mut at, header.element, header.count, depth)?;
        Ok(at.input().rest.rest())
    })
}

/// Passes the entries of a map whose header was read.
#[inline(always)]
pub(super) fn skip_map<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    header: MapHeader,
) -> ProtocolResult<()> {
    let depth = at.input().in_skipped_container(at.input().parts().1.skipped_depth)?;
    in_registers(at, |rest, message| {
        let mut at = P::new(MessageInput::at(rest, message));
        skip_entries(&mut at, header, depth)?;
        Ok(at.input().rest.rest())
    })
}

/// Passes an element, a key or a value.
#[inline(always)]
fn skip<'a, P: ProtocolReader<'a>>(at: &mut P, kind: WireType, depth: Depth) -> ProtocolResult<()> {
    if !skip_flat(at, kind)? {
        // A copy, so that the caller's stays in registers.
        let mut inside = *at;
        skip_nested(&mut inside, kind, depth)?;
        *at = inside;
    }
    Ok(())
}

/// Passes a value that holds no others. Answers whether it is one.
#[inline(always)]
fn skip_flat<'a, P: ProtocolReader<'a>>(at: &mut P, kind: WireType) -> ProtocolResult<bool> {
    match P::width(kind) {
        Some(Width::Fixed(len)) => at.input().take("a value", len).map(|_| true),
        Some(Width::Varint) => at.skip_varint(kind).map(|()| true),
        Some(Width::Variable(_)) if kind == WireType::STRING => at.string().map(|_| true),
        Some(Width::Variable(_)) => Ok(false),
        None => Err(at.input().unknown_type::<P>("the type of a field", kind)),
    }
}

#[inline(never)]
fn skip_nested<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    kind: WireType,
    depth: Depth,
) -> ProtocolResult<()> {
    match kind {
        WireType::STRUCT => skip_struct(at, depth),
        WireType::MAP => {
            let header = at.map()?;
            let depth = at.input().in_skipped_container(depth)?;
            skip_entries(at, header, depth)
        }
        _ => {
            let header = at.list()?;
            let depth = at.input().in_skipped_container(depth)?;
            skip_elements(at, header.element, header.count, depth)
        }
    }
}

fn skip_struct<'a, P: ProtocolReader<'a>>(outer: &mut P, depth: Depth) -> ProtocolResult<()> {
    let depth = outer.input().in_skipped_struct(depth)?;
    in_registers(outer, |rest, message| skip_fields::<P>(rest, message, depth))
}

/// Passes all fields up to the end of the struct that they are in. Structs in it are passed in the same loop, as long as their first
/// bytes tell them.
#[inline(never)]
fn skip_fields<'a, P: ProtocolReader<'a>>(
    rest: &'a [u8],
    message: &'a ThriftMessage<'a>,
    depth: Depth,
) -> ProtocolResult<&'a [u8]> {
    let mut at = P::new(MessageInput::at(rest, message));
    let (mut last, mut open) = (0, OpenStructs::one(depth));
    let looks_ahead = depth.has_level();
    loop {
        let next = if looks_ahead { at.skip_ahead() } else { NextField::Other };
        let (inside, header_len) = match next {
            NextField::Stop => {
                let _ = at.input().rest.u8();
                if open.end_struct() {
                    return Ok(at.input().rest.rest());
                }
                continue;
            }
            NextField::Struct => (open.with_struct(), 1),
            NextField::Structs(count) => (open.with_structs(count), 2),
            NextField::Until | NextField::Other => (None, 0),
        };
        if let Some(inside) = inside {
            let _ = at.input().rest.take(header_len);
            open = inside;
            continue;
        }
        let header = at.field(&mut last)?;
        if header.kind == WireType::STOP {
            if open.end_struct() {
                return Ok(at.input().rest.rest());
            }
        } else if !(P::BOOL_IN_HEADER && header.kind == WireType::BOOL) {
            skip(&mut at, header.kind, open.depth())?;
        }
    }
}

/// Passes the elements of a list or a set.
fn skip_elements<'a, P: ProtocolReader<'a>>(
    outer: &mut P,
    element: WireType,
    count: usize,
    depth: Depth,
) -> ProtocolResult<()> {
    match P::width(element) {
        Some(Width::Fixed(len)) => skip_fixed(outer, count, len),
        _ if element == WireType::STRUCT => (0..count).try_for_each(|_| skip_struct(outer, depth)),
        _ => {
            let mut at = *outer;
            for _ in 0..count {
                skip(&mut at, element, depth)?;
            }
            *outer = at;
            Ok(())
        }
    }
}

fn skip_fixed<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    count: usize,
    len: usize,
) -> ProtocolResult<()> {
    at.input().take("the elements of a container", count.saturating_mul(len)).map(|_| ())
}

/// Passes the entries of a map.
fn skip_entries<'a, P: ProtocolReader<'a>>(
    outer: &mut P,
    header: MapHeader,
    depth: Depth,
) -> ProtocolResult<()> {
    let widths = (P::width(header.key), P::width(header.value));
    if let (Some(Width::Fixed(key)), Some(Width::Fixed(value))) = widths {
        return skip_fixed(outer, header.count, key + value);
    }
    let mut at = *outer;
    for _ in 0..header.count {
        skip(&mut at, header.key, depth)?;
        skip(&mut at, header.value, depth)?;
    }
    *outer = at;
    Ok(())
}
