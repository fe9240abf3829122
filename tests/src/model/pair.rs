//! The engine and the naive model side by side: equal replies, equal errors, equal dumps. Tests,
//! fuzzing and the program `trust` use this.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leafbase::{
    Author, Batch, BlockData, BlockDraft, ChangeRow, ChangeToken, Clock, Connection, Destination,
    Durability, Edit, ErrorKind, IdSource, SearchIndexing, Space, SpaceBuilder, Stamp, Timestamp,
};
use leafbase_store::kv::Store;
use leafbase_test_outline::{BlockRequest, NaiveSpace, Numbers, Request, Setting, small_limits};
use serde_json::Value;

use super::twice::Twice;
use super::{canonical, dumps, engine, naive};

/// 2026-01-01T00:00:00Z.
const BEGINNING: u64 = 1_767_225_600_000;
const ZONE: &str = "Asia/Tokyo";
const SECOND: u64 = 1_000;
const HOUR: u64 = 3_600 * SECOND;

/// IDs and time of one sequence, the same for both sides: each request begins a series of its own.
#[derive(Clone, Debug, Default)]
struct Present(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    request: AtomicU64,
    given: AtomicU64,
    /// How many IDs the request had when its last write began.
    given_before: AtomicU64,
    passed: AtomicU64,
}

impl Present {
    fn begin(&self, request: u64) {
        self.0.request.store(request, Ordering::Relaxed);
        self.0.given.store(0, Ordering::Relaxed);
    }

    /// A write begins, or begins again, which gets the same IDs.
    fn begin_write(&self, again: bool) {
        if again {
            self.0.given.store(self.0.given_before.load(Ordering::Relaxed), Ordering::Relaxed);
        } else {
            self.0.given_before.store(self.0.given.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    fn wait(&self, millis: u64) {
        self.0.passed.fetch_add(millis, Ordering::Relaxed);
    }
}

impl IdSource for Present {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        let (series, number) = (
            self.0.request.load(Ordering::Relaxed),
            self.0.given.fetch_add(1, Ordering::Relaxed) + 1,
        );
        // Spread, as random IDs are: the order of IDs is not the order in which they were made.
        let spread = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ series;
        ((u128::from(spread) << 64) | (u128::from(series) << 20) | u128::from(number)).to_be_bytes()
    }

    /// Not made of an ID: the model makes none for its changes.
    fn new_token(&self, _: Timestamp) -> ChangeToken {
        ChangeToken::from_u64(self.0.request.load(Ordering::Relaxed))
    }
}

impl Clock for Present {
    fn now(&self) -> Timestamp {
        let millis = BEGINNING + self.0.passed.load(Ordering::Relaxed);
        Timestamp::from_millis(i64::try_from(millis).unwrap())
    }
}

/// A request of a sequence, with its number and the time that had passed.
#[derive(Clone, Debug)]
pub struct Step {
    pub request: Request,
    number: u64,
    passed: u64,
}

/// How the engine does a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchForm {
    /// By calls within a closure.
    Calls,
    /// As a value.
    Values,
    /// As a value, which is not written.
    Dry,
    /// One by one, so that those before a refused one stay: what a batch must never do.
    Halved,
}

impl BatchForm {
    fn is_value(self) -> bool {
        matches!(self, Self::Values | Self::Dry)
    }
}

/// Each item of a reply as text.
fn items_of(reply: Value) -> Vec<String> {
    match reply.get("items").and_then(Value::as_array) {
        Some(items) => items.iter().map(Value::to_string).collect(),
        None => vec![reply.to_string()],
    }
}

fn parsed(texts: &[String]) -> Vec<Value> {
    texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

/// The engine and the model, and how they are kept side by side.
pub struct Pair {
    present: Present,
    pub naive: NaiveSpace,
    /// What the engine's change log makes of an empty space.
    mirror: NaiveSpace,
    /// How many changes are in the mirror.
    mirrored: u64,
    /// The mirror after the last purge, which cannot be undone, and the sequence of that.
    purged: (u64, NaiveSpace),
    requests: u64,
    /// Whether requests are mostly on collections.
    pub with_collections: bool,
    /// A space in memory that applies each row of the engine's change log, until a purge redacts
    /// rows that it does not have yet.
    follower: Option<Space>,
    /// Where the engine's space is; nothing for one in memory.
    directory: Option<PathBuf>,
    space: Option<Space>,
    /// Other spaces over the same store, to which requests go in turn.
    others: Vec<Space>,
}

impl Pair {
    /// Both with one document; the engine's space in the new directory `directory`, or in memory.
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self::with(directory, |pair| match &pair.directory {
            Some(directory) => pair.builder().zone(ZONE).create(directory),
            None => pair.builder().zone(ZONE).in_memory(),
        })
    }

    /// The same in memory, where the closure of each write is run twice.
    pub fn twice() -> Self {
        Self::with(None, |pair| {
            let present = pair.present.clone();
            let store = Twice::new(move |again| present.begin_write(again));
            pair.builder().zone(ZONE).over(Arc::new(store), true)
        })
    }

    /// The same on as many spaces as there are stores, which are handles of one: each request goes
    /// to one of them.
    pub fn on_handles(stores: impl IntoIterator<Item = Arc<dyn Store>>) -> Self {
        let mut stores = stores.into_iter();
        let first = stores.next().unwrap();
        // Each searches with an index of its own.
        let builder = |pair: &Self| pair.builder().search_indexing(SearchIndexing::OnDemand);
        let mut pair = Self::with(None, |pair| builder(pair).zone(ZONE).over(first, true));
        pair.others = stores.map(|store| builder(&pair).over(store, false).unwrap()).collect();
        pair
    }

    fn with(
        directory: Option<PathBuf>,
        make: impl FnOnce(&Self) -> leafbase::Result<Space>,
    ) -> Self {
        let mut naive = NaiveSpace::new(small_limits());
        // Tokyo's clocks are never changed.
        naive.zone_hours = 9;
        let (present, mirror, purged) = (Present::default(), naive.clone(), naive.clone());
        let mut pair = Self {
            present,
            naive,
            mirror,
            follower: None,
            mirrored: 0,
            purged: (0, purged),
            requests: 0,
            with_collections: false,
            directory,
            space: None,
            others: Vec::new(),
        };
        pair.space = Some(make(&pair).unwrap());
        pair.naive.settings = pair.space.as_ref().unwrap().meta().unwrap().settings();
        let follower = pair.builder().zone(ZONE).name(&pair.naive.settings.name).follower(true);
        pair.follower = Some(follower.in_memory().unwrap());
        pair.mirror.settings = pair.naive.settings.clone();
        pair.purged.1.settings = pair.naive.settings.clone();
        let (root, destination) = (BlockDraft::new(BlockData::page("home")), Destination::Unsorted);
        pair.step(Request::Blocks(BlockRequest::CreateDocument { root, destination }));
        pair
    }

    fn builder(&self) -> SpaceBuilder {
        Space::builder()
            .limits(small_limits())
            .clock(self.present.clone())
            .ids(self.present.clone())
            .durability(Durability::Relaxed)
            .url_template("note://{blockId}")
            .cache_bytes(1 << 20)
    }

    /// Closes and opens the space, if it is on disk.
    pub fn reopen(&mut self) {
        if let Some(directory) = &self.directory {
            self.space.take().unwrap().close().unwrap();
            self.space = Some(self.builder().open(directory).unwrap());
        }
    }

    pub fn notes(&self) -> Connection {
        self.space().connect()
    }

    /// The space that the present request goes to.
    pub fn space(&self) -> &Space {
        let spaces = self.others.len() as u64 + 1;
        // In no order that repeats with the kinds of requests.
        let turn = self.requests.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let other = usize::try_from(turn % spaces).unwrap().checked_sub(1);
        other.map_or(self.space.as_ref().unwrap(), |other| &self.others[other])
    }

    /// All spaces over the store.
    pub fn spaces(&self) -> impl Iterator<Item = &Space> {
        self.space.iter().chain(&self.others)
    }

    /// The step that a request would be now.
    pub fn as_step(&self, request: &Request) -> Step {
        let passed = self.present.0.passed.load(Ordering::Relaxed);
        Step { request: request.clone(), number: self.requests + 1, passed }
    }

    /// Another space in memory, in which these steps are done by the engine alone, with the IDs and
    /// at the times that they had; and the last sequence after each.
    pub fn replay<'s>(steps: impl IntoIterator<Item = &'s Step>) -> (Self, Vec<u64>) {
        let mut pair = Self::new(None);
        let sequences = steps.into_iter().map(|step| pair.replay_step(step)).collect();
        (pair, sequences)
    }

    fn replay_step(&mut self, step: &Step) -> u64 {
        self.requests = step.number;
        self.present.0.passed.store(step.passed, Ordering::Relaxed);
        self.present.begin(step.number);
        let notes = self.notes();
        let notes = if step.number.is_multiple_of(2) { notes.acting_as("Ada") } else { notes };
        // What is refused changes nothing.
        let _ = engine::answer(&notes, step.request.clone());
        notes.last_sequence().unwrap()
    }

    /// Lets some time pass, now and then hours and days, and makes the next request.
    pub fn next(&mut self, numbers: &mut Numbers<'_>) -> Request {
        let hours = if numbers.below(8) == 7 { numbers.below(30) } else { 0 };
        self.present.wait(SECOND + hours as u64 * HOUR);
        self.make(numbers)
    }

    /// Makes a request at the present time.
    fn make(&self, numbers: &mut Numbers<'_>) -> Request {
        let today = Some(self.naive.day_of(self.present.now()));
        let make = if self.with_collections { Request::with_collections } else { Request::new };
        canonical::request(make(numbers, Setting { space: &self.naive, today }), &self.naive)
    }

    /// Does a request on both sides. Returns whether it was done, and not refused.
    pub fn step(&mut self, request: Request) -> bool {
        let shown = format!("{request:?}");
        self.requests += 1;
        // Every other request is somebody's.
        let notes = if self.requests.is_multiple_of(2) {
            self.notes().acting_as("Ada")
        } else {
            self.notes()
        };
        self.present.begin(self.requests);
        let ours = engine::answer(&notes, request.clone());
        self.present.begin(self.requests);
        let stamp = Stamp { at: self.present.now(), by: notes.author().clone() };
        let theirs = naive::answer(&mut self.naive, (&stamp, &self.present), request);
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "the replies to {shown}"),
            (Err(ours), Err(theirs)) => {
                let told = (ours.kind(), ours.path());
                assert_eq!(
                    told,
                    (theirs.kind(), theirs.path()),
                    "the errors of {shown}: {ours:?}, {theirs:?}"
                );
            }
            _ => panic!("{shown}: the engine says {ours:?}, the model {theirs:?}"),
        }
        if ours.is_ok() {
            self.compare_values(&shown);
            self.follow();
        }
        ours.is_ok()
    }

    /// Does some requests as one batch on the engine's side, and one by one on the model's; all or
    /// none. `as_values` gives them as JSON with the names of operations. Returns whether they were
    /// done.
    pub fn step_batch(&mut self, numbers: &mut Numbers<'_>, count: usize, how: BatchForm) -> bool {
        let before = self.naive.clone();
        let stamp = Stamp { at: self.present.now(), by: Author::ANONYMOUS };
        let (mut requests, mut theirs, mut refused) = (Vec::new(), Vec::new(), None);
        self.naive.begin_batch();
        while requests.len() < count && refused.is_none() {
            let request = self.make(numbers);
            if !engine::is_batchable(&request)
                || (how.is_value() && engine::operation(&request).is_none())
            {
                continue;
            }
            // The operations of a value have their IDs from one series.
            if how.is_value() && !requests.is_empty() {
                requests.push((self.requests, request.clone()));
            } else {
                self.requests += 1;
                self.present.begin(self.requests);
                requests.push((self.requests, request.clone()));
            }
            match naive::answer(&mut self.naive, (&stamp, &self.present), request) {
                Ok(reply) => theirs.push(reply),
                Err(error) => refused = Some(error),
            }
        }
        self.naive.end_batch();
        if refused.is_some() || how == BatchForm::Dry {
            self.naive = before;
        }
        let ours = self.batch(&requests, how);
        let shown = format!("{requests:?}");
        match (ours, refused) {
            (Ok(ours), None) => {
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    assert_eq!(parsed(ours), parsed(theirs), "the replies to {shown}");
                }
                assert_eq!(ours.len(), theirs.len());
                self.compare_values(&shown);
                self.follow();
                true
            }
            // JSON does not carry every request that can be built: reading may refuse it earlier.
            (Err(_), Some(_)) if how.is_value() => false,
            (Err(ours), Some(theirs)) => {
                let why = format!("the errors of {shown}: {ours:?}, {theirs:?}");
                assert_eq!((ours.kind(), ours.path()), (theirs.kind(), theirs.path()), "{why}");
                false
            }
            (ours, theirs) => panic!("{shown}: the engine says {ours:?}, the model {theirs:?}"),
        }
    }

    /// The replies of the engine to a batch.
    fn batch(
        &self,
        requests: &[(u64, Request)],
        how: BatchForm,
    ) -> leafbase::Result<Vec<Vec<String>>> {
        let notes = self.notes();
        match how {
            BatchForm::Calls => notes.batch(|batch| {
                let answers = requests.iter().map(|(number, request)| {
                    self.present.begin(*number);
                    engine::answer_in_batch(batch, request.clone())
                });
                answers.collect()
            }),
            BatchForm::Dry | BatchForm::Values => {
                self.present.begin(self.requests);
                let mut batch = Batch::default();
                for (_, request) in requests {
                    let (name, request) = engine::operation(request).unwrap();
                    batch = batch.then(name, &request)?;
                }
                let batch = if how == BatchForm::Dry { batch.dry() } else { batch };
                let key = format!("batch {}", self.requests);
                let batch = if self.requests.is_multiple_of(2) { batch.keyed(key) } else { batch };
                let replies = notes.run_batch(batch.clone())?.replies;
                if how == BatchForm::Values && batch.request_key.is_some() {
                    assert_eq!(notes.run_batch(batch)?.replies, replies, "sent again");
                }
                Ok(replies.into_iter().map(items_of).collect())
            }
            BatchForm::Halved => {
                let answers = requests.iter().map(|(number, request)| {
                    self.present.begin(*number);
                    engine::answer_in_batch(&notes, request.clone())
                });
                answers.collect()
            }
        }
    }

    /// Lets the follower apply the rows that it lacks, as they are after a journey.
    fn follow(&mut self) {
        let Some(follower) = &self.follower else { return };
        let notes = self.notes();
        let seen = follower.connect().last_position().unwrap();
        let rows = notes.change_rows(seen, usize::MAX).unwrap();
        let sent: Vec<_> =
            rows.iter().map(|row| ChangeRow::from_bytes(&row.to_bytes()).unwrap()).collect();
        assert!(sent == rows, "rows are what was sent");
        for file in sent.iter().flat_map(ChangeRow::files) {
            follower.store_file(file, notes.open_file(file.id).unwrap()).unwrap();
        }
        let followed = follower.follow(&sent);
        if sent.iter().any(|row| row.change().is_redacted()) {
            assert_eq!(followed.unwrap_err().kind(), ErrorKind::HistoryGone);
            self.follower = None;
            return;
        }
        let last = followed.unwrap_or_else(|error| panic!("following {rows:?}: {error:?}"));
        assert_eq!(last, notes.last_position().unwrap(), "the position of the follower");
    }

    /// Compares the values of all items, relations at both ends among them.
    fn compare_values(&self, after: &str) {
        let notes = self.notes();
        for question in dumps::values(&self.naive) {
            let theirs = naive::told(&self.naive, self.present.now(), question.clone());
            let ours =
                engine::answer(&notes, question).unwrap_or_else(|error| vec![format!("{error:?}")]);
            assert_eq!(ours, theirs, "the items after {after}");
        }
    }

    /// Renames the space, which no request does.
    fn rename(&mut self) {
        let name = format!("after {} requests", self.requests);
        self.space.as_ref().unwrap().rename(&name).unwrap();
        self.naive.settings.name = name;
    }

    /// Compares all that there is on both sides.
    pub fn compare_dumps(&mut self) {
        self.rename();
        let expected = dumps::of_naive(&self.naive, self.present.now());
        for space in self.spaces() {
            let found = dumps::of_engine(&space.connect(), &self.naive);
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found, expected, "the dumps");
            }
            assert_eq!(found.len(), expected.len(), "the dumps");
        }
        let notes = self.notes();
        let found = dumps::of_engine(&notes, &self.naive);
        self.follow();
        if let Some(follower) = &self.follower {
            let copied = follower.connect();
            assert_eq!(dumps::of_engine(&copied, &self.naive), found, "the dumps of the follower");
            let mut changes = copied.changes_since(self.mirrored);
            for change in notes.changes_since(self.mirrored) {
                let (copied, change) = (changes.next().unwrap().unwrap(), change.unwrap());
                assert_eq!(copied, change, "the follower's log");
            }
            assert!(changes.next().is_none(), "the follower's log");
        }
        for change in notes.changes_since(self.mirrored) {
            let change = change.unwrap();
            self.mirrored = change.sequence;
            self.mirror
                .apply_all(&change.edits)
                .unwrap_or_else(|error| panic!("change {}: {error}", change.sequence));
            if change.edits.iter().any(|edit| matches!(edit, Edit::PurgeDocument { .. })) {
                self.purged = (change.sequence, self.mirror.clone());
            }
        }
        let (found, expected) = (self.mirror.as_edits_tell(), self.naive.as_edits_tell());
        assert_eq!(found.settings, expected.settings, "the settings of the change log");
        assert_eq!(found.folders, expected.folders, "the folders of the change log");
        assert_eq!(found.comments, expected.comments, "the comments of the change log");
        assert_eq!(found.files, expected.files, "the files of the change log");
        assert_eq!(found.schemas, expected.schemas, "the schemas of the change log");
        assert_eq!(found.relations, expected.relations, "the relations of the change log");
        assert!(found == expected, "the documents of the change log");
    }

    /// Checks every law of the store, and that the change log leads back to the last purge, or else
    /// to the empty space.
    pub fn check(&self) {
        let mut undone = self.mirror.clone();
        let (purged, expected) = &self.purged;
        let changes: Vec<_> =
            self.notes().changes_since(*purged).collect::<Result<_, _>>().unwrap();
        for change in changes.iter().rev() {
            let inverse = change.inverse().unwrap();
            undone
                .apply_all(&inverse)
                .unwrap_or_else(|error| panic!("undoing {}: {error}", change.sequence));
        }
        assert!(undone.as_edits_tell() == expected.as_edits_tell(), "all is undone");
        if let Some(purge) = purged.checked_sub(1) {
            let purge = self.notes().changes_since(purge).next().unwrap().unwrap();
            assert_eq!(purge.inverse().unwrap_err().kind(), ErrorKind::HistoryGone);
        }
        for space in [Some(self.space()), self.follower.as_ref()].into_iter().flatten() {
            let report = space.check().unwrap();
            assert!(report.is_clean(), "{report:?}");
        }
        // A purge redacts earlier rows of the follower as it did those of the space.
        let all = |space: &Space| -> Vec<_> {
            space.connect().changes_since(0).collect::<Result<_, _>>().unwrap()
        };
        if let Some(follower) = &self.follower {
            assert!(all(self.space()) == all(follower), "the logs, with what purges redacted");
        }
    }
}
