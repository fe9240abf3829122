//! Places the nodes of a graph: linked ones attract each other, all others keep apart. The same
//! graph is always placed alike.

/// Pixels around the nodes, for their labels.
const MARGIN: f64 = 90.0;
/// Pixels between two linked nodes.
const DISTANCE: f64 = 110.0;
/// Rounds of a small graph; a large one has fewer, so that all take a few seconds at most.
const MAX_ROUNDS: usize = 300;
const MIN_ROUNDS: usize = 30;
/// Comparisons of two nodes in all rounds.
const MAX_COMPARISONS: usize = 100_000_000;
/// The angle between two nodes of the spiral from which they start, in radians.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// Where the nodes are, in whole pixels.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GraphPicture {
    pub(crate) width: i64,
    pub(crate) height: i64,
    pub(crate) places: Vec<(i64, i64)>,
}

/// Places `count` nodes.
pub(crate) fn arrange(count: usize, edges: &[(usize, usize)]) -> GraphPicture {
    let mut places: Vec<[f64; 2]> = (0..count).map(spiral).collect();
    let rounds = (MAX_COMPARISONS / (count * count).max(1)).clamp(MIN_ROUNDS, MAX_ROUNDS);
    let mut step = DISTANCE;
    for _ in 0..rounds {
        let forces = forces(&places, edges);
        for (place, force) in places.iter_mut().zip(forces) {
            let length = force[0].hypot(force[1]).max(0.01);
            let moved = length.min(step) / length;
            *place = [place[0] + force[0] * moved, place[1] + force[1] * moved];
        }
        // Nodes settle: each round moves them less far.
        step = (step * 0.98).max(1.0);
    }
    framed(&places)
}

/// The start of a node: further out the later it comes.
fn spiral(index: usize) -> [f64; 2] {
    let index = f64::from(u32::try_from(index).unwrap_or(u32::MAX));
    let (sin, cos) = (index * GOLDEN_ANGLE).sin_cos();
    let radius = DISTANCE * 0.6 * (index + 0.5).sqrt();
    [radius * cos, radius * sin]
}

fn forces(places: &[[f64; 2]], edges: &[(usize, usize)]) -> Vec<[f64; 2]> {
    let between = |one: &[f64; 2], two: &[f64; 2]| {
        let (x, y) = (one[0] - two[0], one[1] - two[1]);
        (x, y, x.hypot(y).max(0.1))
    };
    let mut forces: Vec<[f64; 2]> = Vec::with_capacity(places.len());
    for one in places {
        // A pull to the middle keeps parts without links between them together.
        let mut force = [-one[0] * 0.02, -one[1] * 0.02];
        for two in places {
            let (x, y, distance) = between(one, two);
            let push = DISTANCE * DISTANCE / (distance * distance);
            force = [force[0] + x * push, force[1] + y * push];
        }
        forces.push(force);
    }
    for (from, to) in edges {
        let (Some(one), Some(two)) = (places.get(*from), places.get(*to)) else { continue };
        let (x, y, distance) = between(one, two);
        let pull = distance / DISTANCE;
        for (node, sign) in [(from, -1.0), (to, 1.0)] {
            if let Some(force) = forces.get_mut(*node) {
                *force = [force[0] + sign * x * pull, force[1] + sign * y * pull];
            }
        }
    }
    forces
}

/// One coordinate of a place.
type Axis = fn(&[f64; 2]) -> f64;

/// Moves the nodes into a picture that begins at 0.
fn framed(places: &[[f64; 2]]) -> GraphPicture {
    let start = |axis: Axis| places.iter().map(axis).fold(f64::MAX, f64::min);
    let end = |axis: Axis| places.iter().map(axis).fold(f64::MIN, f64::max);
    let x: Axis = |place| place[0];
    let y: Axis = |place| place[1];
    if places.is_empty() {
        let side = pixels(2.0 * MARGIN);
        return GraphPicture { width: side, height: side, places: Vec::new() };
    }
    let at = |place: &[f64; 2]| {
        (pixels(place[0] - start(x) + MARGIN), pixels(place[1] - start(y) + MARGIN))
    };
    GraphPicture {
        width: pixels(end(x) - start(x) + 2.0 * MARGIN),
        height: pixels(end(y) - start(y) + 2.0 * MARGIN),
        places: places.iter().map(at).collect(),
    }
}

/// Whole pixels: the last digits of floating-point numbers depend on the processor.
#[expect(clippy::cast_possible_truncation, reason = "a picture is some thousand pixels wide")]
fn pixels(length: f64) -> i64 {
    length.round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square_of_distance(picture: &GraphPicture, one: usize, two: usize) -> i64 {
        let ((x, y), (to_x, to_y)) = (picture.places[one], picture.places[two]);
        (x - to_x).pow(2) + (y - to_y).pow(2)
    }

    #[test]
    fn linked_nodes_are_nearer_than_others() {
        let edges = [(0, 1), (1, 2), (0, 2), (3, 4)];
        let picture = arrange(5, &edges);
        assert_eq!(picture, arrange(5, &edges), "the same graph is placed alike");
        for (one, two) in edges {
            assert!(
                square_of_distance(&picture, one, two) < square_of_distance(&picture, 0, 4),
                "{one}-{two}"
            );
        }
        for (x, y) in &picture.places {
            assert!((0..picture.width).contains(x) && (0..picture.height).contains(y));
        }
    }

    #[test]
    fn no_node_and_one_node_have_a_picture() {
        assert_eq!(arrange(0, &[]).places, []);
        assert_eq!(arrange(1, &[]).places, [(90, 90)]);
    }
}
