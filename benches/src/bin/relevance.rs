//! How well searches rank, by judged queries: nDCG@10 of both sets of `../shared/relevance`, beside
//! SQLite's FTS5.
//!
//! `cargo run --release -p benches --bin relevance`. RELEVANCE_DIR names another folder. It fails
//! if the folder is missing, or a set is below its bar. With `--misspelt` each query has an edit in
//! one word, and the bar is a share of the score without. Phrases are never corrected: both scores
//! are of queries without quotation marks.
//!
//! LEAFBASE_RELEVANCE names further sets of the same form, separated by colons: folders with
//! `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`, each with the codes of its languages after an
//! equals sign, if they need naming (`xquad/de=de`). They have no bar.

use leafbase::{
    BlockData, BlockDraft, Connection, CreateDocuments, Destination, DocumentId, Durability,
    InsertBlocks, Language, Position, SearchDocuments, SearchIndexing, Space,
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

/// The share of its score that a set keeps with a misspelt word in each query.
const MISSPELT_BAR: f64 = 0.85;
/// The length of the shortest word that is misspelt, in characters: shorter ones are not corrected.
const MIN_MISSPELT_CHARS: usize = 4;

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
    let is_misspelt = std::env::args().any(|argument| argument == "--misspelt");
    let outcome = if is_misspelt { run_misspelt(&home) } else { run(&home) };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("relevance: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Fails without the folder of the sets.
fn check(home: &Path) -> Outcome<()> {
    if home.is_dir() {
        return Ok(());
    }
    let home = home.display();
    Err(format!("there is no folder {home}: run from the top of the repository").into())
}

/// Documents with judged queries.
struct JudgedSet {
    searched: Searched,
    documents: usize,
    queries: Vec<(String, String)>,
    right: Judged,
    ignored: Judged,
}

impl JudgedSet {
    fn read(home: &Path, name: &str) -> Outcome<Self> {
        let folder = home.join(name);
        let documents =
            if name == "anchors" { notes(&home.join("../corpus"))? } else { abstracts(&folder)? };
        Self::of(&folder, &documents, &[])
    }

    fn of(folder: &Path, documents: &[Named], languages: &[Language]) -> Outcome<Self> {
        Ok(Self {
            searched: Searched::fill(documents, languages)?,
            documents: documents.len(),
            queries: texts(&folder.join("queries.jsonl"), "text")?,
            right: judged(&folder.join("qrels.tsv"))?,
            ignored: judged(&folder.join("ignore.tsv")).unwrap_or_default(),
        })
    }

    /// The score of queries in place of its own.
    fn mean(&self, queries: &[(String, String)]) -> Outcome<f64> {
        mean(&self.searched, queries, &self.right, &self.ignored)
    }
}

/// Prints a line for each further set that is named.
fn further_sets() -> Outcome<()> {
    for named in std::env::var("LEAFBASE_RELEVANCE").unwrap_or_default().split(':') {
        if named.is_empty() {
            continue;
        }
        let (folder, codes) = named.split_once('=').unwrap_or((named, ""));
        let codes = codes.split(',').filter(|code| !code.is_empty());
        let languages = codes.map(str::parse).collect::<leafbase::Result<Vec<Language>>>()?;
        let documents = abstracts(Path::new(folder))?;
        let set = JudgedSet::of(Path::new(folder), &documents, &languages)?;
        let found = set.mean(&set.queries)?;
        let beside = fts5(&documents, &set)?;
        let (documents, queries) = (set.documents, set.queries.len());
        println!("| {named} | {documents} | {queries} | {found:.4} | {beside:.3} | | | |");
    }
    Ok(())
}

/// The score of SQLite's FTS5 with the words of each query joined by OR.
fn fts5(documents: &[Named], set: &JudgedSet) -> Outcome<f64> {
    let database = rusqlite::Connection::open_in_memory()?;
    database.execute_batch("CREATE VIRTUAL TABLE words USING fts5(name UNINDEXED, title, body)")?;
    for Named { name, title, text } in documents {
        database.execute("INSERT INTO words VALUES (?1, ?2, ?3)", [name, title, text])?;
    }
    let statement = "SELECT name FROM words WHERE words MATCH ?1 ORDER BY bm25(words) LIMIT ?2";
    let mut statement = database.prepare(statement)?;
    let (mut sum, none) = (0.0, HashSet::new());
    for (id, text) in &set.queries {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).map(|word| format!("\"{word}\""));
        let query = words.collect::<Vec<_>>().join(" OR ");
        let found = statement.query_map((query, RANKS as i64), |row| row.get(0))?;
        let found = found.collect::<Result<Vec<String>, _>>()?;
        sum += ndcg(found.iter().map(String::as_str), set.right.get(id).unwrap_or(&none));
    }
    Ok(sum / set.queries.len().max(1) as f64)
}

/// Whether all sets keep their share with a misspelt word in each query.
fn run_misspelt(home: &Path) -> Outcome<bool> {
    check(home)?;
    println!("| set | misspelt queries | nDCG@10 | without | share | bar | |");
    println!("|---|---:|---:|---:|---:|---:|---|");
    let mut is_met = true;
    for Set { name, .. } in &SETS {
        let mut set = JudgedSet::read(home, name)?;
        for (_, text) in &mut set.queries {
            text.retain(|letter| !"\"“”„«»".contains(letter));
        }
        let mut dice = Dice(SEED);
        let queries = set.queries.iter().map(|(id, text)| (id.clone(), misspelt(text, &mut dice)));
        let queries: Vec<_> = queries.collect();
        let changed = queries.iter().zip(&set.queries).filter(|(one, other)| one != other).count();
        let (found, without) = (set.mean(&queries)?, set.mean(&set.queries)?);
        let share = found / without.max(f64::MIN_POSITIVE);
        is_met &= share >= MISSPELT_BAR;
        let verdict = if share >= MISSPELT_BAR { "ok" } else { "MISSED" };
        println!(
            "| {name} | {changed} | {found:.4} | {without:.4} | {share:.3} | {MISSPELT_BAR:.2} | {verdict} |"
        );
    }
    Ok(is_met)
}

/// Where the random numbers of misspelt words start.
const SEED: u64 = 27;

/// Random numbers that are the same in each run (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

/// The query with an insertion, a deletion, a replacement or a transposition in one of its words.
fn misspelt(query: &str, dice: &mut Dice) -> String {
    let words: Vec<&str> = query.split_whitespace().collect();
    let is_long = |word: &&str| {
        word.chars().count() >= MIN_MISSPELT_CHARS && word.chars().all(char::is_alphabetic)
    };
    let long: Vec<usize> = (0..words.len()).filter(|at| is_long(&words[*at])).collect();
    if long.is_empty() {
        return query.to_owned();
    }
    let chosen = long[dice.below(long.len())];
    let mut letters: Vec<char> = words[chosen].chars().collect();
    let letter = char::from(b'a' + u8::try_from(dice.below(26)).unwrap_or_default());
    match dice.below(4) {
        0 => letters.insert(dice.below(letters.len() + 1), letter),
        1 => drop(letters.remove(dice.below(letters.len()))),
        2 => {
            let at = dice.below(letters.len());
            letters[at] = letter;
        }
        _ => {
            let at = dice.below(letters.len() - 1);
            letters.swap(at, at + 1);
        }
    }
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    words[chosen] = letters.into_iter().collect();
    words.join(" ")
}

/// Whether all sets reach their bars.
fn run(home: &Path) -> Outcome<bool> {
    check(home)?;
    println!("| set | documents | queries | nDCG@10 | FTS5 | FTS5, stems | bar | |");
    println!("|---|---:|---:|---:|---:|---:|---:|---|");
    let mut is_met = true;
    for Set { name, baselines: [plain, stems], bar } in &SETS {
        let set = JudgedSet::read(home, name)?;
        let found = set.mean(&set.queries)?;
        is_met &= found >= *bar;
        let verdict = if found >= *bar { "ok" } else { "MISSED" };
        let (documents, queries) = (set.documents, set.queries.len());
        println!(
            "| {name} | {documents} | {queries} | {found:.4} | {plain:.3} | {stems:.3} | {bar:.2} | {verdict} |"
        );
    }
    further_sets()?;
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
    fn fill(documents: &[Named], languages: &[Language]) -> Outcome<Self> {
        let builder = Space::builder()
            .languages(languages.iter().copied())
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
        // A run of a script without spaces may be longer than a text of a search.
        let letters: Vec<char> = query.chars().collect();
        let is_long = query.split_whitespace().any(|word| word.len() > LONGEST);
        let parts = letters.chunks(if is_long { LONGEST / 4 } else { usize::MAX });
        let parts: Vec<String> = parts.map(|part| part.iter().collect()).collect();
        for word in parts.iter().flat_map(|part| part.split_whitespace()) {
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
        sum += ndcg(found, right);
    }
    Ok(sum / queries.len().max(1) as f64)
}

fn ndcg<'n>(found: impl Iterator<Item = &'n str>, right: &HashSet<String>) -> f64 {
    let ranked = (0..).zip(found.take(RANKS)).filter(|(_, name)| right.contains(*name));
    let ideal: f64 = (0..right.len().min(RANKS)).map(gain).sum();
    ranked.map(|(rank, _)| gain(rank)).sum::<f64>() / ideal.max(f64::MIN_POSITIVE)
}

/// What a right document is worth, by its rank from 0.
fn gain(rank: usize) -> f64 {
    1.0 / (rank as f64 + 2.0).log2()
}
