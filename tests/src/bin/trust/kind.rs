//! What a kind of trials is, and what a trial shows.

use std::collections::BTreeMap;

/// Trials of one kind.
pub struct Kind {
    pub name: &'static str,
    /// What is done to a space, in a sentence.
    pub says: &'static str,
    /// Its share of the time.
    pub weight: u32,
    /// What a long run goes on for, also beyond its share of the time.
    pub least: Least,
    /// The same seed is the same trial.
    pub trial: fn(seed: u64) -> Result<Trial, Failure>,
    pub control: Option<Control>,
}

/// How much has to be seen before a kind says something.
#[derive(Clone, Copy, Debug)]
pub enum Least {
    Trials(u64),
    /// Calls of [`Kind::trial`], each with the next seed, however many trials each is.
    Calls(u64),
}

impl Least {
    pub const fn is_reached(self, trials: u64, calls: u64) -> bool {
        match self {
            Self::Trials(least) => trials >= least,
            Self::Calls(least) => calls >= least,
        }
    }
}

impl std::fmt::Display for Least {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Trials(least) => write!(f, "{least}"),
            Self::Calls(least) => write!(f, "{least} calls"),
        }
    }
}

/// Trials on something broken on purpose: run until one fails, which shows that the kind sees what
/// it is there to see.
pub struct Control {
    /// What is broken.
    pub says: &'static str,
    pub trial: fn(seed: u64) -> Result<Trial, Failure>,
}

/// What one call showed, where nothing was wrong.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// How many trials it was: a sweep counts each of its points.
    pub trials: u64,
    /// What happened on the way, and how often.
    pub notes: BTreeMap<&'static str, u64>,
}

impl Trial {
    pub fn note(&mut self, what: &'static str, times: u64) {
        *self.notes.entry(what).or_default() += times;
    }

    pub fn add(&mut self, other: &Self) {
        self.trials += other.trials;
        other.notes.iter().for_each(|(what, times)| self.note(what, *times));
    }
}

/// What was wrong. The board adds the seed.
#[derive(Clone, Debug)]
pub struct Failure {
    pub fault: Fault,
    /// What was found, and after which operations.
    pub what: String,
}

impl Failure {
    pub fn new(fault: Fault, what: impl Into<String>) -> Self {
        Self { fault, what: what.into() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A write that was acknowledged is gone.
    Lost,
    /// A call is there in part.
    HalfApplied,
    /// A space does not open, or does not go on.
    Unopenable,
    /// A wrong answer, told as if it were right.
    WrongData,
    Panic,
    Hang,
}

impl Fault {
    /// In the order of the table.
    pub const ALL: [Self; 6] =
        [Self::Lost, Self::HalfApplied, Self::Unopenable, Self::WrongData, Self::Panic, Self::Hang];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost acknowledged",
            Self::HalfApplied => "half-applied",
            Self::Unopenable => "unopenable",
            Self::WrongData => "silent wrong data",
            Self::Panic => "panics",
            Self::Hang => "hangs",
        }
    }
}
