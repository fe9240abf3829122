//! The fields of a block in a request, for insertions and updates alike.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::block::{TASK_INFO_WITHOUT_TASK, indentation_out_of_range};
use crate::echoed::drop_derived;
use crate::json::{Object, describe, nullable, quoted, raw_value, read, refused};
use crate::{
    BlockData, BlockKind, BlockLayout, BlockType, CardLayout, CodeLanguage, Color, Day, DayRef,
    Decorations, Error, Font, Limits, LineStyle, ListStyle, MediaSize, MediaWidth, Result,
    TaskInfo, TaskPatch, TaskState, TextAlignment, TextStyle,
};

/// Every field of the specification, each optional. [`BlockFields::apply`] refuses fields that the
/// block type does not have.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
pub struct BlockFields {
    /// `type`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub block_type: Option<BlockType>,
    /// `markdown`: of a text its block form, with markers; of other types as in [`BlockData`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// `inlineMarkdown`: the inline markdown of a text or title, in which nothing is a marker.
    #[serde(rename = "inlineMarkdown", default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<String>,
    /// `text`: the plain text of a text or title, in which nothing is markup.
    #[serde(rename = "text", default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<String>,
    /// `indentationLevel`.
    #[serde(rename = "indentationLevel", default, deserialize_with = "indentation")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indentation: Option<u8>,
    /// `listStyle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_style: Option<ListStyle>,
    /// `color`; `null` clears it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub color: Option<Option<Color>>,
    /// The whole task, which replaces the present one.
    #[serde(skip)]
    pub task: Option<TaskInfo>,
    /// `taskInfo`: a patch of the task, applied after `task`.
    #[serde(rename = "taskInfo", default, skip_serializing_if = "Option::is_none")]
    pub task_patch: Option<TaskPatch>,
    /// `decorations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decorations: Option<Decorations>,
    /// `textStyle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_style: Option<TextStyle>,
    /// `textAlignment`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_alignment: Option<TextAlignment>,
    /// `font`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub font: Option<Font>,
    /// `cardLayout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card_layout: Option<CardLayout>,
    /// `title`: the title of a rich link, and an alias of a page's `markdown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `altText`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt_text: Option<String>,
    /// `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<MediaSize>,
    /// `width`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<MediaWidth>,
    /// `fileName`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// `blockLayout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_layout: Option<BlockLayout>,
    /// `rawCode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_code: Option<String>,
    /// `language`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<CodeLanguage>,
    /// `languageTag`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language_tag: Option<String>,
    /// `description`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `layout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<BlockLayout>,
    /// `lineStyle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_style: Option<LineStyle>,
}

impl Serialize for BlockFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Without a whole task the derived form is right, and no clone is needed.
        if self.task.is_none() {
            return Self::serialize(self, serializer);
        }
        let change = Self { task: None, task_patch: self.merged_task_patch(), ..self.clone() };
        Self::serialize(&change, serializer)
    }
}

impl<'de> Deserialize<'de> for BlockFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

/// `indentationLevel`: a whole number from 0 to [`Limits::INDENTATION`].
fn indentation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let value = raw_value(deserializer)?;
    if value.is_null() {
        return Ok(None);
    }
    let level = value.as_u64().and_then(|level| u8::try_from(level).ok());
    match level.filter(|level| *level <= Limits::INDENTATION) {
        Some(level) => Ok(Some(level)),
        None => Err(refused(indentation_out_of_range(describe(&value)))),
    }
}

impl BlockFields {
    /// Reads the remaining fields of a block in a request.
    /// Whether blocks of some type have this field, or replies show it with them.
    pub(crate) fn has(name: &str) -> bool {
        let alone = Map::from_iter([(name.to_owned(), Value::Null)]);
        Object::new(Value::Object(alone)).and_then(Self::read).is_ok()
    }

    pub(crate) fn read(mut object: Object) -> Result<Self> {
        drop_derived(&mut object)?;
        if object.take_unlisted("properties").is_some() {
            let message = "properties are given with the operations on collection items";
            return Err(Error::validation(message).at("properties"));
        }
        read(Value::Object(object.rest()))
    }

    /// The JSON form of the task: a whole task is written as the patch that produces it.
    fn merged_task_patch(&self) -> Option<TaskPatch> {
        let whole = self.task.map(TaskInfo::as_patch);
        match (whole, self.task_patch) {
            (Some(whole), Some(patch)) => Some(whole.then(patch)),
            (whole, patch) => whole.or(patch),
        }
    }

    /// Whether every field is absent.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Resolves days relative to the present in `taskInfo` (`tomorrow`) to the dates that `resolve`
    /// returns.
    ///
    /// # Errors
    /// Errors of `resolve`, with the path of the field.
    pub fn resolve_days(&mut self, resolve: impl FnMut(DayRef) -> Result<Day>) -> Result<()> {
        match &mut self.task_patch {
            Some(task) => task.resolve_days(resolve).map_err(|error| error.at("taskInfo")),
            None => Ok(()),
        }
    }

    /// Applies the given fields to `data`, whose type decides which ones are valid. A list style
    /// other than `task` drops the task; the style `task` creates an open one. A new language
    /// clears the tag of the former one. With a new type or list style, fields that only the former
    /// one has are ignored if they are unchanged, as in a reply that is sent back. On an error,
    /// `data` may be partially updated: discard it.
    ///
    /// ```
    /// use leafbase_model::{BlockData, BlockFields, ListStyle};
    /// let mut data = BlockData::text("milk");
    /// let style = Some(ListStyle::Task);
    /// BlockFields { list_style: style, ..BlockFields::default() }.apply(&mut data)?;
    /// assert!(data.task.is_some());
    /// let link = BlockFields { url: Some("https://example.org".into()), ..BlockFields::default() };
    /// let error = link.apply(&mut data).unwrap_err();
    /// assert_eq!(error.to_string(), "url: a block of type text has no field url");
    /// # Ok::<(), leafbase_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] with the field name as path if the type has no such field,
    /// and [`crate::ErrorKind::RuleViolation`] for a change of type that is not allowed.
    pub fn apply(self, data: &mut BlockData) -> Result<()> {
        let mut rest = self;
        // The type comes first: it decides which of the other fields are valid.
        if let Some(wanted) = rest.block_type.take() {
            if wanted != data.block_type() {
                rest.drop_unchanged(&data.kind);
            }
            change_type(data, wanted)?;
        }
        // `title` is an alias only where `markdown` is the title; a rich link has its own field.
        if matches!(data.kind, BlockKind::Page(_) | BlockKind::CollectionItem { .. })
            && let Some(title) = rest.title.take()
        {
            // Replies have both: the one that differs from the present title is meant.
            match &rest.markdown {
                Some(markdown) if *markdown != title && *markdown != data.inline => {
                    if title != data.inline {
                        let message = "title is another name for markdown: give one of them";
                        return Err(Error::validation(message).at("title"));
                    }
                }
                _ => rest.markdown = Some(title),
            }
        }
        rest.check_texts(data.block_type())?;
        if rest.plain.is_some() {
            return Err(Error::validation("plain text is read by operations").at("text"));
        }
        set(&mut data.inline, rest.markdown.take());
        set(&mut data.inline, rest.inline.take());
        set(&mut data.indentation, rest.indentation.take());
        set(&mut data.color, rest.color.take());
        set(&mut data.decorations, rest.decorations.take());
        // A change to `task` keeps an existing task, and any other style drops it.
        if let Some(style) = rest.list_style.take() {
            if style != ListStyle::Task && rest.repeats_task(data.task) {
                (rest.task, rest.task_patch) = (None, None);
            }
            data.list_style = style;
            let open = TaskInfo::of_state(TaskState::Todo);
            data.task = (style == ListStyle::Task).then(|| data.task.unwrap_or(open));
        }
        rest.apply_to_task(data).map_err(|error| error.at("taskInfo"))?;
        rest.apply_to_kind(&mut data.kind)?;
        debug_assert!(
            data.task.is_none() || data.list_style == ListStyle::Task,
            "a block has a task only with the list style task"
        );
        // The fields that apply were taken: any remaining one does not exist for this type.
        rest.refuse_remaining(data.block_type())
    }

    /// Drops the fields that equal the fields of `former` and that another type may lack.
    fn drop_unchanged(&mut self, former: &BlockKind) {
        match former {
            BlockKind::Image { alt_text, size, width, .. }
            | BlockKind::Video { alt_text, size, width, .. } => {
                self.alt_text.take_if(|given| given == alt_text);
                self.size.take_if(|given| given == size);
                self.width.take_if(|given| given == width);
            }
            BlockKind::File { file_name, layout, .. } => {
                self.file_name.take_if(|given| given == file_name);
                self.block_layout.take_if(|given| given == layout);
            }
            // Text and page have the same fields, and the others keep their type.
            BlockKind::Text(_)
            | BlockKind::Page(_)
            | BlockKind::CollectionItem { .. }
            | BlockKind::Table
            | BlockKind::Drawing { .. }
            | BlockKind::Whiteboard { .. }
            | BlockKind::Code { .. }
            | BlockKind::RichUrl { .. }
            | BlockKind::Line { .. }
            | BlockKind::Collection => {}
        }
    }

    /// Whether the given task is the present one.
    fn repeats_task(&self, present: Option<TaskInfo>) -> bool {
        let Some(present) = present else { return false };
        let mut task = self.task.unwrap_or(present);
        let patched = self.task_patch.map_or(Ok(()), |patch| patch.apply(&mut task));
        patched.is_ok() && task == present
    }

    fn apply_to_task(&mut self, data: &mut BlockData) -> Result<()> {
        let (whole, patch) = (self.task.take(), self.task_patch.take());
        if whole.is_none() && patch.is_none() {
            return Ok(());
        }
        if data.list_style != ListStyle::Task {
            return Err(Error::validation(TASK_INFO_WITHOUT_TASK));
        }
        // A whole task replaces the present one; the patch applies to the result.
        let mut task = whole.or(data.task).unwrap_or(TaskInfo::of_state(TaskState::Todo));
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
                    // The tag belongs to the former language: drop it, unless the request has a new
                    // one.
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

    /// Refuses more than one of `markdown`, `inlineMarkdown` and `text`, and the last two where the
    /// type has no text.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] with the field name as path.
    pub fn check_texts(&self, block_type: BlockType) -> Result<()> {
        let names = [
            ("text", self.plain.is_some()),
            ("inlineMarkdown", self.inline.is_some()),
            ("markdown", self.markdown.is_some()),
        ];
        let mut given = names.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
        let Some(name) = given.next() else { return Ok(()) };
        if name != "markdown" && !block_type.has_inline_text() {
            let message = format!("a block of type {block_type} has no field {name}");
            return Err(Error::validation(message).at(name));
        }
        if let Some(other) = given.next() {
            let message = format!("{name} is another form of {other}: give one of them");
            return Err(Error::validation(message).at(name));
        }
        Ok(())
    }

    fn refuse_remaining(&self, block_type: BlockType) -> Result<()> {
        // Taken fields are `None` by now; the first remaining one is reported.
        match self.kind_fields().into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((name, _)) => {
                Err(Error::validation(format!("a block of type {block_type} has no field {name}"))
                    .at(name))
            }
        }
    }

    /// Whether the text of a page or an item is given as `title` alone.
    pub const fn gives_title_alone(&self) -> bool {
        self.title.is_some() && self.markdown.is_none()
    }

    /// Whether a field that not all types have is given, by its name in JSON.
    pub fn gives(&self, name: &str) -> bool {
        self.kind_fields().into_iter().any(|(field, given)| given && field == name)
    }

    /// The fields that not all types have, and whether they are given.
    const fn kind_fields(&self) -> [(&'static str, bool); 17] {
        // Exhaustive: a new field does not compile until it is applied or listed here.
        let Self {
            block_type: _,
            markdown: _,
            inline: _,
            plain: _,
            indentation: _,
            list_style: _,
            color: _,
            task: _,
            task_patch: _,
            decorations: _,
            text_style,
            text_alignment,
            font,
            card_layout,
            title,
            url,
            alt_text,
            size,
            width,
            file_name,
            block_layout,
            raw_code,
            language,
            language_tag,
            description,
            layout,
            line_style,
        } = self;
        [
            ("textStyle", text_style.is_some()),
            ("textAlignment", text_alignment.is_some()),
            ("font", font.is_some()),
            ("cardLayout", card_layout.is_some()),
            ("title", title.is_some()),
            ("url", url.is_some()),
            ("altText", alt_text.is_some()),
            ("size", size.is_some()),
            ("width", width.is_some()),
            ("fileName", file_name.is_some()),
            ("blockLayout", block_layout.is_some()),
            ("rawCode", raw_code.is_some()),
            ("language", language.is_some()),
            ("languageTag", language_tag.is_some()),
            ("description", description.is_some()),
            ("layout", layout.is_some()),
            ("lineStyle", line_style.is_some()),
        ]
    }
}

/// Normalizes the tag of a code block: empty if it equals the name of the language. A tag of
/// another language is refused, because the block would change its language when it is written as
/// markdown and parsed again.
fn tag_of(language: CodeLanguage, tag: String) -> Result<String> {
    // The name of a language selects it, so that a tag equal to the name is redundant.
    debug_assert_eq!(CodeLanguage::of_tag(language.as_str()), language);
    if tag.is_empty() || tag == language.as_str() {
        return Ok(String::new());
    }
    let meant = CodeLanguage::of_tag(&tag);
    // A round trip through markdown keeps the language, so the tag may stay.
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

/// Changes the type where that is allowed: between text and page, and among media types. Common
/// fields are kept. The caller checks that a page with children stays a page.
fn change_type(data: &mut BlockData, wanted: BlockType) -> Result<()> {
    let present = data.block_type();
    if present == wanted {
        // A client repeats the type that it has read.
        return Ok(());
    }
    let refused = || {
        Error::rule(format!("a block of type {present} cannot become one of type {wanted}"))
            .at("type")
    };
    // Moves the fields out of the old kind; the placeholder is replaced below in either case.
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
        // The name of a file and the alternative text of an image are the same label.
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
    debug_assert_eq!(data.block_type(), if changed { wanted } else { present });
    if changed { Ok(()) } else { Err(refused()) }
}

#[cfg(all(test, feature = "schemars"))]
mod tests {
    use super::*;
    use crate::{BlockDraft, BlockPatch};

    #[test]
    fn the_json_schemas_name_every_field() {
        for schema in [schemars::schema_for!(BlockDraft), schemars::schema_for!(BlockPatch)] {
            for (name, _) in BlockFields::default().kind_fields() {
                let property = schema.pointer(&format!("/properties/{name}"));
                assert!(property.is_some(), "{name} is missing in json_schemas/blocks.rs");
            }
        }
    }
}
