//! Tokens: made, listed and revoked by operators, and looked up for every caller that brings one.

use super::{Windlass, operator};
use crate::error::Error;
use crate::tokens::{Access, NewToken, TokenView};
use crate::view::Caller;

impl Windlass {
    /// Who holds this token; none where it is unknown, revoked or expired. Reads no database.
    #[must_use]
    pub fn access(&self, token: &str) -> Option<Access> {
        self.services.keyring.access(token)
    }

    /// Makes a token (operators). The text beside its view is the token: it is kept nowhere, and answered this once.
    ///
    /// # Errors
    /// Not an operator, a name or time that can't be used, or a token of that name is in force.
    pub async fn create_token(&self, caller: &Caller, new: NewToken) -> Result<(TokenView, String), Error> {
        operator(caller)?;
        self.check_open()?;
        self.services.keyring.create(new).await
    }

    /// All tokens, those that ended too, by id (operators).
    ///
    /// # Errors
    /// Not an operator.
    pub async fn tokens(&self, caller: &Caller) -> Result<Vec<TokenView>, Error> {
        operator(caller)?;
        self.services.keyring.list().await
    }

    /// Revokes the token of this id, or all of this name (operators). Each [`Lease`](crate::Lease) of it ends.
    ///
    /// # Errors
    /// Not an operator, or there never was such a token.
    pub async fn revoke_token(&self, caller: &Caller, which: &str) -> Result<(), Error> {
        operator(caller)?;
        self.services.keyring.revoke(which).await
    }
}
