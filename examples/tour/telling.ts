/** How the tour is told: numbered steps, messages as JSON, colour only where somebody looks. */
const colour = process.stdout.isTTY && process.env.NO_COLOR === undefined
const paint = (code: number) => (text: string) =>
  colour ? `\u001b[${code}m${text}\u001b[0m` : text
const bold = paint(1)
const dim = paint(2)

let steps = 0

export function step(title: string, aside: string): void {
  steps += 1
  console.log(`\n${bold(`${steps}. ${title}`)} ${dim(`— ${aside}`)}`)
}

export function say(text: string): void {
  console.log(text === '' ? '' : `   ${text}`)
}

/** A message, one member a line, so that it can be read. */
export function show(message: object): void {
  for (const line of JSON.stringify(message, undefined, 2).split('\n')) console.log(`   ${line}`)
}
