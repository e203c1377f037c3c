//! The 91 choices of xxl-job's own Java class.

use carillon_scheduler::RouteStrategy;
use carillon_scheduler::route::{Candidate, HashRing, RouteInput, order};

// covers: 004-12
#[test]
fn the_consistent_hash_is_that_of_java() {
    let mut rows = 0;
    for line in include_str!("route_hash_vectors.tsv").lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [job, addresses, expected] = columns[..] else {
            panic!("{line}");
        };
        let job_id = job.parse().unwrap();
        let candidates: Vec<Candidate<'_>> = addresses.split(',').map(Candidate::new).collect();
        let ring = HashRing::new(addresses.split(','));
        for ring in [None, Some(&ring)] {
            let facts = RouteInput { job_id, ring, ..RouteInput::default() };
            let first = order(RouteStrategy::ConsistentHash, &candidates, &facts)[0];
            assert_eq!(candidates[first].address, expected, "job {job} of {addresses}");
        }
        rows += 1;
    }
    assert_eq!(rows, 91);
}
