"""A result as pages and exports show it: evidence, proof, hops and trail."""
