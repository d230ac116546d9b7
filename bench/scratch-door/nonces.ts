import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { createClock } from '@chimera/host/clock'
import { startPostgres } from '@chimera/store/testing/postgres-server'
import { createAsker } from '../../packages/hub/test/asking.ts'
import { runHub } from '../../packages/hub/test/running.ts'

const clock = createClock()
const agent = new Agent({ keepAlive: true, maxSockets: 64 })
const post = (url: string, init: any) => new Promise<number>((ok, no) => {
  const r = request(url, { method: init.method, headers: init.headers, agent }, (a) => { a.resume(); a.on('end', () => ok(a.statusCode ?? 0)) })
  r.on('error', no); r.end(init.body)
})
async function run(name: string, settings: any) {
  const hub = await runHub({ auth: 'required', clock, ...settings })
  const asker = createAsker(hub, clock)
  const { key, id } = await asker.newAgent()
  for (const parallel of [1, 32]) {
    for (const n of [200, parallel === 1 ? 600 : 4000]) {
      const all = Array.from({ length: n }, () => asker.requestOf('/heartbeat', { key, body: { agent_id: id } }))
      const times: number[] = []
      const began = performance.now()
      let next = 0
      await Promise.all(Array.from({ length: parallel }, async () => {
        while (next < all.length) {
          const init = all[next++]
          const t = performance.now()
          const status = await post(hub.address + '/heartbeat', init)
          if (status !== 200) throw new Error(String(status))
          times.push(performance.now() - t)
        }
      }))
      const took = performance.now() - began
      times.sort((a, b) => a - b)
      if (n > 200) console.log(name, `parallel ${parallel}:`, Math.round((n * 1000) / took), 'req/s; p50', times[Math.floor(n / 2)]?.toFixed(2), 'ms; p99', times[Math.floor(n * 0.99)]?.toFixed(2), 'ms')
    }
  }
  await hub.stop()
}
await run('embedded', { data: ':memory:' })
const server = await startPostgres()
await run('postgres', { database: await server.newAddress() })
await server.stop()
agent.destroy()
