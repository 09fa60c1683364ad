//! English.

use super::{Cue, Row};

/// Cue and phrases, parted by bars.
pub(super) const ROWS: &[Row] = &[
    (
        Cue::Commit,
        "verified|confirmed|confirms|clearly|it is clear|is clear|must be|settles|settled|selected|i choose|\
         i take|i pick|completed|conclude|established|no doubt|definitely|indeed|certainly|proves|\
         determined that|identified|solved|found that",
    ),
    (
        Cue::Answer,
        "the answer is|answer:|final answer|my answer|the answer to give|as the answer|give as the answer|\
         correct answer|answer should be|answer must be|is the answer|so the answer",
    ),
    (
        Cue::Hedge,
        "might|maybe|perhaps|possibly|could be|may be|may have|seems|seem|appears to|likely|probably|i think|\
         i believe|i guess|not sure|unsure|uncertain|i recall|i remember|if i recall|suggests|suggest that|\
         presumably|assume so|tentative|tentatively|candidate|sounds like|could it|not certain|i suspect|\
         guess|apparently|potentially|whether|would be|can't tell|cannot tell yet|from memory|supposedly|\
         could the|could this|could that",
    ),
    (
        Cue::Plan,
        "let me|let's|let us|i will|i'll|i need to|we need to|i should|we should|i must|i want to|i look|\
         i run|i search|i am going to|i'm going to|next i|next, i|next step|plan:|search for|look up|\
         to find out|to determine|need to find|to do this|we'll|we will|please|step 1|going to search|\
         next the|now the two|we can search|we can look|better to search|next steps|we can ask|\
         suggest conducting|could you|can you|try to|in order to|i would",
    ),
    (
        Cue::Negation,
        "not|no|never|none|nothing|neither|nor|without|isn't|wasn't|aren't|weren't|don't|doesn't|didn't|\
         cannot|can't|couldn't|nowhere|hasn't|haven't|lacks|lacking|absent",
    ),
    (
        Cue::Cite,
        "according to|per the|article|page|pages|document|documents|result|results|entry|entries|source|\
         sources|profile|biography|hit|hits|the text|its text|the record|snippet|passage|website|web page|\
         documentation|catalogue|database|ledger|the tool|lookup|the log|dataset|the output|the file|paper|\
         abstract|register|listing|gazetteer|the site|the notes|search|the table|transcript|citation|\
         i read|i found|as noted|reference|encyclopedia|wikipedia|the docs|the response|the query|archive|\
         census|the list|the report",
    ),
    (
        Cue::Asserts,
        "report|record|list|give|describe|indicate|quote|cite|contain|provide|mention|read|tell|tells us|informs|makes it|settle the|come with|comes with|set out|sets out|\
         according to|per the|says|say|states|state|stated|notes|noted|reports|reported|lists|listed|gives|\
         gave|names|named|shows|showed|shown|records|recorded|puts|mentions|mentioned|describes|described|\
         places|place|has|have|had|indicates|confirms|confirmed|returned|returns|reads|tells|dates|credits|\
         calls|counts|specifies|identifies|attributes|quotes|cites|contains|contained|provides|provided|\
         explains|came up|came back|leaves no doubt|verify|verified|as noted|agrees|agree|matches|match|\
         in print|appears in|appear in|i read|i found|documented|adds|makes clear|settles|settle|carries|\
         writes|claims|traces|ranks|settled|brought|brings|produced|yielded|yields|found|turned up|turns up|\
         spells out|stands at|gave me|brought up|pulled up",
    ),
    (
        Cue::Deictic,
        "that search|this search|the search|that result|this result|these results|those results|the results|\
         came up|came back|it returned|the tool|that call|the call|the query|that query|second query|top hit|\
         first hit|first result|just fetched|fetched|retrieved|returned|i received|received|the output|\
         these pages|these two|those two|that page|the response|the lookup|that lookup|i opened|opened|\
         downloaded|loaded|ran successfully|succeeded|completed|the first document|the documents",
    ),
    (
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
        Cue::Reject,
        "might say|may say|could say|is wrong|was wrong|not what|would be wrong|untrue|is false|be mistaken|\
         is not right|is incorrect|was incorrect|easy to write|contrary to|rather than|instead of|not the|\
         is not supported|set aside|rule out|ruled out|misleading|do not confuse|not to be confused|\
         does not hold|tempting|mistaken|is a mistake",
    ),
    (
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
        Cue::Conclude,
        "so|thus|therefore|hence|then|since|given that|which means|means that|it follows|consequently|\
         on the strength|going by|based on|accordingly|comparing|that places|this makes|as a result",
    ),
    (
        Cue::Sum,
        "together|in total|total|totals|sum|summed|adding|added up|adds up|add up|altogether|combined|plus|\
         in all|adding up|the two come to|come to|comes to|overall",
    ),
    (
        Cue::Difference,
        "difference|differ by|between them|apart|gap|subtract|subtracting|minus|less than|more than|later|\
         earlier|older|younger|longer|shorter|higher|lower|taller|heavier|lighter|larger|smaller|closer|\
         nearer|farther|further|aged|at the age of|age of|years old|lasted|elapsed|from the first|exceeds|\
         increase of|decrease of|grew by|fell by|rose by|lie between",
    ),
    (
        Cue::Rounded,
        "about|around|roughly|approximately|approx|some|nearly|almost|over|rounded|nearest|a little|circa|\
         close to|just under|just over|more than|less than|under|at least|up to|bit under|bit over|or so|~|≈|\
         early|late",
    ),
    (
        Cue::Task,
        "the question|question asks|the task|the user|we are asked|asked for|user asks|the problem asks|\
         the prompt",
    ),
    (
        Cue::Invented,
        "simulated data|simulated dataset|simulate the|simulating|hypothetical data|hypothetical dataset|\
         hypothetical values|mock data|mock dataset|placeholder data|placeholder values|dummy data|\
         made-up data|sample data|sample dataset|synthetic data|synthetic dataset|synthetic sample|\
         example data|fabricated|fictional data|fake data|invented data|assumed data|\
         for illustration purposes|illustrative data",
    ),
    (
        Cue::Relax,
        "will do|suffices|is enough|will be enough|good enough|close enough|can be ignored|need not be|\
         no need to list|leave out|drop the|skip the|never mind|one of them is fine|is sufficient|\
         does not matter|doesn't matter|just one",
    ),
];
