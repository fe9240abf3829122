//! Transcripts: commands after `$ `, each with what it shows and its exit code, run by a shell in a
//! directory of their own.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};

use leafbase::{
    AddItems, Clock, CreateCollection, ItemDraft, PropertyDraft, PropertyKind, Relation,
    SchemaDraft, SelectOption, Space, Timestamp,
};

/// The top of the package.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A directory that commands run in, with the sample notes in `notes`, and a space with collections
/// in `shelf`.
pub(crate) struct Desk {
    directory: tempfile::TempDir,
    ids: HashMap<String, usize>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        copy(&package().join("../vault/examples/tour/notes"), &directory.path().join("notes"));
        library(&directory.path().join("shelf"));
        Self { directory, ids: HashMap::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A shell that knows the program, and nothing of the host. `LEAFBASE_PROGRAMS` names the
    /// folder of an installed one.
    pub(crate) fn shell(&self, line: &str) -> Command {
        let installed = std::env::var_os("LEAFBASE_PROGRAMS").map(PathBuf::from);
        let built = Path::new(env!("CARGO_BIN_EXE_leafbase")).parent().unwrap();
        let programs = installed.unwrap_or_else(|| built.to_owned());
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(line).current_dir(self.path()).env_clear();
        shell.env("PATH", path).env("COLUMNS", "100").env("TZ", "UTC").env("HOME", self.path());
        shell.stdin(std::process::Stdio::null());
        shell
    }

    /// What a line shows, both outputs in one, with its exit code if that is not 0.
    pub(crate) fn run(&mut self, line: &str) -> String {
        let output = self.shell(&format!("{{ {line}\n}} 2>&1")).output().unwrap();
        let mut shown = String::from_utf8(output.stdout).unwrap();
        if !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        match output.status.code() {
            Some(0) => {}
            Some(code) => writeln!(shown, "[exit {code}]").unwrap(),
            None => panic!("{line}: ended by a signal"),
        }
        self.made_alike(&shown)
    }

    /// IDs by the order in which they appear; times, days of the present, tokens and sizes of files
    /// without their digits.
    fn made_alike(&mut self, shown: &str) -> String {
        let shown = shown.replace(&self.path().display().to_string(), "HERE");
        let mut alike = String::new();
        let mut rest = shown.as_str();
        while let Some(letter) = rest.chars().next() {
            let is_inside =
                alike.chars().next_back().is_some_and(|before| before.is_ascii_alphanumeric());
            let (read, written) = match token(rest).filter(|_| !is_inside) {
                Some((length, Token::Id)) => (length, self.id(&rest[..length])),
                Some((length, Token::Alike(text))) => (length, text.to_owned()),
                None => (letter.len_utf8(), letter.to_string()),
            };
            alike += &written;
            rest = &rest[read..];
        }
        alike
    }

    fn id(&mut self, id: &str) -> String {
        let next = self.ids.len() + 1;
        format!("ID{:0>24}", self.ids.entry(id.to_owned()).or_insert(next))
    }
}

enum Token {
    Id,
    Alike(&'static str),
}

/// What begins `text` and is of no other length each time.
fn token(text: &str) -> Option<(usize, Token)> {
    let shape = |pattern: &str| {
        let fits = |(sign, letter): (char, char)| match sign {
            '9' => letter.is_ascii_digit(),
            'A' => letter.is_ascii_uppercase() || letter.is_ascii_digit(),
            'x' => letter.is_ascii_hexdigit() && !letter.is_ascii_uppercase(),
            _ => sign == letter,
        };
        (text.chars().count() >= pattern.len() && pattern.chars().zip(text.chars()).all(fits))
            .then_some(pattern.len())
    };
    let is_present = || {
        text.get(..4)
            .and_then(|year| year.parse().ok())
            .is_some_and(|year: u32| (2026..2090).contains(&year))
    };
    let is_sample = text.starts_with("2026-02-10");
    if let Some(length) = shape("9AAAAAAAAAAAAAAAAAAAAAAAAA") {
        return Some((length, Token::Id));
    }
    if let Some(length) = shape("\"token\":\"xxxxxxxxxxxxxxxx\"") {
        return Some((length, Token::Alike("\"token\":\"TOKEN\"")));
    }
    if let Some(length) = shape("9999-99-99T99:99:99.999Z") {
        return Some((length, Token::Alike("YYYY-MM-DDTHH:MM:SS.mmmZ")));
    }
    if let Some(length) = shape("9999-99-99").filter(|_| is_present() && !is_sample) {
        return Some((length, Token::Alike("YYYY-MM-DD")));
    }
    size(text).or_else(|| day_in_words(text))
}

/// A size such as `568.0 KiB`.
fn size(text: &str) -> Option<(usize, Token)> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let unit =
        ["KiB", "MiB"].into_iter().find(|unit| text[digits..].starts_with(&format!(" {unit}")))?;
    (digits > 0).then_some((digits + 1 + unit.len(), Token::Alike("N KiB")))
}

/// A day such as `Saturday, 21 November 2026`.
fn day_in_words(text: &str) -> Option<(usize, Token)> {
    let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let weekday = weekdays.into_iter().find(|weekday| text.starts_with(&format!("{weekday}, ")))?;
    let mut words = text[weekday.len() + 2..].splitn(3, ' ');
    let (day, month, year) = (words.next()?, words.next()?, words.next()?.get(..4)?);
    let is_day = day.parse::<u8>().is_ok()
        && year.parse().is_ok_and(|year: u16| (2026..2090).contains(&year));
    let is_sample = (day, month, year) == ("10", "February", "2026");
    let length = weekday.len() + 2 + day.len() + 1 + month.len() + 1 + 4;
    (is_day && !is_sample).then_some((length, Token::Alike("Weekday, D Month YYYY")))
}

/// The same transcript with what the commands show now. Of markdown only the blocks of `console`
/// are one.
pub(crate) fn replayed(desk: &mut Desk, text: &str, is_markdown: bool) -> String {
    let (mut shown, mut within, mut skips) = (String::new(), !is_markdown, false);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if is_markdown && line.starts_with("```") {
            within = line == "```console";
            skips = false;
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| within) else {
            // What was shown before goes, up to the next command.
            if !(within && skips) {
                writeln!(shown, "{line}").unwrap();
            }
            continue;
        };
        let mut command = command.to_owned();
        writeln!(shown, "{line}").unwrap();
        while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
            write!(command, "\n{}", &more[2..]).unwrap();
            writeln!(shown, "{more}").unwrap();
        }
        shown += &desk.run(&command);
        skips = true;
    }
    shown
}

/// Runs the transcript in a file, and fails if anything shows something else.
pub(crate) fn check(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let is_markdown = path.extension().is_some_and(|extension| extension == "md");
    let shown = replayed(&mut Desk::new(), &text, is_markdown);
    if std::env::var_os("LEAFBASE_UPDATE").is_some() {
        fs::write(path, &shown).unwrap();
    } else if let Some((number, (old, new))) = text
        .lines()
        .chain([""])
        .zip(shown.lines().chain([""]))
        .enumerate()
        .find(|(_, (old, new))| old != new)
    {
        let (path, number) = (path.display(), number + 1);
        panic!(
            "{path}:{number}\n  stands there: {old}\n  shown:        {new}\n\nall of it:\n{shown}"
        );
    } else {
        assert_eq!(text, shown, "{}", path.display());
    }
}

/// A clock by which IDs sort in the order that they were given out.
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// A space with two related collections.
fn library(path: &Path) {
    let space =
        Space::builder().clock(Ticking(AtomicI64::new(1_700_000_000_000))).create(path).unwrap();
    let notes = space.connect();
    let document = notes.create_document("Library").unwrap().id();
    let authors = SchemaDraft::new("Authors", [PropertyDraft::new("Born", PropertyKind::Date)]);
    let authors = notes.create_collection(CreateCollection::new(authors, document)).unwrap().id;
    let shelves = ["Novel", "Essay"].map(SelectOption::new).to_vec();
    let columns = [
        PropertyDraft::new("Pages", PropertyKind::Number),
        PropertyDraft::new("Read", PropertyKind::Boolean),
        PropertyDraft::new("Shelf", PropertyKind::SingleSelect(shelves)),
        PropertyDraft::new("Authors", Relation::to(authors).with_inverse("books").into()),
    ];
    let books = CreateCollection::new(SchemaDraft::new("Books", columns), document);
    let books = notes.create_collection(books).unwrap().id;
    let people = [("Ursula K. Le Guin", "1929-10-21"), ("Mary Shelley", "1797-08-30")];
    let people = people.map(|(name, born)| {
        let person = ItemDraft::new(name).with("born", born);
        notes.add_items(AddItems::new(authors, [person])).unwrap()[0].id
    });
    let book = |title: &str, pages: u32, shelf: &str, author: usize| {
        let author = vec![people[author].to_string()];
        ItemDraft::new(title).with("pages", pages).with("shelf", shelf).with("authors", author)
    };
    let items = [
        book("The Dispossessed", 387, "Novel", 0).with("read", true),
        book("The Wave in the Mind", 305, "Essay", 0),
        book("Frankenstein", 280, "Novel", 1),
    ];
    notes.add_items(AddItems::new(books, items)).unwrap();
    space.close().unwrap();
}

fn copy(from: &Path, to: &Path) {
    let mut waiting = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = waiting.pop() {
        if from.is_file() {
            fs::copy(&from, &to).unwrap();
            continue;
        }
        fs::create_dir_all(&to).unwrap();
        waiting.extend(fs::read_dir(&from).unwrap().map(|entry| {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        }));
    }
}
