//! Pictures of a space in text: its growth, its largest documents, and its changes as a calendar.

use std::collections::BTreeMap;

use leafbase::bulk::{self, StoredDocument};
use leafbase::{Connection, Day, DocumentId, Timestamp};

use crate::days;
use crate::error::CliResult;
use crate::out::Out;
use crate::show::line::{self, number};
use crate::show::styles;
use crate::show::table::{self, Cell};

/// Weeks of the calendar at most, the current one included.
const MAX_WEEKS: usize = 53;
/// Months of the growth.
const MONTHS: usize = 12;
/// Documents in the list of the largest ones.
const MAX_LARGEST: usize = 5;
/// Columns of the longest bar.
const BAR_COLUMNS: u64 = 40;
/// Signs of the calendar, from no change to most.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// What the pictures show.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpacePlot {
    #[serde(skip)]
    today: Day,
    growth: Vec<MonthGrowth>,
    largest: Vec<DocumentSize>,
    activity: Vec<DayActivity>,
}

/// The documents at the end of a month, by the creation of those that exist.
#[derive(Debug, serde::Serialize)]
struct MonthGrowth {
    month: String,
    documents: u64,
}

#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct DocumentSize {
    document_id: DocumentId,
    title: String,
    blocks: u64,
}

/// The changes of a day in the time zone of the space.
#[derive(Debug, serde::Serialize)]
struct DayActivity {
    day: Day,
    changes: u64,
}

impl SpacePlot {
    /// Reads the record of every document and the whole change log.
    pub(crate) fn read(notes: &Connection) -> CliResult<Self> {
        let (zone, today) = (days::zone(notes)?, days::today(notes)?);
        let day = |at: Timestamp| days::day_in(&zone, at);
        let (mut months, mut largest) = (BTreeMap::<String, u64>::new(), Vec::new());
        let documents = notes.documents()?.0;
        bulk::read(notes, |view| {
            for document in documents {
                *months.entry(month(day(document.created_at()))).or_default() += 1;
                let (document_id, title) = (document.id(), document.title);
                // Deleted after the list was read, it is none of the largest.
                if let Some(StoredDocument { blocks, .. }) = view.document(document_id)? {
                    largest.push(DocumentSize { document_id, title, blocks });
                }
            }
            Ok(())
        })?;
        largest.sort_by(|one, two| {
            let names = one.title.cmp(&two.title).then(one.document_id.cmp(&two.document_id));
            two.blocks.cmp(&one.blocks).then(names)
        });
        largest.truncate(MAX_LARGEST);
        let mut changes = BTreeMap::<Day, u64>::new();
        for change in notes.changes_since(notes.log_begins_at()?) {
            *changes.entry(day(change?.stamp.at)).or_default() += 1;
        }
        let activity =
            changes.into_iter().map(|(day, changes)| DayActivity { day, changes }).collect();
        Ok(Self { today, growth: growth(&months, today), largest, activity })
    }

    pub(crate) fn write(&self, out: &mut Out) -> CliResult<()> {
        let bars = |out: &mut Out, rows: Vec<(String, u64)>| {
            let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
            let cells = rows.iter().map(|(name, count)| {
                let bar = bar(*count, most);
                vec![Cell::new(name), Cell::new(format!("{bar} {}", number(*count)))]
            });
            table::write(out, &cells.collect::<Vec<_>>())
        };
        heading(out, "Documents by month")?;
        let months = self.growth.iter().map(|it| (it.month.clone(), it.documents));
        bars(out, months.collect())?;
        heading(out, "Largest documents, in blocks")?;
        bars(out, self.largest.iter().map(|it| (it.title.clone(), it.blocks)).collect())?;
        heading(out, "Changes by day")?;
        let weeks = out.width().saturating_sub(4).min(MAX_WEEKS);
        let counts: BTreeMap<Day, u64> =
            self.activity.iter().map(|it| (it.day, it.changes)).collect();
        for line in calendar(&counts, self.today, weeks) {
            out.line(line)?;
        }
        let legend = SHADES.map(String::from).join(" ");
        out.line(out.paint(styles::QUIET, format_args!("    none {legend} most")))
    }
}

fn heading(out: &mut Out, text: &str) -> CliResult<()> {
    out.line(format_args!("\n{}", out.paint(styles::TITLE, text)))
}

fn month(day: Day) -> String {
    format!("{:04}-{:02}", day.year(), day.month())
}

/// The last months, the current one included, with the documents at the end of each.
fn growth(created: &BTreeMap<String, u64>, today: Day) -> Vec<MonthGrowth> {
    let last = usize::from(today.year()) * 12 + usize::from(today.month()) - 1;
    let months = (last.saturating_sub(MONTHS - 1)..=last)
        .map(|month| format!("{:04}-{:02}", month / 12, month % 12 + 1));
    let total = |until: &String| created.range(..=until.clone()).map(|(_, count)| count).sum();
    months.map(|month| MonthGrowth { documents: total(&month), month }).collect()
}

fn bar(count: u64, most: u64) -> String {
    let columns = (count * BAR_COLUMNS).div_ceil(most.max(1));
    "█".repeat(usize::try_from(columns).unwrap_or(0))
}

/// A line per weekday and a column per week, after the months in which the weeks begin.
fn calendar(changes: &BTreeMap<Day, u64>, today: Day, weeks: usize) -> Vec<String> {
    // 1970-01-01 was a Thursday, three days after a Monday.
    let monday = today.epoch_days() - (today.epoch_days() + 3).rem_euclid(7);
    let first = monday - 7 * (i64::try_from(weeks).unwrap_or(0) - 1);
    let most = changes.range(Day::from_epoch_days(first)..).map(|(_, count)| *count).max();
    let day = |week: usize, weekday: i64| first + 7 * i64::try_from(week).unwrap_or(0) + weekday;
    let mut months = String::from("    ");
    for week in 0..weeks {
        let begins = Day::from_epoch_days(day(week, 6));
        let is_free = line::width(&months) <= week + 4;
        let is_new = week == 0 || Day::from_epoch_days(day(week - 1, 6)).month() != begins.month();
        if is_free && is_new && week + 3 <= weeks {
            months += MONTH_NAMES.get(usize::from(begins.month()) - 1).unwrap_or(&"");
        } else if is_free {
            months.push(' ');
        }
    }
    let mut lines = vec![months.trim_end().to_owned()];
    for (weekday, name) in ["Mon", "   ", "Wed", "   ", "Fri", "   ", "Sun"].iter().enumerate() {
        let mut shown = format!("{name} ");
        for week in 0..weeks {
            let at = day(week, i64::try_from(weekday).unwrap_or(0));
            if at <= today.epoch_days() {
                let count = changes.get(&Day::from_epoch_days(at)).copied().unwrap_or(0);
                shown.push(shade(count, most.unwrap_or(0)));
            }
        }
        lines.push(shown.trim_end().to_owned());
    }
    lines
}

const MONTH_NAMES: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The sign of a count: the first one for none, the last one for the highest count.
fn shade(count: u64, most: u64) -> char {
    let level = (count * 4).div_ceil(most.max(1));
    SHADES.get(usize::try_from(level).unwrap_or(4)).copied().unwrap_or('█')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shaded_by_day() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        let counts = [("2026-02-28", 4), ("2026-03-01", 1), ("2026-03-02", 2), ("2026-03-11", 3)];
        let counts = counts.into_iter().map(|(at, count)| (day(at), count)).collect();
        assert_eq!(
            calendar(&counts, day("2026-03-12"), 4),
            [
                "    Feb",
                "Mon ··▒·",
                "    ····",
                "Wed ···▓",
                "    ····",
                "Fri ···",
                "    ·█·",
                "Sun ·░·"
            ]
        );
    }

    #[test]
    fn growth_ends_with_the_current_month() {
        let created = [("2020-01", 3), ("2026-01", 2)];
        let created = created.into_iter().map(|(month, count)| (month.to_owned(), count)).collect();
        let months = growth(&created, "2026-02-03".parse().unwrap());
        let shown: Vec<_> = months.iter().map(|it| (it.month.as_str(), it.documents)).collect();
        assert_eq!((shown.len(), shown[0]), (12, ("2025-03", 3)));
        assert_eq!(shown[9..], [("2025-12", 3), ("2026-01", 5), ("2026-02", 5)]);
        assert_eq!([bar(0, 5), bar(1, 40), bar(1, 400)], ["", "█", "█"]);
    }
}
