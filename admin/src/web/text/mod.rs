//! What pages call things, in the words of the field.

pub mod strategies;
