//! The order in which files are renamed, so that none takes the path of another.

use std::collections::{BTreeSet, HashMap};

use leafbase::DocumentId;

use super::space_side::FilePaths;
use crate::file_names::fold;

/// A file that gets another path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileRename {
    pub(super) document: DocumentId,
    pub(super) from: String,
    pub(super) to: String,
    /// Whether it only makes room: another one of the same file follows.
    pub(super) is_detour: bool,
}

/// Orders renames: a file whose path is the new one of another file is renamed before that. Where
/// they form a circle, one file makes a detour by a free path of `names`.
pub(super) fn ordered(renames: &[FileRename], names: &mut FilePaths) -> Vec<FileRename> {
    let by_path = renames.iter().enumerate().map(|(at, rename)| (fold(&rename.from), at));
    let by_path: HashMap<String, usize> = by_path.collect();
    let (mut seen, mut ordered) = (BTreeSet::new(), Vec::with_capacity(renames.len()));
    for (start, first) in renames.iter().enumerate() {
        // New paths are unique: this leads to a free path, to a file seen before, or to `start`.
        let (mut chain, mut next) = (Vec::new(), Some(start));
        while let Some((at, rename)) = next.and_then(|at| Some((at, renames.get(at)?)))
            && seen.insert(at)
        {
            chain.push(rename.clone());
            next = by_path.get(&fold(&rename.to)).copied();
        }
        if next == Some(start) && chain.len() > 1 {
            let detour = names.claim_beside(&first.to);
            ordered.push(FileRename { to: detour.clone(), is_detour: true, ..first.clone() });
            if let Some(first) = chain.first_mut() {
                first.from = detour;
            }
        }
        ordered.extend(chain.into_iter().rev());
    }
    debug_assert!(ordered.len() >= renames.len(), "each file is renamed, some by a detour");
    ordered
}

#[cfg(test)]
mod tests {
    use leafbase::BlockId;

    use super::*;

    #[test]
    fn no_file_takes_the_path_of_another() {
        for (renames, expected) in [
            (vec!["a>b"], vec!["a>b"]),
            (vec!["a>b", "c>d", "b>c"], vec!["c>d", "b>c", "a>b"]),
            (vec!["b>c", "a>b"], vec!["b>c", "a>b"]),
            (vec!["a>b", "b>a"], vec!["a>b 2", "b>a", "b 2>b"]),
            (vec!["x>y", "a>b", "b>c", "c>a"], vec!["x>y", "a>b 2", "c>a", "b>c", "b 2>b"]),
            (vec!["A>a"], vec!["A>a"]),
            (vec!["A>b", "B>a"], vec!["A>b 2", "B>a", "b 2>b"]),
        ] {
            let renames = renames.iter().map(|rename| {
                let (from, to) = rename.split_once('>').expect("two paths");
                let (from, to) = (format!("{from}.md"), format!("{to}.md"));
                let document = DocumentId::of_root(BlockId::NIL);
                FileRename { document, from, to, is_detour: false }
            });
            let renames: Vec<FileRename> = renames.collect();
            let mut names = FilePaths::new(renames.iter().map(|rename| rename.to.as_str()));
            let ordered = ordered(&renames, &mut names);
            let shown = ordered
                .iter()
                .map(|FileRename { from, to, .. }| format!("{from}>{to}").replace(".md", ""));
            assert_eq!(shown.collect::<Vec<_>>(), expected);
        }
    }
}
