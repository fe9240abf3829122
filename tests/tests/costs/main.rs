//! The guide's page of costs says what the operations cost: reads, commits, syncs and allocations
//! of each, counted in a small space and in one ten times as large.
//!
//! `LEAFBASE_UPDATE=1 cargo test --workspace --test costs` writes the tables of the page.

mod counted_store;
mod growth;
mod operations;
mod page;
mod sample_space;

use std::fs;
use std::path::PathBuf;

use counted_store::StoreCounts;
use operations::{Operation, SECTIONS};
use page::{Cell, Row, Section};
use sample_space::SampleSpace;

/// Documents of the two spaces.
const DOCUMENTS: [usize; 2] = [500, 5_000];

/// What an operation cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    store: StoreCounts,
    allocations: u64,
}

/// The cost of an operation, of which another call came before: what a space learns about itself
/// with the first call of its kind is not counted.
fn measure(space: &mut SampleSpace, operation: &Operation) -> Cost {
    let mut cost = None;
    for _ in 0..2 {
        space.settle();
        let call = (operation.prepare)(space);
        space.counter.take();
        let measured = allocation_counter::measure(|| call(&space.notes));
        cost = Some(Cost { store: space.counter.take(), allocations: measured.count_total });
    }
    cost.expect("two calls")
}

/// The costs of every operation in a space of this number of documents.
fn costs(documents: usize) -> Vec<Cost> {
    let mut space = SampleSpace::of(documents);
    let operations = SECTIONS.iter().flat_map(|(_, operations)| *operations);
    operations.map(|operation| measure(&mut space, operation)).collect()
}

/// The row of an operation with its costs in the small and in the large space.
fn row(operation: &Operation, small: Cost, large: Cost) -> Row {
    let exact =
        |count: fn(&StoreCounts) -> u64| Cell::exact(count(&small.store), count(&large.store));
    let cells = vec![
        exact(|counts| counts.lookups),
        exact(|counts| counts.ranges),
        exact(|counts| counts.entries),
        exact(|counts| counts.commits),
        exact(|counts| counts.syncs),
        Cell::rounded(small.allocations, large.allocations),
    ];
    Row { operation: operation.name.to_owned(), cells }
}

/// The sections of the page as measured.
fn measured() -> Vec<Section> {
    let [small, large] = DOCUMENTS.map(costs);
    let mut costs = small.into_iter().zip(large);
    let mut section = |(heading, operations): &(&'static str, &[Operation])| {
        let rows = operations.iter().zip(&mut costs);
        let rows = rows.map(|(operation, (small, large))| row(operation, small, large));
        (*heading, rows.collect())
    };
    SECTIONS.iter().map(&mut section).collect()
}

fn page_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates/engine/guide/costs.md")
}

#[test]
fn the_page_of_costs_says_what_is_measured() {
    let text = fs::read_to_string(page_path()).unwrap();
    let measured = measured();
    if std::env::var_os("LEAFBASE_UPDATE").is_some() {
        fs::write(page_path(), page::with_tables(&text, &measured)).unwrap();
        return;
    }
    let differences = page::differences(&page::rows(&text), &measured);
    assert!(
        differences.is_empty(),
        "{}\nLEAFBASE_UPDATE=1 cargo test --workspace --test costs writes what is measured.",
        differences.join("\n")
    );
}

mod controls {
    use super::*;

    const EMPTY_PAGE: &str = "Costs\n\n<!-- Measured by tests/tests/costs. -->\n";

    /// What a page says otherwise, that was made of the first cost, when the second is measured.
    fn differences(stored: Cost, present: Cost) -> Vec<String> {
        let operation = Operation::named("`fetch`: a block by ID");
        let page =
            page::with_tables(EMPTY_PAGE, &[("Blocks", vec![row(operation, stored, stored)])]);
        page::differences(&page::rows(&page), &[("Blocks", vec![row(operation, stored, present)])])
    }

    #[test]
    fn one_more_read_is_noticed() {
        let mut space = SampleSpace::of(250);
        let fetch = Operation::named("`fetch`: a block by ID");
        // The cache of locations grows here, and not between two measurements.
        for block in space.subject().blocks {
            space.notes.fetch(leafbase::Fetch::new(block).depth(0)).unwrap();
        }
        let cost = measure(&mut space, fetch);
        assert_eq!(measure(&mut space, fetch), cost);
        let fetch_and_read = Operation {
            name: fetch.name,
            prepare: |space| {
                let (one, other) = (space.subject().blocks[50], space.subject().blocks[50]);
                Box::new(move |notes| {
                    drop(notes.fetch(leafbase::Fetch::new(one).depth(0)).unwrap());
                    notes.document_of(other).unwrap();
                })
            },
        };
        let more = measure(&mut space, &fetch_and_read);
        assert_eq!(more.store.lookups, cost.store.lookups + 1);
        assert_eq!(differences(cost, cost), [""; 0]);
        assert_eq!(differences(cost, more).len(), 1);
    }

    #[test]
    fn one_more_sync_and_a_quarter_more_allocations_are_noticed() {
        let store = StoreCounts { commits: 1, syncs: 1, ..StoreCounts::default() };
        let cost = Cost { store, allocations: 1_000 };
        let synced_twice = Cost { store: StoreCounts { syncs: 2, ..store }, ..cost };
        assert_eq!(differences(cost, synced_twice).len(), 1);
        assert_eq!(differences(cost, Cost { allocations: 1_250, ..cost }).len(), 1);
        assert_eq!(differences(cost, Cost { allocations: 1_050, ..cost }), [""; 0]);
    }

    #[test]
    fn an_operation_that_only_one_of_both_has_is_noticed() {
        let cost = Cost { store: StoreCounts::default(), allocations: 7 };
        let rows = ["`fetch`: a block by ID", "`create_document`"];
        let [fetch, create] = rows.map(|name| row(Operation::named(name), cost, cost));
        let page = page::with_tables(EMPTY_PAGE, &[("Blocks", vec![fetch])]);
        assert_eq!(page::differences(&page::rows(&page), &[("Blocks", vec![create])]).len(), 2);
    }
}
