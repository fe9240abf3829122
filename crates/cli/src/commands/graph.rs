//! `leafbase graph`: shows the links between documents as a list, as DOT or as SVG.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clap::Args;
use leafbase::{Connection, Document, DocumentId, FolderRef, ListDocuments, Location};

use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult};
use crate::graph_layout;
use crate::names;
use crate::out::Out;
use crate::show::line;
use crate::show::styles;
use crate::show::table::{self, Cell};

/// Documents that a picture has at most: the layout compares each with each.
const MAX_DRAWN: usize = 2_000;
/// Columns of a title in a picture.
const MAX_LABEL: usize = 32;

/// Show the links between documents as a list, as DOT for Graphviz, or as a picture in SVG
#[derive(Debug, Args)]
pub(crate) struct GraphCommand {
    /// Write DOT
    #[arg(long, conflicts_with_all = ["svg", "json"])]
    dot: bool,
    /// Write SVG; equal links give an equal picture
    #[arg(long, conflicts_with = "json")]
    svg: bool,
    /// Only documents in this folder, or unsorted, daily_notes, templates
    #[arg(long = "in", value_name = "FOLDER")]
    folder: Option<String>,
    /// Only documents with this tag, or a tag nested in it; several times for several tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Also documents without links
    #[arg(long)]
    lone: bool,
}

struct DocumentGraph {
    documents: Vec<GraphNode>,
    links: Vec<GraphLink>,
}

#[derive(serde::Serialize)]
struct GraphNode {
    id: DocumentId,
    path: String,
}

/// The links from one document to another, by their indices.
struct GraphLink {
    ends: (usize, usize),
    count: usize,
}

/// The links from one document to another, as they are written in JSON.
#[derive(serde::Serialize)]
struct LinkEnds<'g> {
    from: &'g GraphNode,
    to: &'g GraphNode,
    count: usize,
}

impl GraphCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let folders = FolderCatalog::read(&notes)?;
        let mut graph = links(&notes, &folders, self.documents(&notes, &folders)?)?;
        if !self.lone {
            graph.drop_lone();
        }
        match (context.options.json, self.dot, self.svg) {
            (true, ..) => json(&mut context.out, &graph),
            (_, true, _) => dot(&mut context.out, &graph),
            (_, _, true) => svg(&mut context.out, &graph),
            _ => list(&mut context.out, &graph),
        }
    }

    fn documents(&self, notes: &Connection, folders: &FolderCatalog) -> CliResult<Vec<Document>> {
        let place = self.folder.as_deref().map(|name| names::folder(folders, name)).transpose()?;
        let mut request = match place {
            Some(FolderRef::Folder(folder)) => ListDocuments::new().within(folder),
            Some(FolderRef::BuiltIn(location)) => ListDocuments::new().at(location),
            None => ListDocuments::new(),
        };
        request.filter.tags.clone_from(&self.tags);
        let mut documents = notes.list_documents(request)?.items;
        documents.retain(|document| document.record.location != Location::Trash);
        Ok(documents)
    }
}

/// The links among `documents`, which are sorted by path.
fn links(
    notes: &Connection,
    folders: &FolderCatalog,
    mut documents: Vec<Document>,
) -> CliResult<DocumentGraph> {
    documents.sort_by_cached_key(|it| (folders.path_of(it).to_lowercase(), it.id()));
    let places: HashMap<DocumentId, usize> =
        documents.iter().enumerate().map(|(place, document)| (document.id(), place)).collect();
    let by_day: HashMap<_, usize> = documents
        .iter()
        .enumerate()
        .filter_map(|(place, document)| Some((document.record.day?, place)))
        .collect();
    let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (from, document) in documents.iter().enumerate() {
        for link in notes.document_links(document.id())?.links {
            let target = link.target_document_id.and_then(|id| places.get(&id));
            let target = target.or_else(|| by_day.get(&link.target_date?));
            if let Some(to) = target.filter(|to| **to != from) {
                *counts.entry((from, *to)).or_default() += 1;
            }
        }
    }
    let nodes: Vec<_> = documents
        .iter()
        .map(|document| GraphNode { id: document.id(), path: folders.path_of(document) })
        .collect();
    let links = counts.into_iter().map(|(ends, count)| GraphLink { ends, count }).collect();
    Ok(DocumentGraph { documents: nodes, links })
}

impl DocumentGraph {
    /// Leaves out the documents without links.
    fn drop_lone(&mut self) {
        let linked = self.linked();
        let places: HashMap<usize, usize> =
            linked.iter().enumerate().map(|(place, before)| (*before, place)).collect();
        let mut place = 0;
        self.documents.retain(|_| {
            place += 1;
            linked.contains(&(place - 1))
        });
        for link in &mut self.links {
            let at = |before: usize| places.get(&before).copied().unwrap_or_default();
            link.ends = (at(link.ends.0), at(link.ends.1));
        }
    }

    fn ends(&self) -> impl Iterator<Item = LinkEnds<'_>> {
        self.links.iter().filter_map(|link| {
            let (from, to) = (self.documents.get(link.ends.0)?, self.documents.get(link.ends.1)?);
            Some(LinkEnds { from, to, count: link.count })
        })
    }

    /// The indices of the documents with links.
    fn linked(&self) -> BTreeSet<usize> {
        self.links.iter().flat_map(|link| [link.ends.0, link.ends.1]).collect()
    }

    /// The documents without links.
    fn lone(&self) -> impl Iterator<Item = &GraphNode> {
        let linked = self.linked();
        let nodes = self.documents.iter().enumerate();
        nodes.filter(move |(place, _)| !linked.contains(place)).map(|(_, node)| node)
    }
}

fn list(out: &mut Out, graph: &DocumentGraph) -> CliResult<()> {
    if graph.links.is_empty() && graph.documents.is_empty() {
        return out.line("no links");
    }
    let row = |LinkEnds { from, to, count }: LinkEnds<'_>| {
        let times = if count > 1 { format!("  {count} times") } else { String::new() };
        vec![
            Cell::styled(&from.path, styles::TITLE),
            Cell::styled("→", styles::QUIET),
            Cell::new(format!("{}{times}", to.path)),
        ]
    };
    let mut rows: Vec<_> = graph.ends().map(row).collect();
    rows.extend(graph.lone().map(|node| vec![Cell::styled(&node.path, styles::TITLE)]));
    table::write(out, &rows)
}

/// Writes the links, then the documents without links.
fn json(out: &mut Out, graph: &DocumentGraph) -> CliResult<()> {
    out.json_lines(graph.ends())?;
    out.json_lines(graph.lone())
}

/// The text between the quotation marks of DOT.
fn dot_text(text: &str) -> String {
    line::plain(text).replace('\\', "\\\\").replace('"', "\\\"")
}

fn dot(out: &mut Out, graph: &DocumentGraph) -> CliResult<()> {
    out.line("digraph leafbase {\n  node [shape=box, style=rounded];")?;
    for GraphNode { id, path } in &graph.documents {
        out.line(format_args!("  \"{id}\" [label=\"{}\"];", dot_text(path)))?;
    }
    for LinkEnds { from, to, count } in graph.ends() {
        let weight = if count > 1 { format!(" [weight={count}]") } else { String::new() };
        let (from, to) = (from.id, to.id);
        out.line(format_args!("  \"{from}\" -> \"{to}\"{weight};"))?;
    }
    out.line("}")
}

/// The text with the characters of markup escaped.
fn xml_text(text: &str) -> String {
    // XML has no such characters, not even escaped.
    let text = line::plain(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

fn svg(out: &mut Out, graph: &DocumentGraph) -> CliResult<()> {
    if graph.documents.len() > MAX_DRAWN {
        let count = line::number(graph.documents.len());
        return Err(CliError::usage(format!(
            "a picture has at most {} documents; these are {count}",
            line::number(MAX_DRAWN)
        ))
        .hint("choose a folder or a tag: --in FOLDER, --tag TAG; or --dot, which has no limit"));
    }
    let edges: Vec<_> = graph.links.iter().map(|link| link.ends).collect();
    let picture = graph_layout::arrange(graph.documents.len(), &edges);
    let (width, height) = (picture.width, picture.height);
    out.line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">"
    ))?;
    out.line("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>")?;
    let at = |place: usize| picture.places.get(place).copied().unwrap_or_default();
    for link in &graph.links {
        let ((x, y), (to_x, to_y)) = (at(link.ends.0), at(link.ends.1));
        let thick = link.count.min(4);
        out.line(format_args!(
            "<line x1=\"{x}\" y1=\"{y}\" x2=\"{to_x}\" y2=\"{to_y}\" stroke=\"#999\" \
             stroke-width=\"{thick}\"/>"
        ))?;
    }
    for (place, node) in graph.documents.iter().enumerate() {
        let (x, y) = at(place);
        let label = node.path.rsplit('/').next().unwrap_or(&node.path);
        let label = xml_text(&line::clip(&line::plain(label), MAX_LABEL));
        out.line(format_args!(
            "<g><title>{}</title><circle cx=\"{x}\" cy=\"{y}\" r=\"5\" fill=\"#2a7\"/>\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{label}</text></g>",
            xml_text(&node.path),
            y + 18
        ))?;
    }
    out.line("</svg>")
}
