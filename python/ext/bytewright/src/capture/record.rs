//! Packets, flows and calls as objects whose attributes are their fields.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use bytewright::batch::{self, Value};
use bytewright::flow::{self, FeatureSet, FlowField};
use bytewright::input::FrameBatch;
use bytewright::packet::{self, Field};
use bytewright::rpc::{self, CallField};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use super::fields::{call_fields, flow_fields, packet_fields};
use crate::values::object;

/// A record as the core read it, or what was pickled of it.
enum Record<T> {
    Read(T),
    Restored(Box<Restored>),
}

/// Pickled content of a record: the row of its fields; of a packet also the captured bytes, and the payload's range.
pub(super) struct Restored {
    pub(super) row: batch::Batch,
    pub(super) captured: Vec<u8>,
    pub(super) payload: Option<Range<usize>>,
    pub(super) features: FeatureSet,
}

/// A packet of a capture: its fields, None where it has no such field, and the bytes that were captured.
#[pyclass(frozen, module = "bytewright")]
pub(crate) struct Packet(Record<packet::KeptFrame>);

impl Packet {
    /// A copy of the packet at a place of a batch.
    pub(super) fn copied(batch: &FrameBatch, index: usize) -> Option<Packet> {
        batch.frame(index).map(|frame| Packet(Record::Read(frame.to_kept())))
    }

    pub(super) fn restored(restored: Restored) -> Packet {
        Packet(Record::Restored(Box::new(restored)))
    }

    #[inline]
    fn look<R>(&self, field: Field, look: impl FnOnce(Value<'_>) -> R) -> R {
        match &self.0 {
            Record::Read(kept) if field.is_in_packet() => look(kept.packet().value(field)),
            Record::Read(kept) => look(kept.frame().value(field)),
            Record::Restored(restored) => look(restored.row.value(0, field as usize)),
        }
    }

    fn captured_bytes(&self) -> &[u8] {
        match &self.0 {
            Record::Read(kept) => kept.captured(),
            Record::Restored(restored) => &restored.captured,
        }
    }

    fn payload_range(&self) -> Option<Range<usize>> {
        match &self.0 {
            Record::Read(kept) => kept.packet().payload_range(),
            Record::Restored(restored) => restored.payload.clone(),
        }
    }
}

/// Packets of one conversation, summed up. `src` is the side that sent the first packet seen.
#[pyclass(frozen, module = "bytewright")]
pub(crate) struct Flow(Record<flow::Flow>);

/// A call of a Thrift method and its answer.
#[pyclass(frozen, module = "bytewright")]
pub(crate) struct Call(Record<rpc::Call>);

/// Lets a class be made of a record of the core, and of what was pickled of one.
macro_rules! sums {
    ($class:ident $record:ty, $enum:ident) => {
        impl $class {
            pub(super) fn new(record: $record) -> $class {
                $class(Record::Read(record))
            }

            pub(super) fn restored(restored: Restored) -> $class {
                $class(Record::Restored(Box::new(restored)))
            }

            fn look<R>(&self, field: $enum, look: impl FnOnce(Value<'_>) -> R) -> R {
                match &self.0 {
                    Record::Read(record) => look(record.value(field)),
                    Record::Restored(restored) => look(restored.row.value(0, field as usize)),
                }
            }

            fn captured_bytes(&self) -> &[u8] {
                &[]
            }
        }
    };
}

sums! { Flow flow::Flow, FlowField }
sums! { Call rpc::Call, CallField }

impl Packet {
    /// The fields that it has.
    fn fields(&self) -> Cow<'static, [Field]> {
        Field::ALL.into()
    }
}

impl Call {
    /// The fields that it has.
    fn fields(&self) -> Cow<'static, [CallField]> {
        CallField::ALL.into()
    }
}

impl Flow {
    /// The fields that it has: a feature that was not counted is none of them.
    fn fields(&self) -> Cow<'static, [FlowField]> {
        match &self.0 {
            Record::Read(flow) => flow.fields().into(),
            Record::Restored(restored) => FlowField::counted(restored.features).into(),
        }
    }
}

/// Gives a class an attribute for each field, what goes with fields, and the methods behind; `fields.rs` has the fields. For
/// each `name Variant` it expands to
///
/// ```ignore
/// #[getter]
/// fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
///     self.look(Field::Variant, |value| object(py, value))
/// }
/// ```
macro_rules! fields {
    ($class:ident { $($name:ident $variant:ident),* $(,)? } $enum:ident $shown:ident $($more:tt)*) => {
        #[pymethods]
        impl $class {
            $(
                #[getter]
                fn $name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.look($enum::$variant, |value| object(py, value))
                }
            )*

            $($more)*

            /// The names of the fields, in the order that a match statement takes them.
            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
                PyTuple::new(py, $enum::ALL.iter().map(|field| field.name()))
            }

            /// The fields that it has, by their names.
            fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let dict = PyDict::new(py);
                for field in self.fields().iter() {
                    dict.set_item(field.name(), self.look(*field, |value| object(py, value))?)?;
                }
                Ok(dict)
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let mut parts = Vec::new();
                for field in $enum::$shown {
                    let value = self.look(*field, |value| object(py, value))?;
                    if !value.is_none() {
                        parts.push(format!("{}={}", field.name(), value.repr()?));
                    }
                }
                Ok(format!(concat!(stringify!($class), "({})"), parts.join(", ")))
            }

            fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
                other.cast::<$class>().is_ok_and(|other| *other.get() == *self)
            }

            /// Itself, because nothing changes it.
            fn __copy__(this: Py<Self>) -> Py<Self> {
                this
            }

            fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
                this
            }

            fn __hash__(&self) -> u64 {
                let mut hasher = DefaultHasher::new();
                for field in $enum::ALL {
                    self.look(*field, |value| value.hash(&mut hasher));
                }
                hasher.finish()
            }
        }

        impl $class {
            /// All values, in the order of `__match_args__`.
            fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                let values = $enum::ALL.iter().map(|field| self.look(*field, |value| object(py, value)));
                PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)
            }
        }

        impl PartialEq for $class {
            fn eq(&self, other: &Self) -> bool {
                match (&self.0, &other.0) {
                    (Record::Read(one), Record::Read(two)) => one == two,
                    _ => {
                        let is_same = |field: &$enum| self.look(*field, |one| other.look(*field, |two| one == two));
                        $enum::ALL.iter().all(is_same) && self.captured_bytes() == other.captured_bytes()
                    }
                }
            }
        }
    };
}

/// Function of this module of which `pickle` makes an object again, and its arguments.
type Reduced<'py, A> = (Bound<'py, PyAny>, A);

/// The function of this module that makes an object again.
pub(super) fn restoring<'py>(py: Python<'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("bytewright._bytewright")?.getattr(function)
}

/// The names of the fields: the same tuple for each object, so that a pickle has it once.
fn names_of<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    class.getattr("__match_args__")
}

packet_fields! { Packet Field DEFAULT
    /// The bytes that were captured.
    #[getter]
    fn captured<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.captured_bytes())
    }

    /// The captured bytes behind the header of TCP, UDP or SCTP; None without one.
    #[getter]
    fn payload<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let payload = self.captured_bytes().get(self.payload_range()?)?;
        Some(PyBytes::new(py, payload))
    }

    #[expect(clippy::type_complexity, reason = "what pickle takes")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Reduced<'py, (Bound<'py, PyAny>, Bound<'py, PyTuple>, Bound<'py, PyBytes>, Option<(usize, usize)>)>> {
        let payload = self.payload_range().map(|range| (range.start, range.end));
        let names = names_of(&py.get_type::<Packet>())?;
        let given = (names, self.values(py)?, PyBytes::new(py, self.captured_bytes()), payload);
        Ok((restoring(py, "restored_packet")?, given))
    }
}

flow_fields! { Flow FlowField ALL
    #[expect(clippy::type_complexity, reason = "what pickle takes")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Reduced<'py, (Bound<'py, PyAny>, Bound<'py, PyTuple>, u8)>> {
        let features = match &self.0 {
            Record::Read(flow) => flow.feature_set(),
            Record::Restored(restored) => restored.features,
        };
        let given = (names_of(&py.get_type::<Flow>())?, self.values(py)?, features.bits());
        Ok((restoring(py, "restored_flow")?, given))
    }
}

call_fields! { Call CallField ALL
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Reduced<'py, (Bound<'py, PyAny>, Bound<'py, PyTuple>)>> {
        let given = (names_of(&py.get_type::<Call>())?, self.values(py)?);
        Ok((restoring(py, "restored_call")?, given))
    }
}
