//! Serialization of blocks: one flat object, fields in the order of the specification, defaults
//! omitted.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::kind::entry;
use crate::requests::given;
use crate::{
    Block, BlockData, BlockKind, BlockType, Color, Content, GivenText, ItemFields, Result,
    TaskPatch, table,
};

/// The text of a block in JSON.
struct ShownText<'a> {
    name: &'static str,
    text: &'a str,
    /// Whether titles have their second name, too.
    is_reply: bool,
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        let markdown = self.block_form.as_deref().unwrap_or(&self.data.inline);
        // Only the schema of the collection determines the content key and the form of values.
        match &self.item {
            None => self.data.write(&mut map, markdown)?,
            Some(item) => self.data.write_item(&mut map, item)?,
        }
        // Derived cells, so that clients need no GFM parser.
        if let BlockKind::Table = self.data.kind {
            map.serialize_entry("rows", &table::rows(&self.data.inline))?;
        }
        if let Some(plain) = &self.plain {
            map.serialize_entry("text", plain)?;
        }
        if let Some(metadata) = &self.metadata {
            map.serialize_entry("metadata", metadata)?;
        }
        map.serialize_entry("rev", &self.rev)?;
        match &self.content {
            Content::None => {}
            Content::Blocks(blocks) => map.serialize_entry("content", blocks)?,
            // The preview takes the place of `content`, so that a client can tell a cut from an
            // empty page.
            Content::Preview(text) => map.serialize_entry("contentPreview", text)?,
        }
        map.end()
    }
}

impl BlockData {
    /// Serializes the fields that differ from their defaults, in the order of the specification, in
    /// the form of replies.
    fn write<M: SerializeMap>(
        &self,
        map: &mut M,
        markdown: &str,
    ) -> std::result::Result<(), M::Error> {
        let text = ShownText { name: "markdown", text: markdown, is_reply: true };
        self.write_with(map, text, self.task.as_ref(), Self::show_color)
    }

    fn show_color<M: SerializeMap>(map: &mut M, color: Color) -> std::result::Result<(), M::Error> {
        map.serialize_entry("color", &color.light().to_string())?;
        map.serialize_entry("colorDark", &color.dark().to_string())
    }

    /// Serializes an item: the title under the content key of its collection, values under their
    /// schema.
    fn write_item<M: SerializeMap>(
        &self,
        map: &mut M,
        item: &ItemFields,
    ) -> std::result::Result<(), M::Error> {
        map.serialize_entry("type", &self.block_type())?;
        map.serialize_entry(&item.content_key, &self.inline)?;
        self.write_common(map, self.task.as_ref(), Self::show_color)?;
        given(map, "properties", (!item.properties.is_empty()).then_some(&item.properties))
    }

    /// Serializes the form of requests: the text in the form given, the color as stored, and the
    /// task merged with the pending patch.
    pub(crate) fn write_given<M: SerializeMap>(
        &self,
        map: &mut M,
        text: Option<&GivenText>,
        task_patch: Option<TaskPatch>,
    ) -> std::result::Result<(), M::Error> {
        let write_color =
            |map: &mut M, color: Color| map.serialize_entry("color", &color.to_string());
        let text = match text {
            Some(GivenText::Markdown { text, .. }) => ("markdown", text),
            Some(GivenText::Plain(text)) => ("text", text),
            None if self.block_type() == BlockType::Text => ("inlineMarkdown", &self.inline),
            None => ("markdown", &self.inline),
        };
        let text = ShownText { name: text.0, text: text.1, is_reply: false };
        match task_patch {
            None => self.write_with(map, text, self.task.as_ref(), write_color),
            Some(patch) => {
                let task = self.task.map_or(patch, |task| task.as_patch().then(patch));
                self.write_with(map, text, Some(&task), write_color)
            }
        }
    }

    fn write_with<M: SerializeMap>(
        &self,
        map: &mut M,
        ShownText { name, text, is_reply }: ShownText<'_>,
        task: Option<&impl Serialize>,
        write_color: impl FnOnce(&mut M, Color) -> std::result::Result<(), M::Error>,
    ) -> std::result::Result<(), M::Error> {
        map.serialize_entry("type", &self.block_type())?;
        if !text.is_empty() {
            map.serialize_entry(name, text)?;
        }
        if is_reply && matches!(self.kind, BlockKind::Page(_)) {
            map.serialize_entry("title", text)?;
        }
        self.write_common(map, task, write_color)?;
        self.kind.write(map)
    }

    /// Serializes the fields that every block type has, except for its text.
    fn write_common<M: SerializeMap>(
        &self,
        map: &mut M,
        task: Option<&impl Serialize>,
        write_color: impl FnOnce(&mut M, Color) -> std::result::Result<(), M::Error>,
    ) -> std::result::Result<(), M::Error> {
        if self.indentation != 0 {
            map.serialize_entry("indentationLevel", &self.indentation)?;
        }
        entry(map, "listStyle", self.list_style)?;
        if let Some(color) = self.color {
            write_color(map, color)?;
        }
        if let Some(task) = task {
            map.serialize_entry("taskInfo", task)?;
        }
        given(map, "decorations", (!self.decorations.is_empty()).then_some(&self.decorations))
    }
}
