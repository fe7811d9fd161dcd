//! Network interfaces as rows.

use std::net::IpAddr;

use crate::batch::schema::record_fields;
use crate::batch::{Batch, DataType, Value};
use crate::input::LiveInterface;

record_fields! { "Facts about a network interface." "interfaces" LiveInterfaceField {
    Name "name" required DataType::Text, "Its name, as --interface takes it.";
    State "state" required DataType::Text, "`connected`, `disconnected` (no cable, no station), `up` or `down`.";
    Kind "kind" optional DataType::Text, "`loopback` or `wireless`; null for others.";
    Addresses "addresses" optional DataType::Text, "Addresses of IPv4 and IPv6, with commas between them; null where it has none.";
    Description "description" optional DataType::Text, "Sentence of the system about it; null where it has none.";
} }

impl LiveInterface {
    /// Interfaces as rows of [`LiveInterfaceField::SCHEMA`].
    pub fn to_batch(interfaces: &[LiveInterface]) -> Batch {
        let mut batch = Batch::new(LiveInterfaceField::SCHEMA);
        for interface in interfaces {
            let addresses: Vec<_> = interface.addresses.iter().map(IpAddr::to_string).collect();
            let addresses = addresses.join(",");
            let value = |field: &LiveInterfaceField| match field {
                LiveInterfaceField::Name => Value::Text(&interface.name),
                LiveInterfaceField::State => interface.state().into(),
                LiveInterfaceField::Kind => interface.kind().into(),
                LiveInterfaceField::Addresses if addresses.is_empty() => Value::Null,
                LiveInterfaceField::Addresses => Value::Text(&addresses),
                LiveInterfaceField::Description => interface.description.as_deref().into(),
            };
            batch.push_row(|place| LiveInterfaceField::ALL.get(place).map_or(Value::Null, value));
        }
        batch
    }
}
