/**
 * Skills have versions, written `name@v1.0` (SK-5).
 *
 *   V1  At most the last two majors of a skill are offered side by side.
 *   V2  A version is removed at the earliest 30 days after it was declared deprecated.
 *   V3  A bare name means the newest major; `name@v1` the newest minor of that major; a minor asks
 *       for itself or a newer one of the same major, since minors only add.
 *   V4  Who calls a deprecated version is told until when it runs.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'

export type SkillVersion = { readonly major: number; readonly minor: number }
/** What a caller writes: a name, and as much of a version as it cares for. */
export type SkillRef = { readonly name: string; readonly major?: number; readonly minor?: number }

export type VersionOffer = {
  readonly name: string
  readonly version: SkillVersion
  readonly deprecation?: { readonly declaredAt: Instant; readonly removedAt: Instant }
}

export type DeprecationNotice = { readonly skill: string; readonly removedAt: Instant }

/** Undefined when the text is not a skill reference. */
export function readSkillRef(text: string): SkillRef | undefined {
  const match = /^([a-z0-9][a-z0-9_.-]*)(?:@v(0|[1-9]\d{0,5})(?:\.(0|[1-9]\d{0,5}))?)?$/i.exec(text)
  const name = match?.[1]
  if (match === null || name === undefined) return undefined
  const [, , major, minor] = match
  if (major === undefined) return { name }
  if (minor === undefined) return { name, major: Number(major) }
  return { name, major: Number(major), minor: Number(minor) }
}

export function writeSkillVersion(name: string, { major, minor }: SkillVersion): string {
  return `${name}@v${major}.${minor}`
}

/** V1 and V2 for a whole list of offers, as an agent declares it. */
export function decideOffers(
  offers: readonly VersionOffer[],
): Decision<never, 'skills_invalid' | 'notice_too_short'> {
  if (offers.length === 0 || offers.length > LIMITS.skillsPerAgent) {
    return refuse('skills_invalid', {
      figures: { skills: offers.length, most: LIMITS.skillsPerAgent },
    })
  }
  const written = offers.map((each) => writeSkillVersion(each.name, each.version))
  const twice = written.find((each, index) => written.indexOf(each) !== index)
  if (twice !== undefined) return refuse('skills_invalid', { figures: { twice } })

  const majors = new Map<string, Set<number>>()
  for (const { name, version } of offers) {
    const seen = majors.get(name) ?? new Set()
    majors.set(name, seen.add(version.major))
    if (seen.size > LIMITS.skillMajors)
      return refuse('skills_invalid', { figures: { majors: name } })
  }
  const hasty = offers.find(
    ({ deprecation }) =>
      deprecation !== undefined &&
      deprecation.removedAt - deprecation.declaredAt < LIMITS.deprecationMs,
  )
  if (hasty !== undefined) {
    return refuse('notice_too_short', {
      figures: { skill: writeSkillVersion(hasty.name, hasty.version) },
    })
  }
  return accept()
}

export type Resolved<Offer extends VersionOffer> =
  | { readonly ok: true; readonly offer: Offer; readonly notice?: DeprecationNotice }
  | {
      readonly ok: false
      readonly refusal: 'skill_unknown' | 'skill_version_unsupported'
      readonly versions: readonly string[]
    }

/** V3 and V4: the version that a caller gets. A version past its removal is not offered. */
export function resolveSkill<Offer extends VersionOffer>(
  offers: readonly Offer[],
  asked: SkillRef,
  now: Instant,
): Resolved<Offer> {
  const isOffered = ({ name, deprecation }: Offer): boolean =>
    name === asked.name && (deprecation === undefined || now < deprecation.removedAt)
  // Asked several times on the way of each call, so nothing is put together for the good case.
  let offer: Offer | undefined
  for (const each of offers) {
    if (!isOffered(each) || !isMeant(each.version, asked)) continue
    if (offer === undefined || newestFirst(each.version, offer.version) < 0) offer = each
  }
  if (offer === undefined) {
    const named = offers.filter(isOffered)
    const versions = named.map((each) => writeSkillVersion(each.name, each.version))
    const refusal = named.length === 0 ? 'skill_unknown' : 'skill_version_unsupported'
    return { ok: false, refusal, versions }
  }
  if (offer.deprecation === undefined) return { ok: true, offer }
  const skill = writeSkillVersion(offer.name, offer.version)
  return { ok: true, offer, notice: { skill, removedAt: offer.deprecation.removedAt } }
}

const isMeant = ({ major, minor }: SkillVersion, asked: SkillRef): boolean =>
  (asked.major === undefined || major === asked.major) &&
  (asked.minor === undefined || minor >= asked.minor)

const newestFirst = (one: SkillVersion, other: SkillVersion): number =>
  other.major - one.major || other.minor - one.minor
