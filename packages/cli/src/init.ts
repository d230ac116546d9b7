/** The files of a network of one's own: what the skills stand on, a campaign and its persona. */
import { readSample, type Sample } from './campaign-begin.ts'
import { CONFIG_FILE, CONFIG_TEMPLATE } from './init-template.ts'
import { writeNew } from './write-new.ts'

export const CAMPAIGN_FILE = 'campaign.yaml'

/** Returns the names of what was written. */
export async function initialise(directory: string, sample: Sample): Promise<readonly string[]> {
  const { campaign, persona } = await readSample(sample)
  const files = {
    [CONFIG_FILE]: CONFIG_TEMPLATE,
    [CAMPAIGN_FILE]: campaign,
    [persona.file]: persona.text,
  }
  const next = 'Move them away, or name another directory: chimera init <directory>'
  await writeNew(directory, files, next)
  return Object.keys(files)
}
