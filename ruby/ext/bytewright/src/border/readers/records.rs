//! Records of one length: as Strings, and as the values that they hold.

use std::hint::black_box;

use bytewright::wire::RecordValue;
use magnus::RClass;
use magnus::rb_sys::protect;
use rb_sys::VALUE;

use super::values::{float, signed, unsigned};
use super::{
    BINARY, NIL, ReaderObject, TemplateObject, at_rest, held, length, operate, taken_string,
};
use crate::border::tables::new_string;
use crate::border::{define, inside};

/// `each_record_by(length)`: yields each record of so many bytes.
unsafe extern "C" fn each_record_by(object: VALUE, length_given: VALUE) -> VALUE {
    // SAFETY: as for `each_line_by`.
    unsafe {
        let length = length(length_given);
        while let Some(record) = take_record_string(object, length) {
            rb_sys::rb_yield(record);
        }
        object
    }
}

/// The next record as a new String.
///
/// # Safety
/// Ruby must keep `object` alive, and nothing that needs dropping may be.
#[inline]
unsafe fn take_record_string(object: VALUE, length: usize) -> Option<VALUE> {
    // SAFETY: as the caller promises; making a String moves nothing of what is buffered, and runs no
    // Ruby code.
    unsafe {
        let this: &ReaderObject = inside(object);
        if let Some(bytes) = at_rest(this).and_then(|bytes| bytes.get(..length)) {
            let record = new_string(bytes, BINARY);
            this.reader.consume(length);
            return Some(record);
        }
        operate(object, |_, operation| match operation.want_record(length)? {
            true => taken_string(operation, length, length, BINARY).map(Some),
            false => Ok(None),
        })
    }
}

/// `each_values_by(template, count)`: yields the values of each of the next records, or of all there are where
/// `count` is nil.
unsafe extern "C" fn each_values_by(object: VALUE, template: VALUE, count: VALUE) -> VALUE {
    // SAFETY: as for `each_line_by`; the template is kept alive by the stack.
    unsafe {
        let count = if count == NIL { usize::MAX } else { length(count) };
        for _ in 0..count {
            match take_record(object, inside(template)) {
                NIL => break,
                values => rb_sys::rb_yield(values),
            };
        }
        black_box(template);
        object
    }
}

/// The values of the next record as an Array; nil at the end.
///
/// # Safety
/// As for [`take_record_string`].
#[inline]
unsafe fn take_record(object: VALUE, template: &TemplateObject) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        let length = template.0.record_len();
        let this: &ReaderObject = inside(object);
        if at_rest(this).is_some_and(|bytes| bytes.len() >= length) {
            return take_values(this, template);
        }
        operate(object, |this, operation| match operation.want_record(length)? {
            true => protect(|| take_values(this, template)),
            false => Ok(NIL),
        })
    }
}

/// The values of the record that is buffered, which is taken.
///
/// # Safety
/// As for [`take_record_string`].
#[inline]
unsafe fn take_values(this: &ReaderObject, template: &TemplateObject) -> VALUE {
    // SAFETY: as the caller promises; making objects moves nothing of what is buffered, and runs no Ruby
    // code.
    unsafe {
        let length = template.0.record_len();
        let record = held(this).get(..length).unwrap_or_default();
        let values = match template.0.value_count() {
            0..=ON_STACK_MAX => array_at_once(template, record),
            count => array_by_and_by(template, record, count),
        };
        this.reader.consume(length);
        values
    }
}

/// Values of a record that are put together on the stack.
const ON_STACK_MAX: usize = 16;

/// # Safety
/// As for [`take_values`]; `template` has at most [`ON_STACK_MAX`] values.
#[inline]
unsafe fn array_at_once(template: &TemplateObject, record: &[u8]) -> VALUE {
    let mut values = [NIL; ON_STACK_MAX];
    let mut count = 0;
    for (place, value) in values.iter_mut().zip(template.0.values(record)) {
        // SAFETY: as the caller promises; what is on the stack the garbage collector sees.
        *place = unsafe { object_of(value) };
        count += 1;
    }
    // SAFETY: so many of them are values, and copied.
    unsafe { rb_sys::rb_ary_new_from_values(count, black_box(&values).as_ptr()) }
}

/// # Safety
/// As for [`take_values`].
unsafe fn array_by_and_by(template: &TemplateObject, record: &[u8], count: usize) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        let values = rb_sys::rb_ary_new_capa(count as _);
        for value in template.0.values(record) {
            rb_sys::rb_ary_push(values, object_of(value));
        }
        values
    }
}

/// # Safety
/// Called under Ruby, with nothing alive that needs dropping.
#[inline]
unsafe fn object_of(value: RecordValue<'_>) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        match value {
            RecordValue::Unsigned(number) => unsigned(number),
            RecordValue::Signed(number) => signed(number),
            RecordValue::Float(number) => float(number),
            RecordValue::Bytes(bytes) => new_string(bytes, BINARY),
        }
    }
}

/// `take_records(template, count)`: an Array of the next records, or of all there are where `count` is nil.
/// If it raises, none of them is taken.
unsafe extern "C" fn take_records(object: VALUE, template: VALUE, count: VALUE) -> VALUE {
    // SAFETY: as for `read`; the Array is kept alive by the stack.
    unsafe {
        let count = if count == NIL { usize::MAX } else { length(count) };
        let records = rb_sys::rb_ary_new();
        let rule: &TemplateObject = inside(template);
        operate(object, |this, operation| {
            operation.records(rule.0.record_len(), count, |buffered| {
                protect(|| {
                    for _ in 0..buffered {
                        rb_sys::rb_ary_push(records, take_values(this, rule));
                    }
                    NIL
                })
                .map(drop)
            })
        });
        black_box((records, template)).0
    }
}

/// Defines the methods of this file.
pub(super) fn define_methods(class: RClass) {
    define::one(class, c"each_record_by", each_record_by);
    define::two(class, c"each_values_by", each_values_by);
    define::two(class, c"take_records", take_records);
}
