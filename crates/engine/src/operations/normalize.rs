//! Normalization of block data: text given in block form or as plain text becomes inline markdown,
//! markdown of other types becomes the fields that it denotes, and a text of several blocks is
//! split.

use leafbase_markdown::{self as markdown, BlockForm, PlainText, TextMarkers};
use leafbase_model::{
    BesideText, BlockData, BlockDraft, BlockFields, BlockKind, BlockType, Color, Decorations,
    Error, GivenText, Limits, ListStyle, Result, TaskInfo, TaskState, TextFormat, TextStyle,
};
use leafbase_tree_ops as ops;

use crate::operations::block_markdown;

/// Normalizes a draft, except for its content, in place, and returns the blocks split from its
/// text, usually none. All of them are checked, so that errors refer to the draft as given. The
/// root of a document cannot be split.
pub(crate) fn draft(
    draft: &mut BlockDraft,
    has_content: bool,
    is_root: bool,
    limits: &Limits,
) -> Result<Vec<BlockData>> {
    // The limit first: parsing costs time in proportion to the text.
    if is_too_long(&draft.data, limits) {
        ops::check_draft(limits, &draft.data, has_content)?;
    }
    let further = read_given(draft, limits)?;
    draft.apply_task_patch()?;
    let data = &mut draft.data;
    if has_markdown_for_fields(data) {
        check_markdown_length(data, limits)?;
        block_markdown::parse_fields(data)?;
    }
    check_highlights(data.block_type(), &data.inline)?;
    check_shown_text(draft.shown_text.take(), &draft.data)?;
    let data = &mut draft.data;
    if is_root {
        check_document_title(&data.inline, further.len())?;
    }
    // A text with children is a page.
    if let (true, BlockKind::Text(look)) = (has_content || is_root, &data.kind) {
        data.kind = BlockKind::Page(*look);
    }
    markdown::canonical(data);
    ops::check_draft(limits, data, has_content)?;
    further
        .iter()
        .try_for_each(|data| ops::check_draft(limits, data, false))
        .map_err(|error| error.without_path().at("markdown"))?;
    Ok(further)
}

/// Reads the text of a draft that is given in another form, and returns its further blocks.
fn read_given(draft: &mut BlockDraft, limits: &Limits) -> Result<Vec<BlockData>> {
    match draft.text.take() {
        None => Ok(Vec::new()),
        Some(GivenText::Plain(text)) => {
            draft.data.inline = inline_of_plain(&text)?;
            Ok(Vec::new())
        }
        Some(GivenText::Markdown { text, beside }) => {
            let BlockForm { markers, inline, further } = read_block_form(&text, limits)?;
            let data = &mut draft.data;
            data.inline = inline;
            mark(data, markers, beside);
            Ok(follow(data, markers, further))
        }
    }
}

/// The plain text that a reply has beside the markdown is that of the block, or an edit that would
/// be lost.
fn check_shown_text(shown: Option<String>, data: &BlockData) -> Result<()> {
    match shown {
        Some(shown) if shown != PlainText::of(&data.inline).as_str() => {
            let message = "differs from the block's other text: give one of them";
            Err(Error::validation(message).at("text"))
        }
        _ => Ok(()),
    }
}

fn inline_of_plain(text: &str) -> Result<String> {
    if text.contains('\0') {
        return Err(Error::validation("a text contains no character NUL").at("text"));
    }
    Ok(markdown::inline_of_plain(text).into_owned())
}

/// Bytes of a block form per byte of a text of the greatest length: markers and escapes need room,
/// and a text of a request is never more than one text's work.
const BLOCK_FORM_BYTES_PER_BYTE: usize = 8;

fn read_block_form(text: &str, limits: &Limits) -> Result<BlockForm> {
    if text.len() > limits.block_text.saturating_mul(BLOCK_FORM_BYTES_PER_BYTE) {
        let error = Error::limit("bytes of a block's text", limits.block_text, text.len());
        return Err(error.at("markdown"));
    }
    markdown::read_block_form(text, limits).map_err(|error| error.at("markdown"))
}

/// Sets the fields of a new block that markers denote and that are not given beside them.
fn mark(data: &mut BlockData, markers: TextMarkers, beside: BesideText) {
    if let (Some(style), false, BlockKind::Text(look)) =
        (markers.style, beside.style, &mut data.kind)
    {
        look.style = style;
    }
    if let (Some(list), false) = (markers.list, beside.list) {
        data.list_style = list;
        let open = TaskInfo::of_state(TaskState::Todo);
        data.task = (list == ListStyle::Task).then(|| data.task.unwrap_or(open));
    }
    if let (Some(state), false, Some(task)) = (markers.state, beside.state, &mut data.task) {
        task.state = state;
    }
    if let (Some(decorations), false) = (markers.decorations, beside.decorations) {
        data.decorations = decorations;
    }
}

/// The blocks that follow `first` out of its text, whose markers are its own. Those without markers
/// look like it in what is given by fields: body text below a heading, one level deeper below a
/// list item.
fn follow(first: &BlockData, markers: TextMarkers, further: Vec<BlockData>) -> Vec<BlockData> {
    let BlockKind::Text(look) = first.kind else { return further };
    let below = match look.style {
        TextStyle::H1 | TextStyle::H2 | TextStyle::H3 | TextStyle::H4 => TextStyle::Body,
        _ if markers.style.is_some() => TextStyle::Body,
        style => style,
    };
    let deeper = u8::from(first.list_style != ListStyle::None && markers.list.is_none());
    let one = |mut data: BlockData| {
        let deeper = if data.list_style == ListStyle::None { deeper } else { 0 };
        let indentation = first.indentation.saturating_add(data.indentation);
        data.indentation = indentation.saturating_add(deeper).min(Limits::INDENTATION);
        data.color = first.color;
        if markers.decorations.is_none() && data.decorations == Decorations::default() {
            data.decorations = first.decorations;
        }
        if let BlockKind::Text(own) = data.kind {
            let style = if own.style == TextStyle::Body { below } else { own.style };
            data.kind = BlockKind::Text(TextFormat { style, ..look });
        }
        data
    };
    further.into_iter().map(one).collect()
}

/// Checks the texts of a patch, and drops a text that equals what the block already shows, as in a
/// reply that is sent back.
pub(crate) fn fields(before: &BlockData, fields: &mut BlockFields, limits: &Limits) -> Result<()> {
    // Replies show readable variants of the color, from which it cannot always be inferred.
    let shows_alike = |kept: Color, color: Color| {
        kept.light() == color || (kept.light(), kept.dark()) == (color.light(), color.dark())
    };
    fields.color.take_if(|color| {
        color.is_some_and(|color| before.color.is_some_and(|kept| shows_alike(kept, color)))
    });
    let wanted = fields.block_type.unwrap_or(before.block_type());
    // Whatever the new type is: sent back with another one, the text is that of the block still.
    if matches!(before.block_type(), BlockType::Text | BlockType::Page) {
        fields.markdown.take_if(|text| *text == markdown::block_form(before));
    }
    if before.block_type() == BlockType::Page {
        fields.title.take_if(|title| *title == before.inline);
    }
    if before.block_type().has_inline_text() {
        fields.inline.take_if(|text| *text == before.inline);
        fields.plain.take_if(|text| *text == PlainText::of(&before.inline).as_str());
    }
    fields.check_texts(wanted)?;
    let own = (wanted != BlockType::Text).then_some(&fields.markdown);
    for text in [own.unwrap_or(&None), &fields.inline, &fields.title]
        .into_iter()
        .flatten()
        .filter(|text| text.len() <= limits.block_raw)
    {
        check_highlights(wanted, text)?;
    }
    block_markdown::drop_unchanged(before, fields)
}

/// What the text of a patch says beyond the block itself.
#[derive(Debug, Default)]
pub(crate) struct FurtherBlocks {
    blocks: Vec<BlockData>,
    /// The markers of the block itself.
    markers: TextMarkers,
}

impl FurtherBlocks {
    /// Whether the text is that of the block alone.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

/// Replaces a text that a patch gives in block form or as plain text by the fields that it denotes.
pub(crate) fn text(
    before: &BlockData,
    fields: &mut BlockFields,
    limits: &Limits,
) -> Result<FurtherBlocks> {
    let wanted = fields.block_type.unwrap_or(before.block_type());
    if let Some(text) = fields.plain.take_if(|_| wanted.has_inline_text()) {
        fields.inline = Some(inline_of_plain(&text)?);
    }
    let Some(text) = fields.markdown.take_if(|_| wanted == BlockType::Text) else {
        return Ok(FurtherBlocks::default());
    };
    let BlockForm { markers, inline, further } = read_block_form(&text, limits)?;
    check_highlights(wanted, &inline)?;
    fields.inline = Some(inline);
    settle_markers(before, fields, markers)?;
    Ok(FurtherBlocks { blocks: further, markers })
}

/// Reads the marker of a task, `- [x] call`, in the title that a patch gives a page: its client
/// knows it as a task. Other markers are text of a title.
pub(crate) fn task_title(
    before: &BlockData,
    fields: &mut BlockFields,
    limits: &Limits,
) -> Result<()> {
    let Some(text) = &fields.markdown else { return Ok(()) };
    if before.block_type() != BlockType::Page {
        return Ok(());
    }
    let BlockForm { markers, inline, further } = read_block_form(text, limits)?;
    let is_task = markers.list == Some(ListStyle::Task) && further.is_empty();
    if is_task && markers.style.is_none() && markers.decorations.is_none() {
        fields.markdown = Some(inline);
        settle_state(before, fields, markers)?;
    }
    Ok(())
}

/// Of a marker and the field that it denotes, the one that differs from the block is meant.
fn settle_markers(
    before: &BlockData,
    fields: &mut BlockFields,
    markers: TextMarkers,
) -> Result<()> {
    let style = before.text_format().map(|look| look.style);
    settle("textStyle", style.as_ref(), &mut fields.text_style, markers.style)?;
    settle("listStyle", Some(&before.list_style), &mut fields.list_style, markers.list)?;
    settle("decorations", Some(&before.decorations), &mut fields.decorations, markers.decorations)?;
    settle_state(before, fields, markers)
}

fn settle_state(before: &BlockData, fields: &mut BlockFields, markers: TextMarkers) -> Result<()> {
    if let Some(state) =
        markers.state.filter(|_| fields.list_style.unwrap_or(before.list_style) == ListStyle::Task)
    {
        let present = before.task.map(|task| task.state);
        let patch = fields.task_patch.get_or_insert_default();
        settle("taskInfo.state", present.as_ref(), &mut patch.state, Some(state))?;
    }
    Ok(())
}

fn settle<T: Copy + PartialEq>(
    name: &str,
    present: Option<&T>,
    field: &mut Option<T>,
    marker: Option<T>,
) -> Result<()> {
    let Some(marker) = marker else { return Ok(()) };
    match *field {
        Some(given) if given == marker || present == Some(&marker) => Ok(()),
        Some(given) if present != Some(&given) => {
            let message = format!("has a marker that differs from {name}");
            Err(Error::validation(message).at("markdown"))
        }
        _ => {
            *field = Some(marker);
            Ok(())
        }
    }
}

/// Normalizes the data of an updated block: the block itself and the blocks split from its text.
/// The caller checks them.
pub(crate) fn data(
    mut data: BlockData,
    further: FurtherBlocks,
    limits: &Limits,
) -> Result<Vec<BlockData>> {
    if is_too_long(&data, limits) {
        data.check(limits)?;
    }
    if has_markdown_for_fields(&data) {
        check_markdown_length(&data, limits)?;
        markdown::read_block(&mut data)?;
    }
    if data.block_type() == BlockType::CollectionItem {
        check_item_title(&data.inline).map_err(|error| error.at("markdown"))?;
    }
    markdown::canonical(&mut data);
    let mut further = follow(&data, further.markers, further.blocks);
    further.insert(0, data);
    Ok(further)
}

/// Normalizes the title of an item. Errors have no path.
pub(crate) fn item_title(text: &str, limits: &Limits) -> Result<String> {
    let mut data = BlockData {
        inline: text.to_owned(),
        ..BlockData::new(BlockKind::empty(BlockType::CollectionItem))
    };
    let mut normalize = || {
        check_highlights(data.block_type(), &data.inline)?;
        check_item_title(text)?;
        markdown::canonical(&mut data);
        data.check(limits)
    };
    normalize().map_err(Error::without_path)?;
    Ok(data.inline)
}

/// Checks a title with `further` blocks split from it.
pub(crate) fn check_document_title(text: &str, further: usize) -> Result<()> {
    if further > 0 || !markdown::is_one_paragraph(text) {
        return Err(Error::validation("the title of a document is one paragraph").at("markdown"));
    }
    Ok(())
}

fn check_item_title(text: &str) -> Result<()> {
    if !markdown::is_one_paragraph(text) {
        return Err(Error::validation("the title of an item is one paragraph"));
    }
    Ok(())
}

/// Whether the text exceeds the limit of a block: it is then refused before it is parsed.
fn is_too_long(data: &BlockData, limits: &Limits) -> bool {
    let longest =
        if data.block_type() == BlockType::Table { limits.block_raw } else { limits.block_text };
    data.block_type().has_own_markdown() && data.inline.len() > longest
}

/// Whether `markdown` denotes other fields.
fn has_markdown_for_fields(data: &BlockData) -> bool {
    !data.block_type().has_own_markdown() && !data.inline.is_empty()
}

/// The field that contains the address of a block that has one.
pub(crate) fn address_field(data: &BlockData) -> &'static str {
    if has_markdown_for_fields(data) { "markdown" } else { "url" }
}

fn check_markdown_length(data: &BlockData, limits: &Limits) -> Result<()> {
    // Markup and escapes need room in addition to the longest code or URL.
    let longest = limits.block_raw.max(limits.attribute).saturating_mul(2);
    if data.inline.len() > longest {
        return Err(
            Error::limit("bytes of a block's markdown", longest, data.inline.len()).at("markdown")
        );
    }
    Ok(())
}

fn check_highlights(block_type: BlockType, text: &str) -> Result<()> {
    if !block_type.has_own_markdown() {
        return Ok(());
    }
    markdown::check_highlights(text).map_err(|error| error.at("markdown"))
}
