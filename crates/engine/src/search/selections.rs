//! What scoped connections see of an index: found out once for each state of both, and kept for the next search.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use leafbase_model::DocumentId;
use leafbase_search::{Selection, View};

use crate::sight::Seen;

/// So many are kept.
const MOST: usize = 16;

/// The selections that were used last, the latest at the end.
#[derive(Default)]
pub(super) struct Selections(Mutex<Vec<Kept>>);

/// A selection of documents of an index. Neither is held on to.
struct Kept {
    view: Weak<View>,
    named: Weak<BTreeSet<DocumentId>>,
    selection: Arc<Selection>,
}

impl Kept {
    fn is_of(&self, view: &Arc<View>, named: &Arc<BTreeSet<DocumentId>>) -> bool {
        // The address of what is gone is not given to another while there is a weak pointer to it.
        self.view.as_ptr() == Arc::as_ptr(view) && self.named.as_ptr() == Arc::as_ptr(named)
    }

    fn is_of_use(&self) -> bool {
        self.view.strong_count() > 0 && self.named.strong_count() > 0
    }
}

impl Selections {
    /// What is seen of the index. Costs by how many documents are named, the first time.
    pub(super) fn of(&self, view: &Arc<View>, seen: &Seen, named: &Arc<BTreeSet<DocumentId>>) -> Arc<Selection> {
        if let Some(selection) = self.kept(view, named) {
            return selection;
        }
        let selection = view.select(named.iter().copied(), |document| seen.admits_at(document.id, document.location));
        let selection = Arc::new(selection);
        let kept = Kept { view: Arc::downgrade(view), named: Arc::downgrade(named), selection: Arc::clone(&selection) };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(Kept::is_of_use);
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push(kept);
        selection
    }

    fn kept(&self, view: &Arc<View>, named: &Arc<BTreeSet<DocumentId>>) -> Option<Arc<Selection>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().position(|kept| kept.is_of(view, named))?;
        let kept = all.remove(found);
        let selection = Arc::clone(&kept.selection);
        all.push(kept);
        Some(selection)
    }
}
