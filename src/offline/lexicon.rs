//! Words that tell what a sentence does. A table row is a language, a cue and its phrases, parted by
//! bars; another language is more rows. Phrases are matched without case, at word boundaries where the phrase
//! begins or ends with a letter that has a case.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// What a phrase tells about the sentence it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Cue {
    /// States something as settled.
    Commit,
    /// Names an answer as the answer.
    Answer,
    /// Holds something as possible only.
    Hedge,
    /// Says what is to be done next.
    Plan,
    /// Says that something is not so.
    Negation,
    /// Points at a source or a result as the ground of what is said.
    Cite,
    /// Points at the result just returned.
    Deictic,
    /// Names failing to find, show or decide; giving up when negated or final.
    Finding,
    /// Gives up, by itself.
    GiveUp,
    /// Takes something back.
    Correction,
    /// Mentions a claim in order to reject it.
    Reject,
    /// Says that a call failed or came back empty.
    Noticed,
    /// Draws a conclusion.
    Conclude,
    /// Adds numbers up.
    Sum,
    /// Takes one number from another.
    Difference,
    /// Says that a number is not exact.
    Rounded,
    /// Speaks of the task, not of the world.
    Task,
    /// Data made up by the agent.
    Invented,
    /// Lets a condition go.
    Relax,
    /// Says what a source has: with [`Cue::Cite`], the sentence reports a source.
    Asserts,
}

/// The cues of one sentence as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cues(u32);

impl Cues {
    /// True when a phrase of this cue stands in the sentence.
    pub(super) fn has(self, cue: Cue) -> bool {
        self.0 & (1 << cue as u32) != 0
    }

    fn with(self, cue: Cue) -> Self {
        Self(self.0 | (1 << cue as u32))
    }
}

/// Language of a row, for readers of the table.
#[derive(Clone, Copy, Debug)]
enum Tongue {
    English,
    Chinese,
    Spanish,
    German,
    French,
}

type Row = (Tongue, Cue, &'static str);

const TABLE: &[Row] = &[
    (
        Tongue::English,
        Cue::Commit,
        "verified|confirmed|confirms|clearly|it is clear|is clear|must be|settles|settled|selected|i choose|\
         i take|i pick|completed|conclude|established|no doubt|definitely|indeed|certainly|proves|\
         determined that|identified|solved|found that",
    ),
    (
        Tongue::English,
        Cue::Answer,
        "the answer is|answer:|final answer|my answer|the answer to give|as the answer|give as the answer|\
         correct answer|answer should be|answer must be|is the answer|so the answer",
    ),
    (
        Tongue::English,
        Cue::Hedge,
        "might|maybe|perhaps|possibly|could be|may be|may have|seems|seem|appears to|likely|probably|i think|\
         i believe|i guess|not sure|unsure|uncertain|i recall|i remember|if i recall|suggests|suggest that|\
         presumably|assume so|tentative|tentatively|candidate|sounds like|could it|not certain|i suspect|\
         guess|apparently|potentially|whether|would be|can't tell|cannot tell yet|from memory|supposedly|\
         could the|could this|could that",
    ),
    (
        Tongue::English,
        Cue::Plan,
        "let me|let's|let us|i will|i'll|i need to|we need to|i should|we should|i must|i want to|i look|\
         i run|i search|i am going to|i'm going to|next i|next, i|next step|plan:|search for|look up|\
         to find out|to determine|need to find|to do this|we'll|we will|please|step 1|going to search|\
         next the|now the two|we can search|we can look|better to search|next steps|we can ask|\
         suggest conducting|could you|can you|try to|in order to|i would",
    ),
    (
        Tongue::English,
        Cue::Negation,
        "not|no|never|none|nothing|neither|nor|without|isn't|wasn't|aren't|weren't|don't|doesn't|didn't|\
         cannot|can't|couldn't|nowhere|hasn't|haven't|lacks|lacking|absent",
    ),
    (
        Tongue::English,
        Cue::Cite,
        "according to|per the|article|page|pages|document|documents|result|results|entry|entries|source|\
         sources|profile|biography|hit|hits|the text|its text|the record|snippet|passage|website|web page|\
         documentation|catalogue|database|ledger|the tool|lookup|the log|dataset|the output|the file|paper|\
         abstract|register|listing|gazetteer|the site|the notes|search|report|the table|transcript|citation|\
         i read|i found|as noted|reference|encyclopedia|wikipedia|the docs|the response|the query|archive|\
         census|the list",
    ),
    (
        Tongue::English,
        Cue::Asserts,
        "according to|per the|says|say|states|state|stated|notes|noted|reports|reported|lists|listed|gives|\
         gave|names|named|shows|showed|shown|records|recorded|puts|mentions|mentioned|describes|described|\
         places|place|has|have|had|indicates|confirms|confirmed|returned|returns|reads|tells|dates|credits|\
         calls|counts|specifies|identifies|attributes|quotes|cites|contains|contained|provides|provided|\
         explains|came up|came back|leaves no doubt|verify|verified|as noted|agrees|agree|matches|match|\
         in print|appears in|appear in|i read|i found|documented|adds|makes clear|settles|settle|carries|\
         writes|claims|traces|ranks|settled|brought|brings|produced|yielded|yields|found|turned up|turns up|\
         spells out|stands at|gave me|brought up|pulled up",
    ),
    (
        Tongue::English,
        Cue::Deictic,
        "that search|this search|the search|that result|this result|these results|those results|the results|\
         came up|came back|it returned|the tool|that call|the call|the query|that query|second query|top hit|\
         first hit|first result|just fetched|fetched|retrieved|returned|i received|received|the output|\
         these pages|these two|those two|that page|the response|the lookup|that lookup|i opened|opened|\
         downloaded|loaded|ran successfully|succeeded|completed|the first document|the documents",
    ),
    (
        Tongue::English,
        Cue::Finding,
        "find|found|state|stated|states|statement|record|recorded|records|reveal|revealed|reveals|show|shown|\
         shows|give|given|gives|mention|mentioned|mentions|name|named|names|establish|established|determine|\
         determined|available|answer|answered|index|say|says|tell|told|come up|came up|list|listed|lists|\
         known|confirm|confirmed|identify|identified|specify|specified|goes into|go into|cover|covers|\
         covered|source|sources|information|evidence|indicated|indicate|provide|provided|provides|contain|\
         contains|located|locate|resolve|resolved|decide|decided|settle|documented|came back|turned up|\
         turn up|detail|details|data|word of|trace",
    ),
    (
        Tongue::English,
        Cue::GiveUp,
        "unable to|cannot answer|can't answer|cannot be determined|could not be determined|cannot be found|\
         could not be found|could not find|couldn't find|i don't know|i do not know|not available|\
         unavailable in|undecided|unknown|no answer|not found|none found|leave this open|leave it open|\
         remains open|cannot determine|could not determine|couldn't determine|undetermined|\
         cannot be answered|impossible to say|no name found|inconclusive|insufficient information|\
         not enough information|no information|cannot say|give up|giving up|not specified|not stated|unclear|\
         cannot tell|no data|failed to find|no result found|not possible to|unresolved|unanswered|\
         no conclusive|not determinable|unable to establish|could not establish|could not be established|\
         could not be identified|no way to tell|cannot be established|cannot be confirmed|\
         could not be confirmed|no answer can be given|have no answer|lack the information|lacking a|\
         lacking the|does not allow an answer|must remain|without an answer|no such information|cannot give|\
         can't say|can't determine|cannot name|can give no|n/a|nothing was found|cannot supply|no basis",
    ),
    (
        Tongue::English,
        Cue::Correction,
        "correction|i mistyped|mistyped|i meant|i misread|misread|my mistake|was mistaken|i was wrong|typo|\
         scratch that|slip|i wrote|should have written|apologies|sorry|wrong paper|that was wrong|\
         was an error|correcting|to correct|i take that back|on second look|strike that|wrong figure|\
         wrong year|wrong name|actually reads|i mixed up|mixed up|correct that|let me correct|i correct|\
         should read|should be read|i stand corrected|i got that wrong|erratum|wrong one|misquoted|\
         mixed up the|i swapped|i confused|that figure was wrong|slip of|previous line|revise|on rereading|\
         rereading|in fact it reads|mix-up",
    ),
    (
        Tongue::English,
        Cue::Reject,
        "might say|may say|could say|is wrong|was wrong|not what|would be wrong|untrue|is false|be mistaken|\
         is not right|is incorrect|was incorrect|easy to write|contrary to|rather than|instead of|not the|\
         is not supported|set aside|rule out|ruled out|misleading|do not confuse|not to be confused|\
         does not hold|tempting|mistaken|is a mistake",
    ),
    (
        Tongue::English,
        Cue::Noticed,
        "timed out|time-out|timeout|failed|fails|error|gave me nothing|came back empty|empty result|\
         returned nothing|no result|no results|unavailable|did not work|didn't work|not run|no documents|\
         retry|try again|once more|same search again|rejected|rate limit|nothing came|returned no|\
         could not be reached|did not answer|down|from memory|own knowledge|general knowledge|without the|\
         was not run|no output|did not return|didn't return|did not come|came back with nothing|\
         came up empty|brought nothing|was empty|were empty|is empty|gave nothing|gave no|broke off|\
         could not load|could not open|not reachable|repeat the|second attempt|another attempt|run it again|\
         again with|once again|call failed|never ran|did not run|no usable|nothing usable|nothing back|\
         no answer came|was refused|was blocked|without a result|not get|cannot rely|not rely on",
    ),
    (
        Tongue::English,
        Cue::Conclude,
        "so|thus|therefore|hence|then|since|given that|which means|means that|it follows|consequently|\
         on the strength|going by|based on|accordingly|comparing|that places|this makes|as a result",
    ),
    (
        Tongue::English,
        Cue::Sum,
        "together|in total|total|totals|sum|summed|adding|added up|adds up|add up|altogether|combined|plus|\
         in all|adding up|the two come to|come to|comes to|overall",
    ),
    (
        Tongue::English,
        Cue::Difference,
        "difference|differ by|between them|apart|gap|subtract|subtracting|minus|less than|more than|later|\
         earlier|older|younger|longer|shorter|higher|lower|taller|heavier|lighter|larger|smaller|closer|\
         nearer|farther|further|aged|at the age of|age of|years old|lasted|elapsed|from the first|exceeds|\
         increase of|decrease of|grew by|fell by|rose by|lie between",
    ),
    (
        Tongue::English,
        Cue::Rounded,
        "about|around|roughly|approximately|approx|some|nearly|almost|over|rounded|nearest|a little|circa|\
         close to|just under|just over|more than|less than|under|at least|up to|bit under|bit over|or so|~|≈|\
         early|late",
    ),
    (
        Tongue::English,
        Cue::Task,
        "the question|question asks|the task|the user|we are asked|asked for|user asks|the problem asks|\
         the prompt",
    ),
    (
        Tongue::English,
        Cue::Invented,
        "simulated data|simulated dataset|simulate the|simulating|hypothetical data|hypothetical dataset|\
         hypothetical values|mock data|mock dataset|placeholder data|placeholder values|dummy data|\
         made-up data|sample data|sample dataset|synthetic data|synthetic dataset|synthetic sample|\
         example data|fabricated|fictional data|fake data|invented data|assumed data|\
         for illustration purposes|illustrative data",
    ),
    (
        Tongue::English,
        Cue::Relax,
        "will do|suffices|is enough|will be enough|good enough|close enough|can be ignored|need not be|\
         no need to list|leave out|drop the|skip the|never mind|one of them is fine|is sufficient|\
         does not matter|doesn't matter|just one",
    ),
    (
        Tongue::Chinese,
        Cue::Commit,
        "已确认|确认了|证实|明确|显示|可以确定|毫无疑问|因此是|必定是",
    ),
    (Tongue::Chinese, Cue::Answer, "答案是|最终答案|答案为|答案："),
    (
        Tongue::Chinese,
        Cue::Hedge,
        "可能|也许|或许|大概|似乎|不确定|我记得|应该|猜|是否|不太",
    ),
    (
        Tongue::Chinese,
        Cue::Plan,
        "让我|需要|接下来|首先|搜索一下|我们来|我将|下一步|查一下|最好",
    ),
    (Tongue::Chinese, Cue::Negation, "不|没|无|未|非"),
    (
        Tongue::Chinese,
        Cue::Cite,
        "搜索结果|根据|文章|页面|资料|来源|文档|显示|提到|列出|记载",
    ),
    (
        Tongue::Chinese,
        Cue::Asserts,
        "显示|提到|列出|记载|指出|写道|说明|根据|给出|返回",
    ),
    (Tongue::Chinese, Cue::Deictic, "搜索结果|这次搜索|返回|结果显示|刚才"),
    (Tongue::Chinese, Cue::Finding, "找到|显示|说明|提到|给出|列出|记载|确定"),
    (
        Tongue::Chinese,
        Cue::GiveUp,
        "无法确定|找不到|未找到|没有找到|无法回答|不知道|未知|无法得出",
    ),
    (
        Tongue::Chinese,
        Cue::Correction,
        "更正|写错|看错|弄错|我错了|纠正|口误|笔误",
    ),
    (Tongue::Chinese, Cue::Reject, "有人会说|并非|是错的|不对|而不是|误认为"),
    (
        Tongue::Chinese,
        Cue::Noticed,
        "超时|失败|出错|错误|重试|再试|没有结果|为空|凭记忆",
    ),
    (Tongue::Chinese, Cue::Conclude, "因此|所以|于是|由此|综上"),
    (Tongue::Chinese, Cue::Sum, "合计|总共|一共|相加|加上|总计"),
    (Tongue::Chinese, Cue::Difference, "相差|差|之间|减去|晚|早|享年|岁"),
    (Tongue::Chinese, Cue::Rounded, "约|大约|左右|将近|近|超过|不到|四舍五入"),
    (Tongue::Chinese, Cue::Task, "问题|题目|用户"),
    (Tongue::Chinese, Cue::Invented, "模拟数据|假设数据|虚构"),
    (
        Tongue::Spanish,
        Cue::Commit,
        "verificado|confirmado|confirma|claramente|sin duda|debe ser|queda claro",
    ),
    (
        Tongue::Spanish,
        Cue::Answer,
        "la respuesta es|respuesta final|respuesta:",
    ),
    (
        Tongue::Spanish,
        Cue::Hedge,
        "quizás|quizá|tal vez|posiblemente|podría|parece|probablemente|creo que|supongo|puede que|\
         no estoy segur",
    ),
    (
        Tongue::Spanish,
        Cue::Plan,
        "voy a|vamos a|necesito|debo|buscaré|a continuación busco|primero busco",
    ),
    (
        Tongue::Spanish,
        Cue::Negation,
        "no|nunca|ningún|ninguna|ninguno|nada|sin|tampoco",
    ),
    (
        Tongue::Spanish,
        Cue::Cite,
        "según|artículo|página|documento|resultado|resultados|fuente|ficha|dice que|la búsqueda",
    ),
    (
        Tongue::Spanish,
        Cue::Asserts,
        "según|dice|indica|muestra|señala|menciona|afirma|devolvió|da|recoge|figura|consta|confirma",
    ),
    (
        Tongue::Spanish,
        Cue::Deictic,
        "la búsqueda|esa búsqueda|los resultados|devolvió|la consulta|la herramienta",
    ),
    (
        Tongue::Spanish,
        Cue::Finding,
        "encontrar|encontrado|aparece|indica|menciona|consta|figura|muestra|revela|información",
    ),
    (
        Tongue::Spanish,
        Cue::GiveUp,
        "no se puede determinar|no pude encontrar|no encontré|no lo sé|desconocido|no es posible|\
         no disponible|no consta",
    ),
    (
        Tongue::Spanish,
        Cue::Correction,
        "corrección|me equivoqué|corrijo|quise decir|errata|perdón",
    ),
    (
        Tongue::Spanish,
        Cue::Reject,
        "podría decirse|es falso|es erróneo|no es cierto|en lugar de|en vez de",
    ),
    (
        Tongue::Spanish,
        Cue::Noticed,
        "falló|error|tiempo de espera|sin resultados|reintento|de nuevo|vacío|de memoria",
    ),
    (
        Tongue::Spanish,
        Cue::Conclude,
        "por tanto|por lo tanto|así que|entonces|en consecuencia|luego",
    ),
    (Tongue::Spanish, Cue::Sum, "en total|suman|suma|juntos|sumando|más"),
    (
        Tongue::Spanish,
        Cue::Difference,
        "diferencia|entre ellos|entre ambos|menos|después|antes|restando|a la edad de",
    ),
    (
        Tongue::Spanish,
        Cue::Rounded,
        "aproximadamente|unos|unas|casi|alrededor|cerca de|redondeado",
    ),
    (
        Tongue::German,
        Cue::Commit,
        "bestätigt|verifiziert|eindeutig|steht fest|zweifellos|muss also|damit ist klar",
    ),
    (
        Tongue::German,
        Cue::Answer,
        "die antwort ist|die antwort lautet|endgültige antwort|antwort:",
    ),
    (
        Tongue::German,
        Cue::Hedge,
        "vielleicht|möglicherweise|könnte|scheint|wahrscheinlich|vermutlich|ich glaube|eventuell|wohl|\
         nicht sicher",
    ),
    (
        Tongue::German,
        Cue::Plan,
        "ich werde|ich muss|ich suche|lass mich|als nächstes|zunächst suche|ich sollte",
    ),
    (
        Tongue::German,
        Cue::Negation,
        "nicht|kein|keine|keinen|nie|nichts|ohne|weder",
    ),
    (
        Tongue::German,
        Cue::Cite,
        "laut|gemäß|artikel|seite|dokument|ergebnis|ergebnisse|quelle|eintrag|treffer|suche ergab",
    ),
    (
        Tongue::German,
        Cue::Asserts,
        "laut|gemäß|sagt|nennt|gibt|zeigt|steht|erwähnt|ergab|lieferte|führt|bestätigt|verzeichnet|zufolge",
    ),
    (
        Tongue::German,
        Cue::Deictic,
        "die suche|diese suche|die ergebnisse|lieferte|die abfrage|das werkzeug|der treffer",
    ),
    (
        Tongue::German,
        Cue::Finding,
        "gefunden|finden|genannt|angegeben|erwähnt|steht|zeigt|hervor|angabe|ergab",
    ),
    (
        Tongue::German,
        Cue::GiveUp,
        "nicht feststellbar|lässt sich nicht|konnte nicht|nicht gefunden|weiß ich nicht|unbekannt|\
         keine angabe|nicht ermittelbar",
    ),
    (
        Tongue::German,
        Cue::Correction,
        "korrektur|berichtigung|ich meinte|vertippt|verschrieben|mein fehler|entschuldigung|irrtum",
    ),
    (
        Tongue::German,
        Cue::Reject,
        "könnte man sagen|ist falsch|stimmt nicht|anstatt|statt",
    ),
    (
        Tongue::German,
        Cue::Noticed,
        "fehlgeschlagen|fehler|zeitüberschreitung|keine ergebnisse|keine treffer|erneut|noch einmal|leer|\
         aus dem gedächtnis",
    ),
    (
        Tongue::German,
        Cue::Conclude,
        "also|daher|somit|folglich|deshalb|demnach|damit",
    ),
    (Tongue::German, Cue::Sum, "zusammen|insgesamt|summe|addiert|plus"),
    (
        Tongue::German,
        Cue::Difference,
        "differenz|unterschied|dazwischen|später|früher|älter|jünger|minus|im alter von|liegen",
    ),
    (
        Tongue::German,
        Cue::Rounded,
        "etwa|rund|ungefähr|knapp|fast|circa|gerundet|mehr als",
    ),
    (
        Tongue::French,
        Cue::Commit,
        "vérifié|confirmé|confirme|clairement|sans aucun doute|doit être|il est clair",
    ),
    (
        Tongue::French,
        Cue::Answer,
        "la réponse est|réponse finale|réponse :|réponse:",
    ),
    (
        Tongue::French,
        Cue::Hedge,
        "peut-être|possible|pourrait|semble|probablement|je crois|sans doute|il se peut|pas sûr",
    ),
    (
        Tongue::French,
        Cue::Plan,
        "je vais|je dois|il faut|cherchons|je cherche|ensuite je|d'abord je",
    ),
    (Tongue::French, Cue::Negation, "ne|pas|jamais|aucun|aucune|rien|sans|ni"),
    (
        Tongue::French,
        Cue::Cite,
        "selon|d'après|article|page|document|résultat|résultats|source|fiche|la recherche",
    ),
    (
        Tongue::French,
        Cue::Asserts,
        "selon|d'après|dit|indique|montre|donne|mentionne|précise|a renvoyé|confirme|cite|affirme",
    ),
    (
        Tongue::French,
        Cue::Deictic,
        "la recherche|cette recherche|les résultats|a renvoyé|la requête|l'outil",
    ),
    (
        Tongue::French,
        Cue::Finding,
        "trouvé|trouver|indique|mentionne|mentionné|figure|montre|précise|donne|information",
    ),
    (
        Tongue::French,
        Cue::GiveUp,
        "impossible de|je ne sais pas|introuvable|inconnu|n'a pas pu|n'ai pas trouvé|non disponible|\
         indéterminé",
    ),
    (
        Tongue::French,
        Cue::Correction,
        "correction|je me suis trompé|je voulais dire|coquille|rectification|pardon|erreur de ma part",
    ),
    (
        Tongue::French,
        Cue::Reject,
        "on pourrait dire|est faux|est fausse|est inexact|au lieu de|plutôt que",
    ),
    (
        Tongue::French,
        Cue::Noticed,
        "échoué|erreur|délai|aucun résultat|à nouveau|réessaie|vide|de mémoire",
    ),
    (
        Tongue::French,
        Cue::Conclude,
        "donc|ainsi|par conséquent|dès lors|alors",
    ),
    (
        Tongue::French,
        Cue::Sum,
        "au total|ensemble|somme|additionnant|plus|en tout",
    ),
    (
        Tongue::French,
        Cue::Difference,
        "différence|entre eux|entre les deux|moins|plus tard|plus tôt|à l'âge de|écart",
    ),
    (
        Tongue::French,
        Cue::Rounded,
        "environ|près de|presque|à peu près|autour de|arrondi",
    ),
];

struct Matcher {
    automaton: Option<AhoCorasick>,
    cues: Vec<Cue>,
}

static MATCHER: LazyLock<Matcher> = LazyLock::new(|| {
    let rows: Vec<(&str, Cue)> = TABLE
        .iter()
        .flat_map(|(_, cue, phrases)| phrases.split('|').map(move |phrase| (phrase, *cue)))
        .collect();
    Matcher {
        automaton: AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(rows.iter().map(|(phrase, _)| *phrase))
            .ok(),
        cues: rows.iter().map(|(_, cue)| *cue).collect(),
    }
});

/// The cues of a sentence. `lower` is the sentence in lower case.
pub(super) fn cues(lower: &str) -> Cues {
    let mut found = Cues::default();
    let Some(automaton) = MATCHER.automaton.as_ref() else {
        return found;
    };
    for hit in automaton.find_overlapping_iter(lower) {
        if let Some(cue) = MATCHER.cues.get(hit.pattern().as_usize())
            && at_boundaries(lower, hit.start(), hit.end())
        {
            found = found.with(*cue);
        }
    }
    found
}

/// True when `lower[start..end]` is not part of a longer word. Scripts without case have no word
/// boundaries to look for.
pub(super) fn at_boundaries(lower: &str, start: usize, end: usize) -> bool {
    let cased = |c: char| c.is_lowercase() || c.is_uppercase() || c.is_ascii_digit();
    let open = |inner: Option<char>, outer: Option<char>| {
        !(inner.is_some_and(cased) && outer.is_some_and(|c| cased(c) || c == '_'))
    };
    let phrase = lower.get(start..end).unwrap_or("");
    let before = lower.get(..start).and_then(|text| text.chars().next_back());
    let after = lower.get(end..).and_then(|text| text.chars().next());
    open(phrase.chars().next(), before) && open(phrase.chars().next_back(), after)
}

/// Words too common to say what a sentence is about, and words that speak of sources and steps
/// rather than of their subject.
const STOP_WORDS: &str = "the and for that this with from was were are has have had its his her their they them which who whom \
    what when where why how been being also but not into than then there these those will would can \
    could may might must shall should does did done both each all any some such same other one two only \
    own more most very just over under about after before between because while during through per via \
    out off upon here now answer question article page document result results search entry source \
    profile according states stated says said shows shown show given gives give listed lists list found \
    find retrieved returned first therefore thus hence since however whereas based information provided \
    provides mentions mentioned confirms confirmed verified clear clearly using used use name named \
    called known refers described text see look set put made make makes came come comes get got goes let \
    need like well still even yet too nor you your our she him he it is be an of in on at by to as or if \
    so we me my no do up us am i a s t nothing far below above report reports records der die das und \
    ist von den dem ein eine les des une est dans los las del que por con una";

static STOP: LazyLock<std::collections::HashSet<u64>> =
    LazyLock::new(|| STOP_WORDS.split_whitespace().map(super::text::stem).collect());

/// True for a stem too common to say what a sentence is about.
pub(super) fn is_stop(stem: u64) -> bool {
    STOP.contains(&stem)
}
