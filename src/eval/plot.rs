//! Where judges see the first error against where it is, as a picture.

use std::collections::BTreeMap;

use plotters::prelude::*;

use super::cases::CaseSet;
use super::predictions::{Prediction, Status};

/// Size of one judge's panel in pixels.
const PANEL: (u32, u32) = (480, 520);
/// Greatest position that gets a place of its own; runs beyond are left out and counted.
const FARTHEST: u32 = 60;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The drawing library failed.
    #[error("{0}")]
    Draw(String),
}

/// What one panel shows.
struct Panel<'a> {
    name: &'a str,
    /// Runs at (position of the first gold span, of the first predicted span), from 1.
    points: BTreeMap<(u32, u32), u32>,
    unanswered: u32,
    nothing_named: u32,
    beyond: u32,
}

/// An SVG picture with a panel a judge: the position of the first gold span across, of the first
/// predicted span up (both from 1), a circle's area by the number of runs; circles on the diagonal
/// are right. Runs that cannot be placed are counted in words below.
///
/// # Errors
/// What the drawing library reports.
pub fn first_errors(cases: &CaseSet, predictions: &[Prediction]) -> Result<String, PlotError> {
    let panels: Vec<Panel<'_>> = predictions.iter().map(|prediction| panel(cases, prediction)).collect();
    let most = panels
        .iter()
        .flat_map(|panel| panel.points.keys())
        .map(|(a, b)| *a.max(b))
        .max()
        .unwrap_or(1);
    let columns = panels.len().clamp(1, 3);
    let rows = panels.len().div_ceil(columns).max(1);
    let size = |count: usize, pixels: u32| u32::try_from(count).unwrap_or(1).saturating_mul(pixels);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (size(columns, PANEL.0), size(rows, PANEL.1))).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        for (panel, area) in panels.iter().zip(root.split_evenly((rows, columns))) {
            draw(panel, most, &area).map_err(failed)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

fn failed(error: impl std::fmt::Display) -> PlotError {
    PlotError::Draw(error.to_string())
}

fn panel<'a>(cases: &CaseSet, prediction: &'a Prediction) -> Panel<'a> {
    let mut panel = Panel {
        name: &prediction.name,
        points: BTreeMap::new(),
        unanswered: 0,
        nothing_named: 0,
        beyond: 0,
    };
    for (case, answer) in cases.cases().iter().zip(&prediction.answers) {
        if answer.status != Status::Ok {
            panel.unanswered += 1;
            continue;
        }
        let place = |marks| {
            case.first(marks)
                .filter(|mark| case.span_count().is_some() && case.is_span(*mark))
        };
        match (place(&case.gold), place(&answer.marks)) {
            (Some(gold), Some(predicted)) if gold < FARTHEST && predicted < FARTHEST => {
                *panel.points.entry((gold + 1, predicted + 1)).or_insert(0) += 1;
            }
            (Some(_), Some(_)) => panel.beyond += 1,
            _ => panel.nothing_named += 1,
        }
    }
    panel
}

type Area<'a, 'b> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw(panel: &Panel<'_>, most: u32, area: &Area<'_, '_>) -> Result<(), Box<dyn std::error::Error>> {
    let top = f64::from(most) + 0.8;
    let words = format!(
        "not in the picture: {} without a prediction, {} where one side names no span, {} beyond position {FARTHEST}",
        panel.unanswered, panel.nothing_named, panel.beyond
    );
    let height = i32::try_from(PANEL.1).unwrap_or(i32::MAX);
    area.draw(&Text::new(
        words,
        (12, height - 20),
        ("sans-serif", 11).into_font().color(&BLACK.mix(0.7)),
    ))?;
    let mut chart = ChartBuilder::on(area)
        .caption(panel.name, ("sans-serif", 18))
        .margin(12)
        .margin_bottom(30)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(0.2..top, 0.2..top)?;
    let whole = |value: &f64| format!("{value:.0}");
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(most.min(12) as usize)
        .y_labels(most.min(12) as usize)
        .x_label_formatter(&whole)
        .y_label_formatter(&whole)
        .x_desc("first harmful span: gold (position)")
        .y_desc("predicted (position)")
        .draw()?;
    let diagonal = vec![(0.2, 0.2), (top, top)];
    chart.draw_series([PathElement::new(diagonal, BLACK.mix(0.3))])?;
    let largest = f64::from(panel.points.values().copied().max().unwrap_or(1));
    let cell = 400.0 / f64::from(most + 1);
    let radius = |count: u32| {
        (cell.min(40.0) / 2.0 * (f64::from(count) / largest).sqrt())
            .max(1.5)
            .round() as i32
    };
    chart.draw_series(panel.points.iter().map(|((gold, predicted), count)| {
        let colour = if gold == predicted {
            RGBColor(0, 114, 178)
        } else {
            RGBColor(213, 94, 0)
        };
        Circle::new(
            (f64::from(*gold), f64::from(*predicted)),
            radius(*count),
            colour.mix(0.75).filled(),
        )
    }))?;
    Ok(())
}

#[cfg(test)]
#[path = "plot/tests.rs"]
mod tests;
