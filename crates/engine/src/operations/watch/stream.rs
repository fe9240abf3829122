//! Watchers as streams, for any runtime: the feature `stream`.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use leafbase_model::Result;

use super::{FollowedAccess, WatchQuery, Watcher, is_closed};
use crate::operations::list_patch::ListPatch;

/// A poll asks the query, on the thread that polls, if there was a write that the result may follow
/// from. Ends once the space is closed, after the error that says so.
impl<A: FollowedAccess + Unpin, Q: WatchQuery<A> + Unpin> Stream for Watcher<A, Q>
where
    Q::Entry: Unpin,
{
    type Item = Result<ListPatch<Q::Entry>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let watcher = self.get_mut();
        if watcher.is_closed {
            return Poll::Ready(None);
        }
        // Before the result is looked at: a write in between wakes it again.
        watcher.notes.space.commit_signal().wake(context.waker());
        match watcher.try_next().transpose() {
            None => Poll::Pending,
            Some(next) => {
                watcher.is_closed = next.as_ref().is_err_and(is_closed);
                Poll::Ready(Some(next))
            }
        }
    }
}
