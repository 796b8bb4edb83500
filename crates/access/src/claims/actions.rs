//! The steps of claims, each in one transaction with its audit entry and its emails.

use super::domain::FiledDomain;
use super::emails::About;
use super::settings::Approval;
use super::store::{self, Claim, ClaimLink};
use super::{
    ClaimState, ClaimStep, INVITATION_LIFETIME, LINK_LIFETIME, MAX_OPEN_CLAIMS, PROOF_LIFETIME, Proof, Role,
};
use crate::accounts::store::{find_standing_in, find_username_in};
use crate::accounts::token::Token;
use crate::accounts::two_factor::store::is_on_in;
use crate::audit::{self, Action, Actor};
use crate::notices::{Notice, Notices};
use platform::db::{Db, Tx};
use platform::ids::{AccountId, NonprofitId};
use platform::mail::PreparedEmail;
use platform::secret::StoreSecret;
use platform::text::hex;
use uuid::Uuid;

/// The random bytes of a token that is published at a domain.
const TOKEN_BYTES: usize = 20;
/// The purpose of the encryption of documents. The context is the ID of the claim.
const DOCUMENT_PURPOSE: &str = "claim document";

/// The parts that claims use.
#[derive(Clone, Copy, Debug)]
pub struct Claims<'a> {
    pub db: &'a Db,
    pub notices: Notices<'a>,
    pub approve: Approval,
}

/// A claim to make.
#[derive(Clone, Debug)]
pub struct NewClaim<'a> {
    pub nonprofit: NonprofitId,
    /// The name of the nonprofit.
    pub name: &'a str,
    pub account: AccountId,
    pub person: &'a str,
    pub position: &'a str,
    pub evidence: Evidence<'a>,
}

/// How a claim is going to be proven.
#[derive(Clone, Debug)]
pub enum Evidence<'a> {
    Domain(&'a FiledDomain),
    /// An address at the domain, normalized.
    Email(&'a FiledDomain, &'a str),
    /// A file that an operator reads.
    Document(&'a [u8]),
}

/// The result of [`Claims::request`].
#[derive(Debug)]
pub enum RequestOutcome {
    /// With the token of the link to email, if an address is proven.
    Requested(Box<Claim>, Option<Token>),
    /// The account has an open claim of the nonprofit.
    AlreadyOpen,
    /// The account has too many open claims.
    TooMany,
    NeedsTwoFactor,
    NotAllowed,
}

/// The result of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProveOutcome {
    /// An operator decides.
    Proven,
    Approved,
    /// The link or the claim does not wait for this proof, or not from this account.
    NotWaiting,
    /// The nonprofit files another website by now.
    OtherDomain,
}

/// The result of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecideOutcome {
    Done,
    AlreadyDone,
    /// The account has no two-factor sign-in.
    NeedsTwoFactor,
    /// The proof is too old, or the nonprofit files another website by now.
    ProofExpired,
    /// The account is suspended or deleted.
    NotAllowed,
}

/// The result of accepting an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    Accepted,
    /// It was used, withdrawn, has expired, or its sender no longer runs the page.
    Stale,
    /// The account runs the page already. The invitation still works.
    AlreadyMember,
    NeedsTwoFactor,
    NotAllowed,
}

impl Claims<'_> {
    /// Makes a claim. `domain` and its rules are those of the newest return.
    pub async fn request(self, new: NewClaim<'_>) -> sqlx::Result<RequestOutcome> {
        let now = self.now();
        let mut tx = self.db.write().await?;
        if !find_standing_in(&mut tx, new.account).await?.may_write() {
            return Ok(RequestOutcome::NotAllowed);
        }
        if !is_on_in(&mut tx, new.account).await? {
            return Ok(RequestOutcome::NeedsTwoFactor);
        }
        store::lock(&mut tx, new.nonprofit).await?;
        let id = Uuid::now_v7();
        let (proof, domain, evidence, document) = match new.evidence {
            Evidence::Domain(domain) => (Proof::Domain, Some(domain), Some(random_token()), None),
            Evidence::Email(domain, email) => (Proof::Email, Some(domain), Some(email.to_owned()), None),
            Evidence::Document(content) => {
                let sealed = self
                    .notices
                    .secret
                    .encrypt(DOCUMENT_PURPOSE, id.as_bytes(), content);
                (Proof::Document, None, None, Some(sealed))
            }
        };
        let claim = Claim {
            id,
            nonprofit: new.nonprofit,
            account: new.account,
            username: find_username_in(&mut tx, new.account).await?.unwrap_or_default(),
            account_email: None,
            state: ClaimState::Requested,
            role: Role::Administrator,
            proof,
            domain: domain.map(|domain| domain.as_str().to_owned()),
            evidence,
            person: new.person.to_owned(),
            position: new.position.to_owned(),
            created_at: now,
            proven_at: None,
            decided_at: None,
            note: String::new(),
            has_document: document.is_some(),
        };
        if !store::insert(&mut tx, &claim, document.as_deref()).await? {
            return Ok(RequestOutcome::AlreadyOpen);
        }
        if store::count_open(&mut tx, new.account).await? > MAX_OPEN_CLAIMS {
            return Ok(RequestOutcome::TooMany);
        }
        let token = match proof {
            Proof::Email => Some(self.insert_proof_link(&mut tx, &claim, now).await?),
            _ => None,
        };
        record(
            &mut tx,
            Actor::Account(new.account),
            "claim request",
            &claim,
            proof.as_str(),
            now,
        )
        .await?;
        let about = self.about(&claim, new.name);
        let mut emails = self.queue(&mut tx, &[new.account], &about.requested()).await?;
        let members = administrators(&mut tx, new.nonprofit).await?;
        emails.extend(self.queue(&mut tx, &members, &about.contested()).await?);
        if proof == Proof::Document {
            let operators = store::list_operators(&mut tx).await?;
            emails.extend(self.queue(&mut tx, &operators, &about.waiting()).await?);
        }
        self.commit(tx, emails).await?;
        Ok(RequestOutcome::Requested(Box::new(claim), token))
    }

    /// Creates another link for a claim that waits for the proof of an address. The earlier ones keep working until they
    /// expire.
    pub async fn renew_link(self, claim: &Claim) -> sqlx::Result<Token> {
        let mut tx = self.db.write().await?;
        let token = self.insert_proof_link(&mut tx, claim, self.now()).await?;
        tx.commit().await?;
        Ok(token)
    }

    /// Records that the token of a claim was found at its domain. `filed` is the domain that the nonprofit files now, and
    /// `is_shared` says whether another nonprofit files it too.
    pub async fn prove_domain(
        self,
        claim: &Claim,
        name: &str,
        filed: Option<&FiledDomain>,
        is_shared: bool,
    ) -> sqlx::Result<ProveOutcome> {
        let mut tx = self.db.write().await?;
        store::lock(&mut tx, claim.nonprofit).await?;
        let found = store::find_in(&mut tx, claim.id).await?;
        let waits = |found: &Claim| found.state == ClaimState::Requested && found.proof == Proof::Domain;
        match found.filter(waits) {
            Some(claim) => self.prove_in(tx, claim, name, filed, is_shared).await,
            None => Ok(ProveOutcome::NotWaiting),
        }
    }

    /// Returns the claim that a link proves, if it still works for the account.
    pub async fn find_by_link(self, token: &str, account: AccountId) -> sqlx::Result<Option<Claim>> {
        let Some(token) = Token::parse(token) else {
            return Ok(None);
        };
        let mut tx = self.db.view().await?;
        let link = store::find_link(&mut tx, &token.hash()).await?;
        self.claim_of_link(&mut tx, link, account).await
    }

    /// Proves the email address of a claim by the link that was sent there, which works once.
    pub async fn prove_email(
        self,
        token: &str,
        account: AccountId,
        name: &str,
        filed: Option<&FiledDomain>,
        is_shared: bool,
    ) -> sqlx::Result<ProveOutcome> {
        let Some(token) = Token::parse(token) else {
            return Ok(ProveOutcome::NotWaiting);
        };
        let mut tx = self.db.write().await?;
        let link = store::find_link(&mut tx, &token.hash()).await?;
        if let Some(link) = &link {
            store::lock(&mut tx, link.nonprofit).await?;
        }
        let Some(claim) = self.claim_of_link(&mut tx, link, account).await? else {
            return Ok(ProveOutcome::NotWaiting);
        };
        if !store::take_link(&mut tx, &token.hash()).await? {
            return Ok(ProveOutcome::NotWaiting);
        }
        self.prove_in(tx, claim, name, filed, is_shared).await
    }

    /// Withdraws a claim of an account. Returns `false` if it has ended already.
    pub async fn withdraw(self, claim: &Claim, name: &str) -> sqlx::Result<bool> {
        let now = self.now();
        let mut tx = self.db.write().await?;
        store::lock(&mut tx, claim.nonprofit).await?;
        let Some(claim) = store::find_in(&mut tx, claim.id).await? else {
            return Ok(false);
        };
        let by = (Some(claim.account), "");
        if store::take_step(&mut tx, &claim, ClaimStep::Withdraw, by, now)
            .await?
            .is_none()
        {
            return Ok(false);
        }
        record(
            &mut tx,
            Actor::Account(claim.account),
            "claim withdraw",
            &claim,
            "",
            now,
        )
        .await?;
        let mut emails = Vec::new();
        if claim.state == ClaimState::Approved {
            let others = administrators(&mut tx, claim.nonprofit).await?;
            emails = self
                .queue(&mut tx, &others, &self.about(&claim, name).left())
                .await?;
        }
        self.commit(tx, emails).await?;
        Ok(true)
    }

    /// Approves a claim on behalf of an operator. `filed` is the domain that the nonprofit files now.
    pub async fn approve(
        self,
        id: Uuid,
        name: &str,
        filed: Option<&FiledDomain>,
        actor: Actor,
    ) -> sqlx::Result<DecideOutcome> {
        let now = self.now();
        let mut tx = self.db.write().await?;
        let Some(claim) = self.lock_claim(&mut tx, id).await? else {
            return Ok(DecideOutcome::AlreadyDone);
        };
        if !claim.state.is_waiting() {
            return Ok(DecideOutcome::AlreadyDone);
        }
        if !find_standing_in(&mut tx, claim.account).await?.may_write() {
            return Ok(DecideOutcome::NotAllowed);
        }
        if !is_on_in(&mut tx, claim.account).await? {
            return Ok(DecideOutcome::NeedsTwoFactor);
        }
        if claim.proof != Proof::Document && !is_proof_current(&claim, filed, now) {
            return Ok(DecideOutcome::ProofExpired);
        }
        let by = actor_account(actor);
        if store::take_step(&mut tx, &claim, ClaimStep::Approve, (by, ""), now)
            .await?
            .is_none()
        {
            return Ok(DecideOutcome::AlreadyDone);
        }
        record(&mut tx, actor, "claim approve", &claim, claim.proof.as_str(), now).await?;
        let emails = self.queue_approved(&mut tx, &claim, name).await?;
        self.commit(tx, emails).await?;
        Ok(DecideOutcome::Done)
    }

    /// Rejects a claim, or revokes one that was approved.
    pub async fn end(self, id: Uuid, name: &str, actor: Actor, reason: &str) -> sqlx::Result<DecideOutcome> {
        let now = self.now();
        let mut tx = self.db.write().await?;
        let Some(claim) = self.lock_claim(&mut tx, id).await? else {
            return Ok(DecideOutcome::AlreadyDone);
        };
        let (step, action, what) = if claim.state == ClaimState::Approved {
            (ClaimStep::Revoke, "claim revoke", "revoked")
        } else {
            (ClaimStep::Reject, "claim reject", "rejected")
        };
        let by = (actor_account(actor), reason);
        if store::take_step(&mut tx, &claim, step, by, now).await?.is_none() {
            return Ok(DecideOutcome::AlreadyDone);
        }
        record(&mut tx, actor, action, &claim, reason, now).await?;
        let about = self.about(&claim, name);
        let mut emails = self
            .queue(&mut tx, &[claim.account], &about.ended(what, reason))
            .await?;
        if step == ClaimStep::Revoke {
            let others = administrators(&mut tx, claim.nonprofit).await?;
            emails.extend(self.queue(&mut tx, &others, &about.left()).await?);
        }
        self.commit(tx, emails).await?;
        Ok(DecideOutcome::Done)
    }

    /// Creates an invitation. Returns `None` if the account is no administrator of the nonprofit.
    pub async fn invite(
        self,
        nonprofit: NonprofitId,
        account: AccountId,
        role: Role,
        email: &str,
    ) -> sqlx::Result<Option<Token>> {
        let now = self.now();
        let mut tx = self.db.write().await?;
        if store::find_role_in(&mut tx, nonprofit, account).await? != Some(Role::Administrator) {
            return Ok(None);
        }
        let (token, link) = (
            Token::generate(),
            ClaimLink {
                nonprofit,
                claim: None,
                role: Some(role),
                email: Some(email.to_owned()),
                created_by: account,
                created_at: now,
            },
        );
        store::insert_link(
            &mut tx,
            &token.hash(),
            &link,
            now - INVITATION_LIFETIME.as_millis() as i64,
        )
        .await?;
        let action = Action::new(
            Actor::Account(account),
            "claim invite",
            &nonprofit.to_string(),
            role.as_str(),
        );
        audit::store::record(&mut tx, &action, now).await?;
        tx.commit().await?;
        Ok(Some(token))
    }

    /// Withdraws an invitation. Returns `false` if there is none, or the account is no administrator of the nonprofit.
    pub async fn withdraw_invitation(
        self,
        nonprofit: NonprofitId,
        account: AccountId,
        created_at: i64,
    ) -> sqlx::Result<bool> {
        let mut tx = self.db.write().await?;
        if store::find_role_in(&mut tx, nonprofit, account).await? != Some(Role::Administrator)
            || !store::remove_invitation(&mut tx, nonprofit, created_at).await?
        {
            return Ok(false);
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Finds an invitation that still works.
    pub async fn find_invitation(self, token: &str) -> sqlx::Result<Option<ClaimLink>> {
        let Some(token) = Token::parse(token) else {
            return Ok(None);
        };
        let mut tx = self.db.view().await?;
        let link = store::find_link(&mut tx, &token.hash()).await?;
        Ok(link.filter(|link| self.is_invitation(link)))
    }

    /// Accepts an invitation, which works once.
    pub async fn accept(
        self,
        token: &str,
        account: AccountId,
        name: &str,
        (person, position): (&str, &str),
    ) -> sqlx::Result<AcceptOutcome> {
        let now = self.now();
        let Some(token) = Token::parse(token) else {
            return Ok(AcceptOutcome::Stale);
        };
        let mut tx = self.db.write().await?;
        let link = store::find_link(&mut tx, &token.hash()).await?;
        let Some((link, role)) = link
            .filter(|link| self.is_invitation(link))
            .and_then(|link| link.role.map(|role| (link, role)))
        else {
            return Ok(AcceptOutcome::Stale);
        };
        store::lock(&mut tx, link.nonprofit).await?;
        let inviter = store::find_role_in(&mut tx, link.nonprofit, link.created_by).await?;
        if inviter != Some(Role::Administrator) {
            return Ok(AcceptOutcome::Stale);
        }
        if !find_standing_in(&mut tx, account).await?.may_write() {
            return Ok(AcceptOutcome::NotAllowed);
        }
        if !is_on_in(&mut tx, account).await? {
            return Ok(AcceptOutcome::NeedsTwoFactor);
        }
        let members = store::list_members_in(&mut tx, link.nonprofit).await?;
        if members.iter().any(|member| member.account == account) {
            return Ok(AcceptOutcome::AlreadyMember);
        }
        if !store::take_link(&mut tx, &token.hash()).await? {
            return Ok(AcceptOutcome::Stale);
        }
        let claim = self
            .insert_invited(&mut tx, &link, role, account, (person, position), now)
            .await?;
        let by = (Some(link.created_by), "");
        if store::take_step(&mut tx, &claim, ClaimStep::Approve, by, now)
            .await?
            .is_none()
        {
            return Ok(AcceptOutcome::Stale);
        }
        record(
            &mut tx,
            Actor::Account(account),
            "claim accept",
            &claim,
            role.as_str(),
            now,
        )
        .await?;
        let emails = self.queue_approved(&mut tx, &claim, name).await?;
        self.commit(tx, emails).await?;
        Ok(AcceptOutcome::Accepted)
    }

    /// Decrypts the document of a claim.
    pub async fn read_document(self, id: Uuid) -> sqlx::Result<Option<Vec<u8>>> {
        let sealed = store::find_document(self.db, id).await?;
        let secret: &StoreSecret = self.notices.secret;
        Ok(sealed.and_then(|sealed| secret.decrypt(DOCUMENT_PURPOSE, id.as_bytes(), &sealed)))
    }

    async fn prove_in(
        self,
        mut tx: Tx,
        claim: Claim,
        name: &str,
        filed: Option<&FiledDomain>,
        is_shared: bool,
    ) -> sqlx::Result<ProveOutcome> {
        let now = self.now();
        let Some(filed) = filed.filter(|filed| claim.domain.as_deref() == Some(filed.as_str())) else {
            return Ok(ProveOutcome::OtherDomain);
        };
        let by = (Some(claim.account), "");
        if store::take_step(&mut tx, &claim, ClaimStep::Prove, by, now)
            .await?
            .is_none()
        {
            return Ok(ProveOutcome::NotWaiting);
        }
        record(
            &mut tx,
            Actor::Account(claim.account),
            "claim prove",
            &claim,
            filed.as_str(),
            now,
        )
        .await?;
        let claim = Claim {
            state: ClaimState::Proven,
            proven_at: Some(now),
            ..claim
        };
        let leaves_doubt = is_shared
            || filed.is_page()
            || (claim.proof == Proof::Email && filed.has_many_mailboxes())
            || store::has_administrator(&mut tx, claim.nonprofit).await?;
        let may_approve = self.approve == Approval::Proof
            && !leaves_doubt
            && find_standing_in(&mut tx, claim.account).await?.may_write()
            && is_on_in(&mut tx, claim.account).await?;
        let (emails, outcome) = if may_approve {
            let by = (None, "");
            store::take_step(&mut tx, &claim, ClaimStep::Approve, by, now).await?;
            record(
                &mut tx,
                Actor::Account(claim.account),
                "claim approve",
                &claim,
                "by the proof",
                now,
            )
            .await?;
            let emails = self.queue_approved(&mut tx, &claim, name).await?;
            (emails, ProveOutcome::Approved)
        } else {
            let operators = store::list_operators(&mut tx).await?;
            let waiting = self.about(&claim, name).waiting();
            (
                self.queue(&mut tx, &operators, &waiting).await?,
                ProveOutcome::Proven,
            )
        };
        self.commit(tx, emails).await?;
        Ok(outcome)
    }

    async fn insert_invited(
        self,
        tx: &mut Tx,
        link: &ClaimLink,
        role: Role,
        account: AccountId,
        (person, position): (&str, &str),
        now: i64,
    ) -> sqlx::Result<Claim> {
        let mut claim = Claim {
            id: Uuid::now_v7(),
            nonprofit: link.nonprofit,
            account,
            username: find_username_in(tx, account).await?.unwrap_or_default(),
            account_email: None,
            state: ClaimState::Requested,
            role,
            proof: Proof::Invitation,
            domain: None,
            evidence: link.email.clone(),
            person: person.to_owned(),
            position: position.to_owned(),
            created_at: now,
            proven_at: None,
            decided_at: None,
            note: String::new(),
            has_document: false,
        };
        if !store::insert(tx, &claim, None).await?
            && let Some(open) = store::find_waiting_in(tx, link.nonprofit, account).await?
        {
            // The invitation replaces the proof of the claim that waits.
            store::set_invited(tx, open.id, role, link.email.as_deref()).await?;
            claim.id = open.id;
            claim.state = open.state;
        }
        Ok(claim)
    }

    async fn claim_of_link(
        self,
        tx: &mut Tx,
        link: Option<ClaimLink>,
        account: AccountId,
    ) -> sqlx::Result<Option<Claim>> {
        let oldest = self.now() - LINK_LIFETIME.as_millis() as i64;
        let Some(id) = link
            .filter(|link| link.created_at > oldest)
            .and_then(|link| link.claim)
        else {
            return Ok(None);
        };
        let claim = store::find_in(tx, id).await?;
        Ok(claim.filter(|claim| {
            claim.account == account && claim.state == ClaimState::Requested && claim.proof == Proof::Email
        }))
    }

    fn is_invitation(self, link: &ClaimLink) -> bool {
        link.claim.is_none() && link.created_at > self.now() - INVITATION_LIFETIME.as_millis() as i64
    }

    async fn insert_proof_link(self, tx: &mut Tx, claim: &Claim, now: i64) -> sqlx::Result<Token> {
        let token = Token::generate();
        let link = ClaimLink {
            nonprofit: claim.nonprofit,
            claim: Some(claim.id),
            role: None,
            email: None,
            created_by: claim.account,
            created_at: now,
        };
        store::insert_link(
            tx,
            &token.hash(),
            &link,
            now - INVITATION_LIFETIME.as_millis() as i64,
        )
        .await?;
        Ok(token)
    }

    async fn lock_claim(self, tx: &mut Tx, id: Uuid) -> sqlx::Result<Option<Claim>> {
        let Some(claim) = store::find_in(tx, id).await? else {
            return Ok(None);
        };
        store::lock(tx, claim.nonprofit).await?;
        // It may have changed before this transaction had the lock.
        store::find_in(tx, id).await
    }

    async fn queue_approved(
        self,
        tx: &mut Tx,
        claim: &Claim,
        name: &str,
    ) -> sqlx::Result<Vec<PreparedEmail>> {
        let about = self.about(claim, name);
        let mut emails = self.queue(tx, &[claim.account], &about.approved()).await?;
        let mut others = administrators(tx, claim.nonprofit).await?;
        others.retain(|account| *account != claim.account);
        emails.extend(self.queue(tx, &others, &about.joined()).await?);
        Ok(emails)
    }

    async fn queue(
        self,
        tx: &mut Tx,
        accounts: &[AccountId],
        notice: &Notice,
    ) -> sqlx::Result<Vec<PreparedEmail>> {
        let mut emails = Vec::new();
        for account in accounts {
            emails.extend(self.notices.queue(tx, *account, notice).await?);
        }
        Ok(emails)
    }

    async fn commit(self, tx: Tx, emails: Vec<PreparedEmail>) -> sqlx::Result<()> {
        tx.commit().await?;
        for email in emails {
            self.notices.mailer.dispatch(email);
        }
        Ok(())
    }

    fn about<'a>(&'a self, claim: &'a Claim, name: &'a str) -> About<'a> {
        About {
            claim,
            name,
            url: self.notices.public_url,
        }
    }

    fn now(self) -> i64 {
        self.notices.clock.millis()
    }
}

/// Returns whether a claim is proven by a domain that the nonprofit still files.
fn is_proof_current(claim: &Claim, filed: Option<&FiledDomain>, now: i64) -> bool {
    let oldest = now - PROOF_LIFETIME.as_millis() as i64;
    claim.proven_at.is_some_and(|at| at > oldest)
        && filed.is_some_and(|filed| claim.domain.as_deref() == Some(filed.as_str()))
}

async fn administrators(tx: &mut Tx, nonprofit: NonprofitId) -> sqlx::Result<Vec<AccountId>> {
    let members = store::list_members_in(tx, nonprofit).await?;
    let administrators = members
        .into_iter()
        .filter(|member| member.role == Role::Administrator);
    Ok(administrators.map(|member| member.account).collect())
}

async fn record(
    tx: &mut Tx,
    actor: Actor,
    action: &'static str,
    claim: &Claim,
    detail: &str,
    now: i64,
) -> sqlx::Result<()> {
    let detail = if detail.is_empty() {
        claim.username.clone()
    } else {
        format!("{}: {detail}", claim.username)
    };
    let action = Action::new(actor, action, &claim.nonprofit.to_string(), detail);
    audit::store::record(tx, &action, now).await
}

fn actor_account(actor: Actor) -> Option<AccountId> {
    match actor {
        Actor::Command => None,
        Actor::Account(account) => Some(account),
    }
}

fn random_token() -> String {
    let mut token = [0; TOKEN_BYTES];
    getrandom::fill(&mut token).expect("the system has random bytes");
    hex(&token)
}
