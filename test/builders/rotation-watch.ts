import type { KubeObject } from '../../src/kube/types.ts'
import { secretType } from '../../src/managed/inputs/inputs.ts'
import type { ModelWorld } from './model-world.ts'

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

/** Where a rotated token is stored. */
export interface Rotated {
  /** Collection of its objects. */
  readonly path: string
  readonly secretName: string
  readonly secretKey: string
}

/**
 * Checks a model world after every single event at its servers: once the Secret holds a token, it always holds one that
 * the API accepts, and there are never more than two objects.
 */
export class RotationWatch {
  readonly violations: string[] = []
  /** Every token that was in the Secret, in order. */
  readonly tokens: string[] = []
  readonly #world: ModelWorld
  readonly #rotated: Rotated

  constructor(world: ModelWorld, rotated: Rotated) {
    this.#world = world
    this.#rotated = rotated
    const { account, kube } = world
    account.create = this.#observed(account.create.bind(account))
    account.delete = this.#observed(account.delete.bind(account))
    kube.create = this.#observed(kube.create.bind(kube)) as typeof kube.create
    kube.mergePatch = this.#observed(kube.mergePatch.bind(kube)) as typeof kube.mergePatch
    kube.delete = this.#observed(kube.delete.bind(kube))
  }

  /** The token in the Secret; undefined while there is none. */
  get token(): string | undefined {
    const { secretName, secretKey } = this.#rotated
    const { items } = this.#world.kube.list<Secret>(secretType)
    const encoded = items.find(({ metadata }) => metadata.name === secretName)?.data?.[secretKey]
    return encoded === undefined ? undefined : atob(encoded)
  }

  /** Id of the object of the token in the Secret. */
  get opened(): string | undefined {
    const { account } = this.#world
    const id = this.token === undefined ? undefined : account.tokens.get(this.token)
    return id !== undefined && account.get(this.#rotated.path, id) !== undefined ? id : undefined
  }

  get ids(): readonly string[] {
    return this.#world.account.list(this.#rotated.path).map(({ id }) => id)
  }

  #observed<Args extends unknown[], Result>(act: (...args: Args) => Result): (...args: Args) => Result {
    return (...args) => {
      const result = act(...args)
      this.#check()
      return result
    }
  }

  #check(): void {
    const { token, ids, tokens } = this
    if (ids.length > 2) this.violations.push(`${ids.length} objects: ${ids.join(', ')}`)
    if (token === undefined) {
      if (tokens.length > 0) this.violations.push('the Secret holds no token any more')
      return
    }
    if (this.opened === undefined) this.violations.push(`the API does not take ${token}, which the Secret holds`)
    if (tokens.at(-1) !== token) tokens.push(token)
  }
}
