//! The `windlass` program.

fn main() -> std::process::ExitCode {
    windlass_server::cli::main()
}
