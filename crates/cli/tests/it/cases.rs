//! The transcripts: the README, and the cases beside it.

use std::collections::BTreeSet;
use std::fs;

use super::transcript::{Desk, check, package, replayed};

#[test]
fn the_readme_shows_what_its_commands_show() {
    check(&package().join("README.md"));
}

#[test]
fn cases_show_what_stands_in_them() {
    let mut cases: Vec<_> = fs::read_dir(package().join("tests/cases"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(cases.len() > 3, "the cases are found");
    for path in &cases {
        check(path);
    }
}

/// Every command that help lists is run by the README, so that each is shown and tested.
#[test]
fn the_readme_shows_every_command() {
    let help = Desk::new().run("leafbase --help");
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let listed: BTreeSet<_> = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(listed.len() > 20, "the commands are found");
    let readme = fs::read_to_string(package().join("README.md")).unwrap();
    let run: BTreeSet<_> = readme
        .lines()
        .filter(|line| line.starts_with("$ "))
        .flat_map(str::split_whitespace)
        .collect();
    let missing: Vec<_> = listed.difference(&run).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A transcript that says something else than is shown is noticed, whatever differs.
#[test]
fn a_wrong_transcript_is_noticed() {
    let right = "$ leafbase -s x ls\nerror: there is nothing at x\nhint: create it with: leafbase new x\n[exit 3]\n";
    assert_eq!(replayed(&mut Desk::new(), right, false), right);
    for (from, to) in [
        ("at x\n", "at y\n"),
        ("[exit 3]\n", ""),
        ("hint: ", "tip: "),
        ("[exit 3]", "[exit 3]\nmore"),
    ] {
        let wrong = right.replacen(from, to, 1);
        assert_ne!(wrong, right);
        assert_eq!(replayed(&mut Desk::new(), &wrong, false), right, "{wrong}");
    }
    let markdown = format!("# T\n\n```sh\n$ no\n```\n\n```console\n{right}```\nend\n");
    assert_eq!(replayed(&mut Desk::new(), &markdown, true), markdown);
}
