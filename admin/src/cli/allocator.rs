//! The allocator of the whole program, SQLite included: less memory and less time than that of the C library.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
