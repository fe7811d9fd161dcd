//! Flows that are asked for.

use crate::flow::{FeatureSet, Flow, FlowField, FlowOptions};
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
    /// The question that settings of [`FlowOptions`] and [`ToldFlows`] make. Whoever gives labels asks for them.
    ///
    /// # Errors
    /// Those of [`Settings::take`].
    pub fn of(settings: &Settings) -> Result<Self> {
        let mut question = FlowQuestion { limits: settings.take()?, told: settings.take()? };
        question.limits.features.labels |= settings.given().any(|(name, _)| name == "label");
        Ok(question)
    }

    /// The features to count: those that are named, and those of the fields that are shown or that flows are chosen by.
    pub fn features(&self, shown: &[FlowField]) -> FeatureSet {
        let places = self.told.condition.iter().flat_map(Condition::places);
        let chosen_by = places.filter_map(|place| FlowField::ALL.get(place));
        self.limits.features.and(FeatureSet::of(shown.iter().chain(chosen_by).copied()))
    }

    /// The fields that are given where none is named: those that every flow has, and the features that are named.
    pub fn default_fields(&self) -> Vec<FlowField> {
        FlowField::counted(self.limits.features)
    }

    /// When flows end, for a store that takes all of them.
    ///
    /// # Errors
    /// `Argument` where only some are to be told, or features are to be counted, which a file does not keep.
    pub fn merged(&self) -> Result<FlowOptions> {
        let found = match (&self.told.condition, self.limits.features.is_empty()) {
            (None, true) => return Ok(self.limits),
            (Some(_), _) => "no condition on flows that are merged into a file, found where",
            (None, false) => "no features of flows that are merged into a file, found features",
        };
        Err(Error::new(ErrorKind::Argument, format!("expected {found}")))
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
