//! Decisions of operators about the eligibility of nonprofits, and the verdicts that change without them.

use crate::app::App;
use access::audit::{self, Action, Actor};
use directory::View;
use directory::eligibility::Check;
use directory::eligibility::changes::{DecisionError, NewDecision, Recording};
use directory::history::imports::store as imports;
use directory::nonprofits::ein::Ein;

impl App {
    /// Returns what is needed to record changes of verdicts.
    pub fn recording<'a>(&'a self, view: &'a View) -> Recording<'a> {
        Recording {
            settings: self.directory.eligibility(),
            view,
            now: self.clock.millis(),
            overlay_limit: self.config.directory.overlay_limit,
        }
    }

    /// Makes a decision of an operator, and shows it at once.
    pub async fn decide_eligibility(
        &self,
        actor: Actor,
        decision: NewDecision,
    ) -> anyhow::Result<Result<(), DecisionError>> {
        self.refresh_directory().await?;
        let view = self.directory.view();
        let recording = self.recording(&view);
        let (mut tx, revision) = imports::begin(&self.db).await?;
        let outcome = if decision.passes { "pass" } else { "fail" };
        let detail = format!("{} {outcome}: {}", decision.check.name(), decision.note);
        let action = Action::new(actor, "eligibility decide", &decision.ein.to_string(), detail);
        if let Err(error) = recording.decide(&mut tx, revision, decision).await? {
            return Ok(Err(error));
        }
        audit::store::record(&mut tx, &action, recording.now).await?;
        tx.commit().await?;
        self.refresh_directory().await?;
        Ok(Ok(()))
    }

    /// Undoes a decision. Returns whether there was one.
    pub async fn undo_eligibility(&self, actor: Actor, ein: Ein, check: Check) -> anyhow::Result<bool> {
        self.refresh_directory().await?;
        let view = self.directory.view();
        let recording = self.recording(&view);
        let (mut tx, revision) = imports::begin(&self.db).await?;
        if recording.undo(&mut tx, revision, ein, check).await?.is_none() {
            return Ok(false);
        }
        let action = Action::new(actor, "eligibility undo", &ein.to_string(), check.name());
        audit::store::record(&mut tx, &action, recording.now).await?;
        tx.commit().await?;
        self.refresh_directory().await?;
        Ok(true)
    }

    /// Records the verdicts that the files of the IRS or the end of a period of grace changed.
    pub async fn record_verdicts(&self) -> anyhow::Result<()> {
        let view = self.directory.view();
        if self.recording(&view).record_pending(&self.db).await? > 0 {
            self.refresh_directory().await?;
        }
        Ok(())
    }
}
