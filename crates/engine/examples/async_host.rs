//! A host on tokio: calls block, so they run where blocking is allowed, each with a clone of the
//! connection.
//!
//! `cargo run --example async_host`

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use leafbase::{Connection, Position, Result, Space};
use tokio::task::spawn_blocking;

/// Runs a call on the blocking pool.
async fn on_pool<T: Send + 'static>(
    notes: &Connection,
    call: impl FnOnce(Connection) -> Result<T> + Send + 'static,
) -> Result<T> {
    let notes = notes.clone();
    match spawn_blocking(move || call(notes)).await {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    Ok(tokio::runtime::Builder::new_current_thread().build()?.block_on(host())?)
}

async fn host() -> Result<()> {
    let notes =
        spawn_blocking(|| Ok::<_, leafbase::Error>(Space::in_memory()?.connect().acting_as("Ada")));
    let notes = notes.await.expect("no call was canceled")?;
    let log = on_pool(&notes, |notes| notes.create_document("Log")).await?;

    // Any number of readers while one writes; a second writer waits its turn on a thread of the
    // pool.
    let page = log.id();
    let writes: Vec<_> = (0..8)
        .map(|number| {
            let notes = notes.clone();
            tokio::spawn(async move {
                on_pool(&notes, move |notes| {
                    notes.insert_markdown(&format!("line {number}"), Position::end_of(page))
                })
                .await
            })
        })
        .collect();
    for write in writes {
        write.await.expect("no task was canceled")?;
    }

    let text = on_pool(&notes, move |notes| notes.content_markdown(page)).await?;
    println!("{text}");
    assert_eq!(text.matches("line").count(), 8);
    Ok(())
}
