//! Facts about a capture as a row, which all faces print and convert.

use super::CaptureInfo;
use crate::batch::schema::record_fields;
use crate::batch::{Batch, DataType, Value, damage, json};
use crate::packet::LinkType;
use crate::wire::Endian;

record_fields! { "Facts about a capture." "captures" InfoField {
    File "file" required DataType::Text, "The file, or what stands for it.";
    Format "format" required DataType::Text, "`pcap` or `pcapng`.";
    Version "version" required DataType::Text, "Version of the format, major and minor.";
    ByteOrder "byte_order" required DataType::Text, "`little` or `big`; of the last section.";
    Compression "compression" required DataType::Text, "`none`, `gzip` or `zstd`.";
    FileBytes "file_bytes" required DataType::U64, "Bytes of the file.";
    ContentBytes "content_bytes" required DataType::U64, "Bytes once decompressed.";
    Packets "packets" required DataType::U64, "Packets.";
    Bytes "bytes" required DataType::U64, "Bytes of the packets on the wire.";
    CapturedBytes "captured_bytes" required DataType::U64, "Bytes of the packets in the capture.";
    FirstTs "first_ts" optional DataType::TimeNs, "Earliest time, nanoseconds since 1970-01-01 00:00 UTC.";
    LastTs "last_ts" optional DataType::TimeNs, "Latest time.";
    PacketsPerSecond "packets_per_second" optional DataType::Double, "Packets by the time from the first to the last; null where that is 0.";
    BytesPerSecond "bytes_per_second" optional DataType::Double, "Bytes on the wire by the same time; null where that is 0.";
    Sections "sections" required DataType::U64, "Sections of a pcapng file; 1 for pcap.";
    Interfaces "interfaces" required DataType::Json, "Interfaces of the last section: link type, its name, snaplen, unit of time.";
    ContentId "content_id" required DataType::Text, "Fingerprint of its packets, by which stores count it once; the same whatever name, compression and format.";
    Sha256 "sha256" optional DataType::Text, "SHA-256 of the file, hexadecimal; null where `hash` does not ask for it.";
    LinkTypes "link_types" required DataType::Json, "Packets of each link type: its number, its name, how many.";
    Damage "damage" optional DataType::Json, "Damage that ended reading before the end of the file; null where it did not.";
} }

record_fields! { "Facts about an interface of a capture." "interfaces" InterfaceField {
    LinkType "link_type" required DataType::U16, "Link-layer type of its frames (LINKTYPE_ number, 1 Ethernet).";
    LinkTypeName "link_type_name" optional DataType::Text, "The name of that; null where it has none here.";
    Snaplen "snaplen" required DataType::U32, "Bytes that frames are cut at; 0 where they are not.";
    TimeUnit "time_unit" required DataType::Text, "The unit of its times.";
    Name "name" optional DataType::Text, "Its name; null where the file keeps none.";
} }

record_fields! { "Number of packets of a link type." "link_types" LinkTypeField {
    LinkType "link_type" required DataType::U16, "Link-layer type (LINKTYPE_ number, 1 Ethernet).";
    Name "name" optional DataType::Text, "Its name; null where it has none here.";
    Packets "packets" required DataType::U64, "Packets of that type.";
} }

impl CaptureInfo {
    /// All of it as one row of [`InfoField::SCHEMA`].
    pub fn to_batch(&self) -> Batch {
        let version = format!("{}.{}", self.version.0, self.version.1);
        let compression = self.compression.to_string();
        let (interfaces, link_types) =
            (array(&self.interface_rows()), array(&self.link_type_rows()));
        let damage = damage::as_json(self.damage.as_ref());
        let content_id = self.content_id.to_string();
        let sha256 = self.sha256_text();
        let value = |field: &InfoField| match field {
            InfoField::File => Value::Text(&self.file),
            InfoField::Format => self.format.name().into(),
            InfoField::Version => Value::Text(&version),
            InfoField::ByteOrder => self.byte_order_name().into(),
            InfoField::Compression => Value::Text(&compression),
            InfoField::FileBytes => self.file_bytes.into(),
            InfoField::ContentBytes => self.content_bytes.into(),
            InfoField::Packets => self.packets.into(),
            InfoField::Bytes => self.bytes.into(),
            InfoField::CapturedBytes => self.captured_bytes.into(),
            InfoField::FirstTs => self.first_ts.map_or(Value::Null, Value::Time),
            InfoField::LastTs => self.last_ts.map_or(Value::Null, Value::Time),
            InfoField::PacketsPerSecond => self.per_second(self.packets).into(),
            InfoField::BytesPerSecond => self.per_second(self.bytes).into(),
            InfoField::Sections => self.sections.into(),
            InfoField::Interfaces => Value::Json(&interfaces),
            InfoField::ContentId => Value::Text(&content_id),
            InfoField::Sha256 => sha256.as_deref().into(),
            InfoField::LinkTypes => Value::Json(&link_types),
            InfoField::Damage => damage.as_deref().map_or(Value::Null, Value::Json),
        };
        let mut batch = Batch::new(InfoField::SCHEMA);
        batch.push_row(|place| InfoField::ALL.get(place).map_or(Value::Null, value));
        batch
    }

    /// The SHA-256 of the file in hexadecimal digits, where it was asked for.
    pub fn sha256_text(&self) -> Option<String> {
        self.sha256.map(|hash| hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Divides `count` by the seconds from the earliest to the latest time; returns None if these are equal or unknown.
    pub fn per_second(&self, count: u64) -> Option<f64> {
        let nanoseconds = self.last_ts?.abs_diff(self.first_ts?);
        (nanoseconds > 0).then(|| count as f64 * 1e9 / nanoseconds as f64)
    }

    /// The interfaces, a row of [`InterfaceField::SCHEMA`] each.
    pub fn interface_rows(&self) -> Batch {
        let mut batch = Batch::new(InterfaceField::SCHEMA);
        for interface in &self.interfaces {
            let unit = interface.clock.unit.to_string();
            let value = |field: &InterfaceField| match field {
                InterfaceField::LinkType => interface.link_type.into(),
                InterfaceField::LinkTypeName => LinkType(interface.link_type).name().into(),
                InterfaceField::Snaplen => interface.snaplen.into(),
                InterfaceField::TimeUnit => Value::Text(&unit),
                InterfaceField::Name => interface.name.as_deref().into(),
            };
            batch.push_row(|place| InterfaceField::ALL.get(place).map_or(Value::Null, value));
        }
        batch
    }

    /// The link types, a row of [`LinkTypeField::SCHEMA`] each.
    pub fn link_type_rows(&self) -> Batch {
        let mut batch = Batch::new(LinkTypeField::SCHEMA);
        for (link_type, packets) in &self.link_types {
            let value = |field: &LinkTypeField| match field {
                LinkTypeField::LinkType => link_type.0.into(),
                LinkTypeField::Name => link_type.name().into(),
                LinkTypeField::Packets => (*packets).into(),
            };
            batch.push_row(|place| LinkTypeField::ALL.get(place).map_or(Value::Null, value));
        }
        batch
    }

    /// `little` or `big`.
    pub fn byte_order_name(&self) -> &'static str {
        match self.byte_order {
            Endian::Little => "little",
            Endian::Big => "big",
        }
    }
}

fn array(rows: &Batch) -> String {
    let mut text = Vec::new();
    json::array(&mut text, rows);
    String::from_utf8(text).unwrap_or_default()
}
