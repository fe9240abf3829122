//! Collections: two related tables whose rows are pages, queries, and the error of a wrong
//! value.

use std::io::Write;

use leafbase::{
    AddItems, BlockId, Connection, CountItems, CreateCollection, CreateDocuments, DocumentId,
    Fetch, FolderId, GetItems, Item, ItemDraft, ItemFilter, ItemUpdate, ItemValue, Operator,
    Position, PropertyDraft, PropertyKind, QueryItems, RelatedItem, Relation, SchemaDraft,
    SelectOption, Sort, UpdateItems,
};

use crate::Result;

/// Two collections of one document.
pub(crate) struct Library {
    authors: BlockId,
    books: BlockId,
}

impl Library {
    pub(crate) fn build(
        out: &mut impl Write,
        notes: &Connection,
        folder: FolderId,
    ) -> Result<Self> {
        let made = notes.create_documents(CreateDocuments::titled(["Library"]).at(folder))?;
        let document = made.first().ok_or("one document was asked for")?.id();
        let authors =
            make(notes, document, "Authors", [PropertyDraft::new("Born", PropertyKind::Date)])?;
        let shelves = ["Novel", "Essay", "Science"].map(SelectOption::new).to_vec();
        let by = Relation::to(authors).with_inverse("books");
        let columns = [
            PropertyDraft::new("Pages", PropertyKind::Number),
            PropertyDraft::new("Read", PropertyKind::Boolean),
            PropertyDraft::new("Shelf", PropertyKind::SingleSelect(shelves)),
            PropertyDraft::new("Authors", by.into()),
        ];
        let library = Self { authors, books: make(notes, document, "Books", columns)? };
        library.fill(notes)?;
        writeln!(out, "the document \"Library\" has the collections Authors and Books:")?;
        library.show(out, notes)?;
        Ok(library)
    }

    fn fill(&self, notes: &Connection) -> Result<()> {
        let people = ["Ursula K. Le Guin", "Mary Shelley"].map(ItemDraft::new);
        let added = notes.add_items(AddItems::new(self.authors, people))?;
        let [ursula, mary] = added.0.as_slice() else {
            return Err("two authors were asked for".into());
        };
        let book = |title: &str, pages: u32, shelf: &str| {
            ItemDraft::new(title).with("pages", pages).with("shelf", shelf)
        };
        let books = [
            book("The Dispossessed", 387, "Novel").with("authors", one(ursula.id)),
            book("The Wave in the Mind", 305, "Essay").with("authors", one(ursula.id)),
            book("Frankenstein", 280, "Novel").with("authors", one(mary.id)),
            book("The Lathe of Heaven", 184, "Novel").with("read", true),
        ];
        notes.add_items(AddItems::new(self.books, books))?;
        Ok(())
    }

    /// A value set at one end is there at the other.
    pub(crate) fn relate(&self, out: &mut impl Write, notes: &Connection) -> Result<()> {
        let ursula = item(notes, self.authors, "Ursula K. Le Guin")?;
        let lathe = item(notes, self.books, "The Lathe of Heaven")?;
        let mut books: Vec<_> =
            ursula.related("books").iter().map(|book| book.block_id.to_string()).collect();
        books.push(lathe.id.to_string());
        writeln!(
            out,
            "\n- \"{}\" joins the books of {}; the book knows its author:",
            lathe.title, ursula.title
        )?;
        let update = ItemUpdate::of(ursula.id).with("books", books);
        notes.update_items(UpdateItems::new(self.authors, [update]))?;
        let lathe = item(notes, self.books, "The Lathe of Heaven")?;
        if titles(lathe.related("authors")) != [ursula.title.as_str()] {
            return Err("the two ends of the relation disagree".into());
        }
        writeln!(out, "{}", line(&lathe))?;

        notes.insert_markdown(
            "It is about *dreams*.\n\n- [ ] lend it to Ana",
            Position::end_of(lathe.id),
        )?;
        let page = notes.fetch(Fetch::new(lathe.id))?;
        writeln!(out, "- it is a page, too, and gets {} blocks", page.children().len())?;
        Ok(())
    }

    pub(crate) fn query(&self, out: &mut impl Write, notes: &Connection) -> Result<()> {
        let unread = ItemFilter::on("read", Operator::Equals, true).negated();
        let filter = ItemFilter::on("pages", Operator::LessThan, 350).and(unread);
        let query = QueryItems::of(self.books)
            .filtered(filter)
            .sorted(Sort::descending("pages"))
            .depth(0)
            .limit(20);
        let found = notes.query_items(query)?;
        writeln!(out, "- fewer than 350 pages and not read yet, the longest first:")?;
        found.iter().try_for_each(|item| writeln!(out, "{}", line(item)))?;
        let titles: Vec<_> = found.iter().map(|item| item.title.as_str()).collect();
        if titles != ["The Wave in the Mind", "Frankenstein"] {
            return Err("the query gives other books".into());
        }

        let counts = notes.count_items(CountItems::of(self.books).grouped_by("shelf"))?;
        let groups = serde_json::to_string(&counts.groups)?;
        writeln!(out, "- {} books by shelf: {groups}", counts.count)?;
        if counts.count != 4 {
            return Err("there should be four books".into());
        }
        Ok(())
    }

    /// A request with a wrong value says which, and changes nothing.
    pub(crate) fn refuse(&self, out: &mut impl Write, notes: &Connection) -> Result<()> {
        let items = [
            ItemDraft::new("Dune"),
            ItemDraft::new("Emma").with("shelf", "Novel").with("pages", "many"),
        ];
        let Err(error) = notes.add_items(AddItems::new(self.books, items)) else {
            return Err("pages that are not numbers were taken".into());
        };
        writeln!(
            out,
            "- two books are added, one with a wrong value: {}\n    {error}",
            error.code()
        )?;
        if error.to_string() != r#"items[1].properties.pages: expected a number, got "many""# {
            return Err("the error says something else".into());
        }
        match notes.count_items(CountItems::of(self.books))?.count {
            4 => Ok(()),
            count => Err(format!("there are {count} books, though nothing was to be added").into()),
        }
    }

    fn show(&self, out: &mut impl Write, notes: &Connection) -> Result<()> {
        for collection in [self.authors, self.books] {
            let items = notes.items(GetItems::of(collection).depth(0))?;
            items.iter().try_for_each(|item| writeln!(out, "{}", line(item)))?;
        }
        Ok(())
    }
}

fn make<const N: usize>(
    notes: &Connection,
    document: DocumentId,
    name: &str,
    columns: [PropertyDraft; N],
) -> Result<BlockId> {
    let request =
        CreateCollection::new(SchemaDraft::new(name, columns), Position::end_of(document));
    Ok(notes.create_collection(request)?.id)
}

fn one(item: BlockId) -> Vec<String> {
    vec![item.to_string()]
}

/// The item of this title.
fn item(notes: &Connection, collection: BlockId, title: &str) -> Result<Item> {
    let query = QueryItems::of(collection)
        .filtered(ItemFilter::on("title", Operator::Equals, title))
        .depth(0);
    Ok(notes.query_items(query)?.items.pop().ok_or_else(|| format!("there is no \"{title}\""))?)
}

fn titles(items: &[RelatedItem]) -> Vec<&str> {
    items.iter().map(|item| item.title.as_str()).collect()
}

fn line(item: &Item) -> String {
    let shown = item.properties.iter().map(|(key, value)| match value {
        ItemValue::Relations(items) => format!("{key}: {}", titles(items).join(", ")),
        ItemValue::Value(value) => format!("{key}: {}", serde_json::Value::from(value.clone())),
    });
    format!("    {:<22}{}", item.title, shown.collect::<Vec<_>>().join("; "))
}
