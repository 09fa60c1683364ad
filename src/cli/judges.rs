//! The judge that a command's flags name.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::settings;
use crate::audit::Ask;
use crate::drive::{
    ApiKey, CachedJudge, CallSettings, Caller, ChatJudge, Client, Judge, JudgeInfo, Judged, Memory, OfflineJudge,
    ReplayJudge, ScriptedJudge, read_text,
};
use crate::prompt::Prompts;
use crate::store::{Cache, Recording, files};
use crate::wire::{Api, Endpoint, JsonMode, Params, Profile, Profiles};

/// Flags of every command that asks one judge.
#[derive(Clone, Debug, Args)]
pub(super) struct JudgeArgs {
    /// Chat model to ask; without one the offline judge answers
    #[arg(long, env = "AUDITOR_MODEL", value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Force a judge: chat, offline, replay:FILE or scripted:FILE
    #[arg(long, value_name = "JUDGE")]
    pub(super) judge: Option<String>,
    #[command(flatten)]
    pub(super) how: AskArgs,
}

/// Flags that say how a model is asked, whichever it is.
#[derive(Clone, Debug, Args)]
pub(super) struct AskArgs {
    /// Base URL of an OpenAI-compatible endpoint [env: OPENAI_BASE_URL] [default: OpenAI]
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// Which of an endpoint's APIs is spoken
    #[arg(long, value_enum, value_name = "API")]
    pub(super) api: Option<ApiWord>,
    /// Sampling temperature; left out where the endpoint refuses it
    #[arg(long, default_value_t = 0.1)]
    pub(super) temperature: f64,
    /// Reasoning effort, for models that take one
    #[arg(long, value_name = "WORD")]
    pub(super) reasoning_effort: Option<String>,
    /// How the reply is held to JSON at first; stepped down where the endpoint refuses [default: schema]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(super) json_mode: Option<JsonModeWord>,
    /// Seconds a single request may take
    #[arg(long, default_value_t = 600.0, value_name = "SECONDS", value_parser = positive)]
    pub(super) timeout: f64,
    /// Tries after the first one, where trying again can help
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(super) retries: u32,
    /// The judge's window in tokens, where no profile knows it; a longer run is read in windows
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) context_window: Option<u64>,
    /// Judge profiles (base URL, key variable, prices, oddities); they win over the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(super) models: Option<PathBuf>,
    /// Keep good replies in this folder and take them from there
    #[arg(long, value_name = "DIR")]
    pub(super) cache: Option<PathBuf>,
    /// Folder of edited prompts (`auditor prompts export` writes one)
    #[arg(long, value_name = "DIR")]
    pub(super) prompts: Option<PathBuf>,
    /// What is found out of endpoints; clones share it.
    #[arg(skip)]
    pub(super) memory: Arc<Memory>,
}

/// The name that stands for the offline judge among the models of `bench`.
pub(super) const OFFLINE: &str = "offline";

/// `--api`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ApiWord {
    /// /chat/completions
    Chat,
    /// /responses
    Responses,
}

/// `--json-mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum JsonModeWord {
    /// A JSON Schema, strict
    Schema,
    /// Any JSON object
    Object,
    /// The prompt alone
    Plain,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("a number above 0 is wanted".to_owned()),
    }
}

impl AskArgs {
    /// The flags for one model of several; `offline` is the judge that needs none.
    pub(super) fn of_model(&self, name: &str) -> JudgeArgs {
        let judge = if name == OFFLINE { OFFLINE } else { "chat" };
        JudgeArgs {
            model: Some(name.to_owned()),
            judge: Some(judge.to_owned()),
            how: self.clone(),
        }
    }
}

impl JudgeArgs {
    /// What makes the calls to the chat model that the flags name.
    pub(super) fn caller(&self) -> anyhow::Result<Caller> {
        let Some(model) = self.model.as_deref().filter(|model| !model.trim().is_empty()) else {
            anyhow::bail!("no model is named; give --model NAME or set AUDITOR_MODEL");
        };
        let (profile, own) = self.profile(model)?;
        let place = self.place(profile.as_ref(), own)?;
        let endpoint = Endpoint::parse(&place.base_url).with_context(|| format!("base URL {:?}", place.base_url))?;
        let profile = profile.unwrap_or_default();
        let api = match self.how.api {
            Some(ApiWord::Chat) => Api::Chat,
            Some(ApiWord::Responses) => Api::Responses,
            None => profile.api.or(endpoint.pasted_api()).unwrap_or_default(),
        };
        let sent_name = profile.model.clone().unwrap_or_else(|| model.to_owned());
        let params = Params {
            api,
            model: sent_name,
            temperature: Some(self.how.temperature),
            reasoning_effort: self
                .how
                .reasoning_effort
                .clone()
                .or(profile.quirks.reasoning_effort.clone()),
            extra: profile.quirks.extra.clone(),
        };
        let mut call = CallSettings::new(params);
        call.attempt = Duration::from_secs_f64(self.how.timeout);
        call.retry.retries = self.how.retries;
        call.seed = settings::seed();
        call.price = if place.priced { profile.price } else { None };
        call.quirks = profile.quirks;
        call.quirks.json = match self.how.json_mode {
            Some(JsonModeWord::Schema) => Some(JsonMode::SchemaStrict),
            Some(JsonModeWord::Object) => Some(JsonMode::Object),
            Some(JsonModeWord::Plain) => Some(JsonMode::Plain),
            None => call.quirks.json,
        };
        let key = place.key.and_then(|(key, name)| ApiKey::new(&key, name));
        let client = Client::new(endpoint, key.as_ref(), call.attempt)?;
        Ok(Caller::new(client, call, &self.how.memory))
    }

    /// A client for the endpoint at `url`, else for the one that the flags name, without a profile: for embeddings.
    pub(super) fn client(&self, url: Option<&str>) -> anyhow::Result<Client> {
        let file = settings::dot_env()?;
        let env = |name: &str| std::env::var(name).ok();
        let given = settings::endpoint(url.or(self.how.base_url.as_deref()), env, &file);
        let endpoint = Endpoint::parse(&given.base_url).with_context(|| format!("base URL {:?}", given.base_url))?;
        let key = given.key.and_then(|(key, name)| ApiKey::new(&key, name));
        Ok(Client::new(
            endpoint,
            key.as_ref(),
            Duration::from_secs_f64(self.how.timeout),
        )?)
    }

    /// The window of the model that the flags name, in tokens: the profile's, else `--context-window`; for a
    /// recording, the one it was made with. `None` when nothing says, and for judges without a window.
    pub(super) fn window(&self) -> anyhow::Result<Option<u64>> {
        let forced = self.judge.as_deref().unwrap_or("chat");
        if let Some(("replay", file)) = forced.split_once(':') {
            let recorded = Recording::read(file.as_ref())?
                .fingerprint
                .get("context_window")
                .and_then(|text| text.parse().ok());
            return Ok(recorded.or(self.how.context_window));
        }
        match &self.model {
            Some(model) if forced == "chat" => {
                let profile = self.profile(model)?.0;
                Ok(profile
                    .and_then(|profile| profile.context_window)
                    .or(self.how.context_window))
            }
            _ if forced.starts_with("scripted:") => Ok(self.how.context_window),
            _ => Ok(None),
        }
    }

    /// The profile of a model, and whether it stands in the user's own file.
    fn profile(&self, model: &str) -> anyhow::Result<(Option<Profile>, bool)> {
        if let Some(path) = &self.how.models {
            let text = files::read_text(path)?;
            let own = Profiles::parse(&text).with_context(|| format!("--models {}", path.display()))?;
            if let Some(profile) = own.get(model) {
                return Ok((Some(profile.clone()), true));
            }
        }
        Ok((Profiles::shipped()?.get(model).cloned(), false))
    }

    /// Base URL and key. A profile of the user's file keeps its own base URL and key variable. One that
    /// ships says where its model is found only when nothing else does; its price holds only there.
    fn place(&self, profile: Option<&Profile>, own: bool) -> anyhow::Result<Place> {
        let file = settings::dot_env()?;
        let env = |name: &str| std::env::var(name).ok();
        let given = settings::endpoint(self.how.base_url.as_deref(), env, &file);
        let of_profile = profile.and_then(|profile| Some((profile, profile.base_url.clone()?)));
        let Some((profile, base_url)) = of_profile else {
            return Ok(Place {
                base_url: given.base_url,
                key: given.key,
                priced: true,
            });
        };
        if !own && given.stated {
            let priced = Endpoint::parse(&given.base_url).ok() == Endpoint::parse(&base_url).ok();
            return Ok(Place {
                base_url: given.base_url,
                key: given.key,
                priced,
            });
        }
        // A key that stands in `.env` beside a URL goes only to that URL, and this is another one.
        let file_has_url = ["OPENAI_BASE_URL", "API_URL"]
            .iter()
            .any(|name| file.contains_key(*name));
        let of_file = |name: &String| file.get(name).filter(|_| !file_has_url).cloned();
        let key = profile.api_key_env.as_ref().and_then(|name| {
            env(name)
                .map(|key| (key, name.clone()))
                .or_else(|| Some((of_file(name)?, format!("{name} in .env"))))
        });
        Ok(Place {
            base_url,
            key,
            priced: true,
        })
    }

    /// The prompts to use, checked.
    pub(super) fn prompts(&self) -> anyhow::Result<Arc<Prompts>> {
        let Some(folder) = &self.how.prompts else {
            return Ok(Arc::new(Prompts::embedded()?));
        };
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
            None if word == "chat" => {
                let (of_render, of_read) = (prompts.clone(), read_text);
                let render = move |ask: &Ask| of_render.render(ask).map_err(|error| error.to_string());
                let chat = ChatJudge::new(self.caller()?, Arc::new(render), Arc::new(of_read));
                let cache = self.how.cache.as_deref().map(Cache::open).transpose()?;
                Ok(AnyJudge::Chat(Box::new(CachedJudge::new(chat, cache))))
            }
            None if word == "offline" => Ok(AnyJudge::Offline(OfflineJudge::new(prompts.clone()))),
            Some(("replay", file)) => {
                let recording = Recording::read(file.as_ref())?;
                let model = recording.fingerprint.get("model").cloned();
                Ok(AnyJudge::Replay(ReplayJudge::new(
                    recording.answers,
                    prompts.clone(),
                    model,
                )))
            }
            Some(("scripted", file)) => {
                let script = files::read_text(file.as_ref())?;
                let judge = ScriptedJudge::parse(&script, prompts.clone())
                    .map_err(|error| anyhow::anyhow!("{file}: {error}"))?;
                Ok(AnyJudge::Scripted(judge))
            }
            _ => anyhow::bail!("--judge {word}: there is chat, offline, replay:FILE and scripted:FILE"),
        }
    }
}

/// Where a model is asked.
struct Place {
    base_url: String,
    key: Option<(String, String)>,
    /// The profile's price holds there.
    priced: bool,
}

/// Any of the judges.
pub(super) enum AnyJudge {
    Chat(Box<CachedJudge>),
    Offline(OfflineJudge),
    Replay(ReplayJudge),
    Scripted(ScriptedJudge),
}

impl Judge for AnyJudge {
    async fn answer(&self, ask: &Ask) -> Judged {
        match self {
            Self::Chat(judge) => judge.answer(ask).await,
            Self::Offline(judge) => judge.answer(ask).await,
            Self::Replay(judge) => judge.answer(ask).await,
            Self::Scripted(judge) => judge.answer(ask).await,
        }
    }

    fn request_hash(&self, ask: &Ask) -> String {
        match self {
            Self::Chat(judge) => judge.request_hash(ask),
            Self::Offline(judge) => judge.request_hash(ask),
            Self::Replay(judge) => judge.request_hash(ask),
            Self::Scripted(judge) => judge.request_hash(ask),
        }
    }

    fn info(&self) -> JudgeInfo {
        match self {
            Self::Chat(judge) => judge.info(),
            Self::Offline(judge) => judge.info(),
            Self::Replay(judge) => judge.info(),
            Self::Scripted(judge) => judge.info(),
        }
    }
}
