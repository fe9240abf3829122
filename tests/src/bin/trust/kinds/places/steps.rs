//! The steps of a trial, drawn for the directories as they are.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::io_failure;
use super::process::ProcessReply;
use super::scene::{PARENTS, PlaceScene};
use super::tree::{LoggedWrite, OpenHandle, SpaceDirectory};
use crate::kind::{Failure, Fault};

type Outcome = Result<(), Failure>;

/// Fewer documents than a search returns at most.
const MAX_DOCUMENTS: usize = 12;
const MAX_DIRECTORIES: usize = 7;
/// Writes of one step, at most.
const MAX_WRITES: u64 = 6;
/// Microseconds from the beginning of a call to the kill that interrupts it.
const MAX_DELAY: u64 = 400;
/// The name of the first space in each parent.
const NAME: &str = "notes";

/// Two spaces of the same relative name in two directories, one of them often a copy of the other.
pub fn make_first_spaces(scene: &mut PlaceScene) -> Outcome {
    let paths = PARENTS.map(|parent| scene.root().join(parent).join(NAME));
    let [first, second] = paths;
    create(scene, first)?;
    write_some(scene, 0)?;
    if scene.random.one_in(3) {
        return create(scene, second);
    }
    close(scene, 0)?;
    scene.tree.copy(0, second).map_err(io_failure)?;
    scene.says("there/notes is a copy".to_owned());
    open(scene, 0)?;
    open(scene, 1)
}

pub fn step(scene: &mut PlaceScene) -> Outcome {
    let any = scene.random.place(scene.tree.directories.len());
    let closed = scene.tree.which(|directory| !directory.is_open());
    let opened = scene.tree.which(SpaceDirectory::is_open);
    let closed = scene.random.pick(&closed).copied();
    let opened = scene.random.pick(&opened).copied();
    match (scene.random.below(36), opened, closed) {
        (0..=9, Some(opened), _) => write_some(scene, opened),
        (10..=11, Some(opened), _) => {
            let handle = any_handle(scene, opened);
            scene.says(format!("compare {}", shown(scene, opened)));
            scene.compare(opened, &handle)
        }
        (12..=15, Some(opened), _) => maintain(scene, opened),
        (16..=17, Some(opened), _) => close(scene, opened),
        (18..=19, ..) => change_directory(scene),
        (20..=22, ..) => replace(scene, any),
        (23..=24, ..) => swap(scene, any),
        (25, ..) => swap_parents(scene),
        (26, Some(opened), _) => back_up(scene, opened),
        (27, _, Some(closed)) => copy(scene, closed),
        (28..=29, _, Some(closed)) => restore(scene, closed),
        (30, _, Some(closed)) => swap_indexes(scene, closed),
        (31, ..) => kill(scene),
        _ => open(scene, any),
    }?;
    remove_surplus(scene)
}

/// All processes end, and each space is opened once more.
pub fn reopen_all(scene: &mut PlaceScene) -> Outcome {
    for at in 0..scene.tree.directories.len() {
        while scene.tree.directories[at].is_open() && scene.random.one_in(2) {
            close(scene, at)?;
        }
    }
    for process in 0..scene.processes.len() {
        end(scene, process)?;
    }
    for at in 0..scene.tree.directories.len() {
        let path = scene.tree.directories[at].path.display().to_string();
        scene.says(format!("reopen {}", shown(scene, at)));
        scene.done(0, &["open", "last", &path, "on demand", "read_write"])?;
        let last = handle_on(scene, at, 0, "last".to_owned(), false);
        scene.compare(at, &last)?;
        scene.done(0, &["close", "last"])?;
        scene.trial.note("spaces compared at the end", 1);
    }
    Ok(())
}

/// A directory in the report of a failure.
fn shown(scene: &PlaceScene, at: usize) -> String {
    scene.short(&scene.tree.directories[at].path)
}

fn any_handle(scene: &mut PlaceScene, at: usize) -> OpenHandle {
    let handles = &scene.tree.directories[at].handles;
    handles[scene.random.place(handles.len())].clone()
}

fn handle_on(
    scene: &PlaceScene,
    at: usize,
    process: usize,
    name: String,
    is_read_only: bool,
) -> OpenHandle {
    let opened_at = scene.tree.directories[at].path.clone();
    OpenHandle { process, name, is_read_only, opened_at }
}

fn indexing(scene: &mut PlaceScene) -> &'static str {
    if scene.random.one_in(2) { "background" } else { "on demand" }
}

/// Creates a space at a free path.
fn create(scene: &mut PlaceScene, path: PathBuf) -> Outcome {
    let process = scene.any_process();
    let name = format!("h{}", scene.number());
    let (spelled, indexing) = (scene.spelled(process, &path), indexing(scene));
    scene.says(format!("process {process} creates {spelled} as {name}"));
    scene.done(process, &["create", &name, &spelled, indexing])?;
    scene.tree.directories.push(SpaceDirectory::new(path));
    let at = scene.tree.directories.len() - 1;
    let handle = handle_on(scene, at, process, name, false);
    scene.tree.directories[at].handles.push(handle);
    Ok(())
}

/// Opens a space, or is refused because another handle has it open.
fn open(scene: &mut PlaceScene, at: usize) -> Outcome {
    let process = scene.any_process();
    let name = format!("h{}", scene.number());
    let path = scene.tree.directories[at].path.clone();
    let (spelled, indexing) = (scene.spelled(process, &path), indexing(scene));
    let is_read_only = scene.random.one_in(4);
    let mode = if is_read_only { "read_only" } else { "read_write" };
    scene.says(format!("process {process} opens {spelled} {mode} as {name}"));
    let handles = &scene.tree.directories[at].handles;
    let is_locked = handles.iter().any(|handle| !(handle.is_read_only && is_read_only));
    match scene.processes[process].ask(&["open", &name, &spelled, indexing, mode])? {
        ProcessReply::Done(_) if !is_locked => {
            let handle = handle_on(scene, at, process, name, is_read_only);
            scene.tree.directories[at].handles.push(handle.clone());
            scene.trial.note("spaces opened", 1);
            // Writes before the first search hide from the index what was rolled back.
            if !is_read_only && scene.random.one_in(2) {
                scene.resolve_in_flight(at, &handle)?;
                let writes = scene.random.below(2 * MAX_WRITES);
                scene.says(format!("{writes} writes by {}", handle.name));
                (0..writes).try_for_each(|_| write(scene, at, &handle))?;
            }
            scene.compare(at, &handle)
        }
        ProcessReply::Refused { kind, .. } if is_locked && kind == "AlreadyOpen" => {
            scene.trial.note("refused as already open", 1);
            Ok(())
        }
        reply => {
            let fault = if is_locked { Fault::WrongData } else { Fault::Unopenable };
            let what = format!("{}, open: {is_locked}: {reply:?}", shown(scene, at));
            Err(Failure::new(fault, what))
        }
    }
}

/// Closes or drops a handle.
fn close(scene: &mut PlaceScene, at: usize) -> Outcome {
    let place = scene.random.place(scene.tree.directories[at].handles.len());
    let handle = scene.tree.directories[at].handles.remove(place);
    let how = if scene.random.one_in(3) { "drop" } else { "close" };
    let with_index = !handle.is_read_only && scene.random.one_in(2);
    scene.says(format!("{how} {}, indexed: {with_index}", handle.name));
    if with_index {
        scene.done(handle.process, &["index", &handle.name])?;
    }
    scene.done(handle.process, &[how, &handle.name]).map(drop)
}

fn write_some(scene: &mut PlaceScene, at: usize) -> Outcome {
    let handle = any_handle(scene, at);
    let writes = 1 + scene.random.below(MAX_WRITES);
    scene.says(format!("{writes} writes to {} by {}", shown(scene, at), handle.name));
    (0..writes).try_for_each(|_| write(scene, at, &handle))
}

fn write(scene: &mut PlaceScene, at: usize, handle: &OpenHandle) -> Outcome {
    let ids: Vec<String> =
        scene.tree.directories[at].documents().into_keys().map(str::to_owned).collect();
    let is_full = ids.len() >= MAX_DOCUMENTS;
    let new = "new".to_owned();
    let what = match scene.random.pick(&ids) {
        Some(id) if is_full || scene.random.one_in(2) => id.clone(),
        _ => new.clone(),
    };
    let deletes = what != new && (is_full || scene.random.one_in(4));
    let title = (!deletes).then(|| scene.title());
    let durability = if scene.random.one_in(2) { "relaxed" } else { "durable" };
    let text = title.as_deref().unwrap_or_default();
    let fields = ["write", &handle.name, durability, &what, text];
    let reply = scene.processes[handle.process].ask(&fields)?;
    match (reply, handle.is_read_only) {
        (ProcessReply::Done(answer), false) if answer.len() == 2 => {
            let [position, document] = [0, 1].map(|field| answer[field].clone());
            let write = LoggedWrite { position, document, title };
            scene.tree.directories[at].log.push(write);
            scene.trial.note("writes acknowledged", 1);
            Ok(())
        }
        (ProcessReply::Refused { kind, .. }, true) if kind == "ReadOnly" => Ok(()),
        (reply, _) => {
            let what = format!("{}: {fields:?} gives {reply:?}", shown(scene, at));
            Err(Failure::new(Fault::Unopenable, what))
        }
    }
}

fn maintain(scene: &mut PlaceScene, at: usize) -> Outcome {
    let handle = any_handle(scene, at);
    if handle.is_read_only {
        return Ok(());
    }
    let what = ["flush", "index", "index", "compact"][scene.random.place(4)];
    scene.says(format!("{what} of {}", handle.name));
    let reply = scene.processes[handle.process].ask(&[what, &handle.name])?;
    match reply {
        ProcessReply::Done(_) => Ok(()),
        // Compaction looks at the files of the directory once more.
        ProcessReply::Refused { kind, .. }
            if what == "compact" && kind == "Storage" && scene.tree.is_moved(at, &handle) =>
        {
            scene.trial.note("compactions of moved directories refused", 1);
            Ok(())
        }
        ProcessReply::Refused { message, .. } => {
            let what = format!("{}: {what} is refused: {message}", shown(scene, at));
            Err(Failure::new(Fault::Unopenable, what))
        }
    }
}

fn change_directory(scene: &mut PlaceScene) -> Outcome {
    let process = scene.any_process();
    let root = scene.root();
    let to = match scene.random.place(PARENTS.len() + 1) {
        0 => root,
        parent => root.join(PARENTS[parent - 1]),
    };
    let spelled = scene.spelled(process, &to);
    scene.says(format!("process {process} goes to {spelled}"));
    scene.done(process, &["chdir", &spelled])?;
    scene.processes[process].current_directory = to;
    scene.trial.note("changes of the current directory", 1);
    Ok(())
}

/// Renames the directory of a space, open or not, and puts another space at its path.
fn replace(scene: &mut PlaceScene, at: usize) -> Outcome {
    let old = scene.tree.directories[at].path.clone();
    let new = scene.new_path("moved");
    scene.says(format!("rename {} to {}", scene.short(&old), scene.short(&new)));
    note_move(scene, at);
    scene.tree.rename(&old, &new).map_err(io_failure)?;
    let closed = scene.tree.which(|directory| !directory.is_open());
    let closed = scene.random.pick(&closed).copied();
    match (scene.random.below(5), closed) {
        (0, _) => Ok(()),
        (1..=2, Some(closed)) => {
            scene.says(format!("copy {} there", shown(scene, closed)));
            scene.tree.copy(closed, old).map_err(io_failure)?;
            let copy = scene.tree.directories.len() - 1;
            open(scene, copy)
        }
        (3, _) => {
            let other = scene.random.place(scene.tree.directories.len());
            let path = scene.tree.directories[other].path.clone();
            scene.says(format!("rename {} there", scene.short(&path)));
            note_move(scene, other);
            scene.tree.rename(&path, &old).map_err(io_failure)
        }
        _ => create(scene, old),
    }
}

fn swap(scene: &mut PlaceScene, at: usize) -> Outcome {
    let other = scene.random.place(scene.tree.directories.len());
    if other == at {
        return Ok(());
    }
    let [one, other_path] = [at, other].map(|at| scene.tree.directories[at].path.clone());
    scene.says(format!("swap {} and {}", scene.short(&one), scene.short(&other_path)));
    note_move(scene, at);
    note_move(scene, other);
    scene.tree.swap(&one, &other_path).map_err(io_failure)
}

/// Swaps the two directories that the spaces are in. A process whose current directory is one of
/// them stays in it.
fn swap_parents(scene: &mut PlaceScene) -> Outcome {
    let [one, other] = PARENTS.map(|parent| scene.root().join(parent));
    scene.says("swap here and there".to_owned());
    scene.tree.swap(&one, &other).map_err(io_failure)?;
    for process in &mut scene.processes {
        let current = &mut process.current_directory;
        if *current == one {
            current.clone_from(&other);
        } else if *current == other {
            current.clone_from(&one);
        }
    }
    scene.trial.note("parents swapped", 1);
    Ok(())
}

fn note_move(scene: &mut PlaceScene, at: usize) {
    let is_open = scene.tree.directories[at].is_open();
    let what = if is_open { "open directories moved" } else { "closed directories moved" };
    scene.trial.note(what, 1);
}

fn back_up(scene: &mut PlaceScene, at: usize) -> Outcome {
    let handle = any_handle(scene, at);
    let path = scene.new_path("backup");
    let spelled = scene.spelled(handle.process, &path);
    scene.says(format!("back {} up to {spelled}", handle.name));
    scene.done(handle.process, &["backup", &handle.name, &spelled])?;
    let backup = scene.tree.directories[at].copied(path);
    scene.tree.directories.push(backup);
    scene.trial.note("backups", 1);
    Ok(())
}

fn copy(scene: &mut PlaceScene, at: usize) -> Outcome {
    let path = scene.new_path("copy");
    scene.says(format!("copy {} to {}", shown(scene, at), scene.short(&path)));
    scene.tree.copy(at, path).map_err(io_failure)
}

fn restore(scene: &mut PlaceScene, to: usize) -> Outcome {
    let from = scene.tree.which(|directory| !directory.is_open());
    let Some(from) = scene.random.pick(&from).copied().filter(|from| *from != to) else {
        return Ok(());
    };
    let with_index = scene.random.one_in(3);
    let [source, target] = [from, to].map(|at| shown(scene, at));
    scene.says(format!("restore {source} over {target}, index: {with_index}"));
    scene.tree.restore(from, to, with_index).map_err(io_failure)?;
    scene.trial.note("stores restored over others", 1);
    if scene.random.one_in(4) { Ok(()) } else { open(scene, to) }
}

fn swap_indexes(scene: &mut PlaceScene, at: usize) -> Outcome {
    let other = scene.tree.which(|directory| !directory.is_open());
    let Some(other) = scene.random.pick(&other).copied().filter(|other| *other != at) else {
        return Ok(());
    };
    let [one, two] = [at, other].map(|at| shown(scene, at));
    scene.says(format!("swap the indexes of {one} and {two}"));
    scene.trial.note("indexes swapped", 1);
    scene.tree.swap_indexes(at, other).map_err(io_failure)
}

/// Kills a process, perhaps during a write, and starts another in its place.
fn kill(scene: &mut PlaceScene) -> Outcome {
    let process = scene.any_process();
    let writes = |handle: &OpenHandle| handle.process == process && !handle.is_read_only;
    let written = scene.tree.which(|directory| directory.handles.iter().any(writes));
    if let Some(at) = scene.random.pick(&written).copied()
        && scene.random.one_in(2)
    {
        let handles = &scene.tree.directories[at].handles;
        let name = handles.iter().find(|handle| writes(handle)).map(|handle| handle.name.clone());
        let (name, title) = (name.unwrap_or_default(), scene.title());
        scene.says(format!("a write to {} is interrupted", shown(scene, at)));
        let durability = if scene.random.one_in(2) { "relaxed" } else { "durable" };
        scene.processes[process].send(&["write", &name, durability, "new", &title])?;
        scene.tree.directories[at].in_flight = Some(title);
        thread::sleep(Duration::from_micros(scene.random.below(MAX_DELAY)));
    }
    end(scene, process)?;
    scene.trial.note("processes killed", 1);
    Ok(())
}

fn end(scene: &mut PlaceScene, process: usize) -> Outcome {
    scene.says(format!("kill process {process}"));
    scene.processes[process].kill()?;
    scene.processes[process] = scene.new_process()?;
    for directory in &mut scene.tree.directories {
        directory.handles.retain(|handle| handle.process != process);
    }
    Ok(())
}

/// Removes closed directories while there are too many.
fn remove_surplus(scene: &mut PlaceScene) -> Outcome {
    while scene.tree.directories.len() > MAX_DIRECTORIES {
        let closed = scene.tree.which(|directory| !directory.is_open());
        let Some(closed) = scene.random.pick(&closed).copied() else { return Ok(()) };
        scene.says(format!("remove {}", shown(scene, closed)));
        let removed = scene.tree.directories.remove(closed);
        fs::remove_dir_all(removed.path).map_err(io_failure)?;
    }
    Ok(())
}
