//! Nothing here: the tests of the whole host are the integration binary `all`.
