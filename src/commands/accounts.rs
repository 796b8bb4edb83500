//! `causeway account`

use super::Output;
use anyhow::bail;
use causeway::accounts::{Username, is_email, store};
use causeway::app::App;
use clap::Subcommand;
use serde_json::json;

#[derive(Subcommand)]
pub enum Account {
    /// Make an account
    #[command(after_help = "Example:\n  causeway account create ada --email ada@example.org")]
    Create {
        /// Small letters, digits, - and _
        username: String,
        /// Where its owner can be reached
        #[arg(long)]
        email: Option<String>,
        /// May block keys and set limits
        #[arg(long)]
        operator: bool,
    },
}

impl Account {
    pub async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let Account::Create {
            username,
            email,
            operator,
        } = self;
        let username = Username::parse(&username)?;
        if let Some(email) = &email
            && !is_email(email)
        {
            bail!("{email:?} is no e-mail address; write it as in ada@example.org");
        }
        let made = store::insert(&app.db, &username, email.as_deref(), operator, app.clock.millis()).await?;
        let Some(id) = made else {
            bail!(
                "there is an account {} already; pick another name",
                username.as_str()
            );
        };
        let value = json!({"id": id.to_string(), "username": username.as_str(), "operator": operator});
        output.say(&value, || {
            format!(
                "account {name} made\n  next: causeway key create --account {name} --kind public",
                name = username.as_str()
            )
        })
    }
}
