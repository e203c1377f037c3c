//! The folder of a run: one JSON document or one JSON line a record, so that `jq` and people can read it.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Fire, History};

pub const META: &str = "meta.json";
pub const FIRES: &str = "fires.jsonl";

/// Writes everything but the events, which the executors have written themselves, and the calls of loops, which their observer has.
pub fn save(history: &History, folder: &Path) -> anyhow::Result<()> {
    let meta = serde_json::to_vec_pretty(&history.meta)?;
    fs::write(folder.join(META), meta)?;
    lines(&folder.join("jobs.jsonl"), &history.jobs)?;
    lines(&folder.join("calls.jsonl"), &history.calls)?;
    lines(&folder.join("faults.jsonl"), &history.faults)?;
    lines(&folder.join("runs.jsonl"), &history.runs)?;
    lines(&folder.join("misfires.jsonl"), &history.misfires)?;
    lines(&folder.join("maps.jsonl"), &history.maps)?;
    lines(&folder.join("deliveries.jsonl"), &history.deliveries)?;
    lines(&folder.join("items.jsonl"), &history.items)?;
    lines(&folder.join("samples.jsonl"), &history.samples)?;
    lines(&folder.join("exits.jsonl"), &history.exits)
}

pub fn load(folder: &Path) -> anyhow::Result<History> {
    let meta = fs::read(folder.join(META))
        .with_context(|| format!("{} is no folder of a run: it has no {META}", folder.display()))?;
    Ok(History {
        meta: serde_json::from_slice(&meta)?,
        jobs: read(&folder.join("jobs.jsonl"))?,
        calls: read(&folder.join("calls.jsonl"))?,
        events: events(folder)?,
        fires: fires(folder)?,
        faults: read(&folder.join("faults.jsonl"))?,
        runs: read(&folder.join("runs.jsonl"))?,
        misfires: read(&folder.join("misfires.jsonl"))?,
        maps: read_newer(&folder.join("maps.jsonl"))?,
        deliveries: read_newer(&folder.join("deliveries.jsonl"))?,
        items: read_newer(&folder.join("items.jsonl"))?,
        samples: read(&folder.join("samples.jsonl"))?,
        exits: read(&folder.join("exits.jsonl"))?,
    })
}

/// The books of all executors, in the order of their times.
pub fn events(folder: &Path) -> anyhow::Result<Vec<super::Event>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("events-") {
            all.extend(read::<super::Event>(&path)?);
        }
    }
    all.sort_by_key(|event| event.at);
    Ok(all)
}

/// The calls of loops, in their order.
pub fn fires(folder: &Path) -> anyhow::Result<Vec<Fire>> {
    read_newer(&folder.join(FIRES))
}

fn lines<T: Serialize>(path: &Path, records: &[T]) -> anyhow::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for record in records {
        serde_json::to_writer(&mut file, record)?;
        file.write_all(b"\n")?;
    }
    Ok(file.flush()?)
}

/// A file that older runs have not left behind.
fn read_newer<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    if path.exists() { read(path) } else { Ok(vec![]) }
}

fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut records = Vec::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let line = line?;
        let record =
            serde_json::from_str(&line).with_context(|| format!("{}:{}: {line}", path.display(), number + 1))?;
        records.push(record);
    }
    Ok(records)
}
