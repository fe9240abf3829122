//! The output of strace: system calls that change files, in the order in which they returned.

use std::collections::HashMap;
use std::path::PathBuf;

/// The calls that are recorded. Writes through memory maps are none: neither redb nor tantivy has
/// them.
pub const TRACED: &str = "openat,close,fcntl,dup,dup3,lseek,read,write,writev,pwrite64,pwritev,\
    ftruncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,\
    mkdirat,link,linkat,symlink,symlinkat,copy_file_range,sendfile";

/// A call that succeeded.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub call: SystemCall,
    /// The returned number.
    pub result: i64,
}

/// A path relative to a directory that is open, or to the current one.
#[derive(Clone, Debug)]
pub struct At {
    pub directory: Option<i64>,
    pub path: PathBuf,
}

#[derive(Clone, Debug)]
pub enum SystemCall {
    Open {
        at: At,
        creates: bool,
        truncates: bool,
        appends: bool,
    },
    Close {
        file: i64,
    },
    Duplicate {
        file: i64,
    },
    Seek {
        file: i64,
    },
    Read {
        file: i64,
    },
    /// Without an offset at the position of the descriptor.
    Write {
        file: i64,
        data: Vec<u8>,
        offset: Option<usize>,
    },
    SetLength {
        file: i64,
        length: usize,
    },
    Sync {
        file: i64,
    },
    Rename {
        from: At,
        to: At,
    },
    Remove {
        at: At,
    },
    MakeDirectory {
        at: At,
    },
}

/// Parses the whole output. An unknown call is an error, so that none is left out silently.
pub fn parse(output: &str) -> Result<Vec<Recorded>, String> {
    let mut unfinished: HashMap<&str, String> = HashMap::new();
    let mut recorded = Vec::new();
    for line in output.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        // Exits of threads.
        if rest.starts_with("+++") || rest.starts_with("---") {
            continue;
        }
        if let Some(begun) = rest.strip_suffix(" <unfinished ...>") {
            unfinished.insert(thread, begun.to_owned());
            continue;
        }
        let mut text = rest.to_owned();
        if let Some((_, resumed)) = rest.split_once(" resumed>") {
            text = unfinished.remove(thread).ok_or_else(|| format!("nothing begun: {rest}"))?;
            text.push_str(resumed);
        }
        let fault = |what: &str| format!("{what}: {}", text.chars().take(200).collect::<String>());
        let Some((call, result)) = text.rsplit_once(" = ") else { return Err(fault("no result")) };
        let result = result.split(' ').next().and_then(|number| number.parse().ok());
        // The call of a thread that ended within it has the result `?`.
        let Some(result) = result.filter(|result| *result >= 0) else { continue };
        if let Some(call) = parse_call(call.trim_end()).ok_or_else(|| fault("not understood"))? {
            recorded.push(Recorded { call, result });
        }
    }
    Ok(recorded)
}

/// A call such as `ftruncate(5, 4096)`; the inner `None` if it changes nothing.
fn parse_call(text: &str) -> Option<Option<SystemCall>> {
    let (name, rest) = text.split_once('(')?;
    let arguments: Vec<&str> = split(rest.strip_suffix(')')?);
    let argument = |index: usize| arguments.get(index).copied();
    let number = |index: usize| argument(index)?.parse::<i64>().ok();
    let size = |index: usize| argument(index)?.parse::<usize>().ok();
    let path = |index: usize| Some(At { directory: None, path: path_of(argument(index)?)? });
    let at =
        |index: usize| Some(At { directory: number(index), path: path_of(argument(index + 1)?)? });
    let call = match name {
        "openat" => {
            let flags = argument(2)?;
            SystemCall::Open {
                at: at(0)?,
                creates: flags.contains("O_CREAT"),
                truncates: flags.contains("O_TRUNC"),
                appends: flags.contains("O_APPEND"),
            }
        }
        "close" => SystemCall::Close { file: number(0)? },
        "dup" | "dup3" => SystemCall::Duplicate { file: number(0)? },
        "fcntl" if argument(1)?.starts_with("F_DUPFD") => {
            SystemCall::Duplicate { file: number(0)? }
        }
        "fcntl" => return Some(None),
        "lseek" => SystemCall::Seek { file: number(0)? },
        "read" => SystemCall::Read { file: number(0)? },
        "write" => {
            SystemCall::Write { file: number(0)?, data: bytes_of(argument(1)?)?, offset: None }
        }
        "writev" => {
            SystemCall::Write { file: number(0)?, data: vector_of(argument(1)?)?, offset: None }
        }
        "pwrite64" => {
            SystemCall::Write { file: number(0)?, data: bytes_of(argument(1)?)?, offset: size(3) }
        }
        "pwritev" => {
            SystemCall::Write { file: number(0)?, data: vector_of(argument(1)?)?, offset: size(3) }
        }
        "ftruncate" => SystemCall::SetLength { file: number(0)?, length: size(1)? },
        "fsync" | "fdatasync" => SystemCall::Sync { file: number(0)? },
        "rename" => SystemCall::Rename { from: path(0)?, to: path(1)? },
        // Renames that exchange or refuse are told by their flags.
        "renameat" | "renameat2" if !text.contains("RENAME_EXCHANGE") => {
            SystemCall::Rename { from: at(0)?, to: at(2)? }
        }
        "unlink" | "rmdir" => SystemCall::Remove { at: path(0)? },
        "unlinkat" => SystemCall::Remove { at: at(0)? },
        "mkdir" => SystemCall::MakeDirectory { at: path(0)? },
        "mkdirat" => SystemCall::MakeDirectory { at: at(0)? },
        _ => return None,
    };
    Some(Some(call))
}

/// The arguments between commas that are in no brackets and in no string. Strings are hexadecimal,
/// so that they contain neither.
fn split(text: &str) -> Vec<&str> {
    let (mut arguments, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'{' | b'(' => depth += 1,
            b']' | b'}' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                arguments.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    arguments.push(text[start..].trim());
    arguments
}

/// The bytes of `"\x6e\x6f"`. A string that strace cut off is not a string.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let hexadecimal = text.strip_prefix('"')?.strip_suffix('"')?;
    let digits = hexadecimal.split("\\x").skip(1);
    digits.map(|digits| u8::from_str_radix(digits, 16).ok()).collect()
}

fn path_of(text: &str) -> Option<PathBuf> {
    Some(PathBuf::from(String::from_utf8(bytes_of(text)?).ok()?))
}

/// The bytes of `[{iov_base="\x6e", iov_len=1}, ..]`.
fn vector_of(text: &str) -> Option<Vec<u8>> {
    let strings = text.split('"').skip(1).step_by(2);
    let parts: Option<Vec<Vec<u8>>> =
        strings.map(|string| bytes_of(&format!("\"{string}\""))).collect();
    Some(parts?.concat())
}
