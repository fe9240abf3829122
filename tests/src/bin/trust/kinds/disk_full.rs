//! A disk that gets full: what does not fit is refused whole, reads and deletions go on, and so
//! does all else when there is room again.

use leafbase::{DeleteBlocks, ErrorKind, Fetch, Position, UploadFile};
use leafbase_store::testkit::{Disk, Loss};

use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};
use crate::random::Random;
use crate::world::machine::{Machine, Setting};
use crate::world::scan::{check, searches, unopenable};
use crate::world::work;

pub const KIND: Kind = Kind {
    name: "disk_full",
    says: "the disk gets full, is worked on while it is, and has room again",
    weight: 1,
    least: Least::Trials(100),
    trial: |seed| cycle(seed, false),
    control: Some(Control {
        says: "a call that is refused for want of room leaves a document behind",
        trial: |seed| cycle(seed, true),
    }),
};

/// How often the disk of one trial gets full.
const CYCLES: usize = 3;
/// Calls until the disk is full at the latest.
const MOST_CALLS: usize = 60;
/// Bytes of the longest file that fills the disk.
const LONGEST: usize = 400_000;
/// Calls made while it is.
const CALLS_WHILE_FULL: usize = 8;

fn failed(when: &str) -> impl Fn(leafbase::Error) -> Failure {
    move |error| unopenable(&error, when)
}

fn cycle(seed: u64, leaves_something: bool) -> Result<Trial, Failure> {
    let mut random = Random::new(seed);
    let (disk, setting) = (disk(&mut random), Setting::new(random.one_in(2)));
    let mut trial = Trial::default();
    create_without_room(&setting, &mut random)?;
    let machine = Machine::create(&disk, &setting).map_err(failed("made"))?;
    machine.notes().create_document("pelican").map_err(failed("made"))?;
    machine.space.flush().map_err(failed("made"))?;
    for _ in 0..CYCLES {
        disk.limit(Some(disk.used() + random.below(2 << 20)));
        fill(&machine, &mut random, &mut trial, leaves_something)?;
        work_while_full(&machine, &mut random, &mut trial, leaves_something)?;
        disk.limit(None);
        trial.trials += 1;
        go_on(&machine, &mut random)?;
    }
    // What is left of uploads that were refused goes with it.
    machine.space.flush().map_err(failed("at the end"))?;
    let stored = machine.digest().map_err(failed("at the end"))?;
    let lost = disk.moment().after(Loss::Unsynced, 0);
    let again = Machine::open(&lost, &setting).map_err(failed("after a loss of power"))?;
    if again.digest().map_err(failed("after a loss of power"))? != stored {
        return Err(Failure::new(
            Fault::Lost,
            "after a loss of power: something that was flushed is gone",
        ));
    }
    Ok(trial)
}

/// Room is taken when a file becomes longer, or when what it became longer by is written.
fn disk(random: &mut Random) -> Disk {
    if random.one_in(2) { Disk::new().takes_room_at_once() } else { Disk::new() }
}

/// A space is made whole, or an error says why not.
fn create_without_room(setting: &Setting, random: &mut Random) -> Result<(), Failure> {
    let disk = disk(random);
    disk.limit(Some(random.below(1_200_000)));
    match Machine::create(&disk, setting) {
        Err(error) if error.kind() == ErrorKind::NoSpace => Ok(()),
        Err(error) => {
            Err(Failure::new(Fault::WrongData, format!("made on a full disk: {error:?}")))
        }
        Ok(machine) => check(&machine.space, "made on a disk with little room"),
    }
}

/// Works until the disk is full: files take most of the room, and calls of every kind what is left.
fn fill(
    machine: &Machine,
    random: &mut Random,
    trial: &mut Trial,
    leaves_something: bool,
) -> Result<(), Failure> {
    let (notes, when) = (machine.notes(), "while the disk gets full");
    let document = notes.create_document("pelican");
    for _ in 0..MOST_CALLS {
        let Ok(document) = &document else { break };
        let file = vec![3; random.place(LONGEST)];
        match notes.upload_file(UploadFile::new(document.id()), &*file) {
            Ok(_) => trial.note("calls done", 1),
            Err(error) if error.kind() == ErrorKind::NoSpace => break,
            Err(error) => return Err(unopenable(&error, when)),
        }
    }
    for _ in 0..MOST_CALLS {
        if refused(machine, random.next(), trial, leaves_something)? {
            break;
        }
    }
    Ok(())
}

/// Does one call; true if there was no room for it, and then nothing of it is there.
fn refused(
    machine: &Machine,
    seed: u64,
    trial: &mut Trial,
    leaves_something: bool,
) -> Result<bool, Failure> {
    let before = machine.digest().map_err(failed("on a full disk"))?;
    let done = work::step(&machine.notes(), seed);
    let when = format!("on a full disk, after `{}`", done.what);
    let Err(error) = done.outcome else {
        trial.note("calls done", 1);
        return Ok(false);
    };
    if error.kind() == ErrorKind::Storage {
        return Err(Failure::new(Fault::WrongData, format!("{when}: {error:?}")));
    }
    if leaves_something && error.kind() == ErrorKind::NoSpace {
        machine.disk.limit(None);
        machine.notes().create_document("left behind").map_err(failed(&when))?;
        machine.disk.limit(Some(machine.disk.used()));
    }
    let after = machine.digest().map_err(failed(&when))?;
    // Of an upload that was refused, parts may wait to be swept.
    if after != before && !done.what.starts_with("upload") {
        return Err(Failure::new(
            Fault::HalfApplied,
            format!("{when}: something of it is stored: {error:?}"),
        ));
    }
    trial.note("calls refused for want of room", u64::from(error.kind() == ErrorKind::NoSpace));
    Ok(error.kind() == ErrorKind::NoSpace)
}

/// Reads, deletions and searches go on.
fn work_while_full(
    machine: &Machine,
    random: &mut Random,
    trial: &mut Trial,
    leaves_something: bool,
) -> Result<(), Failure> {
    let (notes, when) = (machine.notes(), "on a full disk");
    searches(&notes, random, 2, when)?;
    let documents = notes.documents().map_err(failed(when))?;
    for document in documents.iter().filter(|document| !work::is_deleted(document)) {
        let root = notes.fetch(Fetch::new(document.id())).map_err(failed(when))?;
        let Some(last) = root.children().last() else { continue };
        let before = machine.digest().map_err(failed(when))?;
        match notes.delete_blocks(DeleteBlocks::new([last.id])) {
            Ok(_) => trial.note("deletions on a full disk", 1),
            // Pages that are written anew need room, too, and there may be none at all.
            Err(error) if error.kind() == ErrorKind::NoSpace => {
                trial.note("deletions refused for want of room", 1);
                if machine.digest().map_err(failed(when))? != before {
                    return Err(Failure::new(
                        Fault::HalfApplied,
                        "a deletion on a full disk that was refused",
                    ));
                }
            }
            Err(error) => return Err(unopenable(&error, "a deletion on a full disk")),
        }
    }
    for _ in 0..CALLS_WHILE_FULL {
        refused(machine, random.next(), trial, leaves_something)?;
    }
    searches(&notes, random, 2, when)?;
    check(&machine.space, "the check on a full disk")
}

/// With room, everything goes on.
fn go_on(machine: &Machine, random: &mut Random) -> Result<(), Failure> {
    let (notes, when) = (machine.notes(), "with room again");
    let document = notes.create_document("ibex").map_err(failed(when))?;
    notes
        .insert_markdown(&"lemur ".repeat(30_000), Position::end_of(document.id()))
        .map_err(failed(when))?;
    notes.delete_documents(document.id()).map_err(failed(when))?;
    machine.space.flush_search().map_err(failed(when))?;
    searches(&notes, random, 2, when)?;
    check(&machine.space, when)
}
