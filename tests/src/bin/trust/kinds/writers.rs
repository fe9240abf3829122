//! Several writers at once, on a disk that fails or loses power: whatever they share a sync with,
//! each is told what is so.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread;

use leafbase::{
    BlockId, BlockPatch, Connection, Durability, Error, ErrorKind, Fetch, Result, UpdateBlocks,
};
use leafbase_store::testkit::{Disk, Fault as DiskFault, Loss};

use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};
use crate::random::Random;
use crate::world::machine::{Machine, Setting};
use crate::world::scan::{check, unopenable};

pub const KIND: Kind = Kind {
    name: "writers",
    says: "four writers at once, some of whose writes are relaxed, on a disk that fails now and then and loses power at any operation, five ways",
    weight: 2,
    least: Least::Trials(2_000),
    trial: |seed| Run::new(seed, false).play(),
    control: Some(Control {
        says: "a disk that ignores one sync in three",
        trial: |seed| Run::new(seed, true).play(),
    }),
};

const WRITERS: usize = 4;
const WRITES: u64 = 12;
const LOSSES: usize = 3;

/// What a writer was told.
#[derive(Clone, Debug, Default)]
struct Told {
    /// Writes that it was told of as done, and those of which nobody could say.
    done: u64,
    open: u64,
    /// Each write that was done, as long as none was left open.
    acknowledged: Vec<Acknowledged>,
}

#[derive(Clone, Debug)]
struct Acknowledged {
    /// Operations of the disk by then.
    operations: u64,
    /// How many were done by then.
    done: u64,
    is_relaxed: bool,
}

/// The writers share a block and have one each. A write changes both in one call, so that their
/// revisions tell what was written.
struct Run {
    random: Random,
    setting: Setting,
    lies: bool,
}

struct Scene {
    machine: Machine,
    shared: BlockId,
    own: Vec<BlockId>,
}

impl Run {
    fn new(seed: u64, lies: bool) -> Self {
        let mut random = Random::new(seed);
        let setting = Setting {
            cache_bytes: if random.one_in(2) { 16 << 10 } else { 1 << 20 },
            ..Setting::new(false)
        };
        Self { random, setting, lies }
    }

    fn play(mut self) -> std::result::Result<Trial, Failure> {
        let scene = self.scene().map_err(|error| unopenable(&error, "made"))?;
        let disk = scene.machine.disk.clone();
        if self.lies {
            disk.ignore_one_sync_in(3);
        }
        let fault = self.fault(disk.operations());
        if let Some((fault, kind)) = fault {
            disk.fail(fault, kind);
        }
        for _ in 0..LOSSES {
            disk.await_operation(disk.operations() + 1 + self.random.below(150));
        }
        let told = scene.write()?;
        disk.heal();
        let mut trial = Trial { trials: 1, ..Trial::default() };
        trial.note("writes done", told.iter().map(|told| told.done).sum());
        trial.note("outcomes left open", told.iter().map(|told| told.open).sum());
        trial.note("failures of the disk", disk.failures());
        let moments = disk.moments();
        scene.judge(&told, "at the end", |told| told.done)?;
        let Scene { machine, shared, own } = scene;
        drop(machine);
        for moment in moments {
            let loss = Loss::ALL[self.random.place(Loss::ALL.len())];
            let when = format!(
                "power lost at operation {} ({loss:?}), fault {fault:?}",
                moment.operations()
            );
            let disk = moment.after(loss, self.random.next());
            let machine =
                Machine::open(&disk, &self.setting).map_err(|error| unopenable(&error, &when))?;
            let scene = Scene { machine, shared, own: own.clone() };
            scene.judge(&told, &when, |told| {
                // Where nothing is lost, only the process has ended: relaxed writes survive.
                let survives = |write: &&Acknowledged| {
                    write.operations < moment.operations()
                        && (!write.is_relaxed || loss == Loss::Nothing)
                };
                let surviving = told.acknowledged.iter().filter(survives);
                surviving.map(|write| write.done).max().unwrap_or_default()
            })?;
            check(&scene.machine.space, &when)?;
            trial.trials += 1;
            trial.note("losses of power", 1);
        }
        Ok(trial)
    }

    fn scene(&self) -> Result<Scene> {
        let machine = Machine::create(&Disk::new(), &self.setting)?;
        let notes = machine.notes();
        let block = |title: &str| -> Result<BlockId> {
            let document = notes.create_document(title)?;
            Ok(notes.insert_markdown("0", document.id())?[0].id)
        };
        let shared = block("all")?;
        let own = (0..WRITERS).map(|_| block("own")).collect::<Result<_>>()?;
        Ok(Scene { machine, shared, own })
    }

    fn fault(&mut self, operations: u64) -> Option<(DiskFault, io::ErrorKind)> {
        let from = operations + 1 + self.random.below(100);
        let fault = match self.random.below(4) {
            0 => return None,
            1 => DiskFault::Once(from),
            2 => DiskFault::Between(from, from + 1 + self.random.below(12)),
            _ => DiskFault::OneIn(5 + self.random.below(20)),
        };
        let kind =
            if self.random.one_in(3) { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
        Some((fault, kind))
    }
}

impl Scene {
    fn write(&self) -> std::result::Result<Vec<Told>, Failure> {
        let wrong = Mutex::new(None);
        let told = thread::scope(|scope| {
            let write = |own: BlockId| {
                let (notes, wrong) = (self.machine.notes(), &wrong);
                move || {
                    let mut told = Told::default();
                    for number in 1..=WRITES {
                        if let Err(failure) = self.write_once(&notes, own, number, &mut told) {
                            wrong
                                .lock()
                                .unwrap_or_else(PoisonError::into_inner)
                                .get_or_insert(failure);
                        }
                    }
                    told
                }
            };
            let threads: Vec<_> = self.own.iter().map(|own| scope.spawn(write(*own))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
        });
        wrong.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(told), Err)
    }

    fn write_once(
        &self,
        notes: &Connection,
        own: BlockId,
        number: u64,
        told: &mut Told,
    ) -> std::result::Result<(), Failure> {
        // No two are alike: an update that changes nothing is not a write.
        let text = format!("{number} of {own}");
        // What is refused stands behind what would be written.
        let is_refused = number % 5 == 4;
        // One in three is relaxed, and the first writer flushes now and then: what that gives is
        // told by the writes after it.
        let is_relaxed = number % 3 == 1;
        let promised = if is_relaxed { Durability::Relaxed } else { Durability::Durable };
        let notes = &notes.with_durability(promised);
        if number % 4 == 3 && self.own.first() == Some(&own) {
            let _ = self.machine.space.flush();
        }
        let last = if is_refused { BlockId::from_bytes([9; 16]) } else { own };
        let blocks = [self.shared, last].map(|block| BlockPatch::markdown(block, text.clone()));
        match notes.update_blocks(UpdateBlocks::new(blocks)) {
            Ok(_) if is_refused => {
                return Err(Failure::new(Fault::WrongData, "a block that is nowhere was updated"));
            }
            Ok(_) => {
                told.done += 1;
                if told.open == 0 {
                    let (operations, done) = (self.machine.disk.operations(), told.done);
                    told.acknowledged.push(Acknowledged { operations, done, is_relaxed });
                }
            }
            Err(error) if error.message().contains("whether this write took place") => {
                told.open += 1
            }
            Err(error) => {
                let expected = match error.kind() {
                    ErrorKind::NotFound => is_refused,
                    kind => matches!(kind, ErrorKind::Storage | ErrorKind::NoSpace),
                };
                if !expected {
                    return Err(Failure::new(
                        Fault::WrongData,
                        format!("write {number} is told {error:?}"),
                    ));
                }
            }
        }
        // Where it can be read, it says what was told.
        match revision(notes, own) {
            Ok(found) if found < told.done => {
                Err(Failure::new(Fault::Lost, format!("{found} writes are there of {told:?}")))
            }
            Ok(found) if found > told.done + told.open => Err(Failure::new(
                Fault::HalfApplied,
                format!("{found} writes are there of {told:?}"),
            )),
            _ => Ok(()),
        }
    }

    /// Each writer's block has at least the revision that `least` says, and at most what was begun;
    /// the shared one has all of them together.
    fn judge(
        &self,
        told: &[Told],
        when: &str,
        least: impl Fn(&Told) -> u64,
    ) -> std::result::Result<(), Failure> {
        let notes = self.machine.notes();
        // What was left open is found out by the next write.
        notes.create_document("after").map_err(|error| unopenable(&error, when))?;
        let mut sum = 0;
        for (own, told) in self.own.iter().zip(told) {
            let found = revision(&notes, *own).map_err(|error| unopenable(&error, when))?;
            if found < least(told) {
                return Err(Failure::new(
                    Fault::Lost,
                    format!("{when}: {found} writes are there of {told:?}"),
                ));
            }
            if found > WRITES {
                return Err(Failure::new(
                    Fault::WrongData,
                    format!("{when}: {found} writes are there"),
                ));
            }
            sum += found;
        }
        let all = revision(&notes, self.shared).map_err(|error| unopenable(&error, when))?;
        if all != sum {
            let what = format!(
                "{when}: {all} writes to the shared block, {sum} to those of the writers: {told:?}"
            );
            return Err(Failure::new(Fault::HalfApplied, what));
        }
        Ok(())
    }
}

/// How often a block was updated.
fn revision(notes: &Connection, block: BlockId) -> std::result::Result<u64, Error> {
    Ok(notes.fetch(Fetch::new(block))?.rev.saturating_sub(1))
}
