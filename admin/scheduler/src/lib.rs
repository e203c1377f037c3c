pub type Millis = i64;
