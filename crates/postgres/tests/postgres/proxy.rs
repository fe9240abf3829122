//! A proxy before the server that loses connections at chosen moments.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const SOCKET: &str = ".s.PGSQL.5432";
/// What a commit ends with on the wire.
const COMMIT: &[u8] = b"COMMIT\0";
/// The answer of a server that fails because its disk is full.
const PANIC: &[u8] = b"E\0\0\0\x3BSPANIC\0VPANIC\0C53100\0Mcould not write to the log file\0\0";

/// When the connection of the next commit is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cut {
    Never,
    /// Before the server gets the commit.
    BeforeCommit,
    /// After the server has committed, before it is told.
    AfterCommit,
    /// As if the server failed: before it gets the commit, and after it has committed.
    PanicBeforeCommit,
    PanicAfterCommit,
}

impl Cut {
    fn of(number: u8) -> Self {
        let all = [
            Self::Never,
            Self::BeforeCommit,
            Self::AfterCommit,
            Self::PanicBeforeCommit,
            Self::PanicAfterCommit,
        ];
        all[usize::from(number)]
    }
}

pub(crate) struct Proxy {
    directory: tempfile::TempDir,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    cut: AtomicU8,
    is_away: AtomicBool,
    clients: Mutex<Vec<UnixStream>>,
}

impl Proxy {
    /// A proxy of the server with its socket in `server`.
    pub(crate) fn start(server: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join(SOCKET)).unwrap();
        let (shared, server) = (Arc::<Shared>::default(), server.join(SOCKET));
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, shared, server) =
                    (client.unwrap(), Arc::clone(&accepting), server.clone());
                shared.clients.lock().unwrap().push(client.try_clone().unwrap());
                if shared.is_away.load(Ordering::SeqCst) {
                    client.shutdown(Shutdown::Both).unwrap();
                } else {
                    thread::spawn(move || serve(client, &server, &shared.cut));
                }
            }
        });
        Self { directory, shared }
    }

    /// Loses all connections, and new ones as well until the server is back.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.shared.is_away.store(is_away, Ordering::SeqCst);
        for client in self.shared.clients.lock().unwrap().drain(..) {
            // An error: it is lost already.
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    /// Loses the connection of the next commit.
    pub(crate) fn cut(&self, cut: Cut) {
        self.shared.cut.store(cut as u8, Ordering::SeqCst);
    }

    /// Whether the connection that was to be lost is lost.
    pub(crate) fn has_cut(&self) -> bool {
        self.shared.cut.load(Ordering::SeqCst) == Cut::Never as u8
    }
}

fn serve(mut client: UnixStream, server: &Path, cut: &AtomicU8) {
    let Ok(mut server) = UnixStream::connect(server) else { return };
    let answers = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let (mut from, mut to) = answers;
    let is_silent = Arc::<AtomicBool>::default();
    let silenced = Arc::clone(&is_silent);
    let back = thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if !silenced.load(Ordering::SeqCst) {
                // An error: the client is gone. The answers are read on, as far as they come.
                let _ = to.write_all(&bytes[..count]);
            }
        }
        if !silenced.load(Ordering::SeqCst) {
            let _ = to.shutdown(Shutdown::Both);
        }
    });
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = client.read(&mut bytes) {
        let has_commit = bytes[..count].windows(COMMIT.len()).any(|part| part == COMMIT);
        let cut = if has_commit { Cut::of(cut.swap(0, Ordering::SeqCst)) } else { Cut::Never };
        match cut {
            Cut::Never => {
                if server.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            Cut::BeforeCommit => break,
            Cut::AfterCommit => {
                // The client hears nothing more; the server ends after what it was sent.
                client.shutdown(Shutdown::Both).unwrap();
                server.write_all(&bytes[..count]).unwrap();
                server.shutdown(Shutdown::Write).unwrap();
                back.join().unwrap();
                return;
            }
            Cut::PanicBeforeCommit | Cut::PanicAfterCommit => {
                is_silent.store(true, Ordering::SeqCst);
                if cut == Cut::PanicAfterCommit {
                    server.write_all(&bytes[..count]).unwrap();
                }
                server.shutdown(Shutdown::Write).unwrap();
                back.join().unwrap();
                client.write_all(PANIC).unwrap();
                client.shutdown(Shutdown::Both).unwrap();
                return;
            }
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
    let _ = back.join();
}
