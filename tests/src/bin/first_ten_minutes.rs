//! Follows the pages as a newcomer would, in empty folders and without a network: README's first
//! commands and programs in a new package, the programs of the guide, and the commands of the
//! program's README with the program that `cargo install` makes.
//!
//! `cargo run --release -p tests --bin first_ten_minutes`; with `--control` a line of a page is
//! altered before each kind of step, which has to be noticed at this line.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program reports its steps")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A fenced block of a page.
struct Listing {
    /// The page, from the root of the repository.
    page: String,
    /// The number of its first line.
    line: usize,
    code: String,
}

/// The top of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The blocks of a page in one language, in order. A control alters the first line that has `from`.
fn listings(page: &str, language: &str, control: Option<(&str, &str)>) -> Outcome<Vec<Listing>> {
    let mut text = fs::read_to_string(root().join(page))?;
    if let Some((from, to)) = control {
        text = text.replacen(from, to, 1);
    }
    let (mut found, mut open) = (Vec::new(), None);
    for (index, line) in text.lines().enumerate() {
        match open.as_mut().filter(|_| line != "```") {
            Some(Listing { code, .. }) => writeln!(code, "{line}")?,
            None if line == "```" => found.extend(open.take()),
            None if line.strip_prefix("```") == Some(language) => {
                let (page, line) = (page.to_owned(), index + 2);
                open = Some(Listing { page, line, code: String::new() });
            }
            None => {}
        }
    }
    Ok(found)
}

impl Listing {
    /// The code as a file in which each line has the number that it has in the page: compilers and
    /// panics then name lines of the page.
    fn file(&self, code: &str) -> String {
        "\n".repeat(self.line - 1) + code
    }

    /// Passes on the output of a step, or says where in the page it failed.
    fn check(&self, what: &str, file: &str, output: &Output) -> Outcome<String> {
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            println!("{}:{}: {what}", self.page, self.line);
            return Ok(shown);
        }
        let told = format!("{}{shown}", String::from_utf8_lossy(&output.stderr));
        let named = told.split_once(&format!("{file}:")).map_or("", |(_, rest)| rest);
        let digits: String = named.chars().take_while(char::is_ascii_digit).collect();
        let line = digits.parse().unwrap_or(self.line);
        Err(format!("{}:{line}: failed: {what}\n{told}", self.page).into())
    }
}

/// A package of a newcomer.
struct Package {
    folder: tempfile::TempDir,
}

impl Package {
    fn new() -> Outcome<Self> {
        let package = Self { folder: tempfile::tempdir()? };
        let made = package.cargo(&["init", "-q", "--vcs", "none", "--name", "first"]).status()?;
        // Versions that are here already.
        fs::copy(root().join("Cargo.lock"), package.path("Cargo.lock"))?;
        if made.success() { Ok(package) } else { Err("`cargo init` failed".into()) }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Cargo in this package, with one target directory for all of them.
    fn cargo(&self, words: &[&str]) -> Command {
        let mut cargo = cargo(words);
        cargo.current_dir(self.folder.path());
        cargo.env("CARGO_TARGET_DIR", target().join("first_ten_minutes"));
        cargo
    }

    /// Runs `cargo add` as the page has it; the library comes from this repository.
    fn add(&self, listing: &Listing) -> Outcome<()> {
        let command = listing.code.trim();
        let words = command.strip_prefix("cargo add ").ok_or("a page adds crates first")?;
        let mut add = self.cargo(&["add", "--offline"]);
        let mut others = words.split_whitespace().filter(|word| *word != "leafbase").peekable();
        if words.starts_with("leafbase") {
            let library = root().join("crates/engine").canonicalize()?;
            let library = self.cargo(&["add", "--offline", "--path"]).arg(library).output()?;
            listing.check("cargo add leafbase", "Cargo.toml", &library)?;
        }
        if others.peek().is_some() {
            listing.check(command, "Cargo.toml", &add.args(others).output()?)?;
        }
        Ok(())
    }

    /// Builds and runs a program that is pasted over `src/main.rs`.
    fn run(&self, listing: &Listing) -> Outcome<String> {
        fs::write(self.path("src/main.rs"), listing.file(&listing.code))?;
        let output = self.cargo(&["run", "-q", "--offline", "--bin", "first"]).output()?;
        listing.check("the program builds and runs", "src/main.rs", &output)
    }
}

fn cargo(words: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(words).env("CARGO_TERM_COLOR", "never").env("CARGO_INCREMENTAL", "0");
    // What cargo tells this program is not for the packages that it builds.
    cargo.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_PKG_NAME");
    cargo
}

/// The target directory of the workspace.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// README's command and programs.
fn readme(package: &Package, control: Option<(&str, &str)>) -> Outcome<()> {
    let commands = listings("README.md", "sh", None)?;
    package.add(commands.first().ok_or("README.md has no command")?)?;
    for program in listings("README.md", "rust", control)? {
        let shown = package.run(&program)?;
        assert!(shown.contains("passport"), "README's programs print what they made: {shown}");
    }
    Ok(())
}

/// A program of the guide as a module: with the lines that its page hides, and in a function if it
/// has none, as rustdoc does it.
fn module(code: &str) -> String {
    let lines = code.lines().map(|line| match line {
        "#" => "",
        line => line.strip_prefix("# ").unwrap_or(line),
    });
    let code = lines.collect::<Vec<_>>().join("\n") + "\n";
    if code.contains("fn main()") {
        return code.replacen("fn main()", "pub(crate) fn main()", 1);
    }
    format!("pub(crate) fn main() {{ {code} }}\n")
}

/// The programs of the guide, in one program that runs the one it is told.
fn guide(package: &Package, control: Option<(&str, &str)>) -> Outcome<()> {
    let mut pages: Vec<String> = fs::read_dir(root().join("crates/engine/guide"))?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Outcome<_>>()?;
    pages.sort();
    let mut programs = Vec::new();
    for page in pages {
        let page = format!("crates/engine/guide/{page}");
        for command in listings(&page, "sh", None)? {
            package.add(&command)?;
        }
        programs.extend(listings(&page, "rust", control)?);
    }
    assert!(programs.len() > 30, "the guide has its programs");
    let (mut modules, mut arms) = (String::new(), String::new());
    fs::create_dir_all(package.path("src/bin/guide"))?;
    for (number, program) in programs.iter().enumerate() {
        let file = format!("src/bin/guide/page_{number}.rs");
        fs::write(package.path(&file), program.file(&module(&program.code)))?;
        writeln!(modules, "mod page_{number};")?;
        writeln!(arms, "{number} => Termination::report(page_{number}::main()),")?;
    }
    let main = format!(
        "#![allow(warnings)]\n{modules}fn main() -> std::process::ExitCode {{\n\
         use std::process::Termination;\n\
         let number = std::env::args().nth(1).unwrap().parse().unwrap();\n\
         match number {{\n{arms}_ => std::process::ExitCode::FAILURE,\n}}\n}}"
    );
    fs::write(package.path("src/bin/guide/main.rs"), main)?;
    let guide = ["-q", "--offline", "--bin", "guide"];
    let built = package.cargo(&["build"]).args(guide).output()?;
    let told = String::from_utf8_lossy(&built.stderr);
    for (number, program) in programs.iter().enumerate() {
        let file = format!("src/bin/guide/page_{number}.rs");
        if built.status.success() {
            let run =
                package.cargo(&["run"]).args(guide).arg("--").arg(number.to_string()).output();
            program.check("the program builds and runs", &file, &run?)?;
        } else if told.contains(&format!("--> {file}:")) {
            program.check("the program builds", &file, &built)?;
        }
    }
    if built.status.success() { Ok(()) } else { Err(told.into()) }
}

/// The commands of the program's README, with the program that its first command installs.
fn program(package: &Package) -> Outcome<()> {
    let commands = listings("crates/cli/README.md", "sh", None)?;
    let install = commands.first().ok_or("crates/cli/README.md has no command")?;
    let words: Vec<&str> = install.code.split_whitespace().skip(1).collect();
    let mut cargo_install = cargo(&words);
    cargo_install.current_dir(root()).args(["-q", "--locked", "--offline", "--root"]);
    cargo_install.arg(package.folder.path()).arg("--target-dir").arg(target());
    install.check(install.code.trim(), "Cargo.toml", &cargo_install.output()?)?;
    // The test of the page reads it, and says at which line something else is shown.
    let test = ["-q", "--workspace", "--locked", "--offline", "--test", "it"];
    let mut run = cargo(&["test"]);
    run.args(test).arg("the_readme_shows_what_its_commands_show");
    let run = run.current_dir(root()).env("LEAFBASE_PROGRAMS", package.path("bin")).output()?;
    install.check("each command shows what the page says", "README.md", &run).map(drop)
}

/// Whether an error names a line of a page that has `text`.
fn names_line(error: &str, text: &str) -> bool {
    let mut parts = error.splitn(3, ':');
    let (Some(page), Some(line)) = (parts.next(), parts.next()) else { return false };
    let page = fs::read_to_string(root().join(page)).unwrap_or_default();
    let line = line.parse::<usize>().ok().and_then(|line| page.lines().nth(line.checked_sub(1)?));
    line.is_some_and(|line| line.contains(text))
}

fn follow(is_control: bool) -> Outcome<()> {
    let altered = ("assert_eq!(", "assert_ne!(");
    let package = Package::new()?;
    for step in [readme, guide] {
        match step(&package, is_control.then_some(altered)) {
            outcome if !is_control => outcome?,
            Err(error) if names_line(&error.to_string(), altered.0) => println!("noticed: {error}"),
            outcome => return Err(format!("an altered line was not noticed: {outcome:?}").into()),
        }
    }
    if is_control { Ok(()) } else { program(&package) }
}

fn main() -> ExitCode {
    match follow(std::env::args().any(|argument| argument == "--control")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
