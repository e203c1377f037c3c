//! From the places of a layout to those of the picture: boxes with room for their texts, and gaps with room for the text of an edge.

use std::collections::BTreeSet;

use carillon_scheduler::workflow::NodeBox;

/// The layout keeps this many pixels before each column free of vertical lines.
const APPROACH: i32 = 16;
/// What becomes of them where no edge has a text.
const PLAIN_APPROACH: i32 = 26;

/// Places along both axes. Each axis keeps its order, so lines that do not meet in the layout do not meet in the picture.
pub struct Stretch {
    /// A place of the layout, and its place in the picture, ascending.
    xs: Vec<(i32, i32)>,
    /// The y of the picture as a share of that of the layout: numerator, denominator.
    y: (i32, i32),
}

impl Stretch {
    /// `approach` is the room that the texts of the edges into a column need, by the left side of its boxes; 0: there are none.
    pub fn new(boxes: &[NodeBox], y: (i32, i32), approach: impl Fn(i32) -> i32) -> Self {
        let lefts: BTreeSet<i32> = boxes.iter().map(|place| place.x).collect();
        let width = boxes.first().map_or(0, |place| place.width);
        let mut xs = vec![(0, 0)];
        for left in lefts {
            let (before, to) = xs[xs.len() - 1];
            if xs.len() == 1 {
                xs.push((left, left));
            } else {
                let lanes = to + (left - APPROACH - before) * 3 / 2;
                xs.push((left - APPROACH, lanes));
                xs.push((left, lanes + approach(left).max(PLAIN_APPROACH)));
            }
            let (_, to) = xs[xs.len() - 1];
            xs.push((left + width, to + width * 3 / 2));
        }
        Self { xs, y }
    }

    pub fn x(&self, x: i32) -> i32 {
        let above = self.xs.partition_point(|(from, _)| *from < x);
        match (self.xs.get(above.wrapping_sub(1)), self.xs.get(above)) {
            (Some((from, to)), Some((end, end_to))) => to + (x - from) * (end_to - to) / (end - from).max(1),
            (Some((from, to)), None) => to + (x - from),
            (None, _) => x,
        }
    }

    pub fn y(&self, y: i32) -> i32 {
        y * self.y.0 / self.y.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_get_wider_and_an_approach_has_the_room_of_its_text() {
        let place = |x| NodeBox { x, y: 16, width: 100, height: 44 };
        let stretch =
            Stretch::new(&[place(16), place(160), place(300)], (3, 2), |left| if left == 160 { 90 } else { 0 });
        let at = [0, 16, 116, 144, 160, 260, 284, 300, 400, 416].map(|x| stretch.x(x));
        assert_eq!(at, [0, 16, 166, 208, 298, 448, 484, 510, 660, 676]);
        assert!((0..416).all(|x| stretch.x(x) <= stretch.x(x + 1)), "the order stays");
        assert_eq!((stretch.y(16), stretch.y(60)), (24, 90));
    }
}
