import { expect } from 'vitest'
import type { ProgramResult } from '../../../../controlplane/run-program.ts'
import type { Rule } from '../../../../src/managed/permissions.ts'
import { judge, usesIn } from '../../../cluster/support/permissions-used.ts'
import { rightsBeyond, rightsIn } from '../../../cluster/support/rights.ts'
import { objectsIn, type Rendered } from '../../support/helm.ts'
import type { InstalledCluster } from './installed-cluster.ts'

interface Binding extends Rendered {
  readonly roleRef: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[]
}

/** A ServiceAccount that a chart created. */
export interface Holder {
  readonly name: string
  readonly namespace: string
}

/**
 * Expects that the rights which kubectl lists for a ServiceAccount, beyond those of everybody, are those of a release's
 * roles, in each of these namespaces.
 */
export async function expectRightsOfManifest(
  cluster: InstalledCluster,
  manifest: string,
  holder: Holder,
  namespaces: readonly string[],
): Promise<void> {
  const nobody = await nobodysToken(cluster)
  const token = await cluster.token(holder.name, holder.namespace)
  for (const namespace of namespaces) {
    const granted = rightsIn(rulesFor(objectsIn(manifest), holder, namespace))
    expect(await rightsBeyond(as(cluster, token), as(cluster, nobody), namespace), namespace).toEqual(granted)
  }
}

/** Expects that no request of any operator in the cluster was refused. */
export async function expectNothingRefused(cluster: InstalledCluster): Promise<void> {
  const { uses } = await usesIn(cluster.folder)
  expect(uses.length).toBeGreaterThan(0)
  expect(judge(uses, { own: [], watched: [] }).refused).toEqual([])
}

function as(cluster: InstalledCluster, token: string): (args: readonly string[]) => Promise<ProgramResult> {
  return (args) => cluster.controlPlane.kubectl([...args, '--token', token])
}

async function nobodysToken(cluster: InstalledCluster): Promise<string> {
  const metadata = { name: 'nobody', namespace: 'default' }
  await cluster.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  return cluster.token(metadata.name, metadata.namespace)
}

/** The rules that bindings among the objects give a holder in a namespace. */
function rulesFor(objects: readonly Rendered[], holder: Holder, namespace: string): readonly Rule[] {
  const bindings = objects.filter((object): object is Binding => {
    const { kind, metadata, subjects = [] } = object as Binding
    const isHeld = subjects.some(({ name, namespace: home }) => name === holder.name && home === holder.namespace)
    return isHeld && (kind === 'ClusterRoleBinding' || (kind === 'RoleBinding' && metadata.namespace === namespace))
  })
  return bindings.flatMap(({ roleRef, metadata }) => {
    const role = objects.find(({ kind, metadata: of }) => {
      const isInReach = kind === 'ClusterRole' || of.namespace === metadata.namespace
      return kind === roleRef.kind && of.name === roleRef.name && isInReach
    })
    return (role?.rules ?? []) as readonly Rule[]
  })
}
