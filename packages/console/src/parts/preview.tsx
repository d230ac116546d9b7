/**
 * Content as its platform will show it: its own variant, its hashtags, its media. Media is named
 * and not fetched, since the page asks nobody but its hub.
 */
import type { ReviewSeen } from '@chimera/dialects/chimera'
import type { ContentPackage } from '@chimera/dialects/skills/content'
import { type ShownMedia, shownOn } from '@chimera/dialects/skills/posting'
import { plainText } from '../format/text.ts'
import { PLATFORM_NAMES, shownField, TITLE_FIELD } from '../state/review.ts'
import { Marked } from './marked.tsx'
import { Outside } from './outside.tsx'
import { Ago, Name } from './shown.tsx'

type PreviewProps = {
  readonly review: ReviewSeen
  /** As it was, or as it is being edited. */
  readonly content: ContentPackage
  readonly issues: ReviewSeen['issues']
}

export function Preview({ review, content, issues }: PreviewProps) {
  const { platform, owner_id: owner, schedule_time: time } = review
  const { text, title, media, hashtags } = shownOn(platform, content)
  const tags = hashtags.filter((tag) => !text.includes(tag))
  const field = shownField(platform, content)
  const isPicture = platform === 'instagram' || platform === 'tiktok' || platform === 'youtube'
  const pictures = media.length > 0 && <Media media={media} />
  return (
    <article
      className={`post ${platform}`}
      aria-label={`As it will look on ${PLATFORM_NAMES[platform]}`}
    >
      <header>
        <span className="avatar" aria-hidden="true">
          {plainText(owner).charAt(0).toUpperCase()}
        </span>
        <div>
          <b>
            <Name text={owner} />
          </b>
          <small>
            {PLATFORM_NAMES[platform]} ·{' '}
            {time === undefined ? 'as soon as it is approved' : <Ago at={time} />}
          </small>
        </div>
      </header>
      {isPicture && pictures}
      {title !== undefined && (
        <h3>
          <Marked text={title} field={TITLE_FIELD} issues={issues} />
        </h3>
      )}
      <p className="words" dir="auto">
        <Marked text={text} field={field} issues={issues} />
      </p>
      {tags.length > 0 && <p className="tags">{tags.map(plainText).join(' ')}</p>}
      {!isPicture && pictures}
    </article>
  )
}

function Media({ media }: { readonly media: readonly ShownMedia[] }) {
  return (
    <ul className="media">
      {media.map(({ url, type = 'media', alt }) => (
        <li key={url}>
          <b>{type}</b> {alt !== undefined && <Name text={alt} />}
          <small>
            <Outside href={url} />
          </small>
        </li>
      ))}
    </ul>
  )
}
