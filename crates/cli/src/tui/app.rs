//! The state of the screen: events in, state out. `view` draws it.

use std::time::Duration;

use leafbase::{BlockId, Connection, DocumentId, ErrorKind, Result, UndoManager};
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;

use super::block_edit::SavedEdit;
use super::block_lines;
use super::folder_tree::FolderTree;
use super::mode::{Message, Mode};
use super::open_document::OpenDocument;
use super::screen_layout::{Pane, ScreenLayout, within_border};
use super::scroll::Scroll;
use super::theme::Theme;

/// The state of the screen.
pub(crate) struct App {
    /// All writes of the app go through the connection of its undo stack.
    pub(crate) undo: UndoManager,
    pub(crate) tree: FolderTree,
    pub(crate) tree_scroll: Scroll,
    pub(crate) document: Option<OpenDocument>,
    pub(crate) document_scroll: Scroll,
    pub(crate) focus: Pane,
    pub(crate) mode: Mode,
    pub(crate) message: Message,
    pub(crate) theme: Theme,
    screen: Rect,
    /// The last change that is shown.
    sequence: u64,
    is_done: bool,
}

impl App {
    pub(crate) fn open(notes: &Connection, theme: Theme) -> Result<Self> {
        let undo = notes.undo_manager().joining_within(Duration::ZERO);
        let (sequence, tree) = (notes.last_sequence()?, FolderTree::read(undo.notes())?);
        Ok(Self {
            undo,
            tree,
            tree_scroll: Scroll::default(),
            document: None,
            document_scroll: Scroll::default(),
            focus: Pane::Folders,
            mode: Mode::Browse,
            message: Message::default(),
            theme,
            screen: Rect::default(),
            sequence,
            is_done: false,
        })
    }

    pub(crate) fn notes(&self) -> Connection {
        self.undo.notes().clone()
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.is_done
    }

    pub(crate) const fn quit(&mut self) {
        self.is_done = true;
    }

    pub(crate) fn layout(&self) -> ScreenLayout {
        let rows = match &self.mode {
            // The columns do not depend on the rows of the input.
            Mode::Edit(edit) => {
                let area = ScreenLayout::new(self.screen, self.focus, Some(1)).input;
                Some(edit.input.rows(usize::from(within_border(area).width)).len())
            }
            _ => None,
        };
        ScreenLayout::new(self.screen, self.focus, rows)
    }

    /// Takes the size of the screen; whether it changed.
    pub(crate) fn resize(&mut self, screen: Rect) -> bool {
        let is_changed = self.screen != screen;
        self.screen = screen;
        self.scroll();
        is_changed
    }

    pub(crate) fn handle(&mut self, event: &Event) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.press(*key),
            Event::Paste(text) => match &mut self.mode {
                Mode::Edit(edit) => {
                    edit.stay();
                    edit.input.insert(text);
                }
                Mode::Search(search) => search.insert(text),
                _ => {}
            },
            _ => {}
        }
        self.scroll();
    }

    fn press(&mut self, key: KeyEvent) {
        self.message = Message::default();
        let is_interrupt =
            key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        let is_cancel = key.code == KeyCode::Esc || is_interrupt;
        match &self.mode {
            Mode::Browse if is_interrupt => self.quit(),
            Mode::Browse => self.browse(key),
            _ if is_cancel => self.cancel(),
            Mode::Help => self.mode = Mode::Browse,
            Mode::Search(_) => self.press_in_search(key),
            Mode::Edit(_) => self.press_in_edit(key),
            Mode::Delete(question) => {
                let target = (key.code == KeyCode::Char('y')).then_some(question.target);
                self.mode = Mode::Browse;
                if let Some(target) = target {
                    self.delete(target);
                }
            }
        }
    }

    /// Back to browsing, but not away from a text that was changed: that takes two keys.
    fn cancel(&mut self) {
        let may_leave = if let Mode::Edit(edit) = &mut self.mode { edit.leave() } else { true };
        if may_leave {
            self.mode = Mode::Browse;
        } else {
            self.message = Message::note("not saved: Esc again drops the text, Enter saves it");
        }
    }

    fn press_in_search(&mut self, key: KeyEvent) {
        let width = usize::from(within_border(self.screen).width);
        let Mode::Search(search) = &mut self.mode else { return };
        if key.code != KeyCode::Enter {
            search.press(key, width);
            return;
        }
        // Enter may come before the search of the last letters.
        search.run(self.undo.notes());
        if let Some(hit) = search.hits.get(search.selected).cloned() {
            self.mode = Mode::Browse;
            self.show(hit.document, None);
            if let Some(document) = &mut self.document {
                document.select_match(&hit.blocks, &hit.words);
            }
        }
    }

    fn press_in_edit(&mut self, key: KeyEvent) {
        let width = usize::from(within_border(self.layout().input).width);
        let Mode::Edit(edit) = &mut self.mode else { return };
        edit.stay();
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_plain = !key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT);
        match key.code {
            KeyCode::Enter if is_plain => self.save(),
            KeyCode::Char('s') if is_control => self.save(),
            // Ctrl-J is the line end of terminals without Alt.
            KeyCode::Enter => edit.input.insert("\n"),
            KeyCode::Char('j') if is_control => edit.input.insert("\n"),
            _ => drop(edit.input.press(key, width)),
        }
    }

    /// Writes the edited text. If that fails, it stays where it is.
    fn save(&mut self) {
        let notes = self.notes();
        let Mode::Edit(edit) = &mut self.mode else { return };
        match edit.save(&notes) {
            Ok(SavedEdit { document, block }) => {
                self.mode = Mode::Browse;
                self.show(document, Some(block));
            }
            Err(error) => self.message = Message::error(edit.explain(&notes, &error)),
        }
    }

    /// Opens a document, with a block selected.
    pub(crate) fn show(&mut self, document: DocumentId, block: Option<BlockId>) {
        let shown = self.open_document(document).and_then(|()| {
            let notes = self.notes();
            self.tree.refresh(&notes)?;
            self.tree.reveal(&notes, &notes.document(document)?)
        });
        if let (Some(opened), Some(block)) = (&mut self.document, block) {
            opened.select_block(block);
        }
        self.focus = Pane::Document;
        self.report(shown);
    }

    fn open_document(&mut self, document: DocumentId) -> Result<()> {
        match &mut self.document {
            Some(opened) if opened.id() == document => opened.refresh().map(drop),
            _ => {
                self.document = Some(OpenDocument::open(&self.notes(), document)?);
                self.document_scroll = Scroll::default();
                Ok(())
            }
        }
    }

    /// Says what failed.
    pub(crate) fn report(&mut self, result: Result<()>) {
        if let Err(error) = result {
            let details = error.details().into_iter();
            let details = details.map(|detail| format!("; {} {}", detail.path, detail.message));
            self.message = Message::error(error.to_string() + &details.collect::<String>());
        }
    }

    /// Applies writes of this and other connections to the screen, and runs a stale search; returns
    /// whether anything visible changed.
    pub(crate) fn settle(&mut self) -> bool {
        let notes = self.notes();
        let mut is_changed = match &mut self.mode {
            Mode::Search(search) => search.run(&notes),
            _ => false,
        };
        match self.follow(&notes) {
            Ok(has_followed) => is_changed |= has_followed,
            Err(error) => {
                self.report(Err(error));
                is_changed = true;
            }
        }
        self.scroll();
        is_changed
    }

    fn follow(&mut self, notes: &Connection) -> Result<bool> {
        let sequence = notes.last_sequence()?;
        if sequence == self.sequence {
            return Ok(false);
        }
        self.sequence = sequence;
        let mut is_changed = self.tree.refresh(notes)?;
        match self.document.as_mut().map(OpenDocument::refresh).transpose() {
            Ok(has_changed) => is_changed |= has_changed.unwrap_or(false),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.document = None;
                self.focus = Pane::Folders;
                self.message = Message::note("the document was deleted");
                is_changed = true;
            }
            Err(error) => return Err(error),
        }
        Ok(is_changed)
    }

    /// The rows of a block of the document in its pane.
    fn height(&self, place: usize, width: usize) -> usize {
        let entry = self.document.as_ref().and_then(|document| document.entry(place));
        entry.map_or(0, |(entry, context)| {
            block_lines::lines(entry, context, width, self.theme).len()
        })
    }

    /// Moves by a row within a block that is higher than its pane; whether it did.
    pub(crate) fn step_within_block(&mut self, is_down: bool) -> bool {
        let area = within_border(self.layout().document);
        let Some(selected) = self.document.as_ref().map(OpenDocument::selected) else {
            return false;
        };
        let height = self.height(selected, usize::from(area.width));
        self.document_scroll.step_within(selected, is_down, usize::from(area.height), height)
    }

    fn scroll(&mut self) {
        let layout = self.layout();
        let rows = usize::from(within_border(layout.folders).height);
        self.tree_scroll.show(self.tree.selected(), rows, |_| 1);
        if let Some(selected) = self.document.as_ref().map(OpenDocument::selected) {
            let area = within_border(layout.document);
            let (width, rows) = (usize::from(area.width), usize::from(area.height));
            let mut scroll = self.document_scroll;
            scroll.show(selected, rows, |place| self.height(place, width));
            self.document_scroll = scroll;
        }
    }
}
