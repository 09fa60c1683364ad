//! Flags for more than one opinion: repeats, and a second judge.

use std::sync::Arc;

use clap::Args;

use super::judges::{AnyJudge, AskArgs, JudgeArgs};
use crate::drive::{Panel, ReplayJudge};
use crate::prompt::Prompts;
use crate::store::Recording;

/// How often a run is audited, and by whom else.
#[derive(Clone, Debug, Args)]
pub(super) struct PanelArgs {
    /// Audit every run this often, each time anew; the verdict is that of more than half, and the votes for
    /// each span, Fleiss' kappa and failed repeats are told
    #[arg(long, alias = "votes", default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99))]
    pub(super) repeats: u32,
    /// Ask a second model, best of another family; the result shows where both agree
    #[arg(long, value_name = "MODEL")]
    pub(super) second_judge: Option<String>,
    /// Base URL of the second model's endpoint [default: found as for --model]
    #[arg(long, value_name = "URL", requires = "second_judge")]
    pub(super) second_base_url: Option<String>,
    /// Report only spans that both judges name
    #[arg(long, requires = "second_judge")]
    pub(super) agree: bool,
}

impl PanelArgs {
    /// As the driver takes it.
    pub(super) fn panel(&self) -> Panel {
        Panel {
            repeats: self.repeats,
            agree: self.agree,
        }
    }

    /// The flags of the second judge: those of the first with its own model and base URL. From a recording
    /// the second judge is replayed, too.
    fn flags(&self, first: &JudgeArgs) -> anyhow::Result<Option<JudgeArgs>> {
        let Some(model) = &self.second_judge else {
            return Ok(None);
        };
        let judge = match first.judge.as_deref() {
            None | Some("chat") => Some("chat".to_owned()),
            Some(word) if word.starts_with("replay:") => Some(word.to_owned()),
            Some(word) => anyhow::bail!("--second-judge asks a model; it does not go with --judge {word}"),
        };
        let base_url = self.second_base_url.clone().or_else(|| first.how.base_url.clone());
        Ok(Some(JudgeArgs {
            model: Some(model.clone()),
            judge,
            how: AskArgs {
                base_url,
                ..first.how.clone()
            },
        }))
    }

    /// The second judge, if one is named.
    pub(super) fn second(&self, first: &JudgeArgs, prompts: &Arc<Prompts>) -> anyhow::Result<Option<AnyJudge>> {
        let Some(flags) = self.flags(first)? else {
            return Ok(None);
        };
        let Some(file) = flags.judge.as_deref().and_then(|word| word.strip_prefix("replay:")) else {
            return flags.judge(prompts).map(Some);
        };
        let recording = Recording::read(file.as_ref())?;
        let model = recording.fingerprint.get("second_model").cloned();
        Ok(Some(AnyJudge::Replay(ReplayJudge::new(
            recording.answers,
            prompts.clone(),
            model,
        ))))
    }

    /// The smaller of both judges' windows: each run is asked about in one way.
    pub(super) fn window(&self, first: &JudgeArgs) -> anyhow::Result<Option<u64>> {
        let second = self.flags(first)?.map(|flags| flags.window()).transpose()?.flatten();
        Ok(first.window()?.into_iter().chain(second).min())
    }
}
