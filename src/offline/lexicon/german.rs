//! German.

use super::{Cue, Row};

/// Cue and phrases, parted by bars.
pub(super) const ROWS: &[Row] = &[
    (
        Cue::Commit,
        "bestätigt|verifiziert|eindeutig|steht fest|zweifellos|muss also|damit ist klar",
    ),
    (
        Cue::Answer,
        "die antwort ist|die antwort lautet|endgültige antwort|antwort:",
    ),
    (
        Cue::Hedge,
        "vielleicht|möglicherweise|könnte|scheint|wahrscheinlich|vermutlich|ich glaube|eventuell|wohl|\
         nicht sicher",
    ),
    (
        Cue::Plan,
        "ich werde|ich muss|ich suche|lass mich|als nächstes|zunächst suche|ich sollte",
    ),
    (Cue::Negation, "nicht|kein|keine|keinen|nie|nichts|ohne|weder"),
    (
        Cue::Cite,
        "laut|gemäß|artikel|seite|dokument|ergebnis|ergebnisse|quelle|eintrag|treffer|suche ergab",
    ),
    (
        Cue::Asserts,
        "laut|gemäß|sagt|nennt|gibt|zeigt|steht|erwähnt|ergab|lieferte|führt|bestätigt|verzeichnet|zufolge",
    ),
    (
        Cue::Deictic,
        "die suche|diese suche|die ergebnisse|lieferte|die abfrage|das werkzeug|der treffer",
    ),
    (
        Cue::Finding,
        "gefunden|finden|genannt|angegeben|erwähnt|steht|zeigt|hervor|angabe|ergab",
    ),
    (
        Cue::GiveUp,
        "nicht feststellbar|lässt sich nicht|konnte nicht|nicht gefunden|weiß ich nicht|unbekannt|\
         keine angabe|nicht ermittelbar",
    ),
    (
        Cue::Correction,
        "korrektur|berichtigung|ich meinte|vertippt|verschrieben|mein fehler|entschuldigung|irrtum",
    ),
    (Cue::Reject, "könnte man sagen|ist falsch|stimmt nicht|anstatt|statt"),
    (
        Cue::Noticed,
        "fehlgeschlagen|fehler|zeitüberschreitung|keine ergebnisse|keine treffer|erneut|noch einmal|leer|\
         aus dem gedächtnis",
    ),
    (Cue::Conclude, "also|daher|somit|folglich|deshalb|demnach|damit"),
    (
        Cue::Difference,
        "differenz|unterschied|dazwischen|später|früher|älter|jünger|minus|im alter von|liegen",
    ),
    (Cue::Rounded, "etwa|rund|ungefähr|knapp|fast|circa|gerundet|mehr als"),
    (Cue::Sum, "zusammen|insgesamt|summe|addiert|plus"),
];
