//! Stores of Ruby's PStore, to read, as plain data of Python. Nothing of Ruby is run, and no class is looked up.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

use bytewright::marshal::{
    MarshalForm, MarshalValue, Roots, SymbolId, TextEncoding, ValueId, Values,
};
use bytewright::{Error, ErrorKind, pstore};
use pyo3::exceptions::{PyLookupError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::border::Locked;
use crate::error::{guarded, guarded_python, raised, to_python};

/// Keys that are taken apart at once.
const KEYS_AT_ONCE: usize = 1000;

/// The roots of a store as they were when it was opened.
#[pyclass(frozen, subclass, mapping, module = "bytewright._bytewright")]
pub(crate) struct Store {
    path: PathBuf,
    /// Nothing once it is closed.
    roots: Locked<RefCell<Option<Roots<'static>>>>,
}

impl Store {
    /// Does something with the roots. Python code may run meanwhile, but cannot close it.
    fn with_roots<'py, R>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(Python<'py>, &Roots<'static>) -> PyResult<R> + Send,
    ) -> PyResult<R> {
        self.roots.with(py, |py, roots| {
            let roots = roots.borrow();
            let Some(roots) = roots.as_ref() else {
                let message = "expected an open store, found it closed";
                return Err(to_python(py, &Error::new(ErrorKind::Closed, message)));
            };
            guarded_python(py, || work(py, roots))
        })
    }
}

#[pymethods]
impl Store {
    /// Reads the store at a path, once nobody writes to it.
    #[new]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Store> {
        let mut interrupted = None;
        let read = py.detach(|| {
            guarded(|| {
                pstore::roots_of(&path, || match Python::attach(|py| py.check_signals()) {
                    Ok(()) => Ok(()),
                    Err(error) => {
                        interrupted = Some(error);
                        Err(Error::new(ErrorKind::Io(None), "interrupted"))
                    }
                })
            })
        });
        match (interrupted, read) {
            (Some(error), _) => Err(error),
            (None, read) => {
                let roots = Locked::new(RefCell::new(Some(raised(py, read)?)));
                Ok(Store { path, roots })
            }
        }
    }

    /// The file.
    #[getter]
    fn path(&self) -> &std::ffi::OsStr {
        self.path.as_os_str()
    }

    /// True after it was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.roots.with(py, |_, roots| roots.borrow().is_none())
    }

    /// Gives its memory back.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let closed = self.roots.with(py, |_, roots| match roots.try_borrow_mut() {
            Ok(mut roots) => {
                drop(roots.take());
                Ok(())
            }
            Err(_) => {
                let message = "expected a store at rest, found one that is being read";
                Err(Error::new(ErrorKind::Lock, message))
            }
        });
        raised(py, closed)
    }

    /// The error that stands behind the last root that is whole, or None.
    #[getter]
    fn damage<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.with_roots(py, |py, roots| {
            let damage = roots.damage().map(|damage| {
                let named = damage.clone().in_file(&self.path.to_string_lossy());
                to_python(py, &named).into_value(py).into_bound(py).into_any()
            });
            Ok(damage)
        })
    }

    /// The places of the roots by their keys. `object` makes the objects for what Python has no plain data for.
    #[pyo3(name = "_places")]
    fn places<'py>(
        &self,
        py: Python<'py>,
        object: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let object = object.unbind();
        self.with_roots(py, |py, roots| {
            let object = object.into_bound(py);
            let places = PyDict::new(py);
            let count = roots.count();
            for first in (0..count).step_by(KEYS_AT_ONCE) {
                let keys = roots.keys(first..count.min(first + KEYS_AT_ONCE));
                let keys = raised(py, keys)?;
                let mut plain = Plain::new(&keys.values, &object);
                for (place, &key) in (first..).zip(&keys.ids) {
                    let key = plain.new_key(key, &places)?;
                    places.set_item(key, place)?;
                }
            }
            Ok(places)
        })
    }

    /// The value of the root at a place.
    #[pyo3(name = "_value")]
    fn value<'py>(
        &self,
        py: Python<'py>,
        place: usize,
        object: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = object.unbind();
        self.with_roots(py, |py, roots| {
            let object = object.into_bound(py);
            let value = raised(py, roots.value(place))?;
            let mut plain = Plain::new(&value.values, &object);
            match value.ids.first() {
                Some(&id) => plain.data(id),
                None => Ok(py.None().into_bound(py)),
            }
        })
    }
}

/// Values of a Marshal stream on their way to plain data.
struct Plain<'a, 'py> {
    py: Python<'py>,
    values: &'a Values,
    /// The class of objects of unknown classes.
    object: &'a Bound<'py, PyAny>,
    /// Objects made already: values that the stream links to are one object in Python, too, also one in itself.
    made: HashMap<ValueId, Bound<'py, PyAny>>,
}

impl<'a, 'py> Plain<'a, 'py> {
    fn new(values: &'a Values, object: &'a Bound<'py, PyAny>) -> Self {
        Plain { py: object.py(), values, object, made: HashMap::new() }
    }

    fn data(&mut self, id: ValueId) -> PyResult<Bound<'py, PyAny>> {
        if let Some(made) = self.made.get(&id) {
            return Ok(made.clone());
        }
        let values = self.values;
        let Some(value) = values.get(id) else { return Ok(self.py.None().into_bound(self.py)) };
        match &value.rare {
            Some(rare) if !value.is_plain() => self.dressed(id, value, &rare.variables),
            _ => self.form(Some(id), value),
        }
    }

    /// A value of a class of its own, or with variables.
    fn dressed(
        &mut self,
        id: ValueId,
        value: &MarshalValue,
        variables: &[(SymbolId, ValueId)],
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = self.object_of(Some(id), self.values.class_name(value))?;
        object.setattr("value", self.form(None, value)?)?;
        self.set_members(&object, variables)?;
        Ok(object)
    }

    /// A value without what it has beside its form.
    fn form(&mut self, id: Option<ValueId>, value: &MarshalValue) -> PyResult<Bound<'py, PyAny>> {
        let (py, values) = (self.py, self.values);
        Ok(match &value.form {
            MarshalForm::Nil => py.None().into_bound(py),
            MarshalForm::Boolean(value) => PyBool::new(py, *value).to_owned().into_any(),
            MarshalForm::Integer(number) => PyInt::new(py, *number).into_any(),
            MarshalForm::LargeInteger { is_negative, digits } => {
                self.large_integer(*is_negative, values.bytes(digits))?
            }
            MarshalForm::Float(text) => PyFloat::new(py, float(values.bytes(text))).into_any(),
            MarshalForm::Symbol(symbol) => self.text(values.symbol(*symbol)),
            MarshalForm::String { text, encoding } => self.string(values.bytes(text), *encoding)?,
            MarshalForm::Array(elements) => {
                let list = PyList::empty(py);
                self.keep(id, list.as_any());
                for &element in elements {
                    list.append(self.data(element)?)?;
                }
                list.into_any()
            }
            MarshalForm::Hash { entries, .. } => {
                let dict = PyDict::new(py);
                self.keep(id, dict.as_any());
                for &(key, value) in entries {
                    let key = self.new_key(key, &dict)?;
                    dict.set_item(key, self.data(value)?)?;
                }
                dict.into_any()
            }
            _ => self.object(id, value)?,
        })
    }

    /// Makes an object of a value for which Python has no plain data.
    fn object(&mut self, id: Option<ValueId>, value: &MarshalValue) -> PyResult<Bound<'py, PyAny>> {
        let (py, values) = (self.py, self.values);
        let object = self.object_of(id, values.class_name(value))?;
        match &value.form {
            MarshalForm::Regexp { source, options } => {
                object.setattr("value", self.text(values.bytes(source)))?;
                object.getattr("members")?.set_item("options", *options)?;
            }
            MarshalForm::Class(name) | MarshalForm::Module(name) => {
                object.setattr("value", self.text(values.bytes(name)))?;
            }
            MarshalForm::Struct { members, .. } => self.set_members(&object, members)?,
            MarshalForm::Object { variables, .. } => self.set_members(&object, variables)?,
            MarshalForm::OwnBytes { bytes, .. } => {
                object.setattr("value", PyBytes::new(py, values.bytes(bytes)))?;
                let variables = value.rare.as_ref().map(|rare| rare.variables.as_slice());
                self.set_members(&object, variables.unwrap_or_default())?;
            }
            MarshalForm::OwnValue { value, .. } => object.setattr("value", self.data(*value)?)?,
            _ => {}
        }
        Ok(object)
    }

    fn object_of(&mut self, id: Option<ValueId>, class: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let object = self.object.call1((self.text(class),))?;
        self.keep(id, &object);
        Ok(object)
    }

    fn keep(&mut self, id: Option<ValueId>, made: &Bound<'py, PyAny>) {
        if let Some(id) = id {
            self.made.insert(id, made.clone());
        }
    }

    fn set_members(
        &mut self,
        object: &Bound<'py, PyAny>,
        members: &[(SymbolId, ValueId)],
    ) -> PyResult<()> {
        let dict = object.getattr("members")?;
        for &(name, value) in members {
            dict.set_item(self.text(self.values.symbol(name)), self.data(value)?)?;
        }
        Ok(())
    }

    /// A key that is not in `dict`. Python cannot hash Arrays and Hashes, and takes some keys for the same that Ruby does not,
    /// such as :a and "a", or 1 and 1.0: an object with the class stands for those.
    fn new_key(&mut self, id: ValueId, dict: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        let mut key = self.data(id)?;
        if let Ok(list) = key.cast::<PyList>() {
            key = list.to_tuple().into_any();
        }
        if key.hash().is_ok() && !dict.contains(&key)? {
            return Ok(key);
        }
        let class =
            self.values.get(id).map_or(&b"Object"[..], |value| self.values.class_name(value));
        let object = self.object.call1((self.text(class),))?;
        object.setattr("value", key)?;
        Ok(object)
    }

    /// Text where it is UTF-8, as it mostly is; bytes otherwise.
    fn text(&self, bytes: &[u8]) -> Bound<'py, PyAny> {
        match std::str::from_utf8(bytes) {
            Ok(text) => PyString::new(self.py, text).into_any(),
            Err(_) => PyBytes::new(self.py, bytes).into_any(),
        }
    }

    fn string(&self, bytes: &[u8], encoding: TextEncoding) -> PyResult<Bound<'py, PyAny>> {
        let raw = PyBytes::new(self.py, bytes);
        Ok(match encoding {
            TextEncoding::Binary => raw.into_any(),
            TextEncoding::UsAscii | TextEncoding::Utf8 => self.text(bytes),
            TextEncoding::Named(name) => {
                let name = match self.values.get(name).map(|name| &name.form) {
                    Some(MarshalForm::String { text, .. }) => self.text(self.values.bytes(text)),
                    _ => return Ok(raw.into_any()),
                };
                // Bytes in an encoding that Python does not know, or cannot decode, stay bytes.
                match raw.call_method1("decode", (name,)) {
                    Ok(text) => text,
                    Err(error) if is_undecodable(self.py, &error) => raw.into_any(),
                    Err(error) => return Err(error),
                }
            }
        })
    }

    fn large_integer(&self, is_negative: bool, digits: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let int = self.py.get_type::<PyInt>();
        let number = int.call_method1("from_bytes", (PyBytes::new(self.py, digits), "little"))?;
        if is_negative { number.neg() } else { Ok(number) }
    }
}

/// Tells that Python does not know an encoding, or cannot decode by it, from what the handler of a signal raises meanwhile.
fn is_undecodable(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyLookupError>(py)
        || error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyTypeError>(py)
}

/// A floating-point number from its text, in which only bytes before a zero count.
fn float(text: &[u8]) -> f64 {
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    // Ruby makes 0.0 of text that is no number.
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}
