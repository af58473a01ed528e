//! The derive and the attribute of the Windlass SDK. What they mean is documented where `windlass` exports them.

mod attributes;
mod case;
mod schema;
mod tool;

use proc_macro::TokenStream;

/// Derives a JSON Schema; see the trait of the same name.
#[proc_macro_derive(Schema, attributes(schema, serde))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    schema::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a tool of a function; documented in `windlass`, where its examples compile.
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = syn::parse_macro_input!(arguments as tool::Arguments);
    let function = syn::parse_macro_input!(item as syn::ItemFn);
    tool::expand(&arguments, &function).unwrap_or_else(syn::Error::into_compile_error).into()
}
