//! Puts what the benches measured into `benches/README.md`, as tables between markers, and draws
//! it: `benches/plots`.
//!
//! `cargo run --release -p benches --bin report`, from the top of the repository, after `cargo
//! bench -p benches --bench <name>` of what is to be shown anew. An argument names another folder
//! than `benches`. What was not measured, or not whole, stays as it is.

mod plot;

use benches::saved::{Compared, Growths, Saved, grouped, load};
use benches::section::replaced;
use plot::{Plot, Row};
use serde::de::DeserializeOwned;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Of fewer rounds nothing is shown: it would be chance.
const ROUNDS: usize = 3;

/// The benches that compare, and what their plots say.
const COMPARED: [(&str, &str); 7] = [
    ("peers", "Leafbase's time over the better SQLite's"),
    ("collections", "Leafbase's time over SQLite's, two related collections"),
    ("search", "Leafbase's time over that of the best SQLite with FTS5"),
    ("vectors", "The time of a search by vectors over that of a loop over their bytes"),
    ("scope", "A scoped connection's time over a full one's"),
    ("backends", "The time over PostgreSQL over that of tables that are written by hand"),
    ("threads", "The time of several threads for one operation over that of one thread"),
];
/// Those of them that have a floor.
const FLOORS: [&str; 2] = ["peers", "search"];

fn main() -> ExitCode {
    let home = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("benches"), PathBuf::from);
    match run(&home) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("report: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(home: &Path) -> Outcome<()> {
    let readme = home.join("README.md");
    let text = std::fs::read_to_string(&readme).map_err(|error| {
        format!("{}: {error}; run from the top of the repository", readme.display())
    })?;
    std::fs::create_dir_all(home.join("plots"))?;
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("the target directory")?;
    let mut report = Report { target, home, text };
    let mut floors = Vec::new();
    for (bench, title) in COMPARED {
        if let Some(results) = report.measured::<Compared>(bench) {
            report.compared(bench, title, &results)?;
            if FLOORS.contains(&bench) {
                floors.push(results);
            }
        }
    }
    if floors.len() == FLOORS.len() {
        report.floors(&floors)?;
    }
    for (bench, plot) in [("scale", "growth"), ("peers-growth", "peers-growth")] {
        if let Some(growths) = report.measured::<Growths>(bench) {
            report.growths(bench, plot, &growths)?;
        }
    }
    Ok(std::fs::write(readme, report.text)?)
}

struct Report<'a> {
    target: &'a Path,
    home: &'a Path,
    text: String,
}

impl Report<'_> {
    /// What a bench left; none, and a word on why, if it can't be shown.
    fn measured<T: DeserializeOwned>(&self, bench: &str) -> Option<T> {
        let why = match load::<T>(&self.target.join(format!("{bench}.json"))) {
            Ok(Saved { rounds, .. }) if rounds < ROUNDS => format!("{rounds} rounds are too few"),
            Ok(Saved { only, .. }) if !only.is_empty() => {
                format!("only rows with \"{only}\" were measured")
            }
            Ok(Saved { results, .. }) => return Some(results),
            Err(error) => format!("{bench}.json in the target directory: {error}"),
        };
        let command = match bench {
            "peers-growth" => {
                "PEERS_DOCUMENTS=100,1000,9900 cargo bench -p benches --bench peers".to_owned()
            }
            "vectors" => "SEARCH_ONLY=vectors cargo bench -p benches --bench search".to_owned(),
            bench => format!("cargo bench -p benches --bench {bench}"),
        };
        println!("{bench}: stays as it is; {why}. `{command}` measures all");
        None
    }

    fn put(&mut self, name: &str, content: &str) -> Outcome<()> {
        let missing =
            || format!("README.md has no place between <!-- {name} --> and <!-- /{name} -->");
        self.text = replaced(&self.text, name, content).ok_or_else(missing)?;
        println!("{name}: written");
        Ok(())
    }

    /// Draws, and gives the line that shows the plot.
    fn draw(&self, name: &str, plot: &Plot) -> Outcome<String> {
        plot.draw(&self.home.join("plots").join(format!("{name}.svg")))?;
        Ok(format!("\n![{}](plots/{name}.svg)\n", plot.title))
    }

    fn compared(&mut self, bench: &str, title: &str, results: &Compared) -> Outcome<()> {
        let rows = results.rows.iter().filter_map(|row| {
            Some(Row { name: row.op.clone(), ratio: row.ratio?, bar: row.bar, other: None })
        });
        let rows = rows.collect();
        let plot = Plot { title: title.to_owned(), below: "less is faster", other: None, rows };
        let image = self.draw(bench, &plot)?;
        self.put(bench, &(results.table() + &image))
    }

    /// How far Leafbase is from what any would take at least.
    fn floors(&mut self, all: &[Compared]) -> Outcome<()> {
        let rows = all.iter().flat_map(|results| {
            results.rows.iter().filter_map(|row| {
                let over =
                    row.ns[results.measured]? / row.ns.get(results.floor?).copied().flatten()?;
                let ratio = benches::ratio::Ratio { median: over, low: over, high: over };
                Some(Row { name: row.op.clone(), ratio, bar: None, other: None })
            })
        });
        let title =
            "Leafbase's time over the floor: bare redb and rmp-serde, pulldown-cmark, tantivy, regex".to_owned();
        let plot = Plot {
            title,
            below: "at 1 nothing is added to the floor",
            other: None,
            rows: rows.collect(),
        };
        let image = self.draw("floors", &plot)?;
        self.put("floors", image.trim_start())
    }

    fn growths(&mut self, bench: &str, name: &str, results: &Growths) -> Outcome<()> {
        let rows = results.rows.iter().filter_map(|row| {
            let bar = row.is_barred.then_some(results.bar);
            let other = row.sqlite.growth.map(|growth| growth.median);
            Some(Row { name: row.op.clone(), ratio: row.leafbase.growth?, bar, other })
        });
        let ends = [results.blocks.first(), results.blocks.last()]
            .map(|blocks| grouped(*blocks.unwrap_or(&0)));
        let title =
            format!("Time in a space of {} blocks over that in one of {}", ends[1], ends[0]);
        let plot =
            Plot { title, below: "less is better", other: Some("SQLite"), rows: rows.collect() };
        let image = self.draw(name, &plot)?;
        self.put(bench, &(results.table() + &image))
    }
}
