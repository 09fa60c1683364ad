//! Minimal pairs: one span differs, and the verdict turns.

use super::errors;

struct Pair {
    what: &'static str,
    question: &'static str,
    /// With `@` where the two texts go.
    spans: &'static [(&'static str, &'static str)],
    wrong: &'static str,
    mended: &'static str,
}

const BRIDGE: (&str, &str) = (
    "t",
    "{\"result\": [[{\"document\": {\"id\": \"1\", \"contents\": \"\\\"Halden Viaduct\\\"\\nHalden Viaduct is a railway viaduct in Norland. \
     It was opened on 14 June 1887 and carries two tracks over the river Sand. The viaduct is 412 metres long and has 17 arches.\"}}]]}",
);

const PAINTERS: (&str, &str) = (
    "t",
    "{\"result\": [[{\"document\": {\"contents\": \"\\\"Ada Lindqvist\\\"\\nAda Lindqvist was a painter of harbour scenes. She taught drawing at the Malmen academy.\"}}, \
     {\"document\": {\"contents\": \"\\\"Berta Holm\\\"\\nBerta Holm carved wooden altarpieces for village churches. She kept bees and wrote a manual of beekeeping.\"}}]]}",
);

const PAIRS: &[Pair] = &[
    Pair {
        what: "a year the source does not have",
        question: "When was the Halden Viaduct opened?",
        spans: &[
            ("a", "search(\"Halden Viaduct\")"),
            BRIDGE,
            ("a", "@"),
            ("a", "<answer>See above</answer>"),
        ],
        wrong: "The Halden Viaduct was opened on 14 June 1878.",
        mended: "The Halden Viaduct was opened on 14 June 1887.",
    },
    Pair {
        what: "a length misread",
        question: "How long is the Halden Viaduct?",
        spans: &[BRIDGE, ("a", "@")],
        wrong: "The viaduct is 421 metres long, as its article says.",
        mended: "The viaduct is 412 metres long, as its article says.",
    },
    Pair {
        what: "a conversion that is one",
        question: "How long is the Halden Viaduct?",
        spans: &[BRIDGE, ("a", "@")],
        wrong: "According to the article it is 1,852 feet long.",
        mended: "According to the article it is 1,352 feet long.",
    },
    Pair {
        what: "a figure no source has",
        question: "Which river does the Halden Viaduct cross?",
        spans: &[
            BRIDGE,
            ("a", "@"),
            ("a", "So the river is the Sand.\n<answer>Sand</answer>"),
        ],
        wrong: "The page on the viaduct also reports that it cost 93,400 crowns.",
        mended: "The page on the viaduct also reports that it carries two tracks.",
    },
    Pair {
        what: "a name no source has",
        question: "Which river does the Halden Viaduct cross?",
        spans: &[BRIDGE, ("a", "@")],
        wrong: "The article names Oskar Wennerberg as its engineer.",
        mended: "The article names the river Sand.",
    },
    Pair {
        what: "a failed call spoken of as a result",
        question: "Which river does the Halden Viaduct cross?",
        spans: &[
            ("a", "search(\"Halden Viaduct river\")"),
            ("t", "Error 504: gateway timed out"),
            ("a", "@"),
        ],
        wrong: "The page I received says that it crosses the river Sand.",
        mended: "The call timed out, so nothing is known yet.",
    },
    Pair {
        what: "an empty result spoken of as a hit",
        question: "Who was the architect of Norland town hall?",
        spans: &[("t", "{\"hits\": []}"), ("a", "@")],
        wrong: "The first hit gives the architect as Emil Strand.",
        mended: "The search returned no hits.",
    },
    Pair {
        what: "a sum",
        question: "How many boats were there in all?",
        spans: &[
            ("t", "The harbour log has 38 boats in spring and 47 boats in autumn."),
            ("a", "@"),
        ],
        wrong: "38 boats and 47 boats make a total of 75 boats.",
        mended: "38 boats and 47 boats make a total of 85 boats.",
    },
    Pair {
        what: "an equation",
        question: "What is the total?",
        spans: &[("a", "@")],
        wrong: "Adding the two invoices, 129 + 64 = 183.",
        mended: "Adding the two invoices, 129 + 64 = 193.",
    },
    Pair {
        what: "a difference",
        question: "How much longer is the northern tunnel?",
        spans: &[("t", "Northern tunnel: 640 m. Southern tunnel: 515 m."), ("a", "@")],
        wrong: "The northern tunnel has 640 m and the southern one 515 m, a difference of 135 m.",
        mended: "The northern tunnel has 640 m and the southern one 515 m, a difference of 125 m.",
    },
    Pair {
        what: "an age",
        question: "How old did she become?",
        spans: &[("t", "Ines Varga, born 3 March 1901, died 9 May 1980."), ("a", "@")],
        wrong: "She was born on 3 March 1901 and died on 9 May 1980, at the age of 69.",
        mended: "She was born on 3 March 1901 and died on 9 May 1980, at the age of 79.",
    },
    Pair {
        what: "digits only",
        question: "How many arches has the Halden Viaduct? Reply with digits only.",
        spans: &[BRIDGE, ("a", "<answer>@</answer>")],
        wrong: "17 arches",
        mended: "17",
    },
    Pair {
        what: "three items",
        question: "Which birds nest on the island? Name three of them.",
        spans: &[
            ("t", "On the island nest gulls, terns, puffins and eiders."),
            ("a", "<answer>@</answer>"),
        ],
        wrong: "gulls and terns",
        mended: "gulls, terns and puffins",
    },
    Pair {
        what: "what the question rules out",
        question: "Apart from Norland, which country borders the Sand?",
        spans: &[
            ("t", "The Sand is shared by Norland and Vestria."),
            ("a", "<answer>@</answer>"),
        ],
        wrong: "Norland",
        mended: "Vestria",
    },
    Pair {
        what: "a date format",
        question: "When was the Halden Viaduct opened? Use the format YYYY-MM-DD.",
        spans: &[BRIDGE, ("a", "<answer>@</answer>")],
        wrong: "14 June 1887",
        mended: "1887-06-14",
    },
    Pair {
        what: "giving up with the answer on the table",
        question: "In which year was the Halden Viaduct railway opened over the river Sand?",
        spans: &[BRIDGE, ("a", "<answer>@</answer>")],
        wrong: "The year could not be determined",
        mended: "1887",
    },
    Pair {
        what: "one painter's work under the other's name",
        question: "Who wrote a manual of beekeeping?",
        spans: &[PAINTERS, ("a", "@")],
        wrong: "Ada Lindqvist carved wooden altarpieces for village churches and kept bees.",
        mended: "Berta Holm carved wooden altarpieces for village churches and kept bees.",
    },
    Pair {
        what: "the direction of a change",
        question: "What happened to the Norland Gazette in 1990?",
        spans: &[
            (
                "t",
                "Norland Gazette. In 1990 the paper went from weekly to daily publication and moved to Sandby.",
            ),
            ("a", "@"),
        ],
        wrong: "In 1990 the Gazette went from daily to weekly publication.",
        mended: "In 1990 the Gazette went from weekly to daily publication.",
    },
    Pair {
        what: "a hedge is no commitment",
        question: "When was the Halden Viaduct opened?",
        spans: &[BRIDGE, ("a", "@")],
        wrong: "The Halden Viaduct was opened on 14 June 1878.",
        mended: "The Halden Viaduct was perhaps opened on 14 June 1878; I will look again.",
    },
    Pair {
        what: "a question is no commitment",
        question: "When was the Halden Viaduct opened?",
        spans: &[BRIDGE, ("a", "@")],
        wrong: "It was opened on 14 June 1878.",
        mended: "Was it opened on 14 June 1878?",
    },
    Pair {
        what: "a claim named to be rejected",
        question: "When was the Halden Viaduct opened?",
        spans: &[BRIDGE, ("a", "@")],
        wrong: "The viaduct was opened on 14 June 1878.",
        mended: "A guidebook's \"opened on 14 June 1878\" is wrong; the article has 1887.",
    },
    Pair {
        what: "stated rounding",
        question: "How long is the Halden Viaduct?",
        spans: &[BRIDGE, ("a", "@")],
        wrong: "The article says it is 300 metres long.",
        mended: "The article says it is about 400 metres long, rounded.",
    },
    Pair {
        what: "German: a figure the source does not have",
        question: "Wie viele Einwohner hat Sandby?",
        spans: &[
            (
                "t",
                "Sandby ist eine Stadt in Norland. Die Einwohnerzahl beträgt 12.480.",
            ),
            ("a", "@"),
        ],
        wrong: "Laut dem Artikel hat Sandby 14.280 Einwohner.",
        mended: "Laut dem Artikel hat Sandby 12480 Einwohner.",
    },
    Pair {
        what: "Spanish: a failed call spoken of as a result",
        question: "¿Quién fundó Sandby?",
        spans: &[("t", "{\"error\": \"tiempo de espera agotado\"}"), ("a", "@")],
        wrong: "Según el artículo que devolvió la búsqueda, la fundó Emil Strand.",
        mended: "La búsqueda falló; hago un nuevo intento.",
    },
    Pair {
        what: "Chinese: a year the source does not have",
        question: "桑比大桥是哪一年建成的？",
        spans: &[("t", "桑比大桥于1887年建成，全长412米。"), ("a", "@")],
        wrong: "根据文章，桑比大桥于1878年建成。",
        mended: "根据文章，桑比大桥于1887年建成。",
    },
];

fn with(pair: &Pair, text: &str) -> Vec<String> {
    let filled: Vec<(&str, String)> = pair
        .spans
        .iter()
        .map(|(who, span)| (*who, span.replace('@', text)))
        .collect();
    let spans: Vec<(&str, &str)> = filled.iter().map(|(who, span)| (*who, span.as_str())).collect();
    errors(pair.question, &spans)
}

#[test]
fn one_mended_span_turns_the_verdict() {
    let mut wrong = Vec::new();
    for pair in PAIRS {
        let at = pair
            .spans
            .iter()
            .position(|(_, span)| span.contains('@'))
            .expect("a pair marks its span");
        let found = with(pair, pair.wrong);
        if found.first() != Some(&format!("s{:03}", at + 1)) {
            wrong.push(format!(
                "{}: the fault is in s{:03}, found {found:?}",
                pair.what,
                at + 1
            ));
        }
        let clean = with(pair, pair.mended);
        if !clean.is_empty() {
            wrong.push(format!("{}: mended, and still found {clean:?}", pair.what));
        }
    }
    assert!(PAIRS.len() >= 20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
