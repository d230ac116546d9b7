import { signRotation } from './src/rotation.ts'
import { generateKeyPair } from './src/keys.ts'
import { signMessage } from './src/message.ts'
import * as moltbook from '@chimera/dialects/moltbook'
const a = generateKeyPair(), b = generateKeyPair()
const m = signRotation('a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f' as never, { old: a, next: b }, Date.UTC(2026,1,6,12))
console.log(JSON.stringify(moltbook.readKeyRotation(JSON.parse(JSON.stringify(m)))))
const post = signMessage(moltbook.encodePresence({agent:'a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f' as never, instance:'a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6e' as never, availability:'available', capabilities:['a','b','c'], slotsTotal:8, slotsFree:3, load:{cpu:0.1,mem:0.2}, signedAt:Date.UTC(2026,1,6,12), expiresAt:Date.UTC(2026,1,6,12,0,30), correlation:'t-1' as never}), a)
const text = JSON.stringify(post)
const value = JSON.parse(text)
console.log(moltbook.readPresence(value).ok)
const N=300000
for (let r=0;r<3;r++){
let t=performance.now(); for (let i=0;i<N;i++) JSON.parse(text); const parse=performance.now()-t
t=performance.now(); for (let i=0;i<N;i++) moltbook.readPresence(value); const read=performance.now()-t
t=performance.now(); for (let i=0;i<N;i++) moltbook.decodePresence(value); const dec=performance.now()-t
console.log('parse', (parse/N*1000).toFixed(2),'us read',(read/N*1000).toFixed(2),'decode',(dec/N*1000).toFixed(2))
}
import * as feed from '@chimera/dialects/feed'
const st={schema_version:'openclaw-status.v1',message_id:'b6f9e3f8-2d3a-4e6a-9f12-0d3a1b2c3d4e',agent_id:'chimera_planner_01',status:'AVAILABLE',capabilities:['trend_analysis','campaign_planning'],last_updated:'2026-02-06T12:00:00Z',uptime_s:3600,notes:'Working on 1 task; 3 of 4 slots free.'}
let t=performance.now(); for (let i=0;i<N;i++) feed.readStatus(st); console.log('feed', ((performance.now()-t)/N*1000).toFixed(2))
