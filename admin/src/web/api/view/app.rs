//! Apps, and the tokens of their executors.

use carillon_store::App;
use carillon_store::app::executor_tokens::ExecutorToken;
use carillon_store::app::rename::FormerName;
use carillon_store::app::secrets::SecretName;

use super::time::Time;
use super::view_macro::view;

view! {
    /// An app
    pub struct AppView as App from app: App {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        /// What executors register under
        #[schema(min_length = 4, max_length = 64)]
        name: String,
        /// For people
        #[schema(min_length = 0, max_length = 64)]
        title: String,
        /// When it was created
        created_at: Time,
        /// The token of all apps is not accepted from its executors, and not sent to them
        own_tokens_only: bool,
        /// Its executors that announce nothing, as those in Java, run scripts of every type
        runs_scripts: bool,
        /// The turns of its runs where runs of several apps wait for a limit
        #[schema(minimum = 1)]
        weight: i32,
    }
}

view! {
    /// A name that an app had. Executors may still register under it
    pub struct FormerNameView as FormerName from former: FormerName {
        /// The name
        #[schema(min_length = 4, max_length = 64)]
        name: String,
        /// When the app was given another one
        created_at: Time,
    }
}

view! {
    /// A secret, without its value
    pub struct SecretView as Secret from secret: SecretName {
        /// What requests name
        name: String,
        /// When it was set
        updated_at: Time,
    }
}

view! {
    /// A token of an app's executors
    pub struct AppTokenView as AppToken from token: ExecutorToken {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        /// For people
        name: String,
        /// When it was made
        created_at: Time,
        /// From when on it is refused; null: it lasts until it is revoked
        expires_at: Option<Time>,
        /// When an executor last registered with it, to the minute; null: never
        used_at: Option<Time>,
        /// The address that this executor's request came from
        used_from: Option<String>,
    }
}

view! {
    /// A token that was just made
    pub struct NewAppTokenView as NewAppToken from created: ExecutorToken, token: String {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        /// For people
        name: String,
        /// The token itself. It is not shown again
        token: String = token,
        /// From when on it is refused; null: it lasts until it is revoked
        expires_at: Option<Time>,
    }
}
