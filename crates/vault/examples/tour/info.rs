//! Connection info and errors.

use std::io::Write;

use leafbase::{Connection, InsertBlocks};

use crate::Result;

pub(crate) fn show(out: &mut impl Write, notes: &Connection) -> Result<()> {
    let info = notes.info()?;
    writeln!(
        out,
        "space {:?} in the zone {}, where it is {}",
        info.space.name, info.space.zone, info.space.friendly_date
    )?;
    writeln!(out, "a block opens by {}", info.url_templates.app)?;

    let body = r#"{"blocks": [{"type": "text", "markdown": "fine"}, {"type": "text", "color": "bluish"}], "position": {"date": "today"}}"#;
    match notes.space().read_json::<InsertBlocks>(body) {
        Ok(_) => Err("a color that is none was taken".into()),
        Err(error) => {
            Ok(writeln!(out, "a request that is wrong: {}\n    {}", error.code(), error)?)
        }
    }
}
