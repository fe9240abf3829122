//! Redaction of links: links to hidden blocks leave as placeholders, and placeholders are restored
//! on the way in.
//!
//! `invalid:out_of_scope#N` replaces a link to a block that is hidden, in the trash, purged or
//! nonexistent: all of these look alike and take the same look-ups. N numbers such links within one
//! block from 1, in the order of its texts ([`texts`]). A literal placeholder in stored text stays
//! as it is, and its number is not used for a link of the block.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use leafbase_markdown::{
    self as markdown, LinkTarget, Mention, MentionForm, MentionTarget, Rewritten,
};
use leafbase_model::{
    Block, BlockData, BlockId, Content, Error, ErrorKind, OptionRename, Result, SchemaDraft,
    SelectOption, SourceLayout,
};

use crate::core::tree::Tree;
use texts::{Chosen, Given, Kind, Texts};

pub(crate) mod hidden_relations;
pub(crate) mod texts;

/// The markdown of a block in replies: the block form of a text, or the rendering of the fields of
/// a block without text.
pub(crate) fn shown_markdown(data: &BlockData) -> Cow<'_, str> {
    if data.block_type().has_own_markdown() {
        markdown::block_form(data)
    } else {
        Cow::Owned(markdown::render_block(data))
    }
}

/// Redacts the links in the texts of one call. Each target is looked up once.
pub(crate) struct LinkRedactor<'t, 'a> {
    /// `None` if the call may see the whole space.
    tree: Option<&'t Tree<'a>>,
    known: RefCell<HashMap<BlockId, bool>>,
    first_error: RefCell<Option<Error>>,
}

impl<'t, 'a> LinkRedactor<'t, 'a> {
    pub(crate) fn new(tree: &'t Tree<'a>) -> Self {
        let redacts = !tree.is_unrestricted();
        Self {
            tree: redacts.then_some(tree),
            known: RefCell::default(),
            first_error: RefCell::default(),
        }
    }

    /// Replaces links to hidden blocks by placeholders. Returns whether there was one.
    pub(crate) fn redact(&self, texts: &mut impl Texts) -> Result<bool> {
        let hidden = self.find(texts)?;
        if !hidden.is_empty() {
            insert_placeholders(&hidden, texts);
        }
        Ok(!hidden.is_empty())
    }

    /// The redacted copy; borrowed if there is nothing to redact.
    pub(crate) fn redacted<'d, T: Texts + Clone>(&self, texts: &'d T) -> Result<Cow<'d, T>> {
        let hidden = self.find(texts)?;
        if hidden.is_empty() {
            return Ok(Cow::Borrowed(texts));
        }
        let mut shown = texts.clone();
        insert_placeholders(&hidden, &mut shown);
        Ok(Cow::Owned(shown))
    }

    /// The block's markdown, redacted.
    pub(crate) fn redacted_markdown<'d>(&self, data: &'d BlockData) -> Result<Cow<'d, str>> {
        Ok(match self.redacted(data)? {
            // The common case: nothing to redact, no copy.
            Cow::Borrowed(data) => shown_markdown(data),
            Cow::Owned(data) => Cow::Owned(shown_markdown(&data).into_owned()),
        })
    }

    /// The plain text of the block's markdown, redacted. An error is kept for [`Self::finish`],
    /// because callers of this pass a closure that cannot fail.
    pub(crate) fn plain(&self, data: &BlockData) -> String {
        let shown = self.redacted(data).map(|data| markdown::plain_text(&data.inline).into_owned());
        shown.unwrap_or_else(|error| {
            self.first_error.borrow_mut().get_or_insert(error);
            String::new()
        })
    }

    /// Returns the first error of [`Self::plain`].
    ///
    /// # Errors
    /// The first such failure.
    pub(crate) fn finish(&self) -> Result<()> {
        self.first_error.take().map_or(Ok(()), Err)
    }

    /// Redacts the blocks of a reply. Comments are numbered on their own, by [`Self::redact`].
    pub(crate) fn redact_tree(&self, top: &mut Block) -> Result<()> {
        if self.tree.is_none() {
            return Ok(());
        }
        // An explicit stack: replies nest as deep as documents.
        let mut waiting = vec![top];
        while let Some(Block { data, content, .. }) = waiting.pop() {
            let is_redacted = self.redact(data)?;
            if let Some(layout) = data.layout.take() {
                data.layout = self.redacted_layout(*layout, is_redacted)?;
            }
            if let Content::Blocks(children) = content {
                waiting.extend(children);
            }
        }
        Ok(())
    }

    /// The layout of a block without links as they were written and without the path of its file,
    /// which may name hidden documents. Lines that are kept as they were say what the block says,
    /// and more: the title of a picture. They are of no use once the block is redacted.
    fn redacted_layout(
        &self,
        layout: SourceLayout,
        is_redacted: bool,
    ) -> Result<Option<Box<SourceLayout>>> {
        let mut shown = SourceLayout { links: Vec::new(), file: None, ..layout };
        if let Some(lines) = &shown.verbatim
            && (is_redacted || !self.find(&Cow::Borrowed(&*lines.text))?.is_empty())
        {
            shown.verbatim = None;
        }
        Ok(shown.into_option())
    }

    /// Restores the select options that a request names as they were shown, from the item or from
    /// the schema.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`] for a name with a link to a hidden block, of an option or not:
    /// a guess at such a name must not show whether it is right.
    pub(crate) fn restore_options(
        &self,
        item: Option<&BlockData>,
        mut given: Chosen<'_, '_>,
    ) -> Result<()> {
        if self.tree.is_none() {
            return Ok(());
        }
        for (path, name) in given.names() {
            self.refuse_hidden_option(name).map_err(|error| error.at(path))?;
        }
        if !self.has_placeholders(&mut given) {
            return Ok(());
        }
        // Placeholders of an item and of its schema are numbered independently, so one placeholder
        // may denote two links. The whole shown name decides, and an option of the item wins.
        let (schema, mut names) = (given.schema, HashMap::new());
        let of_schema = self.find(schema)?;
        names.extend(redacted_originals(&of_schema, schema));
        if let Some(item) = item {
            let of_item = self.find(item)?;
            names.extend(redacted_originals(&of_item, item));
        }
        given.change(&mut |_, name| {
            if let Some(stored) = names.get(name) {
                (*stored).clone_into(name);
            }
        });
        Ok(())
    }

    /// Checks the options in a new schema, and of those that it renames.
    ///
    /// # Errors
    /// As [`Self::restore_options`], at the option.
    pub(crate) fn refuse_hidden_options(
        &self,
        draft: &SchemaDraft,
        renames: &[OptionRename],
    ) -> Result<()> {
        for (index, property) in draft.properties.iter().enumerate() {
            for (option, SelectOption { name, .. }) in property.kind.options().iter().enumerate() {
                let place = format_args!("schema.properties[{index}].options[{option}].name");
                self.refuse_hidden_option(name).map_err(|error| error.at(place))?;
            }
        }
        for (index, OptionRename { from, to, .. }) in renames.iter().enumerate() {
            for (field, name) in [("from", from), ("to", to)] {
                let place = format_args!("renameOptions[{index}].{field}");
                self.refuse_hidden_option(name).map_err(|error| error.at(place))?;
            }
        }
        Ok(())
    }

    fn refuse_hidden_option(&self, name: &str) -> Result<()> {
        if self.tree.is_some() && self.has_hidden_link(Kind::Words, name)? {
            let message = "no option is named by a link out of scope";
            return Err(Error::new(ErrorKind::SchemaMismatch, message));
        }
        Ok(())
    }

    fn has_hidden_link(&self, kind: Kind, text: &str) -> Result<bool> {
        let mut targets = Vec::new();
        for_each_link(kind, text, &mut |target, _| targets.push(target));
        for target in targets {
            if !self.can_see(target)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_placeholders(&self, given: &mut impl Given) -> bool {
        let mut has_any = false;
        if self.tree.is_some() {
            given.change(&mut |_, text| {
                markdown::placeholder_numbers(text, &mut |_| has_any = true);
            });
        }
        has_any
    }

    /// Restores the links that the placeholders in `given` denote in `before`, as this call sees
    /// it.
    pub(crate) fn restore(&self, before: &impl Texts, given: &mut impl Given) -> Result<()> {
        if !self.has_placeholders(given) {
            return Ok(());
        }
        let hidden = self.find(before)?;
        let originals = redacted_originals(&hidden, before);
        given.change(&mut |kind, text| {
            if let Some(stored) = originals.get(text) {
                (*stored).clone_into(text);
            } else if let Cow::Owned(restored) =
                markdown::rewrite_mentions(text, &mut |mention| restored(&hidden, kind, mention))
            {
                *text = restored;
            }
        });
        Ok(())
    }

    /// The links to hidden blocks, in text order.
    fn find(&self, texts: &impl Texts) -> Result<Vec<HiddenLink>> {
        let (mut hidden, mut found, mut field) = (Vec::new(), Ok(()), 0);
        if self.tree.is_none() {
            return Ok(hidden);
        }
        texts.visit(&mut |kind, text| {
            for_each_link(kind, text, &mut |target, link| {
                // The visitor cannot stop early: after an error the rest is skipped.
                if found.is_ok() {
                    found = self.can_see(target).map(|sees| {
                        if !sees {
                            hidden.push(HiddenLink { field, ..link() });
                        }
                    });
                }
            });
            field += 1;
        });
        found?;
        if !hidden.is_empty() {
            number(&mut hidden, texts);
        }
        Ok(hidden)
    }

    /// Whether the block is visible. A malformed ID is looked up as well, so that no ID is answered
    /// faster than another.
    fn can_see(&self, block: BlockId) -> Result<bool> {
        let Some(tree) = self.tree else { return Ok(true) };
        if let Some(known) = self.known.borrow().get(&block) {
            return Ok(*known);
        }
        let sees = tree.can_see(block)?;
        self.known.borrow_mut().insert(block, sees);
        Ok(sees)
    }
}

/// A link to a hidden block.
struct HiddenLink {
    number: u32,
    /// The index of the text that contains the link.
    field: usize,
    range: Range<usize>,
    form: HiddenForm,
    /// The link as written in the text.
    written: String,
    /// The destination, with escapes resolved.
    address: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HiddenForm {
    /// The whole of a text that is not markdown.
    Whole,
    Within(MentionForm),
}

/// Calls `emit` for each link to a block in a text.
fn for_each_link(kind: Kind, text: &str, emit: &mut dyn FnMut(BlockId, &dyn Fn() -> HiddenLink)) {
    let hidden = |range: Range<usize>, form, address: &str| {
        let written = slice(text, range.clone()).to_owned();
        HiddenLink { number: 0, field: 0, range, form, written, address: address.to_owned() }
    };
    if let Some(target) = whole_text_target(kind, text) {
        return emit(target, &|| hidden(0..text.len(), HiddenForm::Whole, text));
    }
    markdown::mentions(text, &mut |Mention { destination, range, named, form }| {
        if let MentionTarget::Block(target) = named {
            emit(target, &|| hidden(range.clone(), HiddenForm::Within(form), &destination));
        }
    });
}

/// The block whose address is the whole text.
fn whole_text_target(kind: Kind, text: &str) -> Option<BlockId> {
    // Prose such as `Block: north` is not an address.
    let is_address = match kind {
        Kind::Markdown => false,
        Kind::Address => true,
        Kind::Words => !text.contains(char::is_whitespace) && text.contains(['/', '%']),
    };
    match is_address.then(|| LinkTarget::of(text)) {
        Some(LinkTarget::Block(block)) => Some(block),
        _ => None,
    }
}

/// Numbers the links, skipping the numbers of literal placeholders in the texts.
fn number(hidden: &mut [HiddenLink], texts: &impl Texts) {
    let mut literal = BTreeSet::new();
    texts.visit(&mut |_, text| {
        markdown::placeholder_numbers(text, &mut |number| {
            literal.insert(number);
        });
    });
    let free = (1..).filter(|number| !literal.contains(number));
    hidden.iter_mut().zip(free).for_each(|(link, number)| link.number = number);
    debug_assert!(hidden.iter().all(|link| link.number > 0), "every hidden link has a number");
}

/// Replaces the links by their placeholders.
fn insert_placeholders(hidden: &[HiddenLink], texts: &mut impl Texts) {
    let (mut rest, mut field) = (hidden, 0);
    texts.change(&mut |_, text| {
        let (own, others) = split_at_field(rest, field);
        if !own.is_empty() {
            *text = with_placeholders(text, own);
        }
        (rest, field) = (others, field + 1);
    });
}

/// The stored texts by their redacted form: a text that comes back unchanged is restored as a
/// whole.
fn redacted_originals<'d>(
    hidden: &[HiddenLink],
    texts: &'d impl Texts,
) -> HashMap<String, &'d str> {
    let (mut rest, mut field, mut shown) = (hidden, 0, HashMap::new());
    texts.visit(&mut |_, text| {
        let (own, others) = split_at_field(rest, field);
        if !own.is_empty() {
            shown.insert(with_placeholders(text, own), text);
        }
        (rest, field) = (others, field + 1);
    });
    shown
}

/// Splits the links of one text from the links of later texts.
fn split_at_field(hidden: &[HiddenLink], field: usize) -> (&[HiddenLink], &[HiddenLink]) {
    debug_assert!(hidden.is_sorted_by_key(|link| link.field), "links are in the order of texts");
    hidden.split_at(hidden.partition_point(|link| link.field <= field))
}

fn with_placeholders(text: &str, hidden: &[HiddenLink]) -> String {
    let (mut shown, mut from) = (String::new(), 0);
    for HiddenLink { number, range, written, .. } in hidden {
        debug_assert!(from <= range.start, "links are in the order of the text, without overlap");
        shown.push_str(slice(text, from..range.start));
        // Without the brackets the destination would run on into the text after it.
        let next = slice(text, range.end..text.len()).chars().next();
        let keeps_brackets = written.starts_with('<')
            && next.is_some_and(|character| character != ')' && !character.is_whitespace());
        let (open, close) = if keeps_brackets { ("<", ">") } else { ("", "") };
        shown.extend([open, &markdown::placeholder(*number), close]);
        from = range.end;
    }
    shown.push_str(slice(text, from..text.len()));
    shown
}

/// A range of a text that its parser returned.
fn slice(text: &str, range: Range<usize>) -> &str {
    let slice = text.get(range.clone());
    debug_assert!(slice.is_some(), "the range {range:?} of a link is in its text");
    slice.unwrap_or("")
}

/// The replacement of a placeholder: the link as it was written, if it would be parsed as the same
/// kind of link again; otherwise its address.
fn restored(hidden: &[HiddenLink], kind: Kind, mention: &Mention<'_>) -> Option<Rewritten> {
    let MentionTarget::Placeholder(number) = mention.named else { return None };
    let hidden = hidden.iter().find(|hidden| hidden.number == number)?;
    let is_same = hidden.form == HiddenForm::Within(mention.form);
    Some(if is_same {
        Rewritten::Verbatim(hidden.written.clone())
    } else if kind != Kind::Markdown && mention.form == MentionForm::Words {
        Rewritten::Verbatim(hidden.address.clone())
    } else {
        Rewritten::Address(hidden.address.clone())
    })
}
