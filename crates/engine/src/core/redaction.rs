//! Links to what a call does not see: placeholders stand for them on the way out, and are put back
//! on the way in.
//!
//! `invalid:out_of_scope#N` stands for a link to a block that is hidden, in the trash, gone or
//! never was: all of them look alike, and cost the same. N counts such links within one block from
//! 1, in the order of its texts ([`super::texts`]). A placeholder that stands in what is stored
//! says nothing: it stays, and its number is given to no link of the block.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use leafbase_markdown::{
    self as markdown, LinkTarget, Mention, MentionForm, MentionTarget, Rewritten,
};
use leafbase_model::{Block, BlockData, BlockId, Content, Error, Result};

use crate::core::leaks::Leak;
use crate::core::tree::Tree;
use texts::{Chosen, Given, Kind, Texts};

pub(crate) mod hidden_relations;
pub(crate) mod texts;

/// Hides the links of one call: each target is looked up once.
pub(crate) struct LinkRedactor<'t, 'a> {
    /// None where nothing is hidden.
    tree: Option<&'t Tree<'a>>,
    known: RefCell<HashMap<BlockId, bool>>,
    fault: RefCell<Option<Error>>,
}

impl<'t, 'a> LinkRedactor<'t, 'a> {
    pub(crate) fn new(tree: &'t Tree<'a>) -> Self {
        let hides = !tree.is_unrestricted() && !tree.visibility().leaks(Leak::Links);
        Self { tree: hides.then_some(tree), known: RefCell::default(), fault: RefCell::default() }
    }

    /// Puts placeholders into the texts of a block, a schema or a text alone.
    pub(crate) fn redact(&self, texts: &mut impl Texts) -> Result<()> {
        let hidden = self.find(texts)?;
        if !hidden.is_empty() {
            put_in(&hidden, texts);
        }
        Ok(())
    }

    /// What the call is shown of a block, a schema or a text alone.
    pub(crate) fn redacted<'d, T: Texts + Clone>(&self, texts: &'d T) -> Result<Cow<'d, T>> {
        let hidden = self.find(texts)?;
        if hidden.is_empty() {
            return Ok(Cow::Borrowed(texts));
        }
        let mut shown = texts.clone();
        put_in(&hidden, &mut shown);
        Ok(Cow::Owned(shown))
    }

    /// What the call is shown as the block's markdown.
    pub(crate) fn redacted_markdown<'d>(&self, data: &'d BlockData) -> Result<Cow<'d, str>> {
        Ok(match self.redacted(data)? {
            // Without a copy, which it is most of the time.
            Cow::Borrowed(data) if data.block_type().has_own_markdown() => {
                Cow::Borrowed(&data.markdown)
            }
            data => Cow::Owned(markdown::render_block(&data)),
        })
    }

    /// The words of the block's markdown as the call is shown them. What fails is told by
    /// [`Self::finish`].
    pub(crate) fn plain(&self, data: &BlockData) -> String {
        let shown =
            self.redacted(data).map(|data| markdown::plain_text(&data.markdown).into_owned());
        shown.unwrap_or_else(|error| {
            self.fault.borrow_mut().get_or_insert(error);
            String::new()
        })
    }

    /// What failed where it could not be told.
    ///
    /// # Errors
    /// The first such failure.
    pub(crate) fn finish(&self) -> Result<()> {
        self.fault.take().map_or(Ok(()), Err)
    }

    /// Puts placeholders into blocks of a reply. Comments count by themselves: see [`Self::redact`].
    pub(crate) fn redact_tree(&self, top: &mut Block) -> Result<()> {
        if self.tree.is_none() {
            return Ok(());
        }
        let mut waiting = vec![top];
        while let Some(Block { data, content, .. }) = waiting.pop() {
            self.redact(data)?;
            if let Content::Blocks(children) = content {
                waiting.extend(children);
            }
        }
        Ok(())
    }

    /// Puts the options of an item back that a request names as they are shown: in the item, or in
    /// the schema.
    pub(crate) fn restore_options(
        &self,
        item: Option<&BlockData>,
        mut given: Chosen<'_, '_>,
    ) -> Result<()> {
        if !self.has_placeholders(&mut given) {
            return Ok(());
        }
        // Each counts by itself, so that a part of a name may stand for two links; a whole one that
        // an item has is the item's.
        let (schema, mut names) = (given.schema, HashMap::new());
        let of_schema = self.find(schema)?;
        names.extend(unchanged(&of_schema, schema));
        let of_item = item.map(|item| self.find(item)).transpose()?.unwrap_or_default();
        names.extend(item.iter().flat_map(|item| unchanged(&of_item, *item)));
        given.change(&mut |_, name| {
            if let Some(stored) = names.get(name) {
                (*stored).clone_into(name);
            }
        });
        Ok(())
    }

    fn has_placeholders(&self, given: &mut impl Given) -> bool {
        let mut has_any = false;
        if self.tree.is_some() {
            given.change(&mut |_, text| {
                markdown::placeholder_numbers(text, &mut |_| has_any = true)
            });
        }
        has_any
    }

    /// Puts the links back that the placeholders in `given` stand for in `before`, as this call
    /// sees it.
    pub(crate) fn restore(&self, before: &impl Texts, given: &mut impl Given) -> Result<()> {
        if !self.has_placeholders(given) {
            return Ok(());
        }
        let hidden = self.find(before)?;
        let unchanged = unchanged(&hidden, before);
        given.change(&mut |kind, text| {
            if let Some(stored) = unchanged.get(text) {
                (*stored).clone_into(text);
            } else if let Cow::Owned(restored) =
                markdown::rewrite_mentions(text, &mut |mention| restored(&hidden, kind, mention))
            {
                *text = restored;
            }
        });
        Ok(())
    }

    /// The links that are hidden, in order.
    fn find(&self, texts: &impl Texts) -> Result<Vec<Hidden>> {
        let (mut hidden, mut found, mut field) = (Vec::new(), Ok(()), 0);
        if self.tree.is_none() {
            return Ok(hidden);
        }
        texts.visit(&mut |kind, text| {
            each_link(kind, text, &mut |target, link| {
                if found.is_ok() {
                    found = self.can_see(target).map(|sees| {
                        if !sees {
                            hidden.push(Hidden { field, ..link() });
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

    /// Whether the call sees a block. One that is malformed is looked up, too: no ID is answered
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

/// A link that is hidden.
struct Hidden {
    number: u32,
    /// The number of the text that it stands in.
    field: usize,
    range: Range<usize>,
    form: Form,
    /// As it is written.
    written: String,
    /// Where it leads, escapes resolved.
    address: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// All of a text that is no markdown.
    Whole,
    Within(MentionForm),
}

/// Tells each link to a block that a text has.
fn each_link(kind: Kind, text: &str, tell: &mut dyn FnMut(BlockId, &dyn Fn() -> Hidden)) {
    let hidden = |range: Range<usize>, form, address: &str| {
        let written = text.get(range.clone()).unwrap_or_default().to_owned();
        Hidden { number: 0, field: 0, range, form, written, address: address.to_owned() }
    };
    if let Some(target) = whole(kind, text) {
        return tell(target, &|| hidden(0..text.len(), Form::Whole, text));
    }
    markdown::mentions(text, &mut |Mention { destination, range, named, form }| {
        if let MentionTarget::Block(target) = named {
            tell(target, &|| hidden(range.clone(), Form::Within(form), &destination));
        }
    });
}

/// The block that all of a text leads to.
fn whole(kind: Kind, text: &str) -> Option<BlockId> {
    // `Block: north` is no address.
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

/// Gives numbers, but for those of the placeholders that stand in the texts.
fn number(hidden: &mut [Hidden], texts: &impl Texts) {
    let mut literal = BTreeSet::new();
    texts.visit(&mut |_, text| {
        markdown::placeholder_numbers(text, &mut |number| {
            literal.insert(number);
        });
    });
    let free = (1..).filter(|number| !literal.contains(number));
    hidden.iter_mut().zip(free).for_each(|(hidden, number)| hidden.number = number);
}

/// Puts placeholders in the place of `hidden`.
fn put_in(hidden: &[Hidden], texts: &mut impl Texts) {
    let (mut rest, mut field) = (hidden, 0);
    texts.change(&mut |_, text| {
        let (own, others) = of_field(rest, field);
        if !own.is_empty() {
            *text = with_placeholders(text, own);
        }
        (rest, field) = (others, field + 1);
    });
}

/// By what is shown of them, the texts that have something to hide: what comes back as it was shown
/// is as it was.
fn unchanged<'d>(hidden: &[Hidden], texts: &'d impl Texts) -> HashMap<String, &'d str> {
    let (mut rest, mut field, mut shown) = (hidden, 0, HashMap::new());
    texts.visit(&mut |_, text| {
        let (own, others) = of_field(rest, field);
        if !own.is_empty() {
            shown.insert(with_placeholders(text, own), text);
        }
        (rest, field) = (others, field + 1);
    });
    shown
}

/// Those of one text, and those of the texts behind it.
fn of_field(hidden: &[Hidden], field: usize) -> (&[Hidden], &[Hidden]) {
    hidden.split_at(hidden.partition_point(|hidden| hidden.field <= field))
}

fn with_placeholders(text: &str, hidden: &[Hidden]) -> String {
    let (mut shown, mut from) = (String::new(), 0);
    for Hidden { number, range, written, .. } in hidden {
        shown.push_str(text.get(from..range.start).unwrap_or_default());
        // Without the brackets it would go on with what stands right behind them.
        let behind = text.get(range.end..).and_then(|behind| behind.chars().next());
        let is_held = written.starts_with('<')
            && behind.is_some_and(|letter| letter != ')' && !letter.is_whitespace());
        let (open, close) = if is_held { ("<", ">") } else { ("", "") };
        shown.extend([open, &markdown::placeholder(*number), close]);
        from = range.end;
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    shown
}

/// What is written in the place of a placeholder: as it was written, if it comes back as the same
/// kind of link.
fn restored(hidden: &[Hidden], kind: Kind, mention: &Mention<'_>) -> Option<Rewritten> {
    let MentionTarget::Placeholder(number) = mention.named else { return None };
    let hidden = hidden.iter().find(|hidden| hidden.number == number)?;
    let is_same = hidden.form == Form::Within(mention.form);
    Some(if is_same {
        Rewritten::Verbatim(hidden.written.clone())
    } else if kind != Kind::Markdown && mention.form == MentionForm::Words {
        Rewritten::Verbatim(hidden.address.clone())
    } else {
        Rewritten::Address(hidden.address.clone())
    })
}
