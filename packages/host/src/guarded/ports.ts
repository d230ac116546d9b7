/**
 * Ports that speak something other than HTTP. A request to one of them is a stranger's way to have
 * us talk to a mail or chat server; an honest agent listens nowhere there.
 */
// Below 1024 only these two are for the web.
const WEB = [80, 443]
const FIRST_FREE = 1_024
// Those above it that browsers refuse too: the Fetch standard's list of bad ports.
const BAD = [
  1_719, 1_720, 1_723, 2_049, 3_659, 4_045, 4_190, 5_060, 5_061, 6_000, 6_566, 6_665, 6_666, 6_667,
  6_668, 6_669, 6_679, 6_697, 10_080,
]

export function isWebPort(port: number): boolean {
  return port >= FIRST_FREE ? !BAD.includes(port) : WEB.includes(port)
}
