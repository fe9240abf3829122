//! The fields that a request may give for a block, before it is known whether they make a new one
//! or change one.

use crate::block::TASK_INFO_WITHOUT_TASK;
use crate::block_json::Indentation;
use crate::json::{Object, quoted};
use crate::{
    BlockData, BlockKind, BlockLayout, BlockType, CardLayout, CodeLanguage, Color, Day, DayRef,
    Decorations, Error, Font, LineStyle, ListStyle, MediaSize, MediaWidth, Result, TaskInfo,
    TaskPatch, TaskState, TextAlignment, TextStyle,
};

/// Each field of the specification, given or not. Which of them a block may have depends on its
/// type: [`BlockFields::apply`] refuses the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockFields {
    /// `type`.
    pub block_type: Option<BlockType>,
    /// `markdown`.
    pub markdown: Option<String>,
    /// `indentationLevel`.
    pub indentation: Option<u8>,
    /// `listStyle`.
    pub list_style: Option<ListStyle>,
    /// `color`; `null` clears it.
    pub color: Option<Option<Color>>,
    /// The task as a whole, with all that it holds.
    pub task: Option<TaskInfo>,
    /// `taskInfo`: what it gives changes, the rest of the task stays. It comes after `task`.
    pub task_patch: Option<TaskPatch>,
    /// `decorations`.
    pub decorations: Option<Decorations>,
    /// `textStyle`.
    pub text_style: Option<TextStyle>,
    /// `textAlignment`.
    pub text_alignment: Option<TextAlignment>,
    /// `font`.
    pub font: Option<Font>,
    /// `cardLayout`.
    pub card_layout: Option<CardLayout>,
    /// `title`: of a rich URL, and another name for a page's `markdown`.
    pub title: Option<String>,
    /// `url`.
    pub url: Option<String>,
    /// `altText`.
    pub alt_text: Option<String>,
    /// `size`.
    pub size: Option<MediaSize>,
    /// `width`.
    pub width: Option<MediaWidth>,
    /// `fileName`.
    pub file_name: Option<String>,
    /// `blockLayout`.
    pub block_layout: Option<BlockLayout>,
    /// `rawCode`.
    pub raw_code: Option<String>,
    /// `language`.
    pub language: Option<CodeLanguage>,
    /// `languageTag`.
    pub language_tag: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `layout`.
    pub layout: Option<BlockLayout>,
    /// `lineStyle`.
    pub line_style: Option<LineStyle>,
}

impl BlockFields {
    pub(crate) fn take(object: &mut Object) -> Result<Self> {
        if object.take("properties").is_some() {
            return Err(Error::validation("are given with the operations on collection items")
                .at("properties"));
        }
        Ok(Self {
            block_type: object.optional("type")?,
            markdown: object.optional("markdown")?,
            indentation: object.optional::<Indentation>("indentationLevel")?.map(|level| level.0),
            list_style: object.optional("listStyle")?,
            color: object.nullable("color")?,
            task: None,
            task_patch: object.optional("taskInfo")?,
            decorations: object.optional("decorations")?,
            text_style: object.optional("textStyle")?,
            text_alignment: object.optional("textAlignment")?,
            font: object.optional("font")?,
            card_layout: object.optional("cardLayout")?,
            title: object.optional("title")?,
            url: object.optional("url")?,
            alt_text: object.optional("altText")?,
            size: object.optional("size")?,
            width: object.optional("width")?,
            file_name: object.optional("fileName")?,
            block_layout: object.optional("blockLayout")?,
            raw_code: object.optional("rawCode")?,
            language: object.optional("language")?,
            language_tag: object.optional("languageTag")?,
            description: object.optional("description")?,
            layout: object.optional("layout")?,
            line_style: object.optional("lineStyle")?,
        })
    }

    /// Whether no field is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Gives `taskInfo`'s days that are named relative to the present (`tomorrow`) as the dates
    /// that `resolve` finds.
    ///
    /// # Errors
    /// Those of `resolve`, with the field's path.
    pub fn resolve_days(&mut self, resolve: impl FnMut(DayRef) -> Result<Day>) -> Result<()> {
        match &mut self.task_patch {
            Some(task) => task.resolve_days(resolve).map_err(|error| error.at("taskInfo")),
            None => Ok(()),
        }
    }

    /// Puts the given fields onto `data`, whose type decides which ones it may have. A list style
    /// that is no longer `task` drops the task, one that becomes `task` begins an open one. A
    /// language clears the tag of the former one. If it fails, `data` may have some of the fields
    /// and not the others: keep it only on success.
    ///
    /// ```
    /// use leafbase_model::{BlockData, BlockFields, ListStyle};
    /// let mut data = BlockData::text("milk");
    /// BlockFields { list_style: Some(ListStyle::Task), ..BlockFields::default() }.apply(&mut data)?;
    /// assert!(data.task.is_some());
    /// let error = BlockFields { url: Some("https://example.org".into()), ..BlockFields::default() }.apply(&mut data).unwrap_err();
    /// assert_eq!(error.to_string(), "url: a block of type text has no such field");
    /// # Ok::<(), leafbase_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] with the field's name as path if `data`'s type does not
    /// have it, and [`crate::ErrorKind::RuleViolation`] for a change of type that is not allowed.
    pub fn apply(self, data: &mut BlockData) -> Result<()> {
        let mut rest = self;
        if let Some(wanted) = rest.block_type.take() {
            change_type(data, wanted)?;
        }
        if matches!(data.kind, BlockKind::Page(_) | BlockKind::CollectionItem { .. })
            && let Some(title) = rest.title.take()
            && rest.markdown.replace(title).is_some()
        {
            return Err(
                Error::validation("is another name for markdown: give one of them").at("title")
            );
        }
        set(&mut data.markdown, rest.markdown.take());
        set(&mut data.indentation, rest.indentation.take());
        set(&mut data.color, rest.color.take());
        set(&mut data.decorations, rest.decorations.take());
        if let Some(style) = rest.list_style.take() {
            data.list_style = style;
            let open = TaskInfo::of_state(TaskState::Todo);
            data.task = (style == ListStyle::Task).then(|| data.task.unwrap_or(open));
        }
        rest.apply_to_task(data).map_err(|error| error.at("taskInfo"))?;
        rest.apply_to_kind(&mut data.kind)?;
        rest.refuse_remaining(data.block_type())
    }

    fn apply_to_task(&mut self, data: &mut BlockData) -> Result<()> {
        let (whole, patch) = (self.task.take(), self.task_patch.take());
        if whole.is_none() && patch.is_none() {
            return Ok(());
        }
        if data.list_style != ListStyle::Task {
            return Err(Error::validation(TASK_INFO_WITHOUT_TASK));
        }
        let mut task = whole.or(data.task).unwrap_or_default();
        if let Some(patch) = patch {
            patch.apply(&mut task)?;
        }
        data.task = Some(task);
        Ok(())
    }

    fn apply_to_kind(&mut self, kind: &mut BlockKind) -> Result<()> {
        match kind {
            BlockKind::Text(look) | BlockKind::Page(look) => {
                set(&mut look.style, self.text_style.take());
                set(&mut look.alignment, self.text_alignment.take());
                set(&mut look.font, self.font.take());
                set(&mut look.card_layout, self.card_layout.take());
            }
            BlockKind::Image { url, alt_text, size, width }
            | BlockKind::Video { url, alt_text, size, width } => {
                set(url, self.url.take());
                set(alt_text, self.alt_text.take());
                set(size, self.size.take());
                set(width, self.width.take());
            }
            BlockKind::File { url, file_name, layout } => {
                set(url, self.url.take());
                set(file_name, self.file_name.take());
                set(layout, self.block_layout.take());
            }
            BlockKind::Drawing { url } | BlockKind::Whiteboard { url } => set(url, self.url.take()),
            BlockKind::Code { raw_code, language, language_tag } => {
                set(raw_code, self.raw_code.take());
                if let Some(new) = self.language.take() {
                    // The tag named the old language: it goes, unless a new one is given.
                    *language = new;
                    language_tag.clear();
                }
                if let Some(tag) = self.language_tag.take() {
                    *language_tag = tag_of(*language, tag)?;
                }
            }
            BlockKind::RichUrl { url, title, description, layout } => {
                set(url, self.url.take());
                set(title, self.title.take());
                set(description, self.description.take());
                set(layout, self.layout.take());
            }
            BlockKind::Line { style } => set(style, self.line_style.take()),
            BlockKind::CollectionItem { .. } | BlockKind::Table | BlockKind::Collection => {}
        }
        Ok(())
    }

    fn refuse_remaining(&self, block_type: BlockType) -> Result<()> {
        let remaining = [
            ("textStyle", self.text_style.is_some()),
            ("textAlignment", self.text_alignment.is_some()),
            ("font", self.font.is_some()),
            ("cardLayout", self.card_layout.is_some()),
            ("title", self.title.is_some()),
            ("url", self.url.is_some()),
            ("altText", self.alt_text.is_some()),
            ("size", self.size.is_some()),
            ("width", self.width.is_some()),
            ("fileName", self.file_name.is_some()),
            ("blockLayout", self.block_layout.is_some()),
            ("rawCode", self.raw_code.is_some()),
            ("language", self.language.is_some()),
            ("languageTag", self.language_tag.is_some()),
            ("description", self.description.is_some()),
            ("layout", self.layout.is_some()),
            ("lineStyle", self.line_style.is_some()),
        ];
        match remaining.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((name, _)) => {
                Err(Error::validation(format!("a block of type {block_type} has no such field"))
                    .at(name))
            }
        }
    }
}

/// The tag as a block of this language keeps it: none where it is just the language's name. One
/// that means another language would make the block that other language as soon as it is written as
/// markdown and read back.
fn tag_of(language: CodeLanguage, tag: String) -> Result<String> {
    if tag.is_empty() || tag == language.as_str() {
        return Ok(String::new());
    }
    let meant = CodeLanguage::of_tag(&tag);
    if meant == language {
        return Ok(tag);
    }
    let message =
        format!("{} means language {meant}, but the block's language is {language}", quoted(&tag));
    Err(Error::validation(message).at("languageTag"))
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// Changes the type where that is allowed: between text and page, and within media (DECISIONS,
/// "Changing a type by update"). What both types have is kept. That a page with children stays a
/// page is for the tree to check.
fn change_type(data: &mut BlockData, wanted: BlockType) -> Result<()> {
    let present = data.block_type();
    if present == wanted {
        return Ok(());
    }
    let refused = || {
        Error::rule(format!("a block of type {present} cannot become one of type {wanted}"))
            .at("type")
    };
    let kind = std::mem::replace(&mut data.kind, BlockKind::Table);
    let (kind, changed) = match (kind, wanted) {
        (BlockKind::Text(look), BlockType::Page) => (BlockKind::Page(look), true),
        (BlockKind::Page(look), BlockType::Text) => (BlockKind::Text(look), true),
        (BlockKind::Image { url, alt_text, size, width }, BlockType::Video) => {
            (BlockKind::Video { url, alt_text, size, width }, true)
        }
        (BlockKind::Video { url, alt_text, size, width }, BlockType::Image) => {
            (BlockKind::Image { url, alt_text, size, width }, true)
        }
        (
            BlockKind::Image { url, alt_text, .. } | BlockKind::Video { url, alt_text, .. },
            BlockType::File,
        ) => (BlockKind::File { url, file_name: alt_text, layout: BlockLayout::default() }, true),
        (BlockKind::File { url, file_name, .. }, BlockType::Image) => {
            let (size, width) = (MediaSize::default(), MediaWidth::default());
            (BlockKind::Image { url, alt_text: file_name, size, width }, true)
        }
        (BlockKind::File { url, file_name, .. }, BlockType::Video) => {
            let (size, width) = (MediaSize::default(), MediaWidth::default());
            (BlockKind::Video { url, alt_text: file_name, size, width }, true)
        }
        (kind, _) => (kind, false),
    };
    data.kind = kind;
    if changed { Ok(()) } else { Err(refused()) }
}
