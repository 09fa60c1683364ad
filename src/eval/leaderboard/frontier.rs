//! What a judge costs against how often it is right, as a picture.

use plotters::prelude::*;

use super::super::plot::PlotError;
use super::{BoardRow, LAST, Leaderboard, RowKind};

/// Size of the picture in pixels.
const SIZE: (u32, u32) = (860, 560);

/// A judge in the picture.
struct Point {
    name: String,
    /// Dollars or tokens.
    cost: f64,
    /// First-error accuracy in percent, with its interval.
    accuracy: f64,
    low: f64,
    high: f64,
}

impl Leaderboard {
    /// An SVG picture: cost of all audits across, first-error accuracy with its interval up, a point a judge, the line
    /// of those that nothing cheaper beats, and, broken, what always naming the last span scores. Where no price is
    /// known at all, tokens stand for dollars; where some are, judges without one are counted in words.
    ///
    /// # Errors
    /// What the drawing library reports.
    pub fn frontier(&self) -> Result<String, PlotError> {
        let judged: Vec<&BoardRow> = self.rows.iter().filter(|row| row.kind == RowKind::Judged).collect();
        let priced = judged.iter().any(|row| dollars(row).is_some_and(|cost| cost > 0.0));
        let cost = |row: &BoardRow| {
            if priced {
                dollars(row)
            } else {
                row.spent.as_ref().map(|spent| spent.total_tokens as f64)
            }
        };
        let points: Vec<Point> = judged.iter().filter_map(|row| point(row, cost(row)?)).collect();
        let last = self
            .rows
            .iter()
            .find(|row| row.kind == RowKind::Trivial && row.model == LAST);
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            let picture = Picture {
                points: &points,
                last: last.map(|row| row.first_error_accuracy.value * 100.0),
                unit: if priced {
                    "cost of all audits (USD)"
                } else {
                    "tokens of all audits (no price is known)"
                },
                left_out: judged.len() - points.len(),
                title: format!("{}: cost against first-error accuracy", self.data),
            };
            picture
                .draw(&root)
                .map_err(|error| PlotError::Draw(error.to_string()))?;
            root.present().map_err(|error| PlotError::Draw(error.to_string()))?;
        }
        Ok(svg)
    }
}

fn dollars(row: &BoardRow) -> Option<f64> {
    let spent = row.spent.as_ref()?;
    // No call costs nothing.
    if spent.calls == 0 { Some(0.0) } else { spent.cost_usd }
}

fn point(row: &BoardRow, cost: f64) -> Option<Point> {
    let accuracy = row.first_error_accuracy.value * 100.0;
    let interval = row.first_error_accuracy.interval;
    cost.is_finite().then(|| Point {
        name: format!("{} / {}", row.model, row.method),
        cost,
        accuracy,
        low: interval.map_or(accuracy, |interval| interval.low * 100.0),
        high: interval.map_or(accuracy, |interval| interval.high * 100.0),
    })
}

/// The points that nothing as cheap or cheaper beats, cheapest first.
fn pareto(points: &[Point]) -> Vec<&Point> {
    let mut sorted: Vec<&Point> = points.iter().collect();
    sorted.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(b.accuracy.total_cmp(&a.accuracy)));
    let mut best = f64::NEG_INFINITY;
    sorted.retain(|point| {
        let better = point.accuracy > best;
        best = best.max(point.accuracy);
        better
    });
    sorted
}

struct Picture<'a> {
    points: &'a [Point],
    last: Option<f64>,
    unit: &'a str,
    left_out: usize,
    title: String,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

impl Picture<'_> {
    fn draw(&self, area: &Area<'_>) -> Result<(), Box<dyn std::error::Error>> {
        area.fill(&WHITE)?;
        let most = self.points.iter().map(|point| point.cost).fold(0.0, f64::max);
        let right = if most > 0.0 { most * 1.25 } else { 1.0 };
        let highest = self
            .points
            .iter()
            .map(|point| point.high)
            .chain(self.last)
            .fold(10.0, f64::max);
        let top = (highest * 1.15).min(104.0);
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 18))
            .margin(14)
            .margin_bottom(34)
            .x_label_area_size(40)
            .y_label_area_size(48)
            .build_cartesian_2d(-right * 0.03..right, 0.0..top)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_label_formatter(&|value: &f64| number(*value))
            .y_label_formatter(&|value: &f64| format!("{value:.0}"))
            .x_desc(self.unit)
            .y_desc("first-error accuracy (%), 95 % interval")
            .draw()?;
        let grey = BLACK.mix(0.55);
        if let Some(last) = self.last {
            let step = right / 60.0;
            let dashes = (0..60).step_by(2).map(f64::from);
            chart.draw_series(
                dashes.map(|at| PathElement::new(vec![(at * step, last), ((at + 1.0) * step, last)], grey)),
            )?;
            let words = format!("always the last span: {last:.1}");
            chart.draw_series([Text::new(
                words,
                (right * 0.62, last + top * 0.035),
                ("sans-serif", 12).into_font().color(&grey),
            )])?;
        }
        // Up at the cost where the better judge begins: in between, the cheaper one is the best to be had.
        let mut line: Vec<(f64, f64)> = Vec::new();
        for point in pareto(self.points) {
            if let Some((_, before)) = line.last().copied() {
                line.push((point.cost, before));
            }
            line.push((point.cost, point.accuracy));
        }
        chart.draw_series([PathElement::new(line, RGBColor(0, 114, 178).stroke_width(2))])?;
        for point in self.points {
            let ink = RGBColor(213, 94, 0);
            chart.draw_series([PathElement::new(
                vec![(point.cost, point.low), (point.cost, point.high)],
                ink,
            )])?;
            chart.draw_series([Circle::new((point.cost, point.accuracy), 5, ink.filled())])?;
            let place = (point.cost + right * 0.012, point.accuracy + top * 0.02);
            chart.draw_series([Text::new(
                point.name.clone(),
                place,
                ("sans-serif", 12).into_font().color(&BLACK),
            )])?;
        }
        if self.left_out > 0 {
            let words = format!("not in the picture: {} without a known price", self.left_out);
            let height = i32::try_from(SIZE.1).unwrap_or(i32::MAX);
            area.draw(&Text::new(
                words,
                (14, height - 22),
                ("sans-serif", 12).into_font().color(&grey),
            ))?;
        }
        Ok(())
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 10_000.0 => format!("{:.0}k", value / 1000.0),
        size if size >= 10.0 || size == 0.0 => format!("{value:.0}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(cost: f64, accuracy: f64) -> Point {
        Point {
            name: String::new(),
            cost,
            accuracy,
            low: accuracy,
            high: accuracy,
        }
    }

    #[test]
    fn the_line_holds_what_nothing_cheaper_beats() {
        let points = [
            point(3.0, 20.0),
            point(1.0, 10.0),
            point(2.0, 25.0),
            point(1.0, 12.0),
            point(4.0, 25.0),
            point(5.0, 26.0),
        ];
        let line: Vec<(f64, f64)> = pareto(&points)
            .iter()
            .map(|point| (point.cost, point.accuracy))
            .collect();
        assert_eq!(line, [(1.0, 12.0), (2.0, 25.0), (5.0, 26.0)]);
    }
}
