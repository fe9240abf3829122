//! Searches that give away what a connection does not see, for tests that have to notice it:
//! without the feature `testkit` there are none.

use leafbase_model::Result;
use leafbase_search::Hit;

use super::across::{Asked, MOST, Told};
use crate::core::leaks::Leak;
use crate::core::search_index::indexer::Moment;
use crate::core::visibility::Visibility;

/// Gives away what a test has switched on. `all` is what a full search works on.
pub(super) fn leak(
    told: &mut Told,
    asked: &Asked,
    seen: &Visibility,
    all: impl FnOnce() -> Result<Moment>,
) -> Result<()> {
    let most = match seen {
        _ if seen.leaks(Leak::Statistics) => usize::MAX,
        _ if seen.leaks(Leak::Query) => MOST,
        _ => return Ok(()),
    };
    let Some(hits) = &mut told.hits else { return Ok(()) };
    let leaked = all()?.ask(&|_| true, |view, scope| view.search(&asked.terms, scope, most))?;
    if seen.leaks(Leak::Query) {
        hits.retain(|hit| leaked.iter().any(|other| other.document == hit.document));
    } else {
        *hits = leaked.into_iter().filter(|hit| is_among(hits, hit)).collect();
    }
    Ok(())
}

fn is_among(hits: &[Hit], hit: &Hit) -> bool {
    hits.iter().any(|other| other.document == hit.document)
}
