import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { HELMS, merged, template, type Values, valuesAt } from './support/helm.ts'
import type { JSONSchema } from './support/openapi.ts'
import { CHART } from './support/paths.ts'

const schema = JSON.parse(await readFile(join(CHART, 'values.schema.json'), 'utf8')) as JSONSchema

/** Refused values: what is wrong, and what the message must name. */
const refusals: readonly (readonly [what: string, values: Values, says: readonly string[]])[] = [
  ['a text for a number', { replicas: 'two' }, ['/replicas', 'want integer']],
  ['a number for a text', { operator: { installation: 7 } }, ['/operator/installation', 'want string']],
  ['a log level there is none of', { operator: { logLevel: 'loud' } }, ['/operator/logLevel', "'debug', 'info'"]],
  ['a duration without a unit', { leaderElection: { leaseDuration: '15' } }, ['/leaderElection/leaseDuration']],
  ['no worker', { operator: { workers: 0 } }, ['/operator/workers']],
  ['no request', { operator: { apiRequests: 0 } }, ['/operator/apiRequests']],
  ['a port there is none of', { operator: { port: 65536 } }, ['/operator/port']],
  ['a URL for a host', { operator: { allowApiHosts: ['https://api.example.com'] } }, ['/operator/allowApiHosts/0']],
  [
    'plain http to all below a suffix',
    { operator: { allowApiHosts: ['http://*.example.com'] } },
    ['/operator/allowApiHosts/0'],
  ],
  ['a namespace with a capital', { watchNamespaces: ['Shop'] }, ['/watchNamespaces/0']],
  ['a namespace twice', { watchNamespaces: ['shop', 'shop'] }, ['/watchNamespaces']],
  ['a digest that is cut off', { image: { digest: 'sha256:abc' } }, ['/image/digest']],
  ['a tag next to a digest', { image: { tag: '1.2.3', digest: `sha256:${'a'.repeat(64)}` } }, ['image: ', 'not both']],
  ['an environment variable without a name', { extraEnv: [{ value: 'x' }] }, ['/extraEnv/0', "'name'"]],
  [
    'a misspelt field of a volume',
    { extraVolumes: [{ name: 'a', emptyDirs: {} }] },
    ['/extraVolumes/0', "'emptyDirs'"],
  ],
  ['a misspelt security context', { securityContext: { privilegd: true } }, ['/securityContext', "'privilegd'"]],
  ['a misspelt limit', { resources: { limits: { memroy: '1Gi' } } }, ['/resources/limits', 'memroy']],
  [
    'a Lease that is shorter than its renewal',
    { leaderElection: { leaseDuration: '9.5s' } },
    ['leaderElection: ', 'renewDeadline (10s)', 'leaseDuration (9.5s)'],
  ],
  [
    'a retry period that is longer than the renewal',
    { leaderElection: { retryPeriod: '1m' } },
    ['leaderElection: retryPeriod (1m)'],
  ],
  [
    'requests that outlast the Lease',
    { operator: { requestTimeout: '5000ms' } },
    ['operator.requestTimeout: 5000ms', 'leaseDuration (15s)'],
  ],
  ['agents without a gateway', { tunnels: { enabled: true } }, ['tunnels.gateways: ', 'host:port']],
  [
    'several operators without a Lease',
    { leaderElection: { enabled: false } },
    ['replicas: ', 'leaderElection.enabled=true'],
  ],
  ['a number for a selector', { selectors: { accounts: 7 } }, ['/selectors/accounts', 'want string']],
  [
    'a selector without a common id',
    { selectors: { accounts: 'team=a' } },
    ['selectors.accounts: ', 'the same operator.installation'],
  ],
  [
    'a selector without a Lease',
    {
      selectors: { namespaces: 'team=a' },
      operator: { installation: 'one' },
      replicas: 1,
      leaderElection: { enabled: false },
    },
    ['selectors.namespaces: ', 'leaderElection.enabled=true'],
  ],
  [
    'labels of namespaces that are not watched',
    { selectors: { namespaces: 'team=a' }, operator: { installation: 'one' }, watchNamespaces: ['shop'] },
    ['selectors.namespaces: ', 'remove one of the two'],
  ],
  [
    'Services without agents',
    { tunnels: { services: { enabled: true } } },
    ['tunnels.services.enabled: ', 'tunnels.enabled=true'],
  ],
  [
    'Services without a class, but none with one',
    { tunnels: { enabled: true, gateways: ['ssh.example.com:22'], services: { default: true } } },
    ['tunnels.services.default: ', 'tunnels.services.enabled=true'],
  ],
  [
    'templates of agents without agents',
    { tunnels: { templates: { enabled: true } } },
    ['tunnels.templates.enabled: ', 'tunnels.enabled=true'],
  ],
  [
    'images of agents by a pattern that other registries match too',
    {
      tunnels: {
        enabled: true,
        gateways: ['ssh.example.com:22'],
        templates: { enabled: true, images: ['registry.example.com*'] },
      },
    },
    ['/tunnels/templates/images/0'],
  ],
  [
    'any key of labels of agents',
    { tunnels: { enabled: true, gateways: ['ssh.example.com:22'], templates: { enabled: true, metadataKeys: ['*'] } } },
    ['/tunnels/templates/metadataKeys/0'],
  ],
  [
    'a PriorityClass that needs no entry',
    {
      tunnels: {
        enabled: true,
        gateways: ['ssh.example.com:22'],
        templates: { enabled: true, priorityClasses: ['high'] },
      },
    },
    ['/tunnels/templates/priorityClasses/0'],
  ],
  ['two sources of authorities', { caBundle: { configMap: 'a', secret: 'b' } }, ['caBundle: ', 'not both']],
  [
    'a ServiceMonitor without a Service',
    { serviceMonitor: { enabled: true }, service: { enabled: false } },
    ['service.enabled=true'],
  ],
  [
    'readers of metrics that everybody may read',
    { metrics: { authentication: { readers: [{ kind: 'User', name: 'a' }] } } },
    ['metrics.authentication.readers: ', 'metrics.authentication.enabled=true'],
  ],
  [
    'a reader without a name',
    { metrics: { authentication: { enabled: true, readers: [{ kind: 'User' }] } } },
    ['/metrics/authentication/readers/0', "'name'"],
  ],
  [
    'a change of an alert there is none of',
    { prometheusRule: { alerts: { CulvertLate: { for: '1h' } } } },
    ['/prometheusRule/alerts', "'CulvertLate'"],
  ],
  [
    'a threshold for an alert that has none',
    { prometheusRule: { enabled: true, alerts: { CulvertDown: { threshold: 2 } } } },
    ['prometheusRule.alerts.CulvertDown.threshold: '],
  ],
  [
    'a domain that is no name',
    { dnsEndpoints: { enabled: true, domains: ['*.Example.com'] } },
    ['/dnsEndpoints/domains/0'],
  ],
  [
    'values of the ClusterAccount that it used to create',
    { clusterAccount: { enabled: true } },
    ['clusterAccount: ', 'culvert-account'],
  ],
  [
    'a pattern of namespaces with the star in the middle',
    { admissionPolicy: { operator: { protectedNamespaces: ['a*b'] } } },
    ['/admissionPolicy/operator/protectedNamespaces/0'],
  ],
  ...['kube-system', 'kube-public', 'kube-node-lease'].map((namespace): (typeof refusals)[number] => [
    `to work in ${namespace} under the admission policy`,
    { watchNamespaces: ['shop', namespace] },
    [`watchNamespaces: ${namespace}`],
  ]),
]

it.each(refusals)('refuses %s and names the field', async (_what, values, says) => {
  for (const major of HELMS) {
    const { code, stderr } = await template(major, values)
    expect(code).not.toBe(0)
    for (const words of says) expect(stderr).toContain(words)
  }
})

it('refuses an unknown value at every level', async () => {
  const levels = objectsOf(schema, '')
  expect(levels.length).toBeGreaterThan(20)
  // All at once: Helm names everything that is wrong.
  const values = levels
    .map((level) => valuesAt(level === '' ? 'unheardOf' : `${level}.unheardOf`, { a: 1 }))
    .reduce(merged)
  for (const major of HELMS) {
    const { code, stderr } = await template(major, values)
    expect(code).toBe(1)
    const unsaid = levels.filter((level) => !said(stderr, level === '' ? '' : `/${level.replaceAll('.', '/')}`))
    expect(unsaid).toEqual([])
  }
})

function said(stderr: string, place: string): boolean {
  // Labels and annotations may have any name, but only text values.
  const unknown = `- at '${place}': additional properties 'unheardOf' not allowed`
  return stderr.includes(unknown) || stderr.includes(`- at '${place}/unheardOf': got object, want string`)
}

it('refuses every unknown field of types taken from Kubernetes', () => {
  const open = openObjects(schema.definitions, [])
  expect(open).toEqual([])
})

it('accepts the values that Helm passes to subcharts', async () => {
  for (const major of HELMS) expect((await template(major, { global: { team: 'edge' } })).code).toBe(0)
})

/** Paths of the objects that values.yaml may contain, except `global`, which is not ours. */
function objectsOf(node: JSONSchema, path: string): readonly string[] {
  const isObject =
    node.type === 'object' || String(node.$ref ?? '').match(/(Context|Requirements|Affinity|Spec)$/) !== null
  if (!isObject || path === 'global') return []
  const members = Object.entries((node.properties ?? {}) as Readonly<Record<string, JSONSchema>>)
  return [path, ...members.flatMap(([key, inner]) => objectsOf(inner, path === '' ? key : `${path}.${key}`))]
}

/** Schemas with named fields that also accept others. */
function openObjects(node: unknown, path: readonly string[]): readonly string[] {
  if (typeof node !== 'object' || node === null) return []
  const { properties, additionalProperties } = node as JSONSchema
  const isOpen = typeof properties === 'object' && path.at(-1) !== 'properties' && additionalProperties !== false
  const inner = Object.entries(node).flatMap(([key, value]) => openObjects(value, [...path, key]))
  return isOpen ? [path.join('/'), ...inner] : inner
}
