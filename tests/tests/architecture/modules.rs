//! The modules of a crate form no cycle. A module depends on another one if it names an item of
//! it, by `use` or by a path; a re-export of a child (`pub use child::Item`) is not a dependency,
//! and an item that is named through one counts for the module that defines it.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::sources::{Source, production};

/// The path of a module inside its crate; the root is empty.
type ModulePath = Vec<String>;

#[derive(Default)]
struct ModuleGraph {
    modules: BTreeMap<ModulePath, ModulePaths>,
}

/// The paths that a module names.
#[derive(Default)]
struct ModulePaths {
    named: Vec<Vec<String>>,
    /// Paths of re-exports, by the name that they give to an item.
    exports: BTreeMap<String, Vec<String>>,
    /// All of them, those of every item of a module included.
    re_exported: BTreeSet<Vec<String>>,
}

/// The crate and the module of a source file. Programs below `src/bin` are crates of their own.
fn module(path: &str) -> Option<(&str, ModulePath)> {
    let (name, file) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let mut parts: ModulePath =
        file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts[0] == "bin" {
        return None;
    }
    if parts.last().is_some_and(|last| matches!(last.as_str(), "lib" | "main" | "mod")) {
        parts.pop();
    }
    Some((name, parts))
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(|part| part.trim().to_owned()).collect()
}

/// The paths of a tree of imports: `a::{b, c::d as e}` has `a::b` and `a::c::d`.
fn flatten(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let (mut depth, mut parts) = (0_usize, vec![String::new()]);
    for c in rest.trim_end().trim_end_matches('}').chars().chain(missing_braces(rest)) {
        depth = if c == '{' { depth + 1 } else { depth - usize::from(c == '}' && depth > 0) };
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| flatten(part)).map(|part| format!("{prefix}{part}")).collect()
}

/// The closing braces that `trim_end_matches` takes away beyond the outermost one.
fn missing_braces(rest: &str) -> impl Iterator<Item = char> + use<> {
    let trailing = rest.trim_end().chars().rev().take_while(|c| *c == '}').count();
    std::iter::repeat_n('}', trailing.saturating_sub(1))
}

impl ModulePaths {
    fn of(source: &str, import: &Regex, path: &Regex) -> Self {
        let code: Vec<&str> =
            source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
        let code = code.join("\n");
        let mut found = Self::default();
        for item in import.captures_iter(&code) {
            for path in flatten(&item[2]).iter().map(|path| segments(path)) {
                if item.get(1).is_some() {
                    let name = path.last().cloned().unwrap_or_default();
                    found.exports.insert(name, path.clone());
                    found.re_exported.insert(path.clone());
                }
                found.named.push(path);
            }
        }
        let body = import.replace_all(&code, "");
        found.named.extend(path.find_iter(&body).map(|path| segments(path.as_str())));
        found
    }
}

impl ModuleGraph {
    /// The graphs of the crates.
    fn of(sources: &[Source]) -> BTreeMap<String, Self> {
        let import = Regex::new(r"(?m)^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);").unwrap();
        let path = Regex::new(r"\b[a-z_]\w*(?:::\w+)+").unwrap();
        let mut graphs: BTreeMap<String, Self> = BTreeMap::new();
        for source in sources {
            let Some((name, module)) = module(&source.path) else { continue };
            let paths = ModulePaths::of(&source.text, &import, &path);
            graphs.entry(name.to_owned()).or_default().modules.insert(module, paths);
        }
        graphs
    }

    fn child(&self, of: &[String], name: &str) -> Option<ModulePath> {
        let child = [of, &[name.to_owned()]].concat();
        self.modules.contains_key(&child).then_some(child)
    }

    /// The module that defines what `path` names in `from`, following re-exports; none for other
    /// crates.
    fn definer(&self, from: &[String], path: &[String], hops: usize) -> Option<ModulePath> {
        let mut rest = path.iter().peekable();
        let mut at: ModulePath = from.to_vec();
        match rest.peek()?.as_str() {
            "crate" => {
                at.clear();
                rest.next();
            }
            "self" | "super" => {
                while let Some(step) =
                    rest.next_if(|step| matches!(step.as_str(), "self" | "super"))
                {
                    if step == "super" {
                        at.pop();
                    }
                }
            }
            first => {
                self.child(from, first)?;
            }
        }
        while let Some(child) = rest.peek().and_then(|name| self.child(&at, name)) {
            at = child;
            rest.next();
        }
        let export = rest.peek().and_then(|name| self.modules.get(&at)?.exports.get(name.as_str()));
        match export {
            Some(export) if hops > 0 => self.definer(&at, export, hops - 1).or(Some(at)),
            _ => self.modules.contains_key(&at).then_some(at),
        }
    }

    fn dependencies(&self, module: &ModulePath) -> BTreeSet<ModulePath> {
        const MAX_REEXPORTS: usize = 8;
        let paths = &self.modules[module];
        let targets = paths.named.iter().filter_map(|path| {
            let target = self.definer(module, path, MAX_REEXPORTS)?;
            let facade = paths.re_exported.contains(path) && target.starts_with(module);
            (target != *module && !facade).then_some(target)
        });
        targets.collect()
    }

    /// The modules that depend on themselves through others.
    fn cyclic(&self) -> Vec<String> {
        let edges: BTreeMap<_, _> =
            self.modules.keys().map(|module| (module, self.dependencies(module))).collect();
        let reaches_itself = |module: &ModulePath| {
            let mut seen: BTreeSet<&ModulePath> = BTreeSet::new();
            let mut waiting: Vec<&ModulePath> = edges[module].iter().collect();
            while let Some(next) = waiting.pop() {
                if next == module {
                    return true;
                }
                if seen.insert(next) {
                    waiting.extend(&edges[next]);
                }
            }
            false
        };
        let cyclic = self.modules.keys().filter(|module| reaches_itself(module));
        cyclic.map(|module| module.join("::")).collect()
    }
}

#[test]
fn modules_of_a_crate_form_no_cycle() {
    for (name, graph) in ModuleGraph::of(&production()) {
        assert_eq!(graph.cyclic(), [""; 0], "crate {name}");
    }
}

mod controls {
    use super::*;

    fn cyclic(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source {
                path: format!("crates/house/src/{path}.rs"),
                text: (*text).to_owned(),
            })
            .collect();
        ModuleGraph::of(&sources)["house"].cyclic()
    }

    #[test]
    fn imports_are_flattened() {
        let tree = "super::{a::{B, c::D}, e as f, self}";
        assert_eq!(flatten(tree), ["super::a::B", "super::a::c::D", "super::e", "super::self"]);
    }

    #[test]
    fn a_cycle_is_reported() {
        let lib = ("lib", "mod a; mod b; mod c;\npub use a::A;");
        assert_eq!(cyclic(&[lib, ("a", "use crate::b::B;"), ("b", "fn f() {}")]), [""; 0]);
        let cycle = [
            lib,
            ("a", "use crate::b::B;"),
            ("b", "fn f() { crate::c::g() }"),
            ("c", "use super::{A, x};"),
        ];
        assert_eq!(cyclic(&cycle), ["a", "b", "c"]);
        let nested =
            [("lib", "mod a;"), ("a", "mod b; fn f() { b::g() }"), ("a/b", "use super::f;")];
        assert_eq!(cyclic(&nested), ["a", "a::b"]);
        let facade = [
            ("lib", "mod a;"),
            ("a", "mod b;\npub use b::*;\npub use b::g;"),
            ("a/b", "use super::f;"),
        ];
        assert_eq!(cyclic(&facade), [""; 0]);
    }
}
