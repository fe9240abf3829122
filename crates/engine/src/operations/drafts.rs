//! Validation and normalization of drafts, in reading order and with an explicit stack. Each draft
//! is checked under its path in the request, before paragraphs that become blocks shift its
//! successors.

use std::mem;

use leafbase_model::{AssetId, BlockData, BlockDraft, Error, Limits, Result};
use leafbase_tree_ops::{self as ops, AllowedChildren};

use crate::core::tree::Tree;
use crate::operations::files::named;
use crate::operations::prepare;

/// The uploaded files that drafts may reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Files {
    /// Any file.
    Any,
    /// Files that the call may see.
    Seen,
}

const BLOCKS: &str = "blocks in one request";

/// The path of the drafts in the request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Names {
    /// Entries of the list with this name.
    List(&'static str),
    /// One draft, the root of a document. Paths are relative to it.
    Root,
}

impl Names {
    const fn list(self) -> Option<&'static str> {
        match self {
            Self::List(name) => Some(name),
            Self::Root => None,
        }
    }
}

/// Normalized drafts with their first error. The error is reported once the position is resolved,
/// because an invalid position takes precedence.
#[derive(Debug)]
pub(crate) struct Ready {
    drafts: Vec<BlockDraft>,
    /// The index in reading order of the first invalid draft, and its error.
    fault: Option<(usize, Error)>,
    /// As `fault`, for positions that only take tasks.
    no_task: Option<(usize, Error)>,
    /// The referenced files, each with the index of the draft and the path of the field. None if
    /// any file may be referenced.
    files: Option<Vec<(usize, AssetId, String)>>,
    /// The first draft of each level: its index in reading order and its path.
    levels: Vec<(usize, String)>,
}

impl Ready {
    fn new(files: Files) -> Self {
        let files = (files == Files::Seen).then(Vec::new);
        Self { drafts: Vec::new(), fault: None, no_task: None, files, levels: Vec::new() }
    }

    /// Records the files that `data` references, at the path that `path` returns.
    fn note_files(&mut self, number: usize, data: &BlockData, path: impl Fn() -> String) {
        if let Some(files) = &mut self.files {
            files.extend(named::named(data).into_iter().map(|file| (number, file, path())));
        }
    }

    /// Whether there are neither drafts nor an error.
    pub(crate) fn is_empty(&self) -> bool {
        self.drafts.is_empty() && self.fault.is_none()
    }

    /// The drafts, if they are valid at `depth` of their document, at a position that takes
    /// `takes`, and every referenced file is visible in `tree`. A clone, because a write closure
    /// may run again.
    pub(crate) fn at(
        &self,
        tree: &Tree<'_>,
        depth: usize,
        allowed: AllowedChildren,
        limits: &Limits,
    ) -> Result<Vec<BlockDraft>> {
        self.check_at(depth, allowed, limits, self.hidden_file(tree)?.as_ref())?;
        Ok(self.drafts.clone())
    }

    /// The index of the first draft that references a hidden file, with the error.
    fn hidden_file(&self, tree: &Tree<'_>) -> Result<Option<(usize, Error)>> {
        for (number, file, path) in self.files.iter().flatten() {
            if !tree.can_see_file(*file)? {
                return Ok(Some((*number, Error::not_found().at(path))));
            }
        }
        Ok(None)
    }

    /// The single draft that becomes the root of a document.
    pub(crate) fn into_root(mut self, limits: &Limits) -> Result<BlockDraft> {
        self.check_at(0, AllowedChildren::Anything, limits, None)?;
        self.drafts.pop().ok_or_else(|| Error::validation("a document needs a root"))
    }

    fn check_at(
        &self,
        depth: usize,
        allowed: AllowedChildren,
        limits: &Limits,
        hidden_file: Option<&(usize, Error)>,
    ) -> Result<()> {
        let beyond = limits.deepest_page() + 1;
        let too_deep = self.levels.get(beyond.saturating_sub(depth));
        match (too_deep, self.fault_where(allowed, hidden_file)) {
            (Some((number, path)), fault) if fault.is_none_or(|(faulty, _)| number <= faulty) => {
                Err(too_deep_by(limits.deepest_page(), beyond.max(depth)).at(path))
            }
            (_, Some((_, error))) => {
                Err(Error::new(error.kind(), error.message()).at(error.path()))
            }
            (_, None) => Ok(()),
        }
    }

    /// The first error of the drafts at a position that takes `takes`.
    fn fault_where<'f>(
        &'f self,
        allowed: AllowedChildren,
        hidden_file: Option<&'f (usize, Error)>,
    ) -> Option<&'f (usize, Error)> {
        let no_task = self.no_task.as_ref().filter(|_| allowed == AllowedChildren::Tasks);
        self.fault.iter().chain(no_task).chain(hidden_file).min_by_key(|(number, _)| *number)
    }

    /// Checks a top-level draft and the blocks split from it against positions that only take
    /// tasks.
    fn note_top(
        &mut self,
        number: usize,
        data: &BlockData,
        further: &[BlockData],
        path: impl FnOnce() -> String,
    ) {
        if self.no_task.is_some() {
            return;
        }
        let own = AllowedChildren::Tasks.check(data).map_err(|error| error.at("listStyle"));
        let checked = own.and_then(|()| {
            let further = further.iter().try_for_each(|data| AllowedChildren::Tasks.check(data));
            further.map_err(|error| error.at("markdown"))
        });
        self.no_task = checked.err().map(|error| (number, error.at(path())));
    }
}

fn too_deep_by(most: usize, found: usize) -> Error {
    Error::limit("pages within pages", most, found)
}

/// Checks drafts that were parsed from the markdown of `field`: the parser normalizes them.
pub(crate) fn checked(
    field: &'static str,
    drafts: Vec<BlockDraft>,
    files: Files,
    limits: &Limits,
) -> Ready {
    let mut ready = Ready::new(files);
    let fault =
        |number, error: Error| Some((number, Error::new(error.kind(), error.message()).at(field)));
    let mut number = 0;
    for (depth, draft) in drafts.iter().flat_map(BlockDraft::walk) {
        if depth == ready.levels.len() {
            ready.levels.push((number, field.to_owned()));
        }
        if let Err(error) = ops::check_draft(limits, &draft.data, !draft.content.is_empty())
            && ready.fault.is_none()
        {
            ready.fault = fault(number, error);
        }
        if depth == 0
            && ready.no_task.is_none()
            && let Err(error) = AllowedChildren::Tasks.check(&draft.data)
        {
            ready.no_task = fault(number, error);
        }
        ready.note_files(number, &draft.data, || field.to_owned());
        number += 1;
    }
    if number > limits.blocks_per_request {
        ready.levels.clear();
        ready.fault = fault(0, Error::limit(BLOCKS, limits.blocks_per_request, number));
    }
    ready.drafts = drafts;
    ready
}

/// Normalizes and checks drafts with their descendants. Drafts that are too deep for any position
/// are refused.
pub(crate) fn made_ready(
    names: Names,
    drafts: Vec<BlockDraft>,
    files: Files,
    limits: &Limits,
) -> Ready {
    let blocks = drafts.iter().flat_map(BlockDraft::walk).count();
    let mut walk = Walk { names, limits, blocks, number: 0, levels: vec![Level::new(drafts)] };
    let mut ready = Ready::new(files);
    if let Err(error) = walk.check_count().and_then(|()| walk.run(&mut ready)) {
        ready.fault = Some((walk.number.saturating_sub(1), error));
    }
    ready
}

struct Walk<'l> {
    names: Names,
    limits: &'l Limits,
    /// The number of drafts, including blocks split from texts so far.
    blocks: usize,
    /// How many drafts were visited.
    number: usize,
    levels: Vec<Level>,
}

/// The children of one draft, normalized in place: drafts are large, and there may be many.
struct Level {
    /// How many were visited.
    met: usize,
    drafts: Vec<BlockDraft>,
    /// Blocks split from further paragraphs, each with the number of drafts that precede it.
    further: Vec<(usize, Vec<BlockData>)>,
}

impl Level {
    fn new(drafts: Vec<BlockDraft>) -> Self {
        Self { met: 0, drafts, further: Vec::new() }
    }
}

/// Inserts the blocks split from further paragraphs after their drafts.
fn with_further(drafts: Vec<BlockDraft>, further: Vec<(usize, Vec<BlockData>)>) -> Vec<BlockDraft> {
    if further.is_empty() {
        return drafts;
    }
    let mut further = further.into_iter().peekable();
    let mut all = Vec::with_capacity(drafts.len() + further.len());
    for (number, draft) in (1..).zip(drafts) {
        all.push(draft);
        let behind =
            further.next_if(|(met, _)| *met == number).into_iter().flat_map(|(_, parts)| parts);
        all.extend(behind.map(BlockDraft::new));
    }
    all
}

impl Walk<'_> {
    fn run(&mut self, ready: &mut Ready) -> Result<()> {
        while let Some(level) = self.levels.last_mut() {
            let mut drafts = mem::take(&mut level.drafts);
            let Some(draft) = drafts.get_mut(level.met) else {
                self.close(drafts, ready);
                continue;
            };
            level.met += 1;
            let met = level.met;
            let settled = draft.settle();
            let content = mem::take(&mut draft.content);
            let further = self.meet(ready, settled, &mut draft.data, !content.is_empty())?;
            if let Some(level) = self.levels.last_mut() {
                level.drafts = drafts;
                if !further.is_empty() {
                    level.further.push((met, further));
                }
            }
            if !content.is_empty() {
                self.levels.push(Level::new(content));
            }
        }
        Ok(())
    }

    /// Normalizes the current draft and returns the blocks split from it.
    fn meet(
        &mut self,
        ready: &mut Ready,
        settled: Result<()>,
        data: &mut BlockData,
        has_content: bool,
    ) -> Result<Vec<BlockData>> {
        let depth = self.levels.len().saturating_sub(1);
        if depth == ready.levels.len() {
            ready.levels.push((self.number, self.path()));
        }
        self.number += 1;
        let most = self.limits.deepest_page();
        if depth > most {
            return Err(too_deep_by(most, depth).at(self.path()));
        }
        let is_root = depth == 0 && matches!(self.names, Names::Root);
        let field = prepare::address_field(data);
        let further =
            settled.and_then(|()| prepare::draft(data, has_content, is_root, self.limits));
        let further = further.map_err(|error| error.at(self.path()))?;
        for part in std::iter::once(&*data).chain(&further) {
            let path = || format!("{}.{}", self.path(), named::field_of(part, field));
            ready.note_files(self.number.saturating_sub(1), part, path);
        }
        self.blocks = self.blocks.saturating_add(further.len());
        self.check_count()?;
        if depth == 0 {
            ready.note_top(self.number.saturating_sub(1), data, &further, || self.path());
        }
        Ok(further)
    }

    /// Moves the finished children to their parent; the top level becomes the result.
    fn close(&mut self, drafts: Vec<BlockDraft>, ready: &mut Ready) {
        let further = self.levels.pop().map(|level| level.further).unwrap_or_default();
        let drafts = with_further(drafts, further);
        let Some(parents) = self.levels.last_mut() else {
            ready.drafts = drafts;
            return;
        };
        let parent = parents.met.checked_sub(1).and_then(|number| parents.drafts.get_mut(number));
        if let Some(parent) = parent {
            parent.content = drafts;
        }
    }

    fn check_count(&self) -> Result<()> {
        let most = self.limits.blocks_per_request;
        if self.blocks > most {
            return Err(
                Error::limit(BLOCKS, most, self.blocks).at(self.names.list().unwrap_or_default())
            );
        }
        Ok(())
    }

    /// The path of the draft visited last.
    fn path(&self) -> String {
        let lists = std::iter::once(self.names.list()).chain(std::iter::repeat(Some("content")));
        let steps = self.levels.iter().zip(lists);
        let steps = steps.filter_map(|(level, list)| {
            list.map(|list| format!("{list}[{}]", level.met.saturating_sub(1)))
        });
        steps.collect::<Vec<_>>().join(".")
    }
}
