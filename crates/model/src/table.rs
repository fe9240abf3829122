//! The cells of a table that is kept as GFM.

/// The cells of a GFM table as inline markdown, the header row first; the row of dashes is left out.
pub(crate) fn rows(markdown: &str) -> Vec<Vec<String>> {
    let rows = markdown.lines().enumerate().filter(|(number, _)| *number != 1);
    rows.map(|(_, line)| cells(line)).collect()
}

fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut found, mut cell, mut escaped) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            // GFM: a pipe within a cell is escaped, whatever stands around it.
            '|' if escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' => found.push(std::mem::take(&mut cell).trim().to_owned()),
            other => cell.push(other),
        }
        escaped = letter == '\\' && !escaped;
    }
    if !cell.trim().is_empty() {
        found.push(cell.trim().to_owned());
    }
    found
}
