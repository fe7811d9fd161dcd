//! Objects of classes whose attributes are known, made and read at little more than the cost of their memory. PyO3 has no
//! call that makes an object without its `__init__`, sets a slot without looking it up, or walks a dict that may change
//! meanwhile.

use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Relaxed, Release};

use bytewright::error::excerpt;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};

use super::locked::in_section;

/// A class, and where the objects of it have their attributes.
pub(crate) struct Maker {
    class: Py<PyType>,
    new: ffi::newfunc,
    attributes: Vec<Attribute>,
}

/// An attribute of a class.
struct Attribute {
    name: Py<PyString>,
    /// Bytes from the beginning of an object to its slot, where it has one.
    slot: Option<usize>,
}

/// An object of a [`Maker`]'s class, of which nobody else knows yet.
pub(crate) struct Fresh<'a, 'py> {
    maker: &'a Maker,
    object: Bound<'py, PyAny>,
}

/// Bytes of an object that no slot is in: the count of references and the class.
const HEAD: usize = size_of::<ffi::PyObject>();
const WORD: usize = size_of::<*mut ffi::PyObject>();

impl Maker {
    /// Finds out how objects of a class are made, and where their slots are.
    pub(crate) fn of(class: &Bound<'_, PyType>, names: &[Bound<'_, PyString>]) -> PyResult<Maker> {
        // SAFETY: the pointer is that of a class. Its slot of that number is empty or a `newfunc`.
        let new = unsafe {
            let found = ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_new);
            std::mem::transmute::<*mut std::ffi::c_void, Option<ffi::newfunc>>(found)
        };
        let Some(new) = new else {
            return Err(PyTypeError::new_err(format!(
                "cannot make objects of {}",
                excerpt(&class.to_string())
            )));
        };
        let mut maker = Maker { class: class.clone().unbind(), new, attributes: Vec::new() };
        let py = class.py();
        let probe = maker.make(&PyTuple::empty(py))?.done();
        for name in names {
            let slot = slot_of(class, &probe, name)?;
            maker.attributes.push(Attribute { name: name.clone().unbind(), slot });
        }
        Ok(maker)
    }

    /// A new object without attributes, on which no `__init__` was called. `nothing` is an empty tuple.
    #[inline]
    pub(crate) fn make<'a, 'py>(
        &'a self,
        nothing: &Bound<'py, PyTuple>,
    ) -> PyResult<Fresh<'a, 'py>> {
        let py = nothing.py();
        let class = self.class.bind(py);
        // SAFETY: `new` is the class's, which is alive, and takes a tuple and a dict or nothing. It gives a new reference
        // or an exception.
        let object = unsafe {
            let made = (self.new)(class.as_type_ptr(), nothing.as_ptr(), ptr::null_mut());
            Bound::from_owned_ptr_or_err(py, made)?
        };
        self.adopt(object)
    }

    /// An object that the class has made in its own way.
    pub(crate) fn adopt<'a, 'py>(&'a self, object: Bound<'py, PyAny>) -> PyResult<Fresh<'a, 'py>> {
        if self.is_class_of(&object) {
            return Ok(Fresh { maker: self, object });
        }
        let class = self.class.bind(object.py());
        Err(PyTypeError::new_err(format!(
            "expected an object of {}, found {}",
            excerpt(&class.to_string()),
            excerpt(&format!("{object:?}"))
        )))
    }

    /// Returns true if the class is the object's very own.
    #[inline]
    pub(crate) fn is_class_of(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr() == self.class.as_ptr().cast()
    }

    /// The class.
    pub(crate) fn class<'py>(&self, py: Python<'py>) -> &Bound<'py, PyType> {
        self.class.bind(py)
    }

    /// The value of an attribute of an object of the class.
    #[inline]
    pub(crate) fn get<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        number: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        let Some(attribute) = self.attributes.get(number) else {
            return Ok(py.None().into_bound(py));
        };
        if let Some(slot) = attribute.slot
            && self.is_class_of(object)
        {
            // SAFETY: an object of the class has a slot there, see `slot_of`: null, or an object that it keeps alive. Whoever
            // replaces that one does so in such a section, too, and before it lets go of it; from here on there is a reference
            // of our own.
            let value = in_section(object, || unsafe {
                let value = (*place_of(object, slot)).load(Relaxed);
                Bound::from_borrowed_ptr_or_opt(py, value)
            });
            if let Some(value) = value {
                return Ok(value);
            }
        }
        object.getattr(attribute.name.bind(py))
    }

    /// Shows the garbage collector what is held.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.class)
    }
}

impl<'py> Fresh<'_, 'py> {
    /// Sets an attribute, by its number, as `object.__setattr__` does: also of a class that allows nobody to set any.
    #[inline]
    pub(crate) fn set(&self, number: usize, value: Bound<'py, PyAny>) -> PyResult<()> {
        let py = self.object.py();
        let Some(attribute) = self.maker.attributes.get(number) else { return Ok(()) };
        match attribute.slot {
            Some(slot) => {
                // SAFETY: the object is of the maker's class (`adopt`), and such objects have a slot there (`slot_of`):
                // null, or an object of which the slot owns a reference. It is let go of when the slot has the new one. A
                // class may show its objects to other threads, which read and change a slot as Python does: in the section
                // of the object, or by one load of a pointer.
                let old = in_section(&self.object, || unsafe {
                    let place = &*place_of(&self.object, slot);
                    let old = place.load(Relaxed);
                    place.store(value.into_ptr(), Release);
                    Bound::from_owned_ptr_or_opt(py, old)
                });
                drop(old);
                Ok(())
            }
            None => {
                let name = attribute.name.as_ptr();
                // SAFETY: three objects that are alive; the call takes references of its own.
                match unsafe {
                    ffi::PyObject_GenericSetAttr(self.object.as_ptr(), name, value.as_ptr())
                } {
                    0 => Ok(()),
                    _ => Err(PyErr::fetch(py)),
                }
            }
        }
    }

    /// The object, for everybody.
    #[inline]
    pub(crate) fn done(self) -> Bound<'py, PyAny> {
        self.object
    }
}

/// The place of an object so many bytes behind its beginning.
#[inline]
fn place_of(object: &Bound<'_, PyAny>, offset: usize) -> *const AtomicPtr<ffi::PyObject> {
    object.as_ptr().wrapping_byte_add(offset).cast()
}

/// Finds the slot of a name in objects of a class, if there is one. It is tried out with `probe`, a new object: of what
/// is between its head and its end, exactly one word has to change to what was set, and back.
fn slot_of(
    class: &Bound<'_, PyType>,
    probe: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
) -> PyResult<Option<usize>> {
    let Ok(descriptor) = class.getattr(name) else { return Ok(None) };
    if descriptor.get_type().name()? != "member_descriptor" {
        return Ok(None);
    }
    let size: usize = class.getattr("__basicsize__")?.extract()?;
    let sentinel = PyList::empty(class.py());
    let words_with = |wanted: *mut ffi::PyObject| {
        let offsets = (HEAD..size.saturating_sub(WORD - 1)).step_by(WORD);
        let found = offsets.filter(|offset| {
            // SAFETY: an object of the class has `__basicsize__` bytes at least, all of which were written when it was
            // made; the words are aligned as the object is.
            let word = unsafe { (*place_of(probe, *offset)).load(Relaxed) };
            word == wanted
        });
        found.collect::<Vec<usize>>()
    };
    let before = words_with(ptr::null_mut());
    if probe.setattr(name, &sentinel).is_err() {
        return Ok(None);
    }
    let with = words_with(sentinel.as_ptr());
    probe.delattr(name)?;
    match with.as_slice() {
        [slot] if before.contains(slot) && words_with(ptr::null_mut()) == before => Ok(Some(*slot)),
        _ => Ok(None),
    }
}

/// A list of so many objects, each made by its place.
#[inline]
pub(crate) fn list<'py>(
    py: Python<'py>,
    count: usize,
    mut each: impl FnMut(usize) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a new list of that length, whose places are empty; each is set once, with a reference that is given away.
    unsafe {
        let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(count as ffi::Py_ssize_t))?;
        for place in 0..count {
            let element = each(place)?.into_ptr();
            if ffi::PyList_SetItem(list.as_ptr(), place as ffi::Py_ssize_t, element) != 0 {
                return Err(PyErr::fetch(py));
            }
        }
        Ok(list)
    }
}

/// Calls `each` with the `count` entries that a dict has, which may be changed meanwhile, also by other threads: then that is an
/// error.
#[inline]
pub(crate) fn each_entry<'py, E: From<PyErr>>(
    dict: &Bound<'py, PyDict>,
    count: usize,
    mut each: impl FnMut(Bound<'py, PyAny>, Bound<'py, PyAny>) -> Result<(), E>,
) -> Result<(), E> {
    let py = dict.py();
    let (mut left, mut position) = (count, 0);
    let mut next = || {
        let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: a dict that is alive, and three variables of ours. It is asked anew for each entry, so that one that was
        // changed is walked to wherever it ends. It has the two while no other thread changes it; then there are references of
        // our own.
        in_section(dict, || unsafe {
            match ffi::PyDict_Next(dict.as_ptr(), &mut position, &mut key, &mut value) {
                0 => None,
                _ => Some((Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value))),
            }
        })
    };
    while let Some((key, value)) = next() {
        let Some(fewer) = left.checked_sub(1).filter(|_| dict.len() == count) else {
            return Err(changed("dict").into());
        };
        left = fewer;
        each(key, value)?;
    }
    if left == 0 { Ok(()) } else { Err(changed("dict").into()) }
}

/// The error of a `what` that was changed while it was read.
#[cold]
pub(crate) fn changed(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "expected a {what} that stays as it is while it is read, found one that is changed"
    ))
}
