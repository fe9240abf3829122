//! Two worlds that agree on what is in scope and differ in the rest: the same calls in both, and
//! what may be told from them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use leafbase::{BlockId, Connection, DocumentId, Position};
use serde_json::{Value, json};

use super::caller::{Asking, Caller, Guesses};
use super::calls::{Call, Reply, answer};
use super::dice::Dice;
use super::hidden::CANARY;
use super::leak::Leak;
use super::logs::logged;
use super::present::Writer;
use super::projection::{self, Rest};
use super::world::{DOCUMENTS, STEP, World, limits};

/// How often each operation was refused, and done.
pub type Counts = BTreeMap<&'static str, [usize; 2]>;

pub struct Pair {
    seed: u64,
    /// What the replies give away.
    leak: Leak,
    worlds: [World; 2],
    /// Documents that both scopes name.
    named: BTreeSet<DocumentId>,
    /// Those that are in the trash of one world, and were never in the other.
    trashed: Vec<DocumentId>,
    caller: Caller,
    /// What each rest is, if it was looked at since it was last changed.
    rests: Option<Rc<[Rest]>>,
    calls: u64,
    /// Hidden files that the caller has named: in a title or a comment that is text.
    said: BTreeSet<String>,
    pub counts: Counts,
    /// What happened, to be told when something is wrong.
    pub story: Vec<String>,
}

type Checked = Result<(), String>;

impl Pair {
    pub fn new(seed: u64, leak: Leak) -> Self {
        let worlds = [0, 1].map(|number| World::new(number, seed));
        assert_eq!(worlds[0].documents, worlds[1].documents);
        assert_eq!(worlds[0].collections, worlds[1].collections);
        let named = worlds[0].documents.iter().take(DOCUMENTS - 1).copied().collect();
        let trashed = worlds.iter().flat_map(|world| world.hidden.trashed.clone()).collect();
        let mut pair = Self {
            seed,
            leak,
            worlds,
            named,
            trashed,
            caller: Caller::default(),
            rests: None,
            calls: 0,
            said: BTreeSet::new(),
            counts: Counts::new(),
            story: Vec::new(),
        };
        pair.scope_anew();
        pair
    }

    /// The steps of these numbers, between two looks at everything.
    pub fn run(&mut self, steps: &[u64]) -> Checked {
        self.look_round(0)?;
        self.look_round(1)?;
        for step in steps {
            self.step(*step).map_err(|error| format!("step {step}: {error}"))?;
        }
        self.look_round(1_000)
    }

    /// Another pair that goes on from here.
    pub fn fork(&self) -> Self {
        let scope = self.scope();
        Self {
            seed: self.seed,
            leak: self.leak,
            worlds: self.worlds.each_ref().map(|world| world.fork(&scope)),
            named: self.named.clone(),
            trashed: self.trashed.clone(),
            caller: self.caller.clone(),
            rests: self.rests.clone(),
            calls: self.calls,
            said: self.said.clone(),
            counts: Counts::new(),
            story: Vec::new(),
        }
    }

    /// Whether the indexes of both worlds are caught up with now and then.
    pub fn flush_now_and_then(&mut self, flushes: bool) {
        self.worlds.iter_mut().for_each(|world| world.flushes = flushes);
    }

    pub fn look_round(&mut self, step: u64) -> Checked {
        for call in self.caller.look_round() {
            let told = self.story.len();
            self.call(step, &call)?;
            self.story.truncate(told);
        }
        Ok(())
    }

    fn step(&mut self, step: u64) -> Checked {
        let of_world = |number| Dice::new(self.seed, 10_000 + step * 2 + number);
        self.step_by(step, Dice::new(self.seed, 1_000 + step), [of_world(0), of_world(1)])
    }

    /// Edits of both rests, each by its own dice, what the host does now and then, and a call.
    pub fn step_by(&mut self, step: u64, mut dice: Dice, hidden: [Dice; 2]) -> Checked {
        for (world, mut dice) in self.worlds.iter_mut().zip(hidden) {
            let done = world.edit_hidden(step + 1, millis(step) - STEP / 2, &mut dice);
            if !done.is_empty() {
                self.rests = None;
            }
            self.story.extend(
                done.iter().map(|what| {
                    format!("  {}: {what}", ["A", "B"][usize::from(world.number == 1)])
                }),
            );
        }
        if dice.once_in(10) {
            self.host(step, &mut dice);
        }
        if dice.once_in(50) {
            let number = dice.below(2);
            self.story.push(format!("  reopen {}", ["A", "B"][number]));
            self.worlds[number].reopen();
            self.scope_anew();
        }
        let guesses = self.guesses();
        let call = Asking { caller: &self.caller, guesses: &guesses, dice: &mut dice }.next();
        self.call(step, &call)
    }

    /// The host does the same in both worlds.
    fn host(&mut self, step: u64, dice: &mut Dice) {
        self.rests = None;
        let document = *dice.pick(&self.worlds[0].documents);
        // A file that the host shows in a document of the scope is seen from then on: none that one
        // world has alone.
        let (what, guesses) = (dice.below(6), Guesses { files: Vec::new(), ..self.guesses() });
        let text = Asking { caller: &self.caller, guesses: &guesses, dice }.line();
        self.story.push(format!("  host: {what} {document} {text}"));
        let done = self.worlds.each_ref().map(|world| {
            world.present.begin(Writer::Host(1_000 + step), millis(step) - STEP / 4);
            match what {
                0 => world.hide(document),
                1 => return world.show(document),
                2 => return world.trash(document),
                3 => return world.restore(document),
                _ => return world.all().insert_markdown(&text, Position::end_of(document)).is_ok(),
            }
            true
        });
        assert_eq!(done[0], done[1], "the host does the same in both worlds");
        match what {
            0 => drop(self.named.remove(&document)),
            1 if done[0] => drop(self.named.insert(document)),
            3 if done[0] && self.worlds[0].restores_outside(document) => {
                self.named.remove(&document);
            }
            _ => {}
        }
    }

    /// Every document that both scopes name.
    fn scope(&self) -> Vec<DocumentId> {
        self.named.iter().chain(&self.trashed).copied().collect()
    }

    fn scope_anew(&mut self) {
        let documents = self.scope();
        self.worlds.iter_mut().for_each(|world| world.scope_anew(&documents));
    }

    /// IDs that a caller may have from somewhere.
    fn guesses(&self) -> Guesses {
        let mut guesses = Guesses::default();
        for world in &self.worlds {
            let hidden = &world.hidden;
            let documents = hidden.documents.iter().chain(&hidden.trashed).copied();
            let documents = documents.chain(world.holders());
            guesses.documents.extend(documents.map(|document| document.to_string()));
            guesses.blocks.extend(hidden.blocks.iter().map(ToString::to_string));
            guesses.collections.extend(hidden.collections.iter().map(ToString::to_string));
            guesses.items.extend(hidden.items.iter().map(|(_, item)| item.to_string()));
            guesses.comments.extend(hidden.comments.iter().cloned());
            guesses.files.extend(hidden.files.iter().map(|file| format!("asset://{file}/x.txt")));
        }
        guesses
    }

    fn call(&mut self, step: u64, call: &Call) -> Checked {
        self.calls += 1;
        let number = self.calls;
        self.story.push(format!("{} {}", call.operation, call.body));
        let body = call.body.to_string();
        let files = self.worlds.iter().flat_map(|world| &world.hidden.files);
        self.said.extend(files.filter(|file| body.contains(*file)).cloned());
        // Looked at only where something was written: most calls read.
        let states = self.worlds.each_ref().map(World::state);
        let (mut replies, mut wrote) = (Vec::new(), false);
        for world in &self.worlds {
            world.present.begin(Writer::Caller(number), millis(step));
            let notes = world.scoped().acting_as(if number.is_multiple_of(2) { "Ada" } else { "" });
            let sequence = world.all().last_sequence().unwrap();
            let (reply, log) = logged(|| answer(&notes, call, &limits()));
            let reply = self.leak.inject(world, call, reply);
            wrote |= world.all().last_sequence().unwrap() != sequence;
            check_silence(
                world,
                &format!("{body} {:?} {:?}", self.said, self.trashed),
                &reply,
                &log,
                &format!("{notes:?}"),
            )?;
            replies.push(reply);
        }
        let [ours, theirs] = &replies[..] else { panic!("two worlds") };
        self.counts.entry(call.operation).or_default()[usize::from(ours.is_ok)] += 1;
        self.story.push(format!("  -> {}", cut(&ours.json)));
        check_same(ours, theirs)?;
        self.caller.learn(call, ours);
        if !wrote {
            return Ok(());
        }
        let before = self.rests.take().unwrap_or_else(|| {
            let spaces = self.worlds.iter().zip(states).map(|(world, state)| world.space_in(state));
            self.rests_of(spaces.map(|space| space.connect()))
        });
        let after = self.rests_of(self.worlds.iter().map(World::all));
        for (world, (before, after)) in self.worlds.iter().zip(before.iter().zip(&*after)) {
            check_rest(world, before, after)?;
        }
        self.rests = Some(after);
        Ok(())
    }

    fn rests_of(&self, worlds: impl Iterator<Item = Connection>) -> Rc<[Rest]> {
        let named: Vec<DocumentId> = self.named.iter().copied().collect();
        worlds.map(|notes| projection::of_the_rest(&notes, &named)).collect()
    }
}

fn millis(step: u64) -> i64 {
    i64::try_from(step + 1).unwrap() * STEP
}

fn cut(text: &str) -> String {
    text.chars().take(300).collect()
}

fn check_same(ours: &Reply, theirs: &Reply) -> Checked {
    if ours == theirs {
        return Ok(());
    }
    let (ours, theirs) = if ours.json == theirs.json {
        (&ours.debug, &theirs.debug)
    } else {
        (&ours.json, &theirs.json)
    };
    let same = ours.bytes().zip(theirs.bytes()).take_while(|(ours, theirs)| ours == theirs).count();
    let part = |text: &str| -> String {
        let bytes = &text.as_bytes()[same.saturating_sub(200)..];
        String::from_utf8_lossy(&bytes[..bytes.len().min(500)]).into_owned()
    };
    Err(format!("the replies differ at byte {same}:\nA: {}\nB: {}", part(ours), part(theirs)))
}

/// Nothing that the caller did not say itself is told of what is hidden.
fn check_silence(world: &World, said: &str, reply: &Reply, log: &str, connection: &str) -> Checked {
    let said = said.to_uppercase();
    let hidden = world.present.hidden();
    for (what, text) in [
        ("reply", &reply.json),
        ("debug", &reply.debug),
        ("log", &log.to_owned()),
        ("connection", &connection.to_owned()),
    ] {
        let text = text.to_uppercase();
        if text.contains(&CANARY.to_uppercase())
            && !said.contains(&CANARY.to_uppercase())
            && !is_own(&text)
        {
            return Err(format!("the {what} has a word of what is hidden: {}", cut(&text)));
        }
        let ids = text
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .filter(|word| word.len() == 26);
        for id in ids {
            if hidden.contains(id) && !said.contains(id) {
                return Err(format!(
                    "the {what} has the ID {id} of what is hidden: {}",
                    cut(&text)
                ));
            }
        }
    }
    Ok(())
}

/// Whether a caller has written the word itself: a number follows it in what is hidden.
fn is_own(text: &str) -> bool {
    let canary = CANARY.to_uppercase();
    let mut rests = text.match_indices(&canary).map(|(at, _)| &text[at + canary.len()..]);
    rests.all(|rest| !rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

fn check_rest(world: &World, before: &Rest, after: &Rest) -> Checked {
    if before == after {
        return Ok(());
    }
    let (before, after) = (json!(before), json!(after));
    let notes = world.all();
    let mut gone = BTreeSet::new();
    let mut waiting = vec![&before];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                let named = ["blockId", "targetCollectionId"]
                    .into_iter()
                    .filter_map(|name| fields.get(name)?.as_str());
                gone.extend(
                    named
                        .filter(|id| notes.document_of(id.parse::<BlockId>().unwrap()).is_err())
                        .map(str::to_owned),
                );
                waiting.extend(fields.values());
            }
            Value::Array(values) => waiting.extend(values),
            _ => {}
        }
    }
    let (before, after) = (projection::without(before, &gone), projection::without(after, &gone));
    if before == after {
        return Ok(());
    }
    let (before, after) = (before.to_string(), after.to_string());
    let reply = |json: String| Reply { json, debug: String::new(), is_ok: true };
    let Err(where_) = check_same(&reply(before), &reply(after)) else { return Ok(()) };
    Err(format!("the rest of the world {} was changed: {where_}", world.number))
}
