import { readFile } from 'node:fs/promises'
import { inject } from 'vitest'
import { kinds } from '../../../src/kinds/index.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { core, typeOf, type World } from './world.ts'

/** Reads everything that an operator leaves where others may read it. */
export async function traces(
  world: World,
  operatorNamespaces: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = { log: world.operator.log, metrics: await world.operator.metrics() }
  const event = { group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event', namespaced: true }
  const lease = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', namespaced: true }
  const types = [
    ...kinds.map(({ definition }) => typeOf(definition.kind)),
    event,
    lease,
    core('configmaps', 'ConfigMap'),
    core('services', 'Service'),
  ]
  for (const type of types) {
    for (const namespace of type.namespaced ? operatorNamespaces : [undefined]) {
      found[`${type.kind} in ${namespace}`] = JSON.stringify(
        (await world.kube.list<KubeObject>(type, { namespace })).items,
      )
    }
  }
  const path = inject('auditLogPath')
  if (path !== undefined) found['audit log'] = await readFile(path, 'utf8')
  return found
}
