//! A model of the disk below a directory: files whose writes reach it in sectors, and names that
//! reach it in their order, each at the latest with the fsync of its file or directory.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::record::{At, SystemCall};
use crate::random::Random;

const SECTOR_BYTES: usize = 512;

/// Which fsyncs do nothing, as a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncFault {
    Directories,
}

type Inode = usize;

const ROOT: Inode = 0;

/// The names in each directory.
type Names = BTreeMap<Inode, BTreeMap<PathBuf, Inode>>;

#[derive(Debug)]
enum Node {
    File(Content),
    Directory,
}

#[derive(Debug, Default)]
struct Content {
    visible: Vec<u8>,
    durable: Vec<u8>,
    /// Since the last fsync, in order.
    pending: Vec<PendingWrite>,
}

#[derive(Clone, Debug)]
enum PendingWrite {
    Data { offset: usize, data: Vec<u8> },
    Length(usize),
}

/// A change of names.
#[derive(Debug)]
struct NameChange {
    kind: NameChangeKind,
    /// The directories whose fsync it still waits for; empty if it is durable.
    waits_for: Vec<Inode>,
}

#[derive(Debug)]
enum NameChangeKind {
    Link { directory: Inode, name: PathBuf, inode: Inode },
    Unlink { directory: Inode, name: PathBuf },
    Rename { from: (Inode, PathBuf), to: (Inode, PathBuf) },
}

/// A descriptor. Its position is not shared among duplicates: files are written by offset, or by
/// one descriptor alone.
#[derive(Clone, Debug)]
struct OpenFile {
    inode: Inode,
    position: usize,
    appends: bool,
}

#[derive(Debug)]
pub struct ReplayedDisk {
    root: PathBuf,
    nodes: Vec<Node>,
    visible: Names,
    changes: Vec<NameChange>,
    open: HashMap<i64, OpenFile>,
    fault: Option<SyncFault>,
}

impl ReplayedDisk {
    /// An empty directory at `root`. Other paths are ignored.
    pub fn new(root: &Path, fault: Option<SyncFault>) -> Self {
        Self {
            root: root.to_owned(),
            nodes: vec![Node::Directory],
            visible: Names::new(),
            changes: Vec::new(),
            open: HashMap::new(),
            fault,
        }
    }

    /// Applies a call that succeeded with this result.
    pub fn apply(&mut self, call: &SystemCall, result: i64) {
        match call {
            SystemCall::Open { at, creates, truncates, appends } => {
                self.open_file(at, [*creates, *truncates], *appends, result);
            }
            SystemCall::Close { file } => drop(self.open.remove(file)),
            SystemCall::Duplicate { file } => {
                if let Some(open) = self.open.get(file).cloned() {
                    self.open.insert(result, open);
                }
            }
            SystemCall::Seek { file } => self.set_position(*file, |_| index(result)),
            SystemCall::Read { file } => {
                self.set_position(*file, |position| position + index(result));
            }
            SystemCall::Write { file, data, offset } => {
                self.write(*file, &data[..index(result)], *offset);
            }
            SystemCall::SetLength { file, length } => {
                if let Some(content) = self.content(*file) {
                    content.add(PendingWrite::Length(*length));
                }
            }
            SystemCall::Sync { file } => self.sync(*file),
            SystemCall::Rename { from, to } => self.rename(from, to),
            SystemCall::Remove { at } => {
                if let Some((directory, name)) = self.find_name(at) {
                    self.change_names(NameChangeKind::Unlink { directory, name }, vec![directory]);
                }
            }
            SystemCall::MakeDirectory { at } => {
                if let Some((directory, name)) = self.find_name(at) {
                    self.link(directory, name, Node::Directory);
                }
            }
        }
    }

    fn open_file(&mut self, at: &At, [creates, truncates]: [bool; 2], appends: bool, file: i64) {
        self.open.remove(&file);
        let found = self.find(at);
        let inode = match (found, self.find_name(at)) {
            (Some(inode), _) => inode,
            (None, Some((directory, name))) if creates => {
                self.link(directory, name, Node::File(Content::default()))
            }
            _ => return,
        };
        if let (true, Node::File(content)) = (truncates, &mut self.nodes[inode]) {
            content.add(PendingWrite::Length(0));
        }
        self.open.insert(file, OpenFile { inode, position: 0, appends });
    }

    fn set_position(&mut self, file: i64, position: impl FnOnce(usize) -> usize) {
        if let Some(open) = self.open.get_mut(&file) {
            open.position = position(open.position);
        }
    }

    fn content(&mut self, file: i64) -> Option<&mut Content> {
        match &mut self.nodes[self.open.get(&file)?.inode] {
            Node::File(content) => Some(content),
            Node::Directory => None,
        }
    }

    fn write(&mut self, file: i64, data: &[u8], offset: Option<usize>) {
        let Some(OpenFile { position, appends, .. }) = self.open.get(&file).cloned() else {
            return;
        };
        let Some(content) = self.content(file) else { return };
        let end = content.visible.len();
        let start = offset.unwrap_or(if appends { end } else { position });
        content.add(PendingWrite::Data { offset: start, data: data.to_owned() });
        if offset.is_none() {
            self.set_position(file, |_| start + data.len());
        }
    }

    fn sync(&mut self, file: i64) {
        let Some(OpenFile { inode, .. }) = self.open.get(&file) else { return };
        match &mut self.nodes[*inode] {
            Node::File(content) => {
                content.durable.clone_from(&content.visible);
                content.pending.clear();
            }
            Node::Directory if self.fault == Some(SyncFault::Directories) => {}
            Node::Directory => {
                let (inode, changes) = (*inode, &mut self.changes);
                changes.iter_mut().for_each(|change| change.waits_for.retain(|at| *at != inode));
            }
        }
    }

    fn rename(&mut self, from: &At, to: &At) {
        let (Some(from), Some(to)) = (self.find_name(from), self.find_name(to)) else { return };
        let directories = vec![from.0, to.0];
        self.change_names(NameChangeKind::Rename { from, to }, directories);
    }

    fn link(&mut self, directory: Inode, name: PathBuf, node: Node) -> Inode {
        self.nodes.push(node);
        let inode = self.nodes.len() - 1;
        self.change_names(NameChangeKind::Link { directory, name, inode }, vec![directory]);
        inode
    }

    fn change_names(&mut self, kind: NameChangeKind, waits_for: Vec<Inode>) {
        kind.apply(&mut self.visible);
        self.changes.push(NameChange { kind, waits_for });
    }

    /// The node at a path; `None` outside of the directory.
    fn find(&self, at: &At) -> Option<Inode> {
        let start = at.directory.and_then(|directory| self.open.get(&directory));
        let (mut inode, path) = match start {
            Some(open) if at.path.is_relative() => (open.inode, at.path.as_path()),
            _ => (ROOT, at.path.strip_prefix(&self.root).ok()?),
        };
        for name in path {
            inode = *self.visible.get(&inode)?.get(Path::new(name))?;
        }
        Some(inode)
    }

    /// The directory of a path, and the name in it.
    fn find_name(&self, at: &At) -> Option<(Inode, PathBuf)> {
        let name = PathBuf::from(at.path.file_name()?);
        let above = at.path.parent()?.to_owned();
        Some((self.find(&At { directory: at.directory, path: above })?, name))
    }

    /// Writes the directory as a loss of power may leave it: of the names that are not durable a
    /// prefix, of the sectors that are not durable all, none, or some.
    pub fn write_after_loss(&self, path: &Path, random: &mut Random) -> io::Result<()> {
        let kept_names = match random.below(3) {
            0 => 0,
            1 => self.changes.len(),
            _ => random.place(self.changes.len() + 1),
        };
        let mut kept = Names::new();
        for (number, change) in self.changes.iter().enumerate() {
            if change.waits_for.is_empty() || number < kept_names {
                change.kind.apply(&mut kept);
            }
        }
        let share = random.below(3);
        let mut keeps = || match share {
            0 => false,
            1 => true,
            _ => random.one_in(2),
        };
        let mut stack = vec![(path.to_owned(), ROOT)];
        while let Some((path, inode)) = stack.pop() {
            match &self.nodes[inode] {
                Node::File(content) => fs::write(path, content.after_loss(&mut keeps))?,
                Node::Directory => {
                    fs::create_dir(&path)?;
                    let names = kept.get(&inode).into_iter().flatten();
                    stack.extend(names.map(|(name, inode)| (path.join(name), *inode)));
                }
            }
        }
        Ok(())
    }
}

impl NameChangeKind {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Link { directory, name, inode } => {
                names.entry(*directory).or_default().insert(name.clone(), *inode);
            }
            Self::Unlink { directory, name } => {
                names.entry(*directory).or_default().remove(name);
            }
            Self::Rename { from: (from, name), to: (to, new_name) } => {
                // A name that was created and lost cannot be renamed either.
                if let Some(inode) = names.entry(*from).or_default().remove(name) {
                    names.entry(*to).or_default().insert(new_name.clone(), inode);
                }
            }
        }
    }
}

impl Content {
    fn add(&mut self, write: PendingWrite) {
        apply(&mut self.visible, &write, &mut || true);
        self.pending.push(write);
    }

    fn after_loss(&self, keeps: &mut impl FnMut() -> bool) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        self.pending.iter().for_each(|write| apply(&mut bytes, write, keeps));
        bytes
    }
}

/// Applies the sectors of a write that are kept. Sectors are those of the file.
fn apply(bytes: &mut Vec<u8>, write: &PendingWrite, keeps: &mut impl FnMut() -> bool) {
    match write {
        PendingWrite::Length(length) => {
            if keeps() {
                bytes.resize(*length, 0);
            }
        }
        PendingWrite::Data { offset, data } => {
            let mut start = *offset;
            let end = offset + data.len();
            while start < end {
                let sector_end = (start / SECTOR_BYTES + 1) * SECTOR_BYTES;
                let next = sector_end.min(end);
                if keeps() {
                    if bytes.len() < next {
                        bytes.resize(next, 0);
                    }
                    bytes[start..next].copy_from_slice(&data[start - offset..next - offset]);
                }
                start = next;
            }
        }
    }
}

fn index(result: i64) -> usize {
    usize::try_from(result).unwrap_or_default()
}
