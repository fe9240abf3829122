//! The same work in spaces of several sizes, and by how much its time grows.

use crate::report::Report;
use crate::space::Space;
use crate::{Bench, PEERS, apart};
use benches::measure::{median, shown, sync_probe};
use benches::ratio::Ratio;
use benches::saved::{self, Grown, GrowthRow, Growths, finite, grouped};
use benches::workload::Generator;
use std::path::Path;

/// The most that an answer of the same size may cost in the largest space, as a multiple of the
/// smallest.
const BAR: f64 = 1.5;
/// Leafbase, and the `SQLite` that owns its file.
const ENTRIES: usize = 2;

/// The blocks of the largest document in each, which is not measured: it would be all of the
/// smallest space.
const LARGE: usize = 1_000;

/// Measures spaces of so many documents by turns, and writes `peers-growth.json`.
pub fn measure(rounds: usize, sizes: &[usize]) {
    let mut benches: Vec<Bench> = sizes.iter().map(|documents| bench(*documents)).collect();
    let blocks: Vec<usize> = benches.iter().map(|bench| bench.space.blocks()).collect();
    let mut probes = Vec::new();
    for round in 0..rounds {
        for at in 0..benches.len() {
            let bench = &mut benches[(at + round) % sizes.len()];
            bench.round = round;
            bench.reads();
            probes.push(shown(sync_probe(bench.root.path()).expect("probe")));
            bench.durable_edits();
            bench.relaxed_edits();
            bench.agree();
            bench.openings();
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    let only = benches[0].only.clone();
    let reports: Vec<&Report> = benches.iter().map(|bench| &bench.report).collect();
    let results = Growths { documents: sizes.to_vec(), blocks, bar: BAR, rows: rows(&reports) };
    let sizes: Vec<String> = results.blocks.iter().copied().map(grouped).collect();
    println!(
        "\n{} blocks; {rounds} rounds; to append 200 bytes and sync them took {}\n",
        sizes.join(", "),
        probes.join(", ")
    );
    println!("{}", results.table());
    for (row, growth) in results.above() {
        println!("{row} grows by {growth:.2}, above {BAR}");
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
    saved::save(&target.join("peers-growth.json"), rounds, &only, results)
        .expect("peers-growth.json");
}

fn bench(documents: usize) -> Bench {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut make = Generator::new(7);
    let space = apart(|| Space::new(&mut make, documents, LARGE));
    eprintln!("{documents} documents are made");
    Bench::new(root, &PEERS[..ENTRIES], space, make)
}

fn rows(reports: &[&Report]) -> Vec<GrowthRow> {
    let row = |op: &str| {
        let cells: Vec<[&[f64]; 2]> =
            reports.iter().filter_map(|report| report.cells(op)).collect();
        let [leafbase, sqlite] = [0, 1].map(|who| {
            let growth = cells
                .last()
                .zip(cells.first())
                .and_then(|(last, first)| Ratio::of(last[who], first[who]));
            Grown {
                ns: cells.iter().map(|cells| finite(median(cells[who].to_vec()))).collect(),
                growth,
            }
        });
        // The slowest of a hundred calls is chance.
        GrowthRow { op: op.to_owned(), leafbase, sqlite, is_barred: !op.ends_with("percentile") }
    };
    let ops = reports.first().into_iter().flat_map(|report| report.ops());
    ops.filter(|op| !op.contains("10,000")).map(row).collect()
}
