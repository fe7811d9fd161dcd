//! Passing a value that nobody asked for: an unknown field, one of another type than the schema's, or
//! one beside those that a projection wants. Its depth has a limit of its own, wherever it is: a program that
//! knows less of a message refuses no more of it.

use super::error::ProtocolResult;
use super::input::{FieldHeader, ListHeader, MapHeader, ProtocolReader, Width};
use super::limits::Depth;
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
    // A copy, so that the caller's stays in registers.
    *at = skip_outermost(*at, header.kind)?;
    Ok(())
}

/// Passes an element, a key or a value.
pub(super) fn skip_value<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    kind: WireType,
) -> ProtocolResult<()> {
    let depth = Depth::of_skipped(at.input().limits());
    skip(at, kind, depth)
}

#[inline(never)]
fn skip_outermost<'a, P: ProtocolReader<'a>>(mut at: P, kind: WireType) -> ProtocolResult<P> {
    let depth = Depth::of_skipped(at.input().limits());
    skip_nested(&mut at, kind, depth)?;
    Ok(at)
}

/// Passes the elements of a list or a set whose header was read.
#[inline(never)]
pub(super) fn skip_list<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    header: ListHeader,
) -> ProtocolResult<()> {
    let depth = at.input().in_skipped_container(Depth::of_skipped(at.input().limits()))?;
    skip_elements(at, header.element, header.count, depth)
}

/// Passes the entries of a map whose header was read.
#[inline(never)]
pub(super) fn skip_map<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    header: MapHeader,
) -> ProtocolResult<()> {
    let depth = at.input().in_skipped_container(Depth::of_skipped(at.input().limits()))?;
    skip_entries(at, header, depth)
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
    let (mut at, mut last) = (*outer, 0);
    loop {
        let header = at.field(&mut last)?;
        if header.kind == WireType::STOP {
            *outer = at;
            return Ok(());
        }
        if !(P::BOOL_IN_HEADER && header.kind == WireType::BOOL) {
            skip(&mut at, header.kind, depth)?;
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
