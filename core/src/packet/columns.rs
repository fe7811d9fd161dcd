//! Packets as columns: one packed array of values per field, with a bit per row that says whether
//! the value is there. The layout is Arrow's: little-endian values, validity bits from the least
//! significant, 1 for a value, 0 for null (<https://arrow.apache.org/docs/format/Columnar.html>).

use std::net::{IpAddr, Ipv6Addr};

use super::{Field, FieldSet, FieldType, Packet, Value};

/// Packets that are spread over the columns at once: few enough to stay in the first-level cache
/// while one column after another is taken from them.
const BLOCK_ROWS: usize = 128;

/// A batch of packets, one column per field, all of the same number of rows.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    rows: usize,
    columns: Vec<Column>,
}

impl Columns {
    /// No rows yet of `fields`, in that order.
    pub fn new(fields: &[Field]) -> Self {
        Columns { rows: 0, columns: fields.iter().map(|field| Column::new(*field)).collect() }
    }

    /// Makes room for that many rows in all.
    pub fn reserve(&mut self, rows: usize) {
        let more = rows.saturating_sub(self.rows);
        for column in &mut self.columns {
            column.values.reserve(more * column.field.field_type().width());
            column.validity.reserve(more.div_ceil(8));
        }
    }

    /// Appends one row per packet.
    pub fn extend(&mut self, packets: &[Packet]) {
        for block in packets.chunks(BLOCK_ROWS) {
            self.extend_block(block);
        }
    }

    /// Appends one row for each of at most [`BLOCK_ROWS`] packets.
    fn extend_block(&mut self, block: &[Packet]) {
        let mut present = [0; BLOCK_ROWS];
        for (bits, packet) in present.iter_mut().zip(block) {
            *bits = packet.present.0;
        }
        let present = present.get(..block.len()).unwrap_or_default();
        let anywhere = FieldSet(present.iter().fold(0, |all, bits| all | bits));
        let everywhere = FieldSet(present.iter().fold(u32::MAX, |all, bits| all & bits));
        for column in &mut self.columns {
            let field = column.field;
            if self.rows.is_multiple_of(8) && everywhere.contains(field) {
                column.extend_validity_with(0xff, block.len());
            } else if self.rows.is_multiple_of(8) && !anywhere.contains(field) {
                column.extend_validity_with(0, block.len());
            } else {
                column.extend_validity(self.rows, present);
            }
            column.extend(block);
        }
        self.rows += block.len();
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            column.values.clear();
            column.validity.clear();
            column.null_count = 0;
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Bytes of memory that the columns hold, used or not.
    pub fn memory_bytes(&self) -> usize {
        self.columns.iter().map(|c| c.values.capacity() + c.validity.capacity()).sum()
    }

    /// The columns, in the order of the fields they were made for.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of `field`.
    pub fn column(&self, field: Field) -> Option<&Column> {
        self.columns.iter().find(|column| column.field == field)
    }
}

/// The values of one field.
#[derive(Debug, Clone)]
pub struct Column {
    field: Field,
    values: Vec<u8>,
    validity: Vec<u8>,
    null_count: usize,
}

impl Column {
    fn new(field: Field) -> Self {
        Column { field, values: Vec::new(), validity: Vec::new(), null_count: 0 }
    }

    /// The field whose values these are.
    pub fn field(&self) -> Field {
        self.field
    }

    /// The values, packed little-endian, [`FieldType::width`] bytes each. A null takes its place
    /// with bytes that mean nothing.
    pub fn values(&self) -> &[u8] {
        &self.values
    }

    /// One bit per row: bit `row % 8` of byte `row / 8` is 1 where there is a value.
    pub fn validity(&self) -> &[u8] {
        &self.validity
    }

    /// Rows without a value.
    pub fn null_count(&self) -> usize {
        self.null_count
    }

    /// The value in `row`, null past the end. An address that an IPv6 packet wrote as
    /// `::ffff:a.b.c.d` is IPv4 here: the column's bytes do not tell the two apart.
    pub fn value(&self, row: usize) -> Value {
        let is_valid = self.validity.get(row / 8).is_some_and(|bits| bits >> (row % 8) & 1 == 1);
        let width = self.field.field_type().width();
        let bytes = self.values.get(row * width..).and_then(|rest| rest.get(..width));
        match bytes {
            Some(bytes) if is_valid => decode(self.field.field_type(), bytes),
            _ => Value::Null,
        }
    }

    fn extend(&mut self, packets: &[Packet]) {
        match self.field {
            Field::Ts => self.pack(packets, |p| p.ts.to_le_bytes()),
            Field::SrcIp => self.pack(packets, |p| p.src_ip),
            Field::DstIp => self.pack(packets, |p| p.dst_ip),
            Field::ArpSrcIp => self.pack(packets, |p| mapped(p.arp_src_ip)),
            Field::ArpDstIp => self.pack(packets, |p| mapped(p.arp_dst_ip)),
            Field::Number => self.pack(packets, |p| p.number.to_le_bytes()),
            Field::Length => self.pack(packets, |p| p.length.to_le_bytes()),
            Field::Caplen => self.pack(packets, |p| p.caplen.to_le_bytes()),
            Field::PayloadLen => self.pack(packets, |p| p.payload_len.to_le_bytes()),
            Field::IpLen => self.pack(packets, |p| p.ip_len.to_le_bytes()),
            Field::Seq => self.pack(packets, |p| p.seq.to_le_bytes()),
            Field::Ack => self.pack(packets, |p| p.ack.to_le_bytes()),
            Field::SrcPort => self.pack(packets, |p| p.src_port.to_le_bytes()),
            Field::DstPort => self.pack(packets, |p| p.dst_port.to_le_bytes()),
            Field::Vlan => self.pack(packets, |p| p.vlan.to_le_bytes()),
            Field::TcpFlags => self.pack(packets, |p| p.tcp_flags.to_le_bytes()),
            Field::Status => self.pack(packets, |p| p.status.0.to_le_bytes()),
            Field::LinkType => self.pack(packets, |p| p.link_type.to_le_bytes()),
            Field::Ethertype => self.pack(packets, |p| p.ethertype.to_le_bytes()),
            Field::FragOffset => self.pack(packets, |p| p.frag_offset.to_le_bytes()),
            Field::ArpOp => self.pack(packets, |p| p.arp_op.to_le_bytes()),
            Field::Proto => self.pack(packets, |p| [p.proto]),
            Field::Ttl => self.pack(packets, |p| [p.ttl]),
            Field::IpVersion => self.pack(packets, |p| [p.ip_version]),
            Field::IcmpType => self.pack(packets, |p| [p.icmp_type]),
            Field::IcmpCode => self.pack(packets, |p| [p.icmp_code]),
        }
    }

    /// Appends `value` of each packet. The loop has no branch, which is why nulls are packed too.
    #[inline]
    fn pack<const N: usize>(&mut self, packets: &[Packet], value: impl Fn(&Packet) -> [u8; N]) {
        let start = self.values.len();
        self.values.resize(start + packets.len() * N, 0);
        let (slots, _) = self.values.get_mut(start..).unwrap_or_default().as_chunks_mut::<N>();
        // Eight at a time, so that the loop costs little beside the copying.
        let (slot_groups, slots) = slots.as_chunks_mut::<8>();
        let (packet_groups, packets) = packets.as_chunks::<8>();
        for (slots, packets) in slot_groups.iter_mut().zip(packet_groups) {
            for (slot, packet) in slots.iter_mut().zip(packets) {
                *slot = value(packet);
            }
        }
        for (slot, packet) in slots.iter_mut().zip(packets) {
            *slot = value(packet);
        }
    }

    /// Appends a validity bit per packet to `rows` of them; `present` holds the packets' fields.
    fn extend_validity(&mut self, rows: usize, present: &[u32]) {
        let bit = self.field as u32;
        let valid = |fields: &u32| (fields >> bit & 1) as u8;
        let (head, aligned) = present.split_at(present.len().min(rows.wrapping_neg() % 8));
        for (at, fields) in (rows..).zip(head) {
            if let Some(last) = self.validity.last_mut() {
                *last |= valid(fields) << (at % 8);
            }
        }
        let (eights, tail) = aligned.as_chunks::<8>();
        let gathered =
            |fields: &[u32]| fields.iter().rev().fold(0, |bits, fields| bits << 1 | valid(fields));
        self.validity.extend(eights.iter().map(|eight| gathered(eight)));
        if !tail.is_empty() {
            self.validity.push(gathered(tail));
        }
        let valid_count = present.iter().fold(0, |count, fields| count + (fields >> bit & 1));
        self.null_count += present.len() - valid_count as usize;
    }

    /// Appends the same validity for `rows` packets, at a whole byte: all bits set, or none.
    fn extend_validity_with(&mut self, bits: u8, rows: usize) {
        self.validity.resize(self.validity.len() + rows.div_ceil(8), bits);
        if let Some(last) = self.validity.last_mut()
            && !rows.is_multiple_of(8)
        {
            *last &= (1 << (rows % 8)) - 1;
        }
        self.null_count += if bits == 0 { rows } else { 0 };
    }
}

fn mapped(address: [u8; 4]) -> [u8; 16] {
    std::net::Ipv4Addr::from(address).to_ipv6_mapped().octets()
}

/// The number of up to 8 little-endian bytes.
fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn decode(kind: FieldType, bytes: &[u8]) -> Value {
    match kind {
        FieldType::Address => {
            let octets = bytes.first_chunk::<16>().copied().unwrap_or_default();
            let address = Ipv6Addr::from(octets);
            Value::Address(address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4))
        }
        FieldType::I64 => Value::Signed(unsigned(bytes) as i64),
        _ => Value::Unsigned(unsigned(bytes)),
    }
}
