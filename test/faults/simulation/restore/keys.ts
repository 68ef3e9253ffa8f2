import { namespaceType, secretType } from '../../../../src/kube/core-types.ts'
import { type SpecCase, specsOf } from '../../../kinds/lookup.ts'
import { KEY } from '../api-server.ts'
import { textOf } from '../oracle.ts'
import { managed } from '../spec-families.ts'
import { type Laboratory, NAMESPACE } from '../world.ts'
import { Life, LOOKS_MS, nameOf, SUBJECT, subjects } from './life.ts'
import { reasonOf } from './taking-back.ts'
import type { Trial } from './trial.ts'

/** Another account at the same API. */
const ELSEWHERE = 'elsewhere'
const OTHER_KEY = 'administrator-of-another-account'
/** By then the operator has noticed a new key and read the account that it opens. */
const NOTICED_MS = 10_000

type Act = (life: Life) => void

const moments: readonly (readonly [title: string, act: Act])[] = [
  ['at rest', () => undefined],
  ['the operator starts again', (life) => restart(life)],
  ['a spec changes meanwhile', (life) => edit(life)],
  ['resources are deleted meanwhile', (life) => deleteSubjects(life)],
  ['a resource is made meanwhile', (life) => makeLate(life)],
]

/** Which Account gets which key. */
const swaps = ['the other account’s key', 'the keys of two accounts swapped'] as const

/** An Account with a key that opens another account, and then its own again. */
export const keys: readonly Trial[] = subjects.flatMap((subject, index) => {
  return moments.flatMap(([point, act], at) =>
    // Each kind gets both swaps, at each moment.
    swaps
      .filter((_, turn) => turn === (Math.floor(index / 2) + index + at) % 2)
      .map((fault): Trial => {
        const isBoth = fault === swaps[1]
        const run = async (laboratory: Laboratory): Promise<readonly string[]> => {
          const life = await Life.open(laboratory, subject)
          try {
            return await withKeysSwapped(life, isBoth, act)
          } finally {
            life.world.down()
          }
        }
        return { what: { write: `${subject.kind} ${subject.title}`, point, fault }, run }
      }),
  )
})

async function withKeysSwapped(life: Life, isBoth: boolean, act: Act): Promise<readonly string[]> {
  const { world, oracle } = life
  settleElsewhere(life)
  const unrest = await life.begin()
  if (unrest.length > 0) return unrest
  const [ids, before] = [life.ids(), stored(life)]
  putKey(life, NAMESPACE, OTHER_KEY)
  if (isBoth) putKey(life, ELSEWHERE, KEY)
  await world.advance(NOTICED_MS)
  const problems = stored(life) === before ? [] : ['something was written before the new key was looked at']
  act(life)
  await world.advance(LOOKS_MS)
  const { length } = oracle.writes
  await world.advance(LOOKS_MS)
  problems.push(...oracle.writes.slice(length).map((write) => `written in doubt: ${textOf(write)}`))
  if (stored(life) !== before) problems.push('something was written to an account while whose it is was in doubt')
  const doubted = world.all().filter(({ metadata }) => isBoth || metadata.namespace === NAMESPACE)
  for (const cr of doubted) {
    if (reasonOf(cr) !== 'IdentityUnproven')
      problems.push(`${nameOf(cr)} says ${reasonOf(cr)} while the key is in doubt`)
  }
  putKey(life, NAMESPACE, KEY)
  if (isBoth) putKey(life, ELSEWHERE, OTHER_KEY)
  await world.advance(NOTICED_MS)
  problems.push(...(await oracle.untilRest()))
  await world.advance(LOOKS_MS)
  const rest = oracle.writes.length
  await world.advance(LOOKS_MS)
  problems.push(...oracle.writes.slice(rest).map((write) => `written at rest: ${textOf(write)}`))
  for (const [name, id] of life.ids()) {
    if (ids.has(name) && ids.get(name) !== id) problems.push(`${name} had ${ids.get(name)} and has ${id}`)
  }
  return [...problems, ...oracle.violations, ...(await leftovers(life))]
}

/** Another namespace with an account of its own, and a resource of the same kind in it. */
function settleElsewhere(life: Life): void {
  const { world, subject } = life
  world.api.emulator.admin.seed({ accounts: [{ name: ELSEWHERE, apiKey: OTHER_KEY }] })
  world.kube.create(namespaceType, { name: ELSEWHERE }, {})
  const key = { namespace: ELSEWHERE, name: 'key' }
  world.server.create(secretType, key, { data: { apiKey: encoded(OTHER_KEY) }, type: 'Opaque' })
  const account = { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'key' }, resyncInterval: '60s' }
  world.server.create(world.kinds.accountType('Account'), { namespace: ELSEWHERE, name: 'default' }, { spec: account })
  const [minimal] = specsOf(subject.kind) as readonly [SpecCase]
  const all = [...minimal.needs(ELSEWHERE), { kind: subject.kind, name: ELSEWHERE, spec: minimal.spec(ELSEWHERE) }]
  for (const { kind, name, spec } of all) {
    if (world.kinds.managedKind(kind) === undefined) continue
    world.server.create(world.typeOf(kind), { namespace: ELSEWHERE, name }, { spec })
  }
}

/** Everything stored in the accounts. */
function stored({ world }: Life): string {
  const { accounts } = world.api.emulator.admin.snapshot()
  return JSON.stringify(accounts)
}

/** The number of objects of the subject's kind, and of resources. */
async function leftovers({ world, subject }: Life): Promise<readonly string[]> {
  const { accounts } = world.api.emulator.admin.snapshot()
  const held = new Set(world.all().map(({ status }) => status?.id))
  const paths = world.kinds.managedKind(subject.kind)?.identity.collections.map(({ path }) => path) ?? []
  return Object.values(accounts)
    .flatMap(({ objects }) => paths.flatMap((path) => objects[path] ?? []))
    .filter((object) => String(JSON.stringify(object)).includes('"culvert') && !held.has(String(object.id)))
    .filter((object) => !paths.includes('ip_policy_rules') || String(JSON.stringify(object)).includes('IPPolicyRule'))
    .map((object) => `nobody's object: ${JSON.stringify(object)}`)
}

function putKey({ world }: Life, namespace: string, key: string): void {
  world.server.patch(secretType, { namespace, name: 'key' }, { data: { apiKey: encoded(key) } })
}

function restart({ world }: Life): void {
  for (const { process } of world.operators) process.kill()
}

/** A visible field: bots have a name, all others a description. */
function edit({ world, oracle, subject }: Life): void {
  const { kind } = subject
  const isNamed = managed.some(({ definition, identity }) => definition.kind === kind && identity.markedBy === 'name')
  const spec = { ...subject.spec(SUBJECT), [isNamed ? 'name' : 'description']: 'edited meanwhile' }
  oracle.specChanges(kind, SUBJECT, spec)
  world.apply(kind, SUBJECT, spec)
}

function makeLate({ world, subject: { kind, needs, spec } }: Life): void {
  for (const need of needs('late')) world.apply(need.kind, need.name, need.spec)
  world.apply(kind, 'late', spec('late'))
}

function deleteSubjects({ world }: Life): void {
  for (const { kind, metadata } of world.all()) {
    if (metadata.namespace === NAMESPACE && metadata.name.startsWith(SUBJECT)) world.delete(kind, metadata.name)
  }
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64')
}
