use super::declaration::Declaration;

/// What [`ExecutorBuilder::job`](crate::ExecutorBuilder::job) takes as a name: a text for a handler whose jobs are made in the admin, or a
/// [`Declaration`].
pub struct JobName(pub(crate) Named);

pub(crate) enum Named {
    Handler(String),
    Declared(Box<Declaration>),
}

impl From<&str> for JobName {
    fn from(name: &str) -> Self {
        Self(Named::Handler(name.to_owned()))
    }
}

impl From<&String> for JobName {
    fn from(name: &String) -> Self {
        Self(Named::Handler(name.clone()))
    }
}

impl From<String> for JobName {
    fn from(name: String) -> Self {
        Self(Named::Handler(name))
    }
}

impl From<Declaration> for JobName {
    fn from(declaration: Declaration) -> Self {
        Self(Named::Declared(Box::new(declaration)))
    }
}
