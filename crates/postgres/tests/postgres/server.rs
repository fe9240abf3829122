//! A `PostgreSQL` server for the tests of this program, and its end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use leafbase_postgres::{PostgresDatabase, PostgresOptions};

/// Set to 1 where a missing server is a failure, and not a reason to skip.
const REQUIRE: &str = "LEAFBASE_REQUIRE_POSTGRES";
/// The port of a server that listens at its socket alone.
const PORT: u16 = 5432;
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// A running server, in a directory below that for temporary files. Its socket is there as well.
pub(crate) struct Server {
    pub(crate) directory: PathBuf,
    binaries: PathBuf,
    /// Part of the name of its socket, wherever else it listens.
    port: u16,
    /// The shell around it, which stops it and removes the directory once this pipe is closed.
    _shell: Child,
}

/// The server, started by the first test that needs it. `None`, and a line on the terminal, if
/// `PostgreSQL` is not installed.
pub(crate) fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let Some(binaries) = binaries() else {
            assert_ne!(std::env::var(REQUIRE).as_deref(), Ok("1"), "PostgreSQL is not installed");
            // Past the capture of a test's output, so that it shows.
            let note = "SKIPPED: tests over PostgreSQL, which is not installed\n";
            std::io::stderr().write_all(note.as_bytes()).unwrap();
            return None;
        };
        Some(Server::start(&binaries, &[], &["listen_addresses="], PORT))
    });
    server.as_ref()
}

/// The directory of the programs of the newest version.
pub(crate) fn binaries() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = versions.map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = debian.chain(std::env::split_paths(&path));
    let version = |directory: &PathBuf| {
        let parent = directory.parent()?.file_name()?.to_str()?.parse::<u32>();
        parent.ok()
    };
    all.filter(|directory| directory.join("initdb").is_file()).max_by_key(version)
}

/// A command as the user that the server runs as: it refuses to run as root.
fn unprivileged(program: impl AsRef<Path>) -> Command {
    let Some(user) = user() else { return Command::new(program.as_ref()) };
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={user}"), "--regid=nogroup", "--clear-groups", "--"]);
    command.arg(program.as_ref());
    command
}

/// The user in place of root; `None` for any other.
fn user() -> Option<&'static str> {
    let id = Command::new("id").arg("-u").output().expect("id runs");
    (id.stdout == b"0\n").then_some("nobody")
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Writes a file that the server's user alone may read.
fn put_private(path: &Path, contents: &str) {
    std::fs::write(path, contents).unwrap();
    run(Command::new("chmod").arg("600").arg(path));
    if let Some(user) = user() {
        run(Command::new("chown").arg(user).arg(path));
    }
}

/// Names and contents of files in the server's directory of data.
pub(crate) type Files<'a> = &'a [(&'a str, &'a str)];

impl Server {
    /// A new server with further `settings`, among them where it listens beside its socket.
    pub(crate) fn start(binaries: &Path, files: Files<'_>, settings: &[&str], port: u16) -> Self {
        let directory = tempfile::Builder::new().prefix("leafbase-pg").tempdir().unwrap().keep();
        if let Some(user) = user() {
            run(Command::new("chown").arg(user).arg(&directory));
        }
        let data = directory.join("data");
        let mut initdb = unprivileged(binaries.join("initdb"));
        initdb.args(["--auth=trust", "--username=leafbase", "--encoding=UTF8", "--no-sync"]);
        run(initdb.args(["--locale=C.UTF-8", "-D"]).arg(&data));
        for (name, contents) in files {
            put_private(&data.join(name), contents);
        }
        let server = unprivileged(binaries.join("postgres"));
        let mut shell = Command::new("sh");
        let script = "directory=$1; shift; \"$@\" < /dev/null > \"$directory/log\" 2>&1 & \
                      server=$!; cat > /dev/null; kill -INT $server; wait $server; \
                      rm -rf \"$directory\"";
        shell.args(["-c", script, "sh"]).arg(&directory);
        shell.arg(server.get_program()).args(server.get_args());
        shell.arg("-D").arg(&data).arg("-k").arg(&directory);
        shell.args(["-c", "max_connections=200", "-c", "fsync=off"]);
        shell.args(["-p", &port.to_string()]);
        shell.args(settings.iter().flat_map(|setting| ["-c", setting]));
        let shell = shell.stdin(Stdio::piped()).spawn().expect("a shell");
        let server = Self { directory, binaries: binaries.to_owned(), port, _shell: shell };
        server.wait();
        server
    }

    /// Waits until it answers.
    fn wait(&self) {
        let began = Instant::now();
        loop {
            match PostgresDatabase::connect(&self.parameters(), PostgresOptions::new()) {
                Ok(_) => return,
                Err(error) => assert!(began.elapsed() < STARTS_WITHIN, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The parameters of its database.
    pub(crate) fn parameters(&self) -> String {
        format!("{} port={}", parameters(&self.directory), self.port)
    }

    /// The parameters of another database.
    pub(crate) fn parameters_of(&self, database: &str) -> String {
        format!("{} dbname={database}", self.parameters())
    }

    /// A new database with the tables.
    pub(crate) fn new_database(&self) -> String {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("another_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name}"));
        PostgresDatabase::connect(&self.parameters_of(&name), PostgresOptions::new()).unwrap();
        name
    }

    /// Runs statements as the owner of the database.
    pub(crate) fn psql(&self, database: &str, statements: &str) {
        let mut psql = Command::new(self.binaries.join("psql"));
        psql.arg("-h").arg(&self.directory).args(["-p", &self.port.to_string()]);
        psql.args(["-U", "leafbase", "-d", database]);
        run(psql.args(["-v", "ON_ERROR_STOP=1", "-qc", statements]));
    }

    /// A connection pool of its own, as another host has.
    pub(crate) fn database(&self) -> PostgresDatabase {
        PostgresDatabase::connect(&self.parameters(), PostgresOptions::new()).unwrap()
    }
}

/// The parameters for the socket in `directory`.
pub(crate) fn parameters(directory: &Path) -> String {
    format!("host={} user=leafbase dbname=postgres", directory.display())
}

/// A name that no other space of this program has.
pub(crate) fn unused_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("space {}", NUMBER.fetch_add(1, Ordering::Relaxed))
}
