//! The 91 choices that xxl-job's own Java class made, to the letter.

use carillon_scheduler::RouteStrategy;
use carillon_scheduler::route::{Candidate, Facts, HashRing, order};

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
        let candidates: Vec<Candidate<'_>> = addresses.split(',').map(Candidate::at).collect();
        let ring = HashRing::new(addresses.split(','));
        for ring in [None, Some(&ring)] {
            let facts = Facts { job_id, ring, ..Facts::default() };
            let first = order(RouteStrategy::ConsistentHash, &candidates, &facts)[0];
            assert_eq!(candidates[first].address, expected, "job {job} of {addresses}");
        }
        rows += 1;
    }
    assert_eq!(rows, 91);
}
