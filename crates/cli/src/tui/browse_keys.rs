//! Keys while the tree and the document are shown.

use leafbase::{
    BuiltInLocation, DayRef, DeleteBlocks, DeleteDocuments, Destination, DocumentId, ErrorKind,
    Fetch, FlatBlock, FolderRef, ListStyle, Result, TaskState, TaskUpdate, UpdateTasks,
};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::app::App;
use super::block_edit::{BlockEdit, EditTarget};
use super::block_lines;
use super::folder_tree::TreeTarget;
use super::mode::{DeleteQuestion, DeleteTarget, Message, Mode};
use super::open_document::OpenDocument;
use super::screen_layout::{Pane, within_border};
use super::search_prompt::SearchPrompt;
use crate::show::line;

/// Columns of a title in a question.
const MAX_QUOTED: usize = 40;

/// The keys and their effects, as the help lists them.
pub(crate) const KEYS: &[(&str, &str)] = &[
    ("↑ ↓  j k", "move; also PgUp, PgDn, g, G"),
    ("Enter", "open or close a folder, a document, a page, a toggle"),
    ("← →  h l", "close, open"),
    ("Tab", "go to the other pane"),
    ("/", "search as you type; Enter opens the match"),
    ("Space", "check off a task, or open it again"),
    ("e", "edit the block as markdown"),
    ("o", "insert a block below"),
    ("d", "delete the block, or move the document to the trash"),
    ("n", "new document in the selected folder"),
    ("t", "the note of today"),
    ("u  Ctrl-R", "undo, redo"),
    ("q", "quit"),
    ("", ""),
    ("In a text", "Enter or Ctrl-S saves, Esc cancels"),
    ("", "Alt-Enter or Ctrl-J begins a new line"),
];

impl App {
    pub(crate) fn browse(&mut self, key: KeyEvent) {
        let done = match key.code {
            KeyCode::Char('r') if key.modifiers.contains(KeyModifiers::CONTROL) => self.redo(),
            _ if key.modifiers.contains(KeyModifiers::CONTROL) => Ok(()),
            code => self.browse_plain(code),
        };
        self.report(done);
    }

    fn browse_plain(&mut self, code: KeyCode) -> Result<()> {
        match code {
            KeyCode::Char('q') => self.quit(),
            KeyCode::Char('?') => self.mode = Mode::Help,
            KeyCode::Char('/') => self.mode = Mode::Search(SearchPrompt::default()),
            KeyCode::Tab | KeyCode::BackTab => self.change_pane(),
            KeyCode::Down | KeyCode::Char('j') => self.go(1),
            KeyCode::Up | KeyCode::Char('k') => self.go(-1),
            KeyCode::PageDown => self.go(self.page_rows()),
            KeyCode::PageUp => self.go(-self.page_rows()),
            KeyCode::Home | KeyCode::Char('g') => self.go(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.go(isize::MAX),
            KeyCode::Enter => return self.open_selected(),
            KeyCode::Right | KeyCode::Char('l') => return self.enter(),
            KeyCode::Left | KeyCode::Char('h') => self.leave(),
            KeyCode::Char(' ') => return self.toggle_task(),
            KeyCode::Char('e') => return self.edit(),
            KeyCode::Char('o') => self.insert_below(),
            KeyCode::Char('d') => self.ask_to_delete(),
            KeyCode::Char('n') => self.new_document(),
            KeyCode::Char('t') => return self.open_today(),
            KeyCode::Char('u') => return self.undo(),
            _ => {}
        }
        Ok(())
    }

    /// The rows of a page, less one to read on from.
    fn page_rows(&self) -> isize {
        let rows = within_border(self.layout().folders).height.max(2) - 1;
        isize::try_from(rows).unwrap_or(1)
    }

    fn change_pane(&mut self) {
        self.focus = match self.focus {
            Pane::Folders if self.document.is_some() => Pane::Document,
            _ => Pane::Folders,
        };
    }

    fn go(&mut self, by: isize) {
        if self.focus == Pane::Folders {
            self.tree.select(self.tree.selected().saturating_add_signed(by));
        } else if by.unsigned_abs() == 1 && self.step_within_block(by > 0) {
            // The rest of a high block comes before the next one.
        } else if let Some(document) = &mut self.document {
            document.select(document.selected().saturating_add_signed(by));
        }
    }

    fn open_selected(&mut self) -> Result<()> {
        if self.focus == Pane::Document {
            if !self.document.as_mut().is_some_and(OpenDocument::toggle) {
                self.message = Message::note("there is nothing below this block");
            }
            return Ok(());
        }
        match self.tree.selected_row().map(|row| row.target) {
            Some(TreeTarget::Folder(folder)) => self.tree.toggle(&self.notes(), folder),
            Some(TreeTarget::Document(document)) => {
                self.show(document, None);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Opens the selected folder or page if it is closed.
    fn enter(&mut self) -> Result<()> {
        let is_open = match (self.focus, &self.document) {
            (Pane::Folders, _) => self.tree.selected_row().is_some_and(|row| row.is_open),
            (Pane::Document, Some(document)) => {
                document.selected_entry().is_none_or(|(_, context)| context.is_open != Some(false))
            }
            (Pane::Document, None) => true,
        };
        if is_open { Ok(()) } else { self.open_selected() }
    }

    /// Closes the selected folder or page if it is open, else goes to its parent.
    fn leave(&mut self) {
        let opened = self.document.as_mut().filter(|_| self.focus == Pane::Document);
        match opened {
            Some(document) => {
                let entry = document.selected_entry();
                if entry.is_some_and(|(_, context)| context.is_open == Some(true)) {
                    document.toggle();
                } else {
                    self.focus = Pane::Folders;
                }
            }
            None => self.tree.leave(),
        }
    }

    /// The selected block, if the document has the keys.
    fn selected_block(&mut self) -> Option<(DocumentId, FlatBlock)> {
        let document = self.document.as_ref().filter(|_| self.focus == Pane::Document);
        let selected = document
            .and_then(|document| Some((document.id(), document.selected_entry()?.0.clone())));
        if selected.is_none() {
            self.message =
                Message::note("select a block first: Enter opens a document, Tab its pane");
        }
        selected
    }

    fn toggle_task(&mut self) -> Result<()> {
        let Some((_, FlatBlock { block, .. })) = self.selected_block() else { return Ok(()) };
        let Some(task) = block.data.task else {
            self.message = Message::note("this block is not a task");
            return Ok(());
        };
        let state = match task.state {
            TaskState::Todo => TaskState::Done,
            TaskState::Done | TaskState::Canceled => TaskState::Todo,
        };
        let update = TaskUpdate::of(block.id).with_state(state).if_rev(block.rev);
        self.notes().update_tasks(UpdateTasks::new(vec![update])).map(drop)
    }

    fn edit(&mut self) -> Result<()> {
        let of_tree = match self.tree.selected_row().map(|row| row.target) {
            Some(TreeTarget::Document(document)) if self.focus == Pane::Folders => {
                Some(document.root())
            }
            _ => None,
        };
        let block = match of_tree {
            Some(root) => Some(root),
            None => self.selected_block().map(|(_, entry)| entry.block.id),
        };
        if let Some(block) = block {
            self.mode = Mode::Edit(BlockEdit::of_block(&self.notes(), block)?);
        }
        Ok(())
    }

    fn insert_below(&mut self) {
        let Some((document, entry)) = self.selected_block() else { return };
        let (block, indentation) = (entry.block.id, entry.block.data.indentation);
        let target = if entry.depth == 0 {
            EditTarget::StartOf(document)
        } else {
            EditTarget::After { block, indentation, document }
        };
        let mark = match (entry.block.data.task, entry.block.data.list_style) {
            (Some(_), _) => "- [ ] ",
            (None, ListStyle::Bullet) => "- ",
            (None, ListStyle::Numbered) => "1. ",
            (None, ListStyle::Toggle) => "+ ",
            (None, _) => "",
        };
        self.mode = Mode::Edit(BlockEdit::new(target, mark));
    }

    fn ask_to_delete(&mut self) {
        let quoted = |text: &str| line::clip(&line::plain(text), MAX_QUOTED);
        let selected = self.tree.selected_row().filter(|_| self.focus == Pane::Folders);
        match selected.map(|row| (row.target, quoted(&row.name))) {
            Some((TreeTarget::Document(document), name)) => {
                let text = format!("Move \"{name}\" to the trash? y/n");
                let target = DeleteTarget::Document(document);
                self.mode = Mode::Delete(DeleteQuestion { text, target });
            }
            Some((TreeTarget::Folder(_), _)) => {
                self.message = Message::note("folders are removed by: leafbase rm FOLDER/");
            }
            None => self.ask_to_delete_block(),
        }
    }

    fn ask_to_delete_block(&mut self) {
        let Some((_, entry)) = self.selected_block() else { return };
        if entry.depth == 0 {
            self.message = Message::note("a document is deleted in the tree: Tab, then d");
            return;
        }
        let text = line::clip(&line::plain(&block_lines::text(&entry.block.data)), MAX_QUOTED);
        let below = self.document.as_ref().map_or(0, OpenDocument::below_selected);
        let below = match below {
            0 => String::new(),
            count => format!(" and {} below it", line::count(count, "block", "blocks")),
        };
        let text = format!("Delete \"{text}\"{below}? y/n");
        let target = DeleteTarget::Block(entry.block.id);
        self.mode = Mode::Delete(DeleteQuestion { text, target });
    }

    pub(crate) fn delete(&mut self, target: DeleteTarget) {
        let notes = self.notes();
        let deleted = match target {
            DeleteTarget::Block(block) => notes.delete_blocks(DeleteBlocks::from(block)).map(drop),
            DeleteTarget::Document(document) => {
                notes.delete_documents(DeleteDocuments::from(document)).map(drop)
            }
        };
        if deleted.is_ok() {
            self.message = Message::note("deleted; u takes it back");
        }
        self.report(deleted);
    }

    fn new_document(&mut self) {
        let destination = match self.tree.selected_folder() {
            Some(FolderRef::Folder(folder)) => Destination::Folder(folder),
            Some(FolderRef::BuiltIn(BuiltInLocation::Templates)) => Destination::Templates,
            _ => Destination::Unsorted,
        };
        self.mode = Mode::Edit(BlockEdit::new(EditTarget::NewDocument(destination), ""));
    }

    /// Opens the note of today, or begins it: its first blocks create it.
    fn open_today(&mut self) -> Result<()> {
        match self.notes().fetch(Fetch::day(DayRef::Today).depth(0)) {
            Ok(note) => {
                self.show(DocumentId::of_root(note.id), None);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.mode = Mode::Edit(BlockEdit::new(EditTarget::Today, ""));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn undo(&mut self) -> Result<()> {
        let undone = self.undo.undo()?;
        self.message = Message::note(match undone {
            Some(_) => "undone; Ctrl-R redoes it",
            None => "there is nothing to undo: u takes back what was written here",
        });
        Ok(())
    }

    fn redo(&mut self) -> Result<()> {
        let redone = self.undo.redo()?;
        let text = if redone.is_some() { "redone" } else { "there is nothing to redo" };
        self.message = Message::note(text);
        Ok(())
    }
}
