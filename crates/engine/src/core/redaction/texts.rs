//! The texts of a block that may contain links to other blocks, in the order in which placeholders
//! are numbered: its markdown, then its other fields.

use std::borrow::Cow;

use leafbase_model::{
    BlockData, BlockFields, OptionRename, PropertyKind, PropertyValue, Schema, SchemaDraft,
    TextRole,
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

/// How a text of a block is searched; `None` for code, which stays as it is.
const fn kind_of(role: TextRole) -> Option<Kind> {
    match role {
        TextRole::Markdown => Some(Markdown),
        TextRole::EmbedUrl | TextRole::LinkUrl => Some(Address),
        TextRole::Label | TextRole::Property => Some(Words),
        TextRole::Code | TextRole::CodeTag => None,
    }
}

impl Texts for BlockData {
    fn visit<'d>(&'d self, visit: &mut dyn FnMut(Kind, &'d str)) {
        self.texts().for_each(|(role, text)| {
            if let Some(kind) = kind_of(role) {
                visit(kind, text);
            }
        });
    }

    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        self.texts_mut().for_each(|(role, text)| {
            if let Some(kind) = kind_of(role) {
                change(kind, text);
            }
        });
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
            (Markdown, &mut self.inline),
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
impl Given for BlockData {
    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        Texts::change(self, change);
    }
}

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

impl Chosen<'_, '_> {
    /// The options, each with its path within the values.
    pub(crate) fn names(&self) -> Vec<(String, &str)> {
        let mut names = Vec::new();
        for (key, value) in self.values.iter().filter(|(key, _)| has_options(self.schema, key)) {
            match value {
                Value::String(option) => names.push((key.clone(), option.as_str())),
                Value::Array(options) => {
                    let named = options.iter().enumerate().filter_map(|(index, option)| {
                        option.as_str().map(|option| (format!("{key}[{index}]"), option))
                    });
                    names.extend(named);
                }
                _ => {}
            }
        }
        names
    }
}

fn has_options(schema: &Schema, key: &str) -> bool {
    let kind = schema.property(key).map(|property| &property.kind);
    matches!(kind, Some(PropertyKind::SingleSelect(_) | PropertyKind::MultiSelect(_)))
}

impl Given for Chosen<'_, '_> {
    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        let schema = self.schema;
        for (_, value) in self.values.iter_mut().filter(|(key, _)| has_options(schema, key)) {
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

impl Given for Vec<OptionRename> {
    fn change(&mut self, change: &mut dyn FnMut(Kind, &mut String)) {
        for OptionRename { from, to, .. } in self {
            change(Words, from);
            change(Words, to);
        }
    }
}
