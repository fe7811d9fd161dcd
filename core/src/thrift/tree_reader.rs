//! Reading a message into a tree of columns, part by part as it comes.
//!
//! Columns of a message are bounded before anything is appended to them: each list and map says how many elements it has, and a row
//! of them has a size by the tree.

use super::column_tree::{ColumnNode, FieldNode, ListNode, MapNode, NodeValues, StructNode};
use super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use super::input::{FieldHeader, ListHeader, MapHeader, MessageInput, ProtocolReader};
use super::limits::Depth;
use super::plan::ReadOperation;
use super::skip::{skip_field, skip_list, skip_map, skip_rest, skip_value};
use super::wire_type::WireType;
use crate::Error;
use crate::batch::Column;

/// A message may become so many times its own bytes, whatever the bound is.
const BYTES_FACTOR: u64 = 16;

/// Reader of one message.
pub(super) struct TreeReader {
    /// Bytes that more columns may take.
    pub(super) left: u64,
    bound: u64,
    /// Wanted fields on the way to which there is no list, that may still come; what is behind the last of them is not read.
    open: usize,
    /// True if a message is read to its end in any case.
    to_end: bool,
}

/// Place among the fields of a struct.
#[derive(Default)]
struct FieldPlace {
    /// The id of the field before.
    last: i32,
    /// The header of the next, if it was read.
    header: Option<FieldHeader>,
}

impl TreeReader {
    /// The reader of a message of so many bytes.
    pub(super) fn new(input: &MessageInput<'_>, root: &ColumnNode, to_end: bool) -> TreeReader {
        let own = input.rest.remaining() as u64 * BYTES_FACTOR;
        let bound = input.limits().columns_max.max(own);
        TreeReader { left: bound, bound, open: root.selected_count(), to_end }
    }

    /// Bytes of columns that were allowed for.
    pub(super) fn used(&self) -> u64 {
        self.bound - self.left
    }

    /// Appends the struct of a message to the column of the root.
    pub(super) fn message<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        root: &ColumnNode,
        column: &mut Column,
    ) -> ProtocolResult<()> {
        let depth = Depth::of(at.input().limits());
        match &root.values {
            NodeValues::Struct(node) if node.takes_first => self.selected(at, node, column, depth),
            NodeValues::Struct(node) => self.structure(at, node, column, depth),
            _ => Ok(()),
        }
    }

    /// A struct of which some fields are selected, in which no list was entered: reading ends with the last of them.
    fn selected<'a, P: ProtocolReader<'a>>(
        &mut self,
        outer: &mut P,
        node: &StructNode,
        column: &mut Column,
        depth: Depth,
    ) -> ProtocolResult<()> {
        let depth = outer.input().in_struct(depth)?;
        let (mut at, mut last, row) = (*outer, 0, column.len());
        let children = column.children_mut();
        let behind = self.open.saturating_sub(node.selected_count());
        while self.open > 0 || self.to_end {
            let header = at.field(&mut last)?;
            if header.kind == WireType::STOP {
                break;
            }
            let found = node.fields.iter().find(|field| field.id == header.id);
            let found = found.filter(|field| field.node.kind == header.kind);
            let Some((field, child)) = found
                .and_then(|field| Some((field, children.get_mut(field.place)?)))
                .filter(|(_, child)| child.len() == row)
            else {
                skip_field(&mut at, header)?;
                continue;
            };
            match &field.node.values {
                NodeValues::Struct(inside) if inside.takes_first => {
                    let mut inner = at;
                    self.selected(&mut inner, inside, child, depth)?;
                    at = inner;
                }
                _ => {
                    self.field(&mut at, header, field, child, depth)?;
                    self.open -= 1;
                }
            }
        }
        column.end_struct();
        // What it does not have will not come in another struct.
        self.open = behind;
        *outer = at;
        Ok(())
    }

    /// A struct that is read to its end.
    #[inline(always)]
    fn structure<'a, P: ProtocolReader<'a>>(
        &mut self,
        outer: &mut P,
        node: &StructNode,
        column: &mut Column,
        depth: Depth,
    ) -> ProtocolResult<()> {
        let depth = outer.input().in_struct(depth)?;
        match node.takes_first {
            true => self.selected_by_id(outer, node, column, depth),
            false => self.fields(outer, node, column, depth, FieldPlace::default()),
        }
    }

    /// The fields of a struct of which some are selected, as long as they come by id: those before the next one are passed at once,
    /// and those behind the last one without a look at what they are.
    #[inline(never)]
    fn selected_by_id<'a, P: ProtocolReader<'a>>(
        &mut self,
        outer: &mut P,
        node: &StructNode,
        column: &mut Column,
        depth: Depth,
    ) -> ProtocolResult<()> {
        let (mut at, mut last, row) = (*outer, 0, column.len());
        let mut coming = node.fields.as_slice();
        let children = column.children_mut();
        loop {
            let Some((field, behind)) = coming.split_first() else {
                if children.iter().all(|child| child.len() > row) {
                    skip_rest(&mut at)?;
                    break;
                }
                // One that is missing may still come, out of its place.
                *outer = at;
                return self.fields(outer, node, column, depth, FieldPlace { last, header: None });
            };
            let before = last;
            let header = at.field_from(&mut last, field.id)?;
            if header.kind == WireType::STOP {
                break;
            }
            // Binary has no use for it.
            last = header.id;
            if header.id <= before {
                *outer = at;
                let place = FieldPlace { last, header: Some(header) };
                return self.fields(outer, node, column, depth, place);
            }
            if header.id < field.id {
                skip_field(&mut at, header)?;
                continue;
            }
            coming = behind;
            let field = match header.id == field.id {
                true => Some(field),
                // It is missing, and another may be it.
                false => next_of(header.id, &mut coming),
            };
            let found = field.filter(|field| field.node.kind == header.kind);
            match found.and_then(|field| Some((field, children.get_mut(field.place)?))) {
                Some((field, child)) if child.len() == row => {
                    self.field(&mut at, header, field, child, depth)?;
                }
                _ => skip_field(&mut at, header)?,
            }
        }
        column.end_struct();
        *outer = at;
        Ok(())
    }

    /// The fields of a struct, from one on.
    fn fields<'a, P: ProtocolReader<'a>>(
        &mut self,
        outer: &mut P,
        node: &StructNode,
        column: &mut Column,
        depth: Depth,
        place: FieldPlace,
    ) -> ProtocolResult<()> {
        let (mut at, mut last, mut next, row) = (*outer, place.last, 0, column.len());
        let children = column.children_mut();
        let mut header = match place.header {
            Some(header) => header,
            None => at.field(&mut last)?,
        };
        while header.kind != WireType::STOP {
            let found = node.find(header.id, &mut next);
            let found = found.filter(|field| field.node.kind == header.kind);
            match found.and_then(|field| Some((field, children.get_mut(field.place)?))) {
                Some((_, child)) if child.len() > row && node.takes_first => {
                    skip_field(&mut at, header)?;
                }
                Some((field, child)) => {
                    if child.len() > row {
                        child.truncate(row);
                    }
                    self.field(&mut at, header, field, child, depth)?;
                }
                None => skip_field(&mut at, header)?,
            }
            header = at.field(&mut last)?;
        }
        column.end_struct();
        *outer = at;
        Ok(())
    }

    /// The value of a field.
    #[inline(always)]
    fn field<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        header: FieldHeader,
        field: &FieldNode,
        column: &mut Column,
        depth: Depth,
    ) -> ProtocolResult<()> {
        match &field.node.values {
            NodeValues::Single(ReadOperation::Bool) if P::BOOL_IN_HEADER => {
                column.push_bool(header.flag);
                Ok(())
            }
            NodeValues::Single(operation) => single(at, *operation, column),
            _ => {
                let mut inside = *at;
                self.nested(&mut inside, &field.node, column, depth)?;
                *at = inside;
                Ok(())
            }
        }
    }

    fn value<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        node: &ColumnNode,
        column: &mut Column,
        depth: Depth,
    ) -> ProtocolResult<()> {
        match &node.values {
            NodeValues::Single(operation) => single(at, *operation, column),
            _ => self.nested(at, node, column, depth),
        }
    }

    fn nested<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        node: &ColumnNode,
        column: &mut Column,
        depth: Depth,
    ) -> ProtocolResult<()> {
        match &node.values {
            NodeValues::Struct(inside) => self.structure(at, inside, column, depth),
            NodeValues::List(list) => {
                self.list(at, list, column, depth).map_err(|error| error.in_path(&list.path))
            }
            NodeValues::Map(map) => {
                self.map(at, map, column, depth).map_err(|error| error.in_path(&map.path))
            }
            NodeValues::Single(_) => Ok(()),
        }
    }

    /// A list or a set. One with elements of another type is null, as when the message is read whole.
    fn list<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        node: &ListNode,
        column: &mut Column,
        depth: Depth,
    ) -> ProtocolResult<()> {
        let header = at.list()?;
        let depth = at.input().in_container(depth)?;
        let ListHeader { element, count } = header;
        if element != node.element.kind && count > 0 {
            column.push_null();
            return skip_list(at, header);
        }
        self.charge(at, count, node.element.row_bytes)?;
        if let Some(child) = column.children_mut().first_mut() {
            match &node.element.values {
                NodeValues::Single(operation) => singles(at, *operation, count, child)?,
                NodeValues::Struct(inside) => {
                    let (before, is_first) = (self.mark(at), child.is_empty());
                    for element in 0..count {
                        self.structure(at, inside, child, depth)?;
                        if element == 0 && is_first {
                            self.reserve_like(at, before, count - 1, child);
                        }
                    }
                }
                _ => {
                    for _ in 0..count {
                        self.nested(at, &node.element, child, depth)?;
                    }
                }
            }
        }
        end_list(at, column)
    }

    /// A map. One with keys or values of another type is null, as one with a key that is a null list.
    fn map<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        node: &MapNode,
        column: &mut Column,
        depth: Depth,
    ) -> ProtocolResult<()> {
        let header = at.map()?;
        let depth = at.input().in_container(depth)?;
        if header.count > 0 && (header.key, header.value) != node.kinds {
            column.push_null();
            return skip_map(at, header);
        }
        let sides = [&node.key, &node.value].into_iter().flatten();
        let row_bytes = sides.fold(1, |sum: u32, side| sum.saturating_add(side.row_bytes));
        self.charge(at, header.count, row_bytes)?;
        let Some(entries) = column.children_mut().first_mut() else { return Ok(()) };
        let before = entries.len();
        let null_keys = |entries: &Column| entries.children().first().map_or(0, Column::null_count);
        let nulls_before = null_keys(entries);
        self.entries(at, node, header, entries, depth)?;
        if node.is_whole && null_keys(entries) > nulls_before {
            entries.truncate(before);
            column.push_null();
            return Ok(());
        }
        end_list(at, column)
    }

    fn entries<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        node: &MapNode,
        header: MapHeader,
        entries: &mut Column,
        depth: Depth,
    ) -> ProtocolResult<()> {
        for _ in 0..header.count {
            let mut columns = entries.children_mut().iter_mut();
            for (side, kind) in [(&node.key, header.key), (&node.value, header.value)] {
                match side.as_ref().and_then(|side| Some((side, columns.next()?))) {
                    Some((side, column)) => self.value(at, side, column, depth)?,
                    None => skip_value(at, kind)?,
                }
            }
            entries.end_struct();
        }
        Ok(())
    }

    /// Bytes of the message that are left, and of columns.
    #[inline(always)]
    fn mark<'a, P: ProtocolReader<'a>>(&self, at: &mut P) -> (usize, u64) {
        (at.input().rest.remaining(), self.left)
    }

    /// Makes room for so many more elements like the first one of a column, which was read since `before`; for no more than the
    /// bytes that are left can be.
    #[inline(never)]
    fn reserve_like<'a, P: ProtocolReader<'a>>(
        &self,
        at: &mut P,
        before: (usize, u64),
        more: usize,
        column: &mut Column,
    ) {
        let (input_left, columns_left) = self.mark(at);
        let input_used = before.0.saturating_sub(input_left);
        let columns_used = before.1.saturating_sub(columns_left);
        let by_input = input_left / input_used.max(1);
        let by_columns = usize::try_from(columns_left / columns_used.max(1)).unwrap_or(usize::MAX);
        column.reserve_times(more.min(by_input).min(by_columns));
    }

    /// Allows for the columns of so many rows.
    #[inline]
    fn charge<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        count: usize,
        row_bytes: u32,
    ) -> ProtocolResult<()> {
        self.charge_bytes(at, count as u64 * u64::from(row_bytes))
    }

    /// Allows for so many bytes of columns.
    #[inline]
    pub(super) fn charge_bytes<'a, P: ProtocolReader<'a>>(
        &mut self,
        at: &mut P,
        bytes: u64,
    ) -> ProtocolResult<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.too_large(at, bytes)),
        }
    }

    #[cold]
    #[inline(never)]
    fn too_large<'a, P: ProtocolReader<'a>>(&self, at: &mut P, bytes: u64) -> ProtocolError {
        let found = self.used().saturating_add(bytes);
        let error = Error::limit("the bytes of the columns of a message", self.bound, found);
        at.input().failed(ProtocolErrorKind::SizeLimit, error)
    }
}

impl ColumnNode {
    /// Wanted values that are reached by selected fields without a list on the way.
    fn selected_count(&self) -> usize {
        match &self.values {
            NodeValues::Struct(node) if node.takes_first => node.selected_count(),
            _ => 1,
        }
    }
}

impl StructNode {
    fn selected_count(&self) -> usize {
        self.fields.iter().map(|field| field.node.selected_count()).sum()
    }

    /// The wanted field with that id. `next` is where it is if fields come by id, as from most writers.
    #[inline(always)]
    fn find(&self, id: i32, next: &mut usize) -> Option<&FieldNode> {
        while let Some(field) = self.fields.get(*next) {
            if field.id >= id {
                break;
            }
            *next += 1;
        }
        match self.fields.get(*next) {
            Some(field) if field.id == id => {
                *next += 1;
                Some(field)
            }
            _ => self.find_before(id, *next),
        }
    }

    /// The field, if it comes behind one with a larger id.
    #[cold]
    fn find_before(&self, id: i32, next: usize) -> Option<&FieldNode> {
        let before = self.fields.get(next.checked_sub(1)?)?;
        if before.id < id {
            return None;
        }
        let place = self.fields.binary_search_by_key(&id, |field| field.id).ok()?;
        self.fields.get(place)
    }
}

/// The wanted field with that id, if it is one of `coming`, which are by id; those up to it are taken from them.
#[inline(never)]
fn next_of<'n>(id: i32, coming: &mut &'n [FieldNode]) -> Option<&'n FieldNode> {
    while let Some((field, behind)) = coming.split_first().filter(|(field, _)| field.id <= id) {
        *coming = behind;
        if field.id == id {
            return Some(field);
        }
    }
    None
}

#[inline(always)]
fn end_list<'a, P: ProtocolReader<'a>>(at: &mut P, column: &mut Column) -> ProtocolResult<()> {
    column.end_list().map_err(|error| at.input().failed(ProtocolErrorKind::SizeLimit, error))
}

/// Appends a value that is an element, or a field but for a bool that is in its header.
#[inline(always)]
fn single<'a, P: ProtocolReader<'a>>(
    at: &mut P,
    operation: ReadOperation,
    column: &mut Column,
) -> ProtocolResult<()> {
    match operation {
        ReadOperation::Bool => column.push_bool(at.bool()?),
        ReadOperation::Byte => column.push_fixed(at.byte()?.to_le_bytes()),
        ReadOperation::I16 => column.push_fixed(at.i16()?.to_le_bytes()),
        ReadOperation::I32 => column.push_fixed(at.i32()?.to_le_bytes()),
        ReadOperation::I64 => column.push_fixed(at.i64()?.to_le_bytes()),
        ReadOperation::Double => column.push_fixed(at.double()?.to_le_bytes()),
        ReadOperation::Uuid => column.push_fixed(at.input().array::<16>("a uuid")?),
        _ => column.push_bytes(at.string()?),
    }
    Ok(())
}

/// Appends so many elements.
fn singles<'a, P: ProtocolReader<'a>>(
    outer: &mut P,
    operation: ReadOperation,
    count: usize,
    column: &mut Column,
) -> ProtocolResult<()> {
    let mut at = *outer;
    for _ in 0..count {
        single(&mut at, operation, column)?;
    }
    *outer = at;
    Ok(())
}
