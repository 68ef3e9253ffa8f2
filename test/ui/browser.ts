import { createRequire } from 'node:module'
import type { Result } from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

/** Debian's package, or the one that this variable names. */
const CHROMIUM = process.env.CULVERT_TEST_CHROMIUM ?? '/usr/bin/chromium'

/** Starts the browser. The sandbox needs rights that root in a container does not have; the page is our own. */
export function openBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--enable-precise-memory-info']
  return chromium.launch({ executablePath: CHROMIUM, args })
}

/** A page, with everything that it complained about. */
export interface Watched {
  readonly page: Page
  /** Errors, and violations of the page's policy. */
  readonly complaints: string[]
}

/** Opens the link that was printed. */
export async function openLink(browser: Browser, link: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  await page.goto(link)
  await page.getByText(/\d edges?:/).waitFor()
  return { page, complaints }
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What axe calls serious or critical, with the elements. Debugging tools may do what the page's policy forbids it. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page)
  const { readFile } = await import('node:fs/promises')
  await session.send('Runtime.evaluate', { expression: await readFile(AXE, 'utf8') })
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { readonly axe: { run(): Promise<{ violations: readonly Result[] }> } }
    return (await axe.run()).violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      html: nodes.map((each) => each.html),
    }))
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map((each) => JSON.stringify(each))
}
