//! Passing a value that nobody asked for: an unknown field, one of another type than the schema's, or
//! one beside those that a projection wants.

use super::error::ProtocolResult;
use super::input::{FieldHeader, MapHeader, Protocol, Width};
use super::limits::Depth;
use super::wire_type::WireType;

/// Passes the value of a field.
#[inline(always)]
pub(super) fn skip_field<'a, P: Protocol<'a>>(
    at: &mut P,
    header: FieldHeader,
    depth: Depth,
) -> ProtocolResult<()> {
    if P::BOOL_IN_HEADER && header.kind == WireType::BOOL {
        return Ok(());
    }
    skip(at, header.kind, depth)
}

/// Passes an element, a key or a value.
#[inline(always)]
pub(super) fn skip<'a, P: Protocol<'a>>(
    at: &mut P,
    kind: WireType,
    depth: Depth,
) -> ProtocolResult<()> {
    match P::width(kind) {
        Some(Width::Fixed(len)) => at.input().take("a value", len).map(|_| ()),
        Some(Width::Varint) => at.skip_varint(),
        Some(Width::Variable(_)) if kind == WireType::STRING => at.string().map(|_| ()),
        Some(Width::Variable(_)) => {
            // A copy, so that the caller's stays in registers.
            let mut inside = *at;
            skip_nested(&mut inside, kind, depth)?;
            *at = inside;
            Ok(())
        }
        None => Err(at.input().invalid("the type of a field", kind)),
    }
}

#[inline(never)]
fn skip_nested<'a, P: Protocol<'a>>(
    at: &mut P,
    kind: WireType,
    depth: Depth,
) -> ProtocolResult<()> {
    match kind {
        WireType::STRUCT => skip_struct(at, depth),
        WireType::MAP => {
            let header = at.map()?;
            let depth = at.input().in_container(depth)?;
            skip_entries(at, header, depth)
        }
        _ => {
            let header = at.list()?;
            let depth = at.input().in_container(depth)?;
            skip_elements(at, header.element, header.count, depth)
        }
    }
}

fn skip_struct<'a, P: Protocol<'a>>(outer: &mut P, depth: Depth) -> ProtocolResult<()> {
    let depth = outer.input().in_struct(depth)?;
    let (mut at, mut last) = (*outer, 0);
    loop {
        let header = at.field(&mut last)?;
        if header.kind == WireType::STOP {
            *outer = at;
            return Ok(());
        }
        skip_field(&mut at, header, depth)?;
    }
}

/// Passes the elements of a list or a set.
pub(super) fn skip_elements<'a, P: Protocol<'a>>(
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

fn skip_fixed<'a, P: Protocol<'a>>(at: &mut P, count: usize, len: usize) -> ProtocolResult<()> {
    at.input().take("the elements of a container", count.saturating_mul(len)).map(|_| ())
}

/// Passes the entries of a map.
pub(super) fn skip_entries<'a, P: Protocol<'a>>(
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
