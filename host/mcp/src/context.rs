//! Who asks, in which era, and what the client declared.

use http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{Extensions, MetaObject, ProtocolVersion};
use rmcp::service::RequestContext;
use serde_json::Value;
use windlass_runtime::Caller;

/// The caller that the endpoint let in. A request that lost it on the way is nobody's: it sees nothing.
pub(crate) fn caller(extensions: &Extensions) -> Caller {
    extensions
        .get::<Parts>()
        .and_then(|parts| parts.extensions.get::<Caller>())
        .cloned()
        .unwrap_or_else(|| Caller { principal: String::new(), operator: false })
}

/// Revision 2026-07-28 or later.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    // Versions are dates: they compare as text.
    context.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The request declared the tasks extension, in an era that has it.
pub(crate) fn takes_tasks(context: &RequestContext<RoleServer>) -> bool {
    is_modern(context) && context.client_capabilities().is_some_and(|declared| declared.supports_tasks())
}

/// The client can show a form.
pub(crate) fn shows_forms(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|declared| declared.elicitation.is_some())
}

/// A `_meta` of these fields.
pub(crate) fn meta<const N: usize>(fields: [(&str, Value); N]) -> MetaObject {
    let mut meta = MetaObject::new();
    for (name, value) in fields {
        meta.0.insert(name.to_owned(), value);
    }
    meta
}
