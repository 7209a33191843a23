"""A public library network: six branches that lend copies of works to patrons."""
