import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { KubeObject } from '../../../../src/kube/types.ts'
import { RECONCILE_REQUESTED_AT } from '../../../../src/managed/names.ts'
import type { KubeProxy } from '../../../builders/kube-proxy.ts'
import {
  applyAll,
  applyNeeds,
  casesTitled,
  expectExactlyOneEach,
  managed,
  pathOf,
  subjectsOf,
  withText,
} from '../../../cluster/support/cases.ts'
import { secrets } from '../../../cluster/support/tokens.ts'
import { until } from '../../../cluster/support/wait.ts'
import type { World } from '../../../cluster/support/world.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'
import type { CaseList } from '../../support/case-list.ts'
import type { Watched, WatchFault } from './watch-faults.ts'

const cases = casesTitled('minimal')
/** A second account next to the world's, which is only polled. */
const OTHER = 'other'

interface Key {
  readonly id: string
  readonly token: string
}

/**
 * Rounds of changes to one or two resources of every kind, and to the other watched objects: first under a fault of the
 * watches, then without one.
 */
export class WatchRounds {
  readonly #world: World
  readonly #proxy: KubeProxy
  readonly #rounds: readonly string[]
  #round = 0
  #deleted = 0
  readonly #keys: Key[] = []

  private constructor(world: World, proxy: KubeProxy, rounds: readonly string[]) {
    this.#world = world
    this.#proxy = proxy
    this.#rounds = rounds
  }

  /** @param count the number of rounds */
  static async prepare(world: World, proxy: KubeProxy, count: number): Promise<WatchRounds> {
    const rounds = new WatchRounds(
      world,
      proxy,
      Array.from({ length: count + 1 }, (_, index) => `r${index}`),
    )
    await applyNeeds(
      world,
      cases,
      rounds.#rounds.flatMap((round) => [`${round}-a`, `${round}-b`]),
    )
    const apiKeySecretRef = { name: 'credentials' }
    await world.apply('Account', OTHER, { baseURL: world.emulator.url, apiKeySecretRef })
    await rounds.#make('a')
    await rounds.#make('b')
    return rounds
  }

  /** Under the fault, something of each kind is created, edited and deleted. Then everything is changed again. */
  async under(fault: WatchFault, list: CaseList): Promise<void> {
    const watched = await this.#watched()
    const about = [...watched.frames.keys()].map((path) => {
      const write = `watch of ${path.split('/').at(-1)}`
      return { write, point: 'during a creation, an edit and a deletion', fault: fault.name }
    })
    try {
      await this.#live(fault, watched)
    } catch (error) {
      for (const each of about) list.failed(each, String(error))
      throw error
    }
    for (const each of about) list.passed(each)
  }

  async #live(fault: WatchFault, watched: Watched): Promise<void> {
    const round = this.#round++
    const trouble = fault.begin(watched)
    const [made, edited, deleted] = [this.#set('a'), this.#set('a', round), this.#set('b', round)]
    const key = this.#newKey()
    const asked = await this.#change(made, edited, deleted, `during ${fault.name}`, key)
    if (fault.lasts) await this.#settled(made, edited, deleted)
    await trouble.end()
    const last = fault.loses ? await this.#touch([...made, ...edited, ...deleted], key) : asked
    await this.#expectActedOn(made, edited, deleted, `during ${fault.name}`, { key, asked: last })

    const more = this.#newKey()
    const others = this.#set('b')
    const askedAgain = await this.#change(others, made, edited, `after ${fault.name}`, more)
    await this.#expectActedOn(others, made, edited, `after ${fault.name}`, { key: more, asked: askedAgain })
  }

  #set(set: 'a' | 'b', round = this.#round): readonly Manifest[] {
    return subjectsOf(cases, `r${round}-${set}`)
  }

  async #make(set: 'a' | 'b'): Promise<void> {
    await applyAll(this.#world, this.#set(set))
    await Promise.all(this.#set(set).map(({ kind, name }) => this.#world.ready(kind, name, 60_000)))
  }

  #newKey(): Key {
    const [key] = this.#world.emulator.admin.seed({ apiKeys: [{}] }).apiKeys
    if (key === undefined) throw new Error('the emulator made no key')
    this.#keys.push(key)
    return key
  }

  /** @returns the value of the Account's reconcile request */
  async #change(
    made: readonly Manifest[],
    edited: readonly Manifest[],
    deleted: readonly Manifest[],
    text: string,
    key: Key,
  ): Promise<string> {
    const world = this.#world
    const edits = edited.map((subject) => ({ ...subject, spec: withText(subject, text) }))
    await applyAll(world, [...made, ...edits])
    await Promise.all(deleted.map(({ kind, name }) => world.delete(kind, name)))
    await world.setKey(key.token)
    this.#deleted++
    return this.#ask()
  }

  async #ask(): Promise<string> {
    const value = randomBytes(6).toString('hex')
    await this.#world.annotate('Account', OTHER, { [RECONCILE_REQUESTED_AT]: value })
    return value
  }

  /** Changes everything again that has changed, which the watches report. */
  async #touch(subjects: readonly Manifest[], key: Key): Promise<string> {
    const world = this.#world
    await Promise.all(subjects.map(({ kind, name }) => world.annotate(kind, name, { 'example.com/touched': 'yes' })))
    await world.secret('credentials', { apiKey: key.token, touched: key.id })
    return this.#ask()
  }

  async #settled(made: readonly Manifest[], edited: readonly Manifest[], deleted: readonly Manifest[]): Promise<void> {
    await Promise.all([...made, ...edited].map(({ kind, name }) => this.#world.ready(kind, name, 60_000)))
    await Promise.all(deleted.map(({ kind, name }) => this.#world.gone(kind, name, 60_000)))
  }

  async #expectActedOn(
    made: readonly Manifest[],
    edited: readonly Manifest[],
    deleted: readonly Manifest[],
    text: string,
    { key, asked }: { readonly key: Key; readonly asked: string },
  ): Promise<void> {
    const world = this.#world
    await this.#settled(made, edited, deleted)
    await until('the new key is used', () => world.journal().some(({ keyId }) => keyId === key.id))
    await world.until('Account', OTHER, 'was looked at', ({ status }) => status?.lastHandledReconcileAt === asked)
    const edits = world.writes().filter(({ method, body }) => {
      return method === 'PATCH' && Object.values(body ?? {}).includes(text)
    })
    expect(edits.length).toBe(edited.length)
    await expectExactlyOneEach(
      world,
      this.#deleted,
      this.#keys.map(({ id }) => id),
    )
    await this.#expectKnown()
  }

  /** The operator knows exactly the existing resources. */
  async #expectKnown(): Promise<void> {
    for (const { definition } of managed) {
      const { kind } = definition
      const known = () => this.#world.operator.metric('culvert_resources', `kind="${kind}"`)
      const there = (await this.#world.list(kind)).length
      await until(`the operator knows of ${there} ${kind}`, async () => (await known()) === there, { describe: known })
    }
  }

  async #watched(): Promise<Watched> {
    const world = this.#world
    const before = new Map<string, KubeObject>()
    const frames = new Map<string, number>()
    const kinds = [...managed.map(({ definition }) => definition.kind), 'Account']
    for (const kind of kinds) {
      for (const cr of await world.list(kind)) before.set(cr.metadata.uid, cr)
      frames.set(pathOf(world, { kind, name: '', spec: {} }).replace(/\/$/, ''), kind === 'Account' ? 1 : 3)
    }
    frames.set(`/api/v1/namespaces/${world.namespace}/${secrets.plural}`, 1)
    // After the previous fault, everything may be known from a list whose watch is not open yet.
    const watched = () => this.#proxy.watches().filter(({ path }) => frames.has(path)).length
    await until('every collection is watched', () => watched() === frames.size, { describe: watched })
    return { proxy: this.#proxy, frames, before }
  }
}
