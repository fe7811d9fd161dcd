//! Codecs of classes: the fields of their messages and the making of their objects, found in `python/bytewright`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use bytewright::error::excerpt;
use bytewright::thrift::{
    EnumSchema, FieldSchema, PathStep, Plan, Projection, Requiredness, StructId, StructKind,
    ThriftSchema, Type, WireType,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};

use super::names::Names;
use crate::border::{Locked, Maker, each_entry};
use crate::error::raised;
use crate::shown::shown;

/// The attribute of a class that has its codec.
const ATTRIBUTE: &str = "_bytewright_codec";

/// Classes whose messages hold each other's, ready for reading and writing.
#[pyclass(module = "bytewright._bytewright")]
pub(crate) struct ThriftCodec {
    pub(super) plan: Arc<Plan>,
    /// By the number of the struct; none when the garbage collector has taken them.
    pub(super) layouts: Vec<Layout>,
    pub(super) compat: Compat,
    /// The numbers of structs by the addresses of their classes.
    roots: HashMap<usize, u32>,
    pub(super) names: Locked<RefCell<Names>>,
    /// The class of maps that have a hash, made of a dict.
    pub(super) frozen_dict: Py<PyType>,
}

/// Behaviour of the classes of one origin in what Thrift leaves open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compat {
    pub(super) text: TextErrors,
    /// True if sets are lists.
    pub(super) sets_as_lists: bool,
    /// True if a list or a set of elements of another type is empty, and not None.
    pub(super) empties_others: bool,
    /// True if required fields, unions, and the classes of values are checked.
    pub(super) is_strict: bool,
}

/// Treatment of a string that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextErrors {
    /// An error.
    Refuse,
    /// A `str` with U+FFFD where it is wrong.
    Replace,
    /// Its `bytes`.
    Keep,
}

/// A class and its fields.
pub(super) struct Layout {
    pub(super) name: String,
    pub(super) maker: Maker,
    pub(super) kind: StructKind,
    /// True if the class makes its objects itself, with an `__init__` of its own.
    pub(super) calls_class: bool,
    pub(super) fields: Vec<FieldLayout>,
}

impl Layout {
    /// A field as errors name it.
    #[cold]
    pub(super) fn place_of(&self, field: &FieldLayout) -> String {
        format!("{}.{}", excerpt(&self.name), excerpt(&field.name))
    }
}

/// A field; its number is that of an attribute of the [`Maker`], too.
pub(super) struct FieldLayout {
    pub(super) id: i16,
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) wire: WireType,
    pub(super) is_required: bool,
    pub(super) default: FieldDefault,
}

/// Value of a field that a message does not have.
pub(super) enum FieldDefault {
    /// None.
    Nothing,
    /// One object for all.
    Shared(Py<PyAny>),
    /// Result of a function, which is called each time.
    Made(Py<PyAny>),
}

/// Form of a value in Python, as far as the message does not say it.
pub(super) enum Shape {
    Bool,
    /// A number of so many bits.
    Int(u32),
    /// A number of 32 bits, and the objects for those that have names.
    Enum(HashMap<i64, Py<PyAny>>),
    Double,
    Text,
    Bytes,
    Uuid,
    Struct(u32),
    List(Box<Element>),
    Set(Box<Element>),
    Map(Box<(Element, Element)>),
}

/// The elements of a container.
pub(super) struct Element {
    pub(super) shape: Shape,
    pub(super) wire: WireType,
    /// True if the container is the key of another or in a set, and so cannot be one that changes.
    pub(super) is_frozen: bool,
}

#[pymethods]
impl ThriftCodec {
    /// `ThriftCodec(structs, origin, frozen_dict)`, the last a class of dicts that have a hash. Of each struct: class, name,
    /// kind, whether the class is called, and fields; of each field: id, name, type, whether it is required, and `None` or a
    /// tuple of an object and whether it is called.
    #[new]
    fn new(
        structs: Vec<Bound<'_, PyTuple>>,
        origin: &str,
        frozen_dict: Py<PyType>,
    ) -> PyResult<ThriftCodec> {
        let compat = Compat::of(origin)?;
        let mut schema = ThriftSchema::new();
        // Enums are numbers as far as bytes go; their names are the face's.
        schema.add_enum(EnumSchema { name: String::new(), values: Vec::new() });
        let (mut layouts, mut roots) = (Vec::with_capacity(structs.len()), HashMap::new());
        for described in &structs {
            let py = described.py();
            let (layout, fields) = Layout::of(described, compat)?;
            let id = schema.declare_struct(layout.name.as_str(), layout.kind);
            raised(py, schema.define_struct(id, fields))?;
            roots.insert(layout.maker.class(py).as_ptr() as usize, id.0);
            layouts.push(layout);
        }
        let py = match structs.first() {
            Some(described) => described.py(),
            None => return Err(PyValueError::new_err("expected a struct, found none")),
        };
        let plan = Arc::new(raised(py, Plan::new(Arc::new(schema)))?);
        let names = Locked::new(RefCell::new(Names::new()));
        Ok(ThriftCodec { plan, layouts, compat, roots, names, frozen_dict })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.frozen_dict)?;
        for layout in &self.layouts {
            layout.maker.traverse(&visit)?;
            for field in &layout.fields {
                match &field.default {
                    FieldDefault::Nothing => {}
                    FieldDefault::Shared(object) | FieldDefault::Made(object) => {
                        visit.call(object)?
                    }
                }
                field.shape.traverse(&visit)?;
            }
        }
        Ok(())
    }

    fn __clear__(&mut self) {
        self.layouts.clear();
        self.roots.clear();
    }
}

impl ThriftCodec {
    /// The number of a class's struct.
    #[inline]
    pub(super) fn root(&self, class: &Bound<'_, PyAny>) -> Option<u32> {
        self.roots.get(&(class.as_ptr() as usize)).copied()
    }

    /// The shape of the value at the end of a path.
    pub(super) fn shape_at(&self, root: u32, steps: &[PathStep]) -> Option<&Shape> {
        let (mut number, mut found): (u32, Option<&Shape>) = (root, None);
        for step in steps {
            let shape = match (step, found) {
                (PathStep::Field(field), _) => {
                    let layout = self.layouts.get(number as usize)?;
                    &layout.fields.get(usize::from(*field))?.shape
                }
                (PathStep::Key, Some(Shape::Map(entry))) => &entry.0.shape,
                (PathStep::Value, Some(Shape::Map(entry))) => &entry.1.shape,
                (_, Some(Shape::List(element) | Shape::Set(element))) => &element.shape,
                (_, found) => found?,
            };
            if let Shape::Struct(inside) = shape {
                number = *inside;
            }
            found = Some(shape);
        }
        found
    }

    /// The fields that paths name as columns, from the struct of a class on.
    pub(super) fn column_projection(
        &self,
        py: Python<'_>,
        class: &Bound<'_, PyAny>,
        paths: &[String],
    ) -> PyResult<Projection> {
        let root = StructId(self.root(class).unwrap_or(u32::MAX));
        raised(py, Projection::of_columns(Arc::clone(&self.plan), root, paths))
    }

    /// The fields that paths name in one message, from the struct of a class on.
    pub(super) fn projection(
        &self,
        py: Python<'_>,
        class: &Bound<'_, PyAny>,
        paths: &[String],
    ) -> PyResult<Projection> {
        let root = StructId(self.root(class).unwrap_or(u32::MAX));
        let projection = raised(py, Projection::new(Arc::clone(&self.plan), root, paths))?;
        raised(py, projection.expect_no_rows())?;
        Ok(projection)
    }
}

/// The codec of a class, and the number of its struct there. A class without one is described first.
#[inline]
pub(super) fn codec_of<'py>(class: &Bound<'py, PyAny>) -> PyResult<(PyRef<'py, ThriftCodec>, u32)> {
    if let Ok(found) = class.getattr(intern!(class.py(), ATTRIBUTE))
        && let Ok(codec) = found.cast_into::<ThriftCodec>()
    {
        let codec = codec.try_borrow()?;
        // A derived class has the attribute of the one that it is derived from.
        if let Some(root) = codec.root(class) {
            return Ok((codec, root));
        }
    }
    describe(class)
}

#[cold]
fn describe<'py>(class: &Bound<'py, PyAny>) -> PyResult<(PyRef<'py, ThriftCodec>, u32)> {
    let py = class.py();
    let describe = py.import("bytewright._thrift_generated")?.getattr("codec_of")?;
    let codec = describe.call1((class,))?.cast_into::<ThriftCodec>()?.try_borrow()?;
    match codec.root(class) {
        Some(root) => Ok((codec, root)),
        None => Err(PyTypeError::new_err(format!(
            "expected a class of Thrift, found {}",
            shown(class)?
        ))),
    }
}

impl Compat {
    fn with(text: TextErrors) -> Compat {
        Compat { text, sets_as_lists: false, empties_others: false, is_strict: false }
    }

    fn of(origin: &str) -> PyResult<Compat> {
        Ok(match origin {
            "idl" => Compat { is_strict: true, ..Compat::with(TextErrors::Refuse) },
            "thrift" => Compat::with(TextErrors::Replace),
            "thriftpy2" => Compat {
                sets_as_lists: true,
                empties_others: true,
                ..Compat::with(TextErrors::Keep)
            },
            other => {
                return Err(PyValueError::new_err(format!(
                    "expected an origin, found {}",
                    excerpt(other)
                )));
            }
        })
    }
}

fn kind_of(described: &Bound<'_, PyTuple>) -> PyResult<StructKind> {
    Ok(match described.get_item(2)?.extract::<String>()?.as_str() {
        "union" => StructKind::Union,
        "exception" => StructKind::Exception,
        _ => StructKind::Struct,
    })
}

impl Layout {
    fn of(described: &Bound<'_, PyTuple>, compat: Compat) -> PyResult<(Layout, Vec<FieldSchema>)> {
        let class = described.get_item(0)?.cast_into::<PyType>()?;
        let calls_class = described.get_item(3)?.extract()?;
        let (mut fields, mut schema, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for described in described.get_item(4)?.try_iter()? {
            let (id, name, value_type, is_required, default) =
                described?.extract::<Described<'_>>()?;
            names.push(PyString::intern(class.py(), &name));
            let described_type = type_of(&value_type)?;
            let wire = WireType::of(&described_type);
            schema.push(FieldSchema {
                requiredness: if is_required {
                    Requiredness::Required
                } else {
                    Requiredness::Default
                },
                has_default: default.is_some(),
                ..FieldSchema::new(id, name.clone(), described_type)
            });
            let shape = Shape::of(&value_type, compat, false)?;
            let default = match default {
                None => FieldDefault::Nothing,
                Some((object, false)) => FieldDefault::Shared(object.unbind()),
                Some((function, true)) => FieldDefault::Made(function.unbind()),
            };
            fields.push(FieldLayout { id, name, shape, wire, is_required, default });
        }
        let name = described.get_item(1)?.extract()?;
        let maker = Maker::of(&class, &names)?;
        Ok((Layout { name, maker, kind: kind_of(described)?, calls_class, fields }, schema))
    }
}

type Described<'py> = (i16, String, Bound<'py, PyTuple>, bool, Option<(Bound<'py, PyAny>, bool)>);

fn inside<'py>(described: &Bound<'py, PyTuple>, place: usize) -> PyResult<Bound<'py, PyTuple>> {
    Ok(described.get_item(place)?.cast_into::<PyTuple>()?)
}

/// The core's type for a description: a number as Binary has it, and what is inside.
fn type_of(described: &Bound<'_, PyTuple>) -> PyResult<Type> {
    let number = described.get_item(0)?.extract()?;
    let inside = |place: u8| type_of(&inside(described, place.into())?);
    let found = Type::numbered(number, inside, || described.get_item(1)?.extract())?;
    found.ok_or_else(|| {
        let message = format!("expected the number of one of Thrift's types, found {number}");
        PyTypeError::new_err(message)
    })
}

impl Shape {
    /// The shape for a description. A container is frozen where the description says so, and in keys and sets.
    fn of(described: &Bound<'_, PyTuple>, compat: Compat, is_frozen: bool) -> PyResult<Shape> {
        let element =
            |place, inner_frozen| Element::of((described, place), compat, inner_frozen, is_frozen);
        Ok(match described.get_item(0)?.extract::<u8>()? {
            2 => Shape::Bool,
            3 => Shape::Int(8),
            4 => Shape::Double,
            6 => Shape::Int(16),
            8 => match described.get_item(1) {
                Ok(members) => Shape::Enum(members_of(&members.cast_into::<PyDict>()?)?),
                Err(_) => Shape::Int(32),
            },
            10 => Shape::Int(64),
            11 => Shape::Text,
            12 => Shape::Struct(described.get_item(1)?.extract()?),
            13 => Shape::Map(Box::new((element(1, true)?, element(2, is_frozen)?))),
            14 => Shape::Set(Box::new(element(1, is_frozen || !compat.sets_as_lists)?)),
            15 => Shape::List(Box::new(element(1, is_frozen)?)),
            16 => Shape::Uuid,
            _ => Shape::Bytes,
        })
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Shape::Enum(members) => members.values().try_for_each(|member| visit.call(member)),
            Shape::List(element) | Shape::Set(element) => element.shape.traverse(visit),
            Shape::Map(entry) => {
                entry.0.shape.traverse(visit)?;
                entry.1.shape.traverse(visit)
            }
            _ => Ok(()),
        }
    }
}

impl Element {
    fn of(
        (described, place): (&Bound<'_, PyTuple>, usize),
        compat: Compat,
        inner_frozen: bool,
        is_frozen: bool,
    ) -> PyResult<Element> {
        let told = inside(described, place)?;
        let says_so =
            described.iter().last().is_some_and(|last| last.extract::<bool>().unwrap_or(false));
        Ok(Element {
            shape: Shape::of(&told, compat, inner_frozen)?,
            wire: WireType::of(&type_of(&told)?),
            is_frozen: is_frozen || says_so,
        })
    }
}

fn members_of(members: &Bound<'_, PyDict>) -> PyResult<HashMap<i64, Py<PyAny>>> {
    let count = members.len();
    let mut found = HashMap::with_capacity(count);
    each_entry(members, count, |number, member| {
        found.insert(number.extract()?, member.unbind());
        PyResult::Ok(())
    })?;
    Ok(found)
}
