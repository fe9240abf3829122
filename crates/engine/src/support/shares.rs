//! Work on a list, a share of it on each of several threads.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Does `work` on up to `threads` shares of `items`, which follow each other, each on a thread of
/// this name but the first. Returns the results in the order of the shares. A share for which the
/// system starts no thread is left to the calling one.
pub(crate) fn map_shares<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    name: &str,
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let (own, others) = items.split_at(items.len().div_ceil(threads.max(1)));
    if others.is_empty() {
        return vec![work(own)];
    }
    let work = &work;
    scope(|scope| {
        let start = |share| {
            let builder = Builder::new().name(name.to_owned());
            (share, builder.spawn_scoped(scope, move || work(share)).ok())
        };
        let helpers: Vec<_> = others.chunks(own.len()).map(start).collect();
        let mut results = vec![work(own)];
        for (share, helper) in helpers {
            results.push(match helper {
                Some(helper) => helper.join().unwrap_or_else(|panic| resume_unwind(panic)),
                None => work(share),
            });
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::map_shares;

    #[test]
    fn shares_follow_each_other() {
        for length in [0, 1, 2, 7, 64] {
            let items: Vec<usize> = (0..length).collect();
            for threads in [0, 1, 2, 3, 100] {
                let shares = map_shares(&items, threads, "test", <[usize]>::to_vec);
                assert!(shares.len() <= threads.max(1));
                assert_eq!(shares.concat(), items, "on {threads} threads");
            }
        }
    }

    #[test]
    #[should_panic(expected = "the second share")]
    fn a_panic_of_a_thread_is_that_of_the_call() {
        map_shares(&[1, 2], 2, "test", |share| assert_eq!(share, [1], "the second share"));
    }
}
