//! Base URLs as people paste them.

use super::*;

fn chat(base: &str) -> String {
    Endpoint::parse(base).unwrap().url(Target::Chat).into()
}

#[test]
fn every_form_ends_at_the_right_path() {
    for (base, calls) in [
        (
            "https://api.openai.com/v1",
            "https://api.openai.com/v1/chat/completions",
        ),
        (
            "https://api.openai.com/v1//",
            "https://api.openai.com/v1/chat/completions",
        ),
        (
            "https://api.openai.com//v1",
            "https://api.openai.com/v1/chat/completions",
        ),
        ("https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
        (
            "https://api.openai.com/v1/v1",
            "https://api.openai.com/v1/chat/completions",
        ),
        (
            "https://api.openai.com/v1/chat",
            "https://api.openai.com/v1/chat/completions",
        ),
        (
            "https://api.openai.com/v1/responses",
            "https://api.openai.com/v1/chat/completions",
        ),
        (
            "https://api.openai.com/v1/models",
            "https://api.openai.com/v1/chat/completions",
        ),
        (
            "https://h.example/chat/completions",
            "https://h.example/chat/completions",
        ),
        (
            "https://h.example/v1/chat/completions/?a=b#x",
            "https://h.example/v1/chat/completions?a=b",
        ),
        ("http://[::1]:8000", "http://[::1]:8000/v1/chat/completions"),
        (
            "https://generativelanguage.googleapis.com",
            "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
        ),
        (
            "https://h.example/api/paas/v4/",
            "https://h.example/api/paas/v4/chat/completions",
        ),
        (
            "https://h.example/v10?x=1",
            "https://h.example/v10/chat/completions?x=1",
        ),
        ("https://h.example/custom", "https://h.example/custom/chat/completions"),
        (
            "https://x.services.ai.azure.com/models?api-version=2024-05-01-preview",
            "https://x.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview",
        ),
        (
            "https://x.openai.azure.com/",
            "https://x.openai.azure.com/openai/v1/chat/completions",
        ),
        (
            "\"https://h.example/a%20b/v1\"\r\n",
            "https://h.example/a%20b/v1/chat/completions",
        ),
    ] {
        assert_eq!(chat(base), calls, "{base:?}");
    }
}

#[test]
fn azure_deployments_keep_their_query_for_every_target() {
    let endpoint =
        Endpoint::parse("https://x.openai.azure.com/openai/deployments/judge?api-version=2024-10-21").unwrap();
    let url = |target| String::from(endpoint.url(target));
    let root = "https://x.openai.azure.com/openai";
    assert_eq!(
        url(Target::Chat),
        format!("{root}/deployments/judge/chat/completions?api-version=2024-10-21")
    );
    assert_eq!(
        url(Target::Embeddings),
        format!("{root}/deployments/judge/embeddings?api-version=2024-10-21")
    );
    assert_eq!(
        url(Target::Responses),
        format!("{root}/responses?api-version=2024-10-21")
    );
    assert_eq!(url(Target::Models), format!("{root}/models?api-version=2024-10-21"));
    assert!(endpoint.is_azure());
}

#[test]
fn what_is_not_http_is_refused_in_plain_words() {
    for (given, says) in [
        ("api.openai.com/v1", "did you mean https://api.openai.com/v1?"),
        ("localhost:8080/v1", "did you mean http://localhost:8080/v1?"),
        ("ftp://h.example/v1", "not an http(s) URL"),
        ("", "it is empty"),
        ("gpt-5", "not an http(s) URL"),
        ("http://", "cannot be read"),
    ] {
        let error = Endpoint::parse(given).unwrap_err().to_string();
        assert!(error.contains(says), "{given:?}: {error}");
    }
}

#[test]
fn secrets_in_a_url_are_never_shown() {
    let endpoint = Endpoint::parse("https://me:hunter2@h.example/v1?key=abcdef&api-version=3").unwrap();
    let shown = format!(
        "{endpoint} {endpoint:?} {} {}",
        endpoint.shown(Target::Chat),
        endpoint.other_form()
    );
    assert!(!shown.contains("hunter2") && !shown.contains("abcdef"), "{shown}");
    assert!(shown.contains("api-version=3"));
    assert_eq!(endpoint.secrets(), ["hunter2", "abcdef"]);
    let error = Endpoint::parse("htp://me:hunter2@h.example/v1")
        .unwrap_err()
        .to_string();
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn loopback_is_known_in_every_spelling() {
    for base in [
        "http://localhost:1",
        "http://127.8.9.1",
        "http://[::1]",
        "http://a.localhost",
        "http://[::ffff:127.0.0.1]",
    ] {
        assert!(Endpoint::parse(base).unwrap().is_loopback(), "{base}");
    }
    for base in ["http://10.0.0.1", "http://localhost.example", "https://api.openai.com"] {
        assert!(!Endpoint::parse(base).unwrap().is_loopback(), "{base}");
    }
}

#[test]
fn a_404_suggests_the_other_form() {
    let other = |base: &str| Endpoint::parse(base).unwrap().other_form();
    assert!(other("https://h.example/api").ends_with("https://h.example/api/v1"));
    assert!(other("https://h.example").ends_with("https://h.example/chat/completions"));
    assert!(other("https://h.example/openai/v1").ends_with("https://h.example/openai/chat/completions"));
    assert!(other("https://x.openai.azure.com/openai/deployments/j").contains("api-version="));
}
