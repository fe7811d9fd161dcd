//! Fields of rows: the names, types and meanings that all outputs and faces take from here.

use std::borrow::Cow;
use std::sync::Arc;

use super::{DataType, wireshark_names};
use crate::error::excerpt;
use crate::spelling::nearest;
use crate::{Error, ErrorKind, Result};

/// Fields that an error names, where there is none of a name.
const NAMES_TOLD: usize = 48;

/// One column of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    name: Cow<'static, str>,
    data_type: DataType,
    is_nullable: bool,
    meaning: Cow<'static, str>,
    /// Fields that a nested type consists of.
    children: Option<Arc<[Field]>>,
}

impl Field {
    /// A field that is known when the program is built.
    pub const fn constant(
        name: &'static str,
        data_type: DataType,
        is_nullable: bool,
        meaning: &'static str,
    ) -> Self {
        let (name, meaning) = (Cow::Borrowed(name), Cow::Borrowed(meaning));
        Field { name, data_type, is_nullable, meaning, children: None }
    }

    /// A field that is known when the program runs, such as one of an IDL file.
    pub fn new(name: String, data_type: DataType, is_nullable: bool, meaning: String) -> Self {
        let (name, meaning) = (name.into(), meaning.into());
        Field { name, data_type, is_nullable, meaning, children: None }
    }

    /// A field with a list of such values as `item` describes. Its name is `item` in Arrow.
    pub fn list(name: String, item: Field, is_nullable: bool) -> Self {
        Field::nested(name, DataType::List, is_nullable, vec![item.named("item")])
    }

    /// A field with a value of each of `fields`.
    pub fn structure(name: String, fields: Vec<Field>, is_nullable: bool) -> Self {
        Field::nested(name, DataType::Struct, is_nullable, fields)
    }

    /// A field with values by keys. A key is never null.
    pub fn map(name: String, key: Field, value: Field, is_nullable: bool) -> Self {
        let key = Field { is_nullable: false, ..key.named("key") };
        let entry = vec![key, value.named("value")];
        let entries = Field::structure("entries".to_owned(), entry, false);
        Field::nested(name, DataType::Map, is_nullable, vec![entries])
    }

    fn nested(name: String, data_type: DataType, is_nullable: bool, children: Vec<Field>) -> Self {
        let children = Some(children.into());
        Field { children, ..Field::new(name, data_type, is_nullable, String::new()) }
    }

    /// The field with another name.
    #[must_use]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        Field { name: name.into(), ..self }
    }

    /// The field of which a row may have no value.
    #[must_use]
    pub fn nullable(self) -> Self {
        Field { is_nullable: true, ..self }
    }

    /// The field with another type, which is not nested either.
    pub(super) fn with_type(&self, data_type: DataType) -> Self {
        Field { data_type, ..self.clone() }
    }

    /// The field with other fields inside.
    pub(super) fn with_children(&self, children: Vec<Field>) -> Self {
        Field { children: Some(children.into()), ..self.clone() }
    }

    /// The name it has in every output and face.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the type of its values.
    pub const fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The fields that a nested type consists of: of a list the one of its elements, of a struct its own, and of a map the
    /// struct of a key and a value. None of other types.
    pub fn children(&self) -> &[Field] {
        self.children.as_deref().unwrap_or_default()
    }

    /// Shares the fields of [`Field::children`].
    pub(super) fn shared_children(&self) -> Arc<[Field]> {
        self.children.clone().unwrap_or_default()
    }

    /// Returns true if a row may have no value.
    pub const fn is_nullable(&self) -> bool {
        self.is_nullable
    }

    /// Returns its meaning, with its unit, as a sentence; empty if none was given.
    pub fn meaning(&self) -> &str {
        &self.meaning
    }
}

/// The fields of rows of one kind. Copying one costs nothing.
#[derive(Debug, Clone)]
pub struct Schema {
    name: Cow<'static, str>,
    fields: Fields,
}

#[derive(Debug, Clone)]
enum Fields {
    Constant(&'static [Field]),
    Shared(Arc<[Field]>),
}

impl Schema {
    /// A schema that is known when the program is built.
    pub const fn constant(name: &'static str, fields: &'static [Field]) -> Self {
        Schema { name: Cow::Borrowed(name), fields: Fields::Constant(fields) }
    }

    /// A schema that is known when the program runs.
    pub fn new(name: impl Into<Cow<'static, str>>, fields: Vec<Field>) -> Self {
        Schema { name: name.into(), fields: Fields::Shared(fields.into()) }
    }

    /// Returns the name of the rows, in the plural: "packets".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its fields, in the order of the columns.
    pub fn fields(&self) -> &[Field] {
        match &self.fields {
            Fields::Constant(fields) => fields,
            Fields::Shared(fields) => fields,
        }
    }

    /// The place of the field with that name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.fields().iter().position(|field| field.name == name)
    }

    /// The place of the field with that name.
    ///
    /// # Errors
    ///
    /// `Argument` where there is none, with the names that there are and the one that was probably meant.
    pub fn place_of(&self, name: &str) -> Result<usize> {
        self.find(name).ok_or_else(|| self.no_field(name))
    }

    /// Returns the error for a name that no field has.
    pub(crate) fn no_field(&self, name: &str) -> Error {
        self.no_field_but(name, self.nearest(name))
    }

    /// Returns the error for a name that no field has; `near` is the field that may have been meant.
    pub(crate) fn no_field_but(&self, name: &str, near: Option<&str>) -> Error {
        if let Some(here) = self.of_wireshark(name, near) {
            let message = format!("expected a field, found {name}, as Wireshark calls it; {here}");
            return Error::new(ErrorKind::Argument, message);
        }
        let message = match near {
            Some(near) => {
                format!("expected a field, found {}; did you mean {near}?", excerpt(name))
            }
            None => format!("expected a field ({}), found {}", self.names_told(), excerpt(name)),
        };
        Error::new(ErrorKind::Argument, message)
    }

    /// Names of the fields, as many as an error tells.
    fn names_told(&self) -> String {
        let known: Vec<&str> = self.fields().iter().map(Field::name).take(NAMES_TOLD).collect();
        match self.fields().len().saturating_sub(NAMES_TOLD) {
            0 => known.join(", "),
            more => format!("{} and {more} more", known.join(", ")),
        }
    }

    /// Says what a name of Wireshark's is here, as the end of an error; nothing for other names.
    pub fn name_here(&self, name: &str) -> Option<String> {
        self.of_wireshark(name, None)
    }

    /// Says what a name of Wireshark's is here: a field, those of both sides, or one of flows; `near` is what the place of the
    /// name takes for both sides.
    fn of_wireshark(&self, name: &str, near: Option<&str>) -> Option<String> {
        let ours = wireshark_names::ours(name)?;
        if self.find(ours).is_some() || near == Some(ours) {
            return Some(format!("here it is {ours}"));
        }
        match wireshark_names::sides(ours) {
            Some(sides) => {
                let first = sides.split(' ').next().unwrap_or_default();
                self.find(first).map(|_| format!("here it is {sides}"))
            }
            // Packets have it only added up.
            None if wireshark_names::is_of_flows(name) => Some(format!("flows have it as {ours}")),
            None => None,
        }
    }

    /// The name of the field that a misspelled name, or one of Wireshark's, probably means.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let ours = wireshark_names::ours(name);
        if let Some(ours) = ours.filter(|ours| self.find(ours).is_some()) {
            return Some(ours);
        }
        nearest(name, self.fields().iter().map(Field::name))
    }

    /// The schema with only the fields at `places`, in that order; those that it does not have are left out.
    #[must_use]
    pub fn project(&self, places: impl IntoIterator<Item = usize>) -> Self {
        let fields = places.into_iter().filter_map(|place| self.fields().get(place).cloned());
        Schema { name: self.name.clone(), fields: Fields::Shared(fields.collect()) }
    }

    /// The schema with more fields behind its own.
    #[must_use]
    pub fn with(&self, more: &[Field]) -> Self {
        let fields = self.fields().iter().chain(more).cloned();
        Schema { name: self.name.clone(), fields: Fields::Shared(fields.collect()) }
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.fields() == other.fields()
    }
}

impl Eq for Schema {}

/// Declares an enum of the fields of a record together with its schema. Each line is
/// `Variant "name" required|optional Type, "meaning";`. It expands to the enum, its `ALL` and `SCHEMA`, both in the
/// same order, and to what the schema says of one of them:
///
/// ```ignore
/// pub enum CallField { Ts, ... }
/// impl CallField {
///     pub const ALL: &'static [CallField] = &[CallField::Ts, ...];
///     pub const SCHEMA: Schema = Schema::constant("calls", &[Field::constant("ts", ...), ...]);
///     pub const fn name(self) -> &'static str { ... }
///     pub const fn data_type(self) -> DataType { ... }
///     pub const fn meaning(self) -> &'static str { ... }
///     pub fn named(name: &str) -> Result<CallField> { ... }
/// }
/// ```
macro_rules! record_fields {
    (
        $of:literal $schema:literal $enum:ident {
            $($variant:ident $name:literal $presence:ident $type:expr, $meaning:literal;)*
        }
    ) => {
        #[doc = $of]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $enum {
            $(#[doc = $meaning] $variant,)*
        }

        impl $enum {
            /// Every field, in the order of the documentation.
            pub const ALL: &'static [$enum] = &[$($enum::$variant),*];

            /// All of them as columns, in the same order.
            pub const SCHEMA: $crate::batch::Schema = $crate::batch::Schema::constant($schema, {
                const FIELDS: &[$crate::batch::Field] = &[$(
                    $crate::batch::Field::constant(
                        $name,
                        $type,
                        $crate::batch::schema::record_fields!(@nullable $presence),
                        $meaning,
                    ),
                )*];
                FIELDS
            });

            /// The name it has in every output and face.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name),* }
            }

            /// Returns the type of its values.
            pub const fn data_type(self) -> $crate::batch::DataType {
                match self { $($enum::$variant => $type),* }
            }

            /// Returns its meaning, with its unit.
            pub const fn meaning(self) -> &'static str {
                match self { $($enum::$variant => $meaning),* }
            }

            /// The field of that name.
            ///
            /// # Errors
            ///
            /// `Argument` where there is none, see [`Schema::place_of`]($crate::batch::Schema::place_of).
            pub fn named(name: &str) -> $crate::Result<$enum> {
                let found = $enum::ALL.iter().copied().find(|field| field.name() == name);
                found.ok_or_else(|| $enum::SCHEMA.no_field(name))
            }
        }
    };
    (@nullable required) => { false };
    (@nullable optional) => { true };
}

pub(crate) use record_fields;

#[cfg(test)]
mod tests {
    #![allow(unreachable_pub, reason = "what the macro makes is public elsewhere")]

    use super::*;

    record_fields! { "A field of a test." "tests" TestField {
        Ts "ts" optional DataType::TimeNs, "When.";
        SrcPort "src_port" required DataType::U16, "From where.";
        DstPort "dst_port" required DataType::U16, "To where.";
    } }

    #[test]
    fn an_enum_of_fields_and_its_schema_say_the_same() {
        assert_eq!(TestField::ALL.len(), TestField::SCHEMA.fields().len());
        for (place, (field, described)) in
            TestField::ALL.iter().zip(TestField::SCHEMA.fields()).enumerate()
        {
            assert_eq!((field.name(), field.meaning()), (described.name(), described.meaning()));
            assert_eq!(field.data_type(), described.data_type());
            assert_eq!(TestField::SCHEMA.find(field.name()), Some(place));
            assert_eq!(TestField::named(field.name()).ok(), Some(*field));
        }
        let nullable: Vec<bool> =
            TestField::SCHEMA.fields().iter().map(Field::is_nullable).collect();
        assert_eq!(nullable, [true, false, false]);
    }

    #[test]
    fn a_misspelled_name_is_answered_with_the_one_that_was_meant() {
        let told = |name| TestField::SCHEMA.place_of(name).map_err(|error| error.to_string());
        assert_eq!(told("src_port"), Ok(1));
        let meant =
            |name, near| Err(format!("expected a field, found {name}; did you mean {near}?"));
        assert_eq!(told("dst_prot"), meant("dst_prot", "dst_port"));
        assert_eq!(told("srcport"), meant("srcport", "src_port"));
        let message = "expected a field (ts, src_port, dst_port), found ";
        assert_eq!(told("x"), Err(format!("{message}x")));
        assert_eq!(told("time_of_day"), Err(format!("{message}time_of_day")));
    }

    #[test]
    fn a_projection_has_the_fields_that_were_asked_for_in_that_order() {
        let schema = TestField::SCHEMA.project([2, 0, 9]);
        let names: Vec<&str> = schema.fields().iter().map(Field::name).collect();
        assert_eq!((schema.name(), names.as_slice()), ("tests", &["dst_port", "ts"][..]));
        assert_ne!(schema, TestField::SCHEMA);
        assert_eq!(TestField::SCHEMA.project([0, 1, 2]), TestField::SCHEMA);
    }
}
