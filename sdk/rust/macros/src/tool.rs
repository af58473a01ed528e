//! `#[tool]`: the function stays as it is; beside it, in the namespace of types, stands its entry of the manifest.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Error, FnArg, Ident, ItemFn, LitBool, LitStr, Result, ReturnType, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    spanned::Spanned,
};

use crate::attributes::doc;

/// First words of permissions; what follows is checked by the host.
const PERMISSIONS: [&str; 6] = ["browser", "http", "secret", "reveal", "child", "workdir"];

/// Names of hints, and what MCP calls them.
const HINTS: [(&str, &str); 4] = [
    ("read_only", "readOnlyHint"),
    ("destructive", "destructiveHint"),
    ("idempotent", "idempotentHint"),
    ("open_world", "openWorldHint"),
];

/// What stands in the parentheses of the attribute.
#[derive(Default)]
pub(crate) struct Arguments {
    name: Option<LitStr>,
    title: Option<LitStr>,
    permissions: Vec<LitStr>,
    hints: Vec<(&'static str, bool)>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Self::default();
        while !input.is_empty() {
            let key: Ident = input.call(Ident::parse_any)?;
            arguments.entry(&key, input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

impl Arguments {
    fn entry(&mut self, key: &Ident, input: ParseStream<'_>) -> Result<()> {
        let text = || {
            input.parse::<Token![=]>()?;
            input.parse::<LitStr>()
        };
        match key.to_string().as_str() {
            "name" => self.name = Some(text()?),
            "title" => self.title = Some(text()?),
            "permissions" => {
                let list;
                syn::parenthesized!(list in input);
                for permission in Punctuated::<LitStr, Token![,]>::parse_terminated(&list)? {
                    check_permission(&permission)?;
                    self.permissions.push(permission);
                }
            }
            other => {
                let Some((_, hint)) = HINTS.iter().find(|(name, _)| *name == other) else {
                    let known = "name, title, permissions, read_only, destructive, idempotent or open_world";
                    return Err(Error::new(key.span(), format!("unknown; a tool has {known}")));
                };
                let value = if input.peek(Token![=]) {
                    input.parse::<Token![=]>()?;
                    input.parse::<LitBool>()?.value
                } else {
                    true
                };
                self.hints.push((hint, value));
            }
        }
        Ok(())
    }
}

fn check_permission(permission: &LitStr) -> Result<()> {
    let text = permission.value();
    let mut words = text.split(' ');
    let kind = words.next().unwrap_or_default();
    let count = words.filter(|word| !word.is_empty()).count();
    if PERMISSIONS.contains(&kind) && count == usize::from(kind != "workdir") {
        return Ok(());
    }
    let known = "`browser ORIGIN`, `http ORIGIN`, `secret NAME`, `reveal NAME`, `child TOOL`, `workdir`";
    Err(Error::new(permission.span(), format!("a permission is one of {known}")))
}

fn check_name(name: &str, span: Span) -> Result<()> {
    let first = name.starts_with(|char: char| char.is_ascii_lowercase());
    let rest = name.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || "_-".contains(char));
    if !first || !rest || name.len() > 64 {
        return Err(Error::new(span, "the name of a tool is `[a-z][a-z0-9_-]{0,63}`"));
    }
    if name.starts_with("task_") {
        return Err(Error::new(span, "names that start with `task_` are the host's"));
    }
    Ok(())
}

/// `read-page` → `Read page`.
fn title(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
}

pub(crate) fn expand(arguments: &Arguments, function: &ItemFn) -> Result<TokenStream> {
    let signature = &function.sig;
    let (ident, vis) = (&signature.ident, &function.vis);
    if let Some(token) = &signature.asyncness {
        return Err(Error::new(token.span(), "a tool is not async: its calls wait by themselves"));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(&signature.generics, "a tool has no parameters of type"));
    }
    let ReturnType::Type(_, returned) = &signature.output else {
        return Err(Error::new_spanned(signature, "a tool returns a `Result`, for instance `windlass::Result<()>`"));
    };
    let (name, span) = match &arguments.name {
        Some(name) => (name.value(), name.span()),
        None => (ident.unraw().to_string(), ident.span()),
    };
    check_name(&name, span)?;
    let title = arguments.title.as_ref().map_or_else(|| title(&name), LitStr::value);
    let description = doc(&function.attrs);
    if description.is_empty() {
        return Err(Error::new_spanned(
            ident,
            "a tool needs a doc comment: people and models read it as its description",
        ));
    }

    let inputs: Vec<_> = signature.inputs.iter().collect();
    let (schema, call) = match inputs.as_slice() {
        [] => {
            (quote!(Piece::Raw(r#"{"type":"object","properties":{},"additionalProperties":false}"#)), quote!(#ident()))
        }
        [FnArg::Typed(input)] => {
            let ty = &input.ty;
            (
                quote!(Piece::All(&windlass::__private::whole::<#ty>())),
                quote!(#ident(windlass::__private::parse::<#ty>(input)?)),
            )
        }
        _ => {
            return Err(Error::new_spanned(&signature.inputs, "a tool takes nothing, or one struct"));
        }
    };
    let hints = arguments.hints.iter().map(|(hint, value)| {
        let value = value.to_string();
        quote!(Piece::Member(#hint, #value),)
    });
    let annotations = (!arguments.hints.is_empty())
        .then(|| quote!(Piece::Key("annotations"), Piece::Raw("{"), #(#hints)* Piece::Raw("}"),));
    let permissions = &arguments.permissions;

    Ok(quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis enum #ident {}

        #[automatically_derived]
        impl windlass::Tool for #ident {
            const NAME: &'static str = #name;
            const MANIFEST: &'static [windlass::__private::Piece] = {
                use windlass::__private::Piece;
                const OUTPUT: &[Piece] =
                    <<#returned as windlass::__private::Return>::Output as windlass::__private::IntoOutcome>::SCHEMA;
                &[
                    Piece::Raw("{"),
                    Piece::Text("name", #name),
                    Piece::Text("title", #title),
                    Piece::Text("description", #description),
                    Piece::Key("inputSchema"),
                    #schema,
                    Piece::All(if OUTPUT.is_empty() { &[] } else { &[Piece::Key("outputSchema"), Piece::All(OUTPUT)] }),
                    #annotations
                    Piece::Raw("}"),
                ]
            };
            const PERMISSIONS: &'static [&'static str] = &[#(#permissions),*];
            fn run(input: &str) -> windlass::Result<windlass::__private::Outcome> {
                let _ = input;
                windlass::__private::finish(#call)
            }
        }
    })
}
