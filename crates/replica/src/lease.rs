//! The lease of a leader, which is part of the manifest.

use std::time::Duration;

use leafbase::bulk::invariant;
use leafbase::{Error, ErrorKind, Result, SpaceId, Timestamp};

use crate::leader_options::LeaderOptions;
use crate::manifest::{self, LeaderLease, MANIFEST, Manifest};
use crate::store::{ObjectVersion, ReplicaStore};

/// How often a lease is tried for while others replace the manifest.
const MAX_ATTEMPTS: usize = 16;

/// The manifest that this leader wrote last, with its version.
#[derive(Debug)]
pub(crate) struct HeldLease {
    manifest: Manifest,
    version: ObjectVersion,
}

/// Fails if the replica is of another space.
pub(crate) fn check_space(manifest: &Manifest, space: SpaceId) -> Result<()> {
    if manifest.space == space {
        return Ok(());
    }
    let message = format!("the replica is of space {}, not of {space}", manifest.space);
    Err(Error::validation(message))
}

/// The manifest with a term that begins now.
pub(crate) fn extended(manifest: Manifest, options: &LeaderOptions) -> Manifest {
    let lease = LeaderLease { holder: options.holder.clone(), until: options.term_end() };
    Manifest { lease: Some(lease), ..manifest }
}

/// Becomes the leader: writes a manifest with the next fence.
pub(crate) fn acquire(
    store: &dyn ReplicaStore,
    space: SpaceId,
    options: &LeaderOptions,
) -> Result<HeldLease> {
    for _ in 0..MAX_ATTEMPTS {
        let (manifest, version) = match manifest::find(store)? {
            Some((manifest, version)) => (manifest, Some(version)),
            None => (Manifest::new(space), None),
        };
        check_space(&manifest, space)?;
        check_free(&manifest, options)?;
        // A conditional put: of two processes that read the same manifest, one gets this fence.
        let fence = manifest.fence + 1;
        let manifest = extended(Manifest { fence, ..manifest }, options);
        let written = store.put_if(MANIFEST, &manifest.to_bytes()?, version.as_ref())?;
        if let Some(version) = written {
            return Ok(HeldLease { manifest, version });
        }
        // Another process was faster: its manifest says whether this one may try again.
    }
    Err(Error::new(ErrorKind::AlreadyOpen, "several processes try to become the leader"))
}

fn check_free(manifest: &Manifest, options: &LeaderOptions) -> Result<()> {
    let Some(LeaderLease { holder, until }) = &manifest.lease else { return Ok(()) };
    // Its own name: a leader that restarts need not wait for the end of its term.
    if options.take_over || *holder == options.holder || *until <= options.clock.now() {
        return Ok(());
    }
    let message = format!("{holder} leads until {until}, and longer while it ships");
    Err(Error::new(ErrorKind::AlreadyOpen, message))
}

impl HeldLease {
    pub(crate) const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether the term ends within half of `term`.
    pub(crate) fn is_due(&self, now: Timestamp, term: Duration) -> bool {
        let until = self.manifest.lease.as_ref().map_or(0, |lease| lease.until.as_millis());
        let left = until.saturating_sub(now.as_millis());
        left < i64::try_from(term.as_millis() / 2).unwrap_or(i64::MAX)
    }

    /// Reads the manifest. Of this leader, it is the one that counts: an earlier attempt to replace
    /// it may have succeeded without an answer.
    pub(crate) fn refresh(&mut self, store: &dyn ReplicaStore) -> Result<()> {
        let Some((manifest, version)) = manifest::find(store)? else {
            return Err(Error::new(ErrorKind::Conflict, "the manifest of the replica was deleted"));
        };
        if (manifest.fence, manifest.space) != (self.manifest.fence, self.manifest.space) {
            return Err(fenced(&manifest, self.manifest.fence));
        }
        *self = Self { manifest, version };
        Ok(())
    }

    /// Replaces the manifest.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if another leader did.
    pub(crate) fn replace(&mut self, store: &dyn ReplicaStore, manifest: Manifest) -> Result<()> {
        invariant!(
            manifest.fence == self.manifest.fence && manifest.space == self.manifest.space,
            "a leader replaces the manifest under its own fence, {}",
            self.manifest.fence
        );
        let written = store.put_if(MANIFEST, &manifest.to_bytes()?, Some(&self.version))?;
        if let Some(version) = written {
            *self = Self { manifest, version };
            return Ok(());
        }
        // A store may have repeated a put that succeeded, and found its own manifest then.
        self.refresh(store)?;
        if self.manifest == manifest {
            return Ok(());
        }
        let message = "another process ships under the fence of this leader";
        Err(Error::new(ErrorKind::Conflict, message))
    }
}

fn fenced(newer: &Manifest, fence: u64) -> Error {
    let holder = newer.lease.as_ref().map_or("another leader", |lease| &lease.holder);
    let message = format!(
        "{holder} took over as leader {} of the replica: leader {fence} writes nothing more",
        newer.fence
    );
    Error::new(ErrorKind::Conflict, message)
}
