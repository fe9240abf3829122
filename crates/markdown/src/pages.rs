//! Tags of the dialect: pages and cards with title and content, callouts, captions.

use leafbase_model::{
    BlockData, BlockDraft, BlockKind, CardLayout, Error, Result, TextFormat, TextStyle, invariant,
};

use crate::containers::{Container, MAX_CONTAINERS, OpenPage, OpenWrapper, PagePart};
use crate::cursor::{LineCursor, trim};
use crate::parsed::ParseWarningKind;
use crate::parser::{BlockParser, LineStep};
use crate::source_spans::SourceSpan;
use crate::tags::{Element, Tag};
use crate::text_context::TextContext;
use crate::text_escape::unescape;

impl<'t> BlockParser<'t, '_> {
    /// Opens the element of `tag` if it is allowed here; otherwise the tag stays text.
    pub(crate) fn open_element(
        &mut self,
        tag: Tag<'t>,
        ahead: &LineCursor<'t>,
        cursor: &mut LineCursor<'t>,
    ) -> Result<Option<LineStep>> {
        let at = self.place(ahead.offset());
        let behind = self.line_start + ahead.offset() + tag.length;
        let last = self.present.last_close(tag.element);
        let named = matches!(tag.element, Element::Page | Element::Card);
        let titled = named && self.text.get(behind..).is_some_and(begins_title);
        if last.is_none_or(|last| last < behind) || (!titled && self.depth() >= MAX_CONTAINERS) {
            return Ok(None);
        }
        self.close_unmatched()?;
        self.close_leaf()?;
        let look = self.look_of(&tag, at);
        if titled {
            self.open_page(tag.element, look, at)?;
        } else {
            self.open_wrapper(tag.element, (tag.element != Element::Callout).then_some(look), at);
        }
        *cursor = *ahead;
        cursor.skip(tag.length);
        Ok(Some(if cursor.is_blank() { LineStep::Done } else { LineStep::Again }))
    }

    fn look_of(&mut self, tag: &Tag<'t>, at: (usize, usize)) -> TextFormat {
        let implied = match tag.element {
            Element::Card => TextStyle::Card,
            Element::Caption => TextStyle::Caption,
            _ => TextStyle::Body,
        };
        let style = tag.style().unwrap_or(implied);
        let card_layout = tag.card_layout().unwrap_or_default();
        if let Some(name) = tag.unread() {
            self.adapt(at, ParseWarningKind::Attribute(name));
        }
        TextFormat { style, card_layout, ..TextFormat::default() }
    }

    fn open_page(&mut self, element: Element, look: TextFormat, at: (usize, usize)) -> Result<()> {
        let most = self.options.limits.deepest_page();
        if self.out.len() > most {
            let (line, column) = at;
            return Err(Error::limit(
                &format!("line {line}, column {column}: pages within pages"),
                most,
                self.out.len(),
            ));
        }
        let mut data = BlockData::new(BlockKind::Page(look));
        self.leaf_at = at;
        self.dress(&mut data);
        let draft = BlockDraft::new(data);
        self.push(Container::Page(Box::new(OpenPage {
            element,
            part: PagePart::BeforeTitle,
            inset: None,
            draft,
            at,
        })));
        Ok(())
    }

    fn open_wrapper(&mut self, element: Element, look: Option<TextFormat>, at: (usize, usize)) {
        // A page or card without a title is a text in that style.
        let look = look.map(|look| match (element, look) {
            (Element::Page, TextFormat { style: TextStyle::Body, .. }) => {
                TextFormat { style: TextStyle::Page, ..look }
            }
            (_, TextFormat { card_layout: CardLayout::Small | CardLayout::Square, .. }) => {
                TextFormat { card_layout: CardLayout::Regular, ..look }
            }
            _ => look,
        });
        match self.stack.last_mut() {
            Some(Container::Wrapper(around))
                if around.element == element && around.look == look =>
            {
                around.depth += 1;
            }
            _ => self.push(Container::Wrapper(OpenWrapper { element, depth: 1, look, at })),
        }
    }

    /// Stack index of the container that a closing tag closes, if any. A tag after a quote mark
    /// cannot close a container around the quote, and only its own tags close a page.
    pub(crate) fn closes(&self, element: Element) -> Option<usize> {
        for (place, open) in self.stack.iter().enumerate().rev() {
            match open {
                Container::Quote(_) if place < self.matched => return None,
                Container::Wrapper(wrapper) if wrapper.element == element => return Some(place),
                Container::Page(page) => {
                    let content = element == Element::Content && page.part == PagePart::Content;
                    let title = element == Element::Title && page.part == PagePart::Title;
                    return (content || title || element == page.element).then_some(place);
                }
                _ => {}
            }
        }
        None
    }

    /// Closes the container of a closing tag.
    pub(crate) fn close_element(&mut self, element: Element) -> Result<()> {
        let Some(place) = self.closes(element) else { return Ok(()) };
        self.close_to(place + 1)?;
        match self.stack.last_mut() {
            Some(Container::Wrapper(wrapper)) => {
                wrapper.depth -= 1;
                if wrapper.depth == 0 {
                    self.pop()?;
                }
            }
            Some(Container::Page(page)) => match element {
                Element::Title => page.part = PagePart::BeforeContent,
                Element::Content => page.part = PagePart::AfterContent,
                _ => {
                    page.part = PagePart::AfterContent;
                    self.pop()?;
                }
            },
            _ => {}
        }
        self.matched = self.stack.len();
        Ok(())
    }

    /// Handles a line of a page outside of its content. `None` if the content starts instead.
    pub(crate) fn page_part(&mut self, cursor: &mut LineCursor<'t>) -> Result<Option<LineStep>> {
        cursor.skip_indent();
        let opened = crate::tags::tag(cursor.rest())
            .filter(|tag| !tag.closing)
            .map(|tag| (tag.element, tag.length));
        let Some(Container::Page(page)) = self.stack.last_mut() else { return Ok(None) };
        match (page.part, opened) {
            (PagePart::BeforeTitle, Some((Element::Title, length))) => {
                page.part = PagePart::Title;
                cursor.skip(length);
            }
            (PagePart::BeforeContent, Some((Element::Content, length))) => {
                page.part = PagePart::Content;
                cursor.skip(length);
                if !cursor.is_blank() {
                    page.inset = Some(0);
                }
            }
            (PagePart::Title, _) => return self.title_line(cursor).map(Some),
            _ => {
                if let ("", closer @ Some(_)) = self.segment(cursor)? {
                    return self.finish_segment(cursor, closer).map(Some);
                }
                if let Some(Container::Page(page)) = self.stack.last_mut() {
                    page.part = PagePart::Content;
                }
                return Ok(None);
            }
        }
        Ok(Some(if cursor.is_blank() { LineStep::Done } else { LineStep::Again }))
    }

    fn title_line(&mut self, cursor: &mut LineCursor<'t>) -> Result<LineStep> {
        let (text, closer) = self.segment(cursor)?;
        let text = trim(text);
        if let Some(Container::Page(page)) = self.stack.last_mut() {
            let title = &mut page.draft.data.inline;
            if !title.is_empty() && !text.is_empty() {
                title.push(' ');
            }
            title.push_str(text);
        }
        self.finish_segment(cursor, closer)
    }

    pub(crate) fn close_page(&mut self, mut page: OpenPage) -> Result<()> {
        if page.part != PagePart::AfterContent {
            self.unclosed(page.element, page.at);
        }
        // Every open page has pushed a list for its content; the bottom one is the document's.
        invariant!(self.out.len() > 1, "an open page has a list of blocks");
        page.draft.content = self.out.pop().unwrap_or_default();
        let title = unescape(&page.draft.data.inline, TextContext::Title).into_owned();
        page.draft.data.inline = title;
        self.keep_highlights(&mut page.draft.data);
        invariant!(self.spans.len() > 1, "an open page has a list of spans");
        let within = self.spans.pop().unwrap_or_default();
        self.add(page.draft, SourceSpan { within, ..SourceSpan::of_lines(page.at.0, page.at.0) });
        Ok(())
    }
}

/// Whether a title opens next; on another line, list indentation and quote marks may precede it.
fn begins_title(text: &str) -> bool {
    let mut rest = text.trim_start_matches([' ', '\t']);
    if rest.starts_with('\n') {
        rest = rest.trim_start_matches([' ', '\t', '\n', '>']);
    }
    crate::tags::tag(rest).is_some_and(|tag| tag.element == Element::Title && !tag.closing)
}
