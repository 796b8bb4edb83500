//! Places where a rule does not hold, and the exceptions of a rule.

/// A place where a rule does not hold.
#[derive(Debug)]
pub struct Finding {
    /// What an exception names: the path of a file, and where the rule is about items, `::` and the name of the item.
    pub subject: String,
    /// The message, with the path and the line.
    pub text: String,
}

/// The start of a subject, and why the rule does not hold there.
pub type Exception = (&'static str, &'static str);

/// Fails with all findings that are not exceptions, and with the exceptions that are not needed.
pub fn check(findings: &[Finding], exceptions: &[Exception]) {
    let is_excepted = |finding: &Finding, exception: &Exception| finding.subject.starts_with(exception.0);
    let wrong = findings
        .iter()
        .filter(|finding| !exceptions.iter().any(|exception| is_excepted(finding, exception)));
    let mut lines: Vec<String> = wrong.map(|finding| finding.text.clone()).collect();
    let unneeded = exceptions
        .iter()
        .filter(|exception| !findings.iter().any(|finding| is_excepted(finding, exception)));
    lines.extend(
        unneeded.map(|(subject, reason)| format!("this exception is not needed: {subject} ({reason})")),
    );
    assert!(
        lines.is_empty(),
        "{} findings:\n{}",
        lines.len(),
        lines.join("\n")
    );
}

/// Returns the messages of findings.
pub fn texts(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.text.as_str()).collect()
}

#[test]
#[should_panic(expected = "2 findings:\nb.rs:1: wrong\nthis exception is not needed: c.rs (none)")]
fn an_exception_covers_findings_and_is_needed() {
    let finding = |subject: &str| Finding {
        subject: subject.to_owned(),
        text: format!("{subject}:1: wrong"),
    };
    check(
        &[finding("a.rs"), finding("b.rs")],
        &[("a.rs", "some reason"), ("c.rs", "none")],
    );
}
