import { configMapType, secretType } from '../../src/kube/core-types.ts'
import { subjectAccessReviews, tokenReviews } from '../../src/kube/reviews.ts'
import type { ResourceType } from '../../src/kube/types.ts'
import { roleBindingType } from '../../src/managed/accounts/namespace-hold.ts'
import type { Descriptor } from '../../src/managed/descriptor/descriptor.ts'
import { AGENT, KEY_VOLUME, OWN_FOLDER, OWN_VARIABLES } from '../../src/managed/descriptor/pod/container.ts'
import { type KindsRegistry, resourceTypeOf } from '../../src/managed/kinds-registry.ts'
import {
  CREATE_ATTEMPT,
  FINALIZER,
  GROUP,
  INTERNAL,
  MANAGED_BY,
  OUTPUT_OF,
  REMOTE_ID,
  SERVICE_PROBLEM,
  TEMPLATE_DIGEST,
  TOKEN_VERSION,
} from '../../src/managed/names.ts'
import { type PartKind, partKinds } from '../../src/managed/services/objects.ts'
import { SERVICE, SERVICE_READY, serviceType } from '../../src/managed/services/service.ts'
import {
  budgetType,
  deploymentType,
  PRIVATE_KEY,
  PUBLIC_KEY,
  serviceAccountType,
  TUNNEL,
} from '../../src/managed/tunnels/tunnel-resource.ts'
import { EVENT_SOURCE, events } from '../../src/runtime/events.ts'
import { leases } from '../../src/runtime/lease-lock.ts'
import { isAmong, text } from './cel-literals.ts'
import {
  anything,
  between,
  exactly,
  type Field,
  fromServer,
  listOf,
  map,
  matching,
  type ObjectShape,
  object,
  oneOf,
  required,
  type Shape,
  value,
} from './shape.ts'

/**
 * Every object that the operator creates or changes, field by field. The admission policy is generated from this: what
 * is not described here, the API server refuses (docs/decisions/0048-the-operators-writes-are-described.md).
 *
 * Expressions may use the variables of the policy: `name`, `note`, `owner`, `former` and those of the installation.
 */
export interface DescribedWrite {
  readonly type: Pick<ResourceType, 'group' | 'plural'>
  readonly subresource?: 'status'
  /** Which of the objects of this type, as CEL; undefined: all. */
  readonly when?: string
  readonly shape: ObjectShape
}

/** What the API server sets, or lets no one change. */
const SERVER_SET = {
  // Sent, and part of the address of the request.
  name: fromServer(anything),
  namespace: fromServer(anything),
  uid: fromServer(anything),
  resourceVersion: fromServer(anything),
  generation: fromServer(anything),
  creationTimestamp: fromServer(anything),
  managedFields: fromServer(anything),
} as const

/** Sent in some requests, and part of the address of each. */
const TYPE = { apiVersion: fromServer(anything), kind: fromServer(anything) } as const

function metadata(fields: Readonly<Record<string, Field>>): Field {
  return required(object({ ...SERVER_SET, ...fields }))
}

/** An object of Kubernetes; the API server resets a status that is written with the object. */
function whole(fields: Readonly<Record<string, Field>>): ObjectShape {
  return object({ ...TYPE, status: fromServer(anything), ...fields })
}

/** Only Culvert's own finalizer comes or goes. */
const ownFinalizer = value(
  (each) =>
    `${each}.filter(one, one != ${text(FINALIZER)}) == variables.formerFinalizers.filter(one, one != ${text(FINALIZER)})`,
)

/** Of the owners, only those that were there, and one that the operator may add. */
function owners(isNew: (owner: string) => string): Shape {
  return value((each) => `${each}.all(owner, owner in variables.formerOwners || (${isNew('owner')}))`)
}

const isController = (owner: string): string =>
  `${owner}.?controller.orValue(false) && ${owner}.all(key, key in ['apiVersion', 'controller', 'kind', 'name', 'uid'])`

/** An owner of an output: the garbage collector collects what a made-up owner has only if it knows the type. */
const isOutputOwner = (owner: string): string =>
  `${isController(owner)} && ${owner}.apiVersion in variables.ownVersions && ${owner}.kind in variables.outputs[variables.resource]` +
  ` && ${owner}.kind + '/' + ${owner}.name == variables.note`

const isPrintable = (each: string, most: number): string => `${each}.matches('^[ -~]{0,${most}}$')`

export function describedWrites(kinds: KindsRegistry): readonly DescribedWrite[] {
  const { accounts, managed, mirrors, commands, composed } = kinds
  return [
    ...[...accounts, ...managed, ...mirrors, ...commands, ...composed].map(statusWrite),
    ...[...accounts, ...managed].map(heldWrite(kinds)),
    ...mirrors.map(mirrorWrite),
    ...composed.flatMap(({ credentials }) => credentialWrites(kinds, credentials)),
    ...partKinds.map((kind) => partWrite(kinds, kind)),
    ...outputWrites,
    ...companionWrites(kinds),
    ...workloadWrites,
    ...runtimeWrites,
    serviceStatus,
  ]
}

/** A status is the operator's word: the CRD says what it may be. */
function statusWrite(descriptor: Descriptor): DescribedWrite {
  return {
    type: resourceTypeOf(descriptor),
    subresource: 'status',
    shape: object({ ...TYPE, metadata: metadata({}), status: anything }),
  }
}

/** The annotations of resources that the operator writes, once it knows their remote object. */
const ownAnnotations = map(
  (key, each) =>
    `(oldObject != null && ${key} == ${text(REMOTE_ID)} && ${isPrintable(each, 255)})` +
    ` || (oldObject != null && ${key} == ${text(CREATE_ATTEMPT)} && ${isPrintable(each, 1_000)})`,
)

/**
 * A part that a Service has left behind without an owner belongs to the next one of that name. What marks it as a part
 * is stored, and stays; nothing else may change with it.
 */
const takenBack: Shape = value((each) => {
  const label = (name: string): string => `variables.former.metadata.?labels[?${text(name)}].orValue('')`
  return [
    'oldObject != null && variables.formerOwners.size() == 0 && !variables.isProtected && variables.serviceClasses.size() > 0',
    `${each}.size() == 1 && ${isController(`${each}[0]`)}`,
    `${each}[0].apiVersion == ${text(serviceType.version)} && ${each}[0].kind == ${text(serviceType.kind)}`,
    `variables.formerNote == ${text(`${serviceType.kind}/`)} + ${each}[0].name`,
    `${label(SERVICE)} == ${each}[0].name && ${label(MANAGED_BY)} == 'culvert'`,
  ].join(' && ')
})

/** A resource that someone else has written: finalizer and bookkeeping. */
function heldWrite(kinds: KindsRegistry): (descriptor: Descriptor) => DescribedWrite {
  const parts = new Set<string>(partKinds)
  const credentials = new Set(kinds.composed.flatMap((each) => Object.values(each.credentials)))
  return (descriptor) => {
    const { kind } = descriptor.definition
    const isOwned = [
      ...(parts.has(kind) ? ['variables.isPart'] : []),
      ...(credentials.has(kind) ? ['variables.isOfTunnel'] : []),
    ]
    return {
      type: resourceTypeOf(descriptor),
      ...(isOwned.length === 0 ? {} : { when: isOwned.map((each) => `!${each}`).join(' && ') }),
      shape: object({
        ...TYPE,
        metadata: metadata({
          finalizers: ownFinalizer,
          // An account has no remote object.
          ...(descriptor.role === 'managed' ? { annotations: ownAnnotations } : {}),
          ...(parts.has(kind) ? { ownerReferences: takenBack } : {}),
        }),
      }),
    }
  }
}

/** Mirrors belong to their account, in whichever namespace. */
function mirrorWrite(descriptor: Descriptor): DescribedWrite {
  const isAccount = (owner: string): string =>
    `${owner}.kind in ['Account', 'ClusterAccount'] && ${owner}.apiVersion in variables.ownVersions` +
    ` && ${owner}.all(key, key in ['apiVersion', 'kind', 'name', 'uid'])`
  return {
    type: resourceTypeOf(descriptor),
    shape: object({
      ...TYPE,
      metadata: metadata({
        labels: map((key) => `${key}.startsWith(${text(`${GROUP}/`)})`),
        ownerReferences: owners(isAccount),
      }),
      spec: fromServer(object({})),
    }),
  }
}

const accountRef = object({
  kind: required(oneOf('Account', 'ClusterAccount')),
  name: required(anything),
})

/** Labels and annotations of what a Tunnel consists of. */
const tunnelLabels: Field = required(
  map(
    (key, each) =>
      `(${key} == ${text(MANAGED_BY)} && ${each} == 'culvert') || (${key} == 'app.kubernetes.io/name' && ${each} == 'culvert-agent')` +
      ` || (${key} in ['app.kubernetes.io/instance', ${text(TUNNEL)}] && ${each} == variables.ownerName)`,
  ),
)

const noted = (more: (key: string, each: string) => string): Field =>
  required(
    map(
      (key, each) =>
        `(${key} == ${text(OUTPUT_OF)} && ${each} == variables.owner.kind + '/' + variables.ownerName) || ${more(key, each)}`,
    ),
  )
const nothingElse = (): string => 'false'

/** What is created has its owner as the only one, and keeps its owners. */
const oneOwner: Field = required(
  value((each) => `oldObject == null && ${each}.size() == 1 && ${isController(`${each}[0]`)}`),
)

/** Metadata of what a Tunnel consists of. */
const ofTunnel = (annotations: (key: string, each: string) => string = nothingElse): Field =>
  metadata({ labels: tunnelLabels, annotations: noted(annotations), ownerReferences: oneOwner })

function credentialWrites(
  kinds: KindsRegistry,
  credentials: Readonly<Record<'key' | 'token', string>>,
): readonly DescribedWrite[] {
  const acl = required(
    listOf(
      value((each) => `${each}.startsWith('bind:') && ${each}.contains('=')`),
      { least: 1 },
    ),
  )
  const publicKey = required(
    object({
      secretKeyRef: required(object({ name: required(exactly('variables.name')), key: required(oneOf(PUBLIC_KEY)) })),
    }),
  )
  const specs = { key: { publicKeyFrom: publicKey }, token: {} }
  return (['key', 'token'] as const).map((form) => ({
    type: kinds.resourceType(credentials[form]),
    when: 'variables.isOfTunnel',
    shape: whole({
      metadata: metadata({
        labels: tunnelLabels,
        // In addition to those of its owner, the resource has those of any other.
        annotations: noted(ownAnnotations.holds),
        ownerReferences: oneOwner,
        finalizers: ownFinalizer,
      }),
      spec: required(object({ accountRef: required(accountRef), acl, ...specs[form] })),
    }),
  }))
}

/** What a Service consists of: named after it, and as the operator writes it. */
function partWrite(kinds: KindsRegistry, kind: PartKind): DescribedWrite {
  return {
    type: kinds.resourceType(kind),
    when: 'variables.isPart',
    shape: whole({
      metadata: metadata({
        labels: required(
          map(
            (key, each) =>
              `(${key} == ${text(MANAGED_BY)} && ${each} == 'culvert') || (${key} == ${text(SERVICE)} && ${each} == variables.ownerName)`,
          ),
        ),
        annotations: noted(
          kind === 'Edge'
            ? (key, each) =>
                `${ownAnnotations.holds(key, each)} || (${key} == ${text(SERVICE_PROBLEM)} && ${each}.size() <= 4000)`
            : ownAnnotations.holds,
        ),
        ownerReferences: oneOwner,
        // What a Tunnel consists of is collected as garbage.
        ...(kind === 'Tunnel' ? {} : { finalizers: ownFinalizer }),
      }),
      spec: required(object(partSpecs[kind])),
    }),
  }
}

const described = value(
  (each) => `${each}.startsWith('Service ' + request.namespace + '/' + variables.ownerName + ', port ')`,
)
const sameName = object({ name: required(exactly('variables.name')) })
const either = value((each) => `${each} in [true, false]`)

/** As `src/managed/services/objects.ts` and `closing.ts` write them. */
const partSpecs: Readonly<Record<PartKind, Readonly<Record<string, Field>>>> = {
  ReservedAddress: { accountRef, description: described },
  ReservedDomain: {
    accountRef,
    domain: required(anything),
    certificate: required(
      object({
        type: required(oneOf('Managed')),
        managed: required(
          object({ authority: required(oneOf('LetsEncrypt')), privateKeyType: required(oneOf('ECDSA')) }),
        ),
      }),
    ),
  },
  Backend: {
    accountRef,
    description: described,
    type: required(oneOf('TunnelGroup')),
    tunnelGroup: required(
      object({
        labels: required(
          map(
            (key, each) =>
              `${key} == ${text(SERVICE)} && ${each}.startsWith(request.namespace + '/' + variables.ownerName + '/')` +
              ` && ${each}.endsWith('/' + variables.owner.uid)`,
          ),
        ),
      }),
    ),
  },
  Edge: {
    accountRef,
    description: described,
    protocol: required(oneOf('TCP', 'TLS')),
    hostports: required(
      listOf(
        object({
          type: required(oneOf('ReservedAddress', 'ReservedDomain')),
          reservedAddressRef: sameName,
          reservedDomainRef: object({
            name: required(value((each) => `${each}.startsWith(variables.ownerName + '-')`)),
          }),
          port: between(1, 65_535),
        }),
        { least: 1, most: 1 },
      ),
    ),
    tlsTermination: object({ enabled: required(exactly('true')), terminateAt: required(oneOf('Edge')) }),
    backend: required(object({ enabled: required(either), name: required(exactly('variables.name')) })),
    ipRestriction: object({
      enabled: required(exactly('true')),
      ipPolicyRefs: required(listOf(object({ name: required(anything) }), { least: 1 })),
    }),
  },
  Tunnel: {
    backendRef: required(sameName),
    service: required(object({ name: required(exactly('variables.ownerName')), port: required(between(1, 65_535)) })),
    replicas: fromServer(between(1, 32)),
  },
}

/** Secrets, ConfigMaps and companions that resources write into, and the operator's own Secrets. */
const outputMetadata = metadata({
  // spec.output sets labels and annotations, for reflectors and reloaders.
  labels: map((key, each) => `${key} != ${text(MANAGED_BY)} || ${each} == 'culvert'`),
  annotations: map((key, each) => `${key} != ${text(OUTPUT_OF)} || ${each}.contains('/')`),
  ownerReferences: owners(isOutputOwner),
})

const outputWrites: readonly DescribedWrite[] = [
  {
    type: secretType,
    when: '!variables.isOwnSecret && !variables.isOfTunnel',
    shape: whole({ metadata: outputMetadata, type: required(oneOf('Opaque')), data: anything }),
  },
  {
    type: secretType,
    when: 'variables.isOfTunnel',
    shape: whole({
      metadata: ofTunnel(),
      type: required(oneOf('Opaque')),
      data: required(object({ [PRIVATE_KEY]: required(anything), [PUBLIC_KEY]: required(anything) })),
    }),
  },
  {
    type: secretType,
    when: 'variables.isOwnSecret',
    shape: whole({
      metadata: metadata({
        labels: required(map((key, each) => `${key} == ${text(MANAGED_BY)} && ${each} == 'culvert'`)),
      }),
      type: required(oneOf('Opaque')),
      immutable: exactly('true'),
      data: required(object({ apiKey: anything, salt: anything })),
    }),
  },
  { type: configMapType, shape: whole({ metadata: outputMetadata, data: anything }) },
]

/** The content of a companion is the descriptor's rule, which is a validation of its own. */
function companionWrites({ managed }: KindsRegistry): readonly DescribedWrite[] {
  const companions = new Map(
    managed.flatMap(({ companion }) => (companion === undefined ? [] : [[companion.type.kind, companion] as const])),
  )
  return [...companions.values()].map(({ type }) => ({
    type,
    shape: whole({ metadata: outputMetadata, spec: anything }),
  }))
}

const isAgent = `(variables.agentImage != '' && object.spec.template.spec.containers[0].image == variables.agentImage)`

/** What authors of a Tunnel's template decide, if the administrator allows it. */
const ofTemplate = (holds: (each: string) => string): Shape => value((each) => `variables.templates && ${holds(each)}`)

const isAllowedKey = (key: string): string => isAmong(key, 'variables.metadataKeys')

/** What `kubectl rollout restart` writes, in RFC 3339. */
const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt'
const TIME = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}(Z|[+-][0-9]{2}:[0-9]{2})'

const podMetadata: Field = required(
  object({
    creationTimestamp: fromServer(exactly('null')),
    labels: required(
      map(
        (key, each) =>
          `(${key} == ${text(MANAGED_BY)} ? ${each} == 'culvert' : ${key} == 'app.kubernetes.io/name' ? ${each} == 'culvert-agent'` +
          ` : ${key} in ['app.kubernetes.io/instance', ${text(TUNNEL)}] ? ${each} == variables.ownerName` +
          ` : variables.templates && ${isAllowedKey(key)})`,
      ),
    ),
    annotations: map(
      (key, each) =>
        `(${key} == ${text(TOKEN_VERSION)} && ${isPrintable(each, 255)})` +
        ` || (${key} == ${text(RESTARTED_AT)} && ${each}.matches(${text(`^${TIME}$`)}))` +
        ` || (variables.templates && !${key}.startsWith(${text(`${INTERNAL}/`)}) && ${isAllowedKey(key)})`,
    ),
  }),
)

/** The words of Culvert's own agent, as `src/managed/tunnels/pod.ts` writes them. */
const argument = (each: string): string => {
  const patterns = [
    '--host-key=[-a-z0-9@.]+ [A-Za-z0-9+/=]+',
    `--key=${OWN_FOLDER}/key/id`,
    '--listen=0[.]0[.]0[.]0:8080',
    '--drain=[0-9]{1,5}s',
    '--connections=[0-9]{1,5}',
    '--give-up=[0-9]{1,3}m',
    '--termination-log=/dev/termination-log',
  ]
  return [
    `${each}.matches(${text(`^(${patterns.join('|')})$`)})`,
    `(${each}.startsWith('--gateway=') && variables.gateways.exists(gateway, gateway.startsWith('*.')` +
      ` ? ${each}.endsWith(gateway.substring(1)) && ${each}.matches('^--gateway=[-.a-zA-Z0-9]+:[0-9]+$') : ${each} == '--gateway=' + gateway))`,
    `${each}.matches('^--forward=[^ ]+=[^ ]*=[a-z]([-a-z0-9]*[a-z0-9])?[.]' + request.namespace + '[.]svc:[0-9]{1,5}$')`,
  ].join(' || ')
}

/** The probes of the agent's container, whether Culvert's own or those of `spec.agent`. */
const probe = object({
  httpGet: object({
    path: required(matching('/[!-~]*')),
    port: required(anything),
    scheme: fromServer(oneOf('HTTP')),
  }),
  tcpSocket: object({ port: required(anything) }),
  ...Object.fromEntries(
    ['timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'].map((name) => [
      name,
      between(0, 3_600),
    ]),
  ),
})

const OWN_RESOURCES = "{'requests': {'cpu': '10m', 'memory': '64Mi'}, 'limits': {'memory': '512Mi'}}"
const keyMount = object({
  name: required(oneOf(KEY_VOLUME)),
  mountPath: required(oneOf(`${OWN_FOLDER}/key`)),
  readOnly: required(exactly('true')),
})

const agentContainer = object({
  name: required(oneOf(AGENT)),
  image: required(value((each) => `${isAgent} || (variables.templates && ${isAmong(each, 'variables.agentImages')})`)),
  imagePullPolicy: fromServer(oneOf('Always', 'IfNotPresent')),
  command: value(() => `!${isAgent}`),
  args: value(
    (each) => `!${isAgent} || (${each}[0] == 'agent' && ${each}.all(word, word == 'agent' || ${argument('word')}))`,
  ),
  env: value(
    (each) =>
      `!${isAgent} && ${each}.all(one, one.all(key, key in ['name', 'value', 'valueFrom']) && (!has(one.valueFrom) || one.valueFrom.all(source,` +
      ` source in ['configMapKeyRef', 'fieldRef'] || (source == 'secretKeyRef' && one.name == '${OWN_VARIABLES}TOKEN' && ${isOwnToken('one.valueFrom.secretKeyRef.name')}))))`,
  ),
  ports: listOf(
    object({
      name: required(oneOf('health')),
      containerPort: required(exactly('8080')),
      protocol: fromServer(oneOf('TCP')),
    }),
  ),
  readinessProbe: probe,
  livenessProbe: probe,
  resources: value(
    (each) =>
      `${each} == ${OWN_RESOURCES} || ${each}.size() == 0 || (variables.templates && ${each}.all(key, key in ['limits', 'requests']))`,
  ),
  securityContext: required(
    object({
      allowPrivilegeEscalation: required(exactly('false')),
      readOnlyRootFilesystem: required(exactly('true')),
      capabilities: required(object({ drop: required(exactly("['ALL']")) })),
    }),
  ),
  volumeMounts: required(listOf(keyMount, { least: 1, most: 1 })),
  terminationMessagePath: fromServer(oneOf('/dev/termination-log')),
  terminationMessagePolicy: fromServer(oneOf('File')),
})

function isOwnToken(each: string): string {
  return `${each}.startsWith(variables.ownerName + '-tunnel-token-')`
}

/**
 * The key or token of the agent, as one file. A Tunnel with `credentialRef` names the Secret with its key, so that only
 * an agent of Culvert's image, which does nothing with a key but connect, may get one of any name.
 */
const keyVolume = object({
  name: required(oneOf(KEY_VOLUME)),
  secret: required(
    object({
      secretName: required(value((each) => `${isAgent} || ${isOwnToken(each)}`)),
      defaultMode: required(exactly('288')),
      items: required(
        listOf(object({ key: required(anything), path: required(oneOf('id', 'token')) }), { least: 1, most: 1 }),
      ),
    }),
  ),
})

const user = required(exactly('65532'))

/** The Pods of agents. The whole template is the operator's: it has nothing that is not described here. */
const podTemplate: Field = required({
  ...object({
    metadata: podMetadata,
    spec: required(
      object({
        serviceAccountName: required(exactly('variables.name')),
        serviceAccount: fromServer(exactly('variables.name')),
        automountServiceAccountToken: required(exactly('false')),
        enableServiceLinks: required(exactly('false')),
        terminationGracePeriodSeconds: required(between(0, 3_600)),
        restartPolicy: fromServer(oneOf('Always')),
        dnsPolicy: fromServer(oneOf('ClusterFirst')),
        schedulerName: fromServer(oneOf('default-scheduler')),
        securityContext: required(
          object({
            runAsNonRoot: required(exactly('true')),
            runAsUser: user,
            runAsGroup: user,
            fsGroup: user,
            seccompProfile: required(object({ type: required(oneOf('RuntimeDefault')) })),
          }),
        ),
        nodeSelector: ofTemplate(() => 'true'),
        affinity: ofTemplate(() => 'true'),
        tolerations: ofTemplate((each) => `${each}.all(one, one.?key.orValue('') != '')`),
        topologySpreadConstraints: value(
          (each) =>
            `variables.templates || ${each}.all(one, one.maxSkew == 1 && one.whenUnsatisfiable == 'ScheduleAnyway'` +
            ` && one.labelSelector == {'matchLabels': {${text(TUNNEL)}: variables.ownerName}})`,
        ),
        priorityClassName: ofTemplate(
          (each) => `(!${each}.startsWith('system-') || ${each} in variables.priorityClasses)`,
        ),
        containers: required(listOf(agentContainer, { least: 1, most: 1 })),
        volumes: required(listOf(keyVolume, { least: 1, most: 1 })),
      }),
    ),
  }),
  isWhole: true,
})

const selector = required(object({ matchLabels: required(exactly(`{${text(TUNNEL)}: variables.ownerName}`)) }))

/** What runs the agents of a Tunnel. */
const workloadWrites: readonly DescribedWrite[] = [
  {
    type: deploymentType,
    shape: whole({
      metadata: ofTunnel((key, each) => `(${key} == ${text(TEMPLATE_DIGEST)} && ${each}.matches('^[0-9a-f]{1,64}$'))`),
      spec: required(
        object({
          replicas: required(between(0, 32)),
          selector,
          strategy: required(
            object({
              type: required(oneOf('RollingUpdate')),
              rollingUpdate: required(
                object({ maxUnavailable: required(exactly('0')), maxSurge: required(exactly('1')) }),
              ),
            }),
          ),
          // Defaults of the API server.
          revisionHistoryLimit: fromServer(exactly('10')),
          progressDeadlineSeconds: fromServer(exactly('600')),
          template: podTemplate,
        }),
      ),
    }),
  },
  {
    type: serviceAccountType,
    shape: whole({ metadata: ofTunnel(), automountServiceAccountToken: required(exactly('false')) }),
  },
  {
    type: budgetType,
    shape: whole({
      metadata: ofTunnel(),
      spec: required(object({ maxUnavailable: required(exactly('1')), selector })),
    }),
  },
]

/** What the operator writes about itself, and asks about readers of its metrics. */
const runtimeWrites: readonly DescribedWrite[] = [
  {
    type: tokenReviews,
    shape: whole({ metadata: metadata({}), spec: required(object({ token: required(anything) })) }),
  },
  {
    type: subjectAccessReviews,
    shape: whole({
      metadata: metadata({}),
      spec: required(
        object({
          nonResourceAttributes: required(object({ path: required(oneOf('/metrics')), verb: required(oneOf('get')) })),
          user: anything,
          groups: anything,
          uid: anything,
          extra: anything,
        }),
      ),
    }),
  },
  {
    type: leases,
    shape: whole({
      metadata: metadata({}),
      spec: required(
        object({
          holderIdentity: value((each) => isPrintable(each, 255)),
          leaseDurationSeconds: between(1, 3_600),
          leaseTransitions: anything,
          acquireTime: anything,
          renewTime: anything,
        }),
      ),
    }),
  },
  {
    type: events,
    shape: object({
      ...TYPE,
      metadata: metadata({}),
      eventTime: required(anything),
      reportingController: required(oneOf(EVENT_SOURCE)),
      reportingInstance: required(anything),
      type: required(oneOf('Normal', 'Warning')),
      reason: required(anything),
      action: required(anything),
      note: required(anything),
      regarding: required(
        object({
          apiVersion: required(
            value((each) => `${each}.startsWith(${text(`${GROUP}/`)}) || ${each} == ${text(serviceType.version)}`),
          ),
          kind: required(
            value(
              (each) =>
                `object.regarding.apiVersion.startsWith(${text(`${GROUP}/`)}) || ${each} == ${text(serviceType.kind)}`,
            ),
          ),
          name: required(anything),
          namespace: anything,
          uid: anything,
          resourceVersion: anything,
        }),
      ),
      // The API server keeps fields of an older version of the type.
      deprecatedSource: fromServer(object({})),
      deprecatedFirstTimestamp: fromServer(exactly('null')),
      deprecatedLastTimestamp: fromServer(exactly('null')),
    }),
  },
  {
    type: roleBindingType,
    shape: object({ ...TYPE, metadata: metadata({ finalizers: ownFinalizer }) }),
  },
]

/**
 * Where a Service is reached, and the operator's condition. A status of a core Service is stored with the metadata that
 * is written with it, unlike that of a custom resource.
 */
const serviceStatus: DescribedWrite = {
  type: serviceType,
  subresource: 'status',
  shape: object({
    ...TYPE,
    metadata: metadata({}),
    status: object({
      loadBalancer: object({
        ingress: listOf(
          object({
            hostname: matching('[-a-z0-9.*]{1,253}'),
            ip: matching('[0-9a-f.:]{2,45}'),
            ipMode: oneOf('Proxy'),
            ports: listOf(object({ port: required(between(1, 65_535)), protocol: required(oneOf('TCP')) })),
          }),
        ),
      }),
      conditions: value(
        (each) =>
          `${each}.filter(one, one.type != ${text(SERVICE_READY)}) == variables.former.?status.?conditions.orValue([])` +
          `.filter(one, one.type != ${text(SERVICE_READY)})`,
      ),
    }),
  }),
}
