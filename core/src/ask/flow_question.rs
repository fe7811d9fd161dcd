//! Flows that are asked for.

use crate::flow::{Flow, FlowField, FlowOptions};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, Settings, not_in_table};
use crate::query::Condition;
use crate::{Error, ErrorKind, Result};

/// Flows that are asked for: their ends, and the choice among them.
#[derive(Debug, Clone, Default)]
pub struct FlowQuestion {
    /// Their ends.
    pub limits: FlowOptions,
    /// The choice among them.
    pub told: ToldFlows,
}

impl FlowQuestion {
    /// The question that settings of [`FlowOptions`] and [`ToldFlows`] make.
    ///
    /// # Errors
    /// Those of [`Settings::take`].
    pub fn of(settings: &Settings) -> Result<Self> {
        Ok(FlowQuestion { limits: settings.take()?, told: settings.take()? })
    }

    /// When flows end, for a store that takes all of them.
    ///
    /// # Errors
    /// `Argument` where only some are to be told.
    pub fn merged(&self) -> Result<FlowOptions> {
        match self.told.condition {
            None => Ok(self.limits),
            Some(_) => {
                let message =
                    "expected no condition on flows that are merged into a file, found where";
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }
}

impl From<FlowOptions> for FlowQuestion {
    fn from(limits: FlowOptions) -> Self {
        FlowQuestion { limits, told: ToldFlows::default() }
    }
}

/// The flows that are told, of all that end.
#[derive(Debug, Clone, Default)]
pub struct ToldFlows {
    /// The condition that flows meet, over the fields of [`FlowField::SCHEMA`].
    pub condition: Option<Condition>,
}

impl ToldFlows {
    /// Leaves out the flows that are not told.
    pub(super) fn retain(&self, flows: &mut Vec<Flow>) {
        if let Some(condition) = &self.condition {
            flows.retain(|flow| condition.holds(|place| flow.value_at(place)));
        }
    }
}

impl NamedOptions for ToldFlows {
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "where",
        kind: OptionKind::Text,
        default: "all",
        summary: "A condition on flows, in the words of the command's --where; others are left out",
    }];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "where" => {
                self.condition = Some(Condition::new(&setting.text()?, &FlowField::SCHEMA)?);
            }
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}
