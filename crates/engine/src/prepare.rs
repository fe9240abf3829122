//! What a request gives is made ready for the tree: markdown is read into the fields that it stands for, several paragraphs
//! become several blocks, and text that would read as structure is escaped.

use leafbase_markdown as markdown;
use leafbase_model::{BlockData, BlockDraft, BlockKind, Edit, Error, Limits, Result};

/// Makes drafts ready, with all below them. Errors name the draft below `blocks`, counted as they were given.
pub(crate) fn drafts(drafts: Vec<BlockDraft>) -> Result<Vec<BlockDraft>> {
    let mut ready = drafts;
    let mut parents = Parents::default();
    let mut waiting = vec![(None, &mut ready)];
    while let Some((parent, list)) = waiting.pop() {
        let mut split = Vec::new();
        for (index, draft) in list.iter_mut().enumerate() {
            let further = in_place(&mut draft.data).map_err(|error| error.at(parents.path(parent, index)))?;
            if !further.is_empty() {
                split.push((index, further));
            }
            if !draft.content.is_empty() {
                with_content(&mut draft.data);
            }
        }
        // From the end on, so that places still to come stay; children are met under the index that they were given at.
        let mut shifts = Vec::with_capacity(split.len());
        for (index, further) in split.into_iter().rev() {
            shifts.push((index, further.len()));
            list.splice(index + 1..index + 1, further.into_iter().map(BlockDraft::new));
        }
        let (mut given, mut skipped) = (0, 0);
        for draft in list.iter_mut() {
            if skipped > 0 {
                skipped -= 1;
                continue;
            }
            if !draft.content.is_empty() {
                waiting.push((Some(parents.add(parent, given)), &mut draft.content));
            }
            if shifts.last().is_some_and(|(index, _)| *index == given) {
                skipped = shifts.pop().map_or(0, |(_, further)| further);
            }
            given += 1;
        }
    }
    Ok(ready)
}

/// Which drafts have content, so that the path of an error is written only when there is one.
#[derive(Default)]
struct Parents(Vec<(Option<usize>, usize)>);

impl Parents {
    fn add(&mut self, parent: Option<usize>, index: usize) -> usize {
        self.0.push((parent, index));
        self.0.len() - 1
    }

    fn path(&self, mut parent: Option<usize>, index: usize) -> String {
        let mut indices = vec![index];
        while let Some((above, index)) = parent.and_then(|parent| self.0.get(parent)) {
            indices.push(*index);
            parent = *above;
        }
        let steps: Vec<_> = indices.iter().rev().map(|index| format!("[{index}]")).collect();
        format!("blocks{}", steps.join(".content"))
    }
}

/// Makes one block ready: itself, and the blocks that its further paragraphs become.
pub(crate) fn data(mut data: BlockData) -> Result<Vec<BlockData>> {
    let further = in_place(&mut data)?;
    let mut parts = vec![data];
    parts.extend(further);
    Ok(parts)
}

/// Makes one block ready where it is, and gives the blocks that its further paragraphs become: mostly none.
fn in_place(data: &mut BlockData) -> Result<Vec<BlockData>> {
    if !data.block_type().has_own_markdown() && !data.markdown.is_empty() {
        markdown::read_block(data)?;
    }
    let mut further = Vec::new();
    if matches!(data.kind, BlockKind::Text(_)) && data.markdown.contains(['\n', '\r']) {
        let mut parts = markdown::split_paragraphs(std::mem::replace(data, BlockData::text(""))).into_iter();
        *data = parts.next().unwrap_or_else(|| BlockData::text(""));
        further.extend(parts);
    }
    markdown::canonical(data);
    further.iter_mut().for_each(markdown::canonical);
    Ok(further)
}

/// A text that has children is a page, and its text a title.
fn with_content(data: &mut BlockData) {
    if let BlockKind::Text(look) = data.kind {
        data.kind = BlockKind::Page(look);
        markdown::canonical(data);
    }
}

/// Texts that `edits` make pages, because they receive children, get the form of a title.
pub(crate) fn titles(edits: &mut [Edit]) {
    for edit in edits {
        if let Edit::Update { before, after, .. } = edit
            && before.data.block_type() != after.data.block_type()
        {
            markdown::canonical(&mut after.data);
        }
    }
}

/// The blocks that a request's markdown gives. The parser gives them ready.
pub(crate) fn markdown(text: &str, limits: &Limits) -> Result<Vec<BlockDraft>> {
    if text.len() > limits.markdown {
        return Err(Error::limit("bytes of markdown in one request", limits.markdown, text.len()).at("markdown"));
    }
    let options = markdown::ParseOptions::default().with_limits(limits.clone());
    Ok(markdown::parse(text, &options)?.blocks)
}

/// A page that becomes a document, made ready. Errors name what is wrong from the page on.
pub(crate) fn document(page: BlockDraft) -> Result<BlockDraft> {
    let content = drafts(page.content)?;
    let mut parts = data(page.data)?.into_iter();
    match (parts.next(), parts.next()) {
        (Some(title), None) => Ok(BlockDraft { data: title, content }),
        _ => Err(Error::validation("the title of a document is one paragraph").at("markdown")),
    }
}
