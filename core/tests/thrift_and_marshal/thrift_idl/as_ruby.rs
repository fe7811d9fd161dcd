//! A document in the words of `dump.rb`: what the code would be that the compiler generates.

use bytewright::thrift::idl::{ConstValue, Document, Program, ProgramId, Service};
use bytewright::thrift::{EnumId, FieldSchema, Requiredness, StructId, StructKind, Type};

/// A line for each definition of all files, sorted.
pub(crate) fn lines(document: &Document) -> Vec<String> {
    let ruby = AsRuby { document };
    let mut lines = Vec::new();
    for program in &document.programs {
        let names = ruby.names(program);
        for id in &program.structs {
            lines.push(ruby.struct_line(*id, &ruby.struct_name(*id)));
        }
        for id in &program.enums {
            lines.push(ruby.enum_line(*id));
        }
        for constant in &program.consts {
            let value = ruby.value(&constant.value);
            lines.push(format!("const {names}{} = {value}", capital(&constant.name)));
        }
        for id in &program.services {
            lines.extend(ruby.service_lines(document.service(*id).expect("a service")));
        }
    }
    lines.sort();
    lines
}

struct AsRuby<'d> {
    document: &'d Document,
}

impl AsRuby<'_> {
    /// The modules around the code of a file, with colons around them.
    fn names(&self, program: &Program) -> String {
        let modules = program.namespace("rb").unwrap_or_default().split('.');
        let modules = modules.filter(|module| !module.is_empty());
        format!("::{}", modules.map(|module| capital(module) + "::").collect::<String>())
    }

    fn full(&self, program: ProgramId, name: &str) -> String {
        let program = self.document.program(program).expect("a program");
        self.names(program) + &capital(name)
    }

    fn struct_name(&self, id: StructId) -> String {
        let definition = self.document.struct_definition(id).expect("a struct");
        self.full(definition.program, &self.document.schema.get(id).expect("a struct").name)
    }

    fn enum_name(&self, id: EnumId) -> String {
        let definition = self.document.enum_definition(id).expect("an enum");
        self.full(definition.program, &self.document.schema.get_enum(id).expect("an enum").name)
    }

    fn service_name(&self, service: &Service) -> String {
        self.full(service.program, &service.name)
    }

    fn struct_line(&self, id: StructId, name: &str) -> String {
        let schema = self.document.schema.get(id).expect("a struct");
        let definition = self.document.struct_definition(id).expect("a struct");
        let kind = match schema.kind {
            StructKind::Struct => "struct",
            StructKind::Union => "union",
            StructKind::Exception => "exception",
        };
        let fields = schema.fields.iter().zip(&definition.fields);
        let fields = fields.map(|(field, definition)| {
            assert_eq!(field.has_default, definition.default.is_some());
            self.field(field, definition.default.as_ref())
        });
        format!("{kind} {name} {{{}}}", fields.collect::<Vec<_>>().join("; "))
    }

    fn field(&self, field: &FieldSchema, default: Option<&ConstValue>) -> String {
        let mut line = format!("{} {} {}", field.id, field.name, self.type_of(&field.value_type));
        line += match field.requiredness {
            Requiredness::Default => "",
            Requiredness::Required => " required",
            Requiredness::Optional => " optional",
        };
        if let Some(default) = default {
            line += &format!(" = {}", self.value(default));
        }
        line
    }

    fn type_of(&self, of: &Type) -> String {
        match of {
            Type::Binary => "STRING binary".to_owned(),
            Type::Enum(id) => format!("I32 {}", self.enum_name(*id)),
            Type::Struct(id) => format!("STRUCT {}", self.struct_name(*id)),
            Type::List(element) => format!("LIST<{}>", self.type_of(element)),
            Type::Set(element) => format!("SET<{}>", self.type_of(element)),
            Type::Map(key, value) => format!("MAP<{}, {}>", self.type_of(key), self.type_of(value)),
            plain => plain.to_string().to_uppercase(),
        }
    }

    fn enum_line(&self, id: EnumId) -> String {
        let schema = self.document.schema.get_enum(id).expect("an enum");
        let values = schema.values.iter();
        let values = values.map(|(name, number)| format!("{} = {number}", capital(name)));
        let mut values: Vec<String> = values.collect();
        values.sort();
        format!("enum {} {{{}}}", self.enum_name(id), values.join(", "))
    }

    fn service_lines(&self, service: &Service) -> Vec<String> {
        let above = service.extends.and_then(|id| self.document.service(id));
        let above = above.map_or("nothing".to_owned(), |above| self.service_name(above));
        let name = self.service_name(service);
        let mut functions: Vec<_> = service.functions.iter().collect();
        functions.sort_by(|a, b| a.name.cmp(&b.name));
        let mut lines = Vec::new();
        for function in &functions {
            let capital = capital(&function.name);
            lines.push(self.struct_line(function.arguments, &format!("{name}::{capital}_args")));
            lines.push(self.struct_line(function.result, &format!("{name}::{capital}_result")));
        }
        let functions = functions.iter().map(|function| {
            let oneway = if function.is_oneway { "oneway " } else { "" };
            format!("{oneway}{}", function.name)
        });
        let functions = functions.collect::<Vec<_>>().join(", ");
        lines.push(format!("service {name} extends {above} {{{functions}}}"));
        lines
    }

    fn value(&self, value: &ConstValue) -> String {
        let all = |values: &[ConstValue]| {
            values.iter().map(|value| self.value(value)).collect::<Vec<_>>().join(", ")
        };
        match value {
            ConstValue::Bool(truth) => truth.to_string(),
            ConstValue::Int(number) => number.to_string(),
            ConstValue::Double(number) => double(*number),
            ConstValue::String(content) => string(content),
            ConstValue::List(values) => format!("[{}]", all(values)),
            ConstValue::Set(values) => {
                // Generated code has a Set of them, in which they are once.
                let mut once = Vec::new();
                values.iter().for_each(|value| {
                    if !once.contains(value) {
                        once.push(value.clone());
                    }
                });
                format!("Set[{}]", all(&once))
            }
            ConstValue::Map(entries) => {
                let entries = entries.iter();
                let entries = entries
                    .map(|(key, value)| format!("{} => {}", self.value(key), self.value(value)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            ConstValue::Struct(id, values) => self.struct_value(*id, values),
        }
    }

    /// A struct with what it has after it was made: fields that are not said have their defaults.
    fn struct_value(&self, id: StructId, values: &[(usize, ConstValue)]) -> String {
        let schema = self.document.schema.get(id).expect("a struct");
        let definition = self.document.struct_definition(id).expect("a struct");
        let fields = schema.fields.iter().zip(&definition.fields).enumerate();
        let fields = fields.filter_map(|(number, (field, definition))| {
            let said = values.iter().find(|(said, _)| *said == number).map(|(_, value)| value);
            let value = said.or(definition.default.as_ref())?;
            Some(format!("{}: {}", field.name, self.value(value)))
        });
        format!("{}({})", self.struct_name(id), fields.collect::<Vec<_>>().join(", "))
    }
}

fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}

/// A number as the compiler writes it for Ruby, six digits of it; without dot, Ruby takes an Integer.
fn double(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e6 {
        return (number as i64).to_string();
    }
    format!("{number:.5e}")
}

/// A string as `String#dump` shows what Ruby makes of the generated literal: `%q"..."`, in which
/// backslashes stay but before quotes and backslashes.
fn string(content: &str) -> String {
    let mut dumped = String::from("\"");
    let mut characters = content.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\n' => dumped += "\\\\n",
            '\r' => dumped += "\\\\r",
            '\t' => dumped += "\\\\t",
            '"' => dumped += "\\\"",
            '\\' => dumped += "\\\\",
            '#' if matches!(characters.peek(), Some('{' | '$' | '@')) => dumped += "\\#",
            c if c.is_ascii_graphic() || c == ' ' => dumped.push(c),
            c if u32::from(c) < 0x10000 => dumped += &format!("\\u{:04X}", u32::from(c)),
            c => dumped += &format!("\\u{{{:X}}}", u32::from(c)),
        }
    }
    dumped + "\""
}
