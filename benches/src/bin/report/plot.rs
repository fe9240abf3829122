//! Bars of ratios on a logarithmic axis, from 1 to the left and to the right.

use benches::ratio::Ratio;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::path::Path;

/// A line of a plot.
pub struct Row {
    pub name: String,
    pub ratio: Ratio,
    pub bar: Option<f64>,
    /// The same of somebody else.
    pub other: Option<f64>,
}

pub struct Plot {
    pub title: String,
    /// What the axis means.
    pub below: &'static str,
    /// Who the other is.
    pub other: Option<&'static str>,
    pub rows: Vec<Row>,
}

type Outcome = Result<(), Box<dyn Error>>;
type Root<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<LogCoord<f64>, RangedCoordf64>>;

const WIDTH: u32 = 960;
const NAMES: i32 = 370;
const ROW: u32 = 20;
const TOP: u32 = 62;
const BELOW: u32 = 46;

const TICKS: [f64; 17] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0,
    200.0,
];

/// Told apart whatever colours one sees, on white: the background is drawn, as pages may be dark.
const MET: RGBColor = RGBColor(0, 114, 178);
const MISSED: RGBColor = RGBColor(213, 94, 0);
const FREE: RGBColor = RGBColor(150, 150, 150);
const FAINT: RGBColor = RGBColor(225, 225, 225);

fn text(size: u32, across: HPos) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(across, VPos::Center))
}

impl Row {
    fn color(&self) -> RGBColor {
        match self.bar {
            Some(bar) if self.ratio.median <= bar => MET,
            Some(_) => MISSED,
            None => FREE,
        }
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        let Ratio { median, low, high } = self.ratio;
        [median, low, high].into_iter().chain(self.bar).chain(self.other)
    }
}

impl Plot {
    /// Writes it as SVG.
    pub fn draw(&self, path: &Path) -> Outcome {
        let height = TOP + BELOW + ROW * self.rows.len() as u32;
        let root = SVGBackend::new(path, (WIDTH, height)).into_drawing_area();
        root.fill(&WHITE)?;
        root.draw_text(&self.title, &text(17, HPos::Left), (14, 18))?;
        self.legend(&root)?;
        let mut chart = ChartBuilder::on(&root)
            .margin_left(NAMES)
            .margin_right(24)
            .margin_top(TOP)
            .margin_bottom(BELOW)
            .build_cartesian_2d(self.range().log_scale(), 0.0..self.rows.len() as f64)?;
        self.grid(&root, &mut chart)?;
        for (at, row) in self.rows.iter().enumerate() {
            draw_row(&root, &mut chart, row, (self.rows.len() - 1 - at) as f64)?;
        }
        chart.draw_series([PathElement::new(
            [(1.0, 0.0), (1.0, self.rows.len() as f64)],
            BLACK.stroke_width(1),
        )])?;
        let middle = (NAMES + WIDTH as i32 - 24) / 2;
        root.draw_text(self.below, &text(12, HPos::Center), (middle, height as i32 - 12))?;
        Ok(root.present()?)
    }

    /// Lines at round numbers: the crate's own are too many of a wide range, and too few of a
    /// narrow one.
    fn grid(&self, root: &Root<'_>, chart: &mut Chart<'_, '_>) -> Outcome {
        let (range, top) = (self.range(), self.rows.len() as f64);
        for tick in TICKS.into_iter().filter(|tick| range.contains(tick)) {
            chart.draw_series([PathElement::new(
                [(tick, 0.0), (tick, top)],
                FAINT.stroke_width(1),
            )])?;
            let (x, y) = chart.backend_coord(&(tick, 0.0));
            root.draw_text(&tick.to_string(), &text(12, HPos::Center), (x, y + 12))?;
        }
        Ok(())
    }

    /// From the least to the most of what is shown, and 1.
    fn range(&self) -> std::ops::Range<f64> {
        let values = || {
            self.rows.iter().flat_map(Row::values).filter(|value| value.is_finite() && *value > 0.0)
        };
        values().fold(0.8, f64::min) * 0.9..values().fold(1.25, f64::max) * 1.1
    }

    fn legend(&self, root: &Root<'_>) -> Outcome {
        let mut x = 14;
        let has = |color| self.rows.iter().any(|row| row.color() == color);
        for (color, name) in [(MET, "within its bar"), (MISSED, "above its bar"), (FREE, "no bar")]
        {
            if has(color) {
                root.draw(&Rectangle::new([(x, 36), (x + 12, 48)], color.filled()))?;
                root.draw_text(name, &text(12, HPos::Left), (x + 18, 42))?;
                x += 124;
            }
        }
        if has(MET) || has(MISSED) {
            root.draw(&PathElement::new([(x + 6, 34), (x + 6, 50)], BLACK.stroke_width(3)))?;
            root.draw_text("the bar", &text(12, HPos::Left), (x + 18, 42))?;
            x += 84;
        }
        if let Some(other) = self.other {
            root.draw(&Circle::new((x + 6, 42), 4, BLACK.stroke_width(2)))?;
            root.draw_text(other, &text(12, HPos::Left), (x + 18, 42))?;
            x += 84;
        }
        if self.rows.iter().any(|row| row.ratio.low < row.ratio.high) {
            root.draw(&PathElement::new([(x, 42), (x + 14, 42)], BLACK.stroke_width(1)))?;
            root.draw_text("lowest to highest round", &text(12, HPos::Left), (x + 20, 42))?;
        }
        Ok(())
    }
}

/// The row between `y` and `y + 1`.
fn draw_row(root: &Root<'_>, chart: &mut Chart<'_, '_>, row: &Row, y: f64) -> Outcome {
    let Ratio { median, low, high } = row.ratio;
    let (_, middle) = chart.backend_coord(&(1.0, y + 0.5));
    root.draw_text(&row.name, &text(12, HPos::Right), (NAMES - 52, middle))?;
    root.draw_text(&format!("{median:.2}"), &text(12, HPos::Right), (NAMES - 10, middle))?;
    chart
        .draw_series([Rectangle::new([(1.0, y + 0.2), (median, y + 0.8)], row.color().filled())])?;
    chart.draw_series([PathElement::new(
        [(low, y + 0.5), (high, y + 0.5)],
        BLACK.stroke_width(1),
    )])?;
    if let Some(bar) = row.bar {
        chart.draw_series([PathElement::new(
            [(bar, y + 0.08), (bar, y + 0.92)],
            BLACK.stroke_width(3),
        )])?;
    }
    if let Some(other) = row.other {
        chart.draw_series([Circle::new((other, y + 0.5), 4, BLACK.stroke_width(2))])?;
    }
    Ok(())
}
