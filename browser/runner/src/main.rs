//! Serves the page of a `wasm` file on loopback, and tries it in a headless browser.
//!
//! `runner page.wasm` loads the page in Chromium (or the program in `CHROMIUM`), which uses itself
//! as a person would and sends a line per check; it exits non-zero unless all of them passed.
//! `runner page.wasm --serve` serves it until Ctrl-C. `runner page.wasm --control` passes only if
//! the browser reports the check that is wrong on purpose.

use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use wasm_bindgen_cli_support::Bindgen;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// How long the page may take, from the start of the browser.
const TIMEOUT: Duration = Duration::from_secs(120);
const MAX_RESULT_BYTES: u64 = 1 << 20;
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (page, mode) = match arguments.as_slice() {
        [page] => (page, ""),
        [page, mode] if mode == "--serve" || mode == "--control" => (page, mode.as_str()),
        _ => return Err("usage: runner PAGE.wasm [--serve | --control]".into()),
    };
    let site = tempfile::tempdir()?;
    build_site(Path::new(page), site.path())?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/", listener.local_addr()?);
    let (sender, results) = mpsc::channel();
    let directory = site.path().to_owned();
    let server = thread::spawn(move || serve(&listener, &directory, &sender));
    if mode == "--serve" {
        println!("{address}");
        return server.join().map(|()| true).map_err(|_| "the server has ended".into());
    }
    let is_control = mode == "--control";
    let url = format!("{address}test.html{}", if is_control { "?control" } else { "" });
    let profile = tempfile::tempdir()?;
    let mut browser = start_browser(&url, profile.path())?;
    let result = results.recv_timeout(TIMEOUT);
    browser.kill()?;
    browser.wait()?;
    let result = result.map_err(|_| format!("the page sent nothing in {} s", TIMEOUT.as_secs()))?;
    println!("{result}");
    let failed = result.lines().filter(|line| line.starts_with("FAILED")).count();
    let passed = result.lines().filter(|line| line.starts_with("ok ")).count();
    println!("{passed} checks passed, {failed} failed");
    Ok(passed > 0 && if is_control { failed == 1 } else { failed == 0 })
}

/// Writes the page, and what lets JavaScript call the `wasm` file, to `site`.
fn build_site(page: &Path, site: &Path) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(page).web(true)?.omit_default_module_path(false).typescript(false);
    // Names of functions are a fifth of the file, and no page needs them.
    bindgen.remove_name_section(true).out_name("notes").generate(site)?;
    let sources = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../page/www"));
    for entry in fs::read_dir(sources)? {
        let entry = entry?;
        fs::copy(entry.path(), site.join(entry.file_name()))?;
    }
    let index = fs::read_to_string(site.join("index.html"))?;
    Ok(fs::write(site.join("test.html"), index.replace("src=\"app.js\"", "src=\"test.js\""))?)
}

fn start_browser(url: &str, profile: &Path) -> Result<Child> {
    let chosen = std::env::var("CHROMIUM").ok();
    let names = chosen.as_deref().map_or_else(|| BROWSERS.to_vec(), |name| vec![name]);
    for name in &names {
        let mut command = Command::new(name);
        command
            // The sandbox refuses to run as root, as in a container; the page is our own.
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--disable-sync", "--disable-quic", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Ok(browser) = command.spawn() {
            return Ok(browser);
        }
    }
    Err(format!("no browser could be started: {}", names.join(", ")).into())
}

/// Answers files by `GET`, and takes the result of the page by `POST`. A thread per connection: a
/// browser opens some ahead and sends nothing on them.
fn serve(listener: &TcpListener, site: &Path, results: &Sender<String>) {
    for stream in listener.incoming() {
        let (site, results) = (site.to_owned(), results.clone());
        thread::spawn(move || {
            let answered = stream.map_err(Into::into);
            if let Err(error) = answered.and_then(|stream| answer(stream, &site, &results)) {
                eprintln!("a request failed: {error}");
            }
        });
    }
}

fn answer(stream: TcpStream, site: &Path, results: &Sender<String>) -> Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse()?;
        }
    }
    let mut body = String::new();
    reader.by_ref().take(length.min(MAX_RESULT_BYTES)).read_to_string(&mut body)?;
    let mut stream = reader.into_inner();
    let mut words = first.split_whitespace();
    match (words.next(), words.next()) {
        (Some("POST"), Some(_)) => {
            results.send(body)?;
            respond(&mut stream, "200 OK", "text/plain", &[])
        }
        (Some("GET"), Some(target)) => match read_file(site, target) {
            Some((content_type, file)) => respond(&mut stream, "200 OK", content_type, &file),
            None => respond(&mut stream, "404 Not Found", "text/plain", &[]),
        },
        // The connection was closed unused.
        _ => Ok(()),
    }
}

/// A file of the site and its type. Names have no directories.
fn read_file(site: &Path, target: &str) -> Option<(&'static str, Vec<u8>)> {
    let path = target.split('?').next()?.strip_prefix('/')?;
    let name = if path.is_empty() { "index.html" } else { path };
    if name.contains(['/', '\\']) {
        return None;
    }
    let content_type = match name.rsplit('.').next()? {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        _ => return None,
    };
    Some((content_type, fs::read(site.join(name)).ok()?))
}

fn respond(stream: &mut TcpStream, status: &str, content_type: &str, body: &[u8]) -> Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    )?;
    stream.write_all(body)?;
    Ok(())
}
