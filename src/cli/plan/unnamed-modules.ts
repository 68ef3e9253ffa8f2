import { externalId, internalOf, type ResourceName, statusOf } from '../../managed/cr.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { isPlaceholder } from './answers.ts'
import type { DryAccount } from './dry-account.ts'
import type { DryOperator } from './dry-operator.ts'

/**
 * Modules of a live object that its spec does not name. If an earlier spec named them, applying removes them, and else
 * it leaves them alone: only a cluster knows which, as for an adopted object the account does not show who set them.
 */
export interface UnnamedModules {
  readonly resource: ResourceName
  /** Id of the object. */
  readonly id: string
  /** Fields of the spec, such as `ipRestriction`. */
  readonly modules: readonly string[]
}

/** What of the live objects a plan without a cluster cannot tell. */
export async function unnamedModules(
  kinds: KindsRegistry,
  names: readonly ResourceName[],
  { operator, account }: { readonly operator: DryOperator; readonly account: DryAccount },
): Promise<readonly UnnamedModules[]> {
  const found: UnnamedModules[] = []
  for (const name of names) {
    const cr = operator.ended(name)?.cr
    const { modules, identity } = kinds.managedKind(name.kind) ?? {}
    if (cr === undefined || modules === undefined || cr.spec.managementPolicy === 'Observe') continue
    const id = statusOf(cr).id ?? externalId(cr)
    if (id === undefined || isPlaceholder(id) || identity === undefined) continue
    const object = await account.get(identity.collectionOf(cr.spec), id)
    // What Culvert is known to have set is removed by a request of the plan.
    const known = new Set([...modules.named(cr.spec), ...(internalOf(cr).appliedModules ?? [])])
    const unnamed = object === undefined ? [] : modules.held(object).filter((module) => !known.has(module))
    if (unnamed.length > 0) found.push({ resource: name, id, modules: unnamed })
  }
  return found
}
