//! Trees drawn with box characters.

use super::line;
use crate::error::CliResult;
use crate::out::Out;
use crate::show::styles;
use crate::show::table::Cell;

/// Writes nodes in reading order, each with its depth from 0.
pub(crate) fn write(out: &mut Out, nodes: &[(usize, Cell)]) -> CliResult<()> {
    let depths = depths(nodes.iter().map(|(depth, _)| *depth));
    for (prefix, (_, cell)) in prefixes(&depths).into_iter().zip(nodes) {
        let room = out.width().saturating_sub(line::width(&prefix)).max(8);
        let shown = cell.paint(out, room);
        let prefix = out.paint(styles::QUIET, prefix);
        out.line(format_args!("{prefix}{shown}"))?;
    }
    Ok(())
}

/// Clamps depths to one more than the previous node: a list may begin indented.
fn depths(given: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut most = 0;
    let step = |depth: usize| {
        let depth = depth.min(most);
        most = depth + 1;
        depth
    };
    given.map(step).collect()
}

/// The prefix of each node. Iterates from the end, so that each level knows whether a sibling
/// follows.
fn prefixes(depths: &[usize]) -> Vec<String> {
    let mut follows: Vec<bool> = Vec::new();
    let mut prefixes: Vec<_> =
        depths.iter().rev().map(|depth| prefix(&mut follows, *depth)).collect();
    prefixes.reverse();
    prefixes
}

fn prefix(follows: &mut Vec<bool>, depth: usize) -> String {
    // Deeper levels end here: they are truncated.
    follows.resize(depth + 1, false);
    let mut levels = follows.iter().copied().skip(1);
    let last = if depth == 0 { None } else { levels.next_back() };
    let mut prefix: String = levels.map(|more| if more { "│  " } else { "   " }).collect();
    prefix += last.map_or("", |more| if more { "├─ " } else { "└─ " });
    if let Some(level) = follows.last_mut() {
        *level = true;
    }
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_from_each_node_to_those_in_it() {
        let given = [0, 1, 2, 2, 1, 3, 1, 0];
        let depths = depths(given.into_iter());
        assert_eq!(depths, [0, 1, 2, 2, 1, 2, 1, 0], "no level is left out");
        let expected = ["", "├─ ", "│  ├─ ", "│  └─ ", "├─ ", "│  └─ ", "└─ ", ""];
        assert_eq!(prefixes(&depths), expected);
    }
}
