//! Completion of a line of the shell: commands, options, titles and folders.

/// The command line as completion sees it: the names of commands, each with its options.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    pub(crate) commands: Vec<CommandWords>,
    /// What the shell itself knows, such as `.quit`.
    pub(crate) own: Vec<&'static str>,
}

/// A command with its options and the values that its arguments may have.
#[derive(Debug, Default)]
pub(crate) struct CommandWords {
    pub(crate) name: String,
    pub(crate) options: Vec<String>,
    pub(crate) values: Vec<String>,
}

impl Vocabulary {
    /// The words of a command line.
    pub(crate) fn of(command: &clap::Command, own: &[&'static str]) -> Self {
        let long = |command: &clap::Command| {
            let options = command.get_arguments().filter_map(clap::Arg::get_long);
            options.map(|name| format!("--{name}")).collect::<Vec<_>>()
        };
        let global = long(command);
        let words = |sub: &clap::Command| {
            let values = sub.get_arguments().flat_map(clap::Arg::get_possible_values);
            let mut options = [long(sub), global.clone(), vec!["--help".to_owned()]].concat();
            options.sort();
            options.dedup();
            CommandWords {
                name: sub.get_name().to_owned(),
                options,
                values: values.map(|value| value.get_name().to_owned()).collect(),
            }
        };
        let commands = command.get_subcommands().map(words).collect();
        Self { commands, own: own.to_vec() }
    }
}

/// The offset at which the last word of `line` begins, and that word without quotation marks.
pub(crate) fn last_word(line: &str) -> (usize, String) {
    let (mut start, mut word) = (0, String::new());
    let (mut mark, mut escaped) = (None, false);
    for (offset, letter) in line.char_indices() {
        match (letter, mark) {
            _ if escaped => {
                escaped = false;
                word.push(letter);
            }
            ('\\', None | Some('"')) => escaped = true,
            ('\'' | '"', None) => mark = Some(letter),
            (letter, Some(open)) if letter == open => mark = None,
            (letter, None) if letter.is_whitespace() => {
                start = offset + letter.len_utf8();
                word.clear();
            }
            _ => word.push(letter),
        }
    }
    (start, word)
}

/// What the last word of `line` may become, in order; `names` are read only if they are asked for.
pub(crate) fn candidates(
    vocabulary: &Vocabulary,
    line: &str,
    names: impl FnOnce() -> Vec<String>,
) -> (usize, Vec<String>) {
    let (start, word) = last_word(line);
    let before = line.get(..start).unwrap_or_default();
    let command = before.split_whitespace().find(|word| !word.starts_with('-'));
    let known: Vec<String> = match command {
        None if word.starts_with('.') => {
            vocabulary.own.iter().map(|name| (*name).to_owned()).collect()
        }
        None => vocabulary.commands.iter().map(|command| command.name.clone()).collect(),
        Some(name) => {
            let command = vocabulary.commands.iter().find(|command| command.name == name);
            match command {
                Some(command) if word.starts_with('-') => command.options.clone(),
                Some(command) => [command.values.clone(), names()].concat(),
                None => Vec::new(),
            }
        }
    };
    let lower = word.to_lowercase();
    let fits = |name: &&String| name.to_lowercase().starts_with(&lower);
    let quoted = |name: &String| {
        shlex::try_quote(name).map_or_else(|_| name.clone(), std::borrow::Cow::into_owned)
    };
    (start, known.iter().filter(fits).map(quoted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_completed_by_what_may_stand_there() {
        let command = |name: &str, options: &[&str], values: &[&str]| CommandWords {
            name: name.to_owned(),
            options: options.iter().map(|it| (*it).to_owned()).collect(),
            values: values.iter().map(|it| (*it).to_owned()).collect(),
        };
        let vocabulary = Vocabulary {
            commands: vec![
                command("tags", &["--limit"], &[]),
                command("tasks", &["--done", "--due"], &["open", "logbook"]),
            ],
            own: vec![".help", ".quit"],
        };
        for (line, start, found) in [
            ("", 0, &["tags", "tasks"][..]),
            ("ta", 0, &["tags", "tasks"]),
            ("tas", 0, &["tasks"]),
            (".q", 0, &[".quit"]),
            ("tasks --d", 6, &["--done", "--due"]),
            ("--json ta", 7, &["tags", "tasks"]),
            ("tasks o", 6, &["open"]),
            ("tags trip", 5, &["'Trip to Lisbon'"]),
            ("tags 'Trip to", 5, &["'Trip to Lisbon'"]),
            ("tags Trip\\ to", 5, &["'Trip to Lisbon'"]),
            ("tags bread k", 11, &["Kitchen/"]),
            ("nothing k", 8, &[]),
        ] {
            let names = || vec!["Bread".to_owned(), "Kitchen/".into(), "Trip to Lisbon".into()];
            let expected: Vec<_> = found.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(candidates(&vocabulary, line, names), (start, expected), "{line}");
        }
    }
}
