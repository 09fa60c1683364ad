//! The judge that a command's flags name.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use crate::audit::Ask;
use crate::drive::{Judge, JudgeInfo, Judged, OfflineJudge, ReplayJudge, ScriptedJudge};
use crate::prompt::Prompts;
use crate::store::{Recording, files};

/// Flags of every command that asks a judge.
#[derive(Clone, Debug, Args)]
pub(super) struct JudgeArgs {
    /// Chat model to ask; without one the offline judge answers
    #[arg(long, env = "AUDITOR_MODEL", value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Base URL of an OpenAI-compatible endpoint [env: OPENAI_BASE_URL] [default: OpenAI]
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// Force a judge: chat, offline, replay:FILE or scripted:FILE
    #[arg(long, value_name = "JUDGE")]
    pub(super) judge: Option<String>,
    /// Folder of edited prompts (`auditor prompts export` writes one)
    #[arg(long, value_name = "DIR")]
    pub(super) prompts: Option<PathBuf>,
}

impl JudgeArgs {
    /// The prompts to use, checked.
    pub(super) fn prompts(&self) -> anyhow::Result<Arc<Prompts>> {
        let Some(folder) = &self.prompts else { return Ok(Arc::new(Prompts::embedded()?)) };
        let texts = files::texts_in(folder)?;
        let prompts = Prompts::from_texts(texts).with_context(|| format!("--prompts {}", folder.display()))?;
        Ok(Arc::new(prompts))
    }

    /// The judge, ready to be asked.
    pub(super) fn judge(&self, prompts: &Arc<Prompts>) -> anyhow::Result<AnyJudge> {
        let word = match (&self.judge, &self.model) {
            (Some(word), _) => word.as_str(),
            (None, Some(_)) => "chat",
            (None, None) => "offline",
        };
        match word.split_once(':') {
            None if word == "offline" => Ok(AnyJudge::Offline(OfflineJudge::new(prompts.clone()))),
            Some(("replay", file)) => {
                let recording = Recording::read(file.as_ref())?;
                let model = recording.fingerprint.get("model").cloned();
                Ok(AnyJudge::Replay(ReplayJudge::new(recording.answers, prompts.clone(), model)))
            }
            Some(("scripted", file)) => {
                let script = files::read_text(file.as_ref())?;
                let judge = ScriptedJudge::parse(&script, prompts.clone()).map_err(|error| anyhow::anyhow!("{file}: {error}"))?;
                Ok(AnyJudge::Scripted(judge))
            }
            _ => anyhow::bail!("--judge {word}: there is chat, offline, replay:FILE and scripted:FILE"),
        }
    }
}

/// Any of the judges.
pub(super) enum AnyJudge {
    Offline(OfflineJudge),
    Replay(ReplayJudge),
    Scripted(ScriptedJudge),
}

impl Judge for AnyJudge {
    async fn answer(&self, ask: &Ask) -> Judged {
        match self {
            Self::Offline(judge) => judge.answer(ask).await,
            Self::Replay(judge) => judge.answer(ask).await,
            Self::Scripted(judge) => judge.answer(ask).await,
        }
    }

    fn request_hash(&self, ask: &Ask) -> String {
        match self {
            Self::Offline(judge) => judge.request_hash(ask),
            Self::Replay(judge) => judge.request_hash(ask),
            Self::Scripted(judge) => judge.request_hash(ask),
        }
    }

    fn info(&self) -> JudgeInfo {
        match self {
            Self::Offline(judge) => judge.info(),
            Self::Replay(judge) => judge.info(),
            Self::Scripted(judge) => judge.info(),
        }
    }
}
