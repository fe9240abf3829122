//! The weights of a search by words: of the parts of a document, of its age and of links to it.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{Object, deserialize_by};
use crate::{Error, Limits, Result};

/// What counts how much in the score of a document that a search by words finds. As JSON the
/// fields that differ from the defaults: `{"title": 2, "headings": 1, "body": 1, "recency": 0.5,
/// "halfLifeDays": 30, "links": 0.5}`. In a query string each field has a name of its own:
/// `weights.title=2&weights.links=0.5`.
///
/// The score of the words, in which title, headings and body count by their weights, is multiplied
/// by `1 + recency * r + links * l`. The share `r` is 1 for a document that was modified just now,
/// and halves with each half-life since; `l` is `n / (n + 4)` for a document that `n` others link
/// to, of which 100 count. Documents with all terms still come before others.
///
/// ```
/// use leafbase_model::{SearchDocuments, SearchWeights};
/// let json = r#"{"include": "lisbon", "weights": {"title": 3, "recency": 1, "halfLifeDays": 7}}"#;
/// let weights = SearchWeights::default().title(3.0).recency(1.0, 7.0);
/// let request = SearchDocuments::words("lisbon").weighted(weights);
/// assert_eq!(serde_json::from_str::<SearchDocuments>(json)?, request);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchWeights {
    /// The factor of the score of words in the title; 1 by default.
    pub title: f64,
    /// The factor of the score of words in headings and in titles of pages, which is added to that
    /// of the body; 0 by default.
    pub headings: f64,
    /// The factor of the score of words in blocks and comments; 1 by default.
    pub body: f64,
    /// How much a document that was modified just now gains, as a share of its score; 0 by default.
    pub recency: f64,
    /// The time in which that gain halves, in days; 30 by default.
    pub half_life_days: f64,
    /// How much a document that very many documents link to gains, as a share of its score; 0 by
    /// default. Links to blocks within it do not count.
    pub links: f64,
}

impl Default for SearchWeights {
    fn default() -> Self {
        let (title, headings, body, recency, links) = (1.0, 0.0, 1.0, 0.0, 0.0);
        Self { title, headings, body, recency, half_life_days: 30.0, links }
    }
}

impl SearchWeights {
    /// Sets the weight of words in titles.
    pub const fn title(mut self, weight: f64) -> Self {
        self.title = weight;
        self
    }

    /// Sets the weight of words in headings, beside that of the body.
    pub const fn headings(mut self, weight: f64) -> Self {
        self.headings = weight;
        self
    }

    /// Sets the weight of words in blocks and comments.
    pub const fn body(mut self, weight: f64) -> Self {
        self.body = weight;
        self
    }

    /// Sets the weight of recent changes, and the time in which it halves.
    pub const fn recency(mut self, weight: f64, half_life_days: f64) -> Self {
        self.recency = weight;
        self.half_life_days = half_life_days;
        self
    }

    /// Sets the weight of links to a document.
    pub const fn links(mut self, weight: f64) -> Self {
        self.links = weight;
        self
    }

    /// Each field with its name.
    const fn fields(&self) -> [(&'static str, f64); 6] {
        let Self { title, headings, body, recency, half_life_days, links } = *self;
        [
            ("title", title),
            ("headings", headings),
            ("body", body),
            ("recency", recency),
            (HALF_LIFE, half_life_days),
            ("links", links),
        ]
    }

    /// Validates weights that were built in code.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] at a weight that is not from 0 to
    /// [`Limits::SEARCH_WEIGHT`], and at `halfLifeDays` for one that is not above 0 and at most
    /// [`Limits::HALF_LIFE_DAYS`].
    pub fn check(&self) -> Result<()> {
        for (name, value) in self.fields() {
            let is_valid = if name == HALF_LIFE {
                value > 0.0 && value <= f64::from(Limits::HALF_LIFE_DAYS)
            } else {
                (0.0..=f64::from(Limits::SEARCH_WEIGHT)).contains(&value)
            };
            if !is_valid {
                let expected = if name == HALF_LIFE {
                    format!("above 0 and at most {}", Limits::HALF_LIFE_DAYS)
                } else {
                    format!("from 0 to {}", Limits::SEARCH_WEIGHT)
                };
                return Err(Error::validation(format!("must be {expected}")).at(name));
            }
        }
        Ok(())
    }

    fn read(value: Value) -> Result<Self> {
        let (mut object, default) = (Object::new(value)?, Self::default());
        let read = Self {
            title: object.optional("title")?.unwrap_or(default.title),
            headings: object.optional("headings")?.unwrap_or(default.headings),
            body: object.optional("body")?.unwrap_or(default.body),
            recency: object.optional("recency")?.unwrap_or(default.recency),
            half_life_days: object.optional(HALF_LIFE)?.unwrap_or(default.half_life_days),
            links: object.optional("links")?.unwrap_or(default.links),
        };
        object.finish()?;
        read.check()?;
        Ok(read)
    }
}

const HALF_LIFE: &str = "halfLifeDays";

impl Serialize for SearchWeights {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for ((name, value), (_, default)) in self.fields().iter().zip(Self::default().fields()) {
            // Bits, as the fingerprint of a cursor must tell any two weights apart.
            if value.to_bits() != default.to_bits() {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

deserialize_by!(SearchWeights: Self::read);
