//! Uploads a file of 200 MiB, reads it back, deletes it, and reports time and memory.
//!
//! ```sh
//! cargo run --release --example upload           # 200 MiB
//! cargo run --release --example upload -- 32     # 32 MiB
//! cargo run --release --example upload -- 32 48  # 32 MiB, with at most 48 MiB of memory
//! ```
//!
//! It fails if the bytes differ, if any are left after deletion, or if the process used more than
//! 64 MiB of memory. Most of the memory is the page cache of the store, which any use of a space
//! fills; it has its default size here.

use std::error::Error;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs};

use leafbase::{DeleteBlocks, Space, UploadFile};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const MIB: u64 = 1 << 20;

fn main() -> ExitCode {
    match run(&mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to do if even this cannot be written.
            drop(writeln!(io::stderr(), "upload: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Bytes that depend only on their offset.
struct Generated {
    at: u64,
    end: u64,
}

impl Generated {
    fn new(length: u64) -> Self {
        Self { at: 0, end: length }
    }
}

impl Read for Generated {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        for (byte, at) in out.iter_mut().zip(self.at..self.end) {
            let word = (at / 8).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).to_le_bytes();
            *byte = usize::try_from(at % 8)
                .ok()
                .and_then(|place| word.get(place))
                .copied()
                .unwrap_or_default();
            count += 1;
        }
        self.at += count as u64;
        Ok(count)
    }
}

fn run(out: &mut impl Write) -> Result<()> {
    let mut numbers = env::args().skip(1).map(|number| number.parse::<u64>());
    let length = numbers.next().unwrap_or(Ok(200))? * MIB;
    let most = numbers.next().unwrap_or(Ok(64))? * MIB;
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("upload.leafbase");
    let mut limits = leafbase::Limits::default();
    limits.upload = limits.upload.max(length);
    let space = Space::builder().limits(limits).create(&path)?;
    let notes = space.connect();
    let document = notes.create_document("Files")?.id();
    let before = memory();

    let started = Instant::now();
    let uploaded = notes
        .upload_file(UploadFile::new(document).named("generated.bin"), Generated::new(length))?;
    report(out, "uploaded", length, started)?;

    let started = Instant::now();
    let mut file = notes.open_file(uploaded.asset_url.id())?;
    compare(&mut file, &mut Generated::new(length))?;
    report(out, "read back", length, started)?;
    drop(file);

    let started = Instant::now();
    notes.delete_blocks(DeleteBlocks::from(uploaded.block_id))?;
    report(out, "deleted", length, started)?;

    let taken = before.zip(memory()).map(|(before, after)| after.saturating_sub(before));
    match taken {
        Some(bytes) => {
            let bytes = bytes.div_ceil(MIB);
            writeln!(
                out,
                "extra resident memory at its highest: {bytes} MiB, the store's cache included"
            )?;
        }
        None => writeln!(out, "resident memory: not known on this system")?,
    }
    if !space.check()?.is_clean() {
        return Err("the space is not clean".into());
    }
    space.compact()?;
    let left = space.stats()?.bytes;
    writeln!(out, "the space takes {} KiB in the end", left / 1_024)?;
    if left > 4 * MIB {
        return Err("bytes are left after deletion".into());
    }
    match taken.filter(|bytes| *bytes > most) {
        Some(bytes) => {
            Err(format!("{} MiB of memory, more than {}", bytes.div_ceil(MIB), most / MIB).into())
        }
        None => Ok(()),
    }
}

fn report(out: &mut impl Write, what: &str, length: u64, started: Instant) -> Result<()> {
    let took = started.elapsed();
    let (mib, ms) = (u128::from(length / MIB), took.as_millis());
    writeln!(out, "{what} {mib} MiB in {ms} ms ({} MiB/s)", mib * 1_000 / ms.max(1))?;
    Ok(())
}

/// Whether both readers return the same bytes.
fn compare(found: &mut impl Read, expected: &mut impl Read) -> Result<()> {
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let count = found.read(&mut left)?;
        let wanted = right.get_mut(..count.max(1)).ok_or("the reader claims too much")?;
        let given = expected.read(wanted)?;
        if given != count || left.get(..count) != right.get(..count) {
            return Err("the bytes read differ from the uploaded ones".into());
        }
        if count == 0 {
            return Ok(());
        }
    }
}

/// The peak resident memory of the process, on systems that report it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1_024)
}
