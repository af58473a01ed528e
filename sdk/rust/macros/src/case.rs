//! serde's `rename_all`.

/// How a name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Case {
    pub(crate) fn read(name: &str) -> Option<Self> {
        Some(match name {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => return None,
        })
    }

    /// A field, which is written in snake case.
    pub(crate) fn field(self, name: &str) -> String {
        let pascal = || name.split('_').map(capitalized).collect::<String>();
        match self {
            Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_uppercase(),
            Self::Pascal => pascal(),
            Self::Camel => uncapitalized(&pascal()),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_uppercase().replace('_', "-"),
        }
    }

    /// A variant, which is written in Pascal case.
    pub(crate) fn variant(self, name: &str) -> String {
        let split = |separator: char| {
            let mut out = String::new();
            for (i, char) in name.char_indices() {
                if i > 0 && char.is_uppercase() {
                    out.push(separator);
                }
                out.extend(char.to_lowercase());
            }
            out
        };
        match self {
            Self::Pascal => name.to_owned(),
            Self::Lower => name.to_lowercase(),
            Self::Upper => name.to_uppercase(),
            Self::Camel => uncapitalized(name),
            Self::Snake => split('_'),
            Self::ScreamingSnake => split('_').to_uppercase(),
            Self::Kebab => split('-'),
            Self::ScreamingKebab => split('-').to_uppercase(),
        }
    }
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn uncapitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::Case;

    #[test]
    fn names_are_written_as_serde_writes_them() {
        let all = [
            ("lowercase", "first_name", "nextday"),
            ("UPPERCASE", "FIRST_NAME", "NEXTDAY"),
            ("PascalCase", "FirstName", "NextDay"),
            ("camelCase", "firstName", "nextDay"),
            ("snake_case", "first_name", "next_day"),
            ("SCREAMING_SNAKE_CASE", "FIRST_NAME", "NEXT_DAY"),
            ("kebab-case", "first-name", "next-day"),
            ("SCREAMING-KEBAB-CASE", "FIRST-NAME", "NEXT-DAY"),
        ];
        for (case, field, variant) in all {
            let case = Case::read(case).expect("a case of serde");
            assert_eq!((case.field("first_name").as_str(), case.variant("NextDay").as_str()), (field, variant));
        }
        assert_eq!(Case::read("Train-Case"), None);
    }
}
