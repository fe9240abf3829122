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
        let mut have_content = Vec::new();
        for (index, draft) in std::mem::take(list).into_iter().enumerate() {
            let mut parts = data(draft.data).map_err(|error| error.at(parents.path(parent, index)))?;
            if !draft.content.is_empty() {
                have_content.push((list.len(), index));
                parts = parts
                    .into_iter()
                    .enumerate()
                    .map(|(at, data)| if at == 0 { with_content(data) } else { data })
                    .collect();
            }
            let mut content = draft.content;
            list.extend(parts.into_iter().map(|data| BlockDraft { data, content: std::mem::take(&mut content) }));
        }
        let mut have_content = have_content.into_iter().peekable();
        for (place, draft) in list.iter_mut().enumerate() {
            if let Some((_, index)) = have_content.next_if(|(at, _)| *at == place) {
                waiting.push((Some(parents.add(parent, index)), &mut draft.content));
            }
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
    if !data.block_type().has_own_markdown() && !data.markdown.is_empty() {
        markdown::read_block(&mut data)?;
    }
    let mut parts = markdown::split_paragraphs(data);
    parts.iter_mut().for_each(markdown::canonical);
    Ok(parts)
}

/// A text that has children is a page, and its text a title.
fn with_content(mut data: BlockData) -> BlockData {
    if let BlockKind::Text(look) = data.kind {
        data.kind = BlockKind::Page(look);
        markdown::canonical(&mut data);
    }
    data
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
