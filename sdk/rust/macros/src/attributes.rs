//! What attributes say: doc comments, the part of serde's that changes the shape of JSON, and `#[schema(…)]`.

use syn::{
    Attribute, Error, Expr, ExprLit, ExprUnary, Ident, Lit, LitStr, Meta, Result, Token, UnOp, meta::ParseNestedMeta,
};

use crate::case::Case;

/// The text of a doc comment: lines that belong together become one, paragraphs stay apart. Code and lists keep theirs.
pub(crate) fn doc(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut out = String::new();
    for line in text.lines().map(str::trim) {
        let own_line = line.starts_with(['-', '*', '|', '`', '#', '>']);
        match line {
            "" if out.is_empty() || out.ends_with("\n\n") => {}
            "" => out.push_str("\n\n"),
            line => {
                if !out.is_empty() && !out.ends_with('\n') {
                    out.push(if own_line { '\n' } else { ' ' });
                }
                out.push_str(line);
            }
        }
    }
    out.trim_end().to_owned()
}

/// The part of `#[serde(…)]` that a schema has to follow.
#[derive(Default)]
pub(crate) struct Serde {
    pub(crate) rename: Option<String>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) default: bool,
    pub(crate) skip: bool,
}

impl Serde {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut serde = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| serde.entry(&meta))?;
        }
        Ok(serde)
    }

    fn entry(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
        match name.as_str() {
            "rename" => self.rename = Some(text(meta)?.value()),
            "rename_all" => {
                let case = text(meta)?;
                self.rename_all =
                    Some(Case::read(&case.value()).ok_or_else(|| Error::new(case.span(), "no such case"))?);
            }
            "default" => {
                self.default = true;
                skip_value(meta)?;
            }
            "skip" => self.skip = true,
            // The schema is closed without it.
            "deny_unknown_fields" => {}
            "skip_serializing_if" | "alias" | "crate" | "bound" | "expecting" => skip_value(meta)?,
            _ => return Err(meta.error("a derived schema can't follow this serde attribute")),
        }
        Ok(())
    }
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    if meta.input.peek(syn::token::Paren) {
        return Err(meta.error("a derived schema has one name for both directions"));
    }
    meta.value()?.parse()
}

fn skip_value(meta: &ParseNestedMeta<'_>) -> Result<()> {
    if meta.input.peek(Token![=]) {
        let _: Expr = meta.value()?.parse()?;
    }
    Ok(())
}

/// One `#[schema(…)]` of a field: keyword and JSON.
#[derive(Default)]
pub(crate) struct Keywords {
    pub(crate) members: Vec<(&'static str, Json)>,
}

/// A literal, as JSON.
pub(crate) enum Json {
    Text(String),
    Raw(String),
}

impl Keywords {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut keywords = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("schema")) {
            attribute.parse_nested_meta(|meta| keywords.entry(&meta))?;
        }
        Ok(keywords)
    }

    pub(crate) fn get(&self, keyword: &str) -> Option<&Json> {
        self.members.iter().find(|(name, _)| *name == keyword).map(|(_, json)| json)
    }

    fn entry(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        const KNOWN: [(&str, &str); 13] = [
            ("title", "title"),
            ("description", "description"),
            ("default", "default"),
            ("minimum", "minimum"),
            ("maximum", "maximum"),
            ("pattern", "pattern"),
            ("format", "format"),
            ("min_length", "minLength"),
            ("max_length", "maxLength"),
            ("min_items", "minItems"),
            ("max_items", "maxItems"),
            ("multiple_of", "multipleOf"),
            ("mcp_header", "x-mcp-header"),
        ];
        let Some((name, keyword)) = KNOWN.iter().find(|(name, _)| meta.path.is_ident(name)) else {
            let known = KNOWN.map(|(name, _)| name).join(", ");
            return Err(meta.error(format!("unknown; a field can have {known}")));
        };
        let value: Expr = meta.value()?.parse()?;
        let json = Json::read(&value)?;
        let wants_text = matches!(*name, "title" | "description" | "pattern" | "format" | "mcp_header");
        let is_number = matches!(&json, Json::Raw(raw) if !matches!(raw.as_str(), "true" | "false"));
        if wants_text != matches!(json, Json::Text(_)) && *name != "default"
            || !wants_text && *name != "default" && !is_number
        {
            let wanted = if wants_text { "a string" } else { "a number" };
            return Err(Error::new_spanned(value, format!("`{name}` wants {wanted}")));
        }
        if self.get(keyword).is_some() {
            return Err(meta.error("said twice"));
        }
        self.members.push((keyword, json));
        Ok(())
    }
}

impl Json {
    fn read(value: &Expr) -> Result<Self> {
        let (sign, value) = match value {
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => ("-", &**expr),
            value => ("", value),
        };
        match value {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => {
                Ok(Self::Raw(format!("{sign}{}", number.base10_digits())))
            }
            Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => {
                let digits = number.base10_digits();
                // `1.` is a number in Rust, but not in JSON.
                let digits = digits.strip_suffix('.').unwrap_or(digits);
                Ok(Self::Raw(format!("{sign}{digits}")))
            }
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if sign.is_empty() => Ok(Self::Text(text.value())),
            Expr::Lit(ExprLit { lit: Lit::Bool(bool), .. }) if sign.is_empty() => Ok(Self::Raw(bool.value.to_string())),
            other => Err(Error::new_spanned(other, "a literal is wanted: text, a number, true or false")),
        }
    }
}
