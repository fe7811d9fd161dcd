//! What every host language needs, and none should write: passes over captures on a thread of their own, and how they
//! wait, are interrupted and end. A face says things its language's way, converts values, and implements [`Host`].

mod background;
mod capture;
mod flows;
mod held_packet;
mod host;
mod pass;

pub use background::{Background, Event, HostSource, Outlet};
pub use capture::Capture;
pub use flows::{FlowTableFile, OpenFlows};
pub use held_packet::HeldPacket;
pub use host::{Blocking, Host};
pub use pass::{Item, Pass};
