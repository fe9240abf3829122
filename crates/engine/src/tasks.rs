//! Tasks: blocks of list style `task`, across the space.
