//! Limits, name, time zone and URL template of a space.

#[cfg(doc)]
use leafbase_model::ErrorKind;
use leafbase_model::json::{FromJson, ReadRequest, UnknownFields};
use leafbase_model::{BlockId, Error, Limits, Result, SpaceId};
use leafbase_store::SpaceMeta;

use super::Space;
use crate::support::days;

/// The placeholder of a block's ID in a URL template.
const BLOCK_ID: &str = "{blockId}";
/// The placeholder of the space's ID in a URL template.
const SPACE_ID: &str = "{spaceId}";

impl Space {
    /// The limits of requests to this space.
    ///
    /// ```
    /// use leafbase::{Limits, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// assert_eq!(space.limits().title, Limits::default().title);
    /// # Ok(())
    /// # }
    /// ```
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The space's ID, name and zone.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::builder().name("Notes").zone("Asia/Tokyo").in_memory()?;
    /// let meta = space.meta()?;
    /// assert_eq!((meta.name.as_str(), meta.zone.as_str()), ("Notes", "Asia/Tokyo"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of the store.
    pub fn meta(&self) -> Result<SpaceMeta> {
        self.store()?.snapshot()?.reader().meta()
    }

    /// The URL that opens `block` in the host's app: the template of
    /// [`SpaceBuilder::url_template`](crate::SpaceBuilder::url_template) with the ID of the block.
    /// The block is not looked up.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::builder().url_template("https://notes.example/{blockId}")
    ///     .in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// assert_eq!(space.block_url(trip.id()), format!("https://notes.example/{}", trip.id()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn block_url(&self, block: impl Into<BlockId>) -> String {
        self.0.url_template.replace(BLOCK_ID, &block.into().to_string())
    }

    pub(crate) fn url_template(&self) -> &str {
        &self.0.url_template
    }

    /// Parses a request from untrusted JSON text within the limits of this space. Text that is too
    /// long or nested too deeply is refused, and the error has the path of the invalid value.
    ///
    /// ```
    /// use leafbase::{InsertBlocks, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// let body = r#"{"markdown": "- [ ] passport", "position": {"date": "today"}}"#;
    /// space.connect().insert_blocks(space.read_json::<InsertBlocks>(body)?)?;
    /// let error = space.read_json::<InsertBlocks>(r#"{"blocks": [{"type": "txt"}]}"#)
    ///     .unwrap_err();
    /// assert_eq!((error.code(), error.path()), ("VALIDATION", "blocks[0].type"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Validation`], [`ErrorKind::InvalidPosition`] and [`ErrorKind::LimitExceeded`],
    /// with the path of the value; without a path for text that is no JSON, too long, or nested too
    /// deeply.
    pub fn read_json<T: FromJson>(&self, text: &str) -> Result<T> {
        leafbase_model::json::from_str(text, self.limits())
    }

    /// [`Self::read_json`] with an option for unknown fields: a host with newer clients may ignore
    /// them, and gets their paths. The operations of a [`Batch`](crate::Batch) are read when they
    /// are done and refuse unknown fields either way.
    ///
    /// # Errors
    /// As [`Self::read_json`].
    pub fn read_json_with<T: FromJson>(
        &self,
        text: &str,
        unknown: UnknownFields,
    ) -> Result<ReadRequest<T>> {
        leafbase_model::json::from_str_with(text, self.limits(), unknown)
    }

    /// Parses a request from the query string of a URL, without `?`, and from the parameters of its
    /// path, which are decoded already: what [`Self::read_json`] is for a body.
    ///
    /// The query is percent-decoded, `+` is a blank. A text becomes a number or a boolean where the
    /// field is one, and a repeated name a list; a comma has no meaning.
    ///
    /// ```
    /// use leafbase::{ListDocuments, SearchBlocks, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let space = Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?.id();
    /// space.connect().insert_markdown("- [ ] book the ferry", trip)?;
    /// let path = [("blockId", &*trip.to_string())];
    /// let request: SearchBlocks = space.read_query("pattern=the+f&afterBlockCount=0", &path)?;
    /// assert_eq!(space.connect().search_blocks(request)?.len(), 1);
    /// let error = space.read_query::<ListDocuments>("limit=all", &[]).unwrap_err();
    /// assert_eq!((error.path(), error.http_status()), ("limit", 400));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::read_json`], and [`ErrorKind::Validation`] for a query that is not
    /// percent-encoded UTF-8 and for a name that the path has, too.
    pub fn read_query<T: FromJson>(&self, query: &str, path: &[(&str, &str)]) -> Result<T> {
        leafbase_model::json::from_query(query, path, self.limits())
    }

    /// [`Self::read_query`] with an option for unknown names: a host with newer clients may ignore
    /// them, and gets them.
    ///
    /// # Errors
    /// As [`Self::read_query`].
    pub fn read_query_with<T: FromJson>(
        &self,
        query: &str,
        path: &[(&str, &str)],
        unknown: UnknownFields,
    ) -> Result<ReadRequest<T>> {
        leafbase_model::json::from_query_with(query, path, self.limits(), unknown)
    }
}

/// The template of a space whose builder sets none.
pub(super) fn default_url_template() -> String {
    format!("leafbase://open?spaceId={SPACE_ID}&blockId={BLOCK_ID}")
}

/// The template with the ID of the space.
pub(super) fn with_space_id(template: &str, id: SpaceId) -> String {
    debug_assert!(template.contains(BLOCK_ID), "the template was checked before");
    template.replace(SPACE_ID, &id.to_string())
}

/// Checks that a template names the block.
pub(super) fn check_url_template(template: &str) -> Result<()> {
    if template.contains(BLOCK_ID) {
        return Ok(());
    }
    Err(Error::validation(format!("expected a URL that contains {BLOCK_ID}")).at("url_template"))
}

/// The zone's name in the spelling of the time zone database; an alias stays as it is.
pub(crate) fn known_zone(name: &str) -> Result<String> {
    let zone = days::zone(name).map_err(|error| error.at("zone"))?;
    let canonical = zone.iana_name().filter(|canonical| canonical.eq_ignore_ascii_case(name));
    Ok(canonical.unwrap_or(name).to_owned())
}

/// Checks the length of a space's name.
pub(crate) fn check_name(name: &str, limits: &Limits) -> Result<()> {
    let (longest, found) = (limits.title, name.chars().count());
    if found > longest {
        return Err(Error::limit("characters of a space's name", longest, found).at("name"));
    }
    Ok(())
}
