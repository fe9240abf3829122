//! Power is lost at any moment.

use std::sync::Arc;

use leafbase::{Durability, Position, SearchIndexing, Space};
use leafbase_store::kv::{OpenOptions, RedbStore};
use leafbase_store::testkit::Disk;

use crate::kind::{Failure, Fault, Kind, Trial};
use crate::random::Random;

pub const KIND: Kind = Kind {
    name: "power_loss",
    says: "power is lost at any operation of the disk, up to three times in a row",
    weight: 4,
    trial,
    control: None,
};

fn open(disk: &Disk, create: bool) -> leafbase::Result<Space> {
    let disk = disk.clone();
    let store = RedbStore::with_backend(move || disk.clone(), &OpenOptions::new().cache_bytes(1 << 20))?;
    let builder = Space::builder().durability(Durability::Durable).search_indexing(SearchIndexing::OnDemand);
    builder.over(Arc::new(store), create)
}

fn trial(seed: u64) -> Result<Trial, Failure> {
    let mut random = Random::new(seed);
    let disk = Disk::new();
    let refused = |error: leafbase::Error| Failure::new(Fault::Unopenable, format!("{error:?}"));
    let space = open(&disk, true).map_err(refused)?;
    let notes = space.connect();
    let document = notes.create_document("Trip").map_err(refused)?;
    let mut trial = Trial::default();
    for number in 0..10 {
        notes.insert_markdown(&format!("line {number}"), Position::end_of(document.id())).map_err(refused)?;
        let after = open(&disk.after_power_loss(random.next()), false).map_err(refused)?;
        let found = after.connect().content_markdown(document.id()).map_err(refused)?;
        if !found.contains(&format!("line {number}")) {
            return Err(Failure::new(Fault::Lost, format!("line {number}")));
        }
        trial.trials += 1;
    }
    Ok(trial)
}
