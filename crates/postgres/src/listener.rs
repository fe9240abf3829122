//! Hints of other hosts that a space was written: a thread with a connection of its own.

use std::io;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use leafbase_kv::CommitSignal;

use crate::pool::{SessionPool, pause_after};
use crate::session::Session;
use crate::session_link::LinkError;

/// How long the thread waits before it looks whether its signal is still in use.
const WAIT: Duration = Duration::from_millis(500);

/// Gives `signal` whenever a notification arrives on `channel`, until the signal is dropped. While
/// the connection is lost nothing arrives: the signal has to look again by itself, too.
///
/// # Errors
/// If the system has no resources for a thread.
pub(crate) fn listen(
    pool: Arc<SessionPool>,
    channel: String,
    signal: &Arc<CommitSignal>,
) -> io::Result<()> {
    let signal = Arc::downgrade(signal);
    let thread = thread::Builder::new().name("leafbase-listen".to_owned());
    thread.spawn(move || follow(&pool, &channel, &signal)).map(drop)
}

fn follow(pool: &SessionPool, channel: &str, signal: &Weak<CommitSignal>) {
    let mut attempt = 0;
    while signal.strong_count() > 0 {
        match session(pool, channel) {
            Ok(session) => {
                attempt = 0;
                wait(session, signal);
            }
            Err(error) => {
                tracing::debug!(error = %pool.failure(&error).error, "no notifications arrive");
                pause_after(attempt);
                attempt += 1;
            }
        }
    }
}

fn session(pool: &SessionPool, channel: &str) -> Result<Session, LinkError> {
    let mut session = pool.connect()?;
    let Session { client, link, .. } = &mut session;
    link.wait(client.batch_execute(&format!("LISTEN {channel}")))?;
    Ok(session)
}

/// Gives the signal until the connection or the signal ends.
fn wait(mut session: Session, signal: &Weak<CommitSignal>) {
    // A write may have been announced before this connection listened.
    let mut is_due = true;
    while let Some(signal) = signal.upgrade() {
        if is_due {
            signal.give();
        }
        // Before the wait: otherwise the signal of a dropped store would never lose its last owner.
        drop(signal);
        if !session.link.is_open() {
            return;
        }
        is_due = session.link.wait_for_notification(WAIT);
    }
}
