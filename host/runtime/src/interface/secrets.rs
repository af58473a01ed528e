//! `windlass:plugin/secrets`: what a secret says, for a plugin that was granted to see it.

use crate::bindings::windlass::plugin::secrets::Host as Secrets;
use crate::bindings::windlass::plugin::types::Error;
use crate::halt::Halt;
use crate::host::Host;
use crate::step::{Done, Fault, Step};
use crate::turn::{Turn, denied, error};
use crate::vault::Opened;
use serde_json::json;
use windlass_core::{Call, Origin, Permission};

/// Opens a secret that the plugin may use under this line of permission, as it stands at this moment.
pub(crate) async fn open(turn: &Turn, name: &str, line: Permission) -> Result<Opened, Fault> {
    if !turn.services.registry.grants(&turn.plugin).has(&line) {
        return Err(denied(format!("secret `{name}` is not granted"), &line).into());
    }
    match turn.services.vault.open(name, None).await? {
        Ok(Some(opened)) => Ok(opened),
        Ok(None) => Err(error("unavailable", format!("the host has no secret `{name}`: an operator sets it")).into()),
        Err(why) => Err(error("unavailable", why).into()),
    }
}

/// Opens a secret to send it to an origin: granted, and bound to it.
pub(crate) async fn bound(turn: &Turn, name: &str, origin: &Origin) -> Result<Opened, Fault> {
    let opened = open(turn, name, Permission::secret(name)).await?;
    if opened.origins.contains(origin) {
        return Ok(opened);
    }
    let origins: Vec<_> = opened.origins.iter().map(ToString::to_string).collect();
    Err(error("denied", format!("secret `{name}` is bound to {}, not to {origin}", origins.join(", "))).into())
}

impl Secrets for Host {
    async fn reveal(&mut self, name: String) -> wasmtime::Result<Result<String, Error>> {
        let turn = self.turn.clone();
        let shown = windlass_core::text::cut(&name, 64);
        let step = Step {
            call: Call::SecretReveal,
            page: None,
            args: json!({ "secret": name }),
            doing: format!("Reveal secret {shown}"),
            done: format!("Revealed secret {shown}"),
        };
        // The journal holds name and version; what it says comes from the vault each time.
        let wanted = name.clone();
        let version: Result<u32, Error> = self
            .turn
            .step(step, |_| async move {
                let opened = open(&turn, &wanted, Permission::reveal(&wanted)).await?;
                Ok(Done::shown(opened.version, json!({ "version": opened.version })))
            })
            .await?;
        let version = match version {
            Ok(version) => version,
            Err(error) => return Ok(Err(error)),
        };
        let opened = self.turn.services.vault.open(&name, Some(version)).await.map_err(Halt::from)?;
        let gone = || Halt::Secret(format!("version {version} of secret `{name}` is gone"));
        let opened = opened.map_err(Halt::Secret)?.ok_or_else(gone)?;
        self.turn.masks.add(&opened.value);
        Ok(Ok(opened.value.to_string()))
    }
}
