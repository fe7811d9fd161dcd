//! Captures as they are read: a file, a part of one, many side by side, or an interface. This module connects the decoders
//! with the bytes, and hands out packets, frames and columns; `ask` makes answers of them.

mod batch;
mod blocks;
mod capture_options;
mod content;
mod damage_policy;
#[cfg_attr(any(target_family = "wasm", target_feature = "crt-static"), path = "no_device.rs")]
mod device;
mod filter;
mod index;
mod indexed;
mod interfaces;
#[cfg_attr(any(target_family = "wasm", target_feature = "crt-static"), path = "no_libpcap.rs")]
mod libpcap;
mod live;
mod live_interface;
mod live_options;
mod parts;
mod prefetch;
mod reader;
mod records;
mod selection;
mod side_by_side;
mod time_merge;

pub use batch::FrameBatch;
pub use capture_options::CaptureOptions;
pub(crate) use content::ContentHasher;
pub use content::ContentId;
pub use damage_policy::DamagePolicy;
pub(crate) use damage_policy::{damage_of, end_of};
pub use device::live_interfaces;
pub use filter::Filter;
pub use index::{CaptureIndex, IndexState, IndexUse, WantedRecords};
pub use libpcap::LOADS_LIBPCAP;
pub use libpcap::version as libpcap_version;
pub use live::LiveCounts;
pub use live_interface::LiveInterface;
pub use live_options::LiveOptions;
pub use parts::{CapturePart, capture_parts, indexed_parts};
pub use prefetch::{Needs, PrefetchedCaptures};
pub use reader::CaptureReader;
pub use records::CaptureFacts;
pub(crate) use records::{PacketSink, RecordPlace, RecordSource, Stop, StreamRecords};
pub use side_by_side::CaptureList;
pub(crate) use side_by_side::{NextCapture, SideBySide, Task};
