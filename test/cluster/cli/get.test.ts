import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../src/cli/cluster/ask-cluster.ts'
import { withCluster } from '../../../src/cli/cluster/ask-cluster.ts'
import { CommandError } from '../../../src/cli/cluster/command-error.ts'
import { runEvents } from '../../../src/cli/events-command.ts'
import { type GetFlags, runGet } from '../../../src/cli/get-command.ts'
import { runVersion } from '../../../src/cli/version-command.ts'
import { runWhy } from '../../../src/cli/why-command.ts'
import { packageVersion } from '../../../src/config.ts'
import { readYaml } from '../../../src/util/yaml/read.ts'
import { capturedTerminals } from '../../builders/captured-text.ts'
import { ask } from '../support/ask.ts'
import { culvert } from '../support/culvert.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'

const group = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }
const shared = { release: 'culvert', allNamespaces: false, notReady: false } as const

let world: World
beforeAll(async () => {
  world = await World.open()
  await world.apply('Backend', 'web', group)
  const hostports = [{ type: 'Host', host: 'shop.example.com', port: 443 }]
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com' })
  // The account refuses an edge on a domain that it lacks, and a host written out is no reference to wait for.
  await world.ready('ReservedDomain', 'shop')
  await world.apply('Edge', 'shop', { protocol: 'TLS', hostports, backend: { name: 'web' } })
  await world.apply('Edge', 'beta', { protocol: 'TLS', backend: { name: 'next' } })
  await world.ready('Edge', 'shop')
  await world.reason('Edge', 'beta', 'Synced', 'ReferenceNotReady')
})
afterAll(() => world[Symbol.asyncDispose]())

async function get(args: readonly string[], flags: Partial<GetFlags> = {}, width = 100): Promise<readonly string[]> {
  const all: GetFlags = { ...shared, output: 'text', ...flags }
  return (await ask(world, (cluster) => runGet(cluster, args, all), width)).lines
}

async function refusalOf(args: readonly string[]): Promise<CommandError> {
  try {
    await get(args)
  } catch (error) {
    if (error instanceof CommandError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** Runs a command that watches, changes something once it has printed, and returns what it prints until `shows`. */
async function watched(
  run: (cluster: Cluster, stop: AbortSignal) => Promise<number>,
  change: () => Promise<unknown>,
  shows: string,
): Promise<readonly string[]> {
  const terminals = capturedTerminals({ columns: 160 })
  const stop = new AbortController()
  const running = withCluster(world, terminals, (cluster) => run(cluster, stop.signal))
  await until('it has printed', () => terminals.printed().output !== '')
  await change()
  await until(`it prints ${shows}`, () => terminals.printed().output.includes(shows), { describe: terminals.printed })
  stop.abort()
  expect(await running).toBe(0)
  return terminals.printed().output.split('\n').slice(0, -1)
}

describe('get', { concurrent: false }, () => {
  test('names kinds and resources as kubectl does', async () => {
    const names = async (...args: readonly string[]) => await get(args, { output: 'name' })
    expect(await names('edges')).toEqual(['edge.culvert.dev/beta', 'edge.culvert.dev/shop'])
    expect(await names('edge', 'shop', 'beta')).toEqual(['edge.culvert.dev/shop', 'edge.culvert.dev/beta'])
    expect(await names('edges,backends')).toEqual(await names('edges', 'backends'))
    expect(await names('edge/shop', 'backend/web')).toEqual(['edge.culvert.dev/shop', 'backend.culvert.dev/web'])
  })

  test('filters by state and account', async () => {
    expect(await get(['edges'], { output: 'name', state: ['Waiting'] })).toEqual(['edge.culvert.dev/beta'])
    expect(await get([], { output: 'name', account: 'absent' })).toEqual([])
    expect(await get(['edges'], { output: 'name', account: 'default' })).toContain('edge.culvert.dev/shop')
  })

  test('prints the address of an edge in one piece, however narrow the terminal is', async () => {
    for (const width of [60, 80, 160]) {
      const lines = await get(['edge/shop'], {}, width)
      expect(lines.join('\n')).toContain('shop.example.com:443')
      expect(lines.filter((line) => line.length > width)).toEqual([])
    }
  })

  test('prints resources as YAML, and more columns with wide', async () => {
    const [document] = readYaml((await get(['edge', 'shop'], { output: 'yaml' })).join('\n'))
    expect(document).toMatchObject({ value: { kind: 'Edge', metadata: { name: 'shop' }, spec: { protocol: 'TLS' } } })
    const { status } = (await world.get('Edge', 'shop')) ?? {}
    const [heading, row] = await get(['edge/shop'], { output: 'wide' }, 200)
    expect(heading).toMatch(/RESOURCE +STATE +FOR +ACCOUNT +ID +ADDRESS +MESSAGE/)
    expect(row).toContain(String(status?.id))
    expect(await get(['edge/shop'], { headers: false }, 200)).toHaveLength(1)
  })

  test('suggests the kind or name that was probably meant', async () => {
    expect((await refusalOf(['edegs'])).message).toContain('did you mean edges?')
    expect(await refusalOf(['edge/shpo'])).toMatchObject({
      code: 'NotFound',
      message: expect.stringContaining('did you mean edge/shop?'),
    })
    expect((await refusalOf(['edge/unlike-any'])).message).not.toContain('did you mean')
  })

  test('--watch prints a resource again when its state changes, and when it is deleted', async () => {
    const flags: GetFlags = { ...shared, output: 'text', watch: true }
    const lines = await watched(
      (cluster, stop) => runGet(cluster, ['backends'], flags, stop),
      async () => {
        await world.apply('Backend', 'old', group)
        await world.ready('Backend', 'old')
        await world.delete('Backend', 'old')
      },
      'Deleted',
    )
    const states = lines.filter((line) => line.startsWith('Backend/old')).map((line) => line.split(/ {2,}/)[1])
    expect(states.at(-1)).toBe('Deleted')
    expect(states).toContain('Ready')
    expect(lines.filter((line) => line.startsWith('Backend/web'))).toHaveLength(1)
    expect(lines.filter((line) => line.startsWith('RESOURCE'))).toHaveLength(1)
  })
})

test('why --watch explains again when what a resource waits for changes', async () => {
  await world.apply('Edge', 'gamma', { protocol: 'TLS', backend: { name: 'soon' } })
  await world.reason('Edge', 'gamma', 'Synced', 'ReferenceNotReady')
  const lines = await watched(
    (cluster, stop) => runWhy(cluster, ['edge/gamma'], { ...shared, output: 'text', watch: true }, stop),
    () => world.apply('Backend', 'soon', group),
    'is Ready (for',
  )
  expect(lines.join(' ')).toMatch(/Backend\/soon, which does not exist.*Edge\/gamma in namespace \S+ is Ready/)
})

test('events --watch prints each further Event once', async () => {
  const lines = await watched(
    (cluster, stop) => runEvents(cluster, ['backend/late'], { ...shared, output: 'text', watch: true }, stop),
    () => world.apply('Backend', 'late', group),
    'Created',
  )
  const events = lines.filter((line) => line.includes('Backend/late'))
  expect(new Set(events).size).toBe(events.length)
})

test('version prints the versions of program, operator and CRDs', async () => {
  const { operatorNamespace } = world
  const { lines } = await ask(world, (cluster) =>
    runVersion(cluster, { release: 'culvert', operatorNamespace, output: 'text' }),
  )
  expect(lines).toEqual([
    `Client:   ${packageVersion()}`,
    `Operator: unknown: no Deployment of release culvert in namespace ${operatorNamespace}`,
    expect.stringMatching(/^CRDs: {5}v1alpha1, all \d+ as in this program$/),
  ])
})

test('names of resources and namespaces are completed from the cluster', async () => {
  const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await culvert(['__complete', ...words], world)
    expect(code, stderr).toBe(0)
    return stdout.trimEnd().split('\n')
  }
  expect(await complete('why', '-n', world.namespace, 'edge/s')).toEqual(['edge/shop', ':4'])
  expect(await complete('get', '-n', world.namespace, 'edges', 'be')).toEqual(['beta', ':4'])
  expect(await complete('why', '-n', world.namespace)).toContain(world.namespace)
})
