//! A server that is farther away: its socket behind another one, which holds back what passes.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// Listens at `socket` for the server at `server`, until the program ends. What is sent either way
/// arrives after half of `round_trip`.
pub fn listen(socket: &Path, server: PathBuf, round_trip: Duration) {
    let listener = UnixListener::bind(socket).expect("a socket");
    thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.expect("a connection");
            let server = UnixStream::connect(&server).expect("the server");
            let copy = |stream: &UnixStream| stream.try_clone().expect("a stream");
            carry(copy(&client), copy(&server), round_trip / 2);
            carry(server, client, round_trip / 2);
        }
    });
}

/// Writes what is read `from` one to the other, each part `delay` after it was sent.
fn carry(mut from: UnixStream, mut to: UnixStream, delay: Duration) {
    let (sender, receiver) = channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = [0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if sender.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (due, part) in receiver {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&part).is_err() {
                return;
            }
        }
        drop(to.shutdown(Shutdown::Write));
    });
}
