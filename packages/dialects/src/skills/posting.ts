/**
 * What a platform shows of a content package: its own variant where there is one, else the caption.
 * Media is named by its address; what is in it, where somebody has said so.
 */
import type { ContentPackage } from './content.ts'
import type { PublishPlatform } from './words.ts'

export type Shown = {
  readonly text: string
  readonly title?: string
  readonly media: readonly ShownMedia[]
  readonly hashtags: readonly string[]
}

export type ShownMedia = {
  readonly url: string
  readonly type?: 'image' | 'video'
  readonly alt?: string
}

export function shownOn(platform: PublishPlatform, content: ContentPackage): Shown {
  const { captions, script, hashtags, platform_variants: variants = {} } = content
  const rest = { media: mediaOf(content, platform), hashtags }
  switch (platform) {
    case 'twitter':
      return { text: variants.twitter?.text ?? captions, ...rest }
    case 'tiktok':
      return { text: variants.tiktok?.description ?? captions, ...rest }
    case 'instagram':
      return { text: variants.instagram?.caption ?? captions, ...rest }
    case 'youtube': {
      const { title, description = script } = variants.youtube ?? {}
      return { text: description, ...(title !== undefined && { title }), ...rest }
    }
  }
}

function mediaOf(
  { media_urls, media_metadata = [], platform_variants }: ContentPackage,
  platform: PublishPlatform,
): readonly ShownMedia[] {
  const video = platform === 'tiktok' ? platform_variants?.tiktok?.video_url : undefined
  const urls = video === undefined || media_urls.includes(video) ? media_urls : [video]
  return urls.map((url) => {
    const detail = media_metadata.find((each) => each.url === url)
    return {
      url,
      ...(detail && { type: detail.type }),
      ...(detail?.alt_text && { alt: detail.alt_text }),
    }
  })
}
