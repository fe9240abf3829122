//! Plays the requests of `session.txt` over HTTP and prints each with its answer, which makes that
//! file again: `.ci/examples` compares both. Every operation has to be among them. `#1` stands for
//! the first ID that appeared.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicI64, Ordering};

use leafbase::{Clock, IdSource, Space, Timestamp, ToolSchemas, scoped_tool_schemas, tool_schemas};

const SESSION: &str = include_str!("session.txt");

/// A clock that steps, and IDs that count.
struct Steady(AtomicI64);

impl Clock for Steady {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1_000, Ordering::Relaxed))
    }
}

impl IdSource for Steady {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        u128::try_from(self.0.fetch_add(1, Ordering::Relaxed)).unwrap_or_default().to_be_bytes()
    }
}

/// The IDs that appeared, in order.
#[derive(Default)]
struct Ids(Vec<String>);

impl Ids {
    /// The text with each word replaced, if `replaced` returns one.
    fn map(text: &str, mut replaced: impl FnMut(&str) -> Option<String>) -> String {
        let is_end = |sign: char| !sign.is_ascii_alphanumeric() && sign != '#';
        let parts = text.split_inclusive(is_end).map(|part| {
            let word = part.trim_end_matches(is_end);
            replaced(word).map_or(part.to_owned(), |new| new + &part[word.len()..])
        });
        parts.collect()
    }

    fn numbered(&mut self, text: &str) -> String {
        let is_sign = |sign: u8| sign.is_ascii_digit() || sign.is_ascii_uppercase();
        Self::map(text, |word| {
            if word.len() != 26 || !word.bytes().all(is_sign) {
                return None;
            }
            let known = self.0.iter().position(|id| id == word).unwrap_or(self.0.len());
            if known == self.0.len() {
                self.0.push(word.to_owned());
            }
            Some(format!("#{}", known + 1))
        })
    }

    fn filled(&self, text: &str) -> String {
        let id = |word: &str| {
            let number: usize = word.strip_prefix('#')?.parse().ok()?;
            self.0.get(number.checked_sub(1)?).cloned()
        };
        Self::map(text, id)
    }
}

/// The operations below a prefix that the session does not call with success.
fn missing(prefix: &str, schemas: &ToolSchemas, called: &BTreeSet<String>) -> Vec<String> {
    let paths = schemas.tools.iter().map(|tool| format!("{prefix}/{}", tool.name));
    paths.filter(|path| !called.contains(path)).collect()
}

pub(crate) fn play() -> Result<(), Box<dyn std::error::Error>> {
    let steady = || {
        let [clock, ids] = [1_767_225_600_000, 1].map(|start| Steady(AtomicI64::new(start)));
        Space::builder().clock(clock).ids(ids)
    };
    let host = super::hosted(&["notes", "work"], steady)?;
    let mut ids = Ids::default();
    for (_, token) in host.values() {
        ids.numbered(token);
    }
    let (address, _runtime) = super::start(&host)?;
    let mut called = BTreeSet::new();
    for line in SESSION.lines() {
        let mut words = line.splitn(3, ' ');
        let verb = words.next().unwrap_or_default();
        if !["GET", "POST"].contains(&verb) {
            // Remarks stay; answers are those of now.
            if !line.starts_with("  ") {
                println!("{line}");
            }
            continue;
        }
        println!("{line}");
        let path = ids.filled(words.next().unwrap_or_default());
        let body = ids.filled(words.next().unwrap_or_default());
        // Links need no token, and a space its own, unless the line has another one.
        let of_owner = ids.0.get(usize::from(path.starts_with("/spaces/work/")));
        let of_owner = of_owner.filter(|_| path.starts_with("/spaces/"));
        let own = (&*path, of_owner.map_or("", String::as_str));
        let (path, token) = path.split_once('@').unwrap_or(own);
        let mut stream = TcpStream::connect(address)?;
        write!(
            stream,
            "{verb} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             Authorization: Bearer {token}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        let (head, body) = reply.split_once("\r\n\r\n").ok_or("an answer has a head")?;
        let status = head.split(' ').nth(1).unwrap_or_default();
        println!("  {status} {}", ids.numbered(body));
        if status == "200" {
            let path = ids.numbered(path.split('?').next().unwrap_or_default());
            called.insert(path);
        }
    }
    let full = missing("/spaces/notes", &tool_schemas(), &called);
    // Links differ in what they show, not in their operations. What a link undoes is numbered from
    // when its connection began, and here each request begins one.
    let of_links = called.iter().filter_map(|path| path.strip_prefix("/links/")?.split('/').nth(1));
    let of_links = of_links.chain(["undo"]).map(|name| format!("/links/{name}")).collect();
    match full.into_iter().chain(missing("/links", &scoped_tool_schemas(), &of_links)).next() {
        Some(path) => Err(format!("session.txt does not call {path} with success").into()),
        None => Ok(()),
    }
}
