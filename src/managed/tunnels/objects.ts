import type { ResourceType } from '../../kube/types.ts'
import type { AccountSpec } from '../descriptor/account.ts'
import { DEFAULT_REPLICAS, type TunnelSpec } from '../descriptor/tunnel.ts'
import type { AccountName } from '../identity/attempt.ts'
import { OUTPUT_OF } from '../names.ts'
import { LABELS } from '../outputs/ownership.ts'
import { budgetType, deploymentType, keyName, PUBLIC_KEY, serviceAccountType, TUNNEL, workloadName } from './tunnel.ts'

/** What an owner consists of, without the reference to the owner. */
export interface WantedObject {
  readonly type: ResourceType
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** The other fields, such as `spec`. A field that is null must be absent. */
  readonly content: Readonly<Record<string, unknown>>
}

/** A private key that agents mount. */
export interface MountedKey {
  readonly secret: string
  readonly key: string
}

/** What the objects of a Tunnel are made from, beside its spec. */
export interface TunnelFacts {
  readonly name: string
  readonly namespace: string
  /** Labels of its Backend. */
  readonly labels: Readonly<Record<string, string>>
  readonly gateway: NonNullable<AccountSpec['sshGateway']>
  readonly key: MountedKey
  /** Image of the agents. */
  readonly image: string
}

/** Where an agent finds its key. */
const KEY_FOLDER = '/etc/culvert/key'
const KEY_FILE = 'id'
/** How long an agent lets open connections end, and how long Kubernetes waits for it, in seconds. */
const DRAIN_SECONDS = 30
export const GRACE_SECONDS = 45
const HEALTH_PORT = 8080
/** The user of the image, which must be able to read the key. */
const USER = 65_532
const CONNECTIONS = 500

/** The Deployment of a Tunnel, its ServiceAccount and its PodDisruptionBudget. Pure. */
export function tunnelObjects(spec: TunnelSpec, facts: TunnelFacts): readonly WantedObject[] {
  const name = workloadName(facts.name)
  const common = { name, ...marks(facts.name) }
  const selector = { matchLabels: { [TUNNEL]: facts.name } }
  const replicas = spec.replicas ?? DEFAULT_REPLICAS
  return [
    { ...common, type: serviceAccountType, content: { automountServiceAccountToken: false } },
    // A node is drained one agent at a time; a single agent does not block it.
    { ...common, type: budgetType, content: { spec: { maxUnavailable: 1, selector } } },
    {
      ...common,
      type: deploymentType,
      content: {
        spec: {
          replicas,
          selector,
          // A new agent is connected before one of the former leaves.
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
          template: { metadata: { labels: common.labels }, spec: podSpec(spec, facts, selector) },
        },
      },
    },
  ]
}

/** The SSHCredential for a key that Culvert made: its ACL permits exactly the labels of the Backend. Pure. */
export function tunnelCredential(
  tunnel: string,
  revision: number,
  at: { readonly labels: TunnelFacts['labels']; readonly accountRef: AccountName; readonly type: ResourceType },
): WantedObject {
  const name = keyName(tunnel, revision)
  return {
    type: at.type,
    name,
    ...marks(tunnel),
    content: {
      spec: {
        accountRef: at.accountRef,
        publicKeyFrom: { secretKeyRef: { name, key: PUBLIC_KEY } },
        acl: Object.entries(at.labels)
          .map(([label, value]) => `bind:${label}=${value}`)
          .sort(),
      },
    },
  }
}

/** Labels and annotations of all that a Tunnel owns. */
export function marks(tunnel: string): Pick<WantedObject, 'labels' | 'annotations'> {
  return {
    labels: {
      ...LABELS,
      'app.kubernetes.io/name': 'culvert-agent',
      'app.kubernetes.io/instance': tunnel,
      [TUNNEL]: tunnel,
    },
    annotations: { [OUTPUT_OF]: `Tunnel/${tunnel}` },
  }
}

/** What the labels of a Backend bind as text, `app=shop,version=1`; a message if they cannot be written so. */
export function bindText(labels: TunnelFacts['labels']): { readonly text: string } | { readonly problem: string } {
  const entries = Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1))
  if (entries.length === 0) return { problem: 'has no labels: give it at least one, by which the tunnel is found' }
  const unfit = entries.find(
    ([label, value]) => /[=,]/.test(label) || value.includes(',') || /[^!-~]/.test(label + value),
  )
  if (unfit !== undefined) {
    return {
      problem: `has the label ${JSON.stringify(unfit[0])}, which SSH cannot bind: no comma, space or = in labels`,
    }
  }
  return { text: entries.map(([label, value]) => `${label}=${value}`).join(',') }
}

function podSpec(spec: TunnelSpec, facts: TunnelFacts, labelSelector: object): object {
  const { key, image } = facts
  const spread = { maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', labelSelector }
  return {
    serviceAccountName: workloadName(facts.name),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      fsGroup: USER,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    topologySpreadConstraints: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
      ...spread,
      topologyKey,
    })),
    containers: [
      {
        name: 'agent',
        image,
        args: agentArgs(spec, facts),
        ports: [{ name: 'health', containerPort: HEALTH_PORT }],
        readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 2, failureThreshold: 1 },
        livenessProbe: { httpGet: { path: '/healthz', port: 'health' }, periodSeconds: 10, timeoutSeconds: 5 },
        resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '512Mi' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [{ name: 'key', mountPath: KEY_FOLDER, readOnly: true }],
      },
    ],
    volumes: [
      {
        name: 'key',
        secret: { secretName: key.secret, defaultMode: 0o440, items: [{ key: key.key, path: KEY_FILE }] },
      },
    ],
  }
}

function agentArgs({ service }: TunnelSpec, { gateway, labels, namespace }: TunnelFacts): readonly string[] {
  const bind = bindText(labels)
  if ('problem' in bind) throw new Error(bind.problem)
  return [
    'agent',
    `--gateway=${gateway.address}`,
    ...gateway.hostKeys.map((hostKey) => `--host-key=${hostKey}`),
    `--key=${KEY_FOLDER}/${KEY_FILE}`,
    `--forward=${bind.text}=${service.name}.${namespace}.svc:${service.port}`,
    `--listen=0.0.0.0:${HEALTH_PORT}`,
    `--drain=${DRAIN_SECONDS}s`,
    `--connections=${CONNECTIONS}`,
    '--give-up=1m',
    '--termination-log=/dev/termination-log',
  ]
}
