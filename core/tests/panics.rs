//! Goal: a panic that becomes an error is told once, as the error; all others are told as the program wants.
//! Method: a hook of the program's own that counts what it is told. One test in an executable of its own, because the hook is the
//! process's.

#![allow(missing_docs, clippy::panic, clippy::unwrap_used, reason = "panics are what is tested")]

use std::panic::{catch_unwind, set_hook};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytewright::bytes::{ByteStream, Cancel, StreamOptions};
use bytewright::files::MemoryStorage;
use bytewright::host::{Background, BackgroundEvent};
use bytewright::panics::{catch, catch_all, panic_in_nth};
use bytewright::table::file::{OpenOptions, TreeTable};
use bytewright::table::{OrderedTable, Scan};
use bytewright::{ErrorKind, Result};

static TOLD: AtomicUsize = AtomicUsize::new(0);

/// The bytes of an ordered table that somebody crafted: its pages name places outside of them, and match their checks.
fn crafted_table() -> Vec<u8> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let path = samples.join("tree_table_crafted.bwt.gz");
    let mut stream = ByteStream::open(&path, &StreamOptions::default()).unwrap();
    stream.fill(2 << 20).unwrap().to_vec()
}

fn read_all(bytes: Vec<u8>) -> Result<()> {
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    let table = TreeTable::open_storage(Box::new(MemoryStorage::new(bytes)), "memory", options)?;
    let mut entries: Box<dyn Scan> = table.ordered_snapshot()?.scan()?;
    while entries.advance()?.is_some() {}
    Ok(())
}

#[test]
fn only_panics_that_become_no_error_are_told() {
    set_hook(Box::new(|_| {
        TOLD.fetch_add(1, Ordering::SeqCst);
    }));

    let error = read_all(crafted_table()).unwrap_err();
    assert!(error.message().contains("fields that do not fit together"), "{error}");
    assert_eq!((error.kind(), TOLD.load(Ordering::SeqCst)), (ErrorKind::Corrupt, 0));

    let pass = Background::start("capture", Cancel::new(), 1, |outlet, _| {
        outlet.send(1)?;
        panic!("in the pass")
    });
    let pass = pass.unwrap();
    assert!(matches!(pass.next(), Ok(BackgroundEvent::Item(1))));
    let Err(error) = pass.next() else { panic!("a pass that panics ends with an error") };
    assert!(error.message().contains("in the pass at core/tests/panics.rs:"), "{error}");
    assert_eq!((error.kind(), TOLD.load(Ordering::SeqCst)), (ErrorKind::Internal, 0));

    let inner =
        catch(|| catch(|| panic!("number {}", 1)).map_err(|panic| panic.message().to_owned()));
    assert_eq!(inner.unwrap(), Err::<(), _>("number 1".to_owned()));
    assert_eq!(TOLD.load(Ordering::SeqCst), 0);

    catch_unwind(|| panic!("the program's own")).unwrap_err();
    assert_eq!(TOLD.load(Ordering::SeqCst), 1);
    catch(|| std::thread::spawn(|| panic!("of another thread")).join().unwrap_err()).unwrap();
    assert_eq!(TOLD.load(Ordering::SeqCst), 2);

    the_nth_catch_panics_in_place_of_its_work();
    catch_all();
    the_nth_catch_panics_in_place_of_its_work();
    catch_unwind(|| panic!("caught by somebody else")).unwrap_err();
    let error = catch(|| panic!("caught here")).map(|()| "nothing").unwrap_err();
    assert!(error.to_string().starts_with("caught here at core/tests/panics.rs:"), "{error}");
    assert_eq!(TOLD.load(Ordering::SeqCst), 2);
    catch_unwind(|| panic!("panic in a function that cannot unwind")).unwrap_err();
    assert_eq!(TOLD.load(Ordering::SeqCst), 3);
}

fn the_nth_catch_panics_in_place_of_its_work() {
    let told = TOLD.load(Ordering::SeqCst);
    for nth in 1..4 {
        panic_in_nth(nth);
        let done: Vec<bool> = (1..6).map(|_| catch(|| ()).is_ok()).collect();
        assert_eq!(done, (1..6).map(|call| call != nth).collect::<Vec<_>>());
    }
    panic_in_nth(1);
    let error = catch(|| panic!("it is not done")).map(|()| "nothing").unwrap_err();
    assert_eq!(error.message(), "a panic that a test asked for");
    assert_eq!((panic_in_nth(2), panic_in_nth(0), panic_in_nth(0)), (0, 2, 0));
    assert!((1..6).all(|_| catch(|| ()).is_ok()));
    assert_eq!(TOLD.load(Ordering::SeqCst), told);
}
