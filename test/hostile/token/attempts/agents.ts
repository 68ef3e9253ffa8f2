import { type Attempt, type Fields, mark, type Scene, thing } from '../support/attempt.ts'

const CONFINED = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }
const FOREIGN = 'registry.example.com/agents/own:1'
const NAME = 'tunnel-tunnel'
const CULVERT = 'culvert.dev/tunnel'
/** Labels of what the Tunnel `tunnel` consists of. */
export const LABELS = {
  'app.kubernetes.io/managed-by': 'culvert',
  'app.kubernetes.io/name': 'culvert-agent',
  'app.kubernetes.io/instance': 'tunnel',
  [CULVERT]: 'tunnel',
}

/** What only the template of a Tunnel or a thief adds, by path; `undefined` removes a field. */
interface Change {
  readonly spec?: Fields
  readonly pod?: Fields
  readonly podMetadata?: Fields
  readonly container?: Fields
  readonly name?: string
}

/** A Deployment as the operator writes it, for another image than Culvert's unless a change says so. */
function deployment(scene: Scene, { spec, pod, podMetadata, container, name = NAME }: Change): Attempt {
  const agent = {
    name: 'agent',
    image: FOREIGN,
    securityContext: CONFINED,
    volumeMounts: [{ name: 'key', mountPath: '/etc/culvert/key', readOnly: true }],
    ...container,
  }
  const items = [{ key: 'token', path: 'token' }]
  return {
    verb: 'create',
    on: thing('/apis/apps/v1', 'deployments', name, scene.tenant, {
      kind: 'Deployment',
      metadata: { ...mark(scene, 'Tunnel'), labels: LABELS },
      spec: {
        replicas: 2,
        selector: { matchLabels: { [CULVERT]: 'tunnel' } },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        ...spec,
        template: {
          metadata: { labels: LABELS, ...podMetadata },
          spec: {
            serviceAccountName: NAME,
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            terminationGracePeriodSeconds: 45,
            securityContext: {
              runAsNonRoot: true,
              runAsUser: 65_532,
              runAsGroup: 65_532,
              fsGroup: 65_532,
              seccompProfile: { type: 'RuntimeDefault' },
            },
            containers: [agent],
            volumes: [{ name: 'key', secret: { secretName: 'tunnel-tunnel-token-1', defaultMode: 0o440, items } }],
            ...pod,
          },
        },
      },
    }),
  }
}

const PAYROLL = { secretKeyRef: { name: 'payroll', key: 'a' } }
const items = [{ key: 'a', path: 'token' }]
/** Culvert's image, as the chart has it in these tests. */
const OWN_IMAGE = 'registry.example.com/culvert:stolen'
const own = (more: Fields): Change => ({ container: { image: OWN_IMAGE, ...more } })
const args = (...more: readonly string[]): Change => own({ args: ['agent', '--key=/etc/culvert/key/id', ...more] })
const pod = (fields: Fields): Change => ({ pod: fields })
const container = (fields: Fields): Change => ({ container: fields })

/** Each with the field that the refusal names, below `spec.template.spec` unless it begins otherwise. */
const BEYOND: Readonly<Record<string, readonly [change: Change, field: string]>> = {
  'under the name of another workload': [
    { name: 'external-dns', pod: { serviceAccountName: 'external-dns' } },
    'names the objects of a Tunnel after the Tunnel',
  ],
  'with a container next to it': [
    pod({
      containers: [
        { name: 'agent', image: FOREIGN },
        { name: 'side', image: FOREIGN },
      ],
    }),
    'containers',
  ],
  'by an image that nobody listed': [container({ image: 'registry.example.com/agents' }), 'containers[0].image'],
  'with an init container': [pod({ initContainers: [{ name: 'first', image: FOREIGN }] }), 'initContainers'],
  'with a volume next to its key': [
    pod({
      volumes: [
        { name: 'key', secret: { secretName: 'a' } },
        { name: 'b', emptyDir: {} },
      ],
    }),
    'volumes',
  ],
  'with another Secret as its volume': [
    pod({ volumes: [{ name: 'key', secret: { secretName: 'payroll', defaultMode: 0o440, items } }] }),
    'volumes[0].secret.secretName',
  ],
  'as another ServiceAccount': [pod({ serviceAccountName: 'default' }), 'serviceAccountName'],
  'with a token': [pod({ automountServiceAccountToken: true }), 'automountServiceAccountToken'],
  'on the network of the host': [pod({ hostNetwork: true }), 'hostNetwork'],
  'on a node of its choice': [pod({ nodeName: 'control-plane' }), 'nodeName'],
  'with a runtime class': [pod({ runtimeClassName: 'unconfined' }), 'runtimeClassName'],
  'with names of hosts': [pod({ hostAliases: [{ ip: '10.0.0.1', hostnames: ['bank'] }] }), 'hostAliases'],
  'tolerating every taint': [pod({ tolerations: [{ operator: 'Exists' }] }), 'tolerations'],
  'before every other Pod': [pod({ priorityClassName: 'system-node-critical' }), 'priorityClassName'],
  'without AppArmor': [
    pod({ securityContext: { appArmorProfile: { type: 'Unconfined' } } }),
    'securityContext.appArmorProfile',
  ],
  'with options of SELinux': [
    container({ securityContext: { ...CONFINED, seLinuxOptions: { type: 'spc_t' } } }),
    'containers[0].securityContext.seLinuxOptions',
  ],
  'with a setting of the kernel': [
    pod({ securityContext: { sysctls: [{ name: 'net.ipv4.ip_forward', value: '1' }] } }),
    'securityContext.sysctls',
  ],
  'with an unmasked /proc': [
    { pod: { hostUsers: false }, container: { securityContext: { ...CONFINED, procMount: 'Unmasked' } } },
    'containers[0].securityContext.procMount',
  ],
  'with a capability': [
    container({ securityContext: { ...CONFINED, capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } } }),
    'containers[0].securityContext.capabilities.add',
  ],
  'on a port of the host': [
    container({ ports: [{ name: 'health', containerPort: 8080, hostPort: 80 }] }),
    'containers[0].ports',
  ],
  'with a probe of another host': [
    container({ readinessProbe: { httpGet: { host: '169.254.169.254', path: '/', port: 80 } } }),
    'containers[0].readinessProbe.httpGet.host',
  ],
  'with a command in a probe': [
    container({ livenessProbe: { exec: { command: ['a'] } } }),
    'containers[0].livenessProbe.exec',
  ],
  'with a command at its start': [
    container({ lifecycle: { postStart: { exec: { command: ['a'] } } } }),
    'containers[0].lifecycle',
  ],
  'with a Secret in its environment': [container({ env: [{ name: 'A', valueFrom: PAYROLL }] }), 'containers[0].env'],
  'with all of a Secret in its environment': [
    container({ envFrom: [{ secretRef: { name: 'payroll' } }] }),
    'containers[0].envFrom',
  ],
  'with an annotation for another webhook': [
    { podMetadata: { annotations: { 'vault.hashicorp.com/agent-inject': 'true' } } },
    'spec.template.metadata.annotations.vault.hashicorp.com/agent-inject',
  ],
  'with a label for another Service': [
    { podMetadata: { labels: { ...LABELS, app: 'bank' } } },
    'spec.template.metadata.labels.app',
  ],
  'a thousand times': [{ spec: { replicas: 1_000 } }, 'spec.replicas'],
  'with a program of its own in the image of Culvert': [
    own({ command: ['node', '-e', 'stolen'] }),
    'containers[0].command',
  ],
  'with another command of Culvert': [own({ args: ['operator'] }), 'containers[0].args'],
  'with a flag that agents do not have': [args('--inspect=0.0.0.0:9229'), 'containers[0].args'],
  'to another gateway': [args('--gateway=evil.example.com:22'), 'containers[0].args'],
  'to a Service of another namespace': [args('--forward=app=shop=bank.other.svc:80'), 'containers[0].args'],
  'to any address': [args('--forward=app=shop=169.254.169.254:80'), 'containers[0].args'],
  'with variables in the image of Culvert': [
    own({ args: ['agent'], env: [{ name: 'NODE_OPTIONS', value: '--require=/etc/culvert/key/id' }] }),
    'containers[0].env',
  ],
}

/** Deployments of a Tunnel that the operator never writes, whatever the template, and what is said of them. */
export const agentAttempts = Object.entries(BEYOND).map(([what, [change, field]]) => {
  const says = field.includes(' ')
    ? field
    : `deployments.${field.startsWith('spec.') ? field : `spec.template.spec.${field}`}`
  return [`run agents of a Tunnel ${what}`, (scene: Scene) => deployment(scene, change), says] as const
})

/** The same without a change, which the operator writes. */
export const permittedAgent = (scene: Scene): Attempt => deployment(scene, {})

const parts = (collection: string, plural: string, kind: string, fields: Fields) => {
  return (scene: Scene): Attempt => ({
    verb: 'create',
    on: thing(collection, plural, NAME, scene.tenant, {
      kind,
      ...fields,
      metadata: { ...mark(scene, 'Tunnel'), labels: LABELS, ...(fields.metadata as Fields | undefined) },
    }),
  })
}
const selector = { matchLabels: { [CULVERT]: 'tunnel' } }
const role = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/admin' }
const note = { 'internal.culvert.dev/output-of': 'Tunnel/tunnel' }

/** What else a Tunnel owns, as the operator never writes it. */
export const partAttempts: readonly (readonly [what: string, attempt: (scene: Scene) => Attempt, says: string])[] = [
  [
    'create a ServiceAccount of a Tunnel with a role in the cloud',
    parts('/api/v1', 'serviceaccounts', 'ServiceAccount', {
      automountServiceAccountToken: false,
      metadata: { annotations: { ...note, ...role } },
    }),
    'serviceaccounts.metadata.annotations.eks.amazonaws.com/role-arn',
  ],
  [
    'create a ServiceAccount of a Tunnel whose token Pods get',
    parts('/api/v1', 'serviceaccounts', 'ServiceAccount', { automountServiceAccountToken: true }),
    'serviceaccounts.automountServiceAccountToken',
  ],
  [
    'block every drain of a node by a PodDisruptionBudget',
    parts('/apis/policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', {
      spec: { maxUnavailable: 0, selector: {} },
    }),
    'poddisruptionbudgets.spec.maxUnavailable',
  ],
  [
    'count Pods of others in a PodDisruptionBudget',
    parts('/apis/policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', {
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'bank' } } },
    }),
    'poddisruptionbudgets.spec.selector.matchLabels',
  ],
]

/** What a Tunnel owns, as the operator writes it. */
export const permittedParts: readonly ((scene: Scene) => Attempt)[] = [
  parts('/api/v1', 'serviceaccounts', 'ServiceAccount', { automountServiceAccountToken: false }),
  parts('/apis/policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', { spec: { maxUnavailable: 1, selector } }),
]
