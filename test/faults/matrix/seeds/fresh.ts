import { EDIT_SEED } from '../../../kinds/shared/account.ts'
import { meaningAt } from '../../simulation/meaning-at.ts'
import { Oracle } from '../../simulation/oracle.ts'
import type { Laboratory } from '../../simulation/world.ts'
import { kindsAmong, type Role } from './roles.ts'

/** The results of giving specs to a fresh resource in a quiet world; each is computed once. */
export class Fresh {
  readonly #laboratory: Laboratory
  readonly #known = new Map<string, unknown>()

  constructor(laboratory: Laboratory) {
    this.#laboratory = laboratory
  }

  async of(role: Role, version: number): Promise<unknown> {
    const key = `${role.kind}/${role.name} ${version}`
    if (!this.#known.has(key)) this.#known.set(key, await this.#made(role, version))
    return this.#known.get(key)
  }

  async #made(role: Role, version: number): Promise<unknown> {
    const { kind, name, needs, versions } = role
    const world = this.#laboratory.world({ seed: 500 + version, kinds: kindsAmong([role]) })
    try {
      world.api.emulator.admin.seed(EDIT_SEED)
      const oracle = await Oracle.watch(world)
      for (const need of needs) world.apply(need.kind, need.name, need.spec)
      world.apply(kind, name, versions[version] ?? {})
      const unrest = await oracle.untilRest()
      if (unrest.length > 0) throw new Error(`${kind}/${name} as of version ${version}:\n${unrest.join('\n')}`)
      // Follow-up work within the second after rest, such as removing unused objects, is part of it.
      await world.advance(1_000)
      return await meaningAt(world, { kind, name, spec: versions[version] ?? {} })
    } finally {
      world.down()
    }
  }
}
