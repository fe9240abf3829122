//! Lines that a block keeps as they were written say no more than the block shows.

use leafbase::{ApplyMarkdown, EditMarkdown, Error, Fetch};

use super::{Scene, scene};

/// Texts with a link to `@hidden`, several of which are kept as they were written.
const TEXTS: [&str; 20] = [
    "---\nlink: block://@hidden\n---\nbirch",
    "<page>\n<a href=\"block://@hidden\">birch</a>\n<content>\n\ncedar\n\n</content>\n</page>",
    "<page>\n\nbirch [cedar][r] and [r]: block://@hidden\n\n<content>\n\nelm\n\n</content>\n</page>",
    "<div href=\"block://@hidden\">\nbirch\n</div>",
    "birch [cedar][r]\n\n[r]:\n   block://@hidden\n   'elm'",
    "[^1]: see [birch](block://@hidden)\n    cedar",
    "birch [cedar](block://@hidden)\n===",
    "# birch [cedar](block://@hidden) ## <!-- elm -->",
    "| birch | [cedar](block://@hidden) |\n|:--|--|\n| 1 | 2 |",
    "> > [birch](<block://@hidden>)\n> cedar",
    "> [birch](block://@hidden)\ncedar",
    "* [birch](block://@hidden \"cedar\")\n\n  elm",
    "![birch](block://@hidden)",
    "![birch](https://example.org/a.png \"block://@hidden\")",
    "> ![birch](https://example.org/a.png\n> \"block://@hidden\")",
    "birch\\\n[cedar](block://@hidden)  \nelm",
    "<!-- [birch](block://@hidden)\n\n-->",
    "[birch](&#98;lock://@hidden)",
    "1) [birch](block://@hidden)\n2) cedar",
    "[[a|block://@hidden]]",
];

/// Writes a text to the document of a scene.
type Write = fn(&Scene, &str) -> Result<(), Error>;

fn ways() -> [(&'static str, Write); 4] {
    fn edit(scene: &Scene, text: &str) -> EditMarkdown {
        EditMarkdown::of(scene.document).replace("target", text)
    }
    [
        ("inserted", |scene, text| scene.notes.insert_markdown(text, scene.document).map(drop)),
        ("applied", |scene, text| {
            scene.notes.apply_markdown(ApplyMarkdown::new(scene.document, text)).map(drop)
        }),
        ("applied by the guest", |scene, text| {
            scene.guest.apply_markdown(ApplyMarkdown::new(scene.document, text)).map(drop)
        }),
        ("edited by the guest", |scene, text| {
            scene.guest.edit_markdown(edit(scene, text)).map(drop)
        }),
    ]
}

#[test]
fn lines_that_are_kept_name_nothing_hidden() {
    for (way, write) in ways() {
        for text in TEXTS {
            let scene = scene();
            write(&scene, &scene.named(text)).unwrap_or_else(|error| panic!("{way}: {error}"));
            let guest = &scene.guest;
            let shown = guest.fetch(Fetch::new(scene.document).with_metadata()).unwrap();
            let markdown = guest.content_markdown(scene.document).unwrap();
            let said = format!("{shown:?} {} {markdown}", serde_json::to_string(&shown).unwrap());
            let hidden = scene.target("hidden");
            assert!(!said.contains(hidden), "{way} {text:?}: {said}");
            // The whole says it to who sees the whole, and a page that comes back changes nothing.
            let whole = scene.notes.content_markdown(scene.document).unwrap();
            assert!(whole.contains(hidden), "{way} {text:?}: {whole}");
            let last = scene.notes.last_sequence().unwrap();
            guest.apply_markdown(ApplyMarkdown::new(scene.document, markdown)).unwrap();
            assert_eq!(scene.notes.last_sequence().unwrap(), last, "{way} {text:?}");
        }
    }
}
