//! The blocks that a replacement changes, and what they become.

use std::collections::HashSet;
use std::ops::Range;

use leafbase_markdown::{self as markdown, PlainText};
use leafbase_model::{
    BlockData, BlockFields, BlockId, BlockKind, BlockPatch, BlockType, DocumentId, Error,
    ErrorKind, Needle, ReplaceText, ReplacedBlock, Result, change_cells,
};
use leafbase_pattern::{Replacer, escape_pattern};
use leafbase_store::BlockText;
use leafbase_tree_ops::ReadTree;

use super::letter_case::with_case_of;
use crate::core::redaction::{LinkRedactor, shown_markdown};
use crate::core::tree::Tree;
use crate::operations::search::{PatternSet, PatternSetMatcher};

/// Work of a replacement across marks at each byte of its text, in bytes that a search reads: the
/// text is parsed about ten times.
const WORK_APART: usize = 400;

/// A replacement that is ready to run.
pub(super) struct ReplaceSearch {
    patterns: PatternSet,
    replacer: Replacer,
    keep_case: bool,
}

/// The patches of blocks, and what the reply says of them.
pub(super) struct FoundReplacements {
    pub(super) patches: Vec<BlockPatch>,
    pub(super) blocks: Vec<ReplacedBlock>,
}

/// What became of the matches in a block.
#[derive(Default)]
struct ReplacementCount {
    replaced: usize,
    kept: usize,
}

impl ReplaceSearch {
    pub(super) fn new(request: &ReplaceText) -> Result<Self> {
        let (field, pattern) = match &request.find {
            Needle::Text(text) => ("find", escape_pattern(text)),
            Needle::Pattern(pattern) => ("pattern", pattern.clone()),
        };
        let patterns = PatternSet::new(field, &[pattern], request.case_sensitive)?;
        let replacer = match &request.find {
            Needle::Text(_) => Replacer::literal(&*request.replacement),
            Needle::Pattern(_) => {
                patterns.replacer(&request.replacement).map_err(|error| error.at("replacement"))?
            }
        };
        Ok(Self { patterns, replacer, keep_case: request.keep_case })
    }

    /// Searches these blocks and all below them, each once.
    pub(super) fn find(
        &self,
        tree: &Tree<'_>,
        blocks: &[(DocumentId, BlockId)],
        most: usize,
    ) -> Result<FoundReplacements> {
        let (mut matcher, links) = (self.patterns.matcher(), LinkRedactor::new(tree));
        let mut found = FoundReplacements { patches: Vec::new(), blocks: Vec::new() };
        let mut seen = HashSet::new();
        for (document, top) in blocks {
            let texts = tree.reader_at(*top)?.subtree_texts(*top)?;
            for block in texts.iter() {
                if !seen.insert(block.id)
                    || !may_match(&mut matcher, block.text, tree.is_unrestricted())?
                {
                    continue;
                }
                let record = tree.block(block.id)?;
                let record =
                    record.ok_or_else(|| Error::corrupted(format_args!("block {}", block.id)))?;
                let mut shown = links.redacted(&record.data)?.into_owned();
                let Some((fields, count)) = self.replace(&mut matcher, &mut shown)? else {
                    continue;
                };
                if found.blocks.len() == most {
                    return Err(Error::limit("blocks with matches", most, "more"));
                }
                if count.replaced > 0 {
                    found.patches.push(BlockPatch { fields, ..BlockPatch::of(block.id) });
                }
                found.blocks.push(ReplacedBlock {
                    block_id: block.id,
                    document_id: *document,
                    replaced: count.replaced,
                    kept: count.kept,
                    markdown: shown_markdown(&shown).into_owned(),
                });
            }
        }
        Ok(found)
    }

    /// Replaces in the text of a block. None without a match.
    fn replace(
        &self,
        matcher: &mut PatternSetMatcher<'_>,
        data: &mut BlockData,
    ) -> Result<Option<(BlockFields, ReplacementCount)>> {
        let (mut fields, mut count) = (BlockFields::default(), ReplacementCount::default());
        match &mut data.kind {
            BlockKind::Text(_) | BlockKind::Page(_) | BlockKind::CollectionItem { .. } => {
                if let Some(inline) = self.replace_inline(matcher, &data.inline, &mut count)? {
                    data.inline.clone_from(&inline);
                    fields.inline = Some(inline);
                }
            }
            BlockKind::Table => {
                let change = |cell: &str| self.replace_inline(matcher, cell, &mut count);
                data.inline = change_cells(&data.inline, change)?;
                fields.markdown = Some(data.inline.clone());
            }
            BlockKind::Code { raw_code, .. } => {
                let edits = self.edits(matcher, raw_code)?;
                for (range, text) in edits.iter().rev() {
                    raw_code.replace_range(range.clone(), text);
                }
                count.replaced = edits.len();
                fields.raw_code = Some(raw_code.clone());
            }
            _ => {}
        }
        Ok((count.replaced + count.kept > 0).then_some((fields, count)))
    }

    fn replace_inline(
        &self,
        matcher: &mut PatternSetMatcher<'_>,
        inline: &str,
        count: &mut ReplacementCount,
    ) -> Result<Option<String>> {
        let plain = PlainText::of(inline);
        let edits = self.edits(matcher, plain.as_str())?;
        if edits.is_empty() {
            return Ok(None);
        }
        let charge = |apart| matcher.consume((WORK_APART * inline.len()).saturating_mul(apart));
        let Some(replaced) = markdown::replace_plain_charged(inline, &edits, charge)? else {
            let message = "matches are ranges of the text";
            return Err(Error::new(ErrorKind::Internal, message));
        };
        count.replaced += replaced.replaced;
        count.kept += replaced.kept;
        Ok((replaced.replaced > 0).then_some(replaced.inline))
    }

    /// The matches in a text that are replaced by something else, with what stands in their place.
    fn edits(
        &self,
        matcher: &mut PatternSetMatcher<'_>,
        text: &str,
    ) -> Result<Vec<(Range<usize>, String)>> {
        let matches = matcher.matches(text)?;
        if matches.is_empty() {
            return Ok(Vec::new());
        }
        let replacements = matcher.replacements(&self.replacer, text, &matches)?;
        let edits = matches.into_iter().zip(replacements).map(|(range, replacement)| {
            let found = text.get(range.clone()).unwrap_or("");
            let replacement =
                if self.keep_case { with_case_of(found, &replacement) } else { replacement };
            (found != replacement).then_some((range, replacement))
        });
        Ok(edits.flatten().collect())
    }
}

/// Whether a block can have a match, as far as can be told without its record.
fn may_match(
    matcher: &mut PatternSetMatcher<'_>,
    text: BlockText<'_>,
    is_unrestricted: bool,
) -> Result<bool> {
    let inline = match text {
        BlockText::Markdown(BlockType::Table, _) => return Ok(true),
        BlockText::Markdown(_, inline) => inline,
        BlockText::Data(data) => match &data.kind {
            BlockKind::Text(_) | BlockKind::Page(_) | BlockKind::CollectionItem { .. } => {
                &data.inline
            }
            BlockKind::Table | BlockKind::Code { .. } => return Ok(true),
            _ => return Ok(false),
        },
    };
    // A scoped connection is shown placeholders for some links, which are text of their own if
    // nothing else is there.
    if !is_unrestricted && inline.contains("block:") {
        return Ok(true);
    }
    matcher.is_match(PlainText::of(inline).as_str())
}
