import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StatedResource } from '../../src/cli/cluster/resource-state.ts'
import { PageCluster, shop, working } from '../builders/page-cluster.ts'
import { PrintedLines } from '../builders/printed-lines.ts'
import { openBrowser, openLink, seriousFindings } from './browser.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let browser: Browser

beforeAll(async () => {
  browser = await openBrowser()
})

afterAll(() => browser.close())

/** Edges in several states. */
function sample(): readonly StatedResource[] {
  const [, , , open] = shop('web', 'landing')
  const split = working('Backend', 'split', {
    spec: {
      type: 'Weighted',
      weighted: {
        backendRefs: [
          { name: 'shop', weight: 9 },
          { name: 'canary', weight: 1 },
        ],
      },
    },
  })
  const away = working('Backend', 'away', { spec: { type: 'HTTPResponse', httpResponse: { statusCode: 503 } } })
  const front = working('Backend', 'front', {
    spec: { type: 'Failover', failover: { backendRefs: [{ name: 'split' }, { name: 'away' }] } },
  })
  const [, canary] = shop('web', 'canary', 0)
  const [account, group, policy, edge] = shop()
  const publicEdge = {
    ...open,
    spec: { ...(open?.spec as object), ipRestriction: undefined },
    status: { ...open?.status, access: 'Public' },
  }
  const failover = { ...edge, spec: { ...(edge?.spec as object), backend: { name: 'front' } } }
  return [
    account,
    group,
    policy,
    split,
    away,
    front,
    canary,
    failover,
    publicEdge,
    ...shop('web', 'landing').slice(0, 3),
    ...shop('orders', 'api', 0),
    ...shop('orders', 'console'),
  ] as readonly StatedResource[]
}

describe('the page', () => {
  const looks: readonly (readonly [string, BrowserContextOptions])[] = [
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['narrow', { colorScheme: 'light', viewport: { width: 400, height: 900 } }],
  ]

  test.for(looks)('is accessible and breaks no rule of its own policy: %s', async ([name, options]) => {
    await using cluster = await PageCluster.open(sample())
    const { link } = await cluster.serve()
    const { page, complaints } = await openLink(browser, link, options)
    expect(page.url()).toBe(`${new URL(link).origin}/`)
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('link', { name: /orders\/api/ }).click()
    await page.getByRole('heading', { name: 'Backend' }).waitFor()
    await page.getByText('None in the last hour.').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    expect(overflow).toBe(0)
    expect(complaints).toEqual([])
    const folder = process.env.CULVERT_SCREENSHOTS
    if (folder !== undefined) await page.screenshot({ path: join(folder, `ui-${name}.png`) })
    await page.context().close()
  })

  test('is used by keyboard alone, and every view has an address', async () => {
    await using cluster = await PageCluster.open(sample())
    const { page } = await openLink(browser, (await cluster.serve()).link)
    await page.keyboard.press('Tab')
    await page.keyboard.type('web')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^web\// }).waitFor()
    const { searchParams } = new URL(page.url())
    expect(Object.fromEntries(searchParams)).toEqual({ edge: expect.stringMatching(/^web\//), filter: 'web' })
    expect(await page.evaluate('document.activeElement.id')).toBe('edge')
    await page.reload()
    await page.getByRole('heading', { name: searchParams.get('edge') ?? '' }).waitFor()
    await page.goBack()
    await page.getByText('Choose an edge').waitFor()
    await page.context().close()
  })

  test('copies an address, and the view as Markdown', async () => {
    await using cluster = await PageCluster.open(sample())
    const { page } = await openLink(browser, (await cluster.serve()).link)
    const copied = (): Promise<string> => page.evaluate('navigator.clipboard.readText()')
    await page.getByRole('button', { name: 'Copy api.tunnel.example:443' }).click()
    expect(await copied()).toBe('api.tunnel.example:443')
    await page.getByRole('link', { name: /orders\/api/ }).click()
    await page.getByRole('button', { name: 'Copy as Markdown' }).click()
    await expect.poll(copied).toContain('**Backend/api: no tunnel with these labels is online: start an agent.**')
    await page.context().close()
  })

  test('names the rule that decides about an address', async () => {
    await using cluster = await PageCluster.open(sample())
    const { page } = await openLink(browser, (await cluster.serve()).link)
    await page.getByRole('link', { name: /orders\/console/ }).click()
    await page.getByLabel('From address').fill('192.0.2.1')
    await page.keyboard.press('Enter')
    await page.getByText(/A connection from 192\.0\.2\.1 is refused: no rule of \S+ matches 192\.0\.2\.1/).waitFor()
    await page.context().close()
  })

  test('shows what strangers write as text', async () => {
    const [account, group, policy, edge] = shop()
    const evil = '<img src=x onerror=alert(1)>'
    const odd = { ...edge, status: { ...edge?.status, hostports: [evil] } } as never
    await using cluster = await PageCluster.open([account, group, policy, odd].flatMap((each) => each ?? []))
    const { page, complaints } = await openLink(browser, (await cluster.serve()).link)
    expect(await page.locator('.host code').textContent()).toBe(evil)
    expect(await page.locator('img').count()).toBe(0)
    expect(complaints).toEqual([])
    await page.context().close()
  })
})

/** 100 namespaces with 34 edges each, and what these need. */
function many(tunnels: number): readonly StatedResource[] {
  return Array.from({ length: 100 }, (_, space) => {
    return Array.from({ length: 34 }, (__, index) => shop(`team-${space}`, `shop-${index}`, tunnels)).flat()
  }).flat()
}

async function residentMiB(pid: number | undefined): Promise<number> {
  const [, kibibytes = '0'] = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kibibytes) / 1024)
}

test('10,000 resources load, and follow changes, in the real command', { timeout: 300_000 }, async () => {
  const resources = many(2)
  const distinct = new Set(resources.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).size
  expect(distinct).toBeGreaterThan(10_000)
  await using cluster = await PageCluster.open(resources)
  const folder = await mkdtemp(join(tmpdir(), 'culvert-ui-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster: { server: cluster.kube.url } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  }
  await writeFile(kubeconfig, JSON.stringify(config))
  const program = process.env.CULVERT_TEST_PROGRAM ?? join(ROOT, 'src/main.ts')
  const began = performance.now()
  const child = spawn(process.execPath, [program, 'ui', '-A', '--kubeconfig', kubeconfig], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    const [link] = await new PrintedLines(child).until(/http:\/\/127\.0\.0\.1:\d+\/\?token=\w+/)
    const started = performance.now()
    const { page } = await openLink(browser, link)
    await page.getByText('3400 edges: 0 failing').waitFor()
    await page.locator('.row').first().waitFor()
    const loaded = performance.now()
    expect(await page.locator('.row').count()).toBeLessThan(40)
    const changes = many(0).filter(({ kind }) => kind === 'Backend')
    const changing = performance.now()
    for (const change of changes) cluster.apply(change)
    await page.getByText('3400 edges: 3400 failing').waitFor({ timeout: 120_000 })
    const followed = performance.now()
    const heap = Number(await page.evaluate('performance.memory.usedJSHeapSize')) / 1024 / 1024
    const rate = Math.round((1000 * changes.length) / (followed - changing))
    console.log(
      `${distinct} resources, 3400 edges: command ready after ${Math.round(started - began)} ms, page loaded after ` +
        `${Math.round(loaded - started)} ms; ${changes.length} changes shown in ${Math.round(followed - changing)} ms (${rate}/s); ` +
        `command ${await residentMiB(child.pid)} MiB, page ${Math.round(heap)} MiB of JavaScript`,
    )
    await page.context().close()
  } finally {
    child.kill('SIGTERM')
    await rm(folder, { recursive: true })
  }
})
