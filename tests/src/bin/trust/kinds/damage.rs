//! The store's file is damaged, each time in one place.

use std::sync::{Arc, OnceLock};

use leafbase::{Error, ErrorKind, Space};
use leafbase_store::kv::OpenOptions;
use leafbase_store::testkit::open_image;
use tests::reading::{self, Question};
use tests::rich;

use crate::kind::{Control, Failure, Fault, Kind, Least, Trial};
use crate::random::Random;

mod harm;
mod index;
mod journal;
mod resealed;
mod saving;

use harm::{Harm, PAGE};
use resealed::Resealed;

pub const KIND: Kind = Kind {
    name: "damage",
    says: "a bit, a byte, a page or the length of the store's file, or of its journal, is changed",
    weight: 7,
    least: Least::Trials(100_000),
    trial,
    control: Some(Control { says: "checksums of records are not verified", trial: blind }),
};

/// A space as it lies in its file, and what its readers see.
struct Scene {
    name: &'static str,
    image: Vec<u8>,
    /// The pages that hold something.
    used: Vec<usize>,
    truth: Vec<(Question, String)>,
}

impl Scene {
    /// Whether something has this ID, or had: the changes tell of all that there ever was.
    fn knows(&self, id: &str) -> bool {
        self.truth
            .iter()
            .any(|(question, answer)| *question == Question::Changes && answer.contains(id))
    }
}

fn scenes() -> &'static [Scene] {
    static SCENES: OnceLock<Vec<Scene>> = OnceLock::new();
    SCENES.get_or_init(|| make().unwrap_or_else(|error| panic!("a whole space: {error:?}")))
}

fn make() -> Result<Vec<Scene>, Box<dyn std::error::Error>> {
    let place = tempfile::tempdir()?;
    let (written, copied) = (place.path().join("written"), place.path().join("copied"));
    let space = rich::builder().create(&written)?;
    rich::fill(&space)?;
    space.backup_to(&copied)?;
    space.close()?;
    // A backup is trusted because it can be checked.
    assert!(
        rich::builder().open(&copied)?.check()?.is_clean(),
        "the copy of a whole space is not whole"
    );
    let scene = |name: &'static str,
                 path: &std::path::Path|
     -> Result<Scene, Box<dyn std::error::Error>> {
        let image = std::fs::read(path.join("space.redb"))?;
        let is_used = |page: &[u8]| page.iter().any(|byte| *byte != 0);
        let used = image
            .chunks(PAGE)
            .enumerate()
            .filter(|(_, page)| is_used(page))
            .map(|(at, _)| at)
            .collect();
        let space = open(&Arc::from(&*image))?;
        let notes = space.connect();
        let answer =
            |question: Question| reading::ask(&notes, &question).map(|answer| (question, answer));
        let truth =
            reading::questions(&space)?.into_iter().map(answer).collect::<Result<_, _>>()?;
        Ok(Scene { name, image, used, truth })
    };
    Ok(vec![scene("written", &written)?, scene("copied", &copied)?])
}

fn open(image: &Arc<[u8]>) -> leafbase::Result<Space> {
    let store = open_image(image, &OpenOptions::new().cache_bytes(1 << 20))?;
    rich::builder().read_only(true).over(Arc::new(store), false)
}

/// [`open`] without the verification of pages and records.
fn open_unverified(image: &Arc<[u8]>) -> leafbase::Result<Space> {
    let options = OpenOptions::new().cache_bytes(1 << 20).verify_pages(false);
    let store = Resealed(Arc::new(open_image(image, &options)?));
    rich::builder().read_only(true).over(Arc::new(store), false)
}

fn trial(seed: u64) -> Result<Trial, Failure> {
    let mut random = Random::new(seed);
    if seed % JOURNALS == 3 {
        return journal::replay(&mut random);
    }
    let Some(scene) = random.pick(scenes()) else { return Ok(Trial::default()) };
    let (harm, image) = damaged(&mut random, scene);
    let mut trial = Trial { trials: 1, ..Trial::default() };
    let readable = seen(scene, &harm, open(&image), &mut trial)?;
    if random.one_in(SAVED) {
        saving::save(scene, &harm, &image, &readable, &mut trial)?;
    }
    if random.one_in(SEARCHED) {
        index::search(&mut random, &mut trial)?;
    }
    Ok(trial)
}

fn damaged(random: &mut Random, scene: &Scene) -> (Harm, Arc<[u8]>) {
    let mut image = scene.image.clone();
    let harm = Harm::draw(random, &scene.used, &mut image);
    (harm, Arc::from(image))
}

/// Of one in so many it is the journal that is damaged.
const JOURNALS: u64 = 10;
/// One in so many is salvaged, too.
const SAVED: u64 = 20;
/// One in so many has an index of searches damaged, too.
const SEARCHED: u64 = 100;

fn wrong(scene: &Scene, harm: &Harm, what: impl std::fmt::Display) -> Failure {
    Failure::new(Fault::WrongData, format!("{} space, {harm}: {what}", scene.name))
}

/// Reads everything: what is answered is right, and what is not is told as damage. Gives the
/// numbers of the questions that were answered.
fn seen(
    scene: &Scene,
    harm: &Harm,
    opened: leafbase::Result<Space>,
    trial: &mut Trial,
) -> Result<Vec<usize>, Failure> {
    let space = match opened {
        Ok(space) => space,
        Err(error) if harm.explains(&error) => {
            trial.note("refused", 1);
            return Ok(Vec::new());
        }
        Err(error) => return Err(wrong(scene, harm, format_args!("opening reports {error:?}"))),
    };
    let notes = space.connect();
    let (mut right, mut damaged) = (Vec::new(), Vec::new());
    for (number, (question, answer)) in scene.truth.iter().enumerate() {
        match reading::ask(&notes, question) {
            Ok(found) if found == *answer => right.push(number),
            Ok(found) => {
                return Err(wrong(
                    scene,
                    harm,
                    format_args!("{question:?} gives {}", unlike(&found, answer)),
                ));
            }
            Err(error) if is_damage(&error) => damaged.push(error),
            Err(error) => {
                return Err(wrong(scene, harm, format_args!("{question:?} reports {error:?}")));
            }
        }
    }
    let report = space
        .check()
        .map_err(|error| wrong(scene, harm, format_args!("the check reports {error:?}")))?;
    match (damaged.is_empty(), report.is_clean()) {
        (true, true) => trial.note("no difference", 1),
        (true, false) => trial.note("found by the check alone", 1),
        (false, false) => trial.note("told by readers", 1),
        (false, true) => {
            return Err(wrong(scene, harm, format_args!("a clean check, and {:?}", damaged[0])));
        }
    }
    trial.note("questions answered", right.len() as u64);
    trial.note("questions refused", damaged.len() as u64);
    Ok(right)
}

/// Damage is told with the name of what is damaged.
fn is_damage(error: &Error) -> bool {
    let named = error.message().strip_prefix("damaged: ").is_some_and(|record| !record.is_empty());
    error.kind() == ErrorKind::Corrupted && named
}

/// Where two answers part.
fn unlike(found: &str, answer: &str) -> String {
    let at = found.bytes().zip(answer.bytes()).take_while(|(one, other)| one == other).count();
    let around =
        |text: &str| text.chars().skip(at.saturating_sub(30)).take(120).collect::<String>();
    format!("{:?} for {:?}", around(found), around(answer))
}

/// The same without the checksums of records.
fn blind(seed: u64) -> Result<Trial, Failure> {
    let mut random = Random::new(seed);
    let Some(scene) = random.pick(scenes()) else { return Ok(Trial::default()) };
    let (harm, image) = damaged(&mut random, scene);
    let mut trial = Trial { trials: 1, ..Trial::default() };
    seen(scene, &harm, open_unverified(&image), &mut trial)?;
    Ok(trial)
}
