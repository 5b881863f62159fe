// Package proof checks by machine what the design promises: workers use the real packages against every kind of server, under faults, and
// what they did and were told must be explained by a register of leases that changes one step at a time, and by nobody's believing to hold
// what another believes to hold.
//
// Everything is in its tests. History is what was written, seen and told; register is the model that porcupine searches for an order in; beliefs
// are for how long each process may think that it holds a claim. In memory, turns lets one worker run at a time, chosen by a seed, on a clock of
// its own, so that a run can be repeated; over real servers the workers run at once.
package proof
