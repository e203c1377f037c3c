//! Closed sets of words: each value has one spelling (API, command line, forms) and one small number (database).
//!
//! The macro writes both directions of both, so a new variant cannot be half known.

/// A word that is not in its set. The text names the set and all that would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not a {set}; allowed: {allowed}")]
pub struct UnknownWord {
    /// What was asked for, such as `route`.
    pub set: &'static str,
    /// What was given.
    pub word: String,
    /// The words that are allowed, separated by commas.
    pub allowed: String,
}

/// Declares an enum whose variants have a code and a word; the first variant is the default.
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
            type Err = $crate::words::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word).ok_or_else(|| {
                    $crate::words::UnknownWord {
                        set: $set,
                        word: word.to_owned(),
                        allowed: [$( $word, )+].join(", "),
                    }
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// The first word of a set is its default, as "One spelling" has it.
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

#[cfg(test)]
mod tests {
    use crate::{BlockStrategy, Cause, MisfirePolicy, RouteStrategy, RunState};

    #[test]
    fn codes_and_words_go_both_ways() {
        for &state in RunState::ALL {
            assert_eq!(RunState::from_code(state.code()), Some(state));
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        for &cause in Cause::ALL {
            assert_eq!(Cause::from_code(cause.code()), Some(cause));
            assert_eq!(serde_json::to_value(cause).unwrap(), cause.as_str());
        }
        assert_eq!(RunState::from_code(5), None);
    }

    #[test]
    fn an_unknown_word_is_told_what_would_be_right() {
        let error = "fifo".parse::<RouteStrategy>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`fifo` is not a route; allowed: round_robin, first, random, broadcast, last, consistent_hash, least_frequently_used, least_recently_used, failover, busy_over, weighted, least_active, sticky, label"
        );
        let error = serde_json::from_str::<MisfirePolicy>("\"later\"").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`later` is not a misfire policy; allowed: fire_once, skip, fire_all, fire_within"
        );
    }

    #[test]
    fn the_first_word_is_the_default() {
        assert_eq!(RouteStrategy::default(), RouteStrategy::RoundRobin);
        assert_eq!(BlockStrategy::default(), BlockStrategy::Serial);
        assert_eq!(MisfirePolicy::default(), MisfirePolicy::FireOnce);
    }
}
