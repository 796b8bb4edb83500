//! Waits for the signals that stop a server, and drains it first: SIGTERM makes it not ready, and only after `serve.drain`
//! does the listener close its port. `serve.stop_timeout` counts from the signal.

use crate::app::App;
use std::io;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep};

/// SIGTERM and SIGINT (Ctrl-C). From now on they no longer end the process.
#[derive(Debug)]
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    pub fn install() -> io::Result<StopSignals> {
        Ok(StopSignals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits until the server should accept no more connections. Returns when that was requested.
    ///
    /// After SIGTERM, `/readyz` is 503 at once, and requests are served for `serve.drain` seconds, until load balancers
    /// have noticed. Ctrl-C or a second signal ends that wait.
    pub async fn wait(mut self, app: &App) -> Instant {
        let drain = tokio::select! {
            _ = self.terminate.recv() => app.config.availability.drain,
            _ = self.interrupt.recv() => Duration::ZERO,
        };
        let requested_at = Instant::now();
        app.availability.begin_stop(app.clock.millis());
        if !drain.is_zero() {
            let seconds = drain.as_secs_f64();
            tracing::info!(seconds, "draining: /readyz is 503, and requests are still served");
            tokio::select! {
                () = sleep(drain) => {}
                _ = self.terminate.recv() => {}
                _ = self.interrupt.recv() => {}
            }
        }
        tracing::info!("stopping");
        app.availability.end_waits();
        requested_at
    }
}
