//! An editor's keys: split and merge of texts, indentation of a range.

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockLocation, BlockRecord, BlockType, Edit, Error,
    IndentBlocks, InsertTarget, Limits, Result, SubtreeNode, Subtrees, TaskInfo, TaskState,
    TextFormat, TextStyle,
};

use crate::context::Context;
use crate::delete::delete;
use crate::read::ReadTree;
use crate::request::RequestReader;
use crate::update::{check_data, update_edit};

/// Result of an edit of texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditedTexts {
    /// Edits to apply.
    pub edits: Vec<Edit>,
    /// The blocks after the edits, in their order.
    pub blocks: Vec<BlockRecord>,
}

impl EditedTexts {
    fn update(&mut self, text: &LocatedText, data: BlockData, context: &Context<'_>) -> Result<()> {
        check_data(&data, context.limits)?;
        let (document, before) = (text.location.document, text.record.clone());
        let edit = update_edit(document, before, data, context.stamp);
        self.blocks.push(match &edit {
            Some(Edit::Update { after, .. }) => (**after).clone(),
            _ => text.record.clone(),
        });
        self.edits.extend(edit);
        Ok(())
    }
}

/// A text block that may be edited.
#[derive(Clone, Debug)]
pub struct LocatedText {
    /// The block.
    pub record: BlockRecord,
    location: BlockLocation,
    /// The parent: a text is never a root.
    parent: BlockId,
}

/// Finds a text block.
///
/// # Errors
/// [`leafbase_model::ErrorKind::NotFound`]; [`leafbase_model::ErrorKind::RuleViolation`] in the
/// trash; [`leafbase_model::ErrorKind::Validation`] for a block of another type.
pub fn locate_text<T: ReadTree + ?Sized>(tree: &T, id: BlockId) -> Result<LocatedText> {
    let reader = RequestReader::new(tree);
    let location = reader.locate(id)?;
    let record = reader.block(id)?;
    match (&record.data.kind, location.parent) {
        (BlockKind::Text(_), Some(parent)) => Ok(LocatedText { record, location, parent }),
        (_, None) => Err(Error::validation("the root of a document has no text")),
        (kind, _) => Err(Error::validation(format!(
            "expected a block of type text, but it is of type {}",
            kind.block_type()
        ))),
    }
}

/// Splits a text into `halves`, its inline markdown. The first half keeps the ID, but an empty
/// first half is the new block, so that the ID stays with the text.
///
/// # Errors
/// Those of [`BlockData::check`].
pub fn split<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    text: &LocatedText,
    [first, second]: [String; 2],
) -> Result<EditedTexts> {
    let data = &text.record.data;
    let mut edited = EditedTexts::default();
    let is_above = first.is_empty() && !second.is_empty();
    let added = BlockData {
        kind: match &data.kind {
            // Behind a heading, and before one, a plain text begins.
            BlockKind::Text(format) if is_above || second.is_empty() => {
                BlockKind::Text(TextFormat { style: TextStyle::Body, ..*format })
            }
            kind => kind.clone(),
        },
        inline: if is_above { first.clone() } else { second },
        task: data.task.map(|_| TaskInfo::of_state(TaskState::Todo)),
        ..data.clone()
    };
    check_data(&added, context.limits)?;
    let added = context.new_block(added);
    let after =
        if is_above { tree.previous_sibling(text.record.id)? } else { Some(text.record.id) };
    let (document, parent) = (text.location.document, text.parent);
    if is_above {
        edited.blocks.extend([added.clone(), text.record.clone()]);
    } else {
        edited.update(text, BlockData { inline: first, ..data.clone() }, context)?;
        edited.blocks.push(added.clone());
    }
    edited.edits.push(Edit::Insert {
        target: InsertTarget { document, parent, after },
        subtrees: Subtrees(vec![SubtreeNode { depth: 0, block: added }]),
    });
    Ok(edited)
}

/// Merges `second` into `first`, which gets the inline markdown `joined`.
///
/// # Errors
/// Those of [`BlockData::check`].
pub fn merge<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    [first, second]: [&LocatedText; 2],
    joined: String,
) -> Result<EditedTexts> {
    let mut edited = EditedTexts::default();
    edited.update(first, BlockData { inline: joined, ..first.record.data.clone() }, context)?;
    edited.edits.extend(delete(tree, context, vec![second.record.id])?.edits);
    Ok(edited)
}

/// Adds levels to the indentation of a range of `siblings`, the children of its parent in order,
/// and of the blocks after it that are indented deeper than its last.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Validation`] at `lastId` for a block that is not one of the
/// siblings from the first on; [`leafbase_model::ErrorKind::RuleViolation`] for an item, if a block
/// would be indented too deep, or the first by more than one level below the block before it;
/// [`leafbase_model::ErrorKind::LimitExceeded`].
pub fn indent<T: ReadTree + ?Sized>(
    tree: &T,
    context: &Context<'_>,
    siblings: &[BlockId],
    request: IndentBlocks,
) -> Result<EditedTexts> {
    let reader = RequestReader::new(tree);
    let IndentBlocks { first_id, last_id, levels, .. } = request;
    let document = reader.locate(first_id).map_err(|error| error.at("firstId"))?.document;
    let start = siblings.iter().position(|sibling| *sibling == first_id);
    let Some((before, range)) = start.and_then(|start| siblings.split_at_checked(start)) else {
        return Err(Error::rule("the root of a document is not indented").at("firstId"));
    };
    let last = last_id.unwrap_or(first_id);
    let Some(last) = range.iter().position(|sibling| *sibling == last) else {
        let message = "expected a block beside the first one, and not before it";
        return Err(Error::validation(message).at("lastId"));
    };
    let mut edited = EditedTexts::default();
    let most = context.limits.blocks_per_request;
    let (mut last_indentation, mut root_indentation, mut added) = (0, 0, 0);
    for (index, id) in range.iter().enumerate() {
        let record = reader.block(*id)?;
        let indentation = record.data.indentation;
        if index == 0 && record.data.block_type() == BlockType::CollectionItem {
            return Err(Error::rule("an item is not indented").at("firstId"));
        }
        if index > last && indentation <= last_indentation {
            break;
        }
        if index == most {
            return Err(Error::limit("blocks in one request", most, index + 1).at("lastId"));
        }
        if index == last {
            last_indentation = indentation;
        }
        // The blocks below another one go as far as it goes: outdenting keeps them below it.
        if index == 0 || indentation <= root_indentation {
            root_indentation = indentation;
            added = levels.0.max(0_i8.saturating_sub_unsigned(indentation));
        }
        let levels = indentation.saturating_add_signed(added);
        if index == 0 {
            check_parent(&reader, before.last(), indentation, levels)?;
        }
        if levels > Limits::INDENTATION && levels > indentation {
            let most = Limits::INDENTATION;
            let message = format!("block {id} would be indented by {levels} levels of {most}");
            return Err(Error::rule(message).at("levels"));
        }
        let data = BlockData { indentation: levels, ..record.data.clone() };
        match update_edit(document, record.clone(), data, context.stamp) {
            Some(Edit::Update { document, before, after }) => {
                edited.blocks.push((*after).clone());
                edited.edits.push(Edit::Update { document, before, after });
            }
            _ => edited.blocks.push(record),
        }
    }
    Ok(edited)
}

/// A block is indented by at most one level more than the block before it.
fn check_parent<T: ReadTree + ?Sized>(
    reader: &RequestReader<'_, T>,
    before: Option<&BlockId>,
    from: u8,
    to: u8,
) -> Result<()> {
    let most = match before {
        Some(before) => reader.block(*before)?.data.indentation.saturating_add(1),
        None => 0,
    };
    if to <= from || to <= most {
        return Ok(());
    }
    let message = format!("no block before it is one to be indented under, at level {to}");
    Err(Error::rule(message).at("firstId"))
}
