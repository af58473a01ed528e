//! WASI's file system over `/workdir`: what wasmtime does, and what a replay and a host of many tasks need besides.
//!
//! Files are derived, not journaled: a replay writes them again. So nothing may be seen that differs from run to run.
//! Folders are read in the order of names; what changed in this turn has the turn's start as its time; numbers of files
//! (inodes) are given in the order they are asked for. There are no links, no way up, and a bound for all files together.

mod disk;
mod life;
mod meter;

use crate::host::Host;
use crate::turn::Turn;
use crate::workdir::{DEPTH, Usage};
use disk::sound;
pub(crate) use life::{begin, end};
pub(crate) use meter::Budget;
use meter::Metered;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemCtxView, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode,
    Filesize, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use windlass_core::Permission;

/// Where a guest finds it.
pub(crate) const MOUNT: &str = "/workdir";

/// The workdir of a turn.
pub(crate) struct Files {
    pub(crate) budget: Arc<Budget>,
    /// Nanoseconds since the Unix epoch: the time of what this turn changed.
    started: u64,
    /// How deep the folders lie that the guest holds, by their place in the table.
    depths: HashMap<u32, usize>,
    /// What is still to be read of folders, in the order of names.
    listings: HashMap<u32, VecDeque<DirectoryEntry>>,
    /// Numbers of files, by what tells them apart on this disk.
    numbers: HashMap<(u64, u64), u64>,
}

impl Files {
    pub(crate) fn new(root: PathBuf, used: Usage, max: Usage, started: u64) -> Self {
        let budget = Arc::new(Budget { root, max, used: Mutex::new(used) });
        let (depths, listings, numbers) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { budget, started, depths, listings, numbers }
    }
}

struct HasView;

impl HasData for HasView {
    type Data<'a> = View<'a>;
}

/// What wasmtime's own file system needs of a host.
struct Parts<'a> {
    ctx: &'a mut WasiCtx,
    table: &'a mut ResourceTable,
}

impl WasiView for Parts<'_> {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: self.ctx, table: self.table }
    }
}

struct View<'a> {
    parts: Parts<'a>,
    files: Option<&'a mut Files>,
    turn: Arc<Turn>,
}

fn view(host: &mut Host) -> View<'_> {
    let parts = Parts { ctx: &mut host.wasi, table: &mut host.table };
    View { parts, files: host.files.as_mut(), turn: host.turn.clone() }
}

/// Shadows WASI's file system.
pub(crate) fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    types::add_to_linker::<Host, HasView>(linker, view)?;
    linker.allow_shadowing(false);
    Ok(())
}

fn refused<T>(code: ErrorCode) -> FsResult<T> {
    Err(FsError::from(code))
}

/// How many folders down a path leads. None leads up.
fn steps(path: &str) -> FsResult<usize> {
    let steps: Vec<_> = path.split('/').filter(|step| !step.is_empty() && *step != ".").collect();
    if steps.contains(&"..") { refused(ErrorCode::NotPermitted) } else { Ok(steps.len()) }
}

impl View<'_> {
    fn inner(&mut self) -> WasiFilesystemCtxView<'_> {
        self.parts.filesystem()
    }

    /// Looked at while the turn is live; what was written then is written again in a replay.
    fn may_change(&self) -> FsResult<()> {
        let granted = || self.turn.services.registry.grants(&self.turn.plugin).has(&Permission::Workdir);
        if self.turn.replaying() || granted() { Ok(()) } else { refused(ErrorCode::NotPermitted) }
    }

    fn grow(&self, files: u64, bytes: u64) -> FsResult<()> {
        let fits = self.files.as_ref().is_none_or(|f| f.budget.grow(Usage { files, bytes }));
        if fits { Ok(()) } else { refused(ErrorCode::InsufficientSpace) }
    }

    fn depth(&self, folder: &Resource<Descriptor>) -> usize {
        self.files.as_ref().and_then(|files| files.depths.get(&folder.rep()).copied()).unwrap_or(0)
    }

    fn size(&self, file: &Resource<Descriptor>) -> FsResult<u64> {
        match self.parts.table.get(file)? {
            Descriptor::File(file) => Ok(file.file.metadata().map_err(ErrorCode::from)?.len()),
            Descriptor::Dir(_) => refused(ErrorCode::IsDirectory),
        }
    }

    /// Without what differs from run to run.
    fn settled(&self, stat: DescriptorStat) -> DescriptorStat {
        let started = self.files.as_ref().map_or(0, |files| files.started);
        let start = Datetime { seconds: started / 1_000_000_000, nanoseconds: (started % 1_000_000_000) as u32 };
        let later = |at: &Datetime| (at.seconds, at.nanoseconds) > (start.seconds, start.nanoseconds);
        let modified = stat.data_modification_timestamp.filter(|at| !later(at)).unwrap_or(start);
        let is_folder = stat.type_ == DescriptorType::Directory;
        DescriptorStat {
            link_count: 1,
            size: if is_folder { 0 } else { stat.size },
            data_access_timestamp: Some(modified),
            data_modification_timestamp: Some(modified),
            status_change_timestamp: Some(modified),
            ..stat
        }
    }

    fn numbered(&mut self, hash: MetadataHashValue) -> MetadataHashValue {
        let Some(files) = self.files.as_mut() else { return hash };
        let next = files.numbers.len() as u64 + 1;
        let number = *files.numbers.entry((hash.lower, hash.upper)).or_insert(next);
        MetadataHashValue { lower: number, upper: 0 }
    }

    fn metered(
        &mut self,
        stream: Resource<DynOutputStream>,
        at: Option<u64>,
        size: u64,
    ) -> FsResult<Resource<DynOutputStream>> {
        let Some(files) = self.files.as_ref() else { return Ok(stream) };
        let budget = files.budget.clone();
        let inner = self.parts.table.delete(stream)?;
        let metered: DynOutputStream = Box::new(Metered { inner, budget, at, size });
        Ok(self.parts.table.push(metered)?)
    }
}

impl types::Host for View<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        types::Host::filesystem_error_code(&mut self.inner(), error)
    }
}

impl HostDescriptor for View<'_> {
    async fn advise(
        &mut self,
        fd: Resource<Descriptor>,
        offset: Filesize,
        len: Filesize,
        advice: Advice,
    ) -> FsResult<()> {
        self.inner().advise(fd, offset, len, advice).await
    }

    async fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        sound(self.inner().sync_data(fd).await)
    }

    async fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        self.inner().get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        self.inner().get_type(fd).await
    }

    async fn set_size(&mut self, fd: Resource<Descriptor>, size: Filesize) -> FsResult<()> {
        self.may_change()?;
        self.grow(0, size.saturating_sub(self.size(&fd)?))?;
        sound(self.inner().set_size(fd, size).await)
    }

    async fn set_times(
        &mut self,
        fd: Resource<Descriptor>,
        access: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.may_change()?;
        sound(self.inner().set_times(fd, access, modified).await)
    }

    async fn read(&mut self, fd: Resource<Descriptor>, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        sound(self.inner().read(fd, len, offset).await)
    }

    async fn write(&mut self, fd: Resource<Descriptor>, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        self.may_change()?;
        let end = offset.saturating_add(bytes.len() as u64);
        self.grow(0, end.saturating_sub(self.size(&fd)?))?;
        sound(self.inner().write(fd, bytes, offset).await)
    }

    async fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>> {
        let stream = sound(self.inner().read_directory(fd).await)?;
        let mut all = Vec::new();
        while let Some(entry) = self.inner().read_directory_entry(Resource::new_borrow(stream.rep())).await? {
            all.push(entry);
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(files) = self.files.as_mut() {
            files.listings.insert(stream.rep(), all.into());
        }
        Ok(stream)
    }

    async fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        sound(self.inner().sync(fd).await)
    }

    async fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.may_change()?;
        if self.depth(&fd) + steps(&path)? > DEPTH {
            return refused(ErrorCode::NotPermitted);
        }
        self.grow(1, 0)?;
        sound(self.inner().create_directory_at(fd, path).await)
    }

    async fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        let stat = self.inner().stat(fd).await?;
        Ok(self.settled(stat))
    }

    async fn stat_at(&mut self, fd: Resource<Descriptor>, _: PathFlags, path: String) -> FsResult<DescriptorStat> {
        steps(&path)?;
        let stat = self.inner().stat_at(fd, PathFlags::empty(), path).await?;
        Ok(self.settled(stat))
    }

    async fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
        access: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.may_change()?;
        steps(&path)?;
        sound(self.inner().set_times_at(fd, PathFlags::empty(), path, access, modified).await)
    }

    async fn link_at(
        &mut self,
        _: Resource<Descriptor>,
        _: PathFlags,
        _: String,
        _: Resource<Descriptor>,
        _: String,
    ) -> FsResult<()> {
        refused(ErrorCode::NotPermitted)
    }

    async fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let depth = self.depth(&fd) + steps(&path)?;
        if open.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE) || flags.contains(DescriptorFlags::WRITE) {
            self.may_change()?;
        }
        if open.contains(OpenFlags::CREATE) {
            self.grow(1, 0)?;
        }
        let opened = sound(self.inner().open_at(fd, PathFlags::empty(), path, open, flags).await)?;
        if let Some(files) = self.files.as_mut() {
            files.depths.insert(opened.rep(), depth);
        }
        Ok(opened)
    }

    async fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        steps(&path)?;
        self.inner().readlink_at(fd, path).await
    }

    async fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.may_change()?;
        steps(&path)?;
        sound(self.inner().remove_directory_at(fd, path).await)
    }

    async fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        from: String,
        new: Resource<Descriptor>,
        to: String,
    ) -> FsResult<()> {
        self.may_change()?;
        let (old, deep) = (self.depth(&fd) + steps(&from)?, self.depth(&new) + steps(&to)?);
        if deep > old {
            // A folder with all that is in it may go up and sideways; how high it is inside is not known here.
            let stat = self.inner().stat_at(Resource::new_borrow(fd.rep()), PathFlags::empty(), from.clone()).await?;
            if stat.type_ == DescriptorType::Directory {
                return refused(ErrorCode::NotPermitted);
            }
        }
        sound(self.inner().rename_at(fd, from, new, to).await)
    }

    async fn symlink_at(&mut self, _: Resource<Descriptor>, _: String, _: String) -> FsResult<()> {
        refused(ErrorCode::NotPermitted)
    }

    async fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.may_change()?;
        steps(&path)?;
        sound(self.inner().unlink_file_at(fd, path).await)
    }

    fn read_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        self.inner().read_via_stream(fd, offset)
    }

    fn write_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.may_change()?;
        let size = self.size(&fd)?;
        let stream = self.inner().write_via_stream(fd, offset)?;
        self.metered(stream, Some(offset), size)
    }

    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        self.may_change()?;
        let size = self.size(&fd)?;
        let stream = self.inner().append_via_stream(fd)?;
        self.metered(stream, None, size)
    }

    async fn is_same_object(&mut self, a: Resource<Descriptor>, b: Resource<Descriptor>) -> wasmtime::Result<bool> {
        self.inner().is_same_object(a, b).await
    }

    async fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        let hash = self.inner().metadata_hash(fd).await?;
        Ok(self.numbered(hash))
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        steps(&path)?;
        let hash = self.inner().metadata_hash_at(fd, PathFlags::empty(), path).await?;
        Ok(self.numbered(hash))
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        if let Some(files) = self.files.as_mut() {
            files.depths.remove(&fd.rep());
        }
        HostDescriptor::drop(&mut self.inner(), fd)
    }
}

impl HostDirectoryEntryStream for View<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let listing = self.files.as_mut().and_then(|files| files.listings.get_mut(&stream.rep()));
        Ok(listing.and_then(VecDeque::pop_front))
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        if let Some(files) = self.files.as_mut() {
            files.listings.remove(&stream.rep());
        }
        HostDirectoryEntryStream::drop(&mut self.inner(), stream)
    }
}
