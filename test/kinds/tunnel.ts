import type { Body, KindTestData } from './kind-test-data.ts'
import { refuse } from './shared/refusals.ts'

const NODES = { matchExpressions: [{ key: 'pool', operator: 'In', values: ['edge'] }] }
const PODS = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'shop' } } }
const TEMPLATE = {
  labels: { team: 'shop' },
  annotations: { 'example.com/scrape': 'true' },
  nodeSelector: { pool: 'edge' },
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [NODES] } },
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [PODS] },
  },
  tolerations: [{ key: 'pool', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }],
  topologySpreadConstraints: [
    { topologyKey: 'kubernetes.io/hostname', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', minDomains: 2 },
  ],
  resources: { requests: { cpu: 0.5 }, limits: { memory: '256Mi' } },
  priorityClassName: 'high',
}
const AGENT = {
  image: 'registry.example.com/agents/own:1',
  args: ['--labels=$(CULVERT_LABELS)'],
  env: [{ name: 'LEVEL', value: 'info' }],
}

const inTemplate = (because: string, template: Body, message: string) => refuse(because, { template }, message)
const inAgent = (because: string, agent: Body, message: string) => {
  return refuse(because, { credentialRef: undefined, agent: { ...AGENT, ...agent } }, message)
}

const LONG = 'a'.repeat(318)
const OWN_KEY = 'has a key under culvert.dev, which is reserved for Culvert: choose another prefix'

/** Fields outside the schema: Culvert sets them. Without strict validation, as with `kubectl`, they are pruned. */
const fixed = Object.entries({
  spec: { hostNetwork: true },
  metadata: { labels: { team: 'shop' } },
  hostNetwork: true,
  serviceAccountName: 'default',
  containers: [{ name: 'side', image: 'side:1' }],
  volumes: [{ name: 'a', secret: { secretName: 'payroll' } }],
  runtimeClassName: 'other',
}).map(([field, value]) => {
  return inTemplate(`with ${field}`, { [field]: value }, `unknown field "spec.template.${field}"`)
})

export const tunnel: KindTestData = {
  kind: 'Tunnel',
  accepted: {
    backendRef: { name: 'shop' },
    service: { name: 'shop', port: 80 },
    replicas: 3,
    credentialRef: { name: 'shop', privateKeySecretRef: { name: 'shop', key: 'id_ed25519' } },
    keyRotation: { interval: '720h' },
    template: TEMPLATE,
  },
  refusals: [
    refuse(
      'with keys of minutes',
      { keyRotation: { interval: '10m' } },
      'interval must be from 1h to 8760h: write it as',
    ),
    refuse('with a key and an agent that takes a token', { agent: AGENT }, 'set at most one of agent, credentialRef'),
    inTemplate('with a label of Culvert', { labels: { 'culvert.dev/tunnel': 'x' } }, `labels ${OWN_KEY}`),
    inTemplate(
      'with an annotation of Culvert',
      { annotations: { 'internal.culvert.dev/token-of': 'x' } },
      `annotations ${OWN_KEY}`,
    ),
    inTemplate('with a long label', { labels: { [LONG]: 'x' } }, 'names in labels must have at most 317'),
    inTemplate(
      'with a long annotation',
      { annotations: { [LONG]: 'x' } },
      'names in annotations must have at most 317',
    ),
    inTemplate(
      'with an annotation that confines less',
      { annotations: { 'container.apparmor.security.beta.kubernetes.io/agent': 'unconfined' } },
      'annotations has a key under container.apparmor.security.beta.kubernetes.io/, which would weaken the confinement of',
    ),
    inTemplate(
      'with a long label of nodes',
      { nodeSelector: { [LONG]: 'x' } },
      'names in nodeSelector must have at most 317',
    ),
    inTemplate('that tolerates every taint', { tolerations: [{ operator: 'Exists' }] }, 'tolerations[0].key: Required'),
    inTemplate(
      'that tolerates a taint without a key',
      { tolerations: [{ key: '', operator: 'Exists' }] },
      'spec.template.tolerations[0].key in body should be at least 1 chars long',
    ),
    inTemplate(
      'that claims devices',
      { resources: { claims: [{ name: 'a' }] } },
      'unknown field "spec.template.resources.claims"',
    ),
    ...fixed,
    inAgent(
      'with an agent that has a variable of Culvert',
      { env: [{ name: 'CULVERT_LABELS', value: 'x' }] },
      'the prefix CULVERT_ is reserved for Culvert: choose another name',
    ),
    inAgent(
      'with an agent that has a variable of two values',
      { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }] },
      'set at most one of value, valueFrom',
    ),
    inAgent(
      'with an agent that has a variable from nowhere',
      { env: [{ name: 'A', valueFrom: {} }] },
      'set exactly one of configMapKeyRef, fieldRef',
    ),
    ...['readinessProbe', 'livenessProbe'].map((probe) =>
      inAgent(`with a ${probe} of nothing`, { [probe]: { periodSeconds: 1 } }, 'set exactly one of httpGet, tcpSocket'),
    ),
  ],
}
