//! Random texts, and what somebody makes of them.

use leafbase_test_outline::Numbers;

const WORDS: [&str; 24] = [
    "bread", "milk", "tea", "Lisbon", "ticket", "passport", "towel", "train", "window", "river",
    "letter", "garden", "engine", "paper", "stone", "morning", "guitar", "island", "market",
    "bridge", "lamp", "notebook", "harbor", "cloud",
];

fn words(numbers: &mut Numbers<'_>, most: usize) -> String {
    let count = 1 + numbers.below(most);
    let words: Vec<_> = (0..count).map(|_| WORDS[numbers.below(WORDS.len())]).collect();
    words.join(" ")
}

/// A block or a few, with blank lines around them.
fn part(numbers: &mut Numbers<'_>, depth: usize) -> String {
    let list = |numbers: &mut Numbers<'_>, marker: &str| {
        let count = 1 + numbers.below(4);
        let line = |numbers: &mut Numbers<'_>, indent: usize| {
            format!("{}{marker}{}", "  ".repeat(indent), words(numbers, 5))
        };
        let mut lines = vec![line(numbers, 0)];
        for _ in 1..count {
            let indent = numbers.below(2);
            lines.push(line(numbers, indent));
        }
        lines.join("\n")
    };
    match numbers.below(16) {
        0 => format!("# {}", words(numbers, 4)),
        1 => format!("### {}", words(numbers, 4)),
        2 => list(numbers, "- "),
        3 => list(numbers, "- [ ] "),
        4 => list(numbers, "- [x] "),
        5 => format!("> {}", words(numbers, 8)),
        6 => format!("```rust\n{}\n\n{}\n```", words(numbers, 4), words(numbers, 3)),
        7 => "***".to_owned(),
        8 => format!("| {} | b |\n|---|---|\n| {} | 2 |", words(numbers, 2), words(numbers, 2)),
        9 => format!("![{}](https://x.org/{}.png)", words(numbers, 2), numbers.below(9)),
        10 => format!("<callout>{}</callout>", words(numbers, 6)),
        11 if depth < 2 => {
            let content: Vec<_> = (0..numbers.below(4)).map(|_| part(numbers, depth + 1)).collect();
            let title = words(numbers, 3);
            let content = content.join("\n\n");
            format!(
                "<page><pageTitle>{title}</pageTitle><content>\n\n{content}\n\n</content></page>"
            )
        }
        _ => format!("{} **{}** {}", words(numbers, 6), words(numbers, 1), words(numbers, 6)),
    }
}

pub(crate) fn text(numbers: &mut Numbers<'_>) -> Vec<String> {
    (0..numbers.below(14)).map(|_| part(numbers, 0)).collect()
}

/// The text between others, which are most of it.
pub(crate) fn surrounded(text: &[String]) -> Vec<String> {
    let lines = text.iter().map(|part| part.lines().count()).sum::<usize>() + 4;
    let around = |place: &str| -> Vec<_> {
        (0..lines)
            .map(|number| format!("Line {number} {place} what is edited in this text."))
            .collect()
    };
    [around("before"), text.to_vec(), around("after")].concat()
}

/// The text after some edits, or another one.
pub(crate) fn edited(before: &[String], numbers: &mut Numbers<'_>) -> Vec<String> {
    if numbers.once_in(10) {
        return text(numbers);
    }
    let mut parts = before.to_vec();
    for _ in 0..=numbers.below(5) {
        let at = numbers.below(parts.len().max(1));
        match numbers.below(6) {
            0 => parts.insert(at.min(parts.len()), part(numbers, 0)),
            _ if parts.is_empty() => {}
            1 => drop(parts.remove(at)),
            2 => {
                let part = parts.remove(at);
                let to = numbers.below(parts.len() + 1);
                parts.insert(to, part);
            }
            3 => {
                let copy = parts[at].clone();
                let to = numbers.below(parts.len() + 1);
                parts.insert(to, copy);
            }
            // Wraps a block in a page.
            4 if numbers.once_in(3) => {
                let title = words(numbers, 2);
                parts[at] = format!(
                    "<page><pageTitle>{title}</pageTitle><content>\n\n{}\n\n</content></page>",
                    parts[at]
                );
            }
            _ => {
                let word = WORDS[numbers.below(WORDS.len())];
                parts[at] = parts[at].replacen(word, WORDS[numbers.below(WORDS.len())], 1);
                if numbers.once_in(2) {
                    let from = WORDS.iter().find(|word| parts[at].contains(**word));
                    let to = words(numbers, 2);
                    parts[at] =
                        from.map_or(parts[at].clone(), |from| parts[at].replacen(from, &to, 1));
                }
            }
        }
    }
    parts
}
