//! The dump of the tables of items.

use super::database::Database;
use crate::record::{DeliveryRow, ItemRow, ItemState, MapRow};

impl Database {
    pub async fn maps(&self) -> anyhow::Result<Vec<MapRow>> {
        let text =
            "SELECT run_id, items, reduces, released, in_flight, failed, reduce_run_id FROM map_run ORDER BY run_id";
        let rows = self.all(text).await?;
        let row = |row: &sea_orm::QueryResult| {
            let int = |index| row.try_get_by_index::<i32>(index).map(i64::from);
            Ok(MapRow {
                run_id: row.try_get_by_index(0)?,
                items: int(1)?,
                reduces: row.try_get_by_index(2)?,
                released: int(3)?,
                in_flight: int(4)?,
                failed: int(5)?,
                reduce_run_id: row.try_get_by_index(6)?,
            })
        };
        rows.iter().map(row).collect()
    }

    pub async fn map_deliveries(&self) -> anyhow::Result<Vec<DeliveryRow>> {
        let text = "SELECT run_id, delivery, first_item, items, ended FROM map_delivery ORDER BY run_id, delivery";
        let rows = self.all(text).await?;
        let row = |row: &sea_orm::QueryResult| {
            let int = |index| row.try_get_by_index::<i32>(index).map(i64::from);
            Ok(DeliveryRow {
                run_id: row.try_get_by_index(0)?,
                delivery: int(1)?,
                first_item: int(2)?,
                items: int(3)?,
                ended: row.try_get_by_index(4)?,
            })
        };
        rows.iter().map(row).collect()
    }

    pub async fn map_items(&self) -> anyhow::Result<Vec<ItemRow>> {
        let rows = self.all("SELECT run_id, item, state FROM map_item ORDER BY run_id, item").await?;
        let row = |row: &sea_orm::QueryResult| {
            let state = ItemState::of(row.try_get_by_index::<i16>(2)?.into());
            Ok(ItemRow { run_id: row.try_get_by_index(0)?, item: row.try_get_by_index::<i32>(1)?.into(), state })
        };
        rows.iter().map(row).collect()
    }
}
