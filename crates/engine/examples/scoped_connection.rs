//! Shows a guest one document, and not a trace of the rest.
//!
//! `cargo run --example scoped_connection`

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example is short and shows what it does"
)]

use leafbase::{ErrorKind, Fetch, Result, Space};

fn main() -> Result<()> {
    let space = Space::in_memory()?;
    let notes = space.connect();
    let (trip, diary) = (notes.create_document("Trip")?, notes.create_document("Diary")?);
    notes.insert_markdown(&format!("as I wrote [there](block://{})", diary.id()), trip.id())?;

    // The scope is the host's; the connection is what a guest is given.
    let scope = space.scope([trip.id()]);
    let guest = scope.connect().acting_as("guest");
    println!("{}", guest.content_markdown(trip.id())?);
    assert_eq!(guest.documents()?.len(), 1);
    assert_eq!(guest.content_markdown(trip.id())?, "as I wrote [there](invalid:out_of_scope#1)");

    // Hidden, deleted and unknown look alike.
    let error = guest.fetch(Fetch::new(diary.id())).unwrap_err();
    println!("{error}");
    assert_eq!(error.kind(), ErrorKind::NotFound);

    // Writing a placeholder back keeps the link that it stands for.
    let line = guest.fetch(Fetch::new(trip.id()))?.children()[0].id;
    guest.update_markdown(line, "as I wrote [elsewhere](invalid:out_of_scope#1)")?;
    assert_eq!(
        notes.content_markdown(trip.id())?,
        format!("as I wrote [elsewhere](block://{})", diary.id())
    );

    // The guest's own feed tells of the guest's documents alone.
    notes.insert_markdown("a secret", diary.id())?;
    let told = guest.changes_since(0).collect::<Result<Vec<_>>>()?;
    println!("{} of {} writes are told", told.len(), notes.last_sequence()?);
    assert!(told.iter().all(|change| change.documents == [trip.id()]));

    scope.remove([trip.id()]);
    assert!(guest.fetch(Fetch::new(trip.id())).is_err());
    Ok(())
}
