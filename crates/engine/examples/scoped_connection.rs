//! Limits a guest to one document of a space.
//!
//! `cargo run --example scoped_connection`

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use leafbase::{ErrorKind, Fetch, Result, Space};

fn main() -> Result<()> {
    let space = Space::in_memory()?;
    let notes = space.connect();
    let (trip, diary) = (notes.create_document("Trip")?, notes.create_document("Diary")?);
    notes.insert_markdown(&format!("as I wrote [there](block://{})", diary.id()), trip.id())?;

    // The host keeps the scope; the guest gets the connection.
    let scope = space.scope([trip.id()]);
    let guest = scope.connect().acting_as("guest");
    println!("{}", guest.content_markdown(trip.id())?);
    assert_eq!(guest.documents()?.len(), 1);
    assert_eq!(guest.content_markdown(trip.id())?, "as I wrote [there](invalid:out_of_scope#1)");

    // Hidden, deleted and unknown documents are indistinguishable.
    let error = guest.fetch(Fetch::new(diary.id())).unwrap_err();
    println!("{error}");
    assert_eq!(error.kind(), ErrorKind::NotFound);

    // Writing a placeholder back restores the link.
    let line = guest.fetch(Fetch::new(trip.id()))?.children()[0].id;
    guest.update_markdown(line, "as I wrote [elsewhere](invalid:out_of_scope#1)")?;
    assert_eq!(
        notes.content_markdown(trip.id())?,
        format!("as I wrote [elsewhere](block://{})", diary.id())
    );

    // The change feed of the guest contains visible changes only.
    notes.insert_markdown("a secret", diary.id())?;
    let visible = guest.changes_since(0).collect::<Result<Vec<_>>>()?;
    println!("{} of {} writes are visible", visible.len(), notes.last_sequence()?);
    assert!(visible.iter().all(|change| change.documents == [trip.id()]));

    scope.remove([trip.id()]);
    assert!(guest.fetch(Fetch::new(trip.id())).is_err());
    Ok(())
}
