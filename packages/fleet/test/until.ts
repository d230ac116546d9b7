/** What other processes do takes a moment; what does not come to be in minutes never will. */
import assert from 'node:assert/strict'

const LOOK_MS = 50
const MOST_LOOKS = 6_000

export async function until<Found>(
  look: () => Promise<Found | undefined>,
  why: () => string = () => 'it never came to be so',
): Promise<Found> {
  for (let tried = 0; tried < MOST_LOOKS; tried += 1) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return assert.fail(why())
}
