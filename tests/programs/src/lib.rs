//! Nothing: the guests are the examples.
