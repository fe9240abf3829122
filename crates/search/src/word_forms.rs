//! Forms of a word that are indexed beside the folded one: its stem in other languages than
//! English, and the word with its diacritics.
//!
//! Both are computed from the word before folding, because endings (`й`) and meanings depend on
//! diacritics. English stems are those of folded words: see [`crate::stems`].

use std::collections::HashMap;

use foldhash::fast::RandomState;
use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use crate::fold::{fold, is_invisible};
use crate::token::truncated;

/// Entries of each map of a [`WordFormCache`]; it is cleared when it is full. About 8 MB at most.
const MAX_CACHED_FORMS: usize = 1 << 16;

/// The forms of a word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct WordForms {
    /// The folded stems, by language; of a word of a document at most one.
    pub(crate) stems: Vec<(Algorithm, String)>,
    /// The lowercased word with its diacritics, if folding removed any.
    pub(crate) accented: Option<String>,
}

impl WordForms {
    /// The forms of a word as it was written, and folded.
    pub(crate) fn of(
        source: &str,
        folded: &str,
        languages: impl IntoIterator<Item = Algorithm>,
    ) -> Self {
        let visible = |letter: &char| !is_invisible(*letter);
        let lower: String =
            source.nfkc().filter(visible).flat_map(char::to_lowercase).nfc().collect();
        let stem = |algorithm| {
            // The Greek stemmer takes `ϊ` for `η`, and drops all other marks: without them a word
            // has the stem that it has when it is typed without.
            let bare = (algorithm == Algorithm::Greek).then(|| fold(&lower));
            fold(&Stemmer::new(algorithm).stem(bare.as_deref().unwrap_or(&lower)))
        };
        let stems = languages.into_iter().map(|algorithm| (algorithm, stem(algorithm)));
        let stems = stems.filter(|(_, stem)| !stem.is_empty());
        let stems = stems.map(|(algorithm, stem)| (algorithm, truncated(&stem).to_owned()));
        let accented = Some(truncated(&lower)).filter(|lower| *lower != folded);
        Self { stems: stems.collect(), accented: accented.map(str::to_owned) }
    }

    /// The stem of a word in one language.
    pub(crate) fn stem(source: &str, algorithm: Algorithm) -> Option<String> {
        Self::of(source, source, [algorithm]).stems.pop().map(|(_, stem)| stem)
    }
}

type FormsByWord = HashMap<Box<str>, WordForms, RandomState>;

/// Remembers the forms of words.
#[derive(Default)]
pub(crate) struct WordFormCache {
    /// For each language that was asked for.
    languages: Vec<(Option<Algorithm>, FormsByWord)>,
}

impl WordFormCache {
    /// The forms of a word as it was written, and folded.
    pub(crate) fn push_forms(
        &mut self,
        source: &str,
        folded: &str,
        algorithm: Option<Algorithm>,
        push: impl FnOnce(&WordForms),
    ) {
        let known = self.languages.iter().position(|(known, _)| *known == algorithm);
        let at = known.unwrap_or_else(|| {
            self.languages.push((algorithm, FormsByWord::default()));
            self.languages.len() - 1
        });
        let Some((_, words)) = self.languages.get_mut(at) else { return };
        if let Some(forms) = words.get(source) {
            return push(forms);
        }
        if words.len() >= MAX_CACHED_FORMS {
            words.clear();
        }
        push(words.entry(Box::from(source)).or_insert(WordForms::of(source, folded, algorithm)));
    }

    pub(crate) fn len(&self) -> usize {
        self.languages.iter().map(|(_, words)| words.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use frostem::Algorithm;

    use super::WordForms;
    use crate::fold::fold;
    use crate::languages::Languages;

    #[test]
    fn forms_of_each_script() {
        for (word, stem, accented) in [
            ("trains", "", ""),
            ("Élan", "", "élan"),
            ("Má", "", "má"),
            ("Straße", "", "straße"),
            ("ＡＢ", "", ""),
            ("новостей", "новост", "новостей"),
            ("Новости", "новост", ""),
            ("красный", "красн", "красный"),
            ("красная", "красн", ""),
            ("δρόμους", "δρομ", "δρόμους"),
            ("πρωτεΐνες", "πρωτειν", "πρωτεΐνες"),
            ("πρωτεινων", "πρωτειν", ""),
            ("քաղաքներում", "քաղ", ""),
            ("المكتبات", "مكتب", ""),
            ("लड़कियाँ", "लड़क", ""),
            ("புத்தகங்கள்", "புத்தகம்", ""),
            ("שָׁלוֹם", "", "שָׁלוֹם"),
        ] {
            let folded = fold(word);
            let first = folded.chars().next().unwrap();
            let language = Languages::default().of_word(first, Algorithm::English);
            let language = language.filter(|language| *language != Algorithm::English);
            let forms = WordForms::of(word, &folded, language);
            let found = forms.stems.first().map_or("", |(_, stem)| stem.as_str());
            assert_eq!(found, fold(stem), "{word}");
            assert_eq!(forms.accented.as_deref().unwrap_or(""), accented, "{word}");
        }
    }

    #[test]
    fn stems_of_languages_in_latin_script() {
        for (algorithm, words, stem) in [
            (Algorithm::German, "Häuser Häusern", "haus"),
            (Algorithm::French, "mangée mangés manger", "mang"),
            (Algorithm::Spanish, "nación naciones", "nacion"),
            (Algorithm::Turkish, "evler evleri", "ev"),
            (Algorithm::Swedish, "vänligheten vänlighet", "van"),
        ] {
            for word in words.split(' ') {
                assert_eq!(WordForms::stem(word, algorithm).as_deref(), Some(stem), "{word}");
            }
        }
    }
}
