//! Judge profiles: what is known of a model before it is asked. Pure: parses text.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::dialect::{Dialect, JsonMode, LimitField};
use super::endpoint::{Api, Endpoint};
use super::price::Price;

/// What is known to be odd about an endpoint, so that no call is spent on finding out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quirks {
    /// `false`: temperature is refused.
    pub temperature: Option<bool>,
    /// `false`: the system role is refused.
    pub system_role: Option<bool>,
    /// Reasoning effort to ask for.
    pub reasoning_effort: Option<String>,
    /// JSON mode to begin with.
    pub json: Option<JsonMode>,
    /// Field of the output limit to begin with.
    pub limit: Option<LimitField>,
    /// Most output tokens that the model takes as a limit.
    pub max_output: Option<u32>,
    /// Further fields of the request body.
    pub extra: Map<String, Value>,
}

impl Quirks {
    /// The dialect to begin with.
    #[must_use]
    pub fn apply(&self, mut dialect: Dialect) -> Dialect {
        dialect.temperature &= self.temperature.unwrap_or(true);
        dialect.system_role &= self.system_role.unwrap_or(true);
        dialect.json = self.json.unwrap_or(dialect.json);
        dialect.limit = self.limit.unwrap_or(dialect.limit);
        dialect.output_cap = self.max_output.or(dialect.output_cap);
        dialect
    }
}

/// One model as a judge.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name that `--model` takes.
    pub name: String,
    /// The name that the endpoint knows, where it is another one.
    pub model: Option<String>,
    /// Base URL; the one in force when not given.
    pub base_url: Option<String>,
    /// Variable that holds the key for this base URL.
    pub api_key_env: Option<String>,
    /// API spoken.
    pub api: Option<Api>,
    /// Window in tokens.
    pub context_window: Option<u64>,
    /// Price.
    pub price: Option<Price>,
    /// Oddities.
    #[serde(default)]
    pub quirks: Quirks,
}

impl Profile {
    /// The name that is sent.
    #[must_use]
    pub fn sent_name(&self) -> &str {
        self.model.as_deref().unwrap_or(&self.name)
    }
}

/// A profile file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Not TOML, or not of the shape.
    #[error("{0}")]
    Toml(String),
    /// Two profiles share a name.
    #[error("two profiles are called \"{0}\"")]
    Twice(String),
    /// A price below nothing.
    #[error("profile \"{0}\": a price is negative or not a number")]
    Price(String),
    /// A base URL that cannot be called.
    #[error("profile \"{name}\": {why}")]
    BaseUrl {
        /// Which profile.
        name: String,
        /// What is wrong with its URL.
        why: String,
    },
}

/// Profiles by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profiles {
    profiles: Vec<Profile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    model: Vec<Profile>,
}

impl Profiles {
    /// The profiles that ship: `eval/models.toml`.
    ///
    /// # Errors
    /// Never for the file that ships; a test reads it.
    pub fn shipped() -> Result<Self, ProfileError> {
        Self::parse(include_str!("../../eval/models.toml"))
    }

    /// Reads `[[model]]` tables.
    ///
    /// # Errors
    /// When the text is no TOML of that shape, a name stands twice, a price is negative, or a base
    /// URL is no http(s) URL.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let file: File = toml::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| ProfileError::Toml(error.to_string()))?;
        let mut seen = std::collections::BTreeSet::new();
        for profile in &file.model {
            if !seen.insert(profile.name.as_str()) {
                return Err(ProfileError::Twice(profile.name.clone()));
            }
            if let Some(price) = profile.price {
                let all = [price.input, price.cached.unwrap_or(0.0), price.output];
                if all.iter().any(|dollars| !dollars.is_finite() || *dollars < 0.0) {
                    return Err(ProfileError::Price(profile.name.clone()));
                }
            }
            if let Some(Err(error)) = profile.base_url.as_deref().map(Endpoint::parse) {
                return Err(ProfileError::BaseUrl {
                    name: profile.name.clone(),
                    why: error.to_string(),
                });
            }
        }
        Ok(Self { profiles: file.model })
    }

    /// The profile with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.name == name)
    }

    /// All, in file order.
    #[must_use]
    pub fn all(&self) -> &[Profile] {
        &self.profiles
    }

    /// These and, where no name is shared, the others.
    #[must_use]
    pub fn over(mut self, others: Self) -> Self {
        for other in others.profiles {
            if self.get(&other.name).is_none() {
                self.profiles.push(other);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_users_file_is_read_and_wins() {
        let mine = Profiles::parse(
            "[[model]]\nname = \"local\"\nmodel = \"qwen3\"\nbase_url = \"http://localhost:8080\"\napi = \"responses\"\ncontext_window = 32768\n\
             price = { input = 0.5, output = 1.5 }\n[model.quirks]\ntemperature = false\njson = \"object\"\nlimit = \"max_tokens\"\nextra = { top_k = 1 }\n",
        )
        .unwrap();
        let local = mine.get("local").unwrap();
        assert_eq!(
            (local.sent_name(), local.api, local.context_window),
            ("qwen3", Some(Api::Responses), Some(32768))
        );
        let dialect = local.quirks.apply(Dialect::first(
            Api::Chat,
            &Endpoint::parse("https://api.openai.com").unwrap(),
        ));
        assert_eq!(
            (dialect.json, dialect.limit, dialect.temperature),
            (JsonMode::Object, LimitField::MaxTokens, false)
        );
        assert_eq!(local.quirks.extra["top_k"], 1);
        let both = mine
            .clone()
            .over(mine.clone())
            .over(Profiles::parse("[[model]]\nname = \"x\"").unwrap());
        assert_eq!(both.all().len(), 2);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |text: &str| Profiles::parse(text).unwrap_err().to_string();
        assert!(error("[[model]]\nnome = \"x\"").contains("nome"));
        assert!(error("[[model]]\nname = \"x\"\n[[model]]\nname = \"x\"").contains("two profiles"));
        assert!(error("[[model]]\nname = \"x\"\nprice = { input = -1, output = 1 }").contains("negative"));
        assert!(error("[[model]]\nname = \"x\"\nbase_url = \"h.example/v1\"").contains("did you mean"));
    }

    #[test]
    fn the_profiles_that_ship_are_sound() {
        let shipped = Profiles::shipped().unwrap();
        assert!(shipped.all().len() > 5);
        for profile in shipped.all() {
            assert!(
                profile.price.is_none() || profile.base_url.is_some(),
                "{}: a price belongs to an endpoint",
                profile.name
            );
        }
    }
}
