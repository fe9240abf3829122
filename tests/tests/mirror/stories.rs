//! Random edits of both sides, crashes between any two steps, and what has to hold afterwards:
//! nothing is lost, both sides are equal, and a second mirror does nothing.

use super::*;

/// A generator of numbers that follow from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    fn pick<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        if from.is_empty() { None } else { from.get(self.below(from.len())) }
    }
}

struct Story {
    dice: Dice,
    notes: Connection,
    files: Files,
    /// The next word: each occurs once in all that is written.
    word: u32,
    log: Vec<String>,
    /// The words that two files had in common at some time.
    shared: Words,
}

/// The words of one side.
type Words = BTreeSet<String>;

fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().filter(|word| word.starts_with("word")).map(ToOwned::to_owned)
}

fn texts_of_files(files: &Files) -> Vec<String> {
    files.paths().into_iter().map(|path| files.text(path)).collect()
}

fn texts_of_documents(notes: &Connection) -> Vec<String> {
    documents(notes).iter().map(|it| notes.content_markdown(it.id()).unwrap()).collect()
}

fn words(texts: &[String]) -> Words {
    texts.iter().flat_map(|text| words_of(text)).collect()
}

/// The words that several texts have in common: the versions of a conflict.
fn shared_words(texts: &[String]) -> Words {
    let (mut seen, mut shared) = (Words::new(), Words::new());
    for word in texts.iter().flat_map(|text| words_of(text)) {
        if !seen.insert(word.clone()) {
            shared.insert(word);
        }
    }
    shared
}

impl Story {
    fn new(seed: u64) -> Self {
        let notes = Space::in_memory().unwrap().connect();
        Self {
            dice: Dice(seed),
            notes,
            files: Files::default(),
            word: 0,
            log: Vec::new(),
            shared: Words::new(),
        }
    }

    fn paragraph(&mut self) -> String {
        self.word += 1;
        let mark = ["", "# ", "- ", "- [ ] "][self.dice.below(4)];
        format!("{mark}word{}", self.word)
    }

    fn content(&mut self) -> String {
        let blocks: Vec<_> = (0..1 + self.dice.below(4)).map(|_| self.paragraph()).collect();
        blocks.join("\n\n") + "\n"
    }

    fn name(&mut self) -> String {
        let names = ["Ash", "Birch", "Cedar", "Elm", "Fir", "2026-03-01"];
        names[self.dice.below(names.len())].to_owned()
    }

    fn free_path(&mut self) -> Option<String> {
        let directory = ["", "", "grove/", "grove/deep/", "hill/"][self.dice.below(5)];
        let path = format!("{directory}{}.md", self.name());
        let is_taken = |known: &&str| known.eq_ignore_ascii_case(&path);
        let taken = self.files.paths().iter().any(is_taken);
        (!taken).then_some(path)
    }

    fn edit_text(&mut self, text: &str) -> String {
        let mut blocks: Vec<String> =
            text.split('\n').filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect();
        let new = self.paragraph();
        let at = self.dice.below(blocks.len() + 1);
        match self.dice.below(3) {
            0 if at < blocks.len() => blocks[at] = new,
            1 if at < blocks.len() && blocks.len() > 1 => drop(blocks.remove(at)),
            _ => blocks.insert(at, new),
        }
        blocks.join("\n\n") + "\n"
    }

    fn edit_files(&mut self) {
        let paths: Vec<String> = self.files.files.keys().cloned().collect();
        let path = self.dice.pick(&paths).cloned();
        let (what, free) = (self.dice.below(8), self.free_path());
        self.log.push(format!("file {what} {path:?} {free:?}"));
        match (what, path, free) {
            (0 | 1, _, Some(free)) => {
                let content = self.content();
                self.files.put(&free, content);
            }
            (2..=4, Some(path), _) => {
                let edited = self.edit_text(&self.files.text(&path));
                self.files.put(&path, edited);
            }
            (5 | 6, Some(path), Some(free)) => {
                let file = self.files.files.remove(&path).unwrap();
                self.files.files.insert(free, file);
            }
            // The last one stays: an empty folder is refused.
            (7, Some(path), _) if self.files.files.len() > 1 => {
                self.files.files.remove(&path);
            }
            _ => {}
        }
    }

    fn edit_space(&mut self) {
        let all = documents(&self.notes);
        let document = self.dice.pick(&all).map(|document| document.id());
        let what = self.dice.below(9);
        self.log.push(format!("space {what} {document:?}"));
        let notes = self.notes.clone();
        match (what, document) {
            (0, _) => {
                let (title, content) = (self.name(), self.content());
                if title.starts_with('2') {
                    return;
                }
                let id = notes.create_document(title.as_str()).unwrap().id();
                notes.insert_markdown(&content, id).unwrap();
            }
            (1 | 2, Some(document)) => {
                let text = self.paragraph();
                let position = if what == 1 {
                    Position::end_of(document)
                } else {
                    Position::start_of(document)
                };
                notes.insert_markdown(&text, position).unwrap();
            }
            (3 | 4, Some(document)) => {
                let page = notes.fetch(Fetch::new(document)).unwrap();
                let Some(block) = self.dice.pick(page.children()) else { return };
                let text = self.paragraph();
                if what == 3 {
                    notes.update_markdown(block.id, text.as_str()).unwrap();
                } else if page.children().len() > 1 {
                    notes.delete_blocks(DeleteBlocks::new([block.id])).unwrap();
                }
            }
            (5 | 6, Some(document)) => {
                let record = notes.document(document).unwrap();
                if record.record.day.is_some() {
                    return;
                }
                let name = self.name();
                let patch = DocumentPatch::of(document);
                let patch = if what == 5 {
                    patch.titled(name)
                } else {
                    let folders = notes.folders().unwrap();
                    let folder = folders.iter().find_map(|folder| match folder.id {
                        leafbase::FolderRef::Folder(id) => Some(id),
                        leafbase::FolderRef::BuiltIn(_) => None,
                    });
                    let folder =
                        folder.unwrap_or_else(|| notes.create_folder("meadow", None).unwrap().id);
                    patch.moved_to(folder)
                };
                notes.update_documents(UpdateDocuments::new([patch])).unwrap();
            }
            (7, Some(document)) if all.len() > 1 => {
                notes.delete_documents(DeleteDocuments::new([document])).unwrap();
            }
            _ => {}
        }
    }

    /// Mirrors, with a crash before the n-th step of some runs, until one ends.
    fn mirror(&mut self) {
        for _ in 0..self.dice.below(4) {
            self.files.left = (self.dice.below(2) == 0).then(|| self.dice.below(6) as u32);
            let mut steps = if self.dice.below(2) == 0 { self.dice.below(8) } else { usize::MAX };
            let mut stop = |_| {
                steps = steps.saturating_sub(1);
                if steps == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let done = mirror_files(&self.notes, &mut self.files, &MirrorOptions::new(), &mut stop);
            self.log.push(format!("crashed: {done:?}"));
        }
        self.files.left = None;
        let report = run(&self.notes, &mut self.files);
        self.log.push(format!("mirrored: {report:?}"));
    }

    /// What is wrong with both sides after a mirror.
    fn fault(&self, required: &Words) -> Option<String> {
        let (in_files, in_documents) =
            (words(&texts_of_files(&self.files)), words(&texts_of_documents(&self.notes)));
        if let Some(lost) = required.iter().find(|word| !in_files.contains(*word)) {
            return Some(format!("{lost} is in no file"));
        }
        let normal = |text: &str| {
            let parsed = markdown::parse(text, &markdown::ParseOptions::default()).unwrap();
            markdown::render(&parsed.blocks)
        };
        let [mut files, mut shown] = [texts_of_files(&self.files), texts_of_documents(&self.notes)]
            .map(|texts| texts.iter().map(|text| normal(text)).collect::<Vec<_>>());
        files.sort_unstable();
        shown.sort_unstable();
        if files != shown || in_files != in_documents {
            return Some(format!("files have {files:#?}, documents {shown:#?}"));
        }
        None
    }

    fn check(&mut self, required: &Words, seed: u64) {
        if let Some(fault) = self.fault(required) {
            panic!("seed {seed}: {fault}\n{:#?}\n{:?}", self.log, self.files);
        }
        let writes = self.files.writes;
        let again = run(&self.notes, &mut self.files);
        let is_quiet = again.is_unchanged() && self.files.writes == writes;
        assert!(is_quiet, "seed {seed}: {again:?}\n{:#?}", self.log);
    }

    fn round(&mut self, seed: u64) {
        let common = words(&texts_of_files(&self.files));
        for _ in 0..self.dice.below(6) {
            if self.dice.below(2) == 0 { self.edit_files() } else { self.edit_space() }
        }
        let required = self.required(&common);
        self.mirror();
        self.check(&required, seed);
        self.shared.extend(shared_words(&texts_of_files(&self.files)));
    }

    /// What is on both sides of what was common, and what is new on either.
    fn required(&self, common: &Words) -> Words {
        let (files, documents) = (texts_of_files(&self.files), texts_of_documents(&self.notes));
        let both = &words(&files) & &words(&documents);
        let all = &words(&files) | &words(&documents);
        // Each side may have removed another one of two versions.
        &(&both - &self.shared) | &(&all - common)
    }
}

fn cases() -> u64 {
    tests::cases(60, 2_000)
}

#[test]
fn nothing_is_lost_and_both_sides_are_equal() {
    for seed in 0..cases() {
        let mut story = Story::new(seed);
        story.files.put("Start.md", "word0\n");
        for _ in 0..4 {
            story.round(seed);
        }
        assert!(story.notes.space().check().unwrap().is_clean(), "seed {seed}");
    }
}

/// The control: a file that loses a word, and a document that lacks one, are noticed.
#[test]
fn a_lost_word_is_noticed() {
    let mut story = Story::new(1);
    story.files.put("A.md", "word1\n\nword2\n");
    run(&story.notes, &mut story.files);
    let required = words(&texts_of_files(&story.files));
    assert_eq!(story.fault(&required), None);
    let whole = story.files.clone();
    story.files.put("A.md", "word1\n");
    assert_eq!(story.fault(&required).as_deref(), Some("word2 is in no file"));
    story.files = whole;
    edit(&story.notes, "A", "word2", "word3");
    assert!(story.fault(&required).is_some_and(|fault| fault.starts_with("files have")));
}
