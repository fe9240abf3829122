//! A fleet of hosts that serve many spaces: what spaces cost is measured on this machine, the fleet
//! is simulated with it.
//!
//! `cargo run --release -p benches --bin fleet` prints the tables of `docs/design/scale.md`.
//! FLEET_DOCUMENTS changes the documents of a space, FLEET_COPIES how many spaces are opened,
//! FLEET_SECONDS how long the fleet is simulated.

mod costs;
mod simulation;

use benches::measure::{setting, shown};
use costs::SpaceCosts;
use simulation::{Fleet, Outcome};

/// Memory of a host that is for open spaces.
const HOST_BYTES: f64 = 12.0 * GIB;
const GIB: f64 = (1u64 << 30) as f64;
const HOST_CORES: usize = 8;

fn main() {
    let root = tempfile::tempdir().expect("a directory");
    let documents = setting("FLEET_DOCUMENTS", 50);
    let costs = SpaceCosts::measure(root.path(), documents, setting("FLEET_COPIES", 60));
    println!("{}", costs.table());

    let at_rest = |fleet: &Fleet| fleet.spaces as f64 * costs.bytes_at_rest / GIB;
    println!(
        "| fleet | requests a second | at rest | opened for a request | busy cores, mean and hottest host | median | 99 % | 99.9 % | moves |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (name, fleet) in fleets(setting("FLEET_SECONDS", 300) as f64) {
        let Outcome { opened, busy, hottest, latencies, moves } = fleet.simulate(&costs);
        println!(
            "| {name} | {:.0} | {:.0} GiB | {:.2} % | {:.1} and {:.1} of {HOST_CORES} | {} | {} | {} | {moves} |",
            fleet.requests_per_second,
            at_rest(&fleet),
            opened * 100.0,
            busy * HOST_CORES as f64,
            hottest * HOST_CORES as f64,
            shown(latencies.share(0.5)),
            shown(latencies.share(0.99)),
            shown(latencies.share(0.999)),
        );
    }
}

/// What is simulated, each for `seconds`.
fn fleets(seconds: f64) -> Vec<(&'static str, Fleet)> {
    let of = |spaces, hosts, requests_per_second| Fleet {
        spaces,
        hosts,
        cores: HOST_CORES,
        memory: HOST_BYTES,
        requests_per_second,
        seconds,
        hot_share: 0.0,
        moves_hot: true,
        lost_host_at: None,
    };
    let million = of(1_000_000, 8, 80_000.0);
    let hot = Fleet { hot_share: 0.25, ..of(100_000, 4, 40_000.0) };
    vec![
        ("1,000 spaces, one host", of(1_000, 1, 10_000.0)),
        ("100,000 spaces, four hosts", of(100_000, 4, 40_000.0)),
        ("a million spaces, eight hosts", million.clone()),
        (
            "a million spaces, eight hosts with a fourth of the memory",
            Fleet { memory: HOST_BYTES / 4.0, ..million.clone() },
        ),
        (
            "100,000 spaces, ten of them have a fourth of the requests, none moves",
            Fleet { moves_hot: false, ..hot.clone() },
        ),
        ("the same, hot spaces move", hot),
        (
            "a million spaces, one of eight hosts is lost",
            Fleet { lost_host_at: Some(seconds / 2.0), ..million },
        ),
    ]
}
