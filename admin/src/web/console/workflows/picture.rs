//! The picture of a graph, which the page draws as SVG. A table beside it has the same content.

use std::collections::BTreeMap;

use carillon_scheduler::workflow::{EdgePath, Graph, NodeBox, On, layout};

use crate::web::console::badge::Badge;
use crate::web::console::workflows::edge_text::tests_text;
use crate::web::console::workflows::share::Share;
use crate::web::console::workflows::stretch::Stretch;
use crate::web::locale::Language;

/// Pixels of a letter of a name, of a job, and of the text of an edge; a letter of Chinese needs two.
const NAME_LETTER: i32 = 8;
const JOB_LETTER: i32 = 7;
const EDGE_LETTER: i32 = 6;
/// Beside the texts of a box, on both sides together.
const BOX_PADDING: i32 = 24;
/// Letters of the text of an edge.
const EDGE_LETTERS: usize = 28;
/// Beside the text of an edge: the arrow, and air.
const EDGE_PADDING: i32 = 24;

/// What a box shows beside the name of its node.
pub struct PictureNode {
    pub job: String,
    /// Of the node of a run.
    pub badge: Option<Badge>,
    pub share: Option<Share>,
    pub link: Option<String>,
}

pub struct Picture {
    pub width: i32,
    pub height: i32,
    /// From left to right, and from top to bottom.
    pub boxes: Vec<PictureBox>,
    pub edges: Vec<PictureEdge>,
    pub labels: Vec<EdgeLabel>,
}

pub struct PictureBox {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
    pub name: String,
    /// As far as there is room.
    pub shown_name: String,
    pub job: String,
    pub shown_job: String,
    pub badge: Option<Badge>,
    pub share: Option<Share>,
    pub link: Option<String>,
}

impl PictureBox {
    /// The middle of its lines of text.
    pub fn text_x(&self) -> i32 {
        self.x + BOX_PADDING / 2
    }
}

pub struct PictureEdge {
    pub on: On,
    pub line: String,
    pub arrow: String,
    /// The cross at the beginning of an edge that a failure takes.
    pub cross: Option<String>,
}

/// The tests of the edges into a node, above the last piece of their lines.
pub struct EdgeLabel {
    pub x: i32,
    pub y: i32,
    pub text: String,
}

impl Picture {
    /// `nodes` are in the order of the graph. None: it has too many nodes for a picture.
    pub fn new(language: Language, graph: &Graph, nodes: Vec<PictureNode>) -> Option<Self> {
        let layout = layout(graph)?;
        let has_states = nodes.iter().any(|node| node.badge.is_some());
        let texts = edge_texts(language, graph, &layout.edges);
        let room = |left: i32| {
            let here = texts.iter().filter(|((to, _), _)| layout.boxes[*to].x == left);
            here.map(|(_, text)| wide(text) * EDGE_LETTER + EDGE_PADDING).max().unwrap_or(0)
        };
        let stretch = Stretch::new(&layout.boxes, if has_states { (3, 2) } else { (5, 4) }, room);
        let mut labels = vec![];
        for ((to, on), text) in &texts {
            let ends =
                layout.edges.iter().find(|edge| edge.to == *to && edge.on == *on).and_then(|it| it.points.last());
            if let Some((x, y)) = ends {
                labels.push(EdgeLabel {
                    x: stretch.x(*x) - EDGE_PADDING / 2,
                    y: stretch.y(*y) - 5,
                    text: text.clone(),
                });
            }
        }
        let mut boxes: Vec<PictureBox> = (graph.nodes.iter().zip(nodes).zip(&layout.boxes))
            .map(|((node, shown), place)| picture_box(&node.name, shown, place, &stretch))
            .collect();
        boxes.sort_by_key(|place| (place.x, place.y));
        let edges = layout.edges.iter().map(|edge| picture_edge(edge, &stretch)).collect();
        Some(Self { width: stretch.x(layout.width), height: stretch.y(layout.height), boxes, edges, labels })
    }

    /// Whether the legend explains this kind of edge.
    pub fn has(&self, on: &str) -> bool {
        self.edges.iter().any(|edge| edge.on.as_str() == on)
    }
}

fn picture_box(name: &str, shown: PictureNode, place: &NodeBox, stretch: &Stretch) -> PictureBox {
    let (x, y) = (stretch.x(place.x), stretch.y(place.y));
    let width = stretch.x(place.x + place.width) - x;
    PictureBox {
        x,
        y,
        width,
        height: stretch.y(place.y + place.height) - y,
        shown_name: shortened(name, (width - BOX_PADDING) / NAME_LETTER),
        name: name.to_owned(),
        shown_job: shortened(&shown.job, (width - BOX_PADDING) / JOB_LETTER),
        job: shown.job,
        badge: shown.badge,
        share: shown.share,
        link: shown.link,
    }
}

fn picture_edge(edge: &EdgePath, stretch: &Stretch) -> PictureEdge {
    let points: Vec<(i32, i32)> = edge.points.iter().map(|(x, y)| (stretch.x(*x), stretch.y(*y))).collect();
    let line = points.iter().map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" ");
    let ((from_x, from_y), (x, y)) = (points[0], points[points.len() - 1]);
    let cross = (edge.on == On::Failure).then(|| {
        let (left, right, top, bottom) = (from_x + 5, from_x + 13, from_y - 4, from_y + 4);
        format!("M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}")
    });
    PictureEdge { on: edge.on, line, arrow: format!("M{} {}L{x} {y}L{} {}Z", x - 8, y - 4, x - 8, y + 4), cross }
}

/// The tests of the edges that reach a node at one place: its position, and the kind of the edges.
fn edge_texts(language: Language, graph: &Graph, edges: &[EdgePath]) -> BTreeMap<(usize, On), String> {
    let mut texts = BTreeMap::new();
    for edge in edges {
        let into = graph.nodes[edge.to].after.iter().filter(|it| it.on == edge.on);
        let tested: Vec<_> = into.clone().filter(|it| !it.when.is_empty()).collect();
        let text = match tested.as_slice() {
            [] => continue,
            [only] if into.count() == 1 => shortened(&tests_text(language, &only.when), EDGE_LETTERS as i32),
            several => language.text("edges-with-tests").count("count", several.len()).to_string(),
        };
        texts.insert((edge.to, edge.on), text);
    }
    texts
}

/// How many letters wide a text is.
fn wide(text: &str) -> i32 {
    text.chars().map(letters).sum()
}

fn letters(c: char) -> i32 {
    if c >= '\u{2e80}' { 2 } else { 1 }
}

/// A text with at most this width, in letters.
fn shortened(text: &str, most: i32) -> String {
    if wide(text) <= most {
        return text.to_owned();
    }
    let mut room = most - 1;
    let fits = text.chars().take_while(|c| {
        room -= letters(*c);
        room >= 0
    });
    format!("{}…", fits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::workflow::WorkflowDraft;

    use super::*;

    fn picture(nodes: &str) -> Option<Picture> {
        let graph = serde_json::from_str::<WorkflowDraft>(&format!("{{\"nodes\": {nodes}}}")).unwrap().graph().unwrap();
        let shown = graph.nodes.iter().map(|node| PictureNode {
            job: format!("Job of {}", node.name),
            badge: None,
            share: None,
            link: Some(format!("/jobs/{}", node.name)),
        });
        let shown = shown.collect();
        Picture::new(Language::English, &graph, shown)
    }

    #[test]
    fn the_boxes_come_from_left_to_right_and_the_edges_end_at_them() {
        let nodes = r#"{"z": {"job": 1}, "b": {"job": 1, "after": ["z"]}, "a": {"job": 1, "after": [{"node": "z", "on": "failure"}]},
            "end": {"job": 1, "after": [{"node": "b", "on": "always"}, "a"]}}"#;
        let picture = picture(nodes).unwrap();
        let names: Vec<&str> = picture.boxes.iter().map(|place| place.name.as_str()).collect();
        assert_eq!((names[0], names[3], picture.edges.len()), ("z", "end", 4));
        assert!(picture.boxes.windows(2).all(|pair| (pair[0].x, pair[0].y) < (pair[1].x, pair[1].y)));
        assert!(
            picture
                .boxes
                .iter()
                .all(|place| place.x + place.width < picture.width && place.y + place.height < picture.height)
        );
        let failure = picture.edges.iter().find(|edge| edge.on == On::Failure).unwrap();
        assert!(failure.cross.is_some() && picture.edges.iter().filter(|edge| edge.cross.is_some()).count() == 1);
        assert!(["success", "failure", "always"].iter().all(|on| picture.has(on)));
    }

    #[test]
    fn an_edge_with_a_test_has_room_for_its_text() {
        let with = |when: &str| {
            let edge = format!("{{\"node\": \"a\", \"when\": {when}}}");
            picture(&format!("{{\"a\": {{\"job\": 1}}, \"b\": {{\"job\": 1, \"after\": [{edge}]}}}}")).unwrap()
        };
        let (plain, tested) = (with("[]"), with(r#"[{"path": "/number_of_rows", "gt": 1000}]"#));
        assert!(plain.labels.is_empty());
        let label = &tested.labels[0];
        assert_eq!(label.text, "/number_of_rows > 1000");
        assert!(tested.width >= plain.width + 100, "{} {}", plain.width, tested.width);
        assert!(
            label.x < tested.boxes[1].x
                && label.x - wide(&label.text) * EDGE_LETTER > tested.boxes[0].x + tested.boxes[0].width
        );
    }

    #[test]
    fn a_long_text_is_cut_to_its_room() {
        assert_eq!(shortened("extract", 7), "extract");
        assert_eq!(shortened("extract-orders", 7), "extrac…");
        assert_eq!(shortened("对账报表任务", 7), "对账报…");
    }

    #[test]
    fn a_graph_with_many_nodes_has_no_picture() {
        let nodes: Vec<String> = (0..201).map(|number| format!("\"n{number}\": {{\"job\": 1}}")).collect();
        assert!(picture(&format!("{{{}}}", nodes.join(","))).is_none());
    }
}
