//! Lines: one by one, and in batches.

use std::ffi::c_int;
use std::hint::black_box;

use bytewright::bytes::{Line, LineRule};
use magnus::RClass;
use magnus::rb_sys::protect;
use rb_sys::VALUE;

use super::{LineRuleObject, NIL, ReaderObject, at_rest, held, length, operate, taken_string};
use crate::border::tables::new_string;
use crate::border::{define, inside};

/// Elements for which an Array has room from the beginning.
const ARRAY_CAPACITY_MAX: usize = 1 << 16;

/// The next line as a new String.
///
/// # Safety
/// Ruby must keep `object` alive, and nothing that needs dropping may be.
#[inline]
unsafe fn take_line(object: VALUE, rule: &LineRule) -> Option<VALUE> {
    // SAFETY: as the caller promises.
    unsafe {
        let this: &ReaderObject = inside(object);
        if let Some(line) = at_rest(this).and_then(|bytes| rule.buffered_line(bytes)) {
            return Some(line_string(this, line));
        }
        operate(object, |this, operation| {
            let Some(line) = operation.line(rule)? else { return Ok(None) };
            taken_string(operation, line.content_len, line.len, this.encoding).map(Some)
        })
    }
}

/// The line that is buffered, as a new String.
///
/// # Safety
/// As for [`take_line`].
#[inline]
unsafe fn line_string(this: &ReaderObject, line: Line) -> VALUE {
    // SAFETY: as the caller promises; making a String moves nothing of what is buffered, and runs no
    // Ruby code.
    unsafe {
        let bytes = held(this);
        let string = new_string(bytes.get(..line.content_len).unwrap_or(bytes), this.encoding);
        this.reader.consume(line.len);
        string
    }
}

/// Returns true while `$/` has its initial value.
#[allow(deprecated, reason = "Ruby deprecates assigning to it, and has it declared with that")]
fn is_default_separator() -> bool {
    // SAFETY: both are there as long as Ruby is, and are read with Ruby's lock.
    unsafe { rb_sys::rb_rs == rb_sys::rb_default_rs }
}

/// `reader.gets`, with the arguments of `IO#gets`
unsafe extern "C" fn gets(count: c_int, arguments: *const VALUE, object: VALUE) -> VALUE {
    // SAFETY: as for `read`; the rule is kept alive by the stack.
    unsafe {
        let is_plain = count == 0 && inside::<ReaderObject>(object).lines_end_with_a_byte;
        let line = if is_plain && is_default_separator() {
            take_line(object, &LineRule::newline())
        } else {
            let method = rb_sys::rb_intern(c"line_rule".as_ptr());
            let keywords = rb_sys::rb_keyword_given_p();
            let rule = rb_sys::rb_funcallv_kw(object, method, count, arguments, keywords);
            let line = take_line(object, &inside::<LineRuleObject>(rule).0);
            black_box(rule);
            line
        };
        let line = line.unwrap_or(NIL);
        rb_sys::rb_lastline_set(line);
        line
    }
}

/// `each_line_by(rule, batch)`: yields each line, or where `batch` is not 0 Arrays of so many.
unsafe extern "C" fn each_line_by(object: VALUE, rule: VALUE, batch: VALUE) -> VALUE {
    // SAFETY: as for `read`. The block may raise, throw or break: nothing here needs dropping.
    unsafe {
        let batch = length(batch);
        loop {
            let line_rule = &inside::<LineRuleObject>(rule).0;
            let lines = match batch {
                0 => take_line(object, line_rule),
                _ => take_batch(object, line_rule, batch),
            };
            match lines {
                Some(lines) => rb_sys::rb_yield(lines),
                None => return object,
            };
        }
    }
}

/// The next lines, as many as an Array is to have, or as there are. Where waiting for more could lose
/// those that were taken, because they cannot be read again, it does not wait; and where there is damage
/// behind them, it is left to who asks for the next ones.
///
/// # Safety
/// As for [`take_line`].
unsafe fn take_batch(object: VALUE, rule: &LineRule, batch: usize) -> Option<VALUE> {
    // SAFETY: as the caller promises; the Array is kept alive by the stack, and what is raised within `protect` it
    // returns.
    unsafe {
        let lines = rb_sys::rb_ary_new_capa(batch.min(ARRAY_CAPACITY_MAX) as _);
        operate(object, |this, operation| {
            operation.lines(rule, batch, |line| {
                protect(|| {
                    if let Some(line) = line {
                        rb_sys::rb_ary_push(lines, line_string(this, line));
                    }
                    push_buffered_lines(this, rule, lines, batch);
                    NIL
                })?;
                Ok(rb_sys::RARRAY_LEN(lines) as usize)
            })
        });
        (rb_sys::RARRAY_LEN(black_box(lines)) > 0).then_some(lines)
    }
}

/// Takes the lines that are buffered, up to the number that the Array is to have.
///
/// # Safety
/// As for [`take_line`]; `lines` must be an Array.
unsafe fn push_buffered_lines(this: &ReaderObject, rule: &LineRule, lines: VALUE, batch: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        while (rb_sys::RARRAY_LEN(lines) as usize) < batch
            && let Some(line) = rule.buffered_line(held(this))
        {
            rb_sys::rb_ary_push(lines, line_string(this, line));
        }
    }
}

/// Defines the methods of this file.
pub(super) fn define_methods(class: RClass) {
    define::any(class, c"gets", gets);
    define::two(class, c"each_line_by", each_line_by);
}
