import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { runProgram } from '../../controlplane/run-program.ts'
import { PrintedLines } from '../builders/printed-lines.ts'
import { until } from '../cluster/support/wait.ts'
import { openBrowser, openLink } from './browser.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Something that breaks, and what users say about it. */
interface Outage {
  readonly symptom: string
  readonly edge: string
  /** The address of the user, if the symptom names one. */
  readonly from?: string
  readonly breaks: readonly string[]
  readonly repairs: readonly string[]
  /** What the page has to name: the step, and the object or rule. */
  readonly step: string
  readonly names: RegExp
}

const patch = (name: string, spec: object): readonly string[] => {
  return ['patch', name, '-n', 'traffic', '--type=merge', '-p', JSON.stringify({ spec })]
}
const visitors = 'ippolicies.culvert.dev/visitors'
const edgePage = 'edges.culvert.dev/page'
const policy = (cidr: string): readonly string[] => patch(visitors, { rules: [{ cidr, action: 'Allow' }] })
const backend = (fields: object): readonly string[] => patch(edgePage, { backend: { name: 'front', ...fields } })

const outages: readonly Outage[] = [
  {
    symptom: 'Since this morning, the page no longer opens at home (203.0.113.7).',
    ...{ edge: 'traffic/page', from: '203.0.113.7', breaks: policy('192.0.2.0/24'), repairs: policy('127.0.0.1/32') },
    ...{ step: 'IP policies', names: /no rule of IPPolicy\/visitors matches 203\.0\.113\.7/ },
  },
  {
    symptom: 'Connections to the page are closed at once, for everyone.',
    ...{ edge: 'traffic/page', breaks: backend({ enabled: false }), repairs: backend({ enabled: true }) },
    ...{ step: 'Backend', names: /The backend is disabled: connections are closed/ },
  },
  {
    symptom: 'The change of the backend that was applied an hour ago has no effect.',
    ...{ edge: 'traffic/page', breaks: backend({ name: 'absent' }), repairs: backend({ name: 'front' }) },
    ...{ step: 'Backend', names: /Backend\/absent/ },
  },
  {
    symptom: 'Everyone gets an error from the page, although the agents run.',
    edge: 'traffic/page',
    breaks: patch(edgePage, { trafficPolicy: { inbound: [{ name: 'maintenance', actions: [{ type: 'deny' }] }] } }),
    repairs: patch(edgePage, { trafficPolicy: null }),
    ...{ step: 'Traffic policy', names: /maintenance: deny always/ },
  },
  {
    symptom: 'Nobody reaches the database.',
    ...{ edge: 'quickstart/database', breaks: [], repairs: [] },
    ...{ step: 'Backend', names: /Backend\/shop: no tunnel with these labels is online/ },
  },
]

/** What a reader finds who has the page and a symptom, and nothing else. */
async function find(page: Page, { edge, from }: Outage): Promise<{ readonly step: string; readonly text: string }> {
  await page.getByLabel('Filter').fill(edge)
  await page.getByRole('link', { name: edge }).click()
  await page.getByRole('heading', { name: edge }).waitFor()
  if (from !== undefined) {
    await page.getByLabel('From address').fill(from)
    await page.keyboard.press('Enter')
    await page.locator('.decides-step').waitFor()
  }
  const red = page.locator(from === undefined ? '.step.fails' : '.decides-step')
  await red.waitFor()
  const step = (await red.locator('h3').innerText()).split('\n').at(-1)?.trim() ?? ''
  const text = from === undefined ? await page.locator('.failure').innerText() : await red.innerText()
  return { step, text: text.replaceAll(/\s*\n\s*/g, '\n') }
}

test('five outages are found by a reader who has only the page and the symptom', { timeout: 560_000 }, async () => {
  const demo = spawn(process.execPath, [join(ROOT, 'src/main.ts'), 'demo'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const browser = await openBrowser()
  const transcript: string[] = []
  try {
    const printed = new PrintedLines(demo)
    await until('the demo serves the page', () => printed.text.includes('/?token=') || undefined, {
      timeoutMs: 180_000,
      describe: () => printed.text,
    })
    const [link] = await printed.until(/http:\/\/127\.0\.0\.1:\d+\/\?token=\w+/)
    const kubectl = /alias kubectl=(\S+)/.exec(printed.text)?.[1] ?? ''
    const env = { ...process.env, KUBECONFIG: /export KUBECONFIG=(\S+)/.exec(printed.text)?.[1] }
    const { page } = await openLink(browser, link)
    page.setDefaultTimeout(5_000)
    for (const outage of outages) {
      const run = async (args: readonly string[]): Promise<void> => {
        if (args.length > 0) expect((await runProgram(kubectl, args, { env })).stderr).toBe('')
      }
      await run(outage.breaks)
      const { names, step } = outage
      const looked = expect.poll(() => find(page, outage), { timeout: 60_000, interval: 1_000 })
      await looked.toEqual({ step, text: expect.stringMatching(names) })
      const { text } = await find(page, outage)
      transcript.push(
        `Symptom: ${outage.symptom}\nOpened: ${outage.edge}${outage.from ? `, from address ${outage.from}` : ''}\nRed: ${step}\n${text}\n`,
      )
      await run(outage.repairs)
    }
    const folder = process.env.CULVERT_TRANSCRIPT
    if (folder !== undefined) await writeFile(join(folder, 'ui-outages.txt'), transcript.join('\n'))
  } finally {
    await browser.close()
    demo.kill('SIGTERM')
  }
})
