//! Calls of a function as text: the keys of `Cache.memoize`.

use bytewright::error::excerpt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyNone, PySet, PyString, PyTuple,
};

use crate::border::each_entry;
use crate::shown::class_name;

/// Most objects inside of each other that an argument may have.
const DEPTH_MAX: u32 = 100;

/// Way in which calls of a function are told from each other.
pub(super) struct CallForm<'a, 'py> {
    /// Name of the function.
    pub(super) base: &'a str,
    /// True if arguments that are equal, but of different types, make a difference.
    pub(super) typed: bool,
    /// Places and names of arguments that make none.
    pub(super) ignored: Option<&'a Bound<'py, PyFrozenSet>>,
}

impl<'py> CallForm<'_, 'py> {
    /// Makes the text of a call, which says what each argument is.
    ///
    /// # Errors
    ///
    /// `TypeError` for an argument that has no text of its own.
    pub(super) fn key(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<String> {
        let mut shown = ShownArguments { text: String::with_capacity(64), typed: self.typed };
        shown.text.push_str(self.base);
        shown.text.push('(');
        let mut separator = "";
        for (place, argument) in args.iter_borrowed().enumerate() {
            if self.ignored.map_or(Ok(false), |ignored| ignored.contains(place))? {
                continue;
            }
            shown.text.push_str(std::mem::replace(&mut separator, ", "));
            shown.put(&argument, 0)?;
        }
        for (name, argument) in sorted_by_name(kwargs)? {
            if self.ignored.map_or(Ok(false), |ignored| ignored.contains(&name))? {
                continue;
            }
            shown.text.push_str(std::mem::replace(&mut separator, ", "));
            shown.text.push_str(name.to_str()?);
            shown.text.push('=');
            shown.put(&argument, 0)?;
        }
        shown.text.push(')');
        Ok(shown.text)
    }
}

fn sorted_by_name<'py>(
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>> {
    let Some(kwargs) = kwargs else { return Ok(Vec::new()) };
    let named = kwargs.iter().map(|(name, argument)| Ok((name.cast_into::<PyString>()?, argument)));
    let mut named = named.collect::<PyResult<Vec<_>>>()?;
    if named.len() > 1 {
        named.sort_by_cached_key(|(name, _)| name.to_string_lossy().into_owned());
    }
    Ok(named)
}

/// Text of arguments so far: no other one has the text of an argument.
struct ShownArguments {
    text: String,
    typed: bool,
}

impl ShownArguments {
    fn put(&mut self, argument: &Bound<'_, PyAny>, depth: u32) -> PyResult<()> {
        if argument.is_exact_instance_of::<PyString>() || argument.is_exact_instance_of::<PyBytes>()
        {
            return self.put_repr(argument);
        }
        if argument.is_exact_instance_of::<PyInt>() {
            return match argument.extract::<i64>() {
                Ok(number) => self.put_number(number),
                Err(_) => self.put_repr(argument),
            };
        }
        if let Ok(flag) = argument.cast_exact::<PyBool>() {
            return match self.typed {
                true => self.put_repr(argument),
                false => self.put_number(i64::from(flag.is_true())),
            };
        }
        if let Ok(number) = argument.cast_exact::<PyFloat>() {
            let value = number.value();
            return match !self.typed && value.is_finite() && value.fract() == 0.0 {
                true => self.put_repr(&argument.call_method0("__int__")?),
                false => self.put_repr(argument),
            };
        }
        if argument.is_exact_instance_of::<PyNone>() {
            self.text.push_str("None");
            return Ok(());
        }
        self.put_nested(argument, depth)
    }

    fn put_number(&mut self, number: i64) -> PyResult<()> {
        use std::fmt::Write;
        // Text takes it all.
        let _ = write!(self.text, "{number}");
        Ok(())
    }

    fn put_repr(&mut self, argument: &Bound<'_, PyAny>) -> PyResult<()> {
        self.text.push_str(argument.repr()?.to_str()?);
        Ok(())
    }

    fn put_nested(&mut self, argument: &Bound<'_, PyAny>, depth: u32) -> PyResult<()> {
        if depth == DEPTH_MAX {
            return Err(PyTypeError::new_err(format!(
                "memoize takes arguments of up to {DEPTH_MAX} objects inside of each other, found a deeper one"
            )));
        }
        if let Ok(tuple) = argument.cast_exact::<PyTuple>() {
            self.text.push('(');
            self.put_each(tuple.iter(), depth)?;
            self.text.push_str(",)");
        } else if let Ok(list) = argument.cast_exact::<PyList>() {
            self.text.push('[');
            self.put_each(list.iter(), depth)?;
            self.text.push(']');
        } else if let Ok(dict) = argument.cast_exact::<PyDict>() {
            self.put_dict(dict, depth)?;
        } else if let Ok(set) = argument.cast_exact::<PySet>() {
            self.put_set("set", set.as_any(), depth)?;
        } else if let Ok(set) = argument.cast_exact::<PyFrozenSet>() {
            self.put_set("frozenset", set.as_any(), depth)?;
        } else {
            return Err(PyTypeError::new_err(format!(
                "memoize takes str, bytes, int, float, bool, None, and tuples, lists, dicts and sets of these as arguments: \
                 one is {}; name it in ignore, or pass what tells it from others",
                excerpt(&class_name(argument))
            )));
        }
        Ok(())
    }

    fn put_each<'py>(
        &mut self,
        elements: impl Iterator<Item = Bound<'py, PyAny>>,
        depth: u32,
    ) -> PyResult<()> {
        let mut separator = "";
        for element in elements {
            self.text.push_str(std::mem::replace(&mut separator, ", "));
            self.put(&element, depth + 1)?;
        }
        Ok(())
    }

    fn put_dict(&mut self, dict: &Bound<'_, PyDict>, depth: u32) -> PyResult<()> {
        let count = dict.len();
        let mut items = Vec::with_capacity(count);
        each_entry(dict, count, |key, value| {
            items.push((key.repr()?.to_str()?.to_owned(), key, value));
            PyResult::Ok(())
        })?;
        items.sort_by(|one, other| one.0.cmp(&other.0));
        self.text.push('{');
        let mut separator = "";
        for (_, key, value) in &items {
            self.text.push_str(std::mem::replace(&mut separator, ", "));
            self.put(key, depth + 1)?;
            self.text.push_str(": ");
            self.put(value, depth + 1)?;
        }
        self.text.push('}');
        Ok(())
    }

    fn put_set(&mut self, name: &str, set: &Bound<'_, PyAny>, depth: u32) -> PyResult<()> {
        let mut texts = Vec::new();
        for element in set.try_iter()? {
            let mut one = ShownArguments { text: String::new(), typed: self.typed };
            one.put(&element?, depth + 1)?;
            texts.push(one.text);
        }
        texts.sort();
        self.text.push_str(name);
        self.text.push_str("({");
        self.text.push_str(&texts.join(", "));
        self.text.push_str("})");
        Ok(())
    }
}
