//! Dates of tasks as the Tasks plugin of Obsidian writes them, at the end of a task's text:
//! `- [ ] pack 📅 2026-05-01`.

use leafbase::{BlockData, BlockDraft, BlockType, Day, TaskInfo, TaskState, Timestamp};

const DUE: char = '\u{1f4c5}';
const SCHEDULED: char = '\u{23f3}';
const DONE: char = '\u{2705}';
const CANCELED: char = '\u{274c}';

/// How files have the dates of tasks, which markdown has no syntax for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskDates {
    /// Files have none. An export warns of those that it leaves out.
    #[default]
    None,
    /// `📅 2026-05-01` for the due date, `⏳` for the scheduled date, `✅` and `❌` for the day in UTC
    /// on which the task was done or canceled, at the end of the task, before `^name`.
    Emoji,
}

/// Moves the dates of a task to its text.
pub(super) fn write(data: &mut BlockData) {
    let Some(task) = data.task.filter(|_| data.block_type() == BlockType::Text) else { return };
    let day = |time: Option<Timestamp>| time.map(day_of);
    let dates = [
        (SCHEDULED, task.schedule_date),
        (DUE, task.deadline_date),
        (DONE, day(task.completed_at)),
        (CANCELED, day(task.canceled_at)),
    ];
    let (words, name) = split_name(&data.inline);
    let mut text = words.to_owned();
    for (sign, date) in dates {
        if let Some(date) = date {
            let blank = if text.is_empty() { "" } else { " " };
            text.extend([blank, &sign.to_string(), " ", &date.to_string()]);
        }
    }
    text.push_str(name);
    data.inline = text;
    data.task = Some(TaskInfo::of_state(task.state));
}

/// Moves the dates at the end of each task's text to its fields.
pub(super) fn read(drafts: &mut [BlockDraft]) {
    let mut stack: Vec<&mut BlockDraft> = drafts.iter_mut().collect();
    while let Some(draft) = stack.pop() {
        read_block(&mut draft.data);
        stack.extend(draft.content.iter_mut());
    }
}

fn read_block(data: &mut BlockData) {
    let Some(mut task) = data.task.filter(|_| data.block_type() == BlockType::Text) else { return };
    let (words, name) = split_name(&data.inline);
    let mut rest = words;
    while let Some((before, sign, date)) = last_date(rest) {
        let is_new = match (sign, task.state) {
            (DUE, _) => set(&mut task.deadline_date, Some(date)),
            (SCHEDULED, _) => set(&mut task.schedule_date, Some(date)),
            (DONE, TaskState::Done) => set(&mut task.completed_at, Some(noon_of(date))),
            (CANCELED, TaskState::Canceled) => set(&mut task.canceled_at, Some(noon_of(date))),
            _ => false,
        };
        if !is_new {
            break;
        }
        rest = before;
    }
    if rest.len() < words.len() {
        let name = if rest.is_empty() { name.trim_start() } else { name };
        data.inline = [rest, name].concat();
        data.task = Some(task);
    }
}

/// Sets a field that has no value yet.
fn set<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    let is_new = field.is_none() && value.is_some();
    if is_new {
        *field = value;
    }
    is_new
}

/// Splits off the name of a block, ` ^name`, at the end of its text.
fn split_name(text: &str) -> (&str, &str) {
    let is_name = |name: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !name.is_empty() && name.bytes().all(is_part)
    };
    match text.rfind(" ^").and_then(|at| text.split_at_checked(at)) {
        Some((words, name)) if name.get(2..).is_some_and(is_name) => (words, name),
        _ => (text, ""),
    }
}

/// The sign and date at the end of a text, and the text before them.
fn last_date(text: &str) -> Option<(&str, char, Day)> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let text = text.trim_end_matches(BLANKS);
    let (before, date) = text.split_at_checked(text.len().checked_sub("2026-05-01".len())?)?;
    let date = date.parse().ok()?;
    // A selector of the form of an emoji may follow it.
    let before = before.trim_end_matches(BLANKS).trim_end_matches('\u{fe0f}');
    let sign = before.chars().next_back()?;
    let before = before.strip_suffix(sign)?;
    let is_apart = before.is_empty() || before.ends_with(BLANKS);
    is_apart.then_some((before.trim_end_matches(BLANKS), sign, date))
}

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

fn day_of(time: Timestamp) -> Day {
    Day::from_epoch_days(time.as_millis().div_euclid(DAY_MILLIS))
}

/// Noon in UTC, which is on that day in nearly every zone.
fn noon_of(day: Day) -> Timestamp {
    Timestamp::from_millis(day.epoch_days() * DAY_MILLIS + DAY_MILLIS / 2)
}
