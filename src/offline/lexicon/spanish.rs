//! Spanish.

use super::{Cue, Row};

/// Cue and phrases, parted by bars.
pub(super) const ROWS: &[Row] = &[
    (
        Cue::Commit,
        "verificado|confirmado|confirma|claramente|sin duda|debe ser|queda claro",
    ),
    (Cue::Answer, "la respuesta es|respuesta final|respuesta:"),
    (
        Cue::Hedge,
        "quizás|quizá|tal vez|posiblemente|podría|parece|probablemente|creo que|supongo|puede que|\
         no estoy segur",
    ),
    (
        Cue::Plan,
        "voy a|vamos a|necesito|debo|buscaré|a continuación busco|primero busco",
    ),
    (Cue::Negation, "no|nunca|ningún|ninguna|ninguno|nada|sin|tampoco"),
    (
        Cue::Cite,
        "según|artículo|página|documento|resultado|resultados|fuente|ficha|dice que|la búsqueda",
    ),
    (
        Cue::Asserts,
        "según|dice|indica|muestra|señala|menciona|afirma|devolvió|da|recoge|figura|consta|confirma",
    ),
    (
        Cue::Deictic,
        "la búsqueda|esa búsqueda|los resultados|devolvió|la consulta|la herramienta",
    ),
    (
        Cue::Finding,
        "encontrar|encontrado|aparece|indica|menciona|consta|figura|muestra|revela|información",
    ),
    (
        Cue::GiveUp,
        "no se puede determinar|no pude encontrar|no encontré|no lo sé|desconocido|no es posible|\
         no disponible|no consta",
    ),
    (
        Cue::Correction,
        "corrección|me equivoqué|corrijo|quise decir|errata|perdón",
    ),
    (
        Cue::Reject,
        "podría decirse|es falso|es erróneo|no es cierto|en lugar de|en vez de",
    ),
    (
        Cue::Noticed,
        "falló|error|tiempo de espera|sin resultados|reintento|de nuevo|vacío|de memoria",
    ),
    (
        Cue::Conclude,
        "por tanto|por lo tanto|así que|entonces|en consecuencia|luego",
    ),
    (
        Cue::Difference,
        "diferencia|entre ellos|entre ambos|menos|después|antes|restando|a la edad de",
    ),
    (
        Cue::Rounded,
        "aproximadamente|unos|unas|casi|alrededor|cerca de|redondeado",
    ),
    (Cue::Sum, "en total|suman|suma|juntos|sumando|más"),
];
