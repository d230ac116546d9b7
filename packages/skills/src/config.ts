/** The settings file of a project: `chimera.config.ts`, `.mjs` or `.json`. */
import type { ProviderSettings } from './providers/settings.ts'

export type ChimeraConfig = {
  /** What stands behind the skills. */
  readonly providers?: ProviderSettings
}

/**
 * Says what the file may hold, for whoever writes it in an editor:
 * `export default defineConfig({ providers: { … } })`.
 */
export const defineConfig = (config: ChimeraConfig): ChimeraConfig => config
