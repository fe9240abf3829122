//! The only way around the scope guard. Cascades reach hidden blocks: the comments and relations of
//! deleted blocks are deleted even if another document holds them.

use leafbase_store::SpaceReader;

use crate::core::tree::Tree;
use crate::core::visibility::Visibility;

/// Reads of the whole space, whatever the call may see. Only cascades can create it; nothing that
/// they read reaches the caller.
pub(super) struct UnguardedTree<'a>(Tree<'a>);

impl<'a> UnguardedTree<'a> {
    pub(super) const fn new(reader: SpaceReader<'a>) -> Self {
        Self(Tree::new(reader, Visibility::All))
    }

    pub(super) const fn tree(&self) -> &Tree<'a> {
        &self.0
    }
}
