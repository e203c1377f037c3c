//! The texts of `templates/locales`, a folder for each language, compiled into the program.

use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use rust_embed::RustEmbed;
use unic_langid::LanguageIdentifier;

use crate::language::Language;

#[derive(RustEmbed)]
#[folder = "../../templates/locales/"]
struct Files;

type Bundle = FluentBundle<FluentResource>;

static BUNDLES: LazyLock<Vec<(Language, Bundle)>> =
    LazyLock::new(|| Language::ALL.into_iter().map(|language| (language, bundle(language))).collect());

/// # Panics
/// A file of the catalogue cannot be read, or has a key of another file: a test reads all of them.
fn bundle(language: Language) -> Bundle {
    let tag: LanguageIdentifier = language.tag().parse().expect("a tag of ours is one");
    let mut bundle = FluentBundle::new_concurrent(vec![tag]);
    // Marks around arguments for mixed directions of writing: neither language needs them, and they would be copied with a name.
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(crate::number::write));
    for resource in resources(language, "") {
        bundle.add_resource(resource).unwrap_or_else(|errors| panic!("{}: {errors:?}", language.code()));
    }
    bundle
}

/// The files of a language whose names begin so.
///
/// # Panics
/// As [`bundle`].
pub(super) fn resources(language: Language, begin: &str) -> Vec<FluentResource> {
    let begin = format!("{}/{begin}", language.code());
    let read = |name: &str| {
        let file = Files::get(name).expect("a listed file is there");
        let text = String::from_utf8_lossy(&file.data).into_owned();
        FluentResource::try_new(text).unwrap_or_else(|(_, errors)| panic!("{name}: {errors:?}"))
    };
    Files::iter().filter(|name| name.starts_with(&begin)).map(|name| read(&name)).collect()
}

/// The text of a key. None: the catalogue of the language does not have it, or an argument is missing.
pub(super) fn text(language: Language, key: &str, args: &FluentArgs<'_>) -> Option<String> {
    let (_, bundle) = BUNDLES.iter().find(|(of, _)| *of == language)?;
    let pattern = bundle.get_message(key)?.value()?;
    let mut errors = vec![];
    let text = bundle.format_pattern(pattern, Some(args), &mut errors).into_owned();
    errors.is_empty().then_some(text)
}
