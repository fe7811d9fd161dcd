//! Words that the language keeps for itself.

/// Words that no definition can be called.
const KEYWORDS: &[&str] = &[
    "async",
    "binary",
    "bool",
    "byte",
    "const",
    "cpp_include",
    "cpp_type",
    "double",
    "enum",
    "exception",
    "extends",
    "i16",
    "i32",
    "i64",
    "i8",
    "include",
    "list",
    "map",
    "namespace",
    "oneway",
    "optional",
    "required",
    "service",
    "set",
    "string",
    "struct",
    "throws",
    "typedef",
    "union",
    "void",
    "xsd_all",
    "xsd_attrs",
    "xsd_nillable",
    "xsd_optional",
];

/// Those of them that a field cannot be called either: they may stand behind its name, or its type.
const AFTER_FIELDS: &[&str] = &["cpp_type", "xsd_all", "xsd_attrs", "xsd_nillable", "xsd_optional"];

/// Words of older versions, and what took their place.
const REPLACED: &[(&str, &str)] = &[
    ("cpp_namespace", "namespace cpp"),
    ("delphi_namespace", "namespace delphi"),
    ("java_package", "namespace java"),
    ("perl_package", "namespace SCOPE"),
    ("php_namespace", "namespace php"),
    ("py_module", "namespace py"),
    ("ruby_namespace", "namespace SCOPE"),
    ("senum", "string"),
    ("slist", "string"),
    ("smalltalk_category", "namespace st"),
    ("smalltalk_prefix", "namespace st"),
    ("xsd_namespace", "namespace xsd"),
];

/// Returns true if it is a word of the language, so that nothing can be defined by that name. `uuid`, the
/// latest one, is not: files from before it have types and values of that name.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Returns true if it is a word of the language that may be the name of a field all the same.
pub(super) fn names_a_field(word: &str) -> bool {
    is_keyword(word) && !AFTER_FIELDS.contains(&word)
}

/// The word that replaces one of older versions.
pub(super) fn replaced_by(word: &str) -> Option<&'static str> {
    REPLACED.iter().find(|(old, _)| *old == word).map(|(_, now)| *now)
}
