//! What a request gives is made ready for the tree: markdown is read into the fields that it stands for, several paragraphs
//! become several blocks, and text that would read as structure is escaped.

use leafbase_markdown as markdown;
use leafbase_model::{BlockData, BlockDraft, Error, Limits, Result};

/// Makes drafts ready, with all below them. Errors name the draft below `blocks`, counted as they were given.
pub(crate) fn drafts(drafts: Vec<BlockDraft>, limits: &Limits) -> Result<Vec<BlockDraft>> {
    let mut ready = drafts;
    let mut waiting = vec![("blocks".to_owned(), 0, &mut ready)];
    while let Some((path, depth, list)) = waiting.pop() {
        if depth > limits.page_nesting {
            return Err(Error::limit("pages within pages", limits.page_nesting, depth).at(path));
        }
        let mut parents = Vec::new();
        for (index, draft) in std::mem::take(list).into_iter().enumerate() {
            let parts = data(draft.data).map_err(|error| error.at(format_args!("{path}[{index}]")))?;
            if !draft.content.is_empty() {
                parents.push((list.len(), index));
            }
            let mut content = draft.content;
            list.extend(parts.into_iter().map(|data| BlockDraft { data, content: std::mem::take(&mut content) }));
        }
        let mut parents = parents.into_iter().peekable();
        for (place, draft) in list.iter_mut().enumerate() {
            if let Some((_, index)) = parents.next_if(|(at, _)| *at == place) {
                waiting.push((format!("{path}[{index}].content"), depth + 1, &mut draft.content));
            }
        }
    }
    Ok(ready)
}

/// Makes one block ready: itself, and the blocks that its further paragraphs become.
pub(crate) fn data(mut data: BlockData) -> Result<Vec<BlockData>> {
    if !data.block_type().has_own_markdown() {
        if !data.markdown.is_empty() {
            markdown::read_block(&mut data).map_err(|error| error.at("markdown"))?;
        }
        return Ok(vec![data]);
    }
    let mut parts = markdown::split_paragraphs(data);
    for part in &mut parts {
        markdown::canonical(part);
    }
    Ok(parts)
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
pub(crate) fn document(page: BlockDraft, limits: &Limits) -> Result<BlockDraft> {
    let content = drafts(page.content, limits)?;
    let mut parts = data(page.data)?.into_iter();
    match (parts.next(), parts.next()) {
        (Some(title), None) => Ok(BlockDraft { data: title, content }),
        _ => Err(Error::validation("the title of a document is one paragraph").at("markdown")),
    }
}
