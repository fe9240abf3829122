//! The texts of a block that may contain links to other blocks, in the order in which placeholders
//! are numbered: its markdown, then its other fields.

use std::borrow::Cow;

use leafbase_model::{
    BlockData, BlockFields, BlockKind, Properties, PropertyKind, PropertyValue, Schema, SchemaDraft,
};
use serde_json::{Map, Value};

/// How a text is searched for links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Markdown,
    /// The whole text is an address.
    Address,
    /// Plain text, in which markdown links may be quoted.
    Words,
}

use Kind::{Address, Markdown, Words};

/// A value whose texts share one numbering of placeholders.
pub(crate) trait Texts {
    fn visit<'d>(&'d self, visit: &mut dyn FnMut(Kind, &'d str));

    /// Visits the same texts in the same order, mutably.
    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String));
}

/// Visits each of the listed texts.
macro_rules! each {
    ($visit:expr; $($kind:ident $text:expr),*) => {
        for (kind, text) in [$(($kind, $text)),*] {
            $visit(kind, text);
        }
    };
}

/// The texts of a block kind: one list for the shared and the mutable visit.
macro_rules! of_kind {
    ($kind:expr, $properties:path, $visit:expr) => {
        match $kind {
            BlockKind::Image { url, alt_text: words, .. }
            | BlockKind::Video { url, alt_text: words, .. }
            | BlockKind::File { url, file_name: words, .. } => {
                each!($visit; Address url, Words words)
            }
            BlockKind::Drawing { url } | BlockKind::Whiteboard { url } => $visit(Address, url),
            BlockKind::RichUrl { url, title, description, .. } => {
                each!($visit; Address url, Words title, Words description);
            }
            BlockKind::CollectionItem { properties } => {
                for value in $properties(properties) {
                    match value {
                        PropertyValue::Text(text) => $visit(Words, text),
                        PropertyValue::Options(options) => {
                            for option in options {
                                $visit(Words, option);
                            }
                        }
                        _ => {}
                    }
                }
            }
            // Raw code stays as it is.
            BlockKind::Code { .. }
            | BlockKind::Text(_)
            | BlockKind::Page(_)
            | BlockKind::Line { .. }
            | BlockKind::Table
            | BlockKind::Collection => {}
        }
    };
}

fn values(properties: &Properties) -> impl Iterator<Item = &PropertyValue> {
    properties.iter().map(|(_, value)| value)
}

impl Texts for BlockData {
    fn visit<'d>(&'d self, visit: &mut dyn FnMut(Kind, &'d str)) {
        visit(Markdown, &self.markdown);
        of_kind!(&self.kind, values, visit);
    }

    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        change(Markdown, &mut self.markdown);
        of_kind!(&mut self.kind, Properties::values_mut, change);
    }
}

/// The markdown of a block without other texts.
impl Texts for Cow<'_, str> {
    fn visit<'d>(&'d self, visit: &mut dyn FnMut(Kind, &'d str)) {
        visit(Markdown, self);
    }

    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        change(Markdown, self.to_mut());
    }
}

/// A single text, such as a comment.
impl Texts for String {
    fn visit<'d>(&'d self, visit: &mut dyn FnMut(Kind, &'d str)) {
        visit(Markdown, self);
    }

    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        change(Markdown, self);
    }
}

/// A schema as the call sees it: hidden properties are not numbered.
impl Texts for Schema {
    fn visit<'d>(&'d self, visit: &mut dyn FnMut(Kind, &'d str)) {
        visit(Markdown, &self.name);
        visit(Words, &self.content.name);
        for property in &self.properties {
            visit(Words, &property.name);
            property.kind.options().iter().for_each(|option| visit(Words, &option.name));
        }
    }

    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        change(Markdown, &mut self.name);
        change(Words, &mut self.content.name);
        for property in &mut self.properties {
            change_column(&mut property.name, &mut property.kind, change);
        }
    }
}

fn change_column(
    name: &mut String,
    kind: &mut PropertyKind,
    change: &mut dyn FnMut(Kind, &mut String),
) {
    change(Words, name);
    if let PropertyKind::SingleSelect(options) | PropertyKind::MultiSelect(options) = kind {
        for option in options {
            change(Words, &mut option.name);
        }
    }
}

/// Texts of a request, in any order, in which placeholders may come back.
pub(crate) trait Given {
    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String));
}

impl Given for BlockFields {
    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        // Raw code stays as it is.
        let given = [
            (Markdown, &mut self.markdown),
            // The block's type is not known yet. The title of a rich link is parsed as markdown as
            // well.
            (Words, &mut self.title),
            (Address, &mut self.url),
            (Words, &mut self.alt_text),
            (Words, &mut self.file_name),
            (Words, &mut self.description),
        ];
        for (kind, text) in given {
            if let Some(text) = text {
                change(kind, text);
            }
        }
    }
}

/// A property value.
impl Given for Option<PropertyValue> {
    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        // Options were restored before they were parsed: see [`Chosen`].
        if let Some(PropertyValue::Text(text)) = self {
            change(Words, text);
        }
    }
}

/// The select options among the property values of a request.
pub(crate) struct Chosen<'s, 'v> {
    pub(crate) schema: &'s Schema,
    pub(crate) values: &'v mut Map<String, Value>,
}

impl Given for Chosen<'_, '_> {
    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        let has_options = |key: &str| {
            let kind = self.schema.property(key).map(|property| &property.kind);
            matches!(kind, Some(PropertyKind::SingleSelect(_) | PropertyKind::MultiSelect(_)))
        };
        for (_, value) in self.values.iter_mut().filter(|(key, _)| has_options(key)) {
            match value {
                Value::String(option) => change(Words, option),
                Value::Array(options) => options.iter_mut().for_each(|option| {
                    if let Value::String(option) = option {
                        change(Words, option);
                    }
                }),
                _ => {}
            }
        }
    }
}

impl Given for String {
    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        change(Markdown, self);
    }
}

impl Given for SchemaDraft {
    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        change(Markdown, &mut self.name);
        self.content.iter_mut().for_each(|content| change(Words, &mut content.name));
        for property in &mut self.properties {
            change_column(&mut property.name, &mut property.kind, change);
        }
    }
}
