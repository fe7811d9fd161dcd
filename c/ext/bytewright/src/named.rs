//! Options by name, beside the fields of the structs of options or instead of them.

use bytewright::Result;
use bytewright::options::{NamedOptions, OptionSpec, Settings};

use crate::text::bw_names;

/// Fills options by what `named` says, as `name=value`, of one of their table.
///
/// # Safety
/// `named` is none or has texts.
pub(crate) unsafe fn fill<O: NamedOptions>(
    options: &mut O,
    table: &'static [&'static [OptionSpec]],
    named: Option<&bw_names>,
) -> Result<()> {
    let mut settings = Settings::of(table);
    // SAFETY: the caller's promise.
    settings.give_named(&unsafe { bw_names::texts(named) }?)?;
    settings.fill(options)
}
