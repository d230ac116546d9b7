/** What makers of media and publishers of posts are asked, in the form of their ports. */
import type { Brief, ContentType, Draft } from '../src/compose/brief.ts'
import type { Post } from '../src/publish/platform.ts'
import { CONTENT, PERSONA } from './content.ts'
import { trend } from './trends.ts'

type Liked = (typeof PERSONA)['content_style']['media_preference']

export function brief({ type = 'single_post', media = 'mixed' }: BriefChanges): Brief {
  const style = { ...PERSONA.content_style, media_preference: media }
  return {
    trend: trend('Night trains'),
    persona: { ...PERSONA, content_style: style },
    platform: 'twitter',
    type,
    careful: false,
    withinMs: 15_000,
  }
}
type BriefChanges = { readonly type?: ContentType; readonly media?: Liked }

export const draft: Draft = {
  script: CONTENT.script,
  captions: CONTENT.captions,
  hashtags: CONTENT.hashtags,
  confidence: 0.7,
}

export function post(key: string, text: string): Post {
  return {
    key,
    platform: 'twitter',
    text,
    media: [{ url: 'https://media.example/1.png', type: 'image', alt: 'A harbour' }],
    hashtags: CONTENT.hashtags,
    content: CONTENT,
    approval: { id: 'approval-1', reviewer: 'ada' },
  }
}
