//! IDL files of Thrift's.

use std::ffi::c_char;
use std::sync::Arc;

use bytewright::Result;
use bytewright::ask::{load_idl, load_methods};
use bytewright::rpc::Methods;
use bytewright::thrift::idl::{Document, IdlOptions};

use crate::buffer::given;
use crate::text::{bw_names, path, text_or_none};

/// An IDL file of Thrift's. Initialize it with `BW_IDL_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_idl {
    /// Its path.
    pub path: *const c_char,
    /// The name of the service; null for the only one of the file.
    pub service: *const c_char,
    /// Folders in which included files are looked for, behind the folder of the file.
    pub include: bw_names,
}

impl bw_idl {
    /// # Safety
    /// `idl` has texts.
    pub(crate) unsafe fn methods(idl: Option<&bw_idl>) -> Result<Option<Arc<Methods>>> {
        let Some(idl) = idl else { return Ok(None) };
        // SAFETY: the caller's promise.
        let (file, service, include) = unsafe {
            (path(idl.path)?, text_or_none(idl.service, "a service")?, idl.include.paths()?)
        };
        Ok(Some(Arc::new(load_methods(file, &include, service)?)))
    }

    /// The file with all that it includes.
    ///
    /// # Safety
    /// As [`bw_idl::methods`].
    pub(crate) unsafe fn document(idl: Option<&bw_idl>) -> Result<Document> {
        let idl = given(idl, "an IDL file")?;
        // SAFETY: the caller's promise.
        let (file, include) = unsafe { (path(idl.path)?, idl.include.paths()?) };
        load_idl(file, &include, IdlOptions::default())
    }
}
