//! What an import or an export tells.

use std::collections::BTreeMap;

use leafbase::{Skipped, VaultWarning, VaultWarningKind};

use super::{line, styles};
use crate::fault::Result;
use crate::out::Out;

/// Examples of each kind, unless all are asked for.
const EXAMPLES: usize = 2;

/// Writes what was adapted, by kind, and what was left out.
pub(crate) fn write(
    out: &mut Out,
    warnings: &[VaultWarning],
    skipped: &[Skipped],
    all: bool,
) -> Result<()> {
    let mut kinds: BTreeMap<VaultWarningKind, Vec<&VaultWarning>> = BTreeMap::new();
    for warning in warnings {
        kinds.entry(warning.kind).or_default().push(warning);
    }
    let most = if all { usize::MAX } else { EXAMPLES };
    for (kind, found) in &kinds {
        heading(out, found.len(), kind.summary())?;
        for VaultWarning { path, line, message, .. } in found.iter().take(most) {
            let place = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
            example(out, &place, message)?;
        }
    }
    if !skipped.is_empty() {
        heading(out, skipped.len(), "left out")?;
        for Skipped { path, reason } in skipped.iter().take(most) {
            example(out, path, reason)?;
        }
    }
    let hidden = kinds.values().map(Vec::len).chain([skipped.len()]).any(|found| found > most);
    if hidden {
        out.line(out.paint(styles::QUIET, "         every one of them: --all"))
    } else {
        Ok(())
    }
}

fn heading(out: &mut Out, count: usize, what: &str) -> Result<()> {
    let count = line::number(u64::try_from(count).unwrap_or(u64::MAX));
    out.line(format_args!("{count:>7}  {what}"))
}

fn example(out: &mut Out, place: &str, message: &str) -> Result<()> {
    let room = out.width().saturating_sub(9).max(20);
    let text = line::clip(&line::plain(&format!("{place}: {message}")), room);
    out.line(format_args!("         {}", out.paint(styles::QUIET, text)))
}
