//! The `auditor` binary: a shell over [`auditor::cli`].

fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
