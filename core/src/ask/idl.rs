//! IDL files with all that they include, from where the compiler would look for them.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::bytes::WholeFile;
use crate::error::excerpt;
use crate::rpc::Methods;
use crate::thrift::idl::{self, Document, IdlOptions, SourceText, TEXT_LEN_MAX};
use crate::{Error, ErrorKind, Result};

/// Reads an IDL file and all that it includes. What a file includes is looked for in the folder that
/// the file is in, then in `include_folders`, one after the other.
///
/// # Errors
///
/// `Io` for a file that is not there or cannot be read, and all errors of [`idl::parse`].
pub fn load_idl(path: &Path, include_folders: &[PathBuf], options: IdlOptions) -> Result<Document> {
    let main = WholeFile::read(path, TEXT_LEN_MAX)?;
    let main = main.ok_or_else(|| {
        let absent = std::io::Error::from(Errno::NOENT);
        Error::io("find", &absent).in_file(&path.display().to_string())
    })?;
    let mut includes = |name: &str, from: &str| {
        let beside = Path::new(from).parent().map(Path::to_owned).unwrap_or_default();
        let mut folders = vec![beside];
        folders.extend_from_slice(include_folders);
        find(name, &folders)
    };
    idl::parse(source_text(main)?, &mut includes, options)
}

/// The methods of an IDL file's service, which needs no name where the file has one service.
///
/// # Errors
///
/// Those of [`load_idl`] and of [`Methods::new`].
pub fn load_methods(
    path: &Path,
    include_folders: &[PathBuf],
    service: Option<&str>,
) -> Result<Methods> {
    let document = load_idl(path, include_folders, IdlOptions::default())?;
    Methods::new(&document, service).map_err(|error| error.in_file(&path.to_string_lossy()))
}

/// The file that is included by a name, which may be a whole path.
fn find(name: &str, folders: &[PathBuf]) -> Result<SourceText> {
    for folder in folders {
        if let Some(file) = WholeFile::read(&folder.join(name), TEXT_LEN_MAX)? {
            return source_text(file);
        }
    }
    Err(absent(name, folders))
}

fn source_text(file: WholeFile) -> Result<SourceText> {
    let WholeFile { path, bytes } = file;
    // Paths are how files are told apart, so none may be changed on the way.
    match path.into_os_string().into_string() {
        Ok(path) => Ok(SourceText { path, bytes }),
        Err(path) => {
            let path = path.display().to_string();
            let found = excerpt(&path);
            let message = format!("expected a path in UTF-8, found {found}");
            Err(Error::new(ErrorKind::Argument, message))
        }
    }
}

/// Builds the operating system's error for a missing file, with the folders that were searched.
fn absent(name: &str, folders: &[PathBuf]) -> Error {
    let number = Errno::NOENT.raw_os_error();
    let mut message = "cannot find it".to_owned();
    for (at, folder) in folders.iter().enumerate() {
        message += if at == 0 { " in " } else { ", nor in " };
        message += &folder.display().to_string();
    }
    Error::new(ErrorKind::Io(Some(number)), message).in_file(name)
}
