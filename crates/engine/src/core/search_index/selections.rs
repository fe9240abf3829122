//! What scoped connections see of an index: found out once for each state of both, and kept for the
//! next search.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use leafbase_model::{DocumentId, Result};
use leafbase_search::{DocumentSubset, IndexSnapshot};

use crate::core::visibility::Visibility;

/// So many are kept.
const MOST: usize = 16;

/// The selections that were used last, the latest at the end.
#[derive(Default)]
pub(super) struct Selections(Mutex<Vec<Kept>>);

/// A selection of documents of an index. Neither is held on to.
struct Kept {
    view: Weak<IndexSnapshot>,
    named: Weak<BTreeSet<DocumentId>>,
    selection: Arc<DocumentSubset>,
}

impl Kept {
    fn is_of(&self, view: &Arc<IndexSnapshot>, named: &Arc<BTreeSet<DocumentId>>) -> bool {
        // The address of what is gone is not given to another while there is a weak pointer to it.
        self.view.as_ptr() == Arc::as_ptr(view) && self.named.as_ptr() == Arc::as_ptr(named)
    }

    fn is_of_use(&self) -> bool {
        self.view.upgrade().is_some() && self.named.upgrade().is_some()
    }
}

impl Selections {
    /// What is seen of the index. Costs by how many documents are named, the first time.
    pub(super) fn of(
        &self,
        view: &Arc<IndexSnapshot>,
        seen: &Visibility,
        named: &Arc<BTreeSet<DocumentId>>,
    ) -> Result<Arc<DocumentSubset>> {
        if let Some(selection) = self.kept(view, named) {
            return Ok(selection);
        }
        let selection = view.subset(named.iter().copied(), |document| {
            seen.allows_at(document.id, document.location)
        })?;
        let selection = Arc::new(selection);
        let kept = Kept {
            view: Arc::downgrade(view),
            named: Arc::downgrade(named),
            selection: Arc::clone(&selection),
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(Kept::is_of_use);
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push(kept);
        Ok(selection)
    }

    fn kept(
        &self,
        view: &Arc<IndexSnapshot>,
        named: &Arc<BTreeSet<DocumentId>>,
    ) -> Option<Arc<DocumentSubset>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().position(|kept| kept.is_of(view, named))?;
        let kept = all.remove(found);
        let selection = Arc::clone(&kept.selection);
        all.push(kept);
        Some(selection)
    }
}

#[cfg(test)]
mod tests {
    use leafbase_search::Index;

    use super::*;

    fn view() -> Arc<IndexSnapshot> {
        Index::in_memory("a space").unwrap().snapshot().unwrap()
    }

    fn named() -> Arc<BTreeSet<DocumentId>> {
        Arc::default()
    }

    fn of(
        selections: &Selections,
        view: &Arc<IndexSnapshot>,
        named: &Arc<BTreeSet<DocumentId>>,
    ) -> Arc<DocumentSubset> {
        selections.of(view, &Visibility::Documents(Arc::clone(named)), named).unwrap()
    }

    #[test]
    fn what_is_seen_is_found_out_once_for_each_state() {
        let (selections, views, scopes) =
            (Selections::default(), [view(), view()], [named(), named()]);
        let ask = || {
            views.iter().flat_map(|view| scopes.iter().map(|named| of(&selections, view, named)))
        };
        let first: Vec<_> = ask().collect();
        for (number, one) in first.iter().enumerate() {
            assert!(
                first.iter().skip(number + 1).all(|other| !Arc::ptr_eq(one, other)),
                "each state has its own"
            );
        }
        assert!(
            ask().zip(&first).all(|(again, first)| Arc::ptr_eq(&again, first)),
            "and it is kept"
        );
    }

    #[test]
    fn what_is_of_no_use_is_kept_no_longer() {
        let (selections, view, scope) = (Selections::default(), view(), named());
        let kept = || selections.0.lock().unwrap().len();
        of(&selections, &view, &scope);
        assert_eq!(kept(), 1);
        of(&selections, &view, &named());
        of(&selections, &super::tests::view(), &scope);
        assert_eq!(kept(), 2, "a scope is gone, and so is what was kept for it");
        of(&selections, &view, &named());
        assert_eq!(kept(), 2, "and an index");
        let scopes: Vec<_> = (0..2 * MOST).map(|_| named()).collect();
        let last: Vec<_> = scopes.iter().map(|scope| of(&selections, &view, scope)).collect();
        assert_eq!(kept(), MOST);
        let latest = scopes.iter().zip(&last).skip(MOST);
        latest.for_each(|(scope, last)| assert!(Arc::ptr_eq(&of(&selections, &view, scope), last)));
        assert!(!Arc::ptr_eq(&of(&selections, &view, &scopes[0]), &last[0]));
    }
}
