/**
 * From the likeness of two texts to a relevance that a threshold can be set by.
 *
 * The cosine of a trend and a goal is small even where they belong together (0.3 to 0.6), and some
 * trends are near to everything. So a goal is held against what the trend has to do with subjects
 * in general: how many standard deviations nearer it is than they are.
 *
 *   R1  Rising likeness never lowers the score.
 *   R2  0.75 is where a reader would say yes: chosen on one half of the labelled pairs and measured
 *       on the other (docs/concepts/relevance.md).
 */

// One of six: about the weight that a standard deviation had in the pairs.
const DEVIATIONS = 1 / 6
// The middle of the pairs, to a round figure: a sharper one would fit these pairs and no others.
const MIDDLE = 0.5
const STEEPNESS = 6
const AT_MIDDLE = Math.log(3)

/** @param likeness Of trend and goal. @param others Of the trend and subjects in general. */
export function relevanceOf(likeness: number, others: readonly number[]): number {
  const mean = others.reduce((sum, each) => sum + each, 0) / others.length
  const variance = others.reduce((sum, each) => sum + (each - mean) ** 2, 0) / others.length
  const nearer = (likeness - mean) / Math.max(Math.sqrt(variance), Number.EPSILON)
  const evidence = likeness + nearer * DEVIATIONS
  return 1 / (1 + Math.exp(-(STEEPNESS * (evidence - MIDDLE) + AT_MIDDLE)))
}

/** Numbers of four bytes each, as the model has them: a list of numbers takes six times that. */
export type Vector = Float32Array

export function cosine(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let product = 0
  let ones = 0
  let others = 0
  for (let at = 0; at < one.length; at += 1) {
    const value = one[at] ?? 0
    const beside = other[at] ?? 0
    product += value * beside
    ones += value * value
    others += beside * beside
  }
  return ones === 0 || others === 0 ? 0 : product / Math.sqrt(ones * others)
}
