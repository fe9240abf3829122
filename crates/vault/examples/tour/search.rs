//! Words across documents, and a pattern in one.

use std::io::Write;

use leafbase::{Connection, Document, SearchBlocks};

use crate::Result;
use crate::show::{lines, shortened};

pub(crate) fn show(out: &mut impl Write, notes: &Connection, document: &Document) -> Result<()> {
    for words in ["sofa", "tram passp", "\"night train\""] {
        let found = notes.search(words)?;
        writeln!(out, "{words}: {} documents", found.len())?;
        let best =
            found.iter().take(3).map(|found| format!("    {}", shortened(&found.markdown, 100)));
        lines(out, &best.collect::<Vec<_>>())?;
    }
    let pattern = SearchBlocks::new(document.id(), r"\b\p{Lu}\w+").context(0, 0);
    let found = notes.search_blocks(pattern.limit(4))?;
    writeln!(out, "words that begin with a capital, in \"{}\":", document.title)?;
    for hit in &found.items {
        let words = hit.ranges.iter().filter_map(|range| hit.markdown.get(range.clone()));
        writeln!(out, "    {}", shortened(&words.collect::<Vec<_>>().join(", "), 100))?;
    }
    Ok(())
}
