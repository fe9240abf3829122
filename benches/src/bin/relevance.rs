//! How well searches rank, by judged queries: nDCG@10 of both sets of `../shared/relevance`, beside
//! SQLite's FTS5.
//!
//! `cargo run --release -p benches --bin relevance`. RELEVANCE_DIR names another folder. It fails
//! if the folder is missing, or a set is below its bar.

use leafbase::{
    BlockData, BlockDraft, Connection, CreateDocuments, Destination, DocumentId, Durability,
    InsertBlocks, Position, SearchDocuments, SearchIndexing, Space,
};
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Ranks that count.
const RANKS: usize = 10;
/// The longest text that a search takes, in bytes.
const LONGEST: usize = 256;

/// A set, and what SQLite's FTS5 reaches with it as its README says: with words as they are, and
/// with stems.
struct Set {
    name: &'static str,
    baselines: [f64; 2],
    bar: f64,
}

const SETS: [Set; 2] = [
    Set { name: "scifact", baselines: [0.673, 0.701], bar: 0.70 },
    Set { name: "anchors", baselines: [0.683, 0.658], bar: 0.70 },
];

/// A text with a name.
struct Named {
    name: String,
    title: String,
    text: String,
}

/// The names of documents by query.
type Judged = HashMap<String, HashSet<String>>;

fn main() -> ExitCode {
    let home = std::env::var_os("RELEVANCE_DIR")
        .map_or_else(|| PathBuf::from("../shared/relevance"), PathBuf::from);
    match run(&home) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("relevance: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all sets reach their bars.
fn run(home: &Path) -> Outcome<bool> {
    if !home.is_dir() {
        return Err(format!(
            "there is no folder {}: run from the top of the repository",
            home.display()
        )
        .into());
    }
    println!("| set | documents | queries | nDCG@10 | FTS5 | FTS5, stems | bar | |");
    println!("|---|---:|---:|---:|---:|---:|---:|---|");
    let mut is_met = true;
    for Set { name, baselines: [plain, stems], bar } in &SETS {
        let folder = home.join(name);
        let documents =
            if *name == "scifact" { abstracts(&folder)? } else { notes(&home.join("../corpus"))? };
        let queries = texts(&folder.join("queries.jsonl"), "text")?;
        let right = judged(&folder.join("qrels.tsv"))?;
        let ignored = judged(&folder.join("ignore.tsv")).unwrap_or_default();
        let found = mean(&Searched::fill(&documents)?, &queries, &right, &ignored)?;
        is_met &= found >= *bar;
        let verdict = if found >= *bar { "ok" } else { "MISSED" };
        let (documents, queries) = (documents.len(), queries.len());
        println!(
            "| {name} | {documents} | {queries} | {found:.4} | {plain:.3} | {stems:.3} | {bar:.2} | {verdict} |"
        );
    }
    Ok(is_met)
}

fn read(path: &Path) -> Outcome<String> {
    read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// A field of each line of JSON, by name.
fn texts(path: &Path, field: &str) -> Outcome<Vec<(String, String)>> {
    let line = |line: &str| -> Outcome<_> {
        let line: serde_json::Value = serde_json::from_str(line)?;
        let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        Ok((text("_id"), text(field)))
    };
    read(path)?.lines().map(line).collect()
}

/// Names by query, from a table with a heading.
fn judged(path: &Path) -> Outcome<Judged> {
    let mut judged = Judged::new();
    for line in read(path)?.lines().skip(1) {
        let mut cells = line.split('\t');
        if let (Some(query), Some(name)) = (cells.next(), cells.next())
            && cells.next() != Some("0")
        {
            judged.entry(query.to_owned()).or_default().insert(name.to_owned());
        }
    }
    Ok(judged)
}

fn abstracts(folder: &Path) -> Outcome<Vec<Named>> {
    let path = folder.join("corpus.jsonl");
    let (titles, texts) = (texts(&path, "title")?, texts(&path, "text")?);
    let both = titles.into_iter().zip(texts);
    Ok(both.map(|((name, title), (_, text))| Named { name, title, text }).collect())
}

/// The markdown files below a folder. The first heading is the title, or what the file is called.
fn notes(corpus: &Path) -> Outcome<Vec<Named>> {
    let (mut found, mut folders) = (Vec::new(), vec![corpus.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md")
                && folder != corpus
            {
                found.push(note(&path, corpus)?);
            }
        }
    }
    found.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

fn note(path: &Path, corpus: &Path) -> Outcome<Named> {
    let name = path.strip_prefix(corpus)?.to_string_lossy().into_owned();
    let text = read(path)?;
    let heading =
        text.lines().find_map(|line| line.strip_prefix("# ")).map(|line| line.trim().to_owned());
    let title =
        heading.or_else(|| Some(path.file_stem()?.to_string_lossy().replace(['-', '_'], " ")));
    Ok(Named { name, title: title.unwrap_or_default(), text })
}

/// A space that is searched.
struct Searched {
    connection: Connection,
    names: HashMap<DocumentId, String>,
}

impl Searched {
    fn fill(documents: &[Named]) -> Outcome<Self> {
        let builder = Space::builder()
            .durability(Durability::Relaxed)
            .search_indexing(SearchIndexing::OnDemand);
        let space = builder.in_memory()?;
        let (connection, mut names) = (space.connect(), HashMap::new());
        for Named { name, title, text } in documents {
            let title = BlockDraft::new(BlockData::page(title));
            let made = connection
                .create_documents(CreateDocuments::new(vec![title], Destination::Unsorted));
            let made = made.map_err(|error| format!("{name}: {error}"))?;
            let Some(id) = made.iter().next().map(leafbase::Document::id) else { continue };
            if connection.insert_markdown(text, Position::end_of(id)).is_err() {
                // Markdown that blocks cannot say goes in line by line.
                let lines =
                    text.lines().filter(|line| !line.trim().is_empty()).map(BlockData::text);
                let blocks = lines.map(BlockDraft::new).collect();
                let inserted =
                    connection.insert_blocks(InsertBlocks::blocks(blocks, Position::end_of(id)));
                inserted.map_err(|error| format!("{name}: {error}"))?;
            }
            names.insert(id, name.clone());
        }
        space.flush_search()?;
        Ok(Self { connection, names })
    }

    /// The best documents of the default mode.
    fn ask(&self, query: &str) -> Outcome<Vec<&str>> {
        let mut texts: Vec<String> = Vec::new();
        for word in query.split_whitespace() {
            match texts.last_mut() {
                Some(last) if last.len() + word.len() < LONGEST => {
                    last.push(' ');
                    last.push_str(word);
                }
                _ => texts.push(word.to_owned()),
            }
        }
        let request = texts.into_iter().fold(SearchDocuments::default(), SearchDocuments::and);
        let found = self.connection.search(request)?;
        Ok(found
            .iter()
            .filter_map(|found| self.names.get(&found.document_id))
            .map(String::as_str)
            .collect())
    }
}

fn mean(
    searched: &Searched,
    queries: &[(String, String)],
    right: &Judged,
    ignored: &Judged,
) -> Outcome<f64> {
    let (mut sum, none) = (0.0, HashSet::new());
    for (id, text) in queries {
        let (right, ignored) = (right.get(id).unwrap_or(&none), ignored.get(id).unwrap_or(&none));
        let found = searched.ask(text)?.into_iter().filter(|name| !ignored.contains(*name));
        let gains = (0..)
            .zip(found.take(RANKS))
            .filter(|(_, name)| right.contains(*name))
            .map(|(rank, _)| gain(rank));
        let ideal: f64 = (0..right.len().min(RANKS)).map(gain).sum();
        sum += gains.sum::<f64>() / ideal.max(f64::MIN_POSITIVE);
    }
    Ok(sum / queries.len().max(1) as f64)
}

/// What a right document is worth, by its rank from 0.
fn gain(rank: usize) -> f64 {
    1.0 / (rank as f64 + 2.0).log2()
}
