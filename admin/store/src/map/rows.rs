//! What is stored of a map.

use sea_orm::ConnectionTrait;

use crate::error::Result;
use crate::views::MapStore;

row_struct! {
    /// Beside a run that has handed in items.
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct MapRow {
        pub run_id: i64,
        pub items: i32,
        pub bytes: i64,
        pub chunk: Option<i32>,
        pub reduces: bool,
        pub released: i32,
        pub deliveries: i32,
        pub in_flight: i32,
        pub failed: i32,
        pub reduce_run_id: Option<i64>,
    }
}

row_struct! {
    /// The items of a delivery.
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct DeliveryRow {
        pub delivery: i32,
        pub first_item: i32,
        pub items: i32,
        pub ended: bool,
    }
}

impl DeliveryRow {
    /// The number behind its last item.
    pub fn end(&self) -> i32 {
        self.first_item + self.items
    }
}

impl MapStore<'_> {
    pub(crate) async fn map_row(self, db: &impl ConnectionTrait, run_id: i64) -> Result<Option<MapRow>> {
        let text = "SELECT run_id, items, bytes, chunk, reduces, released, deliveries, in_flight, failed, reduce_run_id FROM map_run \
                    WHERE run_id = ?";
        self.one(db, text, values![run_id]).await
    }

    /// Deliveries of a map by their numbers, in their order.
    pub(crate) async fn delivery_rows(
        self,
        db: &impl ConnectionTrait,
        run_id: i64,
        numbers: &[i64],
    ) -> Result<Vec<DeliveryRow>> {
        let text = "SELECT delivery, first_item, items, ended FROM map_delivery WHERE run_id = ? AND delivery IN ({ids}) ORDER BY delivery";
        self.all(db, text, values![run_id, self.ids(numbers)]).await
    }
}
