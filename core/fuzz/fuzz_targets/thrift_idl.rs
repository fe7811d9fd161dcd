//! Any bytes as IDL files: no panic, and what is accepted can be walked through by its numbers.

#![no_main]

use bytewright::thrift::Type;
use bytewright::thrift::idl::{self, IdlOptions, SourceText};
use bytewright::{Error, ErrorKind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // Files are told apart by a byte that is in no text; they include each other by their places.
    let files: Vec<&[u8]> = bytes.split(|&byte| byte == 0).collect();
    let source = |number: usize| {
        let bytes = files.get(number)?.to_vec();
        Some(SourceText { path: format!("{number}.thrift"), bytes })
    };
    let mut includes = |name: &str, _: &str| {
        let number = name.trim_end_matches(".thrift").parse().unwrap_or(1);
        source(number).ok_or_else(|| Error::new(ErrorKind::Io(Some(2)), "no such file"))
    };
    let Some(main) = source(0) else { return };
    let options = IdlOptions { keep_negative_ids: bytes.len() % 2 == 1 };
    let Ok(document) = idl::parse(main, &mut includes, options) else { return };
    assert_eq!(document.structs.len(), document.schema.structs().len());
    assert_eq!(document.enums.len(), document.schema.enums().len());
    for (schema, definition) in document.schema.structs().iter().zip(&document.structs) {
        assert_eq!(schema.fields.len(), definition.fields.len());
        assert!(document.program(definition.program).is_some());
        for (field, definition) in schema.fields.iter().zip(&definition.fields) {
            assert_eq!(field.has_default, definition.default.is_some());
            if let Type::Struct(id) = field.value_type {
                assert!(document.schema.get(id).is_some());
            }
        }
    }
    for service in &document.services {
        for function in &service.functions {
            document.exceptions(function);
        }
    }
});
