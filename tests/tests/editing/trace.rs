//! A recorded session of 10,000 keys, replayed beside a naive editor: text, cursor and undo are
//! those of the naive one after every key. `TRACE=write` records what it ends in.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use leafbase::{
    Block, BlockId, BlockPatch, Clock, Connection, DocumentId, DuplicateBlocks, Fetch,
    IndentBlocks, ListStyle, MergeBlock, PlainText, ShiftBlocks, Space, SplitBlock, TextStyle,
    Timestamp, UndoManager, UpdateBlocks,
};

/// Literal characters, `<Key>` and `<Key*times>`; `<lt>` and `<Space>` are characters, `<Pause>` is
/// no key. Line ends say nothing.
const TRACE: &str = include_str!("trace.txt");
const KEYS: usize = 10_000;
/// Time between two keys.
const KEY_MILLIS: i64 = 120;
const PAUSE_MILLIS: i64 = 2_000;
/// Edits of one text within this time of each other are one step of undo.
const WINDOW_MILLIS: i64 = 1_000;
/// Steps that an undo stack keeps.
const MAX_STEPS: usize = 1_000;
const DEEPEST: u8 = 5;
/// How many keys there are between two looks at the whole document.
const KEYS_PER_LOOK: usize = 50;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Press {
    Type(char),
    Key(String),
    Pause,
}

fn presses(trace: &str) -> Vec<Press> {
    let (mut found, mut rest) = (Vec::new(), trace);
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        match letter {
            '\n' => {}
            '<' => {
                let (name, after) = rest.split_once('>').unwrap();
                let (name, times) = name.split_once('*').unwrap_or((name, "1"));
                let press = match name {
                    "lt" => Press::Type('<'),
                    "Space" => Press::Type(' '),
                    "Pause" => Press::Pause,
                    name => Press::Key(name.to_owned()),
                };
                found.extend(std::iter::repeat_n(press, times.parse().unwrap()));
                rest = after;
            }
            letter => found.push(Press::Type(letter)),
        }
    }
    found
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct NaiveLine {
    text: String,
    list: ListStyle,
    is_heading: bool,
    indentation: u8,
}

/// A line and an offset in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Caret {
    line: usize,
    offset: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Screen {
    lines: Vec<NaiveLine>,
    caret: Caret,
}

/// A step of undo: the screens before and after it.
#[derive(Clone, Debug)]
struct NaiveStep {
    before: Screen,
    after: Screen,
    at: i64,
    is_typing: bool,
    number: u64,
}

/// What a key does to the library, once the naive editor has done it.
#[derive(Debug)]
enum Effect {
    Write(String),
    Split(usize),
    Merge,
    Indent(i8),
    Shift(bool),
    Duplicate,
    List(ListStyle),
    Heading(bool),
    Undo,
    Redo,
    /// Only the caret goes elsewhere, or nothing happens.
    None,
}

struct NaiveEditor {
    screen: Screen,
    undo: Vec<NaiveStep>,
    redo: Vec<NaiveStep>,
    /// How many steps there have been.
    steps: u64,
}

impl NaiveEditor {
    fn new() -> Self {
        let line = NaiveLine {
            text: String::new(),
            list: ListStyle::None,
            is_heading: false,
            indentation: 0,
        };
        let screen = Screen { lines: vec![line], caret: Caret { line: 0, offset: 0 } };
        Self { screen, undo: Vec::new(), redo: Vec::new(), steps: 0 }
    }

    fn press(&mut self, press: &Press, now: i64) -> Effect {
        if self.ends_step(press) {
            self.end_step();
        }
        let before = self.screen.clone();
        let effect = self.effect(press);
        match effect {
            Effect::None | Effect::Undo | Effect::Redo => {}
            _ => self.add_step(before, now, matches!(effect, Effect::Write(_))),
        }
        effect
    }

    /// Whether what is typed after this key is a step of its own.
    fn ends_step(&self, press: &Press) -> bool {
        !matches!(press, Press::Type(_)) && *press != Press::Key("Backspace".to_owned())
    }

    fn end_step(&mut self) {
        if let Some(step) = self.undo.last_mut() {
            step.is_typing = false;
        }
    }

    fn add_step(&mut self, before: Screen, at: i64, is_typing: bool) {
        self.redo.clear();
        let after = self.screen.clone();
        let joins =
            |step: &&mut NaiveStep| is_typing && step.is_typing && at - step.at < WINDOW_MILLIS;
        if let Some(step) = self.undo.last_mut().filter(joins) {
            (step.after, step.at) = (after, at);
            return;
        }
        if self.undo.len() == MAX_STEPS {
            self.undo.remove(0);
        }
        self.steps += 1;
        self.undo.push(NaiveStep { before, after, at, is_typing, number: self.steps });
    }

    fn effect(&mut self, press: &Press) -> Effect {
        let Screen { lines, caret } = &mut self.screen;
        let Caret { line, offset } = *caret;
        let name = match press {
            Press::Pause => return Effect::None,
            Press::Type(letter) => {
                lines[line].text.insert(offset, *letter);
                caret.offset += letter.len_utf8();
                return Effect::Write(lines[line].text.clone());
            }
            Press::Key(name) => name.as_str(),
        };
        match name {
            "Enter" => {
                let rest = lines[line].text.split_off(offset);
                let mut below = NaiveLine { text: rest, ..lines[line].clone() };
                // An empty line is not a heading, above or below.
                if below.text.is_empty() {
                    below.is_heading = false;
                } else if offset == 0 {
                    lines[line].is_heading = false;
                }
                lines.insert(line + 1, below);
                *caret = Caret { line: line + 1, offset: 0 };
                Effect::Split(offset)
            }
            "Backspace" => self.backspace(),
            "Tab" => self.indent(1),
            "Outdent" => self.indent(-1),
            "ShiftUp" => self.shift(false),
            "ShiftDown" => self.shift(true),
            "Duplicate" => {
                let end = self.end_of(line);
                let copy = self.screen.lines[line..end].to_vec();
                self.screen.lines.splice(end..end, copy);
                self.screen.caret.line = end;
                Effect::Duplicate
            }
            "Bullet" => self.list(ListStyle::Bullet),
            "Numbered" => self.list(ListStyle::Numbered),
            "Task" => self.list(ListStyle::Task),
            "Plain" => self.list(ListStyle::None),
            "Heading" => {
                lines[line].is_heading ^= true;
                Effect::Heading(lines[line].is_heading)
            }
            "Undo" => self.undo(),
            "Redo" => self.redo(),
            name => {
                self.go(name);
                Effect::None
            }
        }
    }

    /// First takes off the list style, then the indentation, then joins the line before.
    fn backspace(&mut self) -> Effect {
        let Caret { line, offset } = self.screen.caret;
        let lines = &mut self.screen.lines;
        if let Some((at, _)) = lines[line].text[..offset].char_indices().next_back() {
            lines[line].text.remove(at);
            self.screen.caret.offset = at;
            return Effect::Write(lines[line].text.clone());
        }
        if lines[line].list != ListStyle::None {
            return self.list(ListStyle::None);
        }
        if lines[line].indentation > 0 {
            return self.indent(-1);
        }
        if line == 0 {
            return Effect::None;
        }
        let gone = lines.remove(line);
        self.screen.caret = Caret { line: line - 1, offset: lines[line - 1].text.len() };
        lines[line - 1].text += &gone.text;
        Effect::Merge
    }

    fn list(&mut self, list: ListStyle) -> Effect {
        let line = &mut self.screen.lines[self.screen.caret.line];
        if line.list == list {
            return Effect::None;
        }
        line.list = list;
        Effect::List(list)
    }

    /// The line behind those that are indented deeper than this one.
    fn end_of(&self, line: usize) -> usize {
        let lines = &self.screen.lines;
        let deeper = |at: &usize| lines[*at].indentation > lines[line].indentation;
        line + 1 + (line + 1..lines.len()).take_while(deeper).count()
    }

    fn indent(&mut self, levels: i8) -> Effect {
        let line = self.screen.caret.line;
        let end = self.end_of(line);
        let lines = &mut self.screen.lines;
        let deepest = lines[line..end].iter().map(|line| line.indentation).max().unwrap();
        let above = line.checked_sub(1).map(|above| lines[above].indentation);
        let is_refused = match levels {
            1 => above.is_none_or(|above| above < lines[line].indentation) || deepest == DEEPEST,
            _ => lines[line].indentation == 0,
        };
        if is_refused {
            return Effect::None;
        }
        for line in &mut lines[line..end] {
            line.indentation = line.indentation.saturating_add_signed(levels);
        }
        Effect::Indent(levels)
    }

    fn shift(&mut self, is_down: bool) -> Effect {
        let line = self.screen.caret.line;
        let end = self.end_of(line);
        let lines = &self.screen.lines;
        let own = lines[line].indentation;
        let range = if is_down {
            let is_sibling = lines.get(end).is_some_and(|next| next.indentation == own);
            is_sibling.then(|| (line, end, self.end_of(end)))
        } else {
            let above = (0..line).rev().find(|above| lines[*above].indentation <= own);
            above.filter(|above| lines[*above].indentation == own).map(|above| (above, line, end))
        };
        let Some((start, middle, end)) = range else { return Effect::None };
        self.screen.lines[start..end].rotate_left(middle - start);
        self.screen.caret.line = if is_down { start + end - middle } else { start };
        Effect::Shift(is_down)
    }

    fn undo(&mut self) -> Effect {
        let Some(mut step) = self.undo.pop() else { return Effect::None };
        self.screen = step.before.clone();
        step.is_typing = false;
        self.redo.push(step);
        Effect::Undo
    }

    fn redo(&mut self) -> Effect {
        let Some(step) = self.redo.pop() else { return Effect::None };
        self.screen = step.after.clone();
        self.undo.push(step);
        Effect::Redo
    }

    fn go(&mut self, name: &str) {
        let Screen { lines, caret } = &mut self.screen;
        let text = &lines[caret.line].text;
        match name {
            "Left" => caret.offset = floor(text, caret.offset.saturating_sub(1)),
            "Right" => {
                caret.offset += text[caret.offset..].chars().next().map_or(0, char::len_utf8);
            }
            "Home" => caret.offset = 0,
            "End" => caret.offset = text.len(),
            "Up" => caret.line = caret.line.saturating_sub(1),
            "Down" => caret.line = (caret.line + 1).min(lines.len() - 1),
            other => panic!("no key {other}"),
        }
        caret.offset = floor(&lines[caret.line].text, caret.offset);
    }
}

/// The last start of a character up to this offset.
fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap()
}

#[derive(Clone)]
struct TraceClock(Arc<AtomicI64>);

impl Clock for TraceClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// The blocks of the caret before and after a step of undo.
#[derive(Clone, Copy)]
struct StepBlocks {
    number: u64,
    before: BlockId,
    after: BlockId,
}

/// An editor on the library, which follows the naive one.
struct LibraryEditor {
    notes: Connection,
    undo: UndoManager,
    document: DocumentId,
    clock: TraceClock,
    /// The block of the caret, and all blocks in order.
    block: BlockId,
    blocks: Vec<BlockId>,
    done: Vec<StepBlocks>,
    undone: Vec<StepBlocks>,
}

impl LibraryEditor {
    fn new(window: Duration) -> Self {
        let clock = TraceClock(Arc::new(AtomicI64::new(1_767_225_600_000)));
        let space = Space::builder().clock(clock.clone()).in_memory().unwrap();
        let host = space.connect();
        let document = host.create_document("Page").unwrap().id();
        let block = host.insert_markdown("x", document).unwrap()[0].id;
        host.update_markdown(block, "").unwrap();
        let undo = host.undo_manager().joining_within(window);
        let (notes, blocks) = (undo.notes().clone(), vec![block]);
        Self { notes, undo, document, clock, block, blocks, done: Vec::new(), undone: Vec::new() }
    }

    /// Does what the naive editor has done.
    fn apply(&mut self, effect: &Effect) -> leafbase::Result<()> {
        let (notes, block) = (&self.notes, self.block);
        match effect {
            Effect::None => {}
            Effect::Undo => drop(self.undo.undo()?),
            Effect::Redo => drop(self.undo.redo()?),
            Effect::Write(text) => {
                let mut patch = BlockPatch::of(block);
                patch.fields.inline = Some(leafbase_markdown::inline_of_plain(text).into_owned());
                notes.update_blocks(UpdateBlocks::new([patch]))?;
            }
            Effect::Split(offset) => {
                self.block = notes.split_block(SplitBlock::new(block, *offset))?[1].id;
            }
            Effect::Merge => self.block = notes.merge_block(MergeBlock::from(block))?[0].id,
            Effect::Indent(levels) => {
                notes.indent_blocks(IndentBlocks::from(block).by(*levels))?;
            }
            Effect::Shift(is_down) => {
                let up = ShiftBlocks::from(block);
                notes.shift_blocks(if *is_down { up.down() } else { up })?;
            }
            Effect::Duplicate => {
                self.block = notes.duplicate_blocks(DuplicateBlocks::from(block))?[0].id;
            }
            Effect::List(list) => {
                let patch = BlockPatch::of(block).with_list_style(*list);
                notes.update_blocks(UpdateBlocks::new([patch]))?;
            }
            Effect::Heading(is_heading) => {
                let style = if *is_heading { TextStyle::H1 } else { TextStyle::Body };
                let patch = BlockPatch::of(block).with_text_style(style);
                notes.update_blocks(UpdateBlocks::new([patch]))?;
            }
        }
        Ok(())
    }

    /// Where the caret goes: with the step that was undone or redone, or to another line.
    fn move_caret(&mut self, effect: &Effect, naive: &NaiveEditor, before: BlockId) {
        match effect {
            Effect::None => self.block = self.blocks[naive.screen.caret.line],
            Effect::Undo => {
                let step = self.done.pop().unwrap();
                self.block = step.before;
                self.undone.push(step);
            }
            Effect::Redo => {
                let step = self.undone.pop().unwrap();
                self.block = step.after;
                self.done.push(step);
            }
            _ => {
                self.undone.clear();
                let (number, after) = (naive.undo.last().unwrap().number, self.block);
                match self.done.last_mut().filter(|step| step.number == number) {
                    Some(step) => step.after = after,
                    None => self.done.push(StepBlocks { number, before, after }),
                }
            }
        }
    }

    /// The lines as they are.
    fn lines(&mut self) -> Vec<NaiveLine> {
        let page = self.notes.fetch(Fetch::new(self.document)).unwrap();
        self.blocks = page.children().iter().map(|block| block.id).collect();
        let line = |block: &Block| NaiveLine {
            text: PlainText::of(&block.data.inline).into_string(),
            list: block.data.list_style,
            is_heading: block.data.text_format().is_some_and(|it| it.style == TextStyle::H1),
            indentation: block.data.indentation,
        };
        page.children().iter().map(line).collect()
    }

    /// What differs at the caret.
    fn fault(&self, screen: &Screen) -> Option<String> {
        let line = self.blocks.iter().position(|block| *block == self.block);
        if line != Some(screen.caret.line) {
            return Some(format!("the caret is in line {line:?}, not {}", screen.caret.line));
        }
        let block = self.notes.fetch(Fetch::new(self.block)).unwrap();
        let (text, expected) = (PlainText::of(&block.data.inline), &screen.lines[line?].text);
        (text.as_str() != expected).then(|| format!("{:?} and not {expected:?}", text.as_str()))
    }
}

/// What the library is told other than the naive editor, in controls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReplayFault {
    None,
    /// Every thousandth key is lost.
    LostKeys,
    /// Each edit is a step of undo.
    NoGroups,
    /// The caret does not end a step.
    NoEnds,
}

/// Replays the trace. The last screen, with how many steps of undo were kept, or the first
/// difference.
fn replay(fault: ReplayFault) -> Result<(LibraryEditor, NaiveEditor), String> {
    let window = if fault == ReplayFault::NoGroups { 0 } else { WINDOW_MILLIS };
    let mut library = LibraryEditor::new(Duration::from_millis(window.unsigned_abs()));
    let mut naive = NaiveEditor::new();
    let mut keys = 0;
    for press in presses(TRACE) {
        let millis = if press == Press::Pause { PAUSE_MILLIS } else { KEY_MILLIS };
        let now = library.clock.0.fetch_add(millis, Ordering::Relaxed) + millis;
        if press == Press::Pause {
            continue;
        }
        keys += 1;
        let is_end = naive.ends_step(&press);
        if is_end && fault != ReplayFault::NoEnds {
            library.undo.end_step();
        }
        let effect = naive.press(&press, now);
        let (before, at) = (library.block, format!("key {keys}, {press:?}, {effect:?}"));
        if fault != ReplayFault::LostKeys || keys % 1_000 != 0 {
            library.apply(&effect).map_err(|error| format!("{at}: {error:?}"))?;
        }
        library.move_caret(&effect, &naive, before);
        let is_in_line = matches!(effect, Effect::None | Effect::Write(_));
        if !is_in_line || keys % KEYS_PER_LOOK == 0 {
            let lines = library.lines();
            let differs = lines.iter().zip(&naive.screen.lines).find(|(one, other)| one != other);
            if lines.len() != naive.screen.lines.len() || differs.is_some() {
                return Err(format!("{at}: {differs:?}"));
            }
        }
        if let Some(differs) = library.fault(&naive.screen) {
            return Err(format!("{at}: {differs}"));
        }
    }
    assert_eq!(keys, KEYS);
    Ok((library, naive))
}

#[test]
fn a_session_of_ten_thousand_keys_keeps_text_caret_and_undo() {
    let (mut library, naive) = replay(ReplayFault::None).unwrap_or_else(|error| panic!("{error}"));
    let text = library.notes.content_markdown(library.document).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/editing/trace_end.md");
    if std::env::var("TRACE").as_deref() == Ok("write") {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(path).unwrap());
    // All that is kept is undone, and redone.
    let (oldest, mut steps) = (naive.undo.first().unwrap().before.clone(), 0);
    while library.undo.undo().unwrap().is_some() {
        steps += 1;
    }
    assert_eq!((steps, library.lines()), (naive.undo.len(), oldest.lines));
    while library.undo.redo().unwrap().is_some() {
        steps -= 1;
    }
    // What was undone at the end of the session comes back, too.
    let newest = naive.redo.first().map_or(&naive.screen, |step| &step.after);
    assert_eq!((steps, library.lines()), (0, newest.lines.clone()));
    assert!(library.notes.space().check().unwrap().is_clean());
    println!("{} steps, {} lines", naive.undo.len(), naive.screen.lines.len());
}

/// The controls: what differs is noticed.
#[test]
fn a_replay_with_a_fault_differs() {
    for fault in [ReplayFault::LostKeys, ReplayFault::NoGroups, ReplayFault::NoEnds] {
        assert!(replay(fault).is_err());
    }
}
