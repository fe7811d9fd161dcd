//! `Bytewright::ThriftCodec`: how the messages of one class, and of all that it holds, become objects
//! and objects become messages. It is made once for a class, of a description that `ruby/lib` makes of
//! the class, and holds for as long as no method is changed that it looked at.

use std::cell::RefCell;
use std::sync::Arc;

use bytewright::thrift::{
    Encoding, FieldSchema, Limits, MessageForm, MessageLayout, NarrowVarint, PATHS_MAX, Plan,
    Projection, StructId, StructKind, ThriftSchema, Type, WireType,
};
use magnus::rb_sys::AsRawValue;
use magnus::value::{Opaque, ReprValue};
use magnus::{Error, Object, RArray, RClass, RHash, RString, Ruby, Symbol, Value, function};

use super::variable::{Variable, find_places};
use super::{define_thrift, gem_classes, hold_codec};
use crate::error::{raised, refusal};

// Bound (Thrift): lists of fields that a class remembers for `pluck` = 64.
/// Others make a codec forget all.
const PROJECTIONS_MAX: usize = 64;

/// Defaults of a class that are told by a bit; those beyond are set before the message's values.
const DEFAULT_BITS: usize = 64;

/// Of one class and those that it holds.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::ThriftCodec", free_immediately, mark)]
pub(crate) struct Codec {
    pub(crate) plan: Arc<Plan>,
    /// By the number of the struct in the schema. The first is the class's own.
    pub(crate) layouts: Vec<Layout>,
    /// True if Ruby code runs while objects are made, which could change the message.
    pub(crate) runs_ruby: bool,
    /// True if nothing that the class holds reads, writes or compares in a way of its own.
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) compares: bool,
    pub(crate) hashes: bool,
    /// As `reads` and `writes`, for the class itself.
    pub(crate) root_reads: bool,
    pub(crate) root_writes: bool,
    /// Behaviour of the loaded gem, if gems differ in it.
    pub(crate) compat: Compat,
    /// When it was made.
    pub(crate) generation: usize,
    held: Vec<Opaque<Value>>,
    projections: RefCell<Vec<Kept>>,
}

/// Behaviour that differs between releases of the gem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compat {
    /// True if an object that is read into loses the fields that it has from before.
    pub(crate) resets_structs: bool,
    pub(crate) resets_unions: bool,
    /// True if `read` and `write` take the maximum depth of nested structs.
    pub(crate) takes_depth: bool,
    /// Rule for varints that are read.
    narrow_varint: NarrowVarint,
}

impl Compat {
    fn of(ruby: &Ruby, described: RHash) -> Result<Compat, Error> {
        let flag = |name: &str| described.fetch::<_, bool>(ruby.to_symbol(name));
        let bytes: Option<u8> = described.fetch(ruby.to_symbol("varint_len_max"))?;
        let narrow_varint = match (bytes, flag("exact_varints")?) {
            (None, _) => NarrowVarint::Any,
            (Some(_), false) => NarrowVarint::FiveBytes,
            (Some(_), true) => NarrowVarint::Exact,
        };
        Ok(Compat {
            resets_structs: flag("resets_structs")?,
            resets_unions: flag("resets_unions")?,
            takes_depth: flag("takes_depth")?,
            narrow_varint,
        })
    }

    /// The bounds of a message.
    #[inline]
    pub(crate) fn limits(self) -> Limits {
        Limits { narrow_varint: self.narrow_varint, ..Limits::default() }
    }
}

/// A projection, and the paths that it was asked for by.
struct Kept {
    paths: Vec<Opaque<Symbol>>,
    projection: Arc<Projection>,
}

/// Layout of the objects of one class.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The class, as Ruby's value.
    pub(crate) class: u64,
    pub(crate) making: Making,
    /// True if `validate` does something.
    pub(crate) validates: bool,
    /// By the number of the field in the schema.
    pub(crate) fields: Vec<FieldLayout>,
    /// Numbers of fields, in the order of writing.
    pub(crate) by_id: Vec<u16>,
    pub(crate) defaults: Vec<DefaultValue>,
    /// Of a union: which field is set, and its value.
    pub(crate) set_field: Variable,
    pub(crate) value: Variable,
}

/// Way in which an object is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Making {
    /// It is there, and has its defaults.
    Allocated,
    /// As `Allocated`, for a union.
    AllocatedUnion,
    /// Its class makes it, in a way of its own, with its defaults.
    New,
    /// As `New`, for a union.
    NewUnion,
}

/// A field of an object.
#[derive(Debug)]
pub(crate) struct FieldLayout {
    pub(crate) variable: Variable,
    /// Its name as a Symbol, as Ruby's value.
    pub(crate) symbol: u64,
    pub(crate) id: i16,
    pub(crate) kind: WireType,
    pub(crate) value_type: Type,
    /// The bit of its default, 0 where it has none.
    pub(crate) default_bit: u64,
}

/// Value of a field that a message does not have.
#[derive(Debug)]
pub(crate) struct DefaultValue {
    pub(crate) variable: Variable,
    /// As Ruby's value.
    pub(crate) value: u64,
    /// 0 beyond the 64th.
    pub(crate) bit: u64,
}

impl Making {
    pub(crate) fn is_union(self) -> bool {
        matches!(self, Making::AllocatedUnion | Making::NewUnion)
    }
}

impl magnus::DataTypeFunctions for Codec {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.held.iter().for_each(|held| marker.mark(*held));
        for kept in self.projections.borrow().iter() {
            kept.paths.iter().for_each(|path| marker.mark(*path));
        }
    }
}

impl Codec {
    /// `ThriftCodec.build(structs, options)`: `structs` is an Array of
    /// `[class, name, kind, is_new, validates, [[id, name, type, default], ...]]`, the class's own
    /// first; a type is an Array of its number in Binary and the types inside.
    fn build(ruby: &Ruby, structs: RArray, options: RHash) -> Result<Codec, Error> {
        let mut schema = ThriftSchema::new();
        let (mut layouts, mut held) = (Vec::new(), Vec::new());
        for at in 0..structs.len() as isize {
            let described: RArray = structs.entry(at)?;
            let (name, kind) = (described.entry::<String>(1)?, kind_of(described.entry(2)?));
            let id = schema.declare_struct(name, kind);
            let (layout, fields) = layout_of(ruby, described, &mut held)?;
            raised(ruby, schema.define_struct(id, fields))?;
            layouts.push(layout);
        }
        let flag = |name: &str| options.fetch::<_, bool>(ruby.to_symbol(name));
        let plan = Arc::new(raised(ruby, Plan::new(Arc::new(schema)))?);
        Ok(Codec {
            plan,
            layouts,
            runs_ruby: flag("runs_ruby")?,
            reads: flag("reads")?,
            writes: flag("writes")?,
            compares: flag("compares")?,
            hashes: flag("hashes")?,
            root_reads: flag("root_reads")?,
            root_writes: flag("root_writes")?,
            compat: Compat::of(ruby, options.fetch(ruby.to_symbol("compat"))?)?,
            generation: options.fetch(ruby.to_symbol("generation"))?,
            held,
            projections: RefCell::default(),
        })
    }

    /// Returns true if it is the class's own: a copy of a class has the variables of the class.
    #[inline]
    pub(crate) fn is_of(&self, class: u64) -> bool {
        self.layouts.first().is_none_or(|layout| layout.class == class)
    }

    /// The layout of a struct of the schema.
    #[inline]
    pub(crate) fn layout(&self, id: StructId) -> Option<&Layout> {
        self.layouts.get(id.0 as usize)
    }

    /// The layout of the objects of a class, if the codec has it.
    #[inline]
    pub(crate) fn layout_of(&self, class: u64) -> Option<&Layout> {
        self.layouts.iter().find(|layout| layout.class == class)
    }

    /// The projection onto `paths`, Symbols or Strings, made once for each list of them.
    pub(crate) fn projection(
        &self,
        ruby: &Ruby,
        paths: &[Value],
    ) -> Result<Arc<Projection>, Error> {
        for kept in self.projections.borrow().iter() {
            let same = |(kept, path): (&Opaque<Symbol>, &Value)| {
                ruby.get_inner(*kept).as_raw() == path.as_raw()
            };
            if kept.paths.len() == paths.len() && kept.paths.iter().zip(paths).all(same) {
                return Ok(kept.projection.clone());
            }
        }
        if paths.len() > PATHS_MAX {
            let message = format!("expected at most {PATHS_MAX} fields, found {}", paths.len());
            return Err(Error::new(ruby.exception_arg_error(), message));
        }
        let mut names = Vec::with_capacity(paths.len());
        for path in paths {
            names.push(name_of(ruby, *path)?);
        }
        let projection = raised(ruby, Projection::new(self.plan.clone(), StructId(0), &names))?;
        let projection = Arc::new(projection);
        let symbols: Vec<_> = paths.iter().filter_map(|path| Symbol::from_value(*path)).collect();
        if symbols.len() == paths.len() {
            let mut projections = self.projections.borrow_mut();
            if projections.len() >= PROJECTIONS_MAX {
                projections.clear();
            }
            let paths = symbols.into_iter().map(Opaque::from).collect();
            projections.push(Kept { paths, projection: projection.clone() });
        }
        Ok(projection)
    }

    /// All fields of its class, as columns.
    pub(crate) fn whole(&self, ruby: &Ruby) -> Result<Arc<Projection>, Error> {
        raised(ruby, Projection::whole(self.plan.clone(), StructId(0))).map(Arc::new)
    }
}

/// A path as text.
fn name_of(ruby: &Ruby, path: Value) -> Result<String, Error> {
    if let Some(symbol) = Symbol::from_value(path) {
        return Ok(symbol.name()?.into_owned());
    }
    match RString::from_value(path) {
        Some(string) => string.to_string(),
        None => Err(refusal(ruby, ruby.exception_type_error(), path, |found| {
            format!("expected the names of fields as Symbols, found {found}")
        })),
    }
}

fn kind_of(number: u8) -> StructKind {
    match number {
        1 => StructKind::Union,
        2 => StructKind::Exception,
        _ => StructKind::Struct,
    }
}

fn layout_of(
    ruby: &Ruby,
    described: RArray,
    held: &mut Vec<Opaque<Value>>,
) -> Result<(Layout, Vec<FieldSchema>), Error> {
    let class: RClass = described.entry(0)?;
    held.push(class.as_value().into());
    let (is_union, is_new) = (described.entry::<u8>(2)? == 1, described.entry::<bool>(3)?);
    let making = match (is_union, is_new) {
        (false, false) => Making::Allocated,
        (true, false) => Making::AllocatedUnion,
        (false, true) => Making::New,
        (true, true) => Making::NewUnion,
    };
    let described_fields: RArray = described.entry(5)?;
    let variables = variables_of(class, is_union, described_fields)?;
    let (mut fields, mut schemas, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
    for (at, variable) in (0..).zip(variables.fields) {
        let field: RArray = described_fields.entry(at)?;
        let (id, name): (i16, String) = (field.entry(0)?, field.entry(1)?);
        let value_type = type_of(ruby, field.entry(2)?)?;
        let symbol = ruby.to_symbol(name.as_str());
        held.push(symbol.as_value().into());
        let default: Value = field.entry(3)?;
        let mut default_bit = 0;
        if !default.is_nil() && making == Making::Allocated {
            held.push(default.into());
            default_bit = if defaults.len() < DEFAULT_BITS { 1 << defaults.len() } else { 0 };
            defaults.push(DefaultValue { variable, value: default.as_raw(), bit: default_bit });
        }
        fields.push(FieldLayout {
            variable,
            symbol: symbol.as_raw(),
            id,
            kind: WireType::of(&value_type),
            value_type: value_type.clone(),
            default_bit,
        });
        schemas.push(FieldSchema::new(id, name, value_type));
    }
    let mut by_id: Vec<u16> = (0..).take(fields.len()).collect();
    by_id.sort_by_key(|number| fields.get(usize::from(*number)).map(|field| field.id));
    let layout = Layout {
        class: class.as_raw(),
        making,
        validates: described.entry(4)?,
        fields,
        by_id,
        defaults,
        set_field: variables.set_field,
        value: variables.value,
    };
    Ok((layout, schemas))
}

/// The variables of a class's objects.
struct ClassVariables {
    fields: Vec<Variable>,
    set_field: Variable,
    value: Variable,
}

fn variables_of(class: RClass, is_union: bool, fields: RArray) -> Result<ClassVariables, Error> {
    let mut variables = Vec::with_capacity(fields.len());
    for at in 0..fields.len() as isize {
        let name: String = fields.entry::<RArray>(at)?.entry(1)?;
        variables.push(Variable::named(&format!("@{name}")));
    }
    let mut of_union = [Variable::named("@setfield"), Variable::named("@value")];
    find_places(class, if is_union { &mut of_union } else { &mut variables })?;
    let [set_field, value] = of_union;
    Ok(ClassVariables { fields: variables, set_field, value })
}

fn type_of(ruby: &Ruby, described: RArray) -> Result<Type, Error> {
    let number = described.entry(0)?;
    let inside = |at: u8| type_of(ruby, described.entry::<RArray>(at.into())?);
    let found = Type::numbered(number, inside, || described.entry(1))?;
    found.ok_or_else(|| {
        let message = format!("expected the number of one of Thrift's types, found {number}");
        Error::new(ruby.exception_arg_error(), message)
    })
}

/// `ThriftCodec.keep(class, codec)`: from now on messages of the class go by the codec, or where it
/// is nil by the gem alone.
fn keep(class: RClass, codec: Value) -> Result<(), Error> {
    hold_codec(class, codec)
}

fn know(ruby: &Ruby, which: usize, class: Option<RClass>) -> Result<(), Error> {
    gem_classes::know(ruby, which, class)
}

/// `ThriftCodec.pin(module)`: keeps a module alive and where it is.
fn pin(ruby: &Ruby, module: Value) {
    ruby.gc_register_mark_object(module);
}

/// `:binary` or `:compact`, of a message that is written.
pub(crate) fn encoding_named(ruby: &Ruby, given: Value) -> Result<Encoding, Error> {
    let layout = layout_named(ruby, given)?;
    match layout.form {
        MessageForm::Packed(encoding) if !layout.has_frame_headers => Ok(encoding),
        _ => Err(refusal(ruby, ruby.exception_arg_error(), given, |found| {
            format!("expected the protocol :binary or :compact, found {found}")
        })),
    }
}

/// The layout of messages in `:binary`, `:compact`, `:header` or `:json`, which is named by itself or in the keywords of a method.
pub(crate) fn layout_named(ruby: &Ruby, given: Value) -> Result<MessageLayout, Error> {
    let mut named = given;
    if let Some(keywords) = RHash::from_value(given) {
        let key = ruby.to_symbol("protocol");
        let found: Option<Value> = keywords.get(key);
        let others = keywords.len() - usize::from(found.is_some());
        if others > 0 {
            return Err(refusal(ruby, ruby.exception_arg_error(), given, |found| {
                format!("expected the keyword protocol, found {found}")
            }));
        }
        named = found.unwrap_or_else(|| ruby.to_symbol("binary").as_value());
    }
    let name = Symbol::from_value(named).map(|symbol| symbol.name().map(|name| name.into_owned()));
    name.transpose()?.as_deref().and_then(MessageLayout::named).ok_or_else(|| {
        refusal(ruby, ruby.exception_arg_error(), named, |found| {
            format!("expected the protocol :binary, :compact, :header or :json, found {found}")
        })
    })
}

/// Defines the class, and what reads and writes by it.
pub(crate) fn define_codec(ruby: &Ruby) -> Result<RClass, Error> {
    let class = crate::class::define::<Codec>(ruby, "ThriftCodec")?;
    class.define_singleton_method("build", function!(Codec::build, 2))?;
    class.define_singleton_method("keep", function!(keep, 2))?;
    class.define_singleton_method("know", function!(know, 2))?;
    class.define_singleton_method("pin", function!(pin, 1))?;
    class.define_singleton_method("expire", function!(gem_classes::expire, 0))?;
    class.define_singleton_method("generation", function!(gem_classes::generation, 0))?;
    define_thrift(class);
    Ok(class)
}
