/** Something that stands before a port: it sees each call, and can hold it up or let it die. */

export type Around = (name: string, run: () => Promise<unknown>) => Promise<unknown>

/** The same port, with each of its calls handed to `call`; parts of it likewise. */
export function around<Port extends object>(port: Port, call: Around, path = ''): Port {
  const wrapped = Object.entries(port).map(([key, value]) => {
    const name = `${path}${key}`
    if (typeof value === 'function') {
      const run: (...args: unknown[]) => Promise<unknown> = value
      return [key, (...args: unknown[]) => call(name, () => run(...args))]
    }
    const isPart = typeof value === 'object' && value !== null
    return [key, isPart ? around(value, call, `${name}.`) : value]
  })
  return Object.fromEntries(wrapped)
}

/** Never comes back, as a process that has died does not. */
export const forever = <Value>(): Promise<Value> => new Promise<Value>(() => undefined)

/** Counts what is under way, so that a virtual clock can wait for real input and output. */
export function createTraffic() {
  let underWay = 0
  const call: Around = async (_, run) => {
    underWay += 1
    try {
      return await run()
    } finally {
      underWay -= 1
    }
  }
  /** Until nothing is under way and nothing comes of it. */
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = underWay === 0 ? quiet + 1 : 0) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { call, settle }
}
