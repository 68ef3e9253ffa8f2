import { expect } from 'vitest'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { applyAll, applyNeeds, casesTitled, expectExactlyOneEach, subjectsOf, withText } from './cases.ts'
import { until } from './wait.ts'
import type { World } from './world.ts'

const cases = casesTitled('minimal')
const EDITED = 'edited while nobody looked'

/**
 * Every change that a watch may report, for every kind: one CR each is created, edited and deleted; and a Secret gets
 * another key.
 */
export class Changes {
  readonly #world: World
  readonly #made = subjectsOf(cases, 'made')
  readonly #edited = subjectsOf(cases, 'edited')
  readonly #deleted = subjectsOf(cases, 'deleted')
  readonly #key: { readonly id: string; readonly token: string }

  private constructor(world: World, key: { readonly id: string; readonly token: string }) {
    this.#world = world
    this.#key = key
  }

  /** Applies the CRs to edit or delete, and waits until they are Ready. */
  static async prepare(world: World): Promise<Changes> {
    const [key] = world.emulator.admin.seed({ apiKeys: [{}] }).apiKeys
    if (key === undefined) throw new Error('the emulator made no key')
    const changes = new Changes(world, key)
    await applyNeeds(world, cases, ['made', 'edited', 'deleted'])
    const present = [...changes.#edited, ...changes.#deleted]
    await applyAll(world, present)
    await Promise.all(present.map(({ kind, name }) => world.ready(kind, name, 60_000)))
    return changes
  }

  async make(): Promise<void> {
    const edited = this.#edited.map((manifest) => ({ ...manifest, spec: withText(manifest, EDITED) }))
    await applyAll(this.#world, [...this.#made, ...edited])
    for (const { kind, name } of this.#deleted) await this.#world.delete(kind, name)
    await this.#world.setKey(this.#key.token)
  }

  /** Waits until every change was acted on, and checks the state at rest. */
  async expectActedOn(): Promise<void> {
    const world = this.#world
    const each = (manifests: readonly Manifest[], wait: (kind: string, name: string) => Promise<unknown>) => {
      return Promise.all(manifests.map(({ kind, name }) => wait(kind, name)))
    }
    await each(this.#made, (kind, name) => world.ready(kind, name, 60_000))
    await each(this.#edited, (kind, name) => world.ready(kind, name, 60_000))
    await each(this.#deleted, (kind, name) => world.gone(kind, name, 60_000))
    await until('the new key is used', () => world.journal().some(({ keyId }) => keyId === this.#key.id))
    const edits = world.writes().filter(({ method, body }) => method === 'PATCH' && isEdit(body))
    expect(edits.length).toBe(this.#edited.length)
    await expectExactlyOneEach(world, 1, [this.#key.id])
  }
}

function isEdit(body: unknown): boolean {
  return Object.values(body ?? {}).includes(EDITED)
}
