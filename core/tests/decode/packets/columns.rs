//! Columns hold what packets hold.

use bytewright::batch::Value;
use bytewright::packet::{DecodeOptions, Field, FrameMeta, LinkType, Packet, PacketColumns};

use crate::generate::{Random, frame, seeds};

fn random_packets(random: &mut Random, count: usize) -> Vec<Packet> {
    let packet = |random: &mut Random, number| {
        let frame = frame::random(random);
        let link_type = LinkType(frame.link_type);
        let ts = (!random.once_in(4)).then(|| random.next() as i64);
        let meta = FrameMeta { number, ts, length: frame.length, link_type };
        Packet::decode(
            meta,
            &frame.captured,
            DecodeOptions { inner: random.once_in(2), ..DecodeOptions::default() },
        )
    };
    (1..=count as u64).map(|number| packet(random, number)).collect()
}

#[test]
fn columns_of_batches_of_any_size_hold_the_values_of_the_packets() {
    seeds(150, |random| {
        let count = random.below(120);
        let packets = random_packets(random, count);
        let mut columns = PacketColumns::new(Field::ALL);
        let mut rest = packets.as_slice();
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(rest.len().min(random.below(20)));
            columns.extend(batch);
            rest = later;
        }
        holds(&columns, &packets);
        columns.clear();
        assert!(columns.is_empty());
        columns.extend(&packets);
        holds(&columns, &packets);
    });
}

/// Compares by the getters and, as a program in another language would, by the packed bytes.
fn holds(columns: &PacketColumns, packets: &[Packet]) {
    assert_eq!(columns.len(), packets.len());
    assert_eq!(columns.fields(), Field::ALL);
    assert_eq!(*columns.batch().schema(), Field::SCHEMA);
    for (column, field) in columns.batch().columns().iter().zip(Field::ALL) {
        if !field.is_in_packet() {
            assert_eq!(column.null_count(), packets.len(), "{field:?} is read from frames only");
            continue;
        }
        let width = field.data_type().width().expect("a fixed width");
        assert_eq!(column.values().len(), packets.len() * width);
        assert_eq!(column.validity().len(), packets.len().div_ceil(8));
        let mut nulls = 0;
        for (row, packet) in packets.iter().enumerate() {
            let is_valid = column.validity()[row / 8] >> (row % 8) & 1 == 1;
            assert_eq!(is_valid, packet.has(*field), "{field:?} of row {row}");
            nulls += usize::from(!is_valid);
            assert_eq!(column.value(row), in_a_column(packet, *field), "{field:?} of row {row}");
            if let Value::Unsigned(value) = packet.value(*field) {
                let bytes = &column.values()[row * width..(row + 1) * width];
                assert_eq!(bytes, &value.to_le_bytes()[..width]);
            }
        }
        assert_eq!(column.null_count(), nulls);
        assert_eq!(column.value(packets.len()), Value::Null, "past the end");
        let last = column.validity().last().copied().unwrap_or_default();
        let used = packets.len() % 8;
        assert!(used == 0 || last >> used == 0, "{field:?}: the bits behind the last row are 0");
    }
}

/// A column keeps both versions of IP in one form, in which `::ffff:a.b.c.d` is IPv4.
fn in_a_column(packet: &Packet, field: Field) -> Value<'static> {
    match packet.value(field) {
        Value::Address(address) => Value::Address(address.to_canonical()),
        value => value,
    }
}

#[test]
fn a_column_is_found_by_its_field_and_only_if_it_was_asked_for() {
    let columns = PacketColumns::new(&[Field::Ttl, Field::Ts]);
    assert!(columns.column(Field::Ts).is_some());
    assert!(columns.column(Field::Vlan).is_none());
    assert_eq!(columns.fields(), [Field::Ttl, Field::Ts]);
    assert_eq!(columns.batch().schema().fields()[0].name(), "ttl");
}

#[test]
fn every_field_is_found_by_its_name() {
    for field in Field::ALL {
        assert_eq!(Field::named(field.name()).ok(), Some(*field));
    }
    assert!(Field::named("nothing").is_err());
    assert!(Field::DEFAULT.iter().all(|field| Field::ALL.contains(field)));
}
