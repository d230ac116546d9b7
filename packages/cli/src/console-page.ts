/** Where the page of the hub lies, if it was built: in its own package, which a hub knows not. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export function consolePage(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@chimera/console/package.json')
    const page = join(dirname(manifest), 'dist', 'page')
    return existsSync(join(page, 'index.html')) ? page : undefined
  } catch {
    // Installed without it: the hub is whole without a page.
    return undefined
  }
}
