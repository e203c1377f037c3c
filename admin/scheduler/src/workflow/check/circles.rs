//! The order of the nodes, and the circles that prevent one.

/// Maximum number of circles that are named at once.
const NAMED: usize = 10;

/// All nodes, each after its parents, in the order of the draft where that leaves a choice. `Err`: circles, each from its first node along
/// the edges and back to it.
pub(super) fn order(parents: &[Vec<usize>]) -> Result<Vec<usize>, Vec<Vec<usize>>> {
    let mut is_cut = vec![false; parents.len()];
    let mut circles = vec![];
    loop {
        let order = without(parents, &is_cut);
        if order.len() == parents.len() {
            return if circles.is_empty() { Ok(order) } else { Err(circles) };
        }
        let mut is_left = vec![true; parents.len()];
        order.iter().for_each(|&node| is_left[node] = false);
        let circle = circle(parents, &is_left);
        // Without the edges into one of its nodes the circle is open; the next round finds those that are left.
        is_cut[circle[0]] = true;
        circles.push(circle);
        if circles.len() == NAMED {
            return Err(circles);
        }
    }
}

/// The nodes that can be ordered; those of `is_cut` count as if they had no parents.
fn without(parents: &[Vec<usize>], is_cut: &[bool]) -> Vec<usize> {
    let mut children = vec![vec![]; parents.len()];
    let mut missing = vec![0_usize; parents.len()];
    for (node, parents) in parents.iter().enumerate().filter(|&(node, _)| !is_cut[node]) {
        missing[node] = parents.len();
        parents.iter().for_each(|&parent| children[parent].push(node));
    }
    let mut ready: std::collections::BTreeSet<usize> = (0..parents.len()).filter(|&node| missing[node] == 0).collect();
    let mut order = vec![];
    while let Some(node) = ready.pop_first() {
        order.push(node);
        for &child in &children[node] {
            missing[child] -= 1;
            if missing[child] == 0 {
                ready.insert(child);
            }
        }
    }
    order
}

/// One circle among the nodes that are left: each of these has a parent among them.
fn circle(parents: &[Vec<usize>], is_left: &[bool]) -> Vec<usize> {
    let mut path: Vec<usize> = is_left.iter().position(|&is_left| is_left).into_iter().collect();
    loop {
        let last = path[path.len() - 1];
        let parent = parents[last].iter().copied().find(|&parent| is_left[parent]);
        let Some(parent) = parent else {
            return path;
        };
        if let Some(start) = path.iter().position(|&node| node == parent) {
            let mut circle = path.split_off(start);
            circle.reverse();
            let first = (0..circle.len()).min_by_key(|&at| circle[at]).unwrap_or_default();
            circle.rotate_left(first);
            return circle;
        }
        path.push(parent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_comes_after_its_parents() {
        assert_eq!(order(&[vec![2], vec![], vec![1, 1]]), Ok(vec![1, 2, 0]));
        assert_eq!(order(&[]), Ok(vec![]));
    }

    #[test]
    fn each_circle_is_found() {
        assert_eq!(order(&[vec![2], vec![0], vec![1]]), Err(vec![vec![0, 1, 2]]));
        let two = [vec![1], vec![0, 4], vec![3], vec![2], vec![], vec![3]];
        assert_eq!(order(&two), Err(vec![vec![0, 1], vec![2, 3]]));
        let shared = [vec![1, 2], vec![0], vec![0], vec![2]];
        assert_eq!(order(&shared), Err(vec![vec![0, 1]]));
    }
}
