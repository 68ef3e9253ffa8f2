import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StatedResource } from '../../../../src/cli/cluster/resource-state.ts'
import { lineText } from '../../../../src/cli/terminal/line.ts'
import { type Branch, branchesOf, graphOf, rootsOf } from '../../../../src/cli/tree/resource-graph.ts'
import { treeLines } from '../../../../src/cli/tree/tree-lines.ts'
import { kinds as descriptors } from '../../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'

const kinds = new KindsRegistry(descriptors)
const order = descriptors.map(({ definition }) => definition.kind)

function resource(kind: string, name: string, spec: object, id?: string): StatedResource {
  const time = { lastTransitionTime: '2026-11-24T10:00:00Z' }
  const conditions = [
    { type: 'Ready', status: 'True' as const, reason: 'Available', message: 'in place', ...time },
    { type: 'Synced', status: 'True' as const, reason: 'InSync', message: 'equal', ...time },
  ]
  return {
    apiVersion: 'culvert.dev/v1alpha1',
    kind,
    metadata: { namespace: 'web', name, uid: name, resourceVersion: '1' },
    spec,
    status: { conditions, ...(id === undefined ? {} : { id }) },
  }
}

const shop = resource('Edge', 'shop', {
  protocol: 'TLS',
  backend: { name: 'canary' },
  ipRestriction: { ipPolicyRefs: [{ name: 'office' }, { id: 'ipp_1' }, { id: 'ipp_unknown' }] },
})
const canary = resource('Backend', 'canary', {
  type: 'Weighted',
  weighted: {
    backendRefs: [
      { name: 'web', weight: 1 },
      { name: 'gone', weight: 1 },
    ],
  },
})
const web = resource('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: {} } })
const office = resource('IPPolicy', 'office', { rulesSource: 'IPPolicyRules' })
const home = resource('IPPolicy', 'home', { rules: [] }, 'ipp_1')
const rule = resource('IPPolicyRule', 'vpn', { ipPolicyRef: { name: 'office' }, cidr: '10.0.0.0/8', action: 'Allow' })
const quickstart = [shop, canary, web, office, home, rule]

function lines(resources: readonly StatedResource[], direction: 'needs' | 'usedBy' = 'needs', root?: string): string[] {
  const graph = graphOf(kinds, resources)
  const roots =
    root === undefined ? rootsOf(graph, order) : [...graph.nodes.values()].filter(({ name }) => name === root)
  return treeLines(branchesOf(graph, roots, direction), { width: 100 }, 'web').map((line) => lineText(line))
}

describe('a tree', () => {
  test('leads from what nothing needs over the fields of specs to the last referent', () => {
    expect(lines(quickstart)).toEqual(
      [
        'Edge/shop                           Ready',
        '├─ backend: Backend/canary          Ready',
        '│  ├─ weighted: Backend/web         Ready',
        '│  └─ weighted: Backend/gone        Missing  there is no such resource',
        '├─ ipRestriction: IPPolicy/office   Ready',
        '│  └─ part: IPPolicyRule/vpn        Ready',
        '├─ ipRestriction: IPPolicy/home     Ready',
        '└─ ipRestriction: IPPolicy ipp_unknown  Unmanaged  no resource shown here holds this object',
      ].map((line) => expect.stringMatching(new RegExp(`^${escaped(line).replaceAll(/ {2,}/g, ' +')}$`))),
    )
  })

  test('leads the other way to all that would break', () => {
    expect(lines(quickstart, 'usedBy', 'web').map((line) => line.replace(/(?<=\S) {2,}\S.*/, ''))).toEqual([
      'Backend/web',
      '└─ weighted: Backend/canary',
      '   └─ backend: Edge/shop',
    ])
  })

  test('ends at a cycle', () => {
    const failover = (name: string, other: string) =>
      resource('Backend', name, { type: 'Failover', failover: { backendRefs: [{ name: other }] } })
    expect(lines([failover('a', 'b'), failover('b', 'a')], 'needs', 'a').map((line) => line.trimEnd())).toEqual(
      [
        'Backend/a                        Ready',
        '└─ failover: Backend/b           Ready',
        '   └─ failover: Backend/a        Ready  (shown above)',
      ].map((line) => expect.stringMatching(new RegExp(`^${escaped(line).replaceAll(/ {2,}(?=\S)/g, ' +')}$`))),
    )
  })

  test('never has a line wider than the terminal, and shows each resource', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const refs = fc.uniqueArray(fc.constantFrom(...names), { maxLength: 4 })
    fc.assert(
      fc.property(fc.array(refs, { minLength: 6, maxLength: 6 }), fc.integer({ min: 60, max: 160 }), (given, width) => {
        const resources = given.map((targets, index) => {
          const backendRefs = targets.map((name) => ({ name }))
          return resource('Backend', names[index] ?? '', { type: 'Failover', failover: { backendRefs } })
        })
        const graph = graphOf(kinds, resources)
        const trees = branchesOf(graph, [...graph.nodes.values()], 'needs')
        expect(new Set(trees.flatMap(namesIn))).toEqual(new Set(names))
        for (const line of treeLines(trees, { width }, 'web')) expect(lineText(line).length).toBeLessThanOrEqual(width)
      }),
    )
  })
})

function namesIn({ node, branches }: Branch): readonly (string | undefined)[] {
  return [node.name, ...branches.flatMap(namesIn)]
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
