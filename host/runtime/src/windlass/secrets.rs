//! Secrets, as operators keep them. What they say goes in and never comes out here.

use super::{Windlass, operator};
use crate::error::Error;
use crate::vault::Described;
use crate::view::{Caller, SecretView};
use windlass_core::Origin;
use windlass_core::manifest::is_name;
use zeroize::Zeroizing;

/// A secret, or a new version of one.
pub struct SetSecret {
    /// 1 byte to 64 KiB of text.
    pub value: Zeroizing<String>,
    /// What it is bound to; none: as the version before.
    pub origins: Option<Vec<String>>,
}

impl Windlass {
    /// All secrets by name, without what they say (operators).
    ///
    /// # Errors
    /// Not an operator.
    pub async fn secrets(&self, caller: &Caller) -> Result<Vec<SecretView>, Error> {
        operator(caller)?;
        Ok(self.services.vault.list().await?.into_iter().map(SecretView::from).collect())
    }

    /// Keeps a secret, or a new version of it (operators). Hard before it is answered.
    ///
    /// # Errors
    /// Not an operator, a bad name, value or origin, or a key that can't be used.
    pub async fn set_secret(&self, caller: &Caller, name: &str, new: SetSecret) -> Result<SecretView, Error> {
        operator(caller)?;
        self.check_open()?;
        if !is_name(name) {
            return Err(Error::Invalid("the name of a secret must match [a-z][a-z0-9_-]{0,63}".into()));
        }
        let read = |lines: Vec<String>| lines.iter().map(|line| line.parse::<Origin>()).collect::<Result<Vec<_>, _>>();
        let origins = new.origins.map(read).transpose().map_err(|e| Error::Invalid(e.to_string()))?;
        Ok(self.services.vault.set(name, new.value, origins).await?.into())
    }

    /// Removes a secret with all its versions (operators).
    ///
    /// # Errors
    /// Not an operator, or no such secret.
    pub async fn remove_secret(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        operator(caller)?;
        if self.services.vault.remove(name).await? { Ok(()) } else { Err(Error::UnknownSecret(name.to_owned())) }
    }
}

impl From<Described> for SecretView {
    fn from(secret: Described) -> Self {
        Self {
            name: secret.name,
            version: secret.version,
            origins: secret.origins,
            created_at: secret.created,
            updated_at: secret.updated,
        }
    }
}
