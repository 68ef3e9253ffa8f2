import { expect, it } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import { KindsRegistry } from '../../src/managed/kinds-registry.ts'
import { leftoverPermissions } from '../../src/managed/leftovers.ts'
import {
  holdPermission,
  installationPermission,
  ownNamespacePermissions,
  watchedPermissions,
} from '../../src/managed/permissions/operator.ts'
import { type Permission, rulesOf } from '../../src/managed/permissions/rules.ts'
import { at, find, HELMS, MODES, merged, type Rendered, render } from './support/helm.ts'

const registry = new KindsRegistry(kinds)

it('gives the operator what it needs in the whole cluster, and nothing else', async () => {
  for (const major of HELMS) {
    const objects = await render(major, MODES.cluster)
    expect(bound(objects, 'culvert')).toEqual([
      ['ClusterRole', undefined, rules(watchedPermissions(registry, { scope: 'cluster', watchSecrets: true }))],
      ['Role', 'culvert-system', rules(ownNamespacePermissions)],
    ])
    const blind = await render(major, merged(MODES.cluster, { watchSecrets: false }))
    expect(bound(blind, 'culvert')[0]).toEqual([
      'ClusterRole',
      undefined,
      rules(watchedPermissions(registry, { scope: 'cluster', watchSecrets: false })),
    ])
  }
})

it('gives the operator rights in its namespaces alone, and to see what names the cluster', async () => {
  const inNamespace = rules(watchedPermissions(registry, { scope: 'namespace', watchSecrets: true }))
  for (const major of HELMS) {
    const own = ['Role', 'culvert-system', rules(ownNamespacePermissions)]
    const hold = [...inNamespace, ...rules([holdPermission('culvert-system-culvert-hold')])]
    const watched = [
      ['Role', 'shop', inNamespace],
      ['Role', 'web', inNamespace],
      // A ClusterRole, bound in the namespace.
      ['ClusterRole', 'shop', hold],
      ['ClusterRole', 'web', hold],
    ]
    const objects = await render(major, MODES.namespaces)
    const found = bound(objects, 'culvert')
    expect(found).toHaveLength(6)
    expect(found).toEqual(
      expect.arrayContaining([...watched, own, ['ClusterRole', undefined, rules([installationPermission])]]),
    )
    const named = bound(
      await render(major, merged(MODES.namespaces, { operator: { installation: 'blue' } })),
      'culvert',
    )
    expect(named).toHaveLength(5)
    expect(named).toEqual(expect.arrayContaining([...watched, own]))
    const values = { operator: { installation: 'blue' }, rbac: { holdNamespaces: false, userRoles: false } }
    const least = await render(major, merged(MODES.namespaces, values))
    expect(least.filter(({ kind }) => kind.startsWith('Cluster'))).toEqual([])
  }
})

it('lets the check before uninstalling list what it looks for, and do nothing else', async () => {
  for (const major of HELMS) {
    expect(bound(await render(major, MODES.cluster), 'culvert-leftovers')).toEqual([
      ['ClusterRole', undefined, rules(leftoverPermissions(registry, 'cluster'))],
    ])
    const inNamespace = rules(leftoverPermissions(registry, 'namespace'))
    expect(bound(await render(major, MODES.namespaces), 'culvert-leftovers')).toEqual([
      ['Role', 'shop', inNamespace],
      ['Role', 'web', inNamespace],
    ])
  }
})

it('gives the service account of the operator to nobody else', async () => {
  const objects = await render(4, merged(MODES.cluster, { emulator: { enabled: true } }))
  const pods = [
    at(find(objects, 'Deployment', 'culvert-emulator'), 'spec.template.spec'),
    at(find(objects, 'Pod', 'culvert-test'), 'spec'),
  ]
  for (const pod of pods) expect(pod).toMatchObject({ automountServiceAccountToken: false })
})

/** What a service account may do: kind and namespace of each role bound to it, with its rules. */
function bound(objects: readonly Rendered[], serviceAccount: string): readonly unknown[] {
  return objects
    .filter(({ kind }) => kind.endsWith('Binding'))
    .filter((binding) => at(binding, 'subjects.0.name') === serviceAccount)
    .map(({ roleRef, metadata: { namespace } }) => {
      const { kind, name } = roleRef as { readonly kind: string; readonly name: string }
      const role = find(objects, kind, name, kind === 'Role' ? namespace : undefined)
      return [kind, namespace, rules(role?.rules as Permission[], true)]
    })
}

/** As text, member by member in one order: Helm sorts them. */
function rules(given: readonly object[], areRules = false): readonly string[] {
  const list = areRules ? given : rulesOf(given as readonly Permission[])
  return list.map((rule) => JSON.stringify(Object.entries(rule).toSorted(([a], [b]) => (a < b ? -1 : 1))))
}
