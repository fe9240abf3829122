//! Where the program keeps files of its user.

use std::path::PathBuf;

/// The directory `leafbase` in that of the variable, which is `below_home` by default, or in
/// `LOCALAPPDATA`. `None` if the environment has none of them.
pub(crate) fn user_directory(variable: &str, below_home: &str) -> Option<PathBuf> {
    let path = |name: &str| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let directory = path(variable)
        .or_else(|| path("HOME").map(|home| home.join(below_home)))
        .or_else(|| path("LOCALAPPDATA"))?;
    Some(directory.join("leafbase"))
}
