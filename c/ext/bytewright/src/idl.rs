//! IDL files of Thrift's.

use std::ffi::c_char;

use bytewright::Result;
use bytewright::ask::CallOptions;
use bytewright::ask::load_idl;
use bytewright::thrift::idl::{Document, IdlOptions};

use crate::buffer::given;
use crate::sized_struct::{self, sized_struct};
use crate::text::{bw_names, path, text_or_none};

/// An IDL file of Thrift's. Initialize it with `BW_IDL_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_idl {
    /// Bytes of the struct, which `BW_IDL_INIT` sets.
    pub size: usize,
    /// Its path.
    pub path: *const c_char,
    /// The name of the service; null for the only one of the file.
    pub service: *const c_char,
    /// Folders in which included files are looked for, behind the folder of the file.
    pub include: bw_names,
}

sized_struct!(bw_idl { path, service, include } + {});

impl bw_idl {
    /// The calls of the methods of its service.
    ///
    /// # Safety
    /// `idl` is initialized and has texts.
    pub(crate) unsafe fn call_options(idl: *const bw_idl) -> Result<CallOptions> {
        // SAFETY: the caller's promise.
        let Some(idl) = unsafe { sized_struct::copied(idl) }? else {
            return Ok(CallOptions::default());
        };
        // SAFETY: the caller's promise.
        let (file, service, include) = unsafe {
            (path(idl.path)?, text_or_none(idl.service, "a service")?, idl.include.paths()?)
        };
        let (idl, service) = (Some(file.to_owned()), service.map(str::to_owned));
        Ok(CallOptions { idl, service, include, ..CallOptions::default() })
    }

    /// The file with all that it includes.
    ///
    /// # Safety
    /// As [`bw_idl::call_options`].
    pub(crate) unsafe fn document(idl: *const bw_idl) -> Result<Document> {
        // SAFETY: the caller's promise.
        let idl = given(unsafe { sized_struct::copied(idl) }?, "an IDL file")?;
        // SAFETY: the caller's promise.
        let (file, include) = unsafe { (path(idl.path)?, idl.include.paths()?) };
        load_idl(file, &include, IdlOptions::default())
    }
}
