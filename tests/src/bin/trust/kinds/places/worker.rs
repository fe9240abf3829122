//! The child process: it opens spaces and calls them as the lines of its input say, one reply to
//! each line. It decides nothing: paths, texts and the order of calls come from the trial.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use leafbase::{
    BlockPatch, Change, ChangePosition, ChangeToken, DeleteDocuments, DocumentId, Durability,
    Error, IdSource, Invariant, SearchDocuments, SearchIndexing, Space, SpaceBuilder, Timestamp,
    UpdateBlocks,
};

use crate::random::Random;
use crate::world::work::is_deleted;

/// Starts this program as a worker.
pub const ARGUMENT: &str = "--work-in-places";

/// The first field of a reply.
pub const DONE: &str = "done";
pub const REFUSED: &str = "refused";
pub const PANIC: &str = "panic";

/// What the first field of a problem says if the search index alone is concerned.
pub const INDEX_PROBLEM: &str = "index";

/// IDs and tokens from a seed. With `same_tokens` no history differs from another by its tokens.
#[derive(Clone)]
struct SeededIds {
    random: Arc<Mutex<Random>>,
    same_tokens: bool,
}

impl SeededIds {
    fn next(&self) -> u64 {
        self.random.lock().unwrap_or_else(PoisonError::into_inner).next()
    }
}

impl IdSource for SeededIds {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        let (high, low) = (self.next() >> 4, self.next());
        (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
    }

    fn new_token(&self, _: Timestamp) -> ChangeToken {
        ChangeToken::from_u64(if self.same_tokens { 7 } else { self.next() })
    }
}

struct SpaceWorker {
    ids: SeededIds,
    spaces: BTreeMap<String, Space>,
}

/// An error of the library, of the operating system, or of the command.
type CommandError = Box<dyn std::error::Error>;

/// Answers commands until the input ends.
pub fn serve(seed: u64, same_tokens: bool) -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let ids = SeededIds { random: Arc::new(Mutex::new(Random::new(seed))), same_tokens };
    let mut worker = SpaceWorker { ids, spaces: BTreeMap::new() };
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let fields: Vec<&str> = line.split('\t').collect();
        let reply = match catch_unwind(AssertUnwindSafe(|| worker.run(&fields))) {
            Ok(Ok(answer)) => [vec![DONE.to_owned()], answer].concat(),
            Ok(Err(error)) => refusal(&*error),
            Err(panic) => {
                let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                vec![PANIC.to_owned(), message]
            }
        };
        let reply = reply.join("\t").replace('\n', " ");
        // The trial has ended if the reply cannot be written.
        if writeln!(output, "{reply}").and_then(|()| output.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

fn refusal(error: &(dyn std::error::Error + 'static)) -> Vec<String> {
    let kind = error.downcast_ref::<Error>().map(|error| format!("{:?}", error.kind()));
    vec![REFUSED.to_owned(), kind.unwrap_or_default(), format!("{error:?}")]
}

impl SpaceWorker {
    fn run(&mut self, fields: &[&str]) -> Result<Vec<String>, CommandError> {
        let done = Ok(Vec::new());
        match *fields {
            ["chdir", path] => {
                std::env::set_current_dir(path)?;
                done
            }
            ["create", name, path, indexing] => {
                let space = self.builder(indexing).create(path)?;
                self.spaces.insert(name.to_owned(), space);
                done
            }
            ["open", name, path, indexing, mode] => {
                let space = self.builder(indexing).read_only(mode == "read_only").open(path)?;
                self.spaces.insert(name.to_owned(), space);
                done
            }
            ["close", name] => {
                self.taken(name)?.close()?;
                done
            }
            ["drop", name] => {
                drop(self.taken(name)?);
                done
            }
            ["backup", name, path] => {
                self.space(name)?.backup_with(path, &mut |_| ControlFlow::Continue(()))?;
                done
            }
            ["flush", name] => {
                self.space(name)?.flush()?;
                done
            }
            ["index", name] => {
                self.space(name)?.flush_search()?;
                done
            }
            ["compact", name] => {
                self.space(name)?.compact()?;
                done
            }
            ["write", name, durability, what, text] => {
                write(self.space(name)?, durability, what, text)
            }
            ["read", name] => read(self.space(name)?),
            ["search", name, word] => search(self.space(name)?, word),
            ["follow", name, position] => follow(self.space(name)?, position),
            ["check", name] => check(self.space(name)?),
            _ => Err(format!("there is no command {fields:?}").into()),
        }
    }

    fn builder(&self, indexing: &str) -> SpaceBuilder {
        let indexing = match indexing {
            "background" => SearchIndexing::Background,
            _ => SearchIndexing::OnDemand,
        };
        Space::builder().ids(self.ids.clone()).search_indexing(indexing)
    }

    fn space(&self, name: &str) -> Result<&Space, CommandError> {
        self.spaces.get(name).ok_or_else(|| format!("{name} is not open").into())
    }

    fn taken(&mut self, name: &str) -> Result<Space, CommandError> {
        self.spaces.remove(name).ok_or_else(|| format!("{name} is not open").into())
    }
}

/// Creates a document (`what` is `new`), deletes the document `what` (no text), or changes its
/// title. The answer is the position of the change and the document.
fn write(
    space: &Space,
    durability: &str,
    what: &str,
    text: &str,
) -> Result<Vec<String>, CommandError> {
    let durability =
        if durability == "relaxed" { Durability::Relaxed } else { Durability::Durable };
    let notes = space.connect().with_durability(durability);
    let document = if what == "new" {
        notes.create_document(text)?.id()
    } else {
        let document: DocumentId = what.parse()?;
        if text.is_empty() {
            notes.delete_documents(DeleteDocuments::from(document))?;
        } else {
            let patch = BlockPatch::markdown(document.root(), text);
            notes.update_blocks(UpdateBlocks::new([patch]))?;
        }
        document
    };
    Ok(vec![notes.last_position()?.to_string(), document.to_string()])
}

/// Each document outside of the trash, and its title.
fn read(space: &Space) -> Result<Vec<String>, CommandError> {
    let documents = space.connect().documents()?;
    let living = documents.iter().filter(|document| !is_deleted(document));
    Ok(living.map(|document| pair(document.id(), &document.title)).collect())
}

fn search(space: &Space, word: &str) -> Result<Vec<String>, CommandError> {
    let found = space.connect().search(SearchDocuments::words(word))?;
    Ok(found.iter().map(|hit| hit.document_id.to_string()).collect())
}

/// Each change after a position, and its documents.
fn follow(space: &Space, position: &str) -> Result<Vec<String>, CommandError> {
    let position: ChangePosition = position.parse()?;
    let changes: Result<Vec<Change>, Error> = space.connect().changes_since(position).collect();
    let shown = |change: Change| {
        let documents: Vec<String> = change.documents.iter().map(ToString::to_string).collect();
        pair(change.position(), documents.join(","))
    };
    Ok(changes?.into_iter().map(shown).collect())
}

/// Each problem that the check finds.
fn check(space: &Space) -> Result<Vec<String>, CommandError> {
    let problems = space.check()?.problems;
    let shown = |problem: &leafbase::Problem| {
        let is_index = problem.invariant == Invariant::SearchIndex;
        pair(if is_index { INDEX_PROBLEM } else { "store" }, format!("{problem:?}"))
    };
    Ok(problems.iter().map(shown).collect())
}

/// Two values in one field.
fn pair(left: impl Display, right: impl Display) -> String {
    format!("{left}={right}")
}
