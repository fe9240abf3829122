//! The list of the tags of texts and of front matter.

use std::collections::BTreeMap;

use leafbase_model::{Error, ItemsPage, ListTags, Result, TagCount};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::scope_roots::ScopeRoots;
use crate::core::tree::Tree;
use crate::operations::cursor_text::{read_cursor, write_cursor};

/// Tags in lowercase, each with its form and the number of its documents.
type CountedTags = Vec<(String, TagCount)>;

impl<A: AccessScope> Connection<A> {
    /// The tags of texts (`#tag`, `#nested/tag`, `#[[two words]]`) and of front matter, with the
    /// number of documents that have each, or a tag nested in it. Tags are compared in lowercase
    /// and sorted by it, as bytes; each is shown as its first block of its first document, both by
    /// ID, writes it. Those in the trash are not counted. A scoped connection counts the documents
    /// of the scope as if there were no others.
    ///
    /// ```
    /// use leafbase::ListTags;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// notes.insert_markdown("#Travel/Lisbon and `#code`\n\n#packing", trip)?;
    /// let tags = notes.list_tags(ListTags::new().starting("travel"))?;
    /// let tags: Vec<_> = tags.iter().map(|it| (it.tag.as_str(), it.document_count)).collect();
    /// assert_eq!(tags, [("Travel", 1), ("Travel/Lisbon", 1)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// A range of the index and two lookups for each tag of the page; on a scoped connection the
    /// tags of all its documents, and the blocks of its single pages.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] at `limit` for 0, and at `cursor` for a cursor of another
    /// list.
    pub fn list_tags(&self, request: ListTags) -> Result<ItemsPage<TagCount>> {
        let ListTags { prefix, paging, .. } = request;
        paging.check()?;
        let prefixes = lower_prefixes(prefix.trim().trim_start_matches('#'));
        let after = paging.cursor.as_deref().map(|text| tag_of_cursor(text, &prefixes));
        let after = after.transpose()?;
        let limit = paging.limit.unwrap_or(usize::MAX);
        self.operation("list_tags").read(|tree| {
            // One more than the page shows whether another page follows.
            let most = limit.saturating_add(1);
            let mut found = match tree.visibility().roots() {
                None => all_tags(tree, &prefixes, after.as_deref(), most)?,
                Some(roots) => scope_tags(tree, roots, &prefixes, after.as_deref())?,
            };
            let goes_on = found.len() > limit;
            found.truncate(limit);
            let last = found.last().filter(|_| goes_on);
            let next_cursor = last.map(|(tag, _)| write_cursor(tag.as_bytes()));
            Ok(ItemsPage { items: found.into_iter().map(|(_, tag)| tag).collect(), next_cursor })
        })
    }
}

/// The lowercase forms of a prefix, sorted. A sigma at its end is a final one if the tag or a word
/// of it ends there, and else another letter.
fn lower_prefixes(prefix: &str) -> Vec<String> {
    let lower = prefix.to_lowercase();
    match lower.strip_suffix(['ς', 'σ']) {
        Some(start) => ["ς", "σ"].map(|sigma| format!("{start}{sigma}")).to_vec(),
        None => vec![lower],
    }
}

fn has_prefix(tag: &str, prefixes: &[String]) -> bool {
    prefixes.iter().any(|prefix| tag.starts_with(prefix))
}

fn all_tags(
    tree: &Tree<'_>,
    prefixes: &[String],
    after: Option<&str>,
    most: usize,
) -> Result<CountedTags> {
    let mut found = Vec::new();
    for prefix in prefixes {
        let counted = tree.full_reader()?.counted_tags(prefix, after, most - found.len())?;
        found.extend(counted.into_iter().map(|it| (it.tag, TagCount::new(it.form, it.documents))));
    }
    Ok(found)
}

fn scope_tags(
    tree: &Tree<'_>,
    roots: &ScopeRoots,
    prefixes: &[String],
    after: Option<&str>,
) -> Result<CountedTags> {
    let mut counted: BTreeMap<String, TagCount> = BTreeMap::new();
    for document in roots.ids() {
        if tree.stored_document(document)?.is_none() {
            continue;
        }
        for (tag, form) in tree.tags_of(document)? {
            counted.entry(tag).or_insert_with(|| TagCount::new(form, 0)).document_count += 1;
        }
    }
    counted.retain(|tag, _| has_prefix(tag, prefixes) && after.is_none_or(|after| **tag > *after));
    Ok(counted.into_iter().collect())
}

/// The tag after which a page begins.
fn tag_of_cursor(text: &str, prefixes: &[String]) -> Result<String> {
    let foreign = || Error::validation("the cursor is not of this list of tags").at("cursor");
    let tag = read_cursor(text).and_then(|bytes| String::from_utf8(bytes).ok());
    tag.filter(|tag| !tag.is_empty() && has_prefix(tag, prefixes)).ok_or_else(foreign)
}
