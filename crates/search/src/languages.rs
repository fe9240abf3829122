//! The languages of a space's texts: which stemmer a word has, by its script, and in Latin script
//! by the frequent words of the text around it.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use frostem::Algorithm;
use leafbase_model::Language;

/// The languages of texts, the main one first.
///
/// In scripts other than Latin, one language has a stemmer without being named: Arabic, Armenian,
/// Greek, Hindi, Russian and Tamil. In Latin script English does if no language is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Languages {
    /// Those in Latin script, at least one.
    latin: Vec<Language>,
    /// The others, before the ones that need not be named.
    others: Vec<Language>,
}

impl Default for Languages {
    fn default() -> Self {
        Self::new([])
    }
}

/// Scripts with a stemmer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    Arabic,
    Devanagari,
    Tamil,
}

/// The script of a word, by its first character. Digits and symbols have none.
const fn script_of(first: char) -> Option<Script> {
    Some(match first as u32 {
        0x41..=0x5A | 0x61..=0x7A | 0xC0..=0xD6 | 0xD8..=0xF6 | 0xF8..=0x24F | 0x1E00..=0x1EFF => {
            Script::Latin
        }
        0x0370..=0x03FF | 0x1F00..=0x1FFF => Script::Greek,
        0x0400..=0x052F | 0x1C80..=0x1C8F => Script::Cyrillic,
        0x0530..=0x058F | 0xFB13..=0xFB17 => Script::Armenian,
        0x05D0..=0x05F2 | 0xFB1D..=0xFB4F => Script::Hebrew,
        0x0600..=0x06FF | 0x0750..=0x077F | 0xFB50..=0xFDFF | 0xFE70..=0xFEFE => Script::Arabic,
        0x0900..=0x097F | 0xA8E0..=0xA8FF => Script::Devanagari,
        0x0B80..=0x0BFF => Script::Tamil,
        _ => return None,
    })
}

/// The script that a language is written in.
const fn script(language: Language) -> Script {
    match language {
        Language::Arabic | Language::Persian => Script::Arabic,
        Language::Armenian => Script::Armenian,
        Language::Greek => Script::Greek,
        Language::Hindi | Language::Nepali => Script::Devanagari,
        Language::Russian | Language::Serbian => Script::Cyrillic,
        Language::Tamil => Script::Tamil,
        Language::Yiddish => Script::Hebrew,
        _ => Script::Latin,
    }
}

const fn algorithm(language: Language) -> Algorithm {
    match language {
        Language::Arabic => Algorithm::Arabic,
        Language::Armenian => Algorithm::Armenian,
        Language::Basque => Algorithm::Basque,
        Language::Catalan => Algorithm::Catalan,
        Language::Czech => Algorithm::Czech,
        Language::Danish => Algorithm::Danish,
        Language::Dutch => Algorithm::Dutch,
        Language::English => Algorithm::English,
        Language::Esperanto => Algorithm::Esperanto,
        Language::Estonian => Algorithm::Estonian,
        Language::Finnish => Algorithm::Finnish,
        Language::French => Algorithm::French,
        Language::German => Algorithm::German,
        Language::Greek => Algorithm::Greek,
        Language::Hindi => Algorithm::Hindi,
        Language::Hungarian => Algorithm::Hungarian,
        Language::Indonesian => Algorithm::Indonesian,
        Language::Irish => Algorithm::Irish,
        Language::Italian => Algorithm::Italian,
        Language::Lithuanian => Algorithm::Lithuanian,
        Language::Nepali => Algorithm::Nepali,
        Language::Norwegian => Algorithm::Norwegian,
        Language::Persian => Algorithm::Persian,
        Language::Polish => Algorithm::Polish,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Romanian => Algorithm::Romanian,
        Language::Russian => Algorithm::Russian,
        Language::Serbian => Algorithm::Serbian,
        Language::Sesotho => Algorithm::Sesotho,
        Language::Spanish => Algorithm::Spanish,
        Language::Swedish => Algorithm::Swedish,
        Language::Tamil => Algorithm::Tamil,
        Language::Turkish => Algorithm::Turkish,
        Language::Yiddish => Algorithm::Yiddish,
    }
}

impl Languages {
    /// These languages, the main one first.
    pub fn new(languages: impl IntoIterator<Item = Language>) -> Self {
        let mut found = Self { latin: Vec::new(), others: Vec::new() };
        for language in languages {
            let is_latin = script(language) == Script::Latin;
            let list = if is_latin { &mut found.latin } else { &mut found.others };
            if !list.contains(&language) {
                list.push(language);
            }
        }
        if found.latin.is_empty() {
            found.latin.push(Language::English);
        }
        found.others.extend([
            Language::Arabic,
            Language::Armenian,
            Language::Greek,
            Language::Hindi,
            Language::Russian,
            Language::Tamil,
        ]);
        found
    }

    /// Whether words in Latin script may be English.
    pub(crate) fn has_english(&self) -> bool {
        self.latin.contains(&Language::English)
    }

    /// The languages whose stems a word of a query may have.
    pub(crate) fn of_query(&self, first: char) -> Vec<Algorithm> {
        match script_of(first) {
            Some(Script::Latin) => self.latin.iter().copied().map(algorithm).collect(),
            Some(script) => self.of_script(script).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// The language of a word in a text whose Latin words are in this language.
    pub(crate) fn of_word(&self, first: char, latin: Algorithm) -> Option<Algorithm> {
        match script_of(first)? {
            Script::Latin => Some(latin),
            script => self.of_script(script),
        }
    }

    /// Every stemmer with words that show its version.
    pub(crate) fn samples() -> impl Iterator<Item = (Algorithm, &'static str)> {
        let frequent = FREQUENT.iter().chain(INFLECTED);
        frequent.map(|(language, words)| (algorithm(*language), *words))
    }

    fn of_script(&self, wanted: Script) -> Option<Algorithm> {
        let found = self.others.iter().copied().find(|language| script(*language) == wanted);
        found.map(algorithm)
    }

    /// The names of all of them, for an index of their stems.
    pub fn codes(&self) -> String {
        let all = self.latin.iter().chain(&self.others);
        all.map(|language| language.as_str()).collect::<Vec<_>>().join(",")
    }
}

/// Which of the languages in Latin script a document is in, guessed by the frequent words of the
/// texts so far.
#[derive(Debug, Default)]
pub(crate) struct LanguageGuess {
    /// The frequent words of each language, in the order of [`Languages`].
    counts: Vec<u32>,
}

impl LanguageGuess {
    /// The language of the next text; among equals the first one.
    pub(crate) fn next(&mut self, languages: &Languages, text: &str) -> Algorithm {
        let [only] = languages.latin.as_slice() else { return self.count(languages, text) };
        algorithm(*only)
    }

    fn count(&mut self, languages: &Languages, text: &str) -> Algorithm {
        self.counts.resize(languages.latin.len(), 0);
        for word in text.split(|letter: char| !letter.is_alphabetic()) {
            let lower = word.to_lowercase();
            let Some(of) = FREQUENT_WORDS.get(lower.as_str()) else { continue };
            for (count, language) in self.counts.iter_mut().zip(&languages.latin) {
                *count = count.saturating_add(u32::from(of.contains(language)));
            }
        }
        let best = self.counts.iter().max().copied().unwrap_or(0);
        let mut counted = languages.latin.iter().zip(&self.counts);
        let guess = counted.find(|(_, count)| **count == best);
        guess.map_or(Algorithm::English, |(language, _)| algorithm(*language))
    }
}

/// The languages of each frequent word.
static FREQUENT_WORDS: LazyLock<HashMap<&str, Vec<Language>, RandomState>> = LazyLock::new(|| {
    let mut words: HashMap<&str, Vec<Language>, RandomState> = HashMap::default();
    for (language, frequent) in FREQUENT {
        for word in frequent.split_whitespace() {
            words.entry(word).or_default().push(*language);
        }
    }
    words
});

/// Articles, pronouns, prepositions and conjunctions: most sentences have one.
const FREQUENT: &[(Language, &str)] = &[
    (Language::Basque, "eta da ez du bat dira zen izan ere baina hau dute den dela egin zuen"),
    (Language::Catalan, "els les i amb per que un una no és del dels als més però com va seva al"),
    (Language::Czech, "a se na je že v s z do to jsou byl i ale jako za pro jeho by který od"),
    (
        Language::Danish,
        "og det at en den til er som på de med han af for ikke der var et blev eller",
    ),
    (
        Language::Dutch,
        "de het een en van ik te dat die in is niet zijn op aan met als voor er maar",
    ),
    (Language::English, "the of and to in a is that it was for on are with as be at by this from"),
    (Language::Esperanto, "la kaj de en estas al por ne kun li ke mi sur pri kiu tiu estis ĝi sed"),
    (Language::Estonian, "ja on ei et ta see oli ma kui aga mis ka ning oma nii või seda välja"),
    (Language::Finnish, "ja on ei että se hän oli mutta ovat kuin myös joka sen tai jos niin ole"),
    (Language::French, "le la les de des et en un une est que qui dans du pour pas au sur ce par"),
    (Language::German, "der die das und ist in den von zu mit sich des auf für nicht ein eine dem"),
    (
        Language::Hungarian,
        "a az és hogy nem egy is volt de csak van meg ez el már ki vagy mint azt",
    ),
    (Language::Indonesian, "yang dan di dengan untuk dari ini itu dalam tidak pada adalah ke akan"),
    (Language::Irish, "an na agus ar is i go sé tá ag bhí do le sa ach níl bhfuil ní mar atá ó"),
    (Language::Italian, "il di che la e è un a per in una sono non del con si da i le alla della"),
    (Language::Lithuanian, "ir yra kad su į iš buvo ne tai kaip bet apie o jo nuo po per už jis"),
    (Language::Norwegian, "og det er på en til som av for at med ikke den har var jeg et fra seg"),
    (Language::Polish, "i w na z się nie do to że jest o jak za od po ale co czy dla przez był"),
    (Language::Portuguese, "o a de que e do da em um para não uma os com no se na por mais as dos"),
    (Language::Romanian, "și de în la a cu o nu este un pe din că pentru care mai sunt fost prin"),
    (Language::Sesotho, "le ho ka ya e ha ba o tsa mo ke wa sa bo di re ne hore ho ea eo"),
    (Language::Spanish, "el la de que y en un los se del las por con no una su para es al lo como"),
    (
        Language::Swedish,
        "och att det i en är på som för av med den till inte har om ett var de jag",
    ),
    (
        Language::Turkish,
        "ve bir bu da de için ile çok ne daha gibi olan olarak var ama sonra kadar",
    ),
];

/// Inflected words.
const INFLECTED: &[(Language, &str)] = &[
    (Language::Arabic, "دخول المكتبات والكتاب يكتبون مدرستهم فسيكتبونها استغفار"),
    (Language::Armenian, "դպրոցները գրքերից մարդկանց ուսուցչին"),
    (Language::Basque, "etxeetako mendietatik liburuarekin zaharragoak"),
    (Language::Catalan, "cases cantaven ràpidament ciutadans gossos"),
    (Language::Czech, "domech městskými krásnější psali knihami"),
    (Language::Danish, "husene bilernes venligheden skrevet"),
    (Language::Dutch, "huizen gelopen mogelijkheden schoonheid boekje"),
    (Language::Esperanto, "domojn bonaj kantis rapide"),
    (Language::Estonian, "majades raamatutega ilusamad kirjutasid"),
    (Language::Finnish, "taloissa kirjoillaan kauniimmat kirjoittivat"),
    (Language::French, "maisons continuellement nationalité chantaient belles mangée"),
    (Language::German, "häuser aufeinanderfolgende freundlichkeit gelaufen schönsten"),
    (Language::Greek, "δρόμους μαθητές ομορφότερος έγραψαν ελληνικής κατοικίες πρωτεΐνες"),
    (Language::Hindi, "लड़कियाँ किताबों जाएगी बोलता"),
    (Language::Hungarian, "házakban könyveikkel szebbek írtátok"),
    (Language::Indonesian, "membacakan pekerjaan bukunya terbesar"),
    (Language::Irish, "leabhair bhfuinneog scríobhadh hathair"),
    (Language::Italian, "case cantavano velocemente città abbandonata"),
    (Language::Lithuanian, "namuose knygomis gražesnis rašydavo"),
    (Language::Nepali, "घरहरूमा किताबको गर्नुभयो"),
    (Language::Norwegian, "husene bilenes vennligheten skrevet"),
    (Language::Persian, "کتاب‌ها خانه‌های می‌نویسند بزرگترین"),
    (Language::Polish, "domach książkami najpiękniejszy pisali"),
    (Language::Portuguese, "casas cantavam rapidamente cidades nação"),
    (Language::Romanian, "casele cântau orașelor frumoasei națiunii"),
    (Language::Russian, "новостей красивыми бегавшая уходящий нельзя скорейший ночью домов"),
    (Language::Serbian, "кућама књигама најлепши писали"),
    (Language::Sesotho, "dibuka batho mosebetsi"),
    (Language::Spanish, "casas cantaban rápidamente ciudades nación dándonos"),
    (Language::Swedish, "husen bilarnas vänligheten skrivit"),
    (Language::Tamil, "புத்தகங்கள் வீட்டிலிருந்து பாடினான் மரங்களை"),
    (Language::Turkish, "evlerimizden kitapçılar güzelliği yazıyorlar"),
    (Language::Yiddish, "הײַזער ביכער געשריבן"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_is_told_by_its_frequent_words() {
        for (language, text) in [
            (Language::German, "Die Häuser am Rand der Stadt sind nicht alt"),
            (Language::French, "Les maisons dans la ville ne sont pas vieilles"),
            (Language::Spanish, "Las casas en el centro de la ciudad no son viejas"),
            (Language::Italian, "Le case della città non sono vecchie"),
            (Language::Portuguese, "As casas no centro da cidade não são velhas"),
            (Language::Dutch, "De huizen aan het water zijn niet oud"),
            (Language::Swedish, "Husen på landet är inte gamla och det är bra"),
            (Language::English, "The houses of the town are not old"),
            (Language::Turkish, "Bu evler çok eski ve daha güzel"),
            (Language::Polish, "Domy w mieście nie są stare, ale jest to dobre"),
        ] {
            let languages = Languages::new(Language::ALL.iter().copied());
            let guess = LanguageGuess::default().next(&languages, text);
            assert_eq!(guess, algorithm(language), "{text}");
        }
        // Without any, the main language; with few, those of the texts before.
        let languages = Languages::new([Language::French, Language::German]);
        let mut guess = LanguageGuess::default();
        assert_eq!(guess.next(&languages, "Berlin"), Algorithm::French);
        assert_eq!(guess.next(&languages, "Das ist ein Haus"), Algorithm::German);
        assert_eq!(guess.next(&languages, "la"), Algorithm::German);
    }

    #[test]
    fn scripts_have_the_first_language_that_uses_them() {
        let named = Languages::new([Language::Serbian, Language::Nepali]);
        for (letter, by_default, by_name) in [
            ('я', Some(Algorithm::Russian), Some(Algorithm::Serbian)),
            ('न', Some(Algorithm::Hindi), Some(Algorithm::Nepali)),
            ('ع', Some(Algorithm::Arabic), Some(Algorithm::Arabic)),
            ('ש', None, None),
            ('東', None, None),
            ('é', Some(Algorithm::German), Some(Algorithm::German)),
        ] {
            let german = Algorithm::German;
            assert_eq!(Languages::default().of_word(letter, german), by_default, "{letter}");
            assert_eq!(named.of_word(letter, german), by_name, "{letter}");
        }
        assert_eq!(named.codes(), "en,sr,ne,ar,hy,el,hi,ru,ta");
    }
}
