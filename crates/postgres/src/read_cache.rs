//! What a snapshot has read: its state never changes, so no key is asked for twice.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;

use crate::key_span::{KeySpan, is_at_most};
use crate::known_entry::KnownEntry;

/// A key with its value: parts of the answer that they came with, shared by the cache and the reads
/// that show them.
pub(crate) type SharedEntry = (Bytes, Bytes);

/// Bytes of keys and values from which on the cache is cleared before more is added.
const MAX_CACHE_BYTES: usize = 4 << 20;

/// Entries of one state, and the spans of which it has all.
#[derive(Debug, Default)]
pub(crate) struct ReadCache {
    /// `None` for a key that does not exist.
    entries: BTreeMap<Bytes, Option<Bytes>>,
    /// Lower to upper bound. Invariant: no two touch or overlap.
    complete: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    bytes: usize,
}

/// Entries of a scan that are cached, in its direction.
#[derive(Debug, PartialEq)]
pub(crate) struct CachedEntries {
    pub(crate) entries: Vec<SharedEntry>,
    /// The part of the span that is not cached; `None` if all is.
    pub(crate) rest: Option<KeySpan>,
}

impl ReadCache {
    /// What is known of `key`.
    pub(crate) fn get(&self, key: &[u8]) -> Option<KnownEntry<Bytes>> {
        match self.entries.get(key) {
            Some(known) => Some(known.clone().into()),
            None => self.complete_at(key).map(|_| KnownEntry::Absent),
        }
    }

    /// The complete span that contains `key`.
    fn complete_at(&self, key: &[u8]) -> Option<(&Vec<u8>, &Option<Vec<u8>>)> {
        let below = (Bound::Unbounded, Bound::Included(key));
        let (lower, upper) = self.complete.range::<[u8], _>(below).next_back()?;
        upper.as_ref().is_none_or(|upper| &**upper > key).then_some((lower, upper))
    }

    /// The entries at the start of `span`, or at its end if `reverse`, as far as they are complete;
    /// `None` if nothing is.
    pub(crate) fn scan(&self, span: &KeySpan, reverse: bool) -> Option<CachedEntries> {
        let (from, to) = if reverse {
            let (lower, upper) = self.complete_below(span.upper.as_deref())?;
            debug_assert!(is_at_most(span.upper.as_deref(), upper), "it reaches the bound");
            (lower.max(&span.lower), span.upper.as_ref())
        } else {
            let (_, upper) = self.complete_at(&span.lower)?;
            let ends_within = is_at_most(upper.as_deref(), span.upper.as_deref());
            (&span.lower, if ends_within { upper.as_ref() } else { span.upper.as_ref() })
        };
        let upper = to.map_or(Bound::Unbounded, |to| Bound::Excluded(&**to));
        let range = self.entries.range::<[u8], _>((Bound::Included(&**from), upper));
        let shared = range.filter_map(|(key, value)| Some((key.clone(), value.clone()?)));
        let entries = if reverse { shared.rev().collect() } else { shared.collect() };
        let rest = if reverse {
            KeySpan { lower: span.lower.clone(), upper: Some(from.clone()) }
        } else {
            match to {
                Some(to) => KeySpan { lower: to.clone(), upper: span.upper.clone() },
                None => return Some(CachedEntries { entries, rest: None }),
            }
        };
        Some(CachedEntries { entries, rest: (!rest.is_empty()).then_some(rest) })
    }

    /// The complete span that contains the keys next below `upper`.
    fn complete_below(&self, upper: Option<&[u8]>) -> Option<(&Vec<u8>, Option<&[u8]>)> {
        let below = upper.map_or(Bound::Unbounded, Bound::Excluded);
        let (lower, end) = self.complete.range::<[u8], _>((Bound::Unbounded, below)).next_back()?;
        is_at_most(upper, end.as_deref()).then_some((lower, end.as_deref()))
    }

    /// Adds what was found for `key`.
    pub(crate) fn add(&mut self, key: Bytes, value: Option<Bytes>) {
        self.make_room();
        self.insert(key, value);
    }

    /// Adds all entries of `span`.
    pub(crate) fn add_span(
        &mut self,
        span: KeySpan,
        entries: impl IntoIterator<Item = SharedEntry>,
    ) {
        if span.is_empty() {
            return;
        }
        self.make_room();
        for (key, value) in entries {
            self.insert(key, Some(value));
        }
        self.join(span);
    }

    /// Forgets everything, because the state changes.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn make_room(&mut self) {
        if self.bytes > MAX_CACHE_BYTES {
            self.clear();
        }
    }

    fn insert(&mut self, key: Bytes, value: Option<Bytes>) {
        // A key that is added again counts twice: the cache is cleared early rather than late.
        self.bytes += key.len() + value.as_ref().map_or(0, Bytes::len);
        self.entries.insert(key, value);
    }

    /// Adds a complete span and joins those that touch it.
    fn join(&mut self, mut span: KeySpan) {
        let touching = |upper: &Option<Vec<u8>>, lower: &[u8]| {
            upper.as_ref().is_none_or(|upper| &**upper >= lower)
        };
        // From the last one that begins within the span, or before it, down to one that ends before
        // it begins.
        loop {
            let within = match &span.upper {
                Some(upper) => (Bound::Unbounded, Bound::Included(&**upper)),
                None => (Bound::Unbounded, Bound::Unbounded),
            };
            let last = self.complete.range::<[u8], _>(within).next_back();
            let Some((lower, upper)) = last.filter(|(_, upper)| touching(upper, &span.lower))
            else {
                break;
            };
            let (lower, upper) = (lower.clone(), upper.clone());
            self.complete.remove(&lower);
            span.lower = span.lower.min(lower);
            if !is_at_most(upper.as_deref(), span.upper.as_deref()) {
                span.upper = upper;
            }
        }
        debug_assert!(
            span.upper.as_ref().is_none_or(|upper| *upper > span.lower),
            "a complete span is not empty"
        );
        self.complete.insert(span.lower, span.upper);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, the same in every run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
            (self.0 >> 33) % bound
        }

        fn key(&mut self) -> Bytes {
            (0..self.below(3)).map(|_| self.below(4).to_le_bytes()[0]).collect()
        }

        fn span(&mut self) -> KeySpan {
            let upper = (self.below(4) > 0).then(|| self.key().into());
            KeySpan { lower: self.key().into(), upper }
        }
    }

    type Truth = BTreeMap<Bytes, Bytes>;

    fn within(truth: &Truth, span: &KeySpan) -> Vec<SharedEntry> {
        let entries = truth.iter().filter(|(key, _)| {
            **key >= span.lower && span.upper.as_ref().is_none_or(|upper| *key < upper)
        });
        entries.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    #[test]
    fn what_is_cached_is_what_was_read() {
        let (mut answered, mut complete) = (0, 0);
        for seed in 0..200 {
            let mut numbers = Numbers(seed);
            let truth: Truth =
                (0..12).map(|_| numbers.key()).map(|key| (key.clone(), key)).collect();
            let mut cache = ReadCache::default();
            for _ in 0..8 {
                let (span, key) = (numbers.span(), numbers.key());
                cache.add_span(span.clone(), within(&truth, &span));
                cache.add(key.clone(), truth.get(&key).cloned());
                for _ in 0..20 {
                    let key = numbers.key();
                    if let Some(known) = cache.get(&key) {
                        assert_eq!(known.value().as_ref(), truth.get(&key), "{key:?}");
                    }
                    let (span, reverse) = (numbers.span(), numbers.below(2) == 1);
                    let cached = if span.is_empty() { None } else { cache.scan(&span, reverse) };
                    let Some(CachedEntries { mut entries, rest }) = cached else { continue };
                    answered += 1;
                    complete += usize::from(rest.is_none());
                    let mut rest = rest.map_or_else(Vec::new, |rest| within(&truth, &rest));
                    let mut expected = within(&truth, &span);
                    if reverse {
                        rest.reverse();
                        expected.reverse();
                    }
                    entries.append(&mut rest);
                    assert_eq!(entries, expected, "{span:?} {reverse}");
                }
                let bounds: Vec<_> = cache.complete.iter().collect();
                for pair in bounds.windows(2) {
                    assert!(pair[0].1.as_ref().is_some_and(|upper| upper < pair[1].0), "{pair:?}");
                }
            }
        }
        assert!(answered > 1_000 && complete > 500, "{answered} {complete}");
    }

    #[test]
    fn its_size_is_bounded() {
        let mut cache = ReadCache::default();
        for number in 0..200_u32 {
            let (key, value) = (number.to_be_bytes().to_vec(), vec![0; 100_000]);
            cache.add(key.into(), Some(value.into()));
            assert!(cache.bytes < MAX_CACHE_BYTES + 200_000);
        }
        assert!(cache.get(&0_u32.to_be_bytes()).is_none());
        assert!(cache.get(&199_u32.to_be_bytes()).is_some());
    }
}
