// An agent without any of our packages: it counts words for whoever posts a Chorus job.
import { createServer } from 'node:http'

const done = new Map() // A repeated job is the same job: one run, one answer.

const server = createServer((request, reply) => void serve(request, reply))

async function serve(request, reply) {
  const [, , id] = request.url.split('/')
  let text = ''
  for await (const part of request) text += part
  const job = id ? { job_id: id } : JSON.parse(text)
  const answer = done.get(job.job_id) ?? work(job)
  if (answer.status === 'SUCCESS') done.set(job.job_id, answer)
  reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

function work({ job_id, skill_name, input_data }) {
  const result = { job_id, agent_id: process.env.AGENT, timestamp: new Date().toISOString() }
  if (skill_name !== 'word_count')
    return { ...result, status: 'FAILURE', error_code: 'SKILL_MISMATCH', execution_cost: 0 }
  const output_data = { words: input_data.text.split(/\s+/).length }
  return { ...result, status: 'SUCCESS', output_data, execution_cost: 0.05, execution_time_ms: 1 }
}

server.listen(Number(process.env.PORT ?? 4710), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/jobs`)
})
