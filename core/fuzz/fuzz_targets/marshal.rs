//! Any bytes as a Marshal stream: no panic; what is accepted can be taken apart, also as values, and
//! changed, and what comes of a change is what a fresh scan makes of it.

#![no_main]

use bytewright::marshal::{Edit, Hooks, RootStream, Roots, Values, class_names};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // Any file is a seed: the version goes before it where it is missing.
    let mut stream = bytes.to_vec();
    if !stream.starts_with(&[4, 8]) {
        stream.splice(0..0, [4, 8]);
    }
    let values = Values::decode(stream.clone());
    let damaged = Roots::whole(stream.clone());
    let are_classes_named = class_names(&stream).is_ok();
    let Ok(roots) = RootStream::scan(stream, Hooks::Trusted) else { return };
    assert!(values.is_ok(), "what has an index is whole");
    assert!(are_classes_named, "what has an index is searched for classes");
    assert_eq!(damaged.map(|damaged| damaged.count()).ok(), Some(roots.root_count()));
    assert_eq!(roots.defect(), None);
    let count = roots.root_count();
    let keys = roots.lift_keys(0..count).expect("keys are lifted");
    assert!(keys.starts_with(&[4, 8, b'[']));
    for root in 0..count.min(8) {
        let group = roots.group(root);
        roots.lift_all(&group).expect("a group is lifted");
        delete(&roots, &group);
    }
    replace_all(&roots);
});

/// Without some roots, the rest is as a scan finds it.
fn delete(roots: &RootStream, group: &[usize]) {
    let none = RootStream::scan(b"\x04\x08{\x00".to_vec(), Hooks::Known).expect("an empty Hash");
    let edits: Vec<Edit> = group.iter().map(|&root| Edit::Delete { root }).collect();
    let mut fewer = roots.clone();
    fewer.splice(&none, &edits).expect("a group is deleted");
    assert_eq!(fewer.defect(), None);
}

/// With each root in its own place, nothing changes.
fn replace_all(roots: &RootStream) {
    if roots.has_default() {
        return;
    }
    let replace = |root| Edit::Replace { root, with: root };
    let edits: Vec<Edit> = (0..roots.root_count()).map(replace).collect();
    let mut same = roots.clone();
    let spliced = same.splice(roots, &edits).expect("each root fits its own place");
    assert!(spliced.changed.is_empty());
    assert_eq!(same.bytes(), roots.bytes());
    assert_eq!(same.defect(), None);
}
