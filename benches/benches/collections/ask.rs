//! The questions and the edits that are measured, and what each peer does with them.

use crate::plan::{self, Plan, Project, STATES, Task};
use benches::workload::Rng;
use leafbase::{AddItems, UpdateItems};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A write survives a loss of power.
    Durable,
    /// It is not synced.
    Relaxed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// All tasks, or so many of them, in their order.
    Tasks(Option<usize>),
    /// All projects with the titles of their tasks.
    Projects,
    /// Twenty tasks of a state, by day.
    OfState(&'static str),
    /// The same by an index that is made for it, where there is one.
    OfStateByBoth(&'static str),
    /// The twenty after those, of the state that was settled.
    OfStateNext,
    /// Twenty tasks with an effort in a range, by title.
    OfEffort(f64, f64),
    /// The same in the order of the index by title, which `SQLite` does not choose by itself.
    OfEffortByTitle(f64, f64),
    /// Twenty tasks, the latest day first.
    Latest,
    /// Twenty tasks from a day on.
    From(i64),
    /// Twenty tasks of a tag, by title.
    OfTag(&'static str),
    /// The tasks of a project, by day.
    OfProject(usize),
    /// Twenty tasks with a word in their notes, which no index knows.
    Mentioning(&'static str),
    /// How many tasks are in each state.
    CountByState,
    /// How many tasks of a tag are in each state.
    CountOfTagByState(&'static str),
}

/// The state whose second page is asked for.
pub const SECOND: &str = "Doing";

/// A row's name, its question, and how many calls its figure is the median of.
pub fn queries() -> [(&'static str, Question, usize); 12] {
    let middle = plan::MOST_EFFORT as f64 / 2.0;
    [
        ("query: state =, by day", Question::OfState(SECOND), 40),
        ("query: state =, by day; SQLite has an index for it", Question::OfStateByBoth(SECOND), 40),
        ("query: state =, by day, second page", Question::OfStateNext, 40),
        ("query: 1 in 100 by effort, by title", Question::OfEffort(middle, middle + 9.9), 20),
        ("query: half by effort, by title", Question::OfEffort(0.0, middle), 20),
        (
            "query: half by effort, by title; SQLite is told which index",
            Question::OfEffortByTitle(0.0, middle),
            20,
        ),
        ("query: the latest day first", Question::Latest, 40),
        ("query: from a day on, by day", Question::From(plan::SECOND_YEAR), 40),
        ("query: tag, by title", Question::OfTag("garden"), 40),
        ("query: the tasks of a project, by day", Question::OfProject(7), 40),
        ("query: a word in the notes, no index", Question::Mentioning(plan::RARE), 10),
        ("count by state", Question::CountByState, 10),
    ]
}

/// Asked of both before anything is timed, beside what is timed.
pub fn others() -> [Question; 3] {
    [Question::Projects, Question::CountOfTagByState("home"), Question::OfState("Dropped")]
}

#[derive(Clone, Debug)]
pub enum Change {
    State(&'static str),
    Effort(f64),
    Day(i64),
    Title(String),
}

#[derive(Clone, Debug)]
pub enum Edit {
    AddProjects(Vec<Project>),
    Add(Vec<Task>),
    /// A task by its number.
    Update(usize, Change),
    /// What a task is related to, all of it: from the end that owns the relation.
    SetProjects(usize, Vec<usize>),
    /// What a project is related to, all of it: from the other end.
    SetTasks(usize, Vec<usize>),
}

/// An edit in the form that a peer takes it in, made before the time is taken.
pub enum Ready {
    /// The edit as it is.
    Same,
    Add(AddItems),
    Update(UpdateItems),
}

pub trait Answer {
    /// What both say alike.
    fn lines(&self) -> Vec<String>;
}

pub trait Peer {
    fn ready(&self, _edit: &Edit) -> Ready {
        Ready::Same
    }
    /// Gives the items as they then are.
    fn apply(&mut self, edit: &Edit, ready: Ready) -> Box<dyn Answer>;
    fn ask(&mut self, question: Question) -> Box<dyn Answer>;
    /// Everything survives a loss of power, and stands where it is read from after the next
    /// opening.
    fn flush(&mut self);
    /// Everything that must hold does.
    fn check(&self) {}
    /// Nothing is written any more: gets ready for questions, that for a second page among them.
    fn settle(&mut self);
}

pub type Open = fn(&Path, Mode) -> Box<dyn Peer>;

/// So many updates, each of one value: state, effort, day and title in turn.
pub fn updates(plan: &mut Plan, rng: &mut Rng, count: usize) -> Vec<Edit> {
    let edits = (0..count).map(|turn| {
        let at = rng.below(plan.tasks.len());
        let task = &mut plan.tasks[at];
        Edit::Update(at, change(task, rng, turn))
    });
    edits.collect()
}

fn change(task: &mut Task, rng: &mut Rng, turn: usize) -> Change {
    match turn % 4 {
        0 => Change::State(task.state.insert(STATES[rng.below(STATES.len())])),
        1 => Change::Effort(*task.effort.insert(plan::effort(rng))),
        2 => Change::Day(*task.due.insert(plan::day(rng))),
        _ => {
            // The words change places, the number stays last.
            let (words, number) = task.title.rsplit_once(' ').expect("a number");
            let (first, rest) = words.split_once(' ').unwrap_or((words, "again"));
            task.title = format!("{rest} {first} {number}");
            Change::Title(task.title.clone())
        }
    }
}

/// Tasks that get another project.
pub fn relations(plan: &mut Plan, rng: &mut Rng, count: usize) -> Vec<Edit> {
    let edits = (0..count).map(|_| {
        let (at, project) = (rng.below(plan.tasks.len()), rng.below(plan.projects.len()));
        plan.tasks[at].projects = vec![project];
        Edit::SetProjects(at, vec![project])
    });
    edits.collect()
}

/// Projects that lose a task and get another.
pub fn inverse_relations(plan: &mut Plan, rng: &mut Rng, count: usize) -> Vec<Edit> {
    let edits = (0..count).map(|_| {
        let project = rng.below(plan.projects.len());
        let mut tasks = plan.tasks_of(project);
        if !tasks.is_empty() {
            let gone = tasks.remove(rng.below(tasks.len()));
            plan.tasks[gone].projects.retain(|other| *other != project);
        }
        let new = rng.below(plan.tasks.len());
        if !tasks.contains(&new) {
            tasks.push(new);
            plan.tasks[new].projects.retain(|other| *other != project);
            plan.tasks[new].projects.push(project);
        }
        Edit::SetTasks(project, tasks)
    });
    edits.collect()
}
