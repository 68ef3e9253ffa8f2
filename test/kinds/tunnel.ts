import type { Body, KindTestData } from './kind-test-data.ts'
import { refuse } from './shared/refusals.ts'

const EXISTS = { key: 'pool', operator: 'Exists' }
const NODES = { matchExpressions: [{ key: 'pool', operator: 'In', values: ['edge'] }] }
const PODS = {
  topologyKey: 'kubernetes.io/hostname',
  labelSelector: { matchLabels: { app: 'shop' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
  namespaces: ['shop'],
}
const AFFINITY = {
  requiredDuringSchedulingIgnoredDuringExecution: [PODS],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: PODS }],
}
const CONTAINERS = [
  {
    name: 'agent',
    env: [{ name: 'TZ', value: 'UTC' }],
    resources: { requests: { cpu: '0.5' }, limits: { memory: '256Mi' } },
    volumeMounts: [{ name: 'settings', mountPath: '/settings', readOnly: true }],
  },
  {
    name: 'side',
    image: 'registry.example.com/agents/side:1',
    command: ['side'],
    args: ['--verbose'],
    env: [
      { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'settings', key: 'level', optional: true } } },
    ],
    volumeMounts: [{ name: 'scratch', mountPath: '/tmp', subPath: 'side' }],
  },
]
const POD = {
  nodeSelector: { pool: 'edge' },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [NODES] },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 50, preference: NODES }],
    },
    podAffinity: AFFINITY,
    podAntiAffinity: AFFINITY,
  },
  tolerations: [{ ...EXISTS, effect: 'NoExecute', tolerationSeconds: 60 }],
  topologySpreadConstraints: [
    { topologyKey: 'kubernetes.io/hostname', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', minDomains: 2 },
  ],
  priorityClassName: 'high',
  imagePullSecrets: [{ name: 'registry' }],
  terminationGracePeriodSeconds: 60,
  securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
  containers: CONTAINERS,
  volumes: [
    { name: 'settings', configMap: { name: 'settings', items: [{ key: 'a', path: 'b' }] } },
    { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
  ],
}
const AGENT = {
  image: 'registry.example.com/agents/own:1',
  args: ['--labels=$(CULVERT_LABELS)'],
  env: [{ name: 'LEVEL', value: 'info' }],
}

const inTemplate = (because: string, template: Body, message: string) => refuse(because, { template }, message)
const inPod = (because: string, spec: Body, message: string) => inTemplate(because, { spec }, message)
const inContainer = (because: string, container: Body, message: string) => {
  return inPod(because, { containers: [{ name: 'side', image: 'side:1', ...container }] }, message)
}
const inAgent = (because: string, agent: Body, message: string) => {
  return refuse(because, { credentialRef: undefined, agent: { ...AGENT, ...agent } }, message)
}

const LONG = 'a'.repeat(318)
const NOT_IN = { labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn' }] } }
const LONG_SELECTOR = { labelSelector: { matchLabels: { ['a'.repeat(600)]: 'b' } } }
const VALUES = 'values goes with the operators In and NotIn, and only with these'
const OWN_KEY = "has a key under culvert.dev, which is Culvert's own: choose another prefix"

/** Each place of an affinity for Pods has a selector with the same rules. */
const selectors = ['podAffinity', 'podAntiAffinity'].flatMap((field) =>
  [
    { selector: NOT_IN, message: VALUES },
    { selector: LONG_SELECTOR, message: 'matchLabels takes at most 512 bytes in all' },
  ].flatMap(({ selector, message }) => {
    const term = { ...PODS, ...selector }
    const places = {
      requiredDuringSchedulingIgnoredDuringExecution: [term],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }],
    }
    return Object.entries(places).map(([place, terms]) => {
      return inPod(
        `with ${field}.${place} by a selector that selects nothing: ${message.slice(0, 11)}`,
        {
          affinity: { [field]: { [place]: terms } },
        },
        message,
      )
    })
  }),
)

/** What is fixed has no field. Without strict validation, which `kubectl` asks for, it is pruned. */
const noField = (field: string) => `unknown field "spec.template.spec.${field}"`
const SECRET = { secretKeyRef: { name: 'payroll', key: 'a' } }
const fixed = [
  ...Object.entries({
    serviceAccountName: 'default',
    automountServiceAccountToken: true,
    hostNetwork: true,
    hostPID: true,
    hostIPC: true,
    shareProcessNamespace: true,
    initContainers: [{ name: 'a', image: 'a:1' }],
  }).map(([field, value]) => inPod(`with ${field}`, { [field]: value }, noField(field))),
  ...Object.entries({ runAsNonRoot: false, seccompProfile: { type: 'Unconfined' }, supplementalGroups: [0] }).map(
    ([field, value]) =>
      inPod(
        `with securityContext.${field}`,
        { securityContext: { [field]: value } },
        noField(`securityContext.${field}`),
      ),
  ),
  ...Object.entries({
    secret: { secretName: 'payroll' },
    hostPath: { path: '/' },
    projected: { sources: [{ serviceAccountToken: { path: 'token' } }] },
    persistentVolumeClaim: { claimName: 'a' },
  }).map(([field, value]) => {
    return inPod(
      `with a volume of ${field}`,
      { volumes: [{ name: 'a', [field]: value }] },
      noField(`volumes[0].${field}`),
    )
  }),
  ...Object.entries({
    securityContext: { privileged: true },
    envFrom: [{ secretRef: { name: 'payroll' } }],
    ports: [{ containerPort: 1, hostPort: 1 }],
    lifecycle: { postStart: { exec: { command: ['a'] } } },
  }).map(([field, value]) =>
    inContainer(`with ${field} of a container`, { [field]: value }, noField(`containers[0].${field}`)),
  ),
  inContainer(
    'with a variable from a Secret',
    { env: [{ name: 'A', valueFrom: SECRET }] },
    noField('containers[0].env[0].valueFrom.secretKeyRef'),
  ),
]

export const tunnel: KindTestData = {
  kind: 'Tunnel',
  accepted: {
    backendRef: { name: 'shop' },
    service: { name: 'shop', port: 80 },
    replicas: 3,
    credentialRef: { name: 'shop', privateKeySecretRef: { name: 'shop', key: 'id_ed25519' } },
    keyRotation: { interval: '720h' },
    template: {
      metadata: { labels: { team: 'shop' }, annotations: { 'example.com/scrape': 'true' } },
      spec: POD,
    },
  },
  refusals: [
    refuse(
      'with keys of minutes',
      { keyRotation: { interval: '10m' } },
      'interval must be from 1h to 8760h: write it as',
    ),
    refuse('with a key and an agent that takes a token', { agent: AGENT }, 'set at most one of agent, credentialRef'),
    inTemplate('with a label of Culvert', { metadata: { labels: { 'culvert.dev/tunnel': 'x' } } }, `labels ${OWN_KEY}`),
    inTemplate(
      'with an annotation of Culvert',
      { metadata: { annotations: { 'internal.culvert.dev/token-of': 'x' } } },
      `annotations ${OWN_KEY}`,
    ),
    inTemplate('with a long label', { metadata: { labels: { [LONG]: 'x' } } }, 'labels takes names of at most 317'),
    inTemplate(
      'with a long annotation',
      { metadata: { annotations: { [LONG]: 'x' } } },
      'annotations takes names of at most 317',
    ),
    inTemplate(
      'with an annotation that confines less',
      { metadata: { annotations: { 'container.apparmor.security.beta.kubernetes.io/agent': 'unconfined' } } },
      'annotations has a key under container.apparmor.security.beta.kubernetes.io/, which would weaken what confines',
    ),
    inPod('with a long label of nodes', { nodeSelector: { [LONG]: 'x' } }, 'nodeSelector takes names of at most 317'),
    inContainer('with another image of the agent', { name: 'agent' }, 'image, command and args of the container agent'),
    inContainer('with a container that has no image', { image: undefined }, 'image is required for a container beside'),
    inContainer(
      'with a variable of Culvert',
      { env: [{ name: 'CULVERT_TOKEN', value: 'x' }] },
      "name begins with CULVERT_, which is Culvert's own: choose another name",
    ),
    inContainer(
      'with a variable of two values',
      { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }] },
      'set at most one of value, valueFrom',
    ),
    inContainer(
      'with a variable from nowhere',
      { env: [{ name: 'A', valueFrom: {} }] },
      'set exactly one of configMapKeyRef, fieldRef',
    ),
    inContainer(
      'with requests of a long resource',
      { resources: { requests: { [LONG]: '1' } } },
      'requests takes names of at most 253',
    ),
    inContainer(
      'with limits of a long resource',
      { resources: { limits: { [LONG]: '1' } } },
      'limits takes names of at most 253',
    ),
    inContainer(
      'with the volume of the key',
      { volumeMounts: [{ name: 'key', mountPath: '/key' }] },
      'name is that of the volume key, which only the agent mounts',
    ),
    inContainer(
      'with a volume over the key',
      { volumeMounts: [{ name: 'a', mountPath: '/etc/culvert/key' }] },
      'mountPath is in /etc/culvert, where Culvert mounts its files: choose another folder',
    ),
    inContainer(
      'with a volume that is not there',
      { volumeMounts: [{ name: 'a', mountPath: '/a' }] },
      'volumeMounts of containers names a volume that is not in volumes: add it there',
    ),
    inPod(
      'with another volume for the key',
      { volumes: [{ name: 'key', emptyDir: {} }] },
      "name is that of the volume key, which is Culvert's own",
    ),
    inPod('with a volume of nothing', { volumes: [{ name: 'a' }] }, 'set exactly one of configMap, emptyDir'),
    ...fixed,
    inPod('as root', { securityContext: { runAsUser: 0 } }, 'runAsUser in body should be greater than or equal to 1'),
    ...selectors,
    inAgent(
      'with an agent that has a variable of Culvert',
      { env: [{ name: 'CULVERT_LABELS', value: 'x' }] },
      "name begins with CULVERT_, which is Culvert's own: choose another name",
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
