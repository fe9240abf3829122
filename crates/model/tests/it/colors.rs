//! Colours: readable on both papers, of the same hue, no further from the given one than needed.

use leafbase_model::Color;
use palette::convert::FromColorUnclamped;
use palette::{IntoColor, LinSrgb, Oklch, Srgb};
use proptest::prelude::*;

const WHITE: Color = Color::from_rgb([0xff; 3]);
const DARK: Color = Color::from_rgb([0x1e; 3]);

/// How a colour is shown on a paper.
type Variant = fn(Color) -> Color;
const LIGHT_AND_DARK: [(Variant, Color); 2] = [(Color::light, WHITE), (Color::dark, DARK)];

/// Chroma of OKLCH below which a colour counts as grey: there a step of one of eight bits turns the
/// hue by any angle.
const GREY: f64 = 0.02;
/// Half a step of eight bits moves a colour by at most so much at right angles to its hue, in
/// OKLAB.
const ACROSS: f64 = 0.002;
/// At the lightness that is reached, sRGB has at least so much chroma of every hue.
const SHOWN_CHROMA: f64 = 0.095;
/// The contrast that one more step of eight bits may bring beyond 4.5.
const STEP: f64 = 0.06;

fn oklch(color: Color) -> Oklch<f64> {
    let [r, g, b] = color.to_rgb();
    Srgb::new(r, g, b).into_format::<f64>().into_linear().into_color()
}

/// Degrees between the hues of two colours.
fn turned(a: Oklch<f64>, b: Oklch<f64>) -> f64 {
    (a.hue - b.hue).into_degrees().abs()
}

/// Every fifth value of each part, and every 17th, of which the 216 web colours are: black, white
/// and greys among both.
fn sampled_cube() -> impl Iterator<Item = Color> {
    [5, 17].into_iter().flat_map(|step| {
        let parts = move || (0..=255_u8).step_by(step);
        parts().flat_map(move |r| {
            parts().flat_map(move |g| parts().map(move |b| Color::from_rgb([r, g, b])))
        })
    })
}

fn web_colors() -> impl Iterator<Item = Color> {
    let parts = || (0..=255_u8).step_by(51);
    parts().flat_map(move |r| {
        parts().flat_map(move |g| parts().map(move |b| Color::from_rgb([r, g, b])))
    })
}

fn greys() -> impl Iterator<Item = Color> {
    (0..=255_u8).map(|part| Color::from_rgb([part; 3]))
}

/// What is wrong with how `color` is shown.
fn fault(variant: Variant, paper: Color, color: Color) -> Option<&'static str> {
    let shown = variant(color);
    let contrast = shown.contrast(paper);
    if contrast < 4.5 {
        return Some("it cannot be read");
    }
    if color.contrast(paper) >= 4.5 {
        return (shown != color).then_some("it could be read as it was");
    }
    let (from, to) = (oklch(color), oklch(shown));
    let chroma = from.chroma.min(to.chroma);
    // An angle of a degree is 0.0175 of the chroma: at most 5.7 degrees at a chroma of 0.02, 1.2 at
    // 0.1.
    if chroma > GREY && turned(from, to).to_radians() * chroma > ACROSS {
        return Some("its hue is another");
    }
    if to.chroma < from.chroma.min(SHOWN_CHROMA) - 2.0 * ACROSS
        || to.chroma > from.chroma + 2.0 * ACROSS
    {
        return Some("its chroma is another");
    }
    if contrast > 4.5 + STEP {
        return Some("it went further than needed");
    }
    (variant(shown) != shown).then_some("shown again it is another")
}

fn faults(variant: Variant, paper: Color, colors: impl Iterator<Item = Color>) -> Vec<String> {
    let found = |color| {
        fault(variant, paper, color).map(|fault| format!("{color} as {}: {fault}", variant(color)))
    };
    colors.filter_map(found).collect()
}

#[test]
fn both_variants_can_be_read_keep_the_hue_and_go_no_further_than_needed() {
    for (variant, paper) in LIGHT_AND_DARK {
        assert_eq!(faults(variant, paper, sampled_cube()), [""; 0]);
        assert_eq!(faults(variant, paper, greys()), [""; 0]);
        assert_eq!(faults(variant, paper, web_colors()), [""; 0]);
    }
}

#[test]
fn variants_that_break_one_of_these_are_found() {
    let wrong: [(Variant, &str); 5] = [
        (|color| color, "it cannot be read"),
        (|_| Color::from_rgb([0; 3]), "it could be read as it was"),
        (
            |color| if color.contrast(WHITE) < 4.5 { Color::from_rgb([0; 3]) } else { color },
            "its chroma is another",
        ),
        (
            |color| if color == color.light() { color } else { swapped(color.light()) },
            "its hue is another",
        ),
        (
            |color| if color == color.light() { color } else { dimmed(color.light()) },
            "it went further than needed",
        ),
    ];
    for (variant, fault) in wrong {
        let found = faults(variant, WHITE, web_colors());
        assert!(found.iter().any(|found| found.ends_with(fault)), "{fault}: {found:?}");
    }
}

/// Red and blue changed with each other.
fn swapped(color: Color) -> Color {
    let [r, g, b] = color.to_rgb();
    Color::from_rgb([b, g, r]).light()
}

/// The same hue and chroma, a little darker.
fn dimmed(color: Color) -> Color {
    let Oklch { l, chroma, hue } = oklch(color);
    shown_by_palette(l - 0.02, chroma, hue.into_degrees())
}

/// The colour of this lightness and hue with as much of the chroma as sRGB can show, by another
/// implementation.
fn shown_by_palette(l: f64, chroma: f64, hue: f64) -> Color {
    let at = |share: f64| LinSrgb::<f64>::from_color_unclamped(Oklch::new(l, chroma * share, hue));
    let fits = |share: f64| {
        let rgb = at(share);
        [rgb.red, rgb.green, rgb.blue].iter().all(|part| (-0.000_5..=1.000_5).contains(part))
    };
    let (mut shown, mut beyond) = if fits(1.0) { (1.0, 1.0) } else { (0.0, 1.0) };
    while beyond - shown > 1e-4 {
        let share = f64::midpoint(shown, beyond);
        if fits(share) { shown = share } else { beyond = share }
    }
    let rgb = Srgb::<f64>::from_linear(at(shown)).into_format::<u8>();
    Color::from_rgb([rgb.red, rgb.green, rgb.blue])
}

/// The first colour that can be read on the way from `color` towards black or white.
fn first_readable(color: Color, paper: Color) -> Color {
    let Oklch { l, chroma, hue } = oklch(color);
    let step = if paper == WHITE { -0.001 } else { 0.001 };
    let path = (0..=1_000_u16)
        .map(|number| shown_by_palette(l + step * f64::from(number), chroma, hue.into_degrees()));
    path.into_iter().find(|shown| shown.contrast(paper) >= 4.5).unwrap()
}

#[test]
fn no_colour_on_the_way_could_be_read_before() {
    for (variant, paper) in LIGHT_AND_DARK {
        let unreadable = |color: &Color| color.contrast(paper) < 4.5;
        for color in web_colors().chain(greys().step_by(5)).filter(unreadable) {
            let (shown, first) = (variant(color), first_readable(color, paper));
            let apart = (oklch(shown).l - oklch(first).l).abs();
            assert!(apart < 0.003, "{color} as {shown}, but {first} can be read");
        }
    }
}

#[test]
fn known_contrasts() {
    for (a, b, ratio) in
        [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.478), ("#ff0000", "#ffffff", 3.998)]
    {
        let (a, b): (Color, Color) = (a.parse().unwrap(), b.parse().unwrap());
        assert!((a.contrast(b) - ratio).abs() < 0.001, "{a} on {b}: {}", a.contrast(b));
        assert!((b.contrast(a) - ratio).abs() < 0.001);
    }
}

#[test]
fn only_seven_characters_are_a_colour() {
    for wrong in [
        "", "#", "#fff", "ffffff", "#GGG", "#gggggg", "#ffffff0", "#+fffff", " #ffffff",
        "#ffffff ", "#ﬀffff", "red",
    ] {
        let message = wrong.parse::<Color>().unwrap_err().message().to_owned();
        assert_eq!(message, format!("expected a color #rrggbb, got {wrong:?}"));
    }
}

proptest! {
    #[test]
    fn text_round_trip(rgb: [u8; 3], upper: bool) {
        let color = Color::from_rgb(rgb);
        let text = if upper { color.to_string().to_uppercase() } else { color.to_string() };
        prop_assert_eq!(text.parse::<Color>().unwrap(), color);
    }
}
