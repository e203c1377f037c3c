//! The attribute `#[job]` of `carillon-executor`, which documents it.
//!
//! `attribute` reads the members, `member` checks the value of each, `function` reads the signature, `expand` writes the code.

mod attribute;
mod expand;
mod function;
mod member;
#[cfg(test)]
mod messages_tests;

use proc_macro::TokenStream;
use quote::quote;

/// Declares a job and registers an async function as its handler; see the documentation of `carillon_executor::job`.
#[proc_macro_attribute]
pub fn job(members: TokenStream, function: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(function.clone());
    expand::expand(members.into(), function.into()).map_or_else(
        |error| {
            let error = error.into_compile_error();
            // The function stays, so that its callers have no further errors.
            quote! { #item #error }.into()
        },
        Into::into,
    )
}
