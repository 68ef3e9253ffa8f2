import { expect, test } from 'vitest'
import { ALTERNATIVES, type Choices, DECIDED, drawnBy, withAlternative } from '../../../src/emulator/choices/choices.ts'
import { systemRandom } from '../../../src/util/random.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { adoptions } from '../simulation/adoption/turns.ts'
import { episodes } from '../simulation/episodes.ts'
import { Oracle } from '../simulation/oracle.ts'
import { play } from '../simulation/play.ts'
import { oneOf, tryAll } from '../simulation/restore/trial.ts'
import { Laboratory, mixOf } from '../simulation/world.ts'
import { CaseList, keepBeside } from '../support/case-list.ts'
import { CONTRARY_SEED, IS_WHOLE, leastOf, some } from '../support/size.ts'
import { everyKindAtRest, tableOf, type WritesAtRest } from './contrary/every-kind.ts'
import { keptOtherwise } from './contrary/kept-otherwise.ts'
import { refusedForGood } from './contrary/refused.ts'

/** Printed, so that `CULVERT_FAULTS_CONTRARY` can repeat a mix that failed. */
const seed = CONTRARY_SEED ?? systemRandom.hex(4)
console.log(`contrary choices drawn by CULVERT_FAULTS_CONTRARY=${seed}`)

interface Server {
  /** The alternative, or the mix. */
  readonly title: string
  readonly choices: Choices
}

const alone: readonly Server[] = ALTERNATIVES.map((alternative) => ({
  title: `${alternative.name}=${alternative.value}`,
  choices: withAlternative(DECIDED, alternative),
}))
const mixes: readonly Server[] = Array.from({ length: IS_WHOLE ? 20 : 3 }, (_, index) => ({
  title: `mix ${seed}.${index}`,
  choices: drawnBy(`${seed}.${index}`),
}))

test('every kind comes to rest with one object and no further write, whatever the contract lets a server choose', {
  tags: 'nightly',
}, async () => {
  const laboratory = await Laboratory.open()
  const list = new CaseList('contrary choices, every kind', 'simulation', { least: leastOf(ALTERNATIVES.length) })
  const rows: (readonly [string, WritesAtRest])[] = []
  const servers = [...alone, ...mixes]
  for (const { title, choices } of some(servers, 32)) {
    const { problems, writes } = await everyKindAtRest(laboratory, choices)
    rows.push([title, writes])
    list.add({ write: 'every kind', point: 'at rest', fault: title }, problems)
  }
  await keepBeside('contrary.md', `Drawn by CULVERT_FAULTS_CONTRARY=${seed}.\n\n${tableOf(rows)}\n`)
  await list.end()
})

test('every life cycle step succeeds with a server that makes other choices, each with another mix', async () => {
  const laboratory = await Laboratory.open()
  const chosen = some(episodes, 48)
  const list = new CaseList('contrary choices, turns', 'simulation', { least: leastOf(100) })
  for (const [index, episode] of chosen.entries()) {
    const name = `${seed}.${index}`
    const { problems } = await play(laboratory, episode, { choices: mixOf(name) })
    list.add({ write: episode.title, point: 'none', fault: `mix ${name}` }, problems)
  }
  await list.end()
})

test('an existing object is observed, adopted, released and deleted at servers that make other choices', async () => {
  await tryAll('contrary choices, adoption', some(oneOf(11, adoptions), 24), 40, `${seed}.adoption`)
})

test('modules are switched off at a server that wants their contents, and a single rule as an object', async () => {
  const laboratory = await Laboratory.open()
  const contents = withAlternative(DECIDED, { name: 'module-contents', value: 'mandatory' })
  const choices = withAlternative(contents, { name: 'rules-taken', value: 'object' })
  const world = laboratory.world({ kinds: new Set(['Backend', 'Edge', 'IPPolicy']), choices })
  const oracle = await Oracle.watch(world)
  const edge = (enabled: boolean) => ({
    protocol: 'TCP',
    backend: { enabled, name: 'web' },
    ipRestriction: { enabled, ipPolicyRefs: [{ name: 'office' }] },
    trafficPolicy: { enabled, inbound: [{ expressions: ['true'], actions: [{ type: 'deny' }] }] },
  })
  world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  world.apply('IPPolicy', 'office', { rules: [{ cidr: '192.0.2.0/24', action: 'Allow' }] })
  for (const enabled of [true, false, true]) {
    world.apply('Edge', 'shop', edge(enabled))
    expect(await oracle.untilRest()).toEqual([])
    expect(await oracle.unlikeDeclared()).toEqual([])
  }
})

function described(description: string): Manifest {
  return { kind: 'Backend', name: 'web', spec: { type: 'TunnelGroup', tunnelGroup: {}, description } }
}

test('a description that the server truncates is sent once more, then reported in a condition', async () => {
  const laboratory = await Laboratory.open()
  const cut = { name: 'long-descriptions', value: 'cut' } as const
  const { writes, later, conditions } = await keptOtherwise(laboratory, cut, described('x'.repeat(300)))
  expect(writes).toEqual(['POST /backends', 'PATCH /backends'])
  expect(later).toEqual([])
  const message = 'the API accepted a write but did not apply it: update description'
  expect(conditions?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Synced', reason: 'Rejected', message }),
  )
})

test('a description that the server trims is sent once', async () => {
  const laboratory = await Laboratory.open()
  const trimmed = { name: 'texts', value: 'trimmed' } as const
  const { writes, later, conditions } = await keptOtherwise(laboratory, trimmed, described('  the shop\n'))
  expect([...writes, ...later]).toEqual(['POST /backends'])
  expect(conditions?.conditions).toContainEqual(expect.objectContaining({ type: 'Synced', status: 'True' }))
})

test.each(ALTERNATIVES.filter(({ name }) => name === 'min-version-default'))(
  'the lowest TLS version that a server chooses for a new edge is no drift: $value',
  async (alternative) => {
    const laboratory = await Laboratory.open()
    const edge = { kind: 'Edge', name: 'open', spec: { protocol: 'TLS', tlsTermination: {} } }
    const { writes, later, conditions } = await keptOtherwise(laboratory, alternative, edge)
    expect([...writes, ...later]).toEqual(['POST /edges'])
    expect(conditions?.conditions).toContainEqual(expect.objectContaining({ type: 'Synced', status: 'True' }))
  },
)

test('a refusal of any shape is reported, and the create is not sent more often', async () => {
  const laboratory = await Laboratory.open()
  const usual = await refusedForGood(laboratory, { name: 'error-body', value: 'documented' })
  expect(usual.said).toEqual(['Conflict'])
  const told = 'domain: "taken.tunnel.example" is taken'
  expect(usual.message).toContain(told)
  for (const alternative of ALTERNATIVES.filter(({ name }) => name === 'error-body' || name === 'refusal-status')) {
    const isJSON = !['text', 'none'].includes(alternative.value)
    const { posts, said, message } = await refusedForGood(laboratory, alternative)
    expect(posts, alternative.value).toBe(usual.posts)
    // An answer that is not JSON may come from an intermediary: the operator first finds out whether the object exists.
    expect(isJSON ? said : said.slice(-1), alternative.value).toEqual(['Conflict'])
    if (isJSON) expect(message, alternative.value).toContain(told)
  }
})
