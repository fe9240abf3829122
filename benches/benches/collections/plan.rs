//! What both are filled with: projects and their tasks, made from a seed.

use benches::workload::{Generator, Rng};

pub const STATES: [&str; 8] =
    ["Idea", "Open", "Ready", "Doing", "Waiting", "Review", "Done", "Dropped"];
pub const TAGS: [&str; 6] = ["home", "work", "garden", "errand", "phone", "someday"];
/// Days that tasks are due on, three years of them.
const FIRST_DAY: i64 = 20_000;
const DAYS: usize = 1_096;
/// In the notes of one task in ten thousand.
pub const RARE: &str = "quokka";
/// Tasks have an effort of a tenth up to this.
pub const MOST_EFFORT: usize = 1_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub title: String,
    pub notes: String,
    pub effort: Option<f64>,
    pub is_billable: bool,
    pub due: Option<i64>,
    pub link: Option<String>,
    pub contact: Option<String>,
    pub state: Option<&'static str>,
    pub tags: Vec<&'static str>,
    /// By number.
    pub projects: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    pub title: String,
    pub budget: f64,
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub projects: Vec<Project>,
    pub tasks: Vec<Task>,
}

impl Plan {
    /// So many tasks, twenty to a project.
    pub fn new(tasks: usize) -> Self {
        let mut make = Generator::new(11);
        let projects: Vec<_> = (0..tasks.div_ceil(20)).map(|at| project(&mut make, at)).collect();
        let tasks = (0..tasks).map(|at| task(&mut make, at, projects.len())).collect();
        Self { projects, tasks }
    }

    /// The tasks of a project, by number.
    pub fn tasks_of(&self, project: usize) -> Vec<usize> {
        let tasks = self.tasks.iter().enumerate();
        tasks.filter(|(_, task)| task.projects.contains(&project)).map(|(at, _)| at).collect()
    }
}

/// Words that begin with a capital and end with a number, so that no two are alike.
fn title(make: &mut Generator, bytes: usize, at: usize) -> String {
    let words = make.words.text(&mut make.rng, bytes);
    let (first, rest) = words.trim_end().split_at(1);
    format!("{}{rest} {at:06}", first.to_uppercase())
}

fn project(make: &mut Generator, at: usize) -> Project {
    Project { title: title(make, 16, at), budget: make.rng.below(100_000) as f64 }
}

/// One in `of`.
fn chance(rng: &mut Rng, of: usize) -> bool {
    rng.below(of) == 0
}

fn task(make: &mut Generator, at: usize, projects: usize) -> Task {
    let title = title(make, 24, at);
    let mut notes = make.words.text(&mut make.rng, 63).trim_end().to_owned();
    if at % 10_007 == 3 {
        notes = format!("{notes} {RARE}");
    }
    let rng = &mut make.rng;
    let mut tags: Vec<_> = TAGS.into_iter().filter(|_| chance(rng, 4)).collect();
    tags.reverse();
    let mut related = vec![rng.below(projects)];
    match rng.below(10) {
        0 => related.clear(),
        1 => related.extend([(related[0] + 1) % projects].iter().filter(|_| projects > 1)),
        _ => {}
    }
    Task {
        title,
        notes,
        effort: (!chance(rng, 10)).then(|| effort(rng)),
        is_billable: chance(rng, 2),
        due: (!chance(rng, 5)).then(|| day(rng)),
        link: chance(rng, 3).then(|| format!("https://example.org/tasks/{at}")),
        contact: chance(rng, 3).then(|| format!("ada.{at}@example.org")),
        state: (!chance(rng, 20)).then(|| *rng.pick(&STATES)),
        tags,
        projects: related,
    }
}

/// A number with one place behind the point.
pub fn effort(rng: &mut Rng) -> f64 {
    rng.below(MOST_EFFORT * 10) as f64 / 10.0
}

pub fn day(rng: &mut Rng) -> i64 {
    FIRST_DAY + rng.below(DAYS) as i64
}

/// The first day of the second year, for queries that begin there.
pub const SECOND_YEAR: i64 = FIRST_DAY + 365;
