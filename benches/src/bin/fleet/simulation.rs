//! A fleet, request by request: sessions choose spaces by Zipf's law, hosts keep the spaces open
//! that were used last, and spaces that are hot move.
//!
//! A request waits for a core of its host, a write for the write before it as well. A request to a
//! closed space opens it first, and closes the space that was used longest ago if memory is short.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use benches::workload::Rng;

use crate::costs::SpaceCosts;

/// Exponent of Zipf's law: how unequally spaces are used.
const ZIPF: f64 = 0.9;
/// Requests of a session on average, and the seconds between them.
const SESSION_REQUESTS: f64 = 20.0;
const THINK_SECONDS: f64 = 5.0;
/// Shares of fetches and inserts; the rest are searches.
const FETCHES: f64 = 0.8;
const INSERTS: f64 = 0.15;
/// Spaces that have the share of a hot fleet.
const HOT_SPACES: usize = 10;
/// Seconds between two looks at the load of hosts, and from which multiple of the mean on one
/// gives spaces away.
const BALANCE_SECONDS: f64 = 30.0;
const TOO_BUSY: f64 = 1.2;
/// Bytes a second from one host or an object store to another host.
const NETWORK: f64 = 100e6;
/// Microseconds in which a leader ships its last changes and the next one takes the lease: two
/// round trips to the object store.
const HANDOVER: f64 = 60e3;
/// Seconds until a lost host's leases have ended.
const LEASE_SECONDS: f64 = 15.0;

#[derive(Clone, Debug)]
pub struct Fleet {
    pub spaces: usize,
    pub hosts: usize,
    pub cores: usize,
    /// Bytes of a host for open spaces.
    pub memory: f64,
    pub requests_per_second: f64,
    pub seconds: f64,
    /// The share of sessions that goes to a few spaces.
    pub hot_share: f64,
    pub moves_hot: bool,
    /// The second in which a host is lost.
    pub lost_host_at: Option<f64>,
}

/// Times in microseconds; `busy` and `hottest` as shares of a host's cores.
pub struct Outcome {
    /// The share of requests that opened their space.
    pub opened: f64,
    pub busy: f64,
    pub hottest: f64,
    pub latencies: Latencies,
    pub moves: usize,
}

/// Sorted microseconds.
pub struct Latencies(Vec<f64>);

impl Latencies {
    /// The latency that this share of requests does not exceed.
    pub fn share(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((last as f64 * share) as usize).copied().unwrap_or(f64::NAN)
    }
}

#[derive(Default)]
struct Host {
    /// When each core is free.
    cores: Vec<f64>,
    /// Open spaces: by the request that used them last, and the reverse.
    by_use: BTreeMap<u64, usize>,
    open: HashMap<usize, u64>,
    /// Core time since the last look, of each space and in all, and of the whole run.
    recent: HashMap<usize, f64>,
    recent_total: f64,
    total: f64,
    is_lost: bool,
}

impl Host {
    /// Takes a core for `micros` from `earliest` on, and returns when it is done.
    fn work(&mut self, space: usize, earliest: f64, micros: f64) -> f64 {
        let core = self.cores.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("a core");
        *core = core.max(earliest) + micros;
        *self.recent.entry(space).or_default() += micros;
        self.recent_total += micros;
        self.total += micros;
        *core
    }

    /// Marks a space as used by `request`. Whether it was open.
    fn touch(&mut self, space: usize, request: u64) -> bool {
        let before = self.open.insert(space, request);
        before.map(|before| self.by_use.remove(&before));
        self.by_use.insert(request, space);
        before.is_some()
    }

    fn close(&mut self, space: usize) -> bool {
        let used = self.open.remove(&space);
        used.is_some_and(|used| self.by_use.remove(&used).is_some())
    }

    fn close_oldest(&mut self) -> Option<usize> {
        let (_, space) = self.by_use.pop_first()?;
        self.open.remove(&space);
        Some(space)
    }
}

/// A session's next request.
struct NextRequest {
    at: f64,
    space: usize,
    left: u32,
}

struct Simulation<'a> {
    fleet: &'a Fleet,
    costs: &'a SpaceCosts,
    rng: Rng,
    hosts: Vec<Host>,
    /// Spaces that are elsewhere than the hash says.
    moved: HashMap<usize, usize>,
    /// Until when a space is on its way, and until when its last write takes.
    unavailable: HashMap<usize, f64>,
    written: HashMap<usize, f64>,
    moves: usize,
    opened: usize,
}

impl Fleet {
    pub fn simulate(&self, costs: &SpaceCosts) -> Outcome {
        let host = || Host { cores: vec![0.0; self.cores], ..Host::default() };
        let mut simulation = Simulation {
            fleet: self,
            costs,
            rng: Rng::new(11),
            hosts: std::iter::repeat_with(host).take(self.hosts).collect(),
            moved: HashMap::new(),
            unavailable: HashMap::new(),
            written: HashMap::new(),
            moves: 0,
            opened: 0,
        };
        let mut latencies = simulation.run();
        latencies.sort_unstable_by(f64::total_cmp);
        let whole = self.seconds * 1e6 * self.cores as f64;
        let shares: Vec<f64> = simulation.hosts.iter().map(|host| host.total / whole).collect();
        Outcome {
            opened: simulation.opened as f64 / latencies.len() as f64,
            busy: shares.iter().sum::<f64>() / shares.len() as f64,
            hottest: shares.iter().copied().fold(0.0, f64::max),
            latencies: Latencies(latencies),
            moves: simulation.moves,
        }
    }
}

impl Simulation<'_> {
    /// Latencies of the requests after the first fifth of the time, in which caches fill.
    fn run(&mut self) -> Vec<f64> {
        let end = self.fleet.seconds * 1e6;
        let between = SESSION_REQUESTS / self.fleet.requests_per_second * 1e6;
        // Earliest first; times are whole microseconds, so that they have an order.
        let mut waiting = BinaryHeap::new();
        let (mut sessions, mut next_session, mut next_look) =
            (Vec::new(), 0.0, BALANCE_SECONDS * 1e6);
        let (mut latencies, mut request) = (Vec::new(), 0);
        loop {
            let due = waiting.peek().map_or(f64::INFINITY, |Reverse((at, _))| *at as f64);
            let now = due.min(next_session);
            if now > end {
                return latencies;
            }
            if self.fleet.lost_host_at.is_some_and(|at| now > at * 1e6) {
                self.lose_host(now);
            }
            if now >= next_look {
                next_look += BALANCE_SECONDS * 1e6;
                self.balance(now);
            }
            if next_session <= due {
                let left = self.exponential(SESSION_REQUESTS).ceil() as u32;
                sessions.push(NextRequest { at: now, space: self.choose_space(), left });
                waiting.push(Reverse((now as u64, sessions.len() - 1)));
                next_session = now + self.exponential(between);
                continue;
            }
            let Some(Reverse((_, index))) = waiting.pop() else { continue };
            let NextRequest { at, space, left } = sessions[index];
            request += 1;
            let is_opened = self.opened;
            let done = self.serve(space, at, request);
            if at > end / 5.0 {
                latencies.push(done - at);
            } else {
                self.opened = is_opened;
            }
            if left > 1 {
                let at = done + self.exponential(THINK_SECONDS * 1e6);
                sessions[index] = NextRequest { at, space, left: left - 1 };
                waiting.push(Reverse((at as u64, index)));
            }
        }
    }

    /// When a request that arrives `at` is answered.
    fn serve(&mut self, space: usize, at: f64, request: u64) -> f64 {
        let kind = self.rng.fraction();
        let is_write = (FETCHES..FETCHES + INSERTS).contains(&kind);
        let micros = match is_write {
            true => self.costs.insert,
            false if kind < FETCHES => self.costs.fetch,
            false => self.costs.search,
        };
        let mut earliest = self.unavailable.get(&space).map_or(at, |until| at.max(*until));
        if is_write {
            earliest = self.written.get(&space).map_or(earliest, |until| earliest.max(*until));
        }
        let host = self.host_of(space);
        let mut work = micros;
        let host = &mut self.hosts[host];
        if !host.touch(space, request) {
            self.opened += 1;
            work += self.costs.open;
            if host.open.len() as f64 * self.costs.memory > self.fleet.memory
                && let Some(oldest) = host.close_oldest()
            {
                host.work(oldest, at, self.costs.close);
            }
        }
        let done = host.work(space, earliest, work);
        if is_write {
            self.written.insert(space, done);
        }
        done
    }

    /// The host of a space: the one whose hash with it is greatest, unless it moved.
    fn host_of(&self, space: usize) -> usize {
        if let Some(host) = self.moved.get(&space).filter(|host| !self.hosts[**host].is_lost) {
            return *host;
        }
        let weight = |host: &usize| Rng::new(((space as u64) << 16) | *host as u64).draw();
        let present = (0..self.hosts.len()).filter(|host| !self.hosts[*host].is_lost);
        present.max_by_key(weight).expect("a host is left")
    }

    fn choose_space(&mut self) -> usize {
        if self.rng.fraction() < self.fleet.hot_share {
            return self.rng.below(HOT_SPACES);
        }
        // The inverse of the law's distribution function, as if ranks were real numbers.
        let most = (self.fleet.spaces as f64).powf(1.0 - ZIPF) - 1.0;
        let rank = (most * self.rng.fraction() + 1.0).powf(1.0 / (1.0 - ZIPF));
        (rank as usize).min(self.fleet.spaces) - 1
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.rng.fraction()).ln()
    }

    /// Hosts that are too busy give their busiest spaces to the one with least to do.
    fn balance(&mut self, now: f64) {
        let present = self.hosts.iter().filter(|host| !host.is_lost).count();
        let mean = self.hosts.iter().map(|host| host.recent_total).sum::<f64>() / present as f64;
        while self.fleet.moves_hot {
            let by_load = |a: &usize, b: &usize| {
                self.hosts[*a].recent_total.total_cmp(&self.hosts[*b].recent_total)
            };
            let present = || (0..self.hosts.len()).filter(|host| !self.hosts[*host].is_lost);
            let (Some(from), Some(to)) = (present().max_by(by_load), present().min_by(by_load))
            else {
                break;
            };
            let excess = self.hosts[from].recent_total - mean;
            if excess < (TOO_BUSY - 1.0) * mean {
                break;
            }
            // The busiest one that does not make the other host as busy as this one.
            let room = self.hosts[from].recent_total - self.hosts[to].recent_total;
            let fits = self.hosts[from].recent.iter().filter(|(_, load)| **load < room / 2.0);
            let Some((space, load)) =
                fits.max_by(|a, b| (a.1, b.0).partial_cmp(&(b.1, a.0)).expect("numbers"))
            else {
                break;
            };
            let (space, load) = (*space, *load);
            self.hosts[from].recent.remove(&space);
            self.hosts[from].recent_total -= load;
            self.hosts[to].recent_total += load;
            self.moves += 1;
            // The copy is made while the space is served; only the rest of its changes is not.
            let close = if self.hosts[from].close(space) { self.costs.close } else { 0.0 };
            self.moved.insert(space, to);
            self.unavailable.insert(space, now + close + HANDOVER + self.costs.open);
        }
        for host in &mut self.hosts {
            host.recent.clear();
            host.recent_total = 0.0;
        }
    }

    /// The first host is lost: its spaces are restored from the object store when they are used.
    fn lose_host(&mut self, now: f64) {
        let lost = &mut self.hosts[0];
        if lost.is_lost {
            return;
        }
        lost.is_lost = true;
        let restored = self.costs.bytes_at_rest / NETWORK * 1e6 + self.costs.rebuild;
        for space in std::mem::take(&mut lost.open).into_keys() {
            self.unavailable.insert(space, now + LEASE_SECONDS * 1e6 + restored);
        }
    }
}
