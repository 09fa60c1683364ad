//! French.

use super::{Cue, Row};

/// Cue and phrases, parted by bars.
pub(super) const ROWS: &[Row] = &[
    (
        Cue::Commit,
        "vérifié|confirmé|confirme|clairement|sans aucun doute|doit être|il est clair",
    ),
    (Cue::Answer, "la réponse est|réponse finale|réponse :|réponse:"),
    (
        Cue::Hedge,
        "peut-être|possible|pourrait|semble|probablement|je crois|sans doute|il se peut|pas sûr",
    ),
    (
        Cue::Plan,
        "je vais|je dois|il faut|cherchons|je cherche|ensuite je|d'abord je",
    ),
    (
        Cue::Cite,
        "selon|d'après|article|page|document|résultat|résultats|source|fiche|la recherche",
    ),
    (
        Cue::Asserts,
        "selon|d'après|dit|indique|montre|donne|mentionne|précise|a renvoyé|confirme|cite|affirme",
    ),
    (
        Cue::Deictic,
        "la recherche|cette recherche|les résultats|a renvoyé|la requête|l'outil",
    ),
    (
        Cue::Finding,
        "trouvé|trouver|indique|mentionne|mentionné|figure|montre|précise|donne|information",
    ),
    (
        Cue::GiveUp,
        "impossible de|je ne sais pas|introuvable|inconnu|n'a pas pu|n'ai pas trouvé|non disponible|\
         indéterminé",
    ),
    (
        Cue::Correction,
        "correction|je me suis trompé|je voulais dire|coquille|rectification|pardon|erreur de ma part",
    ),
    (
        Cue::Reject,
        "on pourrait dire|est faux|est fausse|est inexact|au lieu de|plutôt que",
    ),
    (
        Cue::Noticed,
        "échoué|erreur|délai|aucun résultat|à nouveau|réessaie|vide|de mémoire",
    ),
    (Cue::Conclude, "donc|ainsi|par conséquent|dès lors|alors"),
    (Cue::Sum, "au total|ensemble|somme|additionnant|plus|en tout"),
    (
        Cue::Difference,
        "différence|entre eux|entre les deux|moins|plus tard|plus tôt|à l'âge de|écart",
    ),
    (Cue::Rounded, "environ|près de|presque|à peu près|autour de|arrondi"),
    (Cue::Negation, "ne|pas|jamais|aucun|aucune|rien|sans|ni"),
];
