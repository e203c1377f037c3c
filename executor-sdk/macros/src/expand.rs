//! The code of a declared job: the function as it is, and an item that the builder of the executor finds.

use carillon_cron::members::check_key;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, LitStr};

use crate::attribute::{self, Attribute};
use crate::function::{Argument, arguments};

/// # Errors
/// Wrong members of the attribute, or a function that cannot be a job.
pub fn expand(members: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let function: ItemFn = syn::parse2(item)?;
    let attribute = attribute::read(members)?;
    let arguments = arguments(&function)?;
    let name = &function.sig.ident;
    let key = key(&attribute, &function)?;
    let Attribute { app, library, calls, .. } = attribute;
    let library = library.map_or_else(|| quote!(::carillon_executor), |path| quote!(#path));
    let app =
        app.map_or_else(|| quote!(::core::option::Option::None), |app| quote!(::core::option::Option::Some(#app)));
    let takes_params = arguments.iter().any(|it| matches!(it, Argument::Params | Argument::BorrowedParams));
    let read_params = takes_params.then(|| quote!(let __params = #library::attribute::params(&__ctx)?;));
    let arguments = arguments.iter().map(|argument| match argument {
        Argument::Context => quote!(::core::clone::Clone::clone(&__ctx)),
        Argument::BorrowedContext => quote!(&__ctx),
        Argument::Params => quote!(__params),
        Argument::BorrowedParams => quote!(&__params),
    });
    // The function may have any name but these.
    Ok(quote! {
        #function

        const _: () = {
            fn __declaration() -> #library::Declaration {
                #library::Declaration::new(#key)#(#calls)*
            }

            fn __run(__ctx: #library::JobContext) -> #library::attribute::Running {
                ::std::boxed::Box::pin(async move {
                    #read_params
                    #library::attribute::outcome(#name(#(#arguments),*).await)
                })
            }

            #library::attribute::inventory::submit! {
                #library::attribute::DeclaredFunction {
                    app: #app,
                    package: ::core::env!("CARGO_PKG_NAME"),
                    version: ::core::env!("CARGO_PKG_VERSION"),
                    declaration: __declaration,
                    run: __run,
                }
            }
        };
    })
}

/// The name that is given, else that of the function.
fn key(attribute: &Attribute, function: &ItemFn) -> Result<LitStr, Error> {
    if let Some(key) = &attribute.key {
        return Ok(key.clone());
    }
    let name = &function.sig.ident;
    let text = name.to_string();
    let text = text.trim_start_matches("r#");
    check_key(text).map_err(|problem| {
        Error::new(name.span(), format!("the function's name as the job's: {problem}; give it a `name`"))
    })?;
    Ok(LitStr::new(text, name.span()))
}
