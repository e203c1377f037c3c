//! What every page has: its context, the answer that it becomes, the message of a redirect, style sheet and script.

mod address;
mod answer;
pub mod assets;
mod context;
mod error_page;
mod flash;
mod pager;

pub use address::console_address;
pub use answer::{list_address, local_address, preference, redirect, render, show, uncached};
pub use context::{PageContext, THEME, ZONE};
pub use error_page::{PageError, PageResult, page as error_page};
pub use flash::{FLASH, done, redirect_with_flash, refused};
pub use pager::{PagePlace, Pager};
