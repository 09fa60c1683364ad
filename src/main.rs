//! The `auditor` binary: a shell over [`auditor::cli`].

fn main() -> std::process::ExitCode {
    auditor::cli::main()
}
