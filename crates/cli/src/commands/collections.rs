//! `leafbase collections`: the collections of the space, or the schema of one.

use clap::Args;
use leafbase::{Connection, ListCollections, Property, PropertyKind, SchemaFormat};

use crate::app::App;
use crate::fault::Result;
use crate::names;
use crate::show::styles;
use crate::show::table::{self, Cell};

/// List collections, or show the properties of one
#[derive(Debug, Args)]
pub(crate) struct Collections {
    /// A collection, by its name or ID
    name: Option<String>,
    /// With --json: JSON Schema of requests that add or update items
    #[arg(long, requires_all = ["name", "json"])]
    json_schema: bool,
}

impl Collections {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let notes = app.reader()?;
        match &self.name {
            Some(name) => self.schema(app, &notes, name),
            None => list(app, &notes),
        }
    }

    fn schema(&self, app: &mut App, notes: &Connection, name: &str) -> Result<()> {
        let collection = names::collection(notes, name)?;
        if app.common.json {
            let format =
                if self.json_schema { SchemaFormat::JsonSchemaItems } else { SchemaFormat::Schema };
            return app
                .out
                .json(&notes.collection_schema(leafbase::GetSchema::new(collection.id, format))?);
        }
        let schema = notes.schema(collection.id)?;
        let mut rows = vec![vec![
            Cell::styled(&*schema.content.key, styles::TITLE),
            Cell::new(&schema.content.name),
            Cell::styled("title", styles::QUIET),
        ]];
        rows.extend(schema.properties.iter().map(property));
        table::write(&mut app.out, &rows)
    }
}

fn property(property: &Property) -> Vec<Cell> {
    let options = match &property.kind {
        PropertyKind::SingleSelect(options) | PropertyKind::MultiSelect(options) => {
            options.iter().map(|option| option.name.as_str()).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    };
    let kind = property.kind.property_type().to_string();
    let kind = if options.is_empty() { kind } else { format!("{kind}: {options}") };
    vec![
        Cell::styled(&*property.key, styles::TITLE),
        Cell::new(&property.name),
        Cell::styled(kind, styles::QUIET),
    ]
}

fn list(app: &mut App, notes: &Connection) -> Result<()> {
    let all = notes.list_collections(ListCollections::default())?;
    if app.common.json {
        return app.out.json(&all);
    }
    if all.is_empty() {
        return app.out.line("no collections");
    }
    let mut all = all.0;
    all.sort_by_cached_key(|collection| (collection.name.to_lowercase(), collection.id));
    let mut rows = Vec::with_capacity(all.len());
    for collection in &all {
        rows.push(vec![
            Cell::styled(collection.id.to_string(), styles::QUIET),
            Cell::new(collection.item_count.to_string()),
            Cell::styled(&collection.name, styles::TITLE),
            Cell::styled(notes.document(collection.document_id)?.title, styles::QUIET),
        ]);
    }
    table::write(&mut app.out, &rows)
}
