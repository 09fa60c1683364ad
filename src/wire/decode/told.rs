//! What errors are told by: codes and words of the providers.

use serde_json::Value;

use crate::wire::clean;
use crate::wire::fault::Fault;

/// The error inside an answer with status 200, if there is one.
pub(super) fn inner_error(value: &Value) -> Option<&Value> {
    let told = |error: &&Value| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => fields.values().any(|field| !field.is_null()),
        _ => true,
    };
    if value.get("error").filter(told).is_some() {
        return Some(value);
    }
    let choice = value.get("choices").and_then(|choices| choices.get(0));
    if let Some(choice) = choice.filter(|choice| choice.get("error").filter(told).is_some()) {
        return Some(choice);
    }
    let kind = |name: &str| value.get(name).and_then(Value::as_str);
    let bare = value.get("choices").is_none_or(Value::is_null)
        && value.get("output").is_none()
        && value.get("message").is_none_or(Value::is_string);
    let named = kind("object") == Some("error") || kind("type") == Some("error");
    let coded = value.get("code").is_some() && (kind("message").is_some() || kind("msg").is_some());
    (bare && (named || coded || value.get("detail").is_some_and(|detail| !detail.is_null()))).then_some(value)
}

/// The status that an error without one stands for.
pub(super) fn implied_status(fault: &Fault) -> u16 {
    let has = |codes: &[&str]| fault.has_code(codes);
    if has(&[
        "rate_limit_exceeded",
        "rate_limit_error",
        "resource_exhausted",
        "too_many_requests",
    ]) {
        429
    } else if has(&[
        "invalid_request_error",
        "invalid_argument",
        "bad_request",
        "unsupported_parameter",
        "unsupported_value",
    ]) {
        400
    } else if has(&["authentication_error", "invalid_api_key", "unauthenticated"]) {
        401
    } else if has(&["permission_error", "permission_denied"]) {
        403
    } else if has(&["not_found_error", "not_found", "model_not_found"]) {
        404
    } else {
        502
    }
}

/// The code of a content filter or a moderation that stopped a request.
pub(super) fn refused(fault: &Fault, status: u16) -> Option<String> {
    const PHRASES: [&str; 9] = [
        "content management policy",
        "content exists risk",
        "responsibleaipolicyviolation",
        "usage policy",
        "usage policies",
        "considered high risk",
        "requires moderation",
        "prohibited content",
        "data_inspection_failed",
    ];
    if let Some(code) = fault.filter_code() {
        return Some(code.to_owned());
    }
    (matches!(status, 400 | 403 | 422 | 451) && fault.says(&PHRASES)).then(|| clean::excerpt(&fault.message, 200))
}

/// A prompt that Gemini blocked comes back without choices.
pub(super) fn blocked_prompt(value: &Value) -> Option<String> {
    ["/promptFeedback/blockReason", "/prompt_feedback/block_reason"]
        .iter()
        .find_map(|path| value.pointer(path)?.as_str())
        .map(str::to_owned)
}

/// True when the account has nothing left. Told by code; by words only when the endpoint does not
/// say when to come back, since some call a limit by the minute a quota.
pub(super) fn is_quota(fault: &Fault, status: u16, comes_back: bool) -> bool {
    const CODES: [&str; 10] = [
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_balance",
        "insufficient_credits",
        "insufficient_funds",
        "exceeded_current_quota_error",
        "arrearage",
        "quota_exceeded",
        "credit_balance_exhausted",
    ];
    const PHRASES: [&str; 16] = [
        "exceeded your current quota",
        "insufficient_quota",
        "insufficient quota",
        "insufficient balance",
        "insufficient credit",
        "insufficient funds",
        "billing hard limit",
        "billing_hard_limit",
        "credit balance is too low",
        "requires more credits",
        "out of credits",
        "no credits left",
        "monthly spend",
        "payment required",
        "recharge",
        "account is not active",
    ];
    if status == 402 || fault.has_code(&CODES) {
        return true;
    }
    // A limit by the day is told with a wait of seconds by Gemini, and is none.
    matches!(status, 400 | 403 | 429) && fault.says(&PHRASES) && (!comes_back || fault.says(&["perday"]))
}
