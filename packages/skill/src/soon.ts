/**
 * A value that is there, or that comes. What is nearly always there at once (remembered, kept in
 * memory) is not waited for: a turn for each of a dozen steps is felt where the work itself is
 * small.
 */
export type Soon<Value> = Value | Promise<Value>

export function isPromise<Value>(soon: Soon<Value>): soon is Promise<Value> {
  return soon instanceof Promise
}
