/** A whole network in memory under a virtual clock, for authors' tests and for ours. */
export {}
