import { expect, it } from 'vitest'
import {
  companionPermissions,
  holdPermission,
  installationPermission,
  ownNamespacePermissions,
  servicePermissions,
  tunnelPermissions,
  watchedPermissions,
} from '../../scripts/permissions/operator.ts'
import { kinds } from '../../src/kinds/index.ts'
import { KindsRegistry } from '../../src/managed/kinds-registry.ts'
import { type Permission, rulesOf } from '../../src/managed/permissions.ts'
import { leftoverPermissions } from '../../src/managed/uninstall/leftovers.ts'
import { at, find, HELMS, MODES, merged, type Rendered, render, type Values } from './support/helm.ts'

const registry = new KindsRegistry(kinds)

it('grants the operator what it needs in the whole cluster and nothing else', async () => {
  for (const major of HELMS) {
    const objects = await render(major, MODES.cluster)
    expect(bound(objects, 'culvert')).toEqual([
      [
        'ClusterRole',
        undefined,
        rules(watchedPermissions(registry, { scope: 'cluster', watchSecrets: true, dnsEndpoints: false })),
      ],
      ['Role', 'culvert-system', rules(ownNamespacePermissions)],
    ])
    const blind = await render(major, merged(MODES.cluster, { watchSecrets: false }))
    expect(bound(blind, 'culvert')[0]).toEqual([
      'ClusterRole',
      undefined,
      rules(watchedPermissions(registry, { scope: 'cluster', watchSecrets: false, dnsEndpoints: false })),
    ])
  }
})

it('grants the operator rights in its namespaces only, and to read the cluster’s identity', async () => {
  const inNamespace = rules(
    watchedPermissions(registry, { scope: 'namespace', watchSecrets: true, dnsEndpoints: false }),
  )
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
    const values = {
      operator: { installation: 'blue' },
      rbac: { holdNamespaces: false, userRoles: false },
      admissionPolicy: { operator: { enabled: false } },
    }
    const least = await render(major, merged(MODES.namespaces, values))
    expect(least.filter(({ metadata }) => metadata.namespace === undefined)).toEqual([])
  }
})

it('grants the operator rights to DNSEndpoints only where it creates them', async () => {
  const reach = { watchSecrets: true, dnsEndpoints: true } as const
  const own = rules(companionPermissions(registry))
  for (const major of HELMS) {
    for (const [mode, kind] of [
      [MODES.cluster, 'ClusterRole'],
      [MODES.namespaces, 'Role'],
    ] as const) {
      const before = bound(await render(major, mode), 'culvert')
      expect(before.flatMap(rulesIn).filter((rule) => own.includes(rule))).toEqual([])
      const found = bound(await render(major, merged(mode, { dnsEndpoints: { enabled: true } })), 'culvert')
      const scope = kind === 'Role' ? 'namespace' : 'cluster'
      const all = rules(watchedPermissions(registry, { ...reach, scope }))
      expect(new Set(found.flatMap(rulesIn).filter((rule) => all.includes(rule)))).toEqual(new Set(all))
    }
  }
})

it('grants the operator rights to agents only where it runs them', async () => {
  const own = rules(tunnelPermissions(registry)).filter((rule) => /deployments|poddisruptionbudgets|pods/.test(rule))
  for (const mode of [MODES.cluster, MODES.namespaces]) {
    const without = bound(await render(4, mode), 'culvert').flatMap(rulesIn)
    expect(without.filter((rule) => own.includes(rule))).toEqual([])
    const found = bound(
      await render(4, merged(mode, { tunnels: { enabled: true, gateways: ['ssh.example.com:22'] } })),
      'culvert',
    ).flatMap(rulesIn)
    expect(found).toEqual(expect.arrayContaining([...own]))
    expect(own.length).toBeGreaterThan(0)
  }
})

it('grants the operator rights to Services only where it serves them', async () => {
  const own = rules(servicePermissions(registry))
  const tunnels = { enabled: true, gateways: ['ssh.example.com:22'] }
  for (const mode of [MODES.cluster, MODES.namespaces]) {
    const without = bound(await render(4, merged(mode, { tunnels })), 'culvert').flatMap(rulesIn)
    expect(without.filter((rule) => own.includes(rule))).toEqual([])
    const served = merged(mode, { tunnels: { ...tunnels, services: { enabled: true } } })
    const found = bound(await render(4, served), 'culvert').flatMap(rulesIn)
    expect(found).toEqual(expect.arrayContaining([...own]))
  }
})

it('has the policy for authors only if asked, in the whole cluster or in the watched namespaces', async () => {
  const asked = { admissionPolicy: { authors: { enabled: true } } }
  const name = 'culvert-system-culvert-authors'
  for (const major of HELMS) {
    const selectorIn = async (mode: Values): Promise<unknown> => {
      const binding = find(await render(major, merged(mode, asked)), 'ValidatingAdmissionPolicyBinding', name)
      expect(binding).toBeDefined()
      return at(binding, 'spec.matchResources.namespaceSelector.matchExpressions.0.values')
    }
    expect(await selectorIn(MODES.cluster)).toBeUndefined()
    expect(await selectorIn(MODES.namespaces)).toEqual(['shop', 'web'])
    expect(find(await render(major, MODES.cluster), 'ValidatingAdmissionPolicy', name)).toBeUndefined()
  }
})

it('grants the uninstall check the lists that it needs and nothing else', async () => {
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

it('binds the operator’s ServiceAccount to nothing else', async () => {
  const objects = await render(4, merged(MODES.cluster, { emulator: { enabled: true } }))
  const pods = [
    at(find(objects, 'Deployment', 'culvert-emulator'), 'spec.template.spec'),
    at(find(objects, 'Pod', 'culvert-test'), 'spec'),
  ]
  for (const pod of pods) expect(pod).toMatchObject({ automountServiceAccountToken: false })
})

/** A service account's rights: kind and namespace of each role bound to it, with its rules. */
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

function rulesIn(role: unknown): readonly string[] {
  return (role as readonly [string, string, readonly string[]])[2]
}

/** As text, with members in a fixed order: Helm sorts them. */
function rules(given: readonly object[], areRules = false): readonly string[] {
  const list = areRules ? given : rulesOf(given as readonly Permission[])
  return list.map((rule) => JSON.stringify(Object.entries(rule).toSorted(([a], [b]) => (a < b ? -1 : 1))))
}
