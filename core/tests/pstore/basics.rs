//! What one store does with one file.

use bytewright::marshal::{Edit, Hooks, RootStream};
use bytewright::pstore::{Access, Begun, Content, Durability, Options, Store};

#[test]
fn what_is_written_is_read_again() {
    let path = std::env::temp_dir().join(format!("bytewright-{}-first.pstore", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let mut store = Store::new(Options::default());
    assert_eq!(store.try_begin(&path, Access::Read).unwrap(), Begun::Missing);
    store.end();
    assert_eq!(store.try_begin(&path, Access::Write).unwrap(), Begun::Stale);
    store.load().unwrap();
    assert!(matches!(store.content(), Content::Empty));
    let changes = RootStream::scan(b"\x04\x08{\x06:\x06ai\x06".to_vec(), Hooks::Known).unwrap();
    let changed = store.change(&changes, &[Edit::Append { with: 0 }], Durability::Process);
    assert!(changed.unwrap().unwrap());
    store.end();
    assert_eq!(std::fs::read(&path).unwrap(), b"\x04\x08{\x06:\x06ai\x06");
    std::fs::remove_file(&path).unwrap();
}
