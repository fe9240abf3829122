//! The table of leaks: each has a guard, and every guard is a test that exists.

use std::fs;
use std::path::Path;

const LEAKS: usize = 51;

/// The rows of the table: number, leak, guards.
fn rows(table: &str) -> Vec<(usize, String, Vec<String>)> {
    let cells = |line: &str| {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let lines = table.lines().filter(|line| line.starts_with("| ")).map(cells);
    let rows = lines
        .filter_map(|cells| Some((cells[0].parse().ok()?, cells[1].clone(), guards(&cells[2]))));
    rows.collect()
}

/// What stands between back-ticks.
fn guards(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What is wrong with a guard `file::test`, whose path is below that of the table's folder.
fn fault(guard: &str) -> Option<String> {
    let Some((file, test)) = guard.split_once("::") else {
        return Some(format!("{guard} names no test"));
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scope").join(file);
    let Ok(text) = fs::read_to_string(&path) else {
        return Some(format!("{guard}: no file {}", path.display()));
    };
    let is_there = text.split("#[test]").skip(1).any(|rest| {
        let head = rest.split('{').next().unwrap_or_default();
        head.contains(&format!("fn {test}("))
    });
    (!is_there).then(|| format!("{guard}: no such test"))
}

#[test]
fn every_leak_has_a_guard_that_exists() {
    let table = include_str!("LEAKS.md");
    let rows = rows(table);
    assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), (1..=LEAKS).collect::<Vec<_>>());
    let faults: Vec<String> = rows
        .iter()
        .flat_map(|(number, leak, guards)| {
            assert!(leak.len() > 20 && !guards.is_empty(), "{number}: {leak}");
            guards.iter().filter_map(|guard| fault(guard))
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The control: guards that do not exist are told.
#[test]
fn a_guard_that_is_missing_is_noticed() {
    let here = "table.rs::a_guard_that_is_missing_is_noticed";
    assert_eq!(fault(here), None);
    for guard in ["table.rs::fault", "table.rs::nothing", "nothing.rs::fault", "table.rs"] {
        assert!(fault(guard).is_some(), "{guard}");
    }
}
