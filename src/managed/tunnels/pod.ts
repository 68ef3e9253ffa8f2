import { hostKeyOf } from '../../ssh/key-formats.ts'
import type { AccountSpec } from '../descriptor/account.ts'
import type { ForeignAgent } from '../descriptor/pod/agent.ts'
import { AGENT, KEY_VOLUME, OWN_FOLDER, OWN_VARIABLES } from '../descriptor/pod/container.ts'
import type { TunnelSpec } from '../descriptor/tunnel.ts'
import { TOKEN_VERSION } from '../names.ts'
import { workloadName } from './tunnel-resource.ts'

/** The Pods of agents as Culvert writes them. */

/** A private key or a token that agents mount. */
export interface MountedKey {
  readonly secret: string
  readonly key: string
}

/** What the Pods of a Tunnel are made from, beside its spec. */
export interface TunnelFacts {
  readonly name: string
  readonly namespace: string
  /** Labels of its Backend. */
  readonly labels: Readonly<Record<string, string>>
  readonly key: MountedKey
  readonly agent: AgentFacts
}

/** Which agent runs. */
export type AgentFacts =
  /** `culvert agent`, by Culvert's image. */
  | {
      readonly type: 'own'
      readonly image: string
      readonly gateway: NonNullable<AccountSpec['sshGateway']>
    }
  /** Another one, which starts anew when `version`, that of its token, changes. */
  | { readonly type: 'foreign'; readonly spec: ForeignAgent; readonly version: string | undefined }

/** A container of a Pod, as far as Culvert writes it. */
export interface Container {
  readonly name: string
  readonly image: string
  readonly securityContext: object
  readonly env?: readonly Named[]
  readonly resources?: object
  readonly volumeMounts?: readonly Mount[]
  readonly [field: string]: unknown
}

interface Mount extends Named {
  readonly mountPath: string
}

/** The `template` of a Deployment, as far as Culvert writes it. */
export interface Pod {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly serviceAccountName: string
    readonly securityContext: Readonly<Record<string, unknown>>
    readonly topologySpreadConstraints: readonly object[]
    readonly containers: readonly Container[]
    readonly volumes: readonly Named[]
    readonly [field: string]: unknown
  }
}

/** Where an agent finds its key or token. */
const KEY_FOLDER = `${OWN_FOLDER}/key`
const KEY_FILE = 'id'
const TOKEN_FILE = 'token'
/** How long Kubernetes waits for an agent to end, in seconds. */
export const GRACE_SECONDS = 45
/** What of that time is left for an agent once its open connections have had theirs, in seconds. */
const SPARE_SECONDS = 15
const HEALTH_PORT = 8080
/** The user of the image, which must be able to read the key. */
const USER = 65_532
const CONNECTIONS = 500

/** Required of every container: the Pod Security Standard `restricted`. */
const CONFINED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const

/** How long a former key is kept once no new session uses it, in milliseconds: longer than an agent takes to end. */
export const RETIRE_MS = (GRACE_SECONDS + SPARE_SECONDS) * 1000

/**
 * The Pods of a Tunnel; `selector` finds them. Pure. What is not taken from the template by name is not taken at all: a
 * CRD that somebody changed gives nobody more.
 */
export function agentPod(
  spec: TunnelSpec,
  facts: TunnelFacts,
  { selector, labels }: { readonly selector: object; readonly labels: Pod['metadata']['labels'] },
): Pod {
  const { agent } = facts
  const { template = {} } = spec
  const { nodeSelector, affinity, tolerations, priorityClassName, topologySpreadConstraints = SPREAD } = template
  const version = agent.type === 'foreign' ? agent.version : undefined
  const annotations = { ...template.annotations, ...(version === undefined ? {} : { [TOKEN_VERSION]: version }) }
  return {
    metadata: {
      labels: { ...template.labels, ...labels },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
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
      topologySpreadConstraints: topologySpreadConstraints.map((each) => ({ labelSelector: selector, ...each })),
      ...given({ nodeSelector, affinity, tolerations, priorityClassName }),
      containers: [agent.type === 'own' ? ownAgent(spec, facts, agent) : foreignAgent(spec, facts, agent)],
      volumes: [keyVolume(facts)],
    },
  }
}

/** How agents are spread, unless the template says so. */
const SPREAD: readonly Readonly<Record<string, unknown>>[] = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
].map((topologyKey) => ({ maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', topologyKey }))

function keyVolume({ key, agent }: TunnelFacts): Named {
  const items = [{ key: key.key, path: agent.type === 'own' ? KEY_FILE : TOKEN_FILE }]
  return { name: KEY_VOLUME, secret: { secretName: key.secret, defaultMode: 0o440, items } }
}

const KEY_MOUNT: Mount = { name: KEY_VOLUME, mountPath: KEY_FOLDER, readOnly: true }

/** `culvert agent`. */
function ownAgent(spec: TunnelSpec, facts: TunnelFacts, { image, gateway }: AgentOf<'own'>): Container {
  return {
    name: AGENT,
    image,
    args: agentArgs(spec, facts, gateway),
    ports: [{ name: 'health', containerPort: HEALTH_PORT }],
    readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 2, failureThreshold: 1 },
    livenessProbe: { httpGet: { path: '/healthz', port: 'health' }, periodSeconds: 10, timeoutSeconds: 5 },
    resources: resourcesOf(spec) ?? { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '512Mi' } },
    securityContext: CONFINED,
    volumeMounts: [KEY_MOUNT],
  }
}

/**
 * An agent of the service, which is told by its environment what to do: Kubernetes replaces `$(NAME)` in its arguments.
 */
function foreignAgent(tunnel: TunnelSpec, facts: TunnelFacts, { spec }: AgentOf<'foreign'>): Container {
  const { service } = tunnel
  const { image, command, args, env = [], readinessProbe, livenessProbe } = spec
  const { secret, key } = facts.key
  const host = hostOf(service, facts)
  return {
    name: AGENT,
    image,
    ...given({ command: nonEmpty(command), args: nonEmpty(args) }),
    env: [
      { name: `${OWN_VARIABLES}TOKEN`, valueFrom: { secretKeyRef: { name: secret, key } } },
      { name: `${OWN_VARIABLES}TOKEN_FILE`, value: `${KEY_FOLDER}/${TOKEN_FILE}` },
      { name: `${OWN_VARIABLES}LABELS`, value: boundText(facts) },
      { name: `${OWN_VARIABLES}UPSTREAM`, value: `${host}:${service.port}` },
      { name: `${OWN_VARIABLES}UPSTREAM_HOST`, value: host },
      { name: `${OWN_VARIABLES}UPSTREAM_PORT`, value: String(service.port) },
      ...env.map(variableOf),
    ],
    ...given({ readinessProbe, livenessProbe, resources: resourcesOf(tunnel) }),
    securityContext: CONFINED,
    volumeMounts: [KEY_MOUNT],
  }
}

function resourcesOf({ template }: TunnelSpec): object | undefined {
  const { requests, limits } = template?.resources ?? {}
  return template?.resources === undefined ? undefined : given({ requests, limits })
}

type AgentOf<Type extends AgentFacts['type']> = Extract<AgentFacts, { readonly type: Type }>

function boundText({ labels }: TunnelFacts): string {
  const bind = bindText(labels)
  if ('problem' in bind) throw new Error(bind.problem)
  return bind.text
}

function hostOf({ name }: TunnelSpec['service'], { namespace }: TunnelFacts): string {
  return `${name}.${namespace}.svc`
}

function agentArgs(spec: TunnelSpec, facts: TunnelFacts, gateway: AgentOf<'own'>['gateway']): readonly string[] {
  return [
    'agent',
    `--gateway=${gateway.address}`,
    // The key alone: another host or comment beside it replaces no agent.
    ...gateway.hostKeys.map((hostKey) => `--host-key=${hostKeyOf(hostKey) ?? hostKey}`),
    `--key=${KEY_FOLDER}/${KEY_FILE}`,
    `--forward=${boundText(facts)}=${hostOf(spec.service, facts)}:${spec.service.port}`,
    `--listen=0.0.0.0:${HEALTH_PORT}`,
    `--drain=${GRACE_SECONDS - SPARE_SECONDS}s`,
    `--connections=${CONNECTIONS}`,
    '--give-up=1m',
    '--termination-log=/dev/termination-log',
  ]
}

/** An entry of a list whose entries Kubernetes distinguishes by name. */
interface Named {
  readonly name: string
  readonly [field: string]: unknown
}

/** A variable as the API server stores it: without a value that is empty. */
function variableOf({ name, value, valueFrom }: NonNullable<ForeignAgent['env']>[number]): Named {
  if (valueFrom === undefined) return { name, ...given({ value: value === '' ? undefined : value }) }
  const { configMapKeyRef, fieldRef } = valueFrom
  return { name, valueFrom: configMapKeyRef === undefined ? { fieldRef } : { configMapKeyRef } }
}

/** The list, or undefined: the API server leaves out empty ones. */
function nonEmpty<T>(list: readonly T[] = []): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}

/** Without the fields that are undefined. */
function given(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** What the labels of a Backend bind as text, `app=shop,version=1`; a message if they cannot be written so. */
export function bindText(
  labels: Readonly<Record<string, string>>,
): { readonly text: string } | { readonly problem: string } {
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
