//! The allocator of the program: less memory and less time than that of the C library, which SQLite keeps. With jemalloc below C
//! code too, the program does not start under libfaketime, which the tests of clocks use.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
