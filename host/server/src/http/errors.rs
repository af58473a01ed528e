//! The pages of the coded errors, as they stand under `docs/errors/`: what `type` of a problem leads to.

use super::problem::EdgeError;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

macro_rules! pages {
    ($($code:literal)*) => {
        /// Every code with its page.
        pub(crate) const PAGES: &[(&str, &str)] =
            &[$(($code, include_str!(concat!("../../../../docs/errors/", $code, ".md")))),*];
    };
}

pages! {
    "WL0001" "WL0002" "WL0003" "WL0004" "WL0005" "WL0006" "WL0007" "WL0008" "WL0009" "WL0010"
    "WL0011" "WL0012" "WL0013" "WL0014" "WL0015" "WL0016" "WL0017" "WL0018" "WL0019" "WL0020"
    "WL0021" "WL0030" "WL0031" "WL0032" "WL0033" "WL0040"
    "WL0101" "WL0102" "WL0103" "WL0104" "WL0105" "WL0106" "WL0107" "WL0108" "WL0109" "WL0110" "WL0111"
}

pub(super) async fn page(path: Option<Path<String>>) -> Response {
    let code = path.map(|Path(code)| code).unwrap_or_default();
    match PAGES.iter().find(|(known, _)| *known == code) {
        Some((_, text)) => {
            ([(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, "max-age=3600")], *text).into_response()
        }
        None => super::problem::Problem::from(EdgeError::NoRoute(format!("/errors/{code}"))).into_response(),
    }
}

/// One of each error of the runtime, so that its table can be walked.
#[cfg(test)]
pub(crate) fn runtime_errors() -> Vec<windlass_runtime::Error> {
    use windlass_core::cursor::CursorError;
    use windlass_runtime::{Error, Refusal};
    let text = String::new;
    vec![
        Error::UnknownTool { name: text(), known: vec![], disabled: None },
        Error::InvalidInput { tool: text(), violations: vec![] },
        Error::UnknownTask(text()),
        Error::IllegalMove { why: text(), status: "" },
        Error::Cursor(CursorError::NotANumber),
        Error::Cursor(CursorError::Beyond { last_seq: 0 }),
        Error::Cursor(CursorError::Gone { oldest_seq: 0 }),
        Error::IdempotencyConflict { task: text() },
        Error::UnknownQuestion { key: text(), open: vec![] },
        Error::InvalidAnswer { key: text(), violations: vec![] },
        Error::Invalid(text()),
        Error::UnknownArtifact { id: text(), known: vec![] },
        Error::UnknownPlugin(text()),
        Error::Refused(Refusal::NotWasm),
        Error::PluginHeld { name: text(), turns: 0 },
        Error::BuiltIn(text()),
        Error::UnknownSecret(text()),
        Error::SecretsKey(text()),
        Error::UnknownFile { path: text(), known: vec![] },
        Error::NotOperator,
        Error::Io(std::io::Error::other("")),
        Error::Closing,
        Error::UnknownToken(text()),
        Error::TokenTaken(text()),
        Error::AskedFirst {
            tool: text(),
            ask: Box::new(windlass_core::AskFirst { key: text(), message: text(), schema: serde_json::Value::Null }),
        },
        Error::NoSpace { free: 0, needed: 0 },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_with_its_title_a_cause_and_a_cure() {
        let edge = EdgeError::one_of_each();
        let specs: Vec<_> = edge
            .iter()
            .map(EdgeError::spec)
            .chain(runtime_errors().iter().map(windlass_runtime::Error::spec))
            .collect();
        assert_eq!(specs.len(), PAGES.len(), "a page without a code, or the reverse");
        for spec in specs {
            let (_, page) = PAGES.iter().find(|(code, _)| *code == spec.code).expect(spec.code);
            assert!(page.starts_with(&format!("# {}: {}\n", spec.code, spec.title)), "title of {}", spec.code);
            assert!(page.contains("\n## Cause\n") && page.contains("\n## Cure\n"), "{}", spec.code);
            assert!(page.contains(&format!("HTTP {}", spec.http)), "HTTP status of {}", spec.code);
            assert!(page.contains(&format!("exit code {}", spec.exit)), "exit code of {}", spec.code);
        }
    }
}
