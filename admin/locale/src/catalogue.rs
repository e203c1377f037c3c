//! The texts of `templates/locales`, a folder for each language, compiled into the program.

use std::borrow::Cow;
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
    for (name, text) in files(language, ".ftl") {
        let resource = FluentResource::try_new(text).unwrap_or_else(|(_, errors)| panic!("{name}: {errors:?}"));
        bundle.add_resource(resource).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    }
    bundle
}

/// The files of a language whose names have this ending: each name with the file's text.
///
/// # Panics
/// Never: a listed file exists.
pub(super) fn files(language: Language, ending: &'static str) -> impl Iterator<Item = (Cow<'static, str>, String)> {
    let is_wanted = move |name: &str| name.starts_with(language.code()) && name.ends_with(ending);
    Files::iter().filter(move |name| is_wanted(name)).map(|name| {
        let file = Files::get(&name).expect("a listed file exists");
        let text = String::from_utf8_lossy(&file.data).into_owned();
        (name, text)
    })
}

/// The text of a key. None: the catalogue of the language does not have it, or an argument is missing.
pub(super) fn text(language: Language, key: &str, args: &FluentArgs<'_>) -> Option<String> {
    let (_, bundle) = BUNDLES.iter().find(|(of, _)| *of == language)?;
    let pattern = bundle.get_message(key)?.value()?;
    let mut errors = vec![];
    let text = bundle.format_pattern(pattern, Some(args), &mut errors).into_owned();
    errors.is_empty().then_some(text)
}
