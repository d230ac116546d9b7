/**
 * `chimera.config.ts` to begin with: everything that can be said is there, commented out.
 *
 *   I1  A line that begins with `// ` is code that may be uncommented; words are in block comments.
 *   I2  Each part between two blank lines makes sense by itself, and all of them together do.
 *   I3  Only types are imported, so that it loads wherever the command is installed.
 */
export const CONFIG_FILE = 'chimera.config.ts'

export const CONFIG_TEMPLATE = `/**
 * What your agents' skills stand on. What is not said here is embedded: it works on this machine
 * alone, and says so. \`chimera up\`, \`chimera fleet\` and \`chimera skill\` read this file where
 * they are run; \`chimera providers check\` tries what it names.
 *
 * Uncomment what you have. No secret is written here, only where it is found: a variable,
 * \`{ env: 'NAME' }\`, or a file, \`{ file: 'path' }\`.
 */
import type { ChimeraConfig } from '@chimera/skills/config'

export default {
  providers: {
    /** Feeds (RSS or Atom) for the trends, each with the platform that it counts as. */
    // feeds: [
    //   { platform: 'news', url: 'https://www.example.org/news.rss' },
    //   { platform: 'reddit', url: 'https://www.example.org/r/all.rss', region: 'EU' },
    // ],

    /** How often an hour the trends of a platform may be asked for. */
    // perHour: 100,

    /** Language models, the best first; where one fails, the next one is asked. */
    // models: [
    //   { name: 'gemini-3-flash', kind: 'google', key: { env: 'GEMINI_API_KEY' } },
    //   { name: 'gpt-4o-mini', kind: 'openai', key: { file: '/run/secrets/openai' } },
    //   { name: 'mine', kind: 'compatible', url: 'http://127.0.0.1:8080/v1', model: 'llama' },
    // ],

    /**
     * MCP servers, by a name of your own, and what they do for you: bring trends, make pictures and
     * videos, publish to platforms. A platform without one is published to the hub's own outbox.
     */
    // mcp: {
    //   news: { command: 'npx', args: ['my-news-server'], env: ['NEWS_TOKEN'] },
    //   studio: {
    //     url: 'https://mcp.example.org/studio',
    //     headers: { authorization: 'Bearer \${STUDIO_TOKEN}' },
    //   },
    // },
    // trends: { twitter: [{ server: 'news', resource: 'x://trends' }] },
    // media: { server: 'studio', image: 'ideogram', video: 'runwayml' },
    // publish: {
    //   twitter: { server: 'studio', tool: 'post', find: 'find_post' },
    //   instagram: { server: 'studio', tool: 'share' },
    // },

    /** House rules: words that are no offence here, and brands that are named only as agreed. */
    // content: { allow: ['damn'], brands: ['Acme'] },

    /** A wallet on Base, in the place of pretended money: real money, so begin with a little. */
    // wallet: {
    //   rpc: { base: { env: 'BASE_NODE' } },
    //   payee: '0x1111111111111111111111111111111111111111',
    //   key: { file: '/run/secrets/wallet' },
    // },

    /** Private networks where the addresses above may lie; public ones need no leave. */
    // allowNet: ['localhost', '10.0.0.0/8'],
  },
} satisfies ChimeraConfig
`
