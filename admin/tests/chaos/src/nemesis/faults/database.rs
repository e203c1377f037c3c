//! The database: killed, paused, or away for one node; and answers to COMMIT that never come.

use std::time::Duration;

use anyhow::Context as _;

use super::{Scene, until};
use crate::nemesis::rest;
use crate::proxy::{Mode, Trap, Trick, Wire};

const COMMIT: &str = "COMMIT";

pub async fn play(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    match name {
        "db_kill" | "db_stop" => server(name, scene).await,
        "db_connections" => connections(scene).await,
        "db_full" => full(scene).await,
        "db_dead" => dead(scene).await,
        "db_slow" => slow(scene).await,
        _ => {
            let admin = scene.target_node().await?;
            let wire = admin.ways.database.clone().context("no wire")?;
            on_wire(name, scene, &wire).await
        }
    }
}

async fn server(name: &str, scene: &mut Scene) -> anyhow::Result<()> {
    scene.target = "database".into();
    let cluster = scene.cluster.clone();
    let server = cluster.server.as_ref().context("no server")?;
    let mut server = server.lock().await;
    if name == "db_kill" {
        server.kill().await;
        rest(500).await;
        return server.restart().await;
    }
    server.process.signal_all("STOP").await;
    rest(4_000).await;
    server.process.signal_all("CONT").await;
    Ok(())
}

/// All connections of all nodes are silent from now on, for good; new ones work. The way of a database that moved to
/// another machine, or of a firewall that forgot its connections: no side gets a reset.
async fn dead(scene: &mut Scene) -> anyhow::Result<()> {
    scene.target = "database".into();
    for admin in &scene.cluster.admins {
        let wire = admin.ways.database.as_ref().context("no wire")?;
        wire.silence();
    }
    Ok(())
}

/// Each statement of each node takes 200 ms more.
async fn slow(scene: &mut Scene) -> anyhow::Result<()> {
    scene.target = "database".into();
    let wires = slow_statements(scene);
    rest(8_000).await;
    wires.iter().for_each(Wire::recover);
    Ok(())
}

/// From now on; the wires that are to recover.
pub fn slow_statements(scene: &Scene) -> Vec<Wire> {
    let slow = Mode { statement_delay: Duration::from_millis(200), ..Mode::default() };
    let wires: Vec<Wire> = scene.cluster.admins.iter().filter_map(|admin| admin.ways.database.clone()).collect();
    wires.iter().for_each(|wire| wire.set(slow));
    wires
}

/// Its disk is full for a while. PostgreSQL may end by that, and then starts when there is room again.
async fn full(scene: &mut Scene) -> anyhow::Result<()> {
    scene.target = "database".into();
    let cluster = scene.cluster.clone();
    let disk = cluster.disk.as_ref().context("no small disk")?;
    let mebibytes = disk.fill()?;
    rest(4_000).await;
    disk.free();
    let mut server = cluster.server.as_ref().context("no server")?.lock().await;
    // Whether it ends by itself shows within a moment.
    rest(500).await;
    scene.note = format!("{mebibytes} MiB taken");
    if server.process.ended().is_some() {
        scene.note.push_str("; the server had ended");
        return server.restart().await;
    }
    server.is_ready().await
}

async fn on_wire(name: &str, scene: &mut Scene, wire: &Wire) -> anyhow::Result<()> {
    let (mode, lasts) = match name {
        "db_delay" => {
            let delay = Duration::from_millis(300);
            (Mode { delay, ..Mode::default() }, 5_000)
        }
        "db_silent" => {
            let lasts = scene.random.between(1_000, 4_000) as i64;
            (Mode { silent: true, ..Mode::default() }, lasts)
        }
        "db_cut" => {
            let lasts = scene.random.between(200, 3_000) as i64;
            (Mode { down: true, ..Mode::default() }, lasts)
        }
        "db_cut_after_bytes" => {
            let bytes = scene.random.between(500, 20_000);
            (Mode { cut_after: Some(bytes), ..Mode::default() }, 3_000)
        }
        _ => return commits(scene, wire).await,
    };
    wire.set(mode);
    if name == "db_cut_after_bytes" {
        // Connections of now have sent more already, and end with their next word.
        wire.cut();
    }
    rest(lasts).await;
    wire.recover();
    Ok(())
}

/// The next few COMMITs reach the database, and their answers are lost.
async fn commits(scene: &mut Scene, wire: &Wire) -> anyhow::Result<()> {
    let before = wire.sprung();
    wire.set_trap(Trap::new(COMMIT, Trick::CutForwarded, 3));
    until(Duration::from_secs(4), || wire.sprung() >= before + 3).await;
    wire.clear_traps(COMMIT);
    scene.note = format!("{} cut", wire.sprung() - before);
    Ok(())
}

/// Takes all connections that the server has left.
async fn connections(scene: &mut Scene) -> anyhow::Result<()> {
    scene.target = "database".into();
    let mut taken = Vec::new();
    while taken.len() < 250 {
        match scene.cluster.database.hold().await {
            Ok(connection) => taken.push(connection),
            Err(_) => break,
        }
    }
    scene.note = format!("{} taken", taken.len());
    rest(4_000).await;
    for connection in taken {
        let _ = connection.close().await;
    }
    Ok(())
}
