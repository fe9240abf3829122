//! The program whose instructions are counted does every path, and what is stored is of these
//! paths.

use std::process::Command;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_instructions"))
}

fn printed(command: &mut Command) -> String {
    let output = command.output().expect("a process");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_path_can_be_done() {
    let names = printed(&mut program());
    assert!(names.lines().count() > 20);
    for name in names.lines() {
        let runs = printed(program().arg(name));
        assert!(runs.trim().parse::<usize>().expect("a number") > 0, "{name}");
        // As the script's control has it.
        assert_eq!(printed(program().arg(name).env("INSTRUCTIONS_MORE", "10")), runs, "{name}");
    }
}

#[test]
fn each_path_has_a_count() {
    let stored = include_str!("../instructions.tsv").lines().filter(|line| !line.starts_with('#'));
    let stored: Vec<&str> =
        stored.map(|line| line.split_once('\t').expect("a name and a count").0).collect();
    let names = printed(&mut program());
    assert_eq!(stored, names.lines().collect::<Vec<_>>(), "run benches/instructions.sh --store");
}

#[test]
fn an_unknown_path_is_an_error() {
    assert!(!program().arg("nothing").status().expect("a process").success());
}
