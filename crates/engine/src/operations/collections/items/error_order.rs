//! Error order: the error of the first invalid item of a request is reported, whichever check finds
//! it.

use leafbase_model::{Error, Result};

/// Validates all entries of `list`. If one fails, validates the entries before it on their own: a
/// check that runs later may refuse one of them.
pub(super) fn first<T>(
    list: &str,
    entries: usize,
    mut read: impl FnMut(usize) -> Result<T>,
) -> Result<T> {
    let (mut outcome, mut most) = (read(entries), entries);
    // Each round validates a shorter prefix, so the loop terminates.
    while let Some(at) =
        outcome.as_ref().err().and_then(|error| entry(list, error)).filter(|at| *at < most)
    {
        match read(at) {
            Err(earlier) => (outcome, most) = (Err(earlier), at),
            Ok(_) => break,
        }
    }
    outcome
}

/// The index in `list` of the entry that an error concerns.
fn entry(list: &str, error: &Error) -> Option<usize> {
    let rest = error.path().strip_prefix(list)?.strip_prefix('[')?;
    rest.split_once(']')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Consecutive checks over all entries, each of which refuses one.
    fn outcome(wrong: &'static [usize], entries: usize) -> Result<usize> {
        first("items", entries, |entries| match wrong.iter().find(|at| **at < entries) {
            Some(at) => Err(Error::validation("is wrong").at("id").at(format_args!("items[{at}]"))),
            None => Ok(entries),
        })
    }

    #[test]
    fn the_first_entry_at_fault_is_reported() {
        for (wrong, path) in
            [(&[][..], ""), (&[5], ""), (&[2], "items[2].id"), (&[3, 1, 2, 0, 4], "items[0].id")]
        {
            let checked = outcome(wrong, 5);
            assert_eq!(checked.as_ref().err().map_or("", Error::path), path, "{wrong:?}");
            assert_eq!(checked.ok(), path.is_empty().then_some(5));
        }
    }

    #[test]
    fn a_fault_of_no_entry_is_returned_unchanged() {
        let error =
            first("items", 3, |_| Err::<(), _>(Error::validation("are too many").at("items")))
                .unwrap_err();
        assert_eq!(error.path(), "items");
    }
}
