/** A real Chromium that looks at the page as it is built, and a line to the hub that can be cut. */
import assert from 'node:assert/strict'
import { accessSync, constants, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const require = createRequire(import.meta.url)

/** As `tools/ready.mjs` looks for it, which installs it where it can. */
function findChromium(): string {
  const { CHIMERA_CHROMIUM: named, PATH = '' } = process.env
  if (named !== undefined) return named
  const places = PATH.split(delimiter).flatMap((each) => NAMES.map((name) => join(each, name)))
  const found = places.find((place) => {
    try {
      accessSync(place, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  assert.ok(found, 'no Chromium on the PATH: install it, or name it in CHIMERA_CHROMIUM')
  return found
}

/** The page as it is built before the tests (tools/build-commands.ts). */
export const PAGE = fileURLToPath(new URL('../dist/page', import.meta.url))

export type Looking = {
  readonly open: (address: string, how?: BrowserContextOptions) => Promise<Page>
  /** What went wrong in any page, and what was asked of anybody else. */
  readonly faults: () => readonly string[]
  readonly close: () => Promise<void>
}

export async function openBrowser(): Promise<Looking> {
  const browser: Browser = await chromium.launch({
    executablePath: findChromium(),
    // A test runs as root where it may; the sandbox does not.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  const faults: string[] = []
  return {
    faults: () => faults,
    async open(address, how = {}) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...how })
      const page = await context.newPage()
      const { origin } = new URL(address)
      page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
      page.on('dialog', (dialog) => {
        faults.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      page.on('console', (said) => {
        // That an answer was a refusal is the browser's own line, and some are wanted here.
        const wanted = /Failed to load resource/.test(said.text())
        if (said.type() === 'error' && !wanted) faults.push(`console: ${said.text()}`)
      })
      page.on('request', (asked) => {
        const foreign = !asked.url().startsWith(origin) && !asked.url().startsWith('blob:')
        if (foreign) faults.push(`asked elsewhere: ${asked.url()}`)
      })
      await page.goto(address)
      return page
    },
    close: () => browser.close(),
  }
}

/** To another address of the page, as a link in it does, without loading all of it again. */
export const goTo = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(
    `history.pushState(null, '', '/console/${path}'); dispatchEvent(new PopStateEvent('popstate'))`,
  )

export type Checked = 'everything' | 'colours'

/**
 * What axe finds that keeps somebody from using the page. In other colours and on another screen
 * the page is the same one, so that it is enough to look at its colours.
 */
export async function seriousFindings(
  page: Page,
  checked: Checked = 'everything',
): Promise<readonly string[]> {
  const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
  await page.evaluate(axe)
  const found = (await page.evaluate(
    `axe.run(document, ${JSON.stringify({
      resultTypes: ['violations'],
      ...(checked === 'colours' && { runOnly: ['color-contrast'] }),
    })}).then(({ violations }) => violations)`,
  )) as readonly { id: string; impact: string; nodes: readonly { html: string }[] }[]
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`)
}

export type Line = {
  readonly address: string
  /** Ends what is connected and takes nothing new. */
  readonly cut: () => void
  readonly mend: () => void
  /** Whatever connects from now on comes there. */
  readonly leadTo: (address: string) => void
  readonly close: () => Promise<void>
}

export async function layLine(to: string): Promise<Line> {
  let { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  let whole = true
  const server = createServer((near) => {
    if (!whole) return void near.destroy()
    const far = connect(Number(port), hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening))
  const cut = () => {
    whole = false
    for (const each of sockets) each.destroy()
  }
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend: () => {
      whole = true
    },
    leadTo: (address) => {
      ;({ hostname, port } = new URL(address))
    },
    close: () => {
      cut()
      return new Promise<void>((closed) => void server.close(() => closed()))
    },
  }
}
