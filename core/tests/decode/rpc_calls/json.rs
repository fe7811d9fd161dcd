//! Calls in JSON, as Apache's libraries write them.

use std::path::Path;

use bytewright::ask::load_idl;
use bytewright::batch::json::RowWriter;
use bytewright::batch::{Batch, Schema, Value};
use bytewright::rpc::{Call, CallStructs, CarriedField, Framing, Methods, Protocol, RpcOptions};
use bytewright::thrift::idl::IdlOptions;
use bytewright::thrift::{MessageForm, Tape};

use super::talk::{Talk, framed};

const CALL: &[u8] = br#"[1,"picture",1,7,{"1":{"str":"tea"},"2":{"i32":2}}]"#;
const ANSWER: &[u8] = br#"[1,"picture",2,7,{"0":{"str":"AP8"}}]"#;
const MISSING: &[u8] = br#"[1,"find",2,8,{"1":{"rec":{"1":{"str":"tea"}}}}]"#;
const FAILURE: &[u8] = br#"[1,"audit",3,9,{"1":{"str":"none"},"2":{"i32":1}}]"#;

#[test]
fn arguments_and_results_are_read_by_the_idl_however_they_are_cut() {
    let methods = methods();
    let mut tape = Tape::new();
    let expected = [
        (r#"{"name":"tea","size":2}"#, r#"{"success":{"base64":"AP8="}}"#, "returned"),
        (r#"{"name":"tea"}"#, r#"{"not_found":{"name":"tea"}}"#, "exception"),
        (r#"{"shelves":[1]}"#, r#"{"message":"none","type":1}"#, "failure"),
    ];
    let find = br#"[1,"find",1,8,{"1":{"str":"tea"}}]"#;
    let audit = br#"[1,"audit",1,9,{"1":{"set":["i32",1,1]}}]"#;
    let said = [(CALL, ANSWER), (&find[..], MISSING), (&audit[..], FAILURE)];
    for (framing, name) in [(Framing::Unframed, "json"), (Framing::Framed, "framed-json")] {
        for piece in [1, 3, 10, 1400] {
            let mut talk = Talk::new();
            for (call, answer) in said {
                let [call, answer] = [call, answer].map(|message| match framing {
                    Framing::Framed => framed(message),
                    _ => message.to_vec(),
                });
                talk = call.chunks(piece).fold(talk, Talk::there);
                talk = answer.chunks(piece).fold(talk, Talk::back);
            }
            let calls =
                talk.calls_with(RpcOptions { keeps_messages: true, ..RpcOptions::default() });
            assert_eq!(calls.len(), expected.len(), "{piece}");
            for (call, (arguments, result, outcome)) in calls.iter().zip(expected) {
                assert_eq!(call.protocol, Protocol { form: MessageForm::Json, framing });
                assert_eq!((call.protocol.name(), call.outcome.name()), (name, outcome));
                let mut json = |field| methods.json(call, field, &mut tape);
                assert_eq!(json(CarriedField::Arguments).as_deref(), Some(arguments));
                assert_eq!(json(CarriedField::Result).as_deref(), Some(result));
            }
        }
    }
}

/// The columns of structs of calls, a line of JSON for each.
fn rows_of_structs(methods: &Methods, method: &str, calls: &[Call]) -> Vec<String> {
    let structs = CallStructs::new(methods, method).unwrap();
    let mut batch = Batch::new(Schema::new("calls", structs.fields()));
    calls.iter().for_each(|_| batch.push_row(|_| Value::Null));
    structs.fill(calls, &mut batch, 0);
    let mut text = Vec::new();
    RowWriter::new(batch.schema()).push_batch(&mut text, &batch);
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn arguments_and_results_become_columns_of_structs_and_what_does_not_fit_null() {
    let methods = methods();
    let talk = Talk::new()
        .there(CALL)
        .back(ANSWER)
        // What is no base64 does not fit the IDL file, and a failure has no result of the method.
        .there(CALL)
        .back(br#"[1,"picture",2,7,{"0":{"str":"*"}}]"#)
        .there(CALL)
        .back(br#"[1,"picture",3,7,{"1":{"str":"none"}}]"#);
    let calls = talk.calls_with(RpcOptions { keeps_messages: true, ..RpcOptions::default() });
    let arguments = r#"{"arguments":{"name":"tea","size":2},"result":"#;
    let expected = [r#"{"success":{"base64":"AP8="}}}"#, "null}", "null}"];
    let expected = expected.map(|result| format!("{arguments}{result}"));
    assert_eq!(rows_of_structs(&methods, "picture", &calls), expected);
    let error = CallStructs::new(&methods, "paint").unwrap_err().to_string();
    assert!(error.contains("expected a method of the service (audit, find, log, "), "{error}");
}

fn methods() -> Methods {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/warehouse.thrift");
    let document = load_idl(&path, &[], IdlOptions::default()).unwrap();
    Methods::new(&document, Some("NextStore")).unwrap()
}

#[test]
fn other_json_is_no_call() {
    for text in [
        &b"[1,2,3]"[..],
        b"[1,\"log\",\"x\",1,{}]",
        b"[1,\"two words\",1,1,{}]",
        b"[1,\"log\",5,1,{}]",
        b"[1,\"log\",1,1,[]]",
        b"[1,\"log\",1,1,{\"a\":1}]",
        b"[1,\"log\",1,1,{\"1\":tru}]",
        b"{\"a\":[1,\"log\",1,1,{}]}",
        b"HTTP/1.1 200 OK\r\n\r\n[1,\"log\",1,1,{}]",
    ] {
        assert!(Talk::new().there(text).back(text).calls().is_empty());
        let short = framed(text);
        assert!(Talk::new().there(&short).back(&short).calls().is_empty());
    }
}
