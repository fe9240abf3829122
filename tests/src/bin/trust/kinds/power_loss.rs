//! Power is lost at any operation of the disk: while calls run, while a space opens again, and up
//! to three times in a row.

use std::io;
use std::time::{Duration, Instant};

use leafbase::Durability;
use leafbase_store::testkit::{Disk, Fault as DiskFault, Loss, Moment};

use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};
use crate::random::Random;
use crate::world::machine::{Machine, Setting};
use crate::world::scan::{altered_searches, check, unopenable};
use crate::world::work;

pub const KIND: Kind = Kind {
    name: "power_loss",
    says: "power is lost at any operation of the disk, five ways, up to three times in a row",
    weight: 4,
    least: Least::Trials(20_000),
    trial: |seed| shrunk(&Plan::new(seed)),
    control: Some(Control {
        says: "a disk that ignores one sync in seven",
        trial: |seed| Run::of(&Plan { lies: true, ..Plan::new(seed) }),
    }),
};

/// An index that lacks a change is noticed by the searches after it, with or without a loss of
/// power.
pub const SKIPPING: Kind = Kind {
    name: "search_index",
    says: "as power_loss, with much work of the search index between",
    weight: 2,
    least: Least::Trials(2_000),
    trial: |seed| shrunk(&Plan { indexes: true, ..Plan::new(seed) }),
    control: Some(Control {
        says: "searches that lose a hit",
        trial: |seed| Run::of(&Plan { indexes: true, loses_a_hit: true, ..Plan::new(seed) }),
    }),
};

/// The calls of a first life.
const STEPS: usize = 24;
/// Losses of power in a row.
const MOST_LOSSES: usize = 3;
/// How long a smaller sequence that fails is looked for.
const SHRINKING: Duration = Duration::from_secs(20);

/// What is done.
#[derive(Clone)]
struct Plan {
    seed: u64,
    /// A seed for each call of the first life.
    steps: Vec<u64>,
    lies: bool,
    loses_a_hit: bool,
    indexes: bool,
}

impl Plan {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let steps = (0..STEPS).map(|_| random.next()).collect();
        Self { seed, steps, lies: false, loses_a_hit: false, indexes: false }
    }
}

/// Runs a plan; of one that fails, smaller ones, as long as they fail alike.
fn shrunk(plan: &Plan) -> Result<Trial, Failure> {
    let failure = match Run::of(plan) {
        Ok(trial) => return Ok(trial),
        Err(failure) => failure,
    };
    let (mut plan, mut failure, started) = (plan.clone(), failure, Instant::now());
    let mut at = plan.steps.len();
    while at > 0 && started.elapsed() < SHRINKING {
        at -= 1;
        let mut smaller = plan.clone();
        smaller.steps.remove(at);
        if let Err(other) = Run::of(&smaller)
            && other.fault == failure.fault
        {
            (plan, failure) = (smaller, other);
        }
    }
    Err(failure)
}

/// A call that has returned, or been refused.
struct Call {
    /// Operations of the disk by then.
    operations: u64,
    /// All that was stored then.
    digest: u64,
    /// Whether all of that survives.
    durable: bool,
}

struct Run<'p> {
    plan: &'p Plan,
    setting: Setting,
    trial: Trial,
    random: Random,
    /// What was done, life by life.
    told: Vec<String>,
}

impl<'p> Run<'p> {
    fn of(plan: &'p Plan) -> Result<Trial, Failure> {
        let mut random = Random::new(plan.seed ^ 0x5EED);
        let setting = Setting::new(random.one_in(2));
        let mut run = Self { plan, setting, trial: Trial::default(), random, told: Vec::new() };
        let outcome = run.first_life();
        let Self { trial, told, setting, .. } = run;
        let durability = if setting.is_relaxed { "relaxed" } else { "durable" };
        let tell = |failure: Failure| {
            let what = format!("{}\n  ({durability})\n  {}", failure.what, told.join("\n  "));
            Failure { what, ..failure }
        };
        outcome.map(|()| trial).map_err(tell)
    }

    fn first_life(&mut self) -> Result<(), Failure> {
        let disk = Disk::new();
        // A space is made under another name, and gets its own when all of it is durable: before,
        // nothing of it is there.
        let made = Machine::create(&disk, &self.setting).and_then(|machine| machine.space.close());
        made.map_err(|error| unopenable(&error, "made"))?;
        let made = disk.moment().after(self.loss(), self.random.next());
        if self.plan.lies {
            made.ignore_one_sync_in(7);
        }
        let steps = self.plan.steps.clone();
        self.live(&made, &steps, 0, None)
    }

    fn loss(&mut self) -> Loss {
        Loss::ALL[self.random.place(Loss::ALL.len())]
    }

    /// Opens the space on `disk`, which holds one of the states `expected`, works with it, and lets
    /// power be lost on the way.
    fn live(
        &mut self,
        disk: &Disk,
        steps: &[u64],
        losses: usize,
        expected: Option<&Expected>,
    ) -> Result<(), Failure> {
        let when = expected.map_or_else(|| "made".to_owned(), |expected| expected.when.clone());
        let machine =
            Machine::open(disk, &self.setting).map_err(|error| unopenable(&error, &when))?;
        let found = machine.digest().map_err(|error| unopenable(&error, &when))?;
        if let Some(expected) = expected {
            self.judge(expected, found)?;
            self.look(&machine, &when)?;
        }
        let mut life = vec![Call { operations: disk.operations(), digest: found, durable: true }];
        for seed in steps {
            // One call in three meets the end, and so do those that take many operations.
            let ahead = 1 + self.random.below(40);
            if losses < MOST_LOSSES {
                disk.await_operation(disk.operations() + ahead);
            }
            life.push(self.call(&machine, *seed, &life)?);
        }
        let moments = disk.moments();
        drop(machine);
        if losses < MOST_LOSSES {
            moments.iter().try_for_each(|moment| self.lose(moment, &life, losses))?;
        }
        Ok(())
    }

    fn call(&mut self, machine: &Machine, seed: u64, life: &[Call]) -> Result<Call, Failure> {
        // One call in four promises the other thing.
        let is_relaxed = self.setting.is_relaxed != seed.rotate_right(7).is_multiple_of(4);
        let promised = if is_relaxed { Durability::Relaxed } else { Durability::Durable };
        let notes = machine.notes().with_durability(promised);
        let done = if self.plan.indexes && seed.is_multiple_of(3) {
            let outcome = machine.space.flush_search();
            work::Done {
                what: "index".to_owned(),
                outcome,
                makes_durable: false,
                is_of_the_space: true,
            }
        } else {
            work::step(&notes, seed)
        };
        let when = format!("after `{}`", done.what);
        let digest = machine.digest().map_err(|error| unopenable(&error, &when))?;
        self.told.push(format!("{}: {}", machine.disk.operations(), done.what));
        if let Err(error) = &done.outcome
            && life.last().is_some_and(|last| last.digest != digest)
        {
            return Err(Failure::new(
                Fault::HalfApplied,
                format!("{when}, which was refused: {error:?}"),
            ));
        }
        let is_relaxed = if done.is_of_the_space { self.setting.is_relaxed } else { is_relaxed };
        // What changes nothing makes nothing durable either.
        let stays = life.last().filter(|last| last.digest == digest).map(|last| last.durable);
        let durable = done.outcome.is_ok() && (done.makes_durable || stays.unwrap_or(!is_relaxed));
        Ok(Call { operations: machine.disk.operations(), digest, durable })
    }

    /// Lets power be lost at this moment, in some of the ways.
    fn lose(&mut self, moment: &Moment, life: &[Call], losses: usize) -> Result<(), Failure> {
        let times = if losses == 0 { 2 } else { 1 };
        for _ in 0..times {
            let (loss, seed) = (self.loss(), self.random.next());
            let when = format!("power lost at operation {} ({loss:?})", moment.operations());
            let expected = Expected { when, ..Expected::at(moment, life, loss) };
            let after = moment.after(loss, seed);
            self.trial.trials += 1;
            let again = losses + 1;
            self.trial.note(
                ["", "lost once", "lost twice in a row", "lost three times in a row"][again],
                1,
            );
            let told = self.told.len();
            self.told.push(expected.when.clone());
            if again < MOST_LOSSES && self.random.one_in(3) {
                self.lose_while_opening(&after, &expected, again)?;
            }
            if self.plan.lies {
                after.ignore_one_sync_in(7);
            }
            let count = if again < MOST_LOSSES { 1 + self.random.place(3) } else { 1 };
            let steps: Vec<u64> = (0..count).map(|_| self.random.next()).collect();
            self.live(&after, &steps, again, Some(&expected))?;
            self.told.truncate(told);
        }
        Ok(())
    }

    /// Power is lost again before the space is open, or soon after.
    fn lose_while_opening(
        &mut self,
        disk: &Disk,
        expected: &Expected,
        losses: usize,
    ) -> Result<(), Failure> {
        let disk = disk.copy();
        let last = 1 + self.random.below(60);
        disk.await_operation(last);
        disk.fail(DiskFault::From(last), io::ErrorKind::Other);
        if let Ok(machine) = Machine::open(&disk, &self.setting) {
            // What is read before the end is judged as ever.
            if let Ok(found) = machine.digest() {
                self.judge(expected, found)?;
            }
            let _ = machine.space.flush_search();
        }
        let Some(moment) = disk.moments().pop() else { return Ok(()) };
        self.trial.note("lost while opening", 1);
        self.trial.trials += 1;
        let after = moment.after(self.loss(), self.random.next());
        let when = format!("{}, and again at operation {last} of opening", expected.when);
        let expected = Expected { when, ..expected.clone() };
        let steps = [self.random.next()];
        self.live(&after, &steps, losses + 1, Some(&expected))
    }

    /// What was found after a loss of power is one of the states that may be there.
    fn judge(&mut self, expected: &Expected, found: u64) -> Result<(), Failure> {
        let when = &expected.when;
        match expected.states.iter().position(|state| *state == found) {
            Some(at) => {
                let last = expected.acknowledged;
                let what = match at {
                    at if at > last => "call in flight is there",
                    at if at < last => "relaxed calls gone",
                    _ => "last call is there",
                };
                self.trial.note(what, 1);
                Ok(())
            }
            None if expected.before.contains(&found) => {
                Err(Failure::new(Fault::Lost, format!("{when}: an acknowledged call is gone")))
            }
            None => {
                Err(Failure::new(Fault::HalfApplied, format!("{when}: a state that never was")))
            }
        }
    }

    /// Verifies all laws, and now and then what searches find.
    fn look(&mut self, machine: &Machine, when: &str) -> Result<(), Failure> {
        check(&machine.space, when)?;
        if self.plan.indexes || self.random.one_in(8) {
            self.trial.note("compared searches", 1);
            let newest = |machine: &Machine| {
                machine.disk.directories().ok().and_then(|all| all.into_iter().max())
            };
            let before = newest(machine);
            let loses_a_hit = self.plan.loses_a_hit;
            altered_searches(&machine.notes(), &mut self.random, 4, when, |found| {
                if loses_a_hit {
                    found.pop_last();
                }
            })?;
            if before.is_some() {
                let kept = newest(machine) == before;
                self.trial.note(if kept { "indexes went on" } else { "indexes made anew" }, 1);
            }
        }
        Ok(())
    }
}

/// What may be found after a loss of power.
#[derive(Clone)]
struct Expected {
    when: String,
    /// From the last one that must survive on.
    states: Vec<u64>,
    /// Which of them is that of the last call that returned.
    acknowledged: usize,
    /// Those that were there before.
    before: Vec<u64>,
}

impl Expected {
    /// Where nothing is lost, only the process has ended: no call that returned may be gone.
    fn at(moment: &Moment, life: &[Call], loss: Loss) -> Self {
        let returned = life.iter().take_while(|call| call.operations < moment.operations()).count();
        let survives = |call: &Call| call.durable || loss == Loss::Nothing;
        let durable = life.iter().take(returned).rposition(survives).unwrap_or_default();
        let digests = |calls: &[Call]| calls.iter().map(|call| call.digest).collect::<Vec<u64>>();
        let in_flight = (returned + 1).min(life.len());
        Self {
            when: String::new(),
            states: digests(life.get(durable..in_flight).unwrap_or_default()),
            acknowledged: returned.saturating_sub(1 + durable),
            before: digests(life.get(..durable).unwrap_or_default()),
        }
    }
}
