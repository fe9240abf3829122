//! `leafbase collections`: lists the collections of a space, or the schema of one.

use clap::Args;
use leafbase::{Connection, ListCollections, Property, PropertyKind, SchemaFormat};

use crate::context::CommandContext;
use crate::error::CliResult;
use crate::names;
use crate::show::styles;
use crate::show::table::{self, Cell};

/// List collections, or show the properties of one
#[derive(Debug, Args)]
pub(crate) struct CollectionsCommand {
    /// A collection: its name or ID
    name: Option<String>,
    /// With --json: the JSON Schema of requests that add or update items
    #[arg(long, requires_all = ["name", "json"])]
    json_schema: bool,
}

impl CollectionsCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        match &self.name {
            Some(name) => self.schema(context, &notes, name),
            None => list(context, &notes),
        }
    }

    fn schema(
        &self,
        context: &mut CommandContext,
        notes: &Connection,
        name: &str,
    ) -> CliResult<()> {
        let collection = names::collection(notes, name)?;
        if context.options.json {
            let format =
                if self.json_schema { SchemaFormat::JsonSchemaItems } else { SchemaFormat::Schema };
            return context
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
        table::write(&mut context.out, &rows)
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

fn list(context: &mut CommandContext, notes: &Connection) -> CliResult<()> {
    let all = notes.list_collections(ListCollections::default())?;
    if context.options.json {
        return context.out.json_lines(all.0);
    }
    if all.is_empty() {
        return context.out.line("no collections");
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
    table::write(&mut context.out, &rows)
}
