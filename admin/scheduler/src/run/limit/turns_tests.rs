use std::collections::HashMap;
use std::sync::Arc;

use super::*;

const A: SlotKey = SlotKey { limit_id: 1, key: NO_KEY };
const B: SlotKey = SlotKey { limit_id: 2, key: NO_KEY };

fn slots(list: &[SlotKey]) -> Arc<[SlotKey]> {
    list.into()
}

fn choose(turns: &mut Turns, free: &[(SlotKey, u32)], most: usize) -> Vec<i64> {
    turns.choose(&mut free.iter().copied().collect::<HashMap<_, _>>(), |_| 1, most)
}

#[test]
fn the_run_that_has_waited_longest_goes_first_and_a_priority_counts_as_a_head_start() {
    let mut turns = Turns::default();
    for (run_id, order) in [(1, 1_000), (2, 2_000), (3, 3_000 - 2_500)] {
        turns.insert(run_id, 7, order, slots(&[A]));
    }
    assert_eq!(choose(&mut turns, &[(A, 2)], 10), [3, 1]);
    assert_eq!((turns.len(), turns.contains(2)), (1, true));
    assert_eq!(choose(&mut turns, &[(A, 0)], 10), [0; 0]);
    assert_eq!(choose(&mut turns, &[], 10), [0; 0], "nothing is known of its slots");
    assert!(turns.remove(2) && !turns.remove(2) && turns.is_empty());
}

#[test]
fn two_apps_take_turns_also_over_many_choices() {
    let mut turns = Turns::default();
    (0..100).for_each(|n| turns.insert(n, 1, n, slots(&[A])));
    (100..110).for_each(|n| turns.insert(n, 2, n, slots(&[A])));
    let mut chosen = vec![];
    for _ in 0..20 {
        let next = choose(&mut turns, &[(A, 1)], 10);
        assert_eq!(next.len(), 1);
        chosen.extend(next);
    }
    assert_eq!(chosen.iter().filter(|run_id| **run_id >= 100).count(), 10, "{chosen:?}");
    // One that comes later does not make up for the time before.
    (200..240).for_each(|n| turns.insert(n, 3, n, slots(&[A])));
    let later: Vec<i64> = (0..20).flat_map(|_| choose(&mut turns, &[(A, 1)], 1)).collect();
    assert_eq!(later.iter().filter(|run_id| **run_id >= 200).count(), 10, "{later:?}");
}

#[test]
fn weights_divide_the_slots() {
    let mut turns = Turns::default();
    for app_id in [1, 2] {
        (0..100).for_each(|n| turns.insert(app_id * 1_000 + n, app_id, n, slots(&[A])));
    }
    let mut free = HashMap::from([(A, 40), (B, 1)]);
    let chosen = turns.choose(&mut free, |app_id| if app_id == 1 { 3 } else { 1 }, 100);
    assert_eq!((chosen.len(), free), (40, HashMap::from([(A, 0), (B, 1)])));
    assert_eq!(chosen.iter().filter(|run_id| **run_id < 2_000).count(), 30);
}

#[test]
fn a_run_takes_all_of_its_slots_or_none_and_others_pass_it() {
    let mut turns = Turns::default();
    turns.insert(1, 1, 10, slots(&[A, B]));
    turns.insert(2, 1, 20, slots(&[A]));
    assert_eq!(choose(&mut turns, &[(A, 1), (B, 0)], 10), [2]);
    assert_eq!(choose(&mut turns, &[(A, 1), (B, 1)], 10), [1]);
}

#[test]
fn one_limit_does_not_count_at_another() {
    let mut turns = Turns::default();
    (0..50).for_each(|n| turns.insert(n, 1, n, slots(&[B])));
    (100..150).for_each(|n| turns.insert(n, 1, n, slots(&[A])));
    (200..250).for_each(|n| turns.insert(n, 2, n, slots(&[A])));
    let chosen = choose(&mut turns, &[(A, 20), (B, 50)], 1_000);
    let of = |from: i64| chosen.iter().filter(|run_id| (from..from + 50).contains(*run_id)).count();
    assert_eq!((of(0), of(100), of(200)), (50, 10, 10));
}

#[test]
fn an_app_with_a_limit_of_its_own_keeps_its_turns_at_a_shared_one() {
    for (own_of_first, own_of_second) in [(&[A, B][..], &[A][..]), (&[A], &[A, B])] {
        let mut turns = Turns::default();
        (0..50).for_each(|n| turns.insert(n, 1, n, slots(own_of_first)));
        (100..150).for_each(|n| turns.insert(n, 2, n, slots(own_of_second)));
        let chosen: Vec<i64> = (0..20).flat_map(|_| choose(&mut turns, &[(A, 1), (B, 10)], 10)).collect();
        let of_second = chosen.iter().filter(|run_id| **run_id >= 100).count();
        assert_eq!((chosen.len(), of_second), (20, 10), "{chosen:?}");
    }
}

#[test]
fn a_key_has_slots_of_its_own() {
    let mut turns = Turns::default();
    let key = |key| SlotKey { limit_id: 1, key };
    (0..6).for_each(|n| turns.insert(n, 1, n, slots(&[key(n % 2 + 1)])));
    assert_eq!(turns.slots().len(), 2);
    let chosen = choose(&mut turns, &[(key(1), 1), (key(2), 2)], 10);
    assert_eq!(chosen, [0, 1, 3]);
}

#[test]
fn a_run_that_is_put_there_again_stands_there_once() {
    let mut turns = Turns::default();
    turns.insert(1, 1, 10, slots(&[A]));
    turns.insert(1, 1, 5, slots(&[B]));
    assert_eq!((turns.len(), turns.slots().into_iter().collect::<Vec<_>>()), (1, vec![B]));
    assert_eq!(turns.run_ids().collect::<Vec<_>>(), [1]);
    assert_eq!(choose(&mut turns, &[(A, 1), (B, 1)], 10), [1]);
}
