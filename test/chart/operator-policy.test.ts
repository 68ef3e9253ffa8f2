import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Installation, operatorPolicy, policySpec } from '../../scripts/permissions/operator-policy.ts'
import { kinds } from '../../src/kinds/index.ts'
import { KindsRegistry } from '../../src/managed/kinds-registry.ts'
import { find, HELMS, MODES, merged, type Rendered, render, type Values } from './support/helm.ts'
import { CHART } from './support/paths.ts'

const NAME = 'culvert-system-culvert-operator'

const plain: Installation = {
  isOperator: 'request.userInfo.username == "system:serviceaccount:culvert-system:culvert"',
  home: '"culvert-system"',
  leases: '["culvert"]',
  hold: '"culvert-system-culvert-hold"',
  watched: '[]',
  protectedNamespaces: '[]',
  dnsDomains: '[]',
  agentImage: '""',
  serviceClasses: '[]',
  templates: 'false',
  agentImages: '[]',
  metadataKeys: '[]',
  priorityClasses: '[]',
  gateways: '[]',
  extraFields: '[]',
}

const agents = { enabled: true, gateways: ['ssh.example.com:22'] }
const GATEWAYS = JSON.stringify(agents.gateways)

const installations: readonly (readonly [what: string, values: Values, differs: Partial<Installation>])[] = [
  ['for the whole cluster', MODES.cluster, {}],
  ['for some namespaces', MODES.namespaces, { watched: '["shop","web"]' }],
  [
    'for another account',
    merged(MODES.cluster, { serviceAccount: { create: false, name: 'tunnels' }, rbac: { create: false } }),
    { isOperator: 'request.userInfo.username == "system:serviceaccount:culvert-system:tunnels"' },
  ],
  [
    'with domains to publish',
    merged(MODES.cluster, { dnsEndpoints: { enabled: true, domains: ['shop.example.com', '*.apps.example.com'] } }),
    { dnsDomains: '["shop.example.com","*.apps.example.com"]' },
  ],
  [
    'with domains that nothing publishes',
    merged(MODES.cluster, { dnsEndpoints: { enabled: false, domains: ['shop.example.com'] } }),
    {},
  ],
  [
    'with templates of Tunnels',
    merged(MODES.cluster, {
      image: { repository: 'registry.example.com/culvert', tag: 'v1' },
      tunnels: {
        ...agents,
        templates: { enabled: true, images: ['registry.example.com/agents/*'] },
      },
    }),
    {
      agentImage: '"registry.example.com/culvert:v1"',
      templates: 'true',
      gateways: GATEWAYS,
      agentImages: '["registry.example.com/agents/*"]',
    },
  ],
  [
    'with more protected namespaces',
    merged(MODES.cluster, { admissionPolicy: { operator: { protectedNamespaces: ['argocd', 'openshift-*'] } } }),
    { protectedNamespaces: '["argocd","openshift-*"]' },
  ],
  [
    'with Services',
    merged(MODES.cluster, {
      tunnels: { ...agents, services: { enabled: true } },
    }),
    { serviceClasses: '["culvert.dev/edge"]', agentImage: expect.any(String), gateways: GATEWAYS },
  ],
  [
    'with Services without a class',
    merged(MODES.cluster, {
      tunnels: { ...agents, services: { enabled: true, default: true } },
    }),
    { serviceClasses: '["culvert.dev/edge",""]', agentImage: expect.any(String), gateways: GATEWAYS },
  ],
]

it.each(installations)('has the policy that the tests of operators run under, %s', async (_what, values, differs) => {
  const expected = policySpec(operatorPolicy(new KindsRegistry(kinds)), { ...plain, ...differs })
  for (const major of HELMS) {
    const objects = await render(major, values)
    const policy = find(objects, 'ValidatingAdmissionPolicy', NAME) as Rendered
    expect(policy.apiVersion).toBe('admissionregistration.k8s.io/v1')
    expect(policy.spec).toEqual(expected)
    expect(find(objects, 'ValidatingAdmissionPolicyBinding', NAME)).toMatchObject({
      apiVersion: 'admissionregistration.k8s.io/v1',
      spec: { policyName: NAME, validationActions: ['Deny', 'Audit'] },
    })
  }
})

it('names it after the release, like the Lease and the binding', async () => {
  const objects = await render(4, merged(MODES.namespaces, { fullnameOverride: 'edge' }))
  const policy = find(objects, 'ValidatingAdmissionPolicy', 'culvert-system-edge-operator')
  const expected = policySpec(operatorPolicy(new KindsRegistry(kinds)), {
    ...plain,
    isOperator: 'request.userInfo.username == "system:serviceaccount:culvert-system:edge"',
    leases: '["edge"]',
    hold: '"culvert-system-edge-hold"',
    watched: '["shop","web"]',
  })
  expect(policy?.spec).toEqual(expected)
})

it('requires a Kubernetes version that has the API', async () => {
  const { kubeVersion } = parse(await readFile(join(CHART, 'Chart.yaml'), 'utf8')) as { readonly kubeVersion: string }
  const [, minor] = /^>=1\.(\d+)\.0-0$/.exec(kubeVersion) ?? []
  // ValidatingAdmissionPolicy is v1 from 1.30 on.
  expect(Number(minor)).toBeGreaterThanOrEqual(30)
})
