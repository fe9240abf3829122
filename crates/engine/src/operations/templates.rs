//! Creates documents as copies of templates.

use std::borrow::Cow;
use std::collections::HashMap;

use leafbase_markdown::{self as markdown, LinkTarget};
use leafbase_model::{
    BlockData, BlockId, BlockKind, CreateFromTemplate, Document, Error, Location, PropertyValue,
    Result, TextRole,
};
use leafbase_tree_ops::{self as ops, ReadTree};

use crate::core::access::FullAccess;
use crate::core::connection::Connection;
use crate::operations::collections::clones::ClonedSchemas;
use crate::operations::documents;

impl<A: FullAccess> Connection<A> {
    /// Creates a document as a copy of a template and returns it with a clickable link. Blocks get
    /// new IDs and timestamps, and links within the template are redirected to the copies;
    /// everything else is copied, including task states. Comments are not copied; files are shared.
    ///
    /// Collections are copied with their items, and relations within the template connect the
    /// copies. A relation with a collection outside the template is copied too: that collection
    /// gets one more property, the inverse. If it is in the trash, the copy has no such relation.
    ///
    /// The cost is linear in the size of the template, which has no limit of its own.
    ///
    /// ```
    /// use leafbase::{CreateFromTemplate, Destination, MoveDocuments};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let template = notes.create_document("Trip to ..")?.id();
    /// notes.insert_markdown("- [ ] passport", template)?;
    /// notes.move_documents(MoveDocuments::new([template], Destination::Templates))?;
    /// let lisbon = notes
    ///     .create_from_template(CreateFromTemplate::new(template).titled("Trip to Lisbon"))?;
    /// assert_eq!(notes.content_markdown(lisbon.id())?, "- [ ] passport");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// At `templateId`, [`crate::ErrorKind::NotFound`], [`crate::ErrorKind::RuleViolation`] for a
    /// document that is not a template, and [`crate::ErrorKind::LimitExceeded`] if a collection
    /// that it relates to has no room for another property; [`crate::ErrorKind::NotFound`] at
    /// `destination.folderId`; at `title`, those of a document's title.
    pub fn create_from_template(&self, request: CreateFromTemplate) -> Result<Document> {
        let CreateFromTemplate { template_id, title, destination, .. } = request;
        let normalized = |title: String| documents::titles::normalized(&title, self.limits());
        let title = title.map(normalized).transpose().map_err(|error| error.at("title"));
        let (made, _) = self.operation("create_from_template").write(|transaction| {
            let (subtrees, schemas) = transaction.plan(|tree, context| {
                let template = tree
                    .document(template_id)?
                    .ok_or_else(|| Error::no_document().at("templateId"))?;
                if template.location != Location::Templates {
                    let message = format!("document {template_id} is not a template");
                    return Err(Error::rule(message).at("templateId"));
                }
                let mut subtrees = tree.subtree(template_id.root(), None)?;
                let schemas = ClonedSchemas::of(tree, &mut subtrees, context.limits)
                    .map_err(|error| error.at("templateId"))?;
                Ok((subtrees, schemas))
            })?;
            let title = title.as_ref().map_err(Error::clone)?;
            transaction
                .plan_with_reader(|reader, _| documents::check_destination(reader, destination))?;
            let (mut copy, copies) =
                ops::copy_document(&transaction.context, subtrees, destination.into(), repoint)?;
            if let Some(title) = title {
                copy.retitle(title);
            }
            copy.edits
                .extend(transaction.plan(|tree, _| schemas.edits(tree, copy.record.id, &copies))?);
            transaction.apply(copy.edits)?;
            Ok((copy.record, copy.root.inline))
        })?;
        Ok(self.created(made.0, made.1))
    }
}

/// Makes what a block points to the copy of it, where there is one: what
/// [`crate::core::edges::edges`] tells of is changed here.
pub(crate) fn repoint(data: &mut BlockData, copies: &HashMap<BlockId, BlockId>) {
    if data.block_type().has_own_markdown()
        && let Cow::Owned(text) =
            markdown::rewrite_links(&data.inline, &mut |link| redirected(&link.destination, copies))
    {
        data.inline = text;
    }
    if let Some((TextRole::LinkUrl, url)) = data.url_mut()
        && let Some(new) = redirected(url, copies)
    {
        *url = new;
    }
    if let BlockKind::CollectionItem { properties } = &mut data.kind {
        for value in properties.values_mut() {
            if let PropertyValue::Relations(items) = value {
                for item in items {
                    *item = *copies.get(item).unwrap_or(item);
                }
            }
        }
    }
}

/// The destination with the ID of a copied block replaced by the ID of its copy; `None` if it names
/// no copied block.
fn redirected(destination: &str, copies: &HashMap<BlockId, BlockId>) -> Option<String> {
    let LinkTarget::Block(block) = LinkTarget::of(destination) else { return None };
    let copy = copies.get(&block)?;
    // The ID is replaced in place, which preserves the rest of the destination. A percent-encoded
    // ID is not found that way and the destination is rewritten.
    let name = destination
        .split([':', '/', '?', '#'])
        .map(str::trim_ascii)
        .find(|part| part.parse() == Ok(block));
    Some(match name {
        Some(name) => destination.replacen(name, &copy.to_string(), 1),
        None => format!("block://{copy}"),
    })
}
