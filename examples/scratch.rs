//! Scratch.
fn main() {
    let threads = std::env::var("T").ok().and_then(|t| t.parse().ok()).unwrap_or(1);
    for path in std::env::args().skip(1) {
        let t = std::time::Instant::now();
        let a = tool_rewind::audit::Audit { threads: std::num::NonZero::new(threads).unwrap() }
            .run(&path, std::fs::File::open(&path).unwrap(), |_| ())
            .unwrap();
        eprintln!("{:?}", t.elapsed());
        if std::env::var("Q").is_err() {
            println!("{}", serde_json::to_string(&a).unwrap());
        }
    }
}
