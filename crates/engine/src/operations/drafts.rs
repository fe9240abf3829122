//! Validation of drafts, in reading order and with an explicit stack. Each draft is checked under
//! its path in the request, before paragraphs that become blocks shift its successors.

use std::collections::BTreeMap;
use std::{fmt, mem};

use leafbase_markdown as markdown;
use leafbase_model::{
    AssetId, BlockData, BlockDraft, BlockId, Error, ErrorKind, Limits, Result, invariant,
};
use leafbase_tree_ops::{self as ops, AllowedChildren, ReadTree};

use crate::core::tree::Tree;
use crate::operations::files::named;
use crate::operations::normalize;

/// The uploaded files that drafts may reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileAccess {
    /// Any file.
    Any,
    /// Files that the call may see.
    Visible,
}

const BLOCKS: &str = "blocks in one request";

/// Where a draft is in the request. Written out for errors alone.
#[derive(Clone, Debug)]
struct DraftLocation {
    /// The list of the request, or the field with markdown; none if the draft is a root.
    list: Option<&'static str>,
    /// The index in that list, then those in the lists of children.
    indexes: Vec<usize>,
}

impl DraftLocation {
    /// Somewhere in the markdown of a field: the blocks in it have no paths.
    const fn in_markdown(field: &'static str) -> Self {
        Self { list: Some(field), indexes: Vec::new() }
    }
}

impl fmt::Display for DraftLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(field), []) = (self.list, self.indexes.as_slice()) {
            return f.write_str(field);
        }
        let lists = std::iter::once(self.list).chain(std::iter::repeat(Some("content")));
        let steps = self.indexes.iter().zip(lists);
        let mut dot = "";
        for (index, list) in steps.filter_map(|(index, list)| Some((index, list?))) {
            write!(f, "{dot}{list}[{index}]")?;
            dot = ".";
        }
        Ok(())
    }
}

/// Normalizes and checks the drafts of the request's list `list` with their descendants. Errors
/// have the paths of the request.
pub(crate) fn validate_list(
    list: &'static str,
    drafts: Vec<BlockDraft>,
    files: FileAccess,
    limits: &Limits,
) -> ValidatedDrafts {
    validate(Some(list), drafts, files, false, limits)
}

/// As [`validate_list`], for drafts that keep their IDs.
pub(crate) fn validate_with_ids(
    list: &'static str,
    drafts: Vec<BlockDraft>,
    files: FileAccess,
    limits: &Limits,
) -> ValidatedDrafts {
    validate(Some(list), drafts, files, true, limits)
}

/// Normalizes and checks a page that becomes a document. The paths of errors are relative to it.
pub(crate) fn validate_root(page: BlockDraft, limits: &Limits) -> Result<BlockDraft> {
    validate(None, vec![page], FileAccess::Any, false, limits).into_root(limits)
}

/// Parses the markdown of a request into blocks and checks them.
pub(crate) fn parse(text: &str, files: FileAccess, limits: &Limits) -> Result<ValidatedDrafts> {
    // Refused by its length before any of it is parsed.
    if text.len() > limits.markdown {
        return Err(Error::limit("bytes of markdown in one request", limits.markdown, text.len())
            .at("markdown"));
    }
    let options = markdown::ParseOptions::default()
        .with_limits(limits.clone())
        .with_most_blocks(limits.blocks_per_request);
    let parsed = markdown::parse(text, &options).map_err(|error| error.at("markdown"))?;
    Ok(check_parsed("markdown", parsed.blocks, files, limits))
}

/// Normalized drafts with their first error. The error is reported once the position is resolved,
/// because an invalid position takes precedence.
#[derive(Debug)]
pub(crate) struct ValidatedDrafts {
    drafts: Vec<BlockDraft>,
    /// The index in reading order of the first invalid draft, and its error.
    error: Option<(usize, Error)>,
    /// The first draft that is not a task, or that a block is split from which is none: its index
    /// in reading order, where it is, and the field.
    not_task: Option<(usize, DraftLocation, &'static str)>,
    /// The referenced files, each with the index of the draft and the path of the field. None if
    /// any file may be referenced.
    files: Option<Vec<(usize, AssetId, String)>>,
    /// The IDs that blocks keep, each with the index of the draft and the path of the field.
    kept: BTreeMap<BlockId, (usize, String)>,
    /// The first draft of each level: its index in reading order and where it is.
    levels: Vec<(usize, DraftLocation)>,
}

impl ValidatedDrafts {
    fn new(files: FileAccess) -> Self {
        let files = (files == FileAccess::Visible).then(Vec::new);
        let (drafts, kept, levels) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self { drafts, error: None, not_task: None, files, kept, levels }
    }

    /// Records the files that `data` references, at the path that `path` returns.
    fn add_files(&mut self, number: usize, data: &BlockData, path: impl Fn() -> String) {
        if let Some(files) = &mut self.files {
            files.extend(named::named(data).into_iter().map(|file| (number, file, path())));
        }
    }

    /// Whether there are neither drafts nor an error.
    pub(crate) fn is_empty(&self) -> bool {
        self.drafts.is_empty() && self.error.is_none()
    }

    /// The drafts, if they are valid at `depth` of their document, at a position that takes
    /// `allowed`, and every referenced file is visible in `tree`. A clone, because a write closure
    /// may run again.
    pub(crate) fn at(
        &self,
        tree: &Tree<'_>,
        depth: usize,
        allowed: AllowedChildren,
        limits: &Limits,
    ) -> Result<Vec<BlockDraft>> {
        let hidden = self.hidden_file(tree)?;
        let taken = self.taken_id(tree)?;
        let found = hidden.into_iter().chain(taken).min_by_key(|(number, _)| *number);
        self.check_at(depth, allowed, limits, found.as_ref())?;
        Ok(self.drafts.clone())
    }

    /// The index of the first draft that references a hidden file, with the error.
    fn hidden_file(&self, tree: &Tree<'_>) -> Result<Option<(usize, Error)>> {
        for (number, file, path) in self.files.iter().flatten() {
            if !tree.can_see_file(*file)? {
                return Ok(Some((*number, Error::no_file().at(path))));
            }
        }
        Ok(None)
    }

    /// The index of the first draft whose ID is that of another block, with the error.
    fn taken_id(&self, tree: &Tree<'_>) -> Result<Option<(usize, Error)>> {
        let mut first: Option<(usize, Error)> = None;
        for (id, (number, path)) in &self.kept {
            if first.as_ref().is_none_or(|(taken, _)| number < taken) && tree.locate(*id)?.is_some()
            {
                let message = format!("the ID {id} is that of another block");
                first = Some((*number, Error::new(ErrorKind::Conflict, message).at(path)));
            }
        }
        Ok(first)
    }

    /// The single draft that becomes the root of a document.
    fn into_root(mut self, limits: &Limits) -> Result<BlockDraft> {
        self.check_at(0, AllowedChildren::Anything, limits, None)?;
        let root = self.drafts.pop();
        invariant!(self.drafts.is_empty(), "the root of a document is one draft");
        root.ok_or_else(|| Error::validation("a document needs a root"))
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
        // The first invalid draft in reading order is reported, whatever is wrong with it.
        match (too_deep, self.first_error(allowed, hidden_file)) {
            (Some((number, at)), error) if error.as_ref().is_none_or(|(it, _)| number <= it) => {
                Err(nesting_error(limits.deepest_page(), beyond.max(depth)).at(at))
            }
            (_, Some((_, error))) => Err(error),
            (_, None) => Ok(()),
        }
    }

    /// The first error of the drafts at a position that takes `allowed`.
    fn first_error(
        &self,
        allowed: AllowedChildren,
        hidden_file: Option<&(usize, Error)>,
    ) -> Option<(usize, Error)> {
        let not_task = self.not_task.as_ref().filter(|_| allowed == AllowedChildren::Tasks);
        let task_error = not_task
            .map(|(number, at, field)| (*number, AllowedChildren::refusal().at(field).at(at)));
        // Of those of one draft the first counts.
        let errors = self.error.iter().cloned().chain(task_error);
        errors.chain(hidden_file.cloned()).min_by_key(|(number, _)| *number)
    }
}

fn nesting_error(most: usize, found: usize) -> Error {
    Error::limit("pages within pages", most, found)
}

/// Checks drafts that were parsed from the markdown of `field`: the parser normalizes them.
fn check_parsed(
    field: &'static str,
    drafts: Vec<BlockDraft>,
    files: FileAccess,
    limits: &Limits,
) -> ValidatedDrafts {
    let mut validated = ValidatedDrafts::new(files);
    // Every error in the text has the path of its field: the blocks in it have no paths.
    let invalid = |number, error: Error| Some((number, error.without_path().at(field)));
    let mut number = 0;
    for (depth, draft) in drafts.iter().flat_map(BlockDraft::walk) {
        if depth == validated.levels.len() {
            validated.levels.push((number, DraftLocation::in_markdown(field)));
        }
        if let Err(error) = ops::check_draft(limits, &draft.data, !draft.content.is_empty())
            && validated.error.is_none()
        {
            validated.error = invalid(number, error);
        }
        if depth == 0 && validated.not_task.is_none() && !AllowedChildren::Tasks.allows(&draft.data)
        {
            validated.not_task = Some((number, DraftLocation::in_markdown(field), ""));
        }
        validated.add_files(number, &draft.data, || field.to_owned());
        number += 1;
    }
    if number > limits.blocks_per_request {
        // The count takes precedence over the nesting of any of the blocks.
        validated.levels.clear();
        validated.error = invalid(0, Error::limit(BLOCKS, limits.blocks_per_request, number));
    }
    validated.drafts = drafts;
    validated
}

fn validate(
    list: Option<&'static str>,
    drafts: Vec<BlockDraft>,
    files: FileAccess,
    keep_ids: bool,
    limits: &Limits,
) -> ValidatedDrafts {
    let blocks = drafts.iter().flat_map(BlockDraft::walk).count();
    let mut validator = DraftValidator {
        list,
        limits,
        keep_ids,
        blocks,
        visited: 0,
        levels: vec![DraftLevel::new(drafts)],
    };
    let mut validated = ValidatedDrafts::new(files);
    if let Err(error) = validator.check_count().and_then(|()| validator.run(&mut validated)) {
        validated.error = Some((validator.visited.saturating_sub(1), error));
    }
    validated
}

struct DraftValidator<'l> {
    /// The list of the request; none if the draft is the root of a document: paths are relative to
    /// it.
    list: Option<&'static str>,
    limits: &'l Limits,
    keep_ids: bool,
    /// The number of drafts, including blocks split from texts so far.
    blocks: usize,
    visited: usize,
    levels: Vec<DraftLevel>,
}

/// The children of one draft, normalized in place: drafts are large, and there may be many.
struct DraftLevel {
    visited: usize,
    drafts: Vec<BlockDraft>,
    /// Blocks split from further paragraphs, each with the number of drafts that precede it.
    further: Vec<(usize, Vec<BlockData>)>,
}

impl DraftLevel {
    fn new(drafts: Vec<BlockDraft>) -> Self {
        Self { visited: 0, drafts, further: Vec::new() }
    }

    /// The drafts, with the blocks split from further paragraphs after them.
    fn finish(self) -> Result<Vec<BlockDraft>> {
        let Self { visited, drafts, further } = self;
        invariant!(visited == drafts.len(), "a level is finished once all drafts were visited");
        if further.is_empty() {
            return Ok(drafts);
        }
        let mut further = further.into_iter().peekable();
        let mut all = Vec::with_capacity(drafts.len() + further.len());
        for (number, draft) in (1..).zip(drafts) {
            all.push(draft);
            let split = further.next_if(|(after, _)| *after == number);
            all.extend(split.into_iter().flat_map(|(_, parts)| parts).map(BlockDraft::new));
        }
        invariant!(further.next().is_none(), "split blocks follow a draft of their level");
        Ok(all)
    }
}

impl DraftValidator<'_> {
    fn run(&mut self, validated: &mut ValidatedDrafts) -> Result<()> {
        while let Some(level) = self.levels.last_mut() {
            // Taken out while its drafts are changed, since `self` is borrowed as a whole below.
            let mut drafts = mem::take(&mut level.drafts);
            let Some(draft) = drafts.get_mut(level.visited) else {
                level.drafts = drafts;
                self.finish_level(validated)?;
                continue;
            };
            level.visited += 1;
            let visited = level.visited;
            let content = mem::take(&mut draft.content);
            let further = self.visit(validated, draft, !content.is_empty())?;
            let Some(level) = self.levels.last_mut() else {
                invariant!("visiting a draft leaves its level on the stack")
            };
            level.drafts = drafts;
            if !further.is_empty() {
                level.further.push((visited, further));
            }
            if !content.is_empty() {
                self.levels.push(DraftLevel::new(content));
            }
        }
        Ok(())
    }

    /// Normalizes the current draft and returns the blocks split from it.
    fn visit(
        &mut self,
        validated: &mut ValidatedDrafts,
        draft: &mut BlockDraft,
        has_content: bool,
    ) -> Result<Vec<BlockData>> {
        invariant!(!self.levels.is_empty(), "a visited draft is in a level");
        let depth = self.levels.len() - 1;
        if depth == validated.levels.len() {
            validated.levels.push((self.visited, self.location()));
        }
        let number = self.visited;
        self.visited += 1;
        let most = self.limits.deepest_page();
        if depth > most {
            return Err(nesting_error(most, depth).at(self.location()));
        }
        let is_root = depth == 0 && self.list.is_none();
        draft.id.take_if(|_| !self.keep_ids);
        if let Some(id) = draft.id {
            self.keep_id(validated, number, id)?;
        }
        let field = normalize::address_field(&draft.data);
        let further = normalize::draft(draft, has_content, is_root, self.limits);
        let data = &draft.data;
        let further = further.map_err(|error| {
            let error = if draft.is_titled { ops::title_error("title", error) } else { error };
            error.at(self.location())
        })?;
        for part in std::iter::once(data).chain(&further) {
            let path = || format!("{}.{}", self.location(), named::field_of(part, field));
            validated.add_files(number, part, path);
        }
        self.blocks = self.blocks.saturating_add(further.len());
        self.check_count()?;
        if depth == 0 && validated.not_task.is_none() {
            let field = if AllowedChildren::Tasks.allows(data) {
                let is_refused = |part: &BlockData| !AllowedChildren::Tasks.allows(part);
                further.iter().any(is_refused).then_some("markdown")
            } else {
                Some("listStyle")
            };
            validated.not_task = field.map(|field| (number, self.location(), field));
        }
        Ok(further)
    }

    /// Records an ID that a block keeps.
    fn keep_id(&self, validated: &mut ValidatedDrafts, number: usize, id: BlockId) -> Result<()> {
        let path = format!("{}.id", self.location());
        // Anything but an ID reads as the one of no block.
        if id == BlockId::NIL {
            return Err(Error::validation("an ID is a ULID of 26 characters").at(path));
        }
        if validated.kept.insert(id, (number, path.clone())).is_some() {
            let message = format!("two blocks of the request have the ID {id}");
            return Err(Error::validation(message).at(path));
        }
        Ok(())
    }

    /// Moves the finished children to their parent; the top level becomes the result.
    fn finish_level(&mut self, validated: &mut ValidatedDrafts) -> Result<()> {
        let Some(level) = self.levels.pop() else { invariant!("a finished level is on the stack") };
        let drafts = level.finish()?;
        let Some(parents) = self.levels.last_mut() else {
            validated.drafts = drafts;
            return Ok(());
        };
        let parent = parents.visited.checked_sub(1).and_then(|at| parents.drafts.get_mut(at));
        let Some(parent) = parent else {
            invariant!("a nested level belongs to the draft visited last")
        };
        parent.content = drafts;
        Ok(())
    }

    fn check_count(&self) -> Result<()> {
        let most = self.limits.blocks_per_request;
        if self.blocks <= most {
            return Ok(());
        }
        let error = Error::limit(BLOCKS, most, self.blocks);
        Err(match self.list {
            Some(list) => error.at(list),
            None => error,
        })
    }

    /// Where the draft visited last is.
    fn location(&self) -> DraftLocation {
        let indexes = self.levels.iter().map(|level| level.visited.saturating_sub(1)).collect();
        DraftLocation { list: self.list, indexes }
    }
}
