//! Closed sets: each value has one word (API, command line, forms) and one small number (database).
//!
//! The macro generates both directions of both, so that no new variant lacks one of them.

/// A word that is not in its set. The text names the set and its words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word:.64}` is not {article} {set}; allowed: {allowed}", article = article(.set))]
pub struct UnknownWord {
    /// The name of the set, such as `route`.
    pub set: &'static str,
    /// The unknown word; the text has its first 64 characters.
    pub word: String,
    /// The words that are allowed, separated by commas.
    pub allowed: String,
}

/// The names of the sets are spelled as they sound.
fn article(set: &str) -> &'static str {
    if set.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// Declares an enum whose variants have a code and a word. The crate that uses it depends on `serde`.
#[macro_export]
macro_rules! words {
    (
        $(#[$outer:meta])*
        pub enum $name:ident: $set:literal {
            $( $(#[$inner:meta])* $variant:ident = $code:literal $word:literal, )+
        }
    ) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i16)]
        pub enum $name { $( $(#[$inner])* $variant = $code, )+ }

        impl $name {
            /// Every value, in the order of the declaration.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// The number that stands for the value in the database.
            pub const fn code(self) -> i16 {
                self as i16
            }

            /// The value of a number from the database, if there is one.
            pub const fn from_code(code: i16) -> Option<Self> {
                match code {
                    $( $code => Some(Self::$variant), )+
                    _ => None,
                }
            }

            /// The word that stands for the value in the API, on the command line and in forms.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> std::result::Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word).ok_or_else(|| {
                    $crate::UnknownWord {
                        set: $set,
                        word: word.to_owned(),
                        allowed: [$( $word, )+].join(", "),
                    }
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Makes the first value of a set its default.
macro_rules! first_is_default {
    ($($name:ty),+) => { $(
        impl Default for $name {
            fn default() -> Self {
                Self::ALL[0]
            }
        }
    )+ };
}

pub(crate) use {first_is_default, words};
