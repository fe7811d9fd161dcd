//! When flows end, and what is counted of each.

use super::features::FeatureSet;
use crate::Result;
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};

/// When flows end, how many may be open, and what is counted of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowOptions {
    /// A flow without a packet for more than so many nanoseconds has ended; the next packet begins
    /// another. `None`: never.
    pub idle_timeout: Option<i64>,
    /// A flow that began more than so many nanoseconds before a packet has ended; the packet begins
    /// another.
    /// `None`: never.
    pub active_timeout: Option<i64>,
    /// Open flows at one time, at most 16 million. One more makes a flow end that has had no packet
    /// for long.
    pub max_flows: usize,
    /// Features that are counted of each flow beside its sums.
    pub features: FeatureSet,
}

impl Default for FlowOptions {
    fn default() -> Self {
        FlowOptions {
            idle_timeout: None,
            active_timeout: None,
            max_flows: 1_000_000,
            features: FeatureSet::NONE,
        }
    }
}

impl NamedOptions for FlowOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "idle_timeout",
            kind: OptionKind::Seconds,
            default: "none, and 60 with the command's --interface",
            summary: "Seconds without a packet after which a flow has ended",
        },
        OptionSpec {
            name: "active_timeout",
            kind: OptionKind::Seconds,
            default: "none",
            summary: "Seconds after which a flow has ended, even if it goes on; the rest is another flow",
        },
        OptionSpec {
            name: "max_flows",
            kind: OptionKind::at_least(0),
            default: "1000000",
            summary: "Flows that are open at one time; above it the quietest end early",
        },
        OptionSpec {
            name: "features",
            kind: OptionKind::Choice(FeatureSet::NAMES),
            default: "none",
            summary: "Features of each flow beside its sums and those that fields ask for",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "idle_timeout" => self.idle_timeout = Some(setting.nanoseconds()?),
            "active_timeout" => self.active_timeout = Some(setting.nanoseconds()?),
            "max_flows" => self.max_flows = setting.count()?,
            "features" => self.features = setting.parsed()?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}
