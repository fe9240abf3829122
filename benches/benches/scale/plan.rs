//! What a space of a given number of documents holds: all grows with it, but the folders, and what
//! some questions are about.

use benches::workload::{Rng, TEXT_BYTES, Words};

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// The day that it is, counted from 1970: 2026-11-21. Every instant of the plan is before it.
pub const TODAY: i64 = 20_778;
/// The quiet days in which as many documents are made at every size: January 2026.
pub const QUIET: (i64, i64) = (20_454, 20_484);
/// Documents made before this day did not change for a long time: 2025-07-01.
pub const LATELY: i64 = 20_270;
/// The first instant of the day that it is, at noon.
pub const NOON: i64 = TODAY * DAY + DAY / 2;

/// Folders: 8 at the top, 4 in each of them, 5 in each of those; and one more.
pub const FOLDERS: usize = 201;
/// The folder of which every size has 60 documents, made and changed at any time.
pub const BOX: usize = 200;
/// Documents in the box.
const BOXED: usize = 60;
/// Documents of the quiet days, one after another: 72 of them unsorted.
const QUIET_DOCUMENTS: usize = 160;
/// Open tasks of the inbox.
const WAITING: usize = 60;
/// Documents of which one has a comment.
const COMMENTED: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Unsorted,
    Templates,
    Folder(usize),
    /// In the trash, out of this folder.
    Trash(usize),
    /// The note of this day.
    Note(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Todo,
    Done,
    Canceled,
}

#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub state: State,
    pub scheduled: Option<i64>,
    pub deadline: Option<i64>,
    /// When it was done or given up.
    pub closed: Option<i64>,
}

impl Task {
    /// The day that an open task is listed under.
    pub fn due(&self) -> Option<i64> {
        self.scheduled.or(self.deadline).filter(|_| self.state == State::Todo)
    }
}

#[derive(Clone, Debug)]
pub struct Text {
    pub markdown: String,
    pub task: Option<Task>,
}

#[derive(Clone, Debug)]
pub struct Document {
    pub title: String,
    pub place: Place,
    pub created: i64,
    /// When its first block got the word `again`, or it came into the trash.
    pub changed: Option<i64>,
    pub blocks: Vec<Text>,
    pub has_comment: bool,
}

#[derive(Debug)]
pub struct Plan {
    pub documents: Vec<Document>,
    pub inbox: Vec<Text>,
    /// The document with twenty tasks among its thirty blocks.
    pub busy: usize,
}

/// The folder that folder `at` is in.
pub fn parent(at: usize) -> Option<usize> {
    match at {
        8..40 => Some((at - 8) / 4),
        40..200 => Some(8 + (at - 40) / 5),
        _ => None,
    }
}

pub fn folder_name(at: usize) -> String {
    format!("Folder {at:03}")
}

/// Makes the documents, oldest first.
struct Maker {
    rng: Rng,
    words: Words,
    size: usize,
    notes: i64,
    foldered: usize,
    boxed: usize,
    closed: usize,
}

impl Plan {
    /// # Panics
    /// With fewer than 1,000 documents: answers of fifty need them.
    pub fn new(size: usize) -> Self {
        assert!(size >= 1000 && size.is_multiple_of(1000), "sizes are thousands of documents");
        let mut rng = Rng::new(11);
        let words = Words::new(&mut rng, 30_000);
        let mut maker = Maker { rng, words, size, notes: 0, foldered: 0, boxed: 0, closed: 0 };
        let mut documents: Vec<Document> = (0..size).map(|at| maker.document(at)).collect();
        let busy = documents
            .iter()
            .position(|document| document.place == Place::Folder(BOX))
            .expect("a box");
        documents[busy].blocks = (0..30).map(|at| maker.busy_text(at)).collect();
        let inbox = (0..WAITING + size / 20).map(|at| maker.inbox_task(at)).collect();
        Self { documents, inbox, busy }
    }

    /// Documents of folders whose third block is an open task: writes go to these.
    pub fn targets(&self) -> Vec<usize> {
        let is_target = |at: &usize| {
            let document = &self.documents[*at];
            let is_plain = matches!(document.place, Place::Folder(folder) if folder != BOX);
            is_plain && document.blocks[2].task.is_some_and(|task| task.state == State::Todo)
        };
        (0..self.documents.len()).filter(is_target).collect()
    }

    pub fn blocks(&self) -> usize {
        self.documents.iter().map(|document| document.blocks.len() + 1).sum::<usize>()
            + self.inbox.len()
            + 1
    }
}

impl Maker {
    fn document(&mut self, at: usize) -> Document {
        let place = self.place(at);
        let created = self.created(at);
        let changes = match place {
            Place::Trash(_) => true,
            Place::Note(_) | Place::Templates => false,
            Place::Unsorted | Place::Folder(_) => !self.is_quiet(at) && self.rng.below(2) == 0,
        };
        // Changes come after everything was made, each at its own instant and in no order of the
        // making.
        let changed = changes.then(|| (TODAY - 10) * DAY + (at as i64 * 7919 % 1_000_003) * 700);
        let mut blocks: Vec<Text> = (0..4).map(|_| self.text()).collect();
        blocks[2].task = Some(self.task());
        let title = format!("{at:06} {}", self.sentence(24));
        Document {
            title,
            place,
            created,
            changed,
            blocks,
            has_comment: at.is_multiple_of(COMMENTED),
        }
    }

    fn place(&mut self, at: usize) -> Place {
        match at % 20 {
            0 | 1 => {
                self.notes += 1;
                Place::Note(TODAY - (self.size / 10) as i64 + self.notes)
            }
            2 => Place::Templates,
            3 => Place::Trash(at % BOX),
            4..8 => Place::Unsorted,
            8..13 if self.is_quiet(at) => Place::Unsorted,
            _ => self.folder(),
        }
    }

    fn folder(&mut self) -> Place {
        self.foldered += 1;
        let all = self.size * 12 / 20 - QUIET_DOCUMENTS * 5 / 20;
        if self.boxed < BOXED && self.foldered.is_multiple_of(all / BOXED) {
            self.boxed += 1;
            return Place::Folder(BOX);
        }
        Place::Folder((self.foldered - self.boxed) % BOX)
    }

    fn is_quiet(&self, at: usize) -> bool {
        (self.size / 2..self.size / 2 + QUIET_DOCUMENTS).contains(&at)
    }

    /// Evenly over two years, the quiet days, and ten months.
    fn created(&self, at: usize) -> i64 {
        let spread = |from: i64, to: i64, at: usize, of: usize| {
            from * DAY + (to - from) * DAY / of as i64 * at as i64
        };
        let half = self.size / 2;
        match at.checked_sub(half) {
            None => spread(QUIET.0 - 730, QUIET.0, at, half),
            Some(at) if at < QUIET_DOCUMENTS => spread(QUIET.0, QUIET.1 + 1, at, QUIET_DOCUMENTS),
            Some(at) => {
                spread(QUIET.1 + 1, TODAY - 11, at - QUIET_DOCUMENTS, half - QUIET_DOCUMENTS)
            }
        }
    }

    fn sentence(&mut self, bytes: usize) -> String {
        let mut words = self.words.text(&mut self.rng, bytes);
        if words.ends_with(' ') {
            words.pop();
            words.push('x');
        }
        words
    }

    fn text(&mut self) -> Text {
        Text { markdown: self.sentence(TEXT_BYTES), task: None }
    }

    fn closed(&mut self, state: State) -> Task {
        self.closed += 1;
        let at = (TODAY - 60) * DAY + (self.closed as i64 * 7919 % 1_000_003) * 4_000;
        Task { state, scheduled: None, deadline: None, closed: Some(at) }
    }

    /// Half of the tasks are open, a third of all with a day.
    fn task(&mut self) -> Task {
        let chance = self.rng.below(100);
        let far = self.rng.below(365) as i64;
        let day = match chance {
            0..30 => None,
            30..45 => Some(TODAY - far),
            45..60 => Some(TODAY + 1 + far),
            60..95 => return self.closed(State::Done),
            _ => return self.closed(State::Canceled),
        };
        let is_planned = chance.is_multiple_of(2);
        let (scheduled, deadline) =
            if is_planned { (day, day.map(|day| day + 7)) } else { (None, day) };
        Task { state: State::Todo, scheduled, deadline, closed: None }
    }

    fn busy_text(&mut self, at: usize) -> Text {
        let mut text = self.text();
        text.task = (!at.is_multiple_of(3)).then(|| self.task());
        text
    }

    /// The open ones stand evenly among those that are done, which stay where they were.
    fn inbox_task(&mut self, at: usize) -> Text {
        let all = WAITING + self.size / 20;
        let is_open = at * WAITING / all != (at + 1) * WAITING / all;
        let open = Task { state: State::Todo, scheduled: None, deadline: None, closed: None };
        Text {
            markdown: self.sentence(40),
            task: Some(if is_open { open } else { self.closed(State::Done) }),
        }
    }
}
