//! Arguments of handlers that are read from the head of a request, without waiting for its body.

/// `from_request!(Type: Error, |request| result);` makes a type an argument of handlers.
macro_rules! from_request {
    ($type:ty: $error:ty, |$request:ident| $result:expr) => {
        impl actix_web::FromRequest for $type {
            type Error = $error;
            type Future = std::future::Ready<Result<Self, $error>>;

            fn from_request($request: &actix_web::HttpRequest, _: &mut actix_web::dev::Payload) -> Self::Future {
                std::future::ready($result)
            }
        }
    };
}

pub(crate) use from_request;
