//! Where people read more: pages of the console.

/// The address of the console, without a slash at the end; None: it is not known under which address people reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links(pub Option<String>);

impl Links {
    pub fn alerts(&self) -> Option<String> {
        self.to("/alerts")
    }

    pub fn alert(&self, id: i64) -> Option<String> {
        self.to(&format!("/alerts/{id}"))
    }

    pub fn run(&self, id: i64) -> Option<String> {
        self.to(&format!("/runs/{id}"))
    }

    fn to(&self, path: &str) -> Option<String> {
        self.0.as_ref().map(|origin| format!("{origin}{path}"))
    }
}
