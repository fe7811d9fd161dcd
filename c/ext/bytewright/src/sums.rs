//! Packets added up by group.

use std::ffi::c_char;

use bytewright::Result;
use bytewright::ask::{Question, SumOptions};
use bytewright::options::NamedOptions;
use bytewright::packet::Field;
use bytewright::query::{Condition, GroupBy};

use crate::batch::bw_batch;
use crate::capture::{Call, bw_capture, owned};
use crate::error::{bw_error, bw_status};
use crate::named;
use crate::sized_struct::{self, sized_struct};
use crate::text::{bw_names, text_or_none};

/// Fields that are added up, and their groups. Initialize it with `BW_SUM_OPTIONS_INIT`, and change what you need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_sum_options {
    /// Bytes of the struct, which `BW_SUM_OPTIONS_INIT` sets.
    pub size: usize,
    /// Fields whose values make a group.
    pub by: bw_names,
    /// Fields that hold numbers, which are added up.
    pub fields: bw_names,
    /// Seconds of an interval, by which the groups are divided, too; 0 for none.
    pub every: f64,
    /// The number of groups, the largest first; 0 for all.
    pub top: u64,
    /// A condition that packets must meet ("dst_port == 443 and length > 100"); null for all packets.
    pub r#where: *const c_char,
    /// Options by name, as "name=value": those of adding packets up in docs/options.md. They count over the fields above, and
    /// "by=FIELD" stands once for each field.
    pub named: bw_names,
}

sized_struct!(bw_sum_options { by, fields, every, top, r#where, named } + {});

impl bw_sum_options {
    /// # Safety
    /// `options` is initialized and has texts.
    unsafe fn of_core(options: *const bw_sum_options) -> Result<(Call, Question)> {
        let mut found = SumOptions::default();
        // SAFETY: the caller's promise.
        let Some(options) = unsafe { sized_struct::copied(options) }? else {
            return Ok((Call::Question("sums", Vec::new()), found.question::<&str>(&[])?));
        };
        // SAFETY: the caller's promise.
        let (by, fields, condition, named) = unsafe {
            (
                bw_names::texts(Some(&options.by))?,
                bw_names::texts(Some(&options.fields))?,
                text_or_none(options.r#where, "a condition")?,
                bw_names::texts(Some(&options.named))?,
            )
        };
        let numbers = vec![options.every.to_bits().to_string(), options.top.to_string()];
        let condition_words = condition.map(str::to_owned).into_iter().collect();
        let words = vec![owned(&by), owned(&fields), numbers, condition_words, owned(&named)];
        found.by = by.into_iter().map(str::to_owned).collect();
        found.every =
            (options.every != 0.0).then(|| GroupBy::interval_ns(options.every)).transpose()?;
        found.top = (options.top > 0).then(|| usize::try_from(options.top).unwrap_or(usize::MAX));
        found.condition = condition.map(|text| Condition::new(text, &Field::SCHEMA)).transpose()?;
        // SAFETY: the caller's promise.
        unsafe { named::fill(&mut found, &[SumOptions::OPTIONS], Some(&options.named)) }?;
        Ok((Call::Question("sums", words), found.question(&fields)?))
    }
}

/// Adds packets up by group: a batch with a row for each group, the largest first. Its columns are the beginning of the
/// interval (`ts`) where there are intervals, the fields of `by`, `packets`, and the fields that are added up; the last one,
/// `groups`, is above 1 in the row of the groups that were too many to be told apart. Free the batch with `bw_batch_free`.
///
/// # Safety
/// `options` is initialized and has texts, `out` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_capture_sum(
    capture: Option<&bw_capture>,
    options: *const bw_sum_options,
    out: *mut *mut bw_batch,
    error: *mut bw_error,
) -> bw_status {
    let work = |capture: &bw_capture| {
        // SAFETY: the caller's promise about `options`, which are not used while functions of the program run.
        let (call, sums) = unsafe { bw_sum_options::of_core(options) }?;
        capture.batch_of(call, |capture| capture.ask(sums))
    };
    // SAFETY: the caller's promises about `out` and `error`.
    unsafe { bw_capture::hand_out_batch(capture, out, error, work) }
}
