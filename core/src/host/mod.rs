//! Shared code of all host languages: passes over captures on their own thread, with their waits, interrupts and ends;
//! tables that threads share in turns, and Tokyo Cabinet's databases over them; readers and writers as steps. A face adds
//! the interface of its language, converts values, and implements [`Host`], [`TurnHost`] and [`StreamHost`].

pub mod adb;
mod asked;
mod background;
mod call_bytes;
mod capture;
mod capture_writer;
mod failure;
mod flow_log;
mod flow_table;
mod held_packet;
mod kept_damage;
mod live;
mod messages;
mod packet_details;
mod pass;
mod pass_host;
mod reader;
mod report;
mod rows;
mod side_by_side;
mod stream_host;
pub mod table;
mod turn;
mod writer;

pub use asked::Asked;
pub use background::{Background, BackgroundEvent, HostSource, Outlet};
pub use call_bytes::{call_of_bytes, call_to_bytes};
pub use capture::Capture;
pub use capture_writer::CaptureWriter;
pub use failure::{Failure, Outcome, guard};
pub use flow_log::OpenFlowLog;
pub use flow_table::FlowTableFile;
pub use held_packet::HeldPacket;
pub use messages::{MessageRows, MessageSource, Messages};
pub use packet_details::PacketDetails;
pub use pass::{Item, Pass};
pub use pass_host::{Blocking, Host};
pub use reader::{DIRECT_MIN, Destination, HostReader, Operation, ReaderOptions, record_schema};
pub use report::OpenReport;
pub use rows::{CaptureSource, RowStep, Rows};
pub use stream_host::{StreamHost, Whence};
pub use turn::{SingleCaller, Taken, Turn, TurnHost};
pub use writer::{GATHERED_MAX, HostWriter};
