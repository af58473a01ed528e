//! `#[derive(Schema)]`: the pieces of a schema, from fields or variants.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataEnum, DeriveInput, Error, Field, Fields, FieldsNamed, Result, ext::IdentExt};

use crate::attributes::{Json, Keywords, Serde, doc};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a derived schema is a constant: it has no parameters"));
    }
    let serde = Serde::read(&input.attrs)?;
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => object(input, &serde, fields),
            other => Err(Error::new_spanned(other, "a schema needs named fields")),
        },
        Data::Enum(data) => choice(input, &serde, data),
        Data::Union(data) => Err(Error::new(data.union_token.span, "a union has no JSON")),
    }
}

/// A struct: an object with a property for each field.
fn object(input: &DeriveInput, serde: &Serde, fields: &FieldsNamed) -> Result<TokenStream> {
    let name = &input.ident;
    let description = doc(&input.attrs);
    let fields = fields.named.iter().map(|field| Property::read(field, serde)).collect::<Result<Vec<_>>>()?;
    let fields: Vec<_> = fields.into_iter().flatten().collect();

    let properties = fields.iter().map(Property::pieces);
    let required = fields.iter().map(Property::required_item);
    let fill = fields.iter().map(Property::fill);
    let names = fields.iter().map(|field| &field.name);
    let requires = fields.iter().map(Property::required);
    let types = fields.iter().map(|field| &field.field.ty);
    // Closed, whatever serde does with a field that it does not know: a misspelt one is the caller's to hear of.
    let closed = quote!(, windlass::__private::Piece::Member("additionalProperties", "false"));
    Ok(quote! {
        #[automatically_derived]
        impl windlass::schema::Schema for #name {
            const KEYWORDS: &'static [windlass::__private::Piece] = {
                use windlass::{__private::Piece, schema::Schema};
                &[
                    Piece::Text("type", "object"),
                    Piece::Key("properties"),
                    Piece::Raw("{"),
                    #(#properties)*
                    Piece::Raw("}"),
                    Piece::Key("required"),
                    Piece::Raw("["),
                    #(#required,)*
                    Piece::Raw("]")
                    #closed
                ]
            };
            const DESCRIPTION: &'static str = #description;
            fn fill(value: &mut windlass::__private::Value) {
                let _ = &value;
                #(#fill)*
            }
        }
        #[automatically_derived]
        impl windlass::schema::Object for #name {
            const FLAT: bool = true #(&& <#types as windlass::schema::Schema>::PRIMITIVE)*;
            const NAMES: &'static [&'static str] = &[#(#names),*];
            const REQUIRES: bool = false #(|| (#requires))*;
        }
    })
}

/// An enum: a string out of a list.
fn choice(input: &DeriveInput, serde: &Serde, data: &DataEnum) -> Result<TokenStream> {
    let name = &input.ident;
    let description = doc(&input.attrs);
    let mut names = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(variant, "only enums without data have a schema: a list of strings"));
        }
        let own = Serde::read(&variant.attrs)?;
        let ident = variant.ident.unraw().to_string();
        if !own.skip {
            names.push(
                own.rename.unwrap_or_else(|| serde.rename_all.map_or(ident.clone(), |case| case.variant(&ident))),
            );
        }
    }
    if names.is_empty() {
        return Err(Error::new_spanned(name, "an enum without variants has no JSON"));
    }
    Ok(quote! {
        #[automatically_derived]
        impl windlass::schema::Schema for #name {
            const KEYWORDS: &'static [windlass::__private::Piece] = {
                use windlass::__private::Piece;
                &[
                    Piece::Text("type", "string"),
                    Piece::Key("enum"),
                    Piece::Raw("["),
                    #(Piece::Item(true, #names),)*
                    Piece::Raw("]"),
                ]
            };
            const DESCRIPTION: &'static str = #description;
            const PRIMITIVE: bool = true;
        }
    })
}

/// A field that is in the JSON.
struct Property<'a> {
    field: &'a Field,
    name: String,
    optional: bool,
    keywords: Keywords,
}

impl<'a> Property<'a> {
    fn read(field: &'a Field, container: &Serde) -> Result<Option<Self>> {
        let serde = Serde::read(&field.attrs)?;
        let keywords = Keywords::read(&field.attrs)?;
        let ident = field.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default();
        let name =
            serde.rename.unwrap_or_else(|| container.rename_all.map_or(ident.clone(), |case| case.field(&ident)));
        let optional = serde.default || container.default || keywords.get("default").is_some();
        Ok((!serde.skip).then_some(Self { field, name, optional, keywords }))
    }

    fn pieces(&self) -> TokenStream {
        let (name, ty) = (&self.name, &self.field.ty);
        let doc = doc(&self.field.attrs);
        let description = if self.keywords.get("description").is_some() {
            quote!()
        } else if doc.is_empty() {
            quote!(Piece::Text("description", <#ty as Schema>::DESCRIPTION),)
        } else {
            quote!(Piece::Text("description", #doc),)
        };
        let minimum =
            self.keywords.get("minimum").is_none().then(|| quote!(Piece::Member("minimum", <#ty as Schema>::MINIMUM),));
        let keywords = self.keywords.members.iter().map(|(keyword, json)| match json {
            // An empty string is a value too, so it can't go through `Piece::Text`.
            Json::Text(text) => quote!(Piece::Key(#keyword), Piece::Str(#text),),
            Json::Raw(raw) => quote!(Piece::Member(#keyword, #raw),),
        });
        quote! {
            Piece::Key(#name),
            Piece::Raw("{"),
            Piece::All(<#ty as Schema>::KEYWORDS),
            #description
            #minimum
            #(#keywords)*
            Piece::Raw("}"),
        }
    }

    /// Whether it has to be there: an expression.
    fn required(&self) -> TokenStream {
        let (ty, optional) = (&self.field.ty, self.optional);
        quote!(!#optional && <#ty as windlass::schema::Schema>::REQUIRED)
    }

    fn required_item(&self) -> TokenStream {
        let (name, required) = (&self.name, self.required());
        quote!(Piece::Item(#required, #name))
    }

    fn fill(&self) -> TokenStream {
        let (name, ty) = (&self.name, &self.field.ty);
        let default = match self.keywords.get("default") {
            None => quote!(None),
            Some(Json::Text(text)) => quote!(Some(windlass::__private::Value::from(#text))),
            Some(Json::Raw(raw)) => {
                let literal: TokenStream = raw.parse().unwrap_or_default();
                quote!(Some(windlass::__private::Value::from(#literal)))
            }
        };
        let required = self.required();
        quote!(windlass::__private::fill_member::<#ty>(value, #name, #required, #default);)
    }
}
