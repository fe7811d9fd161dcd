//! Thrift calls that are asked for.

use std::path::PathBuf;
use std::sync::Arc;

use super::{CallBatches, load_methods};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::query::Condition;
use crate::rpc::{Call, CallField, CallStructs, Methods, RpcOptions};
use crate::{Error, ErrorKind, Result};

/// Thrift calls that are asked for.
#[derive(Debug, Clone, Default)]
pub struct CallQuestion {
    /// The methods whose calls are meant; those of all without them.
    pub methods: Option<Arc<Methods>>,
    /// True to keep the structs of the calls, which the methods read.
    pub keeps_structs: bool,
    /// The condition that calls meet, over the fields of [`CallField::SCHEMA`].
    pub condition: Option<Condition>,
    /// The method whose calls alone are meant, where there is one.
    pub method: Option<String>,
    /// The columns of what its calls carry, behind those of the calls.
    pub structs: Option<Arc<CallStructs>>,
}

impl CallQuestion {
    /// No capture read yet.
    pub(super) fn batches(&self) -> CallBatches {
        let options = RpcOptions { keeps_messages: self.keeps_structs, ..RpcOptions::default() };
        CallBatches::new(options, self.methods.clone())
    }

    /// Leaves out the calls that are not told.
    pub(super) fn retain(&self, calls: &mut Vec<Call>) {
        if let Some(method) = &self.method {
            calls.retain(|call| call.bare_method() == method);
        }
        if let Some(condition) = &self.condition {
            calls.retain(|call| condition.holds(|place| call.value_at(place)));
        }
    }
}

impl From<Option<Arc<Methods>>> for CallQuestion {
    fn from(methods: Option<Arc<Methods>>) -> Self {
        CallQuestion { keeps_structs: methods.is_some(), methods, ..CallQuestion::default() }
    }
}

/// The calls that are meant, as a program names them.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    /// The IDL file of their service; calls of any service are meant without one.
    pub idl: Option<PathBuf>,
    /// Its name, where the file has several.
    pub service: Option<String>,
    /// Folders to look for files that it includes.
    pub include: Vec<PathBuf>,
    /// The condition that calls meet, over the fields of [`CallField::SCHEMA`].
    pub condition: Option<Condition>,
    /// The method whose calls are meant; those of all without one.
    pub method: Option<String>,
}

/// Columns of what calls carry, as a program names them.
#[derive(Debug, Clone, Default)]
pub struct CallStructOptions {
    /// True for columns of arguments and results.
    pub arguments: bool,
}

impl CallStructOptions {
    /// The question with these columns, where they are asked for.
    ///
    /// # Errors
    /// `Argument` without an IDL file and a method, and those of [`CallStructs::new`].
    pub fn ask(&self, question: CallQuestion) -> Result<CallQuestion> {
        if !self.arguments {
            return Ok(question);
        }
        let (Some(methods), Some(method)) = (&question.methods, &question.method) else {
            let missing = if question.methods.is_none() { "idl" } else { "method" };
            let message = format!(
                "expected {missing} with arguments, whose columns are structs of one method, found none"
            );
            return Err(Error::new(ErrorKind::Argument, message));
        };
        let structs = Some(Arc::new(CallStructs::new(methods, method)?));
        Ok(CallQuestion { structs, ..question })
    }
}

impl NamedOptions for CallStructOptions {
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "arguments",
        kind: OptionKind::Flag,
        default: "false",
        summary: "Columns arguments and result behind those of the calls: structs as the IDL file has them, of the calls of one method",
    }];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "arguments" => self.arguments = setting.flag()?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

impl CallOptions {
    /// The question, once the IDL file was read, where there is one.
    ///
    /// # Errors
    /// `Argument` for what needs an IDL file and has none; those of [`load_methods`].
    pub fn load(self) -> Result<CallQuestion> {
        let CallOptions { idl, service, include, condition, method } = self;
        let methods = match idl {
            Some(idl) => Some(load_methods(&idl, &include, service.as_deref())?.into()),
            None if service.is_some() || !include.is_empty() => {
                let message = "expected idl with service or include, found none";
                return Err(Error::new(ErrorKind::Argument, message));
            }
            None => None,
        };
        let keeps_structs = methods.is_some();
        Ok(CallQuestion { methods, keeps_structs, condition, method, structs: None })
    }
}

impl NamedOptions for CallOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "idl",
            kind: OptionKind::Path,
            default: "none",
            summary: "IDL file of the service; only calls of its methods are taken then, with their arguments and results",
        },
        OptionSpec {
            name: "service",
            kind: OptionKind::Text,
            default: "the only one",
            summary: "Name of the service, where the IDL file has several",
        },
        OptionSpec {
            name: "include",
            kind: OptionKind::Paths,
            default: "none",
            summary: "Folders to search for files that the IDL file includes",
        },
        OptionSpec {
            name: "where",
            kind: OptionKind::Text,
            default: "all",
            summary: "A condition on calls, in the words of the command's --where; others are left out",
        },
        OptionSpec {
            name: "method",
            kind: OptionKind::Text,
            default: "all",
            summary: "Name of a method, without its service; calls of others are left out",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "idl" => self.idl = Some(setting.path()?),
            "service" => self.service = Some(setting.text()?),
            "include" => self.include = setting.paths()?,
            "where" => {
                self.condition = Some(Condition::new(&setting.text()?, &CallField::SCHEMA)?);
            }
            "method" => self.method = Some(setting.text()?),
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}
