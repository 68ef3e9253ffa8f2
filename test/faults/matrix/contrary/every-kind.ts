import type { Choices } from '../../../../src/emulator/choices/choices.ts'
import { kinds } from '../../../../src/kinds/index.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'
import { specsOf } from '../../../kinds/lookup.ts'
import { EDIT_SEED } from '../../../kinds/shared/account.ts'
import type { Sighting } from '../../simulation/faults.ts'
import { Oracle, textOf } from '../../simulation/oracle.ts'
import type { Laboratory, SimulatedWorld } from '../../simulation/world.ts'
import { IS_WHOLE } from '../../support/size.ts'

/** Writes while nothing had to change, by kind. */
export type WritesAtRest = ReadonlyMap<string, number>

/** Longer than two resyncs of the whole account. */
const REST_MS = 130_000

const managed = kinds.filter(({ role }) => role === 'managed')
/** The kinds that exist in the world, the account included. */
const KINDS: readonly string[] = [...managed.map(({ definition }) => definition.kind), 'Account']

/** Fields that a spec leaves open, and fields that a server may spell in more than one way. */
const OPEN: readonly Manifest[] = [
  {
    kind: 'Edge',
    name: 'open-rules',
    spec: { protocol: 'TCP', trafficPolicy: { inbound: [{ actions: [{ type: 'deny' }] }] } },
  },
  { kind: 'Backend', name: 'open-response', spec: { type: 'HTTPResponse', httpResponse: { body: 'closed' } } },
  { kind: 'Edge', name: 'open-termination', spec: { protocol: 'TLS', tlsTermination: {} } },
  {
    kind: 'EventDestination',
    name: 'open-monitor',
    spec: { type: 'Monitor', monitor: { apiKeySecretRef: { name: 'spec-inputs', key: 'apiKey' } } },
  },
  {
    kind: 'IPPolicy',
    name: 'single-addresses',
    spec: {
      rules: [
        { cidr: '192.0.2.7/32', action: 'Allow' },
        { cidr: '2001:db8::a/128', action: 'Deny', description: 'one' },
      ],
    },
  },
  { kind: 'ReservedDomain', name: 'custom', spec: { domain: '*.custom.example.com' } },
  { kind: 'AgentIngress', name: 'custom', spec: { domain: 'agents.example.com' } },
  { kind: 'BotUser', name: 'inactive', spec: { displayName: 'an inactive bot', active: false } },
]

/** Resources with full specs, or of every available spec, with their dependencies, each with its own name. */
const MANIFESTS: readonly Manifest[] = [
  ...managed.flatMap(({ definition }) => {
    const [, full, ...special] = specsOf(definition.kind)
    const chosen = [full, ...(IS_WHOLE ? special : [])].filter((each) => each !== undefined)
    return chosen.flatMap(({ kind, spec, needs }, index) => {
      const name = `${kind.toLowerCase()}-${index}`
      return [...needs(name), { kind, name, spec: spec(name) }]
    })
  }),
  ...OPEN,
]

/**
 * Applies a resource of every spec to an account whose server makes these choices, edits each, waits until all are at
 * rest, runs the judge and counts writes.
 */
export async function everyKindAtRest(
  laboratory: Laboratory,
  choices: Choices,
): Promise<{ readonly problems: readonly string[]; readonly writes: WritesAtRest }> {
  const world = laboratory.world({ choices })
  try {
    world.api.emulator.admin.seed(EDIT_SEED)
    const oracle = await Oracle.watch(world)
    for (const { kind, name, spec } of MANIFESTS) world.apply(kind, name, spec)
    const unrest = await oracle.untilRest()
    for (const { kind, name, spec } of MANIFESTS) {
      const edited = {
        ...spec,
        ...(kind === 'BotUser' ? { displayName: `${name}, edited` } : { description: 'edited' }),
      }
      oracle.specChanges(kind, name, edited)
      world.apply(kind, name, edited)
    }
    const problems = [...unrest, ...(await oracle.judge())]
    const { length } = oracle.writes
    await world.advance(REST_MS)
    return { problems, writes: byKind(world, oracle.writes.slice(length)) }
  } finally {
    world.down()
  }
}

function byKind(world: SimulatedWorld, writes: readonly Sighting[]): WritesAtRest {
  const counts = new Map(KINDS.map((kind) => [kind, 0]))
  for (const write of writes) {
    const about = textOf(write)
    const kind = world.kinds.managed.find(({ definition, identity: { collections } }) => {
      return about.includes(`/${definition.plural}`) || collections.some(({ path }) => about.includes(`/${path}`))
    })
    const name = kind?.definition.kind ?? (/\/accounts\//.test(about) ? 'Account' : about)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** A Markdown table of choices by kind. */
export function tableOf(rows: readonly (readonly [name: string, writes: WritesAtRest])[]): string {
  const kindsShown = [...new Set([...KINDS, ...rows.flatMap(([, writes]) => [...writes.keys()])])]
  return [
    `| writes at rest | ${kindsShown.join(' | ')} |`,
    `|---|${kindsShown.map(() => '--:').join('|')}|`,
    ...rows.map(([name, writes]) => `| ${name} | ${kindsShown.map((kind) => writes.get(kind) ?? 0).join(' | ')} |`),
  ].join('\n')
}
