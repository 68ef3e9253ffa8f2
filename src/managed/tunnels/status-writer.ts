import { KubeError } from '../../kube/kube-error.ts'
import { generationOf } from '../cr.ts'
import type { ComposedDescriptor, TunnelStatus } from '../descriptor/tunnel.ts'
import { resourceTypeOf } from '../kinds-registry.ts'
import { stampConditions } from '../run/conditions.ts'
import { ConflictError } from '../run/control-flow-errors.ts'
import { mergePatch, patchVersion } from '../run/merge-patch.ts'
import { conditionsOf, type Said } from './conditions.ts'
import type { TunnelContext } from './context.ts'
import { type Changed, type TunnelResource, tunnelStatus } from './tunnel-resource.ts'

/**
 * Writes the status of a Tunnel, if it differs, on the version from which it was decided.
 *
 * @param said how the reconcile ended; absent: it goes on, and the conditions stay
 * @returns the Tunnel with that status
 * @throws ConflictError if the Tunnel has changed meanwhile
 */
export async function writeStatus(
  { kube, clock, resources }: Pick<TunnelContext, 'kube' | 'clock' | 'resources'>,
  { descriptor, cr }: { readonly descriptor: ComposedDescriptor; readonly cr: TunnelResource },
  after: Changed<TunnelStatus>,
  said?: Said,
): Promise<TunnelResource> {
  const before = tunnelStatus(cr)
  const generation = generationOf(cr)
  const conditions =
    said === undefined
      ? before.conditions
      : [...stampConditions(conditionsOf(said, before), before.conditions ?? [], generation, clock.now())]
  const next = { ...after, conditions, ...(said === undefined ? {} : { observedGeneration: generation }) }
  const patch = mergePatch(before, next)
  if (patch === undefined) return cr
  try {
    const written = await patchVersion(kube, resourceTypeOf(descriptor), cr, { status: patch }, 'status')
    resources.record(written)
    return written
  } catch (error) {
    const isOutdated = error instanceof KubeError && (error.code === 'Conflict' || error.code === 'NotFound')
    throw isOutdated ? new ConflictError(error) : error
  }
}
