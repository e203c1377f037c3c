//! The seconds with the most fires, of fires that come in the order of time.

use carillon_scheduler::Millis;

pub struct Busiest {
    most: usize,
    /// The busiest first, among equals the earliest.
    top: Vec<(Millis, u32)>,
    /// The second that is being counted, in s.
    second: i64,
    fires: u32,
}

impl Busiest {
    pub fn of(most: usize) -> Self {
        Self { most, top: Vec::with_capacity(most + 1), second: i64::MIN, fires: 0 }
    }

    /// A fire in this second since the epoch, which is not before the last one.
    pub fn add(&mut self, second: i64) {
        if second != self.second {
            self.close();
            self.second = second;
        }
        self.fires += 1;
    }

    fn close(&mut self) {
        let fires = std::mem::take(&mut self.fires);
        let place = self.top.partition_point(|(_, count)| *count >= fires);
        if fires > 0 && place < self.most {
            self.top.insert(place, (self.second * 1000, fires));
            self.top.truncate(self.most);
        }
    }

    pub fn into_seconds(mut self) -> Vec<(Millis, u32)> {
        self.close();
        self.top
    }
}
