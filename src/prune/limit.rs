//! When a layer's gate is open: limits and pressure (docs/prune.md 3.3, 3.5).

use thiserror::Error;

/// The largest token count a limit may name, JavaScript's `Number.MAX_SAFE_INTEGER`.
const MAX_TOKENS: f64 = 9_007_199_254_740_991.0;

/// A soft limit: a share of the model's window, or tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Share of the context window, above 0 and at most 1.
    Share(f64),
    /// Tokens, a whole number above 0.
    Tokens(f64),
}

/// A limit that is neither a share nor a token count.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{text:?} is not a limit: write a share of the window above 0% and at most 100%, for instance '55%', \
     or a whole number of tokens above 0, for instance '3000'"
)]
pub struct LimitError {
    /// The text as it was given.
    pub text: String,
}

/// Reads `'55%'` or `'3000'`.
///
/// # Errors
///
/// Anything else, `0%` and values above `100%` included.
pub fn parse_limit(text: &str) -> Result<Limit, LimitError> {
    let refuse = || LimitError { text: text.to_owned() };
    if let Some(number) = text.strip_suffix('%') {
        let share = decimal(number).ok_or_else(refuse)? / 100.0;
        return if share > 0.0 && share <= 1.0 { Ok(Limit::Share(share)) } else { Err(refuse()) };
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse());
    }
    let tokens = decimal(text).ok_or_else(refuse)?;
    if (1.0..=MAX_TOKENS).contains(&tokens) { Ok(Limit::Tokens(tokens)) } else { Err(refuse()) }
}

/// `digits` or `digits.digits`, nothing else: no sign, no exponent, no space.
fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').map_or((text, "0"), |(whole, fraction)| (whole, fraction));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if digits(whole) && digits(fraction) { text.parse().ok() } else { None }
}

/// Why a gate is open or shut; [`Verdict::code`] names it in the heartbeat and in `/prune status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Used tokens reached the threshold.
    Reached,
    /// Used tokens are below the threshold.
    Below,
    /// A share of a window nobody knows.
    WindowUnknown,
    /// A share of the window, but nobody measures the used tokens.
    MeterMissing,
    /// A token count, but nobody measures the used tokens: the gate lets through and warns.
    Unmeasured,
}

impl Verdict {
    /// The stable name of this reason.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Below => "below",
            Self::WindowUnknown => "window-unknown",
            Self::MeterMissing => "meter-missing",
            Self::Unmeasured => "unmeasured",
        }
    }
}

/// What a limit says about one moment of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pressure {
    /// Whether the gate lets a pass through.
    pub open: bool,
    /// The reason.
    pub verdict: Verdict,
    /// The threshold in tokens, when it can be known.
    pub threshold: Option<f64>,
    /// The share of the window that is used above the threshold, 0 to 1; 0 when it cannot be known.
    pub ratio: f64,
}

/// Holds `limit` against `used` tokens of a `window` (both `None` when unknown; numbers that are not
/// finite or not positive count as unknown). With an unknown window an absolute limit divides by `used`.
#[must_use]
pub fn pressure(limit: Limit, used: Option<f64>, window: Option<f64>) -> Pressure {
    let used = used.filter(|tokens| tokens.is_finite() && *tokens >= 0.0);
    let window = window.filter(|tokens| tokens.is_finite() && *tokens > 0.0);
    let threshold = match (limit, window) {
        (Limit::Tokens(tokens), _) => tokens,
        (Limit::Share(share), Some(window)) => (share * window).floor(),
        (Limit::Share(_), None) => return shut(Verdict::WindowUnknown, None),
    };
    let Some(used) = used else {
        return match limit {
            Limit::Share(_) => shut(Verdict::MeterMissing, Some(threshold)),
            Limit::Tokens(_) => {
                Pressure { open: true, verdict: Verdict::Unmeasured, threshold: Some(threshold), ratio: 0.0 }
            }
        };
    };
    if used < threshold {
        return shut(Verdict::Below, Some(threshold));
    }
    let ratio = ((used - threshold) / window.unwrap_or(used)).clamp(0.0, 1.0);
    Pressure {
        open: true,
        verdict: Verdict::Reached,
        threshold: Some(threshold),
        ratio: if ratio.is_nan() { 0.0 } else { ratio },
    }
}

fn shut(verdict: Verdict, threshold: Option<f64>) -> Pressure {
    Pressure { open: false, verdict, threshold, ratio: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(limit: &str, used: Option<f64>, window: Option<f64>) -> Pressure {
        pressure(parse_limit(limit).unwrap(), used, window)
    }

    #[test]
    fn input_21_share_of_a_known_window() {
        let found = at("55%", Some(60_000.0), Some(100_000.0));
        assert_eq!((found.open, found.threshold), (true, Some(55_000.0)));
        assert!((found.ratio - 0.05).abs() < 1e-12);
    }

    #[test]
    fn input_21_limits_that_are_none() {
        for text in [
            "0%",
            "101%",
            "abc",
            "-3",
            "",
            "%",
            "0",
            "5.5",
            " 55%",
            "55 %",
            "1e3",
            "+3",
            "NaN",
            "55.%",
            ".5%",
            "100.0001%",
            "99999999999999999999",
        ] {
            assert!(parse_limit(text).is_err(), "{text}");
        }
        assert!(parse_limit("0%").unwrap_err().to_string().starts_with("\"0%\" is not a limit"));
        assert_eq!(parse_limit("100%"), Ok(Limit::Share(1.0)));
        assert_eq!(parse_limit("0.5%"), Ok(Limit::Share(0.005)));
    }

    #[test]
    fn input_21_unknown_window() {
        let share = at("55%", Some(60_000.0), None);
        assert_eq!((share.open, share.verdict), (false, Verdict::WindowUnknown));
        let tokens = at("3000", Some(4_000.0), None);
        assert_eq!((tokens.open, tokens.threshold, tokens.ratio), (true, Some(3_000.0), 0.25));
    }

    #[test]
    fn a_missing_meter_shuts_a_share_and_passes_tokens_with_a_warning() {
        assert_eq!(at("55%", None, Some(1e5)).verdict, Verdict::MeterMissing);
        let tokens = at("3000", None, None);
        assert_eq!((tokens.open, tokens.verdict, tokens.ratio), (true, Verdict::Unmeasured, 0.0));
        assert_eq!(at("3000", Some(f64::NAN), None).verdict, Verdict::Unmeasured);
    }

    #[test]
    fn exactly_at_the_threshold_is_open_with_no_ratio() {
        let found = at("50%", Some(500.0), Some(1_000.0));
        assert_eq!((found.open, found.ratio), (true, 0.0));
        assert!(!at("50%", Some(499.0), Some(1_000.0)).open);
    }

    proptest! {
        #[test]
        fn the_ratio_is_a_share(limit in 1u32..100, used in 0.0f64..1e7, window in proptest::option::of(1.0f64..1e6)) {
            for text in [format!("{limit}%"), format!("{limit}000")] {
                let found = at(&text, Some(used), window);
                prop_assert!((0.0..=1.0).contains(&found.ratio));
                prop_assert!(found.open || found.ratio == 0.0);
            }
        }

        #[test]
        fn parsing_never_panics(text in any::<String>()) {
            let _ = parse_limit(&text);
        }
    }
}
