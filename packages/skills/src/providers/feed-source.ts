/** The feeds of the settings as a source of trends, read in this process. */
import { type FeedReader, FeedsFailure } from '../feeds/reader.ts'
import { SourceFailure, type TrendSource } from '../trends/source.ts'

export function feedSource(reader: FeedReader): TrendSource {
  return {
    name: 'feeds',
    fetch: ({ platform }, signal) =>
      reader.read(platform, signal).catch((cause: unknown) => {
        if (!(cause instanceof FeedsFailure)) throw cause
        throw new SourceFailure(cause.code, cause.message)
      }),
  }
}
