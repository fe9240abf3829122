//! Every operation of the disk that a call does fails, once and for good: the answer is definite,
//! nothing is lost, and the space goes on.

use std::io;

use leafbase::{ErrorKind, Position, Result, Space};
use leafbase_store::testkit::{Disk, Fault as DiskFault, Loss};
use tests::reading::{ask, questions};

use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};
use crate::running::finish_part;
use crate::world::calls::{CALLS, Call, Things};
use crate::world::machine::{Machine, Setting};
use crate::world::scan::{check, unopenable};

pub const KIND: Kind = Kind {
    name: "io_errors",
    says: "each operation of the disk in each call fails, once and for good",
    weight: 2,
    // Each call on a durable space and on a relaxed one.
    least: Least::Calls(CALLS.len() as u64 * 2),
    trial: |seed| Sweep::new(seed, false)?.run(),
    control: Some(Control {
        says: "a disk whose syncs fail and say that they did not",
        trial: |seed| Sweep::new(seed, true)?.run(),
    }),
};

/// So little memory makes reads go to the disk.
const CACHE: usize = 16 << 10;

/// One call, with all the operations that it does.
struct Sweep {
    name: &'static str,
    call: Call,
    setting: Setting,
    /// The space before the call.
    disk: Disk,
    things: Things,
    before: u64,
    after: u64,
    /// What the rows said before the call.
    meaning: Vec<String>,
    answer: Result<String>,
    lies: bool,
}

impl Sweep {
    fn new(seed: u64, lies: bool) -> std::result::Result<Self, Failure> {
        let number = usize::try_from(seed % CALLS.len() as u64).unwrap_or_default();
        let is_relaxed = !lies && seed / CALLS.len() as u64 % 2 == 1;
        let (name, call) = CALLS[if lies { 0 } else { number }];
        let setting = Setting { cache_bytes: CACHE, ..Setting::new(is_relaxed) };
        // Each round on a store of another shape.
        let more = seed / CALLS.len() as u64 % 8;
        Self::prepare(name, call, setting, (lies, more)).map_err(|error| unopenable(&error, name))
    }

    fn prepare(
        name: &'static str,
        call: Call,
        setting: Setting,
        (lies, more): (bool, u64),
    ) -> Result<Self> {
        let disk = Disk::new();
        let machine = Machine::create(&disk, &setting)?;
        let things = Things::make(&machine.notes())?;
        for number in 0..more {
            let document = machine.notes().create_document("dormouse")?;
            let text = "echidna\n\n".repeat(usize::try_from(number * number).unwrap_or_default());
            machine.notes().insert_markdown(&text, Position::end_of(document.id()))?;
        }
        machine.space.flush_search()?;
        // The index has something to catch up with.
        machine.notes().insert_markdown("marmoset", Position::end_of(things.other))?;
        machine.notes().insert_markdown("gazelle", Position::end_of(things.document))?;
        machine.space.close()?;
        drop(machine.store);
        // To ask takes the time from the clock, so that it is asked of another.
        let meaning = meaning(&Machine::open(&disk.copy(), &setting.same())?.space)?;
        let machine = Machine::open(&disk.copy(), &setting.same())?;
        let before = machine.digest()?;
        let answer = call(&machine.notes(), &things);
        let after = machine.digest()?;
        Ok(Self { name, call, setting, disk, things, before, after, meaning, answer, lies })
    }

    fn run(&self) -> std::result::Result<Trial, Failure> {
        let mut trial = Trial::default();
        for fault in [DiskFault::Once, DiskFault::From] {
            for number in 1.. {
                if !self.fail(fault, number, &mut trial)? {
                    break;
                }
                trial.trials += 1;
                finish_part();
            }
        }
        Ok(trial)
    }

    /// Does the call while operation `number` of it fails; false if it has fewer.
    fn fail(
        &self,
        fault: fn(u64) -> DiskFault,
        number: u64,
        trial: &mut Trial,
    ) -> std::result::Result<bool, Failure> {
        let (disk, setting) = (self.disk.copy(), self.setting.same());
        let when = format!(
            "{}, {:?} ({})",
            self.name,
            fault(number),
            if setting.is_relaxed { "relaxed" } else { "durable" }
        );
        let failed = |error: leafbase::Error| unopenable(&error, &when);
        let machine = Machine::open(&disk, &setting).map_err(failed)?;
        if self.lies {
            disk.ignore_one_sync_in(1);
        }
        disk.fail(fault(disk.operations() + number), io::ErrorKind::Other);
        let answer = (self.call)(&machine.notes(), &self.things);
        if disk.failures() == 0 && !self.lies || number > 2_000 {
            return Ok(false);
        }
        disk.heal();
        let applied = self.judge(&machine, &answer, &when)?;
        trial.note(if answer.is_ok() { "succeeded all the same" } else { "errors" }, 1);
        self.goes_on(machine, applied, &when)?;
        Ok(true)
    }

    /// Compares what was answered with what is stored now: gives that back.
    fn judge(
        &self,
        machine: &Machine,
        answer: &Result<String>,
        when: &str,
    ) -> std::result::Result<u64, Failure> {
        let failed = |error: leafbase::Error| unopenable(&error, when);
        // What is left of an upload is swept when the space is opened.
        let found = match self.name {
            "upload_file" => {
                machine.space.flush().map_err(failed)?;
                let copy =
                    Machine::open(&machine.disk.copy(), &self.setting.same()).map_err(failed)?;
                copy.digest().map_err(failed)?
            }
            _ => machine.digest().map_err(failed)?,
        };
        match answer {
            Ok(text) if found != self.after => {
                let fault = if found == self.before { Fault::Lost } else { Fault::HalfApplied };
                Err(Failure::new(
                    fault,
                    format!("{when}: it answers {text}, and something else is stored"),
                ))
            }
            Ok(text) if !self.is_told_alike(text) => Err(Failure::new(
                Fault::WrongData,
                format!("{when}: it answers {text}, not {:?}", self.answer),
            )),
            Ok(_) => Ok(found),
            Err(error) if !matches!(error.kind(), ErrorKind::Storage | ErrorKind::NoSpace) => {
                Err(Failure::new(
                    Fault::WrongData,
                    format!("{when}: an I/O error is told as {error:?}"),
                ))
            }
            Err(error) => {
                let is_open = error.message().contains("whether this write took place");
                if found == self.before || found == self.after && is_open {
                    return Ok(found);
                }
                // Imports are several calls, each whole.
                if self.name == "import_from" {
                    return Ok(found);
                }
                // It changes how rows lie, in several writes, and nothing of what they say.
                if self.name == "compact"
                    && meaning(&machine.space).map_err(failed)? == self.meaning
                {
                    return Ok(found);
                }
                Err(Failure::new(
                    Fault::HalfApplied,
                    format!("{when}: after {error:?} something of it is stored"),
                ))
            }
        }
    }

    fn is_told_alike(&self, text: &str) -> bool {
        // How many bytes the file has is told, and depends on how often it was opened.
        self.name == "stats" || self.answer.as_ref().is_ok_and(|answer| answer == text)
    }

    /// The same handle writes again, and what it writes survives.
    fn goes_on(
        &self,
        machine: Machine,
        found: u64,
        when: &str,
    ) -> std::result::Result<(), Failure> {
        let failed = |error: leafbase::Error| unopenable(&error, when);
        let made = machine.notes().create_document("after").map_err(failed)?.id();
        machine.space.flush().map_err(failed)?;
        check(&machine.space, when)?;
        let written = machine.digest().map_err(failed)?;
        if written == found {
            return Err(Failure::new(Fault::Lost, format!("{when}: a later call changed nothing")));
        }
        let disk = machine.disk.moment().after(Loss::Unsynced, 0);
        drop(machine);
        let machine = Machine::open(&disk, &self.setting.same()).map_err(failed)?;
        let stored = machine.digest().map_err(failed)?;
        // An upload that was given up is swept by opening.
        if stored != written && self.name != "upload_file"
            || machine.notes().document(made).is_err()
        {
            return Err(Failure::new(
                Fault::Lost,
                format!("{when}: a loss of power later takes something along"),
            ));
        }
        check(&machine.space, when)
    }
}

/// Everything that a reader sees of the space, however its rows lie.
fn meaning(space: &Space) -> Result<Vec<String>> {
    let notes = space.connect();
    questions(space)?.iter().map(|question| ask(&notes, question)).collect()
}
