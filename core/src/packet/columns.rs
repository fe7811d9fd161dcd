//! Packets into the columns of a batch, by blocks.

use super::{Field, FieldSet, Frame, Packet};
use crate::batch::{Batch, Column, Value, mapped};

/// Packets that are spread over the columns at once: few enough to stay in the first-level cache
/// while one column after another is taken from them.
const BLOCK_ROWS: usize = 128;

/// A batch that is filled with packets, a column for each of some fields.
#[derive(Debug, Clone)]
pub struct PacketColumns {
    fields: Vec<Field>,
    batch: Batch,
    /// Packets whose rows are not in the batch yet.
    waiting: Vec<Packet>,
    /// Of the same packets, the values of those fields that no packet holds; of others, nothing.
    waiting_values: Vec<Column>,
}

impl PacketColumns {
    /// No rows yet of `fields`, in that order.
    pub fn new(fields: &[Field]) -> Self {
        let schema = Field::SCHEMA.project(fields.iter().map(|field| *field as usize));
        let waiting_values = fields.iter().map(|field| Column::new(field.data_type())).collect();
        let batch = Batch::new(schema);
        PacketColumns { fields: fields.to_vec(), batch, waiting: Vec::new(), waiting_values }
    }

    /// The fields whose columns it has, in their order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The rows.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Returns true if one of the fields is read from frames: no packet holds it.
    pub(crate) fn needs_frames(&self) -> bool {
        !self.fields.iter().all(|field| field.is_in_packet())
    }

    /// Takes the rows out with the memory that holds them.
    #[must_use]
    pub fn take(&mut self) -> Batch {
        self.flush();
        self.batch.take()
    }

    /// The column of `field`.
    pub fn column(&self, field: Field) -> Option<&Column> {
        let place = self.fields.iter().position(|known| *known == field)?;
        self.batch.columns().get(place)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.batch.len() + self.waiting.len()
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.forget_waiting();
        self.batch.clear();
    }

    /// Makes room for that many rows in all.
    pub fn reserve(&mut self, rows: usize) {
        self.batch.reserve(rows);
    }

    /// Appends one row per packet; fields that are read from frames are null.
    pub fn extend(&mut self, packets: &[Packet]) {
        self.flush();
        for block in packets.chunks(BLOCK_ROWS) {
            self.extend_block(block);
        }
    }

    /// Appends the row of a frame. It is in [`PacketColumns::batch`] after [`PacketColumns::flush`].
    pub fn push(&mut self, frame: &Frame<'_>) {
        for (field, column) in self.fields.iter().zip(&mut self.waiting_values) {
            if !field.is_in_packet() {
                column.push(frame.value(*field));
            }
        }
        self.waiting.push(*frame.packet());
        if self.waiting.len() == BLOCK_ROWS {
            self.flush();
        }
    }

    /// Spreads the rows that wait over the columns.
    pub fn flush(&mut self) {
        if !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            self.extend_block(&waiting);
            self.waiting = waiting;
            self.forget_waiting();
        }
    }

    fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.waiting_values.iter_mut().for_each(Column::clear);
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
        let (fields, values) = (&self.fields, &self.waiting_values);
        self.batch.extend(block.len(), |place, column| {
            let Some(field) = fields.get(place).copied() else { return };
            if !field.is_in_packet() {
                // Beyond what waits, values are null.
                let values = values.get(place);
                let value = |row| values.map_or(Value::Null, |values| values.value(row));
                return (0..block.len()).for_each(|row| column.push(value(row)));
            }
            if everywhere.contains(field) {
                column.extend_validity_with(true, block.len());
            } else if !anywhere.contains(field) {
                column.extend_validity_with(false, block.len());
            } else {
                column.extend_validity_from(present, field as u32);
            }
            extend_values(column, field, block);
        });
    }
}

/// Appends the value that each packet has, or would have, of a field.
fn extend_values(column: &mut Column, field: Field, packets: &[Packet]) {
    match field {
        Field::Ts => column.extend_values(packets, |p| p.ts.to_le_bytes()),
        Field::SrcIp => column.extend_values(packets, |p| p.src_ip),
        Field::DstIp => column.extend_values(packets, |p| p.dst_ip),
        Field::ArpSrcIp => column.extend_values(packets, |p| mapped(p.arp_src_ip.into())),
        Field::ArpDstIp => column.extend_values(packets, |p| mapped(p.arp_dst_ip.into())),
        Field::Number => column.extend_values(packets, |p| p.number.to_le_bytes()),
        Field::Length => column.extend_values(packets, |p| p.length.to_le_bytes()),
        Field::Caplen => column.extend_values(packets, |p| p.caplen.to_le_bytes()),
        Field::PayloadLen => column.extend_values(packets, |p| p.payload_len.to_le_bytes()),
        Field::IpLen => column.extend_values(packets, |p| p.ip_len.to_le_bytes()),
        Field::Seq => column.extend_values(packets, |p| p.seq.to_le_bytes()),
        Field::Ack => column.extend_values(packets, |p| p.ack.to_le_bytes()),
        Field::SrcPort => column.extend_values(packets, |p| p.src_port.to_le_bytes()),
        Field::DstPort => column.extend_values(packets, |p| p.dst_port.to_le_bytes()),
        Field::Vlan => column.extend_values(packets, |p| p.vlan.to_le_bytes()),
        Field::TcpFlags => column.extend_values(packets, |p| p.tcp_flags.to_le_bytes()),
        Field::Status => column.extend_values(packets, |p| p.status.0.to_le_bytes()),
        Field::LinkType => column.extend_values(packets, |p| p.link_type.to_le_bytes()),
        Field::Ethertype => column.extend_values(packets, |p| p.ethertype.to_le_bytes()),
        Field::FragOffset => column.extend_values(packets, |p| p.frag_offset.to_le_bytes()),
        Field::ArpOp => column.extend_values(packets, |p| p.arp_op.to_le_bytes()),
        Field::Proto => column.extend_values(packets, |p| [p.proto]),
        Field::Ttl => column.extend_values(packets, |p| [p.ttl]),
        Field::IpVersion => column.extend_values(packets, |p| [p.ip_version]),
        Field::IcmpType => column.extend_values(packets, |p| [p.icmp_type]),
        Field::IcmpCode => column.extend_values(packets, |p| [p.icmp_code]),
        // No packet holds the others.
        _ => debug_assert!(!field.is_in_packet(), "{field:?}"),
    }
}
