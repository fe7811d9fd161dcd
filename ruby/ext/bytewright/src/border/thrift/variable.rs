//! Instance variables of objects, by their place in the object where that is known.
//!
//! Ruby's functions look a variable up by its name, each time, which takes longer than all else that is
//! done for a number. In Ruby 3.1 each object has its variables in an array, in which a variable has the
//! place that the object's class gave it once and for all:
//!
//! ```text
//! object   │flags 8│class 8│variable 0│variable 1│variable 2│      with the flag EMBED
//!          │flags 8│class 8│count 4│ 4│address of variables│       without
//! ```
//!
//! No documentation promises that. So it is used in that version alone, and of a class only what trying it
//! out shows; all else goes by Ruby's functions. No other file knows how Ruby makes objects.

use magnus::rb_sys::AsRawValue;
use magnus::{Error, RClass};
use rb_sys::{ID, VALUE};

use super::{NIL, id_of};

/// The place of a variable of which none is known.
const NONE: u32 = u32::MAX;

/// Variables of a class that have known places. Every object has room for all of those, so there are none
/// in classes with many more fields than objects have.
const PLACES_MAX: usize = 64;

/// A variable of the objects of one class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variable {
    /// Its name, as Ruby's number.
    name: u64,
    /// Its place in objects of the class.
    place: u32,
}

/// An object of Ruby 3.1.
#[repr(C)]
struct Object {
    flags: VALUE,
    class: VALUE,
    variables: Variables,
}

#[repr(C)]
union Variables {
    embedded: [VALUE; EMBEDDED_COUNT],
    heap: Heap,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Heap {
    count: u32,
    start: *mut VALUE,
}

const EMBEDDED_COUNT: usize = 3;
const EMBED: VALUE = rb_sys::ruby_fl_type::RUBY_FL_USER1 as VALUE;
const FROZEN: VALUE = rb_sys::ruby_fl_type::RUBY_FL_FREEZE as VALUE;
const UNSET: VALUE = rb_sys::Qundef as VALUE;

impl Variable {
    /// A variable whose place is not known.
    pub(crate) fn named(name: &str) -> Variable {
        Variable { name: id_of(name), place: NONE }
    }

    /// Its value, nil where it is not set.
    ///
    /// # Safety
    /// `object` must be an object, of the variable's class where its place is known.
    #[inline(always)]
    pub(super) unsafe fn of(self, object: VALUE) -> VALUE {
        // SAFETY: as the caller promises; a place is known only where objects are as above.
        unsafe {
            match self.slot(object) {
                Some(slot) if *slot != UNSET => *slot,
                Some(_) => NIL,
                None => rb_sys::rb_attr_get(object, self.name as ID),
            }
        }
    }

    /// Returns its value in an object of any class.
    ///
    /// # Safety
    /// `object` must be an object.
    pub(super) unsafe fn of_any(self, object: VALUE) -> VALUE {
        // SAFETY: as the caller promises.
        unsafe { rb_sys::rb_attr_get(object, self.name as ID) }
    }

    /// Sets it. It may raise, as for a frozen object.
    ///
    /// # Safety
    /// As for [`of`](Variable::of), with nothing alive that needs dropping.
    #[inline(always)]
    pub(super) unsafe fn set(self, object: VALUE, value: VALUE) {
        // SAFETY: as for `of`; the garbage collector is told of an object that another now holds.
        unsafe {
            match self.slot(object) {
                Some(slot) if (*(object as *const Object)).flags & FROZEN == 0 => {
                    *slot = value;
                    if !rb_sys::SPECIAL_CONST_P(value) {
                        rb_sys::rb_gc_writebarrier(object, value);
                    }
                }
                _ => {
                    rb_sys::rb_ivar_set(object, self.name as ID, value);
                }
            }
        }
    }

    /// Returns its slot in the object, if the object has room for it.
    #[inline(always)]
    unsafe fn slot(self, object: VALUE) -> Option<*mut VALUE> {
        if self.place == NONE {
            return None;
        }
        // SAFETY: a place is known only where objects are as above.
        unsafe {
            let object = object as *mut Object;
            let (start, count) = if (*object).flags & EMBED == 0 {
                ((*object).variables.heap.start, (*object).variables.heap.count as usize)
            } else {
                ((&raw mut (*object).variables.embedded).cast(), EMBEDDED_COUNT)
            };
            let place = self.place as usize;
            (place < count).then(|| start.add(place))
        }
    }
}

/// Finds out where objects of the class have these variables, if that can be told.
pub(crate) fn find_places(class: RClass, variables: &mut [Variable]) -> Result<(), Error> {
    if !is_known_ruby() || variables.len() > PLACES_MAX {
        return Ok(());
    }
    let mut found = Vec::with_capacity(variables.len());
    let class = class.as_raw();
    magnus::rb_sys::protect(|| {
        // SAFETY: an object that nobody else sees; what is alive around here is dropped by the caller, as
        // the vector has room for all.
        unsafe {
            let probe = rb_sys::rb_obj_alloc(class);
            if rb_sys::RB_TYPE_P(probe, rb_sys::ruby_value_type::RUBY_T_OBJECT) {
                try_places(probe, variables, &mut found);
            }
            std::hint::black_box(probe)
        }
    })?;
    for (variable, place) in variables.iter_mut().zip(found) {
        variable.place = place;
    }
    Ok(())
}

/// Returns true if this is the Ruby whose objects are known.
fn is_known_ruby() -> bool {
    // SAFETY: a constant of the process.
    let [major, minor, _] = unsafe { rb_sys::ruby_api_version };
    (major, minor) == (3, 1) && cfg!(target_pointer_width = "64")
}

/// Adds a place for each variable: where a value that was set by Ruby's function is found, and where
/// Ruby's function finds another that is put there.
///
/// # Safety
/// Under protection; `probe` must be a new object, and `found` have room for the places.
unsafe fn try_places(probe: VALUE, variables: &[Variable], found: &mut Vec<u32>) {
    let number = |at: usize, what: usize| ((at * 2 + what) << 1 | 1) as VALUE;
    // SAFETY: as the caller promises. A place is looked for below the count of variables only.
    unsafe {
        for (at, variable) in variables.iter().enumerate() {
            rb_sys::rb_ivar_set(probe, variable.name as ID, number(at, 0));
        }
        for (at, variable) in variables.iter().enumerate() {
            let mut places = (0..PLACES_MAX as u32 * 2).filter(|place| {
                let slot = Variable { name: 0, place: *place }.slot(probe);
                slot.is_some_and(|slot| *slot == number(at, 0))
            });
            let (place, more) = (places.next(), places.next());
            let place = place.filter(|_| more.is_none()).unwrap_or(NONE);
            let tried = Variable { place, ..*variable };
            tried.set(probe, number(at, 1));
            let is_there = rb_sys::rb_attr_get(probe, variable.name as ID) == number(at, 1);
            rb_sys::rb_ivar_set(probe, variable.name as ID, number(at, 0));
            found.push(if is_there && tried.of(probe) == number(at, 0) { place } else { NONE });
        }
    }
}
