//! The socket of a session, driven by the thread that uses it: nothing runs in the background.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use leafbase_model::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error as DriverError, Socket};

/// The half of a connection that reads and writes its socket.
trait MessageStream: Send {
    fn poll_message(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<AsyncMessage, DriverError>>>;
}

impl<S, T> MessageStream for Connection<S, T>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
    T: AsyncRead + AsyncWrite + Unpin + Send,
{
    fn poll_message(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<AsyncMessage, DriverError>>> {
        Self::poll_message(self, context)
    }
}

type ConnectedParts = Result<(Client, Box<dyn MessageStream>), DriverError>;

type ConnectFn = dyn Fn(&Runtime, &Config) -> ConnectedParts + Send + Sync;

/// Connects on a runtime of its own.
pub(crate) struct Connector(Box<ConnectFn>);

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

impl Connector {
    /// Connects with streams that `tls` encrypts, as far as the parameters ask for it.
    pub(crate) fn new<T>(tls: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::TlsConnect: Send,
        T::Stream: Send + 'static,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        Self(Box::new(move |runtime, config| {
            let (client, connection) = runtime.block_on(config.connect(tls.clone()))?;
            Ok((client, Box::new(connection)))
        }))
    }
}

/// An error of a connection or of a request over it.
#[derive(Debug)]
pub(crate) enum LinkError {
    Driver(DriverError),
    /// The operating system has no resources for a connection.
    System(io::Error),
    /// The connection had ended before.
    Ended,
    /// A broken invariant.
    Internal(Error),
}

impl From<DriverError> for LinkError {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

/// The socket of a session and the runtime that waits for it.
pub(crate) struct SessionLink {
    /// `None` once it is being dropped.
    runtime: Option<Runtime>,
    /// `None` once the connection has ended.
    stream: Option<Box<dyn MessageStream>>,
    round_trips: Arc<AtomicU64>,
    /// Whether a notification has arrived.
    is_notified: bool,
}

impl fmt::Debug for SessionLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionLink").field("is_open", &self.is_open()).finish_non_exhaustive()
    }
}

impl SessionLink {
    /// Connects. `round_trips` counts how often an answer is waited for.
    pub(crate) fn connect(
        connector: &Connector,
        config: &Config,
        round_trips: Arc<AtomicU64>,
    ) -> Result<(Client, Self), LinkError> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(LinkError::System)?;
        let connected = (connector.0)(&runtime, config);
        let (client, stream) = match connected {
            Ok((client, stream)) => (client, Some(stream)),
            Err(error) => {
                runtime.shutdown_background();
                return Err(LinkError::Driver(error));
            }
        };
        Ok((client, Self { runtime: Some(runtime), stream, round_trips, is_notified: false }))
    }

    /// Whether the connection has not ended, as far as that was noticed.
    pub(crate) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Sends what `request` sends and waits for its answer. The requests of a joined future are
    /// sent together: that is one round trip.
    pub(crate) fn wait<T>(
        &mut self,
        request: impl Future<Output = Result<T, DriverError>>,
    ) -> Result<T, LinkError> {
        let Self { runtime, stream, is_notified, round_trips } = self;
        let Some(runtime) = runtime else { return Err(LinkError::Ended) };
        round_trips.fetch_add(1, Ordering::Relaxed);
        let mut request = pin!(request);
        let mut ended = None;
        let answered = poll_fn(|context| {
            // A request that is sent wakes the stream, and an answer that is read the request.
            if let Poll::Ready(answer) = request.as_mut().poll(context) {
                return Poll::Ready(answer.map_err(LinkError::Driver));
            }
            if poll_stream(stream, context, is_notified, &mut ended).is_pending() {
                return Poll::Pending;
            }
            // The connection has ended, and with it every request.
            match request.as_mut().poll(context) {
                Poll::Ready(Ok(answer)) => Poll::Ready(Ok(answer)),
                // The server said why it ended the connection; the request only that it did.
                Poll::Ready(Err(error)) if !error.is_closed() => Poll::Ready(Err(error.into())),
                _ => Poll::Ready(Err(ended.take().map_or(LinkError::Ended, LinkError::Driver))),
            }
        });
        runtime.block_on(answered)
    }

    /// Sends what `request` sends and does not wait for the answer, which is discarded.
    pub(crate) fn send<T>(&mut self, request: impl Future<Output = Result<T, DriverError>>) {
        let Self { runtime, stream, is_notified, .. } = self;
        let mut request = pin!(request);
        // Polled once: the request puts its message into the queue of the connection, which is then
        // written as far as the socket takes it.
        let sent = poll_fn(|context| {
            let mut ended = None;
            if request.as_mut().poll(context).is_pending() {
                let _ = poll_stream(stream, context, is_notified, &mut ended);
            }
            Poll::Ready(())
        });
        if let Some(runtime) = runtime {
            runtime.block_on(sent);
        }
    }

    /// Waits until a notification arrives, at most for `period`. Returns whether one did.
    pub(crate) fn wait_for_notification(&mut self, period: Duration) -> bool {
        let Self { runtime, stream, is_notified, .. } = self;
        let arrived = poll_fn(|context| {
            let mut ended = None;
            let polled = poll_stream(stream, context, is_notified, &mut ended);
            if *is_notified || polled.is_ready() { Poll::Ready(()) } else { Poll::Pending }
        });
        if let Some(runtime) = runtime {
            // A timeout is not an error: the caller looks whether the session is open.
            let _ = runtime.block_on(async { timeout(period, arrived).await });
        }
        std::mem::take(is_notified)
    }
}

impl Drop for SessionLink {
    fn drop(&mut self) {
        // Dropping a runtime may wait for a name that is being resolved.
        if let Some(runtime) = self.runtime.take() {
            let entered = runtime.enter();
            self.stream = None;
            drop(entered);
            runtime.shutdown_background();
        }
    }
}

/// Reads and writes as far as the socket allows. Ready once the connection has ended, with the
/// reason in `ended`.
fn poll_stream(
    stream: &mut Option<Box<dyn MessageStream>>,
    context: &mut Context<'_>,
    is_notified: &mut bool,
    ended: &mut Option<DriverError>,
) -> Poll<()> {
    let Some(open) = stream else { return Poll::Ready(()) };
    loop {
        match open.poll_message(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Some(Ok(AsyncMessage::Notification(_)))) => *is_notified = true,
            Poll::Ready(Some(Ok(AsyncMessage::Notice(notice)))) => {
                tracing::debug!(message = notice.message(), "the database gave notice");
            }
            Poll::Ready(Some(Ok(_))) => {}
            Poll::Ready(Some(Err(error))) => {
                *ended = Some(error);
                break;
            }
            Poll::Ready(None) => break,
        }
    }
    // Dropped, so that pending requests end as well.
    *stream = None;
    Poll::Ready(())
}
