//! Questions that are asked by their name, as methods and functions of each language, and the page about them.

use bytewright::ask::QuestionSpec;
use bytewright::batch::Schema;
use bytewright::options::Settings;

use crate::list::{table, wrapped};
use crate::tables::capitalized;

const MADE_OF: &str =
    "Generated from the core's table of questions by `make generate`. Do not edit.";

/// The columns of the answer to a question without options.
fn schema(question: &QuestionSpec) -> Schema {
    question.question(&Settings::of(question.tables)).unwrap().schema()
}

fn columns(question: &QuestionSpec) -> String {
    let schema = schema(question);
    let names: Vec<_> = schema.fields().iter().map(|field| field.name().to_owned()).collect();
    names.join(", ")
}

fn options(question: &QuestionSpec, marked: fn(&str) -> String) -> String {
    let names = question.own_tables().iter().copied().flatten().map(|option| marked(option.name));
    names.collect::<Vec<_>>().join(", ")
}

/// `questions.rb`: a method of captures for each, and one of the class.
pub(crate) fn ruby() -> String {
    let (mut methods, mut functions) = (Vec::new(), Vec::new());
    for question in QuestionSpec::ALL {
        let (name, group) = (question.name, question.name.to_uppercase());
        let comment = |margin: &str, options: &str, sources: &str| {
            let item = |text: &str| wrapped(&format!("{margin}# "), &format!("{margin}#   "), text);
            let summary = wrapped(
                &format!("{margin}# "),
                &format!("{margin}# "),
                &format!("{}.", question.summary),
            );
            let returned =
                format!("@return [Array<Hash{{Symbol => Object}}>] {}", columns(question));
            format!("{summary}{margin}#\n{sources}{}{}", item(options), item(&returned))
        };
        let own = format!(
            "@param options those of {{Options::{group}}}: {}",
            options(question, str::to_owned)
        );
        let sources = "      # @param sources [Array<String, #to_path, #readpartial, #read>] captures, read as one run in this order\n";
        functions.push(format!(
            "{}      def {name}(*sources, **options)\n        summary(\"{name}\", sources, options)\n      end\n",
            comment("      ", &format!("{own}; and of {{open}}"), sources)
        ));
        methods.push(format!(
            "{}    def {name}(**options)\n      summary(\"{name}\", options)\n    end\n",
            comment("    ", &own, "")
        ));
    }
    format!(
        "# {MADE_OF}\n# frozen_string_literal: true\n\nmodule Bytewright\n  class Capture\n    class << self\n{}    end\n\n{}  end\nend\n",
        functions.join("\n"),
        methods.join("\n")
    )
}

/// `ruby questions`: their signatures, and `ruby question_functions`: those of the class.
pub(crate) fn ruby_signatures(of_class: bool) -> String {
    let signature = |question: &QuestionSpec| {
        let group = question.name.to_uppercase();
        let own = crate::ruby::written("options", &group);
        let name = question.name;
        match of_class {
            true => {
                let opening = crate::ruby::written("options", "CAPTURE");
                format!(
                    "    def self.{name}: (*source, {own}, {opening}) -> Array[Hash[Symbol, value]]\n"
                )
            }
            false => format!("    def {name}: ({own}) -> Array[Hash[Symbol, value]]\n"),
        }
    };
    QuestionSpec::ALL.iter().map(signature).collect()
}

/// The rows of docs/names.md.
pub(crate) fn names(languages: &str) -> String {
    let row = |question: &QuestionSpec| {
        let name = question.name;
        match languages {
            "perl" => format!("| `ask::QuestionSpec` {name} | | `Capture->{name}` |\n"),
            _ => format!(
                "| `ask::QuestionSpec` {name} | `{name}` | `Capture#{name}`, `Capture.{name}` | \
                 `bytewright.{name}`, `bytewright.Capture.{name}` |\n"
            ),
        }
    };
    QuestionSpec::ALL.iter().map(row).collect()
}

/// `questions.py`: a base of `Capture` with a method for each, and a function for each.
pub(crate) fn python() -> String {
    let (mut methods, mut functions) = (String::new(), String::new());
    for question in QuestionSpec::ALL {
        let (name, group) = (question.name, question.name.to_uppercase());
        let own = options(question, |name| format!("`{name}`"));
        let doc = |margin: &str, options: &str| {
            let paragraph = |text: &str| wrapped(margin, margin, text);
            format!(
                "{}\n{}\n{}{margin}\"\"\"\n",
                wrapped(&format!("{margin}\"\"\""), margin, &format!("{}.", question.summary)),
                paragraph(&format!("The answer is `Rows` with the columns {}.", columns(question))),
                paragraph(options)
            )
        };
        methods += &format!(
            "\n    def {name}(self, **options):\n{}        return Rows._summary(\"{name}\", [self], True, **options)\n",
            doc(
                "        ",
                &format!("`options` are those of `bytewright.options.{group}`: {own}.")
            )
        );
        functions += &format!(
            "\n\ndef {name}(*sources, **options):\n{}    return _run(\"{name}\", sources, options)\n",
            doc(
                "    ",
                &format!(
                    "The captures are read in this order as one run. Options are those of `bytewright.options.{group}`, {own}, and of `Capture`."
                )
            )
        );
    }
    let names: Vec<_> =
        QuestionSpec::ALL.iter().map(|question| format!("\"{}\"", question.name)).collect();
    format!(
        "# {MADE_OF}\n\"\"\"Questions to captures that are asked by their name.\"\"\"\n\n\
         from ._bytewright import Rows\n\n__all__ = [{}]\n\n\n\
         class Questions:\n    \"\"\"Captures that are asked.\"\"\"\n\n    __slots__ = ()\n{methods}{functions}\n\n\
         def _run(name, sources, options):\n    # Here, because captures are made of this module.\n    from .captures import _sources\n\n    \
         return Rows._summary(name, _sources(sources, options), False, **options)\n",
        names.join(", ")
    )
}

/// `questions.pyi`.
pub(crate) fn python_stub() -> String {
    let (mut methods, mut functions) = (String::new(), String::new());
    let (mut classes, mut imported) = (String::new(), vec!["_CaptureOptions".to_owned()]);
    for question in QuestionSpec::ALL {
        let (name, class) = (question.name, capitalized(question.name));
        imported.push(format!("_{class}Options"));
        classes += &format!(
            "class _{class}OfCapturesOptions(_{class}Options, _CaptureOptions, total=False): ...\n"
        );
        methods += &format!(
            "    def {name}(self, **options: Unpack[_{class}Options]) -> Rows[tuple[Any, ...]]: ...\n"
        );
        functions += &format!(
            "def {name}(*sources: _Sources, **options: Unpack[_{class}OfCapturesOptions]) -> Rows[tuple[Any, ...]]: ...\n"
        );
    }
    imported.sort();
    let names: Vec<_> =
        QuestionSpec::ALL.iter().map(|question| format!("\"{}\"", question.name)).collect();
    format!(
        "# {MADE_OF}\nfrom typing import Any\n\nfrom typing_extensions import Unpack\n\n\
         from ._bytewright import Rows\nfrom .captures import _Sources\nfrom .options import {}\n\n\
         __all__ = [{}]\n\n{classes}\nclass Questions:\n{methods}\n{functions}",
        imported.join(", "),
        names.join(", ")
    )
}

/// `Questions.pm`: a method for each.
pub(crate) fn perl() -> String {
    let (mut methods, mut pod) = (String::new(), String::new());
    for question in QuestionSpec::ALL {
        let name = question.name;
        methods += &format!(
            "sub {name} {{\n    my ($self, %options) = @_;\n    \
             return $self->_summary(\"{name}\", [Bytewright::Named::texts(%options)]);\n}}\n\n"
        );
        pod += &format!(
            "=head2 {name}\n\n    my $rows = $capture->{name}(%options);\n\n{}\n{}\n",
            wrapped(
                "",
                "",
                &format!(
                    "{}. The answer is L<Bytewright::Rows> with the columns {}.",
                    question.summary,
                    columns(question)
                )
            ),
            crate::pod::list(&question.name.to_uppercase()),
        );
    }
    format!(
        "# {MADE_OF}\npackage Bytewright::Questions;\n\nuse 5.030;\nuse warnings;\n\nuse Bytewright::Named;\n\n{methods}1;\n\n__END__\n\n\
         =encoding utf8\n\n=head1 NAME\n\nBytewright::Questions - questions to captures that are asked by their name\n\n\
         =head1 DESCRIPTION\n\nMethods of L<Bytewright::Capture>.\n\n=head1 METHODS\n\n{pod}=cut\n"
    )
}

/// `docs/questions.md`: all questions, with their columns.
pub(crate) fn page() -> String {
    let mut page = format!(
        "<!-- {MADE_OF} -->\n\n# Questions by name\n\n\
         A question that captures are asked by its name is a subcommand of the command, `bytewright NAME FILE...`; a method of captures and a \
         function over several captures in Ruby and Python; a method of captures in Perl; `bw_ask` in C. Several captures are read as one run. \
         Options are in [options.md](options.md).\n"
    );
    for question in QuestionSpec::ALL {
        let (name, summary) = (question.name, question.summary);
        let schema = schema(question);
        let rows = schema.fields().iter().map(|field| {
            let null = if field.is_nullable() { "yes" } else { "" };
            let (name, kind) = (format!("`{}`", field.name()), field.data_type().name());
            [name, kind.to_owned(), null.to_owned(), field.meaning().to_owned()]
        });
        let table = table(&["column", "type", "null", "meaning"], rows);
        page += &format!("\n## {name}\n\n{summary}.\n\n{table}");
    }
    page
}
