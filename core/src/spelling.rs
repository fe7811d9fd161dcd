//! Misspelled names, and the one that was probably meant.

/// Mistakes that a misspelled name may have.
const MISTAKES_MAX: usize = 2;

/// Bytes of a name that is compared with those that there are.
const MISSPELLED_LEN_MAX: usize = 100;

/// The one of `names` that a misspelled `name` probably means.
pub(crate) fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    // Nobody misspells a name by so much, and long texts take long to compare.
    if name.len() > MISSPELLED_LEN_MAX {
        return None;
    }
    let distances = names.into_iter().map(|known| (distance(name, known), known));
    let (distance, known) = distances.min_by_key(|(distance, _)| *distance)?;
    let is_near = distance <= MISTAKES_MAX && distance < name.chars().count();
    is_near.then_some(known)
}

/// The end of an error about a misspelled name: the one of `names` that it probably means, or nothing.
pub(crate) fn hint<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    nearest(name, names).map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

/// Returns the number of characters to add, leave out or replace to make one name the other (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (line, left) in one.chars().enumerate() {
        let mut diagonal = line;
        let mut before = line + 1;
        for (right, above) in other.chars().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(left != right);
            diagonal = *above;
            *above = replaced.min(diagonal + 1).min(before + 1);
            before = *above;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_two_names_is_what_has_to_be_changed() {
        for (one, other, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("port", "prot", 2),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }
}
