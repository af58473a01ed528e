//! `#[tool]`: the function stays as it is; beside it, in the namespace of types, stands its entry of the manifest.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Error, FnArg, Ident, ItemFn, LitBool, LitStr, Result, ReturnType, Token, Type,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    spanned::Spanned,
};

use crate::attributes::doc;

/// First words of permissions; what follows is checked by the host.
const PERMISSIONS: [&str; 8] =
    ["browser", "browser-load", "browser-state", "http", "secret", "reveal", "child", "workdir"];

/// Whether a caller over MCP may, must or can't take a call as a task.
const TASK_SUPPORT: [&str; 3] = ["forbidden", "optional", "required"];

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
    task_support: Option<LitStr>,
    ask_first: Option<AskFirst>,
}

/// `ask_first(Form, "key", "What people read")`.
struct AskFirst {
    form: Type,
    key: LitStr,
    message: LitStr,
}

impl Parse for AskFirst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let form = input.parse()?;
        input.parse::<Token![,]>()?;
        let key: LitStr = input.parse()?;
        let plain = key.value().bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        if !plain || !(1..=64).contains(&key.value().len()) {
            return Err(Error::new(key.span(), "a key is `[A-Za-z0-9._-]{1,64}`"));
        }
        input.parse::<Token![,]>()?;
        let message: LitStr = input.parse()?;
        if !(1..=4096).contains(&message.value().len()) {
            return Err(Error::new(message.span(), "what is asked has 1 to 4096 bytes"));
        }
        input.parse::<Option<Token![,]>>()?;
        Ok(Self { form, key, message })
    }
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
            "task_support" => {
                let word = text()?;
                if !TASK_SUPPORT.contains(&word.value().as_str()) {
                    return Err(Error::new(word.span(), "one of `forbidden`, `optional`, `required`"));
                }
                self.task_support = Some(word);
            }
            "ask_first" => {
                let list;
                syn::parenthesized!(list in input);
                self.ask_first = Some(list.parse()?);
            }
            other => {
                let Some((_, hint)) = HINTS.iter().find(|(name, _)| *name == other) else {
                    let known = "name, title, permissions, task_support, ask_first, read_only, destructive, idempotent or open_world";
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
    let known = "`browser ORIGIN`, `browser-load ORIGIN`, `browser-state ORIGIN`, `http ORIGIN`, `secret NAME`, `reveal NAME`, `child TOOL`, `workdir`";
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

/// The form as a member of the manifest; the tool's input has each of its fields.
fn asked_first(ask: &AskFirst, input: Option<&Type>) -> Result<TokenStream> {
    let AskFirst { form, key, message } = ask;
    let Some(input) = input else {
        return Err(Error::new_spanned(form, "what is asked first goes into the input, and this tool has none"));
    };
    Ok(quote! {
        Piece::Key("askFirst"),
        Piece::Raw("{"),
        Piece::Text("key", #key),
        Piece::Text("message", #message),
        Piece::Key("schema"),
        Piece::All({
            const { windlass::__private::declared::<#form, #input>() };
            &windlass::__private::whole::<#form>()
        }),
        Piece::Raw("}"),
    })
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
    let task_support = arguments.task_support.as_ref().map(|word| quote!(Piece::Text("taskSupport", #word),));
    let input = match inputs.first() {
        Some(FnArg::Typed(input)) => Some(&input.ty),
        _ => None,
    };
    let ask_first = arguments.ask_first.as_ref().map(|ask| asked_first(ask, input.map(Box::as_ref))).transpose()?;
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
                    #task_support
                    #ask_first
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
