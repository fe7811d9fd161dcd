//! Names that stand for a field of either side of a packet or flow.

use crate::batch::Schema;

/// The names, as in libpcap's expressions.
const EITHER: [(&str, [&str; 2]); 2] =
    [("host", ["src_ip", "dst_ip"]), ("port", ["src_port", "dst_port"])];

/// The places of the source's and the destination's field; none where the name or the schema has none.
pub(super) fn sides(schema: &Schema, name: &str) -> Option<[usize; 2]> {
    let (_, [source, destination]) = EITHER.iter().find(|(either, _)| *either == name)?;
    Some([schema.find(source)?, schema.find(destination)?])
}
