//! The signature of a job's function: async, with a context, parameters, both or neither.

use syn::{Error, FnArg, ItemFn, ReturnType, Type};

/// What the function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// `JobContext`
    Context,
    /// `&JobContext`
    BorrowedContext,
    /// Any other type.
    Params,
    /// A reference to one.
    BorrowedParams,
}

/// # Errors
/// The function cannot be a job.
pub fn arguments(function: &ItemFn) -> Result<Vec<Argument>, Error> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        return Err(Error::new_spanned(signature.fn_token, "a job is an async function: write `async fn`"));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(&signature.generics, "a job has no generic parameters"));
    }
    if let ReturnType::Default = signature.output {
        let message = "a job returns a Result, such as `Result<(), JobError>`";
        return Err(Error::new_spanned(&signature.ident, message));
    }
    let mut arguments = vec![];
    for input in &signature.inputs {
        let FnArg::Typed(typed) = input else {
            return Err(Error::new_spanned(input, "a job is a function without self"));
        };
        let argument = argument(&typed.ty);
        let is_context = |argument: &Argument| matches!(argument, Argument::Context | Argument::BorrowedContext);
        if arguments.iter().any(|known| is_context(known) == is_context(&argument)) {
            let message = "a job takes a `&JobContext` and one type of parameters, each at most once";
            return Err(Error::new_spanned(input, message));
        }
        arguments.push(argument);
    }
    Ok(arguments)
}

fn argument(given: &Type) -> Argument {
    match given {
        Type::Reference(reference) if is_context(&reference.elem) => Argument::BorrowedContext,
        Type::Reference(_) => Argument::BorrowedParams,
        given if is_context(given) => Argument::Context,
        _ => Argument::Params,
    }
}

fn is_context(given: &Type) -> bool {
    match given {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "JobContext"),
        _ => false,
    }
}
