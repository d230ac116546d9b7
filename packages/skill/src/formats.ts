/**
 * The formats that are checked, each in time linear in the text. A format that is not among them
 * only describes, as JSON Schema has it.
 */
import { isIPv4, isIPv6 } from 'node:net'

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i
// Longer than any address; the pieces are looked at one by one.
const NAME_CHARS = 253
const LOCAL_CHARS = 64

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return false
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= days
}

const isTime = (text: string): boolean => text.length <= 32 && TIME.test(text)

function isHostname(text: string): boolean {
  return text.length <= NAME_CHARS && text.split('.').every((label) => LABEL.test(label))
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  if (local === '' || local.length > LOCAL_CHARS || /[\s@]/.test(local)) return false
  return isHostname(text.slice(at + 1))
}

export const FORMATS = {
  date: isDate,
  time: isTime,
  'date-time': (text: string) =>
    isDate(text.slice(0, 10)) && /^t$/i.test(text.charAt(10)) && isTime(text.slice(11)),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: isIPv6,
  uri: (text: string) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text),
  uuid: (text: string) => UUID.test(text),
} as const

export function isFormat(name: string): name is keyof typeof FORMATS {
  return Object.hasOwn(FORMATS, name)
}
