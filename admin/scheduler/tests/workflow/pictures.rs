//! Pictures of workflows: boxes do not overlap, edges are orthogonal and meet no box.

use carillon_scheduler::workflow::{EdgePath, IfFailed, Join, Layout, NodeBox, layout};
use proptest::prelude::*;

use super::case::draft;
use super::generate::workflow;

fn check(picture: &Layout) {
    for (position, one) in picture.boxes.iter().enumerate() {
        assert!(one.x >= 0 && one.x + one.width <= picture.width, "{one:?}");
        assert!(one.y >= 0 && one.y + one.height <= picture.height, "{one:?}");
        assert!(picture.boxes[..position].iter().all(|other| !overlaps(one, other)), "{one:?}");
    }
    for edge in &picture.edges {
        let (from, to) = (&picture.boxes[edge.from], &picture.boxes[edge.to]);
        let (first, last) = (edge.points[0], edge.points[edge.points.len() - 1]);
        assert_eq!((first.0, last.0), (from.x + from.width, to.x), "{edge:?}");
        assert!((from.y..from.y + from.height).contains(&first.1), "{edge:?}");
        assert!((to.y..to.y + to.height).contains(&last.1), "{edge:?}");
        check_pieces(picture, edge);
    }
}

fn check_pieces(picture: &Layout, edge: &EdgePath) {
    for piece in edge.points.windows(2) {
        let ((x, y), (end_x, end_y)) = (piece[0], piece[1]);
        assert!((x == end_x) != (y == end_y), "{edge:?}");
        assert!(x <= end_x, "an edge goes to the right: {edge:?}");
        assert!(end_x <= picture.width && (0..=picture.height).contains(&end_y), "{edge:?}");
        let line = NodeBox { x, y: y.min(end_y), width: end_x - x, height: (end_y - y).abs() };
        assert!(picture.boxes.iter().all(|node| !overlaps(&line, node)), "{edge:?}");
    }
}

/// Whether two rectangles share more than a border.
fn overlaps(one: &NodeBox, other: &NodeBox) -> bool {
    one.x < other.x + other.width
        && other.x < one.x + one.width
        && one.y < other.y + other.height
        && other.y < one.y + one.height
}

#[test]
fn a_chain_is_a_straight_line() {
    let picture = layout(&draft("a; b < a; c < b").graph().unwrap()).unwrap();
    check(&picture);
    assert!(picture.boxes.iter().all(|node| node.y == picture.boxes[0].y));
    assert!(picture.edges.iter().all(|edge| edge.points.len() == 2));
    assert!(picture.boxes.is_sorted_by_key(|node| node.x));
}

#[test]
fn an_edge_over_several_columns_goes_around_the_boxes() {
    let picture = layout(&draft("a; b < a; c < b; d < c a a!").graph().unwrap()).unwrap();
    check(&picture);
    assert_eq!(picture.edges.len(), 5);
    let column = |node: usize| picture.boxes[node].x;
    assert!(column(0) < column(1) && column(1) < column(2) && column(2) < column(3));
}

#[test]
fn the_sweeps_undo_a_crossing() {
    // Drawn in the order of the draft, each edge into the second column would cross the others.
    let picture = layout(&draft("a; b; c; x < c; y < b; z < a").graph().unwrap()).unwrap();
    check(&picture);
    for edge in &picture.edges {
        assert_eq!(picture.boxes[edge.from].y, picture.boxes[edge.to].y);
    }
}

#[test]
fn a_picture_has_at_most_200_nodes() {
    let wide = |count: usize| {
        let nodes: Vec<String> = (0..count).map(|node| format!("n{node} < {}", parents(node))).collect();
        draft(&nodes.join(";")).graph().unwrap()
    };
    let picture = layout(&wide(200)).unwrap();
    check(&picture);
    assert_eq!(picture, layout(&wide(200)).unwrap());
    assert_eq!(layout(&wide(201)), None);
}

/// Near and far parents of a node.
fn parents(node: usize) -> String {
    let parents: Vec<String> =
        [1, 7, 50, 120].iter().filter(|&&back| back <= node).map(|back| format!("n{}", node - back)).collect();
    parents.join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_edge_meets_a_box(draft in workflow(Join::ALL, IfFailed::ALL)) {
        let graph = draft.graph().unwrap();
        let picture = layout(&graph).unwrap();
        check(&picture);
        prop_assert_eq!(&picture, &layout(&graph).unwrap());
        for (child, node) in graph.nodes.iter().enumerate() {
            for edge in &node.after {
                let is_drawn = |path: &&EdgePath| (path.from, path.to, path.on) == (edge.from, child, edge.on);
                prop_assert_eq!(picture.edges.iter().filter(is_drawn).count(), 1);
            }
        }
    }
}
