//! Block fields as attributes of an outline's line: `style=h1 list=task task=done color=#ff0000`.

use leafbase_model::{
    BlockData, BlockFields, BlockKind, BlockPatch, Decorations, ListStyle, Properties, TaskInfo,
    TaskState, TextFormat,
};

use crate::properties;
use crate::words::{Word, quote, words};

/// Attributes of one line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The given fields.
    pub fields: BlockFields,
    /// `rev=2`: the `rev` of the block, or the expected one.
    pub rev: Option<u64>,
    pub(crate) properties: Properties,
    /// `preview="..."`: the children were cut off.
    pub(crate) preview: Option<String>,
    pub(crate) location: Option<String>,
    pub(crate) labels: Vec<String>,
}

impl Change {
    /// The patch that sets these fields of `block`, with the expected `rev` if given.
    pub fn patch(self, block: leafbase_model::BlockId) -> BlockPatch {
        BlockPatch { id: block, rev: self.rev, content: None, item: None, fields: self.fields }
    }
}

/// Parses attributes without a block, such as `"new text" color=none indent=2`.
///
/// # Errors
/// A description of the error.
pub fn change(text: &str) -> Result<Change, String> {
    let mut change = Change::default();
    for word in words(text)? {
        change.take(word)?;
    }
    Ok(change)
}

/// As [`change`], for valid attributes in tests.
pub fn fields(text: &str) -> BlockFields {
    change(text).unwrap_or_else(|error| panic!("{text}: {error}")).fields
}

impl Change {
    pub(crate) fn take(&mut self, word: Word) -> Result<(), String> {
        match word {
            Word::Quoted(text) if self.fields.markdown.is_none() => {
                self.fields.markdown = Some(text);
            }
            Word::Quoted(text) => return Err(format!("a second text {text:?}")),
            Word::Bare(word) => match word.strip_prefix('#') {
                Some(label) if !label.is_empty() => self.labels.push(label.to_owned()),
                _ => return Err(format!("unknown word {word:?}")),
            },
            Word::Pair { name, value, quoted } => match name.strip_prefix(properties::PREFIX) {
                Some(key) => self.properties.set(key, Some(properties::read(&value, quoted)?)),
                None => self.set(&name, value).map_err(|error| format!("{name}: {error}"))?,
            },
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), String> {
        let fields = &mut self.fields;
        match name {
            "type" => fields.block_type = Some(read(&value)?),
            "indent" => {
                fields.indentation =
                    Some(value.parse().map_err(|_| "expected a number".to_owned())?);
            }
            "list" => fields.list_style = Some(read(&value)?),
            "color" => {
                fields.color = Some(if value == "none" { None } else { Some(read(&value)?) });
            }
            "decorations" => fields.decorations = Some(decorations(&value)?),
            "style" => fields.text_style = Some(read(&value)?),
            "align" => fields.text_alignment = Some(read(&value)?),
            "font" => fields.font = Some(read(&value)?),
            "card" => fields.card_layout = Some(read(&value)?),
            "title" => fields.title = Some(value),
            "url" => fields.url = Some(value),
            "alt" => fields.alt_text = Some(value),
            "size" => fields.size = Some(read(&value)?),
            "width" => fields.width = Some(read(&value)?),
            "name" => fields.file_name = Some(value),
            "block" => fields.block_layout = Some(read(&value)?),
            "code" => fields.raw_code = Some(value),
            "lang" => fields.language = Some(read(&value)?),
            "tag" => fields.language_tag = Some(value),
            "description" => fields.description = Some(value),
            "layout" => fields.layout = Some(read(&value)?),
            "line" => fields.line_style = Some(read(&value)?),
            "rev" => self.rev = Some(value.parse().map_err(|_| "expected a number".to_owned())?),
            "preview" => self.preview = Some(value),
            "in" => self.location = Some(value),
            "task" | "schedule" | "deadline" | "completed" | "canceled" => {
                return self.set_task(name, &value);
            }
            _ => return Err("unknown attribute".to_owned()),
        }
        Ok(())
    }

    /// A line with task attributes is a task.
    fn set_task(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.fields.list_style.get_or_insert(ListStyle::Task);
        let task = self.fields.task.get_or_insert_with(TaskInfo::default);
        match name {
            "schedule" => task.schedule_date = Some(read(value)?),
            "deadline" => task.deadline_date = Some(read(value)?),
            "completed" => task.completed_at = Some(read(value)?),
            "canceled" => task.canceled_at = Some(read(value)?),
            _ => task.state = read(value)?,
        }
        Ok(())
    }
}

fn read<T: std::str::FromStr<Err = leafbase_model::Error>>(value: &str) -> Result<T, String> {
    value.parse().map_err(|error: leafbase_model::Error| error.to_string())
}

fn decorations(value: &str) -> Result<Decorations, String> {
    let mut read = Decorations::default();
    for name in value.split(',').filter(|name| *name != "none") {
        match name {
            "callout" => read.callout = true,
            "quote" => read.quote = true,
            other => return Err(format!("unknown decoration {other:?}")),
        }
    }
    Ok(read)
}

/// The line of a block without indentation and label; default values are omitted.
pub(crate) fn print(data: &BlockData) -> String {
    let mut line = Line(vec![data.block_type().to_string()]);
    if data.block_type().has_own_markdown() || !data.inline.is_empty() {
        line.0.push(quote(&data.inline));
    }
    print_kind(&mut line, &data.kind);
    line.word("indent", data.indentation);
    match data.task {
        Some(task) if data.list_style == ListStyle::Task => print_task(&mut line, task),
        _ => line.word("list", data.list_style),
    }
    line.optional("color", data.color);
    let decorations = [(data.decorations.callout, "callout"), (data.decorations.quote, "quote")];
    let decorations: Vec<_> =
        decorations.into_iter().filter_map(|(on, name)| on.then_some(name)).collect();
    line.optional("decorations", (!decorations.is_empty()).then(|| decorations.join(",")));
    line.0.join(" ")
}

fn print_task(line: &mut Line, task: TaskInfo) {
    line.word("list", ListStyle::Task);
    if task.state != TaskState::Todo {
        line.word("task", task.state);
    }
    line.optional("schedule", task.schedule_date);
    line.optional("deadline", task.deadline_date);
    line.optional("completed", task.completed_at);
    line.optional("canceled", task.canceled_at);
}

fn print_kind(line: &mut Line, kind: &BlockKind) {
    match kind {
        BlockKind::Text(look) | BlockKind::Page(look) => print_look(line, *look),
        BlockKind::CollectionItem { properties } => line.0.extend(properties::print(properties)),
        BlockKind::Image { url, alt_text, size, width }
        | BlockKind::Video { url, alt_text, size, width } => {
            line.text("url", url);
            line.text("alt", alt_text);
            line.word("size", *size);
            line.word("width", *width);
        }
        BlockKind::File { url, file_name, layout } => {
            line.text("url", url);
            line.text("name", file_name);
            line.word("block", *layout);
        }
        BlockKind::Drawing { url } | BlockKind::Whiteboard { url } => line.text("url", url),
        BlockKind::Table | BlockKind::Collection => {}
        BlockKind::Code { raw_code, language, language_tag } => {
            line.text("code", raw_code);
            line.word("lang", *language);
            line.text("tag", language_tag);
        }
        BlockKind::RichUrl { url, title, description, layout } => {
            line.text("url", url);
            line.text("title", title);
            line.text("description", description);
            line.word("layout", *layout);
        }
        BlockKind::Line { style } => line.word("line", *style),
    }
}

fn print_look(line: &mut Line, look: TextFormat) {
    line.word("style", look.style);
    line.word("align", look.alignment);
    line.word("font", look.font);
    line.word("card", look.card_layout);
}

struct Line(Vec<String>);

impl Line {
    fn word<T: ToString + Default + PartialEq + Copy>(&mut self, name: &str, value: T) {
        if value != T::default() {
            self.0.push(format!("{name}={}", value.to_string()));
        }
    }

    fn optional<T: ToString>(&mut self, name: &str, value: Option<T>) {
        if let Some(value) = value {
            self.0.push(format!("{name}={}", value.to_string()));
        }
    }

    fn text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.0.push(format!("{name}={}", quote(value)));
        }
    }
}
