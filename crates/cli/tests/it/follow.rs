//! Several programs at one space: `leafbase log --follow` shows what other runs write, and what
//! another program has open is waited for.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use super::transcript::Desk;

#[test]
fn writes_of_others_are_followed_until_an_interrupt() {
    let mut desk = Desk::new();
    desk.run("leafbase new space.leafbase && leafbase add one --to 2024-01-01");
    let mut follow = desk.shell("exec leafbase log --follow --json --since 0 --interval 0.05");
    let mut follow = follow.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let mut sequence = || {
        let change: serde_json::Value =
            serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        change["sequence"].as_u64().unwrap()
    };
    assert_eq!(sequence(), 1);
    assert_eq!(desk.run("leafbase add two --to 2024-01-01"), "added 1 block to 2024-01-01\n");
    assert_eq!(sequence(), 2);
    Command::new("kill").args(["-s", "INT", &follow.id().to_string()]).status().unwrap();
    assert!(follow.wait().unwrap().success(), "an interrupt is how it ends");
}

/// A command that polls for Ctrl-C leaves nothing of that to the shell: one Ctrl-C ends it.
#[test]
fn an_interrupt_ends_a_shell_that_has_imported() {
    let mut desk = Desk::new();
    desk.run("leafbase new space.leafbase && mkdir coast && echo tide > coast/Shore.md");
    let mut shell = desk.shell("exec leafbase shell 2>&1");
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(shell.stdout.take().unwrap()).lines();
    let mut input = shell.stdin.take().unwrap();
    input.write_all(b"import coast\ncat Shore\n").unwrap();
    let shown: Vec<_> = lines.take(3).map(Result::unwrap).collect();
    assert_eq!(shown[2], "tide", "{shown:?}");
    Command::new("kill").args(["-s", "INT", &shell.id().to_string()]).status().unwrap();
    assert_eq!(shell.wait().unwrap().code(), Some(130));
}

/// Beside a program that shares the space every command works, and each sees what the other wrote.
#[test]
fn commands_work_beside_a_program_that_shares_the_space() {
    let mut desk = Desk::new();
    let path = desk.path().join("shared.leafbase");
    let space = leafbase::Space::builder().shared(true).create(path).unwrap();
    let notes = space.connect();
    let trip = notes.create_document("Trip").unwrap();
    assert_eq!(desk.run("leafbase -s shared.leafbase ls --wait 0"), "Trip\n");
    assert_eq!(
        desk.run("leafbase -s shared.leafbase add --wait 0 passport --to Trip"),
        "added 1 block to Trip\n"
    );
    assert_eq!(notes.content_markdown(trip.id()).unwrap(), "passport");
    assert!(desk.run("leafbase -s shared.leafbase search --wait 0 passport").contains("Trip"));
    notes.insert_markdown("tickets", trip.id()).unwrap();
    assert!(desk.run("leafbase -s shared.leafbase cat --wait 0 Trip").contains("tickets"));
    assert!(desk.run("leafbase -s shared.leafbase check --wait 0").contains("whole"));
    assert_eq!(notes.search("tickets").unwrap().len(), 1);
}

/// What is written meanwhile is shipped while others share the space; one that does not is waited
/// for, which is said once.
#[test]
fn changes_of_a_program_that_shares_the_space_are_shipped() {
    let mut desk = Desk::new();
    let path = desk.path().join("shared.leafbase");
    let space = leafbase::Space::builder().shared(true).create(&path).unwrap();
    space.connect().create_document("Trip").unwrap();
    let mut replicate =
        desk.shell("exec leafbase -s shared.leafbase replicate replica --interval 1 2>&1");
    let mut replicate = replicate.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(replicate.stdout.take().unwrap()).lines();
    let mut line = || lines.next().unwrap().unwrap();
    assert_eq!(line(), "shipped 0 changes and 1 snapshot up to change 1");
    space.connect().create_document("Diary").unwrap();
    assert_eq!(line(), "shipped 1 change and 0 snapshots up to change 2");
    space.close().unwrap();
    let space = loop {
        match leafbase::Space::open(&path) {
            // A round.
            Err(error) if error.kind() == leafbase::ErrorKind::AlreadyOpen => {}
            opened => break opened.unwrap(),
        }
    };
    space.connect().create_document("Packing").unwrap();
    let waiting = "waiting to ship: shared.leafbase is open in another handle of this or another \
                   process";
    assert_eq!(line(), waiting);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    space.close().unwrap();
    assert_eq!(line(), "shipped 1 change and 0 snapshots up to change 3");
    // It is closed between rounds, also after one that shipped something.
    assert_eq!(
        desk.run("leafbase -s shared.leafbase add x --to 2024-01-01"),
        "added 1 block to 2024-01-01\n"
    );
    Command::new("kill").args(["-s", "INT", &replicate.id().to_string()]).status().unwrap();
    assert!(replicate.wait().unwrap().success(), "an interrupt is how it ends");
}

#[test]
fn what_another_program_has_open_is_waited_for() {
    let mut desk = Desk::new();
    let space = leafbase::Space::open(desk.path().join("shelf")).unwrap();
    let busy = "error: shelf is open in another handle of this or another process\n\
                hint: the other program does not share the space: close it, or wait for it: \
                --wait 60\n[exit 5]\n";
    assert_eq!(desk.run("leafbase -s shelf ls --wait 0"), busy);
    assert_eq!(desk.run("leafbase -s shelf add --wait 0 x"), busy);
    let waiting =
        desk.shell("leafbase -s shelf ls --wait 600").stdout(Stdio::piped()).spawn().unwrap();
    space.close().unwrap();
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(
        (output.status.success(), output.stdout.as_slice()),
        (true, b"Library\n".as_slice())
    );
}
