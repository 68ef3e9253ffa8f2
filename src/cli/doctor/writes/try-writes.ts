import { configMapType, secretType } from '../../../kube/core-types.ts'
import type { KubeClient, KubeObject } from '../../../kube/types.ts'
import { KeptKeys } from '../../../managed/accounts/kept-key.ts'
import { holdName, roleBindingType } from '../../../managed/accounts/namespace-hold.ts'
import { OwnedObjects } from '../../../managed/composed/owned-objects.ts'
import type { WantedObject } from '../../../managed/composed/wanted.ts'
import { withFinalizer } from '../../../managed/cr.ts'
import type { Descriptor, ManagedDescriptor } from '../../../managed/descriptor/descriptor.ts'
import { type KindsRegistry, resourceTypeOf } from '../../../managed/kinds-registry.ts'
import { OUTPUT_OF } from '../../../managed/names.ts'
import { LABELS, noteOf, withOwner } from '../../../managed/ownership.ts'
import { portObjects } from '../../../managed/services/objects.ts'
import {
  isOurs,
  LOAD_BALANCERS,
  SERVICE_CLASS,
  type ServiceResource,
  serviceType,
} from '../../../managed/services/service.ts'
import { planMirror } from '../../../managed/sessions/mirror-plan.ts'
import { marks, tunnelCredential, tunnelObjects } from '../../../managed/tunnels/objects.ts'
import { credentialName, PRIVATE_KEY, PUBLIC_KEY } from '../../../managed/tunnels/tunnel-resource.ts'
import { EventRecorder } from '../../../runtime/events.ts'
import { LeaseLock } from '../../../runtime/lease-lock.ts'
import type { Clock } from '../../../util/clock.ts'
import { createLogger } from '../../../util/logger.ts'
import type { Random } from '../../../util/random.ts'
import type { DeployedOperator } from './deployed-operator.ts'
import { DryRun } from './dry-run.ts'

/** Name of the objects that are tried, and of their owners, which do not exist. */
const NAME = 'culvert-doctor'
/** A host key of a gateway, which no agent ever sees. */
const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGWj5WsELK+Ia2pYS7rEcYT1J3hZz5UlEu40Jb6MKuWp'
const LEASE_MS = 15_000

/** What is tried, and as whom. */
export interface Trial {
  /** A client with the rights of the operator. */
  readonly kube: Pick<KubeClient, 'create' | 'mergePatch' | 'get' | 'list'>
  readonly kinds: KindsRegistry
  readonly operator: DeployedOperator
  /** Where resources are tried: one that the operator watches. */
  readonly namespace: string
  /** Resources that exist, of which one of each kind is tried. */
  readonly resources: readonly KubeObject[]
  readonly clock: Clock
  readonly random: Random
}

/**
 * Has the API server check one write of each kind that the operator makes, built by the operator's own code. Nothing is
 * stored.
 *
 * @returns what was tried, with everything that failed
 */
export async function tryWrites(trial: Trial): Promise<DryRun> {
  const { kinds, operator } = trial
  const dry = new DryRun(trial.kube)
  await tryOwn(trial, dry)
  await tryExisting(trial, dry)
  await tryOutputs(trial, dry)
  for (const descriptor of operator.agents === undefined ? [] : kinds.composed) {
    await makeAll(trial, dry, { owner: madeUp(trial, descriptor), wanted: agentObjects(trial, descriptor) })
  }
  if (operator.services !== undefined) await tryServices(trial, dry, operator.services)
  return dry
}

/** Lease, the copy of a key, and an Event. */
async function tryOwn({ operator: { namespace, name }, kinds, clock, random, ...trial }: Trial, dry: DryRun) {
  const options = { client: dry, clock, identity: NAME, leaseDurationMs: LEASE_MS }
  await new LeaseLock({ ...options, key: { namespace, name } }).claim()
  await new KeptKeys(dry, namespace).keep(random.hex(16), NAME)
  const recorder = new EventRecorder({ client: dry, clock, random, logger: createLogger('silent'), instance: NAME })
  for (const descriptor of kinds.managed.slice(0, 1)) {
    const event = { type: 'Normal', reason: 'Checked', note: 'culvert doctor' } as const
    recorder.record(madeUp({ ...trial, random }, descriptor), event)
  }
  await recorder.flush()
}

/** One resource of each kind that exists, what shows sessions of an account, and the RoleBinding that is held. */
async function tryExisting(trial: Trial, dry: DryRun): Promise<void> {
  const { kube, kinds, operator, namespace, resources } = trial
  for (const descriptor of [...kinds.accounts, ...kinds.managed]) {
    const found = resources.find(({ kind, metadata }) => {
      return kind === descriptor.definition.kind && metadata.deletionTimestamp === undefined
    })
    if (found === undefined) continue
    await dry.mergePatch(resourceTypeOf(descriptor), found.metadata, { metadata: { finalizers: withFinalizer(found) } })
  }
  for (const descriptor of kinds.mirrors) {
    const [shown] = kinds.accounts
    if (shown === undefined) continue
    const account = { ...madeUp(trial, shown), spec: { baseURL: '', apiKeySecretRef: { name: NAME } } }
    const view = { descriptor, account, namespace, listed: [{ id: NAME }], mirrored: [], isTaken: () => false }
    for (const { name, metadata } of planMirror(view).create) {
      await dry.create(resourceTypeOf(descriptor), { namespace, name }, { metadata: { ...metadata, name, namespace } })
    }
  }
  if (!operator.holdsNamespaces) return
  const key = { namespace, name: holdName(operator.namespace, operator.name) }
  const binding = await kube.get<KubeObject>(roleBindingType, key)
  if (binding === undefined) return
  await dry.mergePatch(roleBindingType, key, { metadata: { finalizers: withFinalizer(binding) } })
}

/** A Secret, a ConfigMap and a companion that resources write their outputs into. */
async function tryOutputs(trial: Trial, dry: DryRun): Promise<void> {
  const { kinds, namespace, operator } = trial
  const metadataFor = (descriptor: ManagedDescriptor) => {
    const owner = madeUp(trial, descriptor)
    return { labels: LABELS, annotations: { [OUTPUT_OF]: noteOf(owner) }, ownerReferences: withOwner(undefined, owner) }
  }
  const key = { namespace, name: NAME }
  const data = { key: base64(NAME) }
  const withOutput = kinds.managed.find(({ output }) => output !== undefined)
  if (withOutput) await dry.create(secretType, key, { metadata: metadataFor(withOutput), type: 'Opaque', data })
  const derived = kinds.managed.find(({ output }) => output?.type === 'derived')
  if (derived) await dry.create(configMapType, key, { metadata: metadataFor(derived), data: { key: NAME } })
  const [domain] = operator.dnsDomains
  for (const descriptor of domain === undefined ? [] : kinds.managed) {
    const { companion } = descriptor
    if (companion === undefined) continue
    // As `src/kinds/certificates/dns-endpoint.ts` writes them from what the API answers.
    const endpoints = [{ dnsName: domain?.replace('*', NAME), recordType: 'CNAME', targets: [`${NAME}.invalid`] }]
    await dry.create(companion.type, key, { metadata: metadataFor(descriptor), spec: { endpoints } })
    break
  }
}

/** What a Tunnel owns. */
function agentObjects({ kinds, operator, namespace }: Trial, descriptor: Trial['kinds']['composed'][number]) {
  const { image, gateways } = operator.agents ?? { image: '', gateways: [] }
  const accountRef = { kind: 'Account', name: NAME } as const
  const labels = { app: NAME }
  const secret = credentialName('key', NAME, 1)
  const data = { [PRIVATE_KEY]: base64(NAME), [PUBLIC_KEY]: base64(NAME) }
  const spec = { backendRef: { name: NAME }, service: { name: NAME, port: 80 } }
  const key = { secret, key: PRIVATE_KEY }
  const [address] = gateways.map((gateway) => gateway.replace('*', NAME))
  return [
    { type: secretType, name: secret, ...marks(NAME), content: { type: 'Opaque', data } },
    ...(['key', 'token'] as const).map((form) => {
      const type = kinds.resourceType(descriptor.credentials[form])
      return tunnelCredential(form, { tunnel: NAME, revision: 1, labels, accountRef, type })
    }),
    ...(address === undefined
      ? []
      : tunnelObjects(spec, {
          name: NAME,
          namespace,
          labels,
          key,
          agent: { type: 'own', image, gateway: { address, hostKeys: [HOST_KEY] } },
        })),
  ]
}

/** What a Service owns, with an address and with a domain, and the status of one that exists. */
async function tryServices(trial: Trial, dry: DryRun, policy: NonNullable<DeployedOperator['services']>) {
  const { kinds, kube, namespace, random } = trial
  const service: ServiceResource = {
    apiVersion: 'v1',
    kind: serviceType.kind,
    metadata: metadataOf({ namespace, random }),
    spec: { type: 'LoadBalancer', loadBalancerClass: SERVICE_CLASS },
  }
  const parts = [{}, { domain: `${NAME}.example.com` }].flatMap((settings) => {
    return portObjects(service, settings, 80, (kind) => kinds.resourceType(kind))
  })
  const wanted = [...new Map(parts.toReversed().map((part) => [part.type.plural, part])).values()]
  await makeAll(trial, dry, { owner: service, wanted })
  const options = { namespace, fieldSelector: LOAD_BALANCERS }
  const { items } = await kube.list<ServiceResource>(serviceType, options)
  const served = items.find((each) => isOurs(each, policy as Parameters<typeof isOurs>[1]))
  if (served === undefined) return
  const status = { conditions: served.status?.conditions ?? [] }
  await dry.mergePatch(serviceType, served.metadata, { status }, { subresource: 'status' })
}

async function makeAll(
  { clock }: Pick<Trial, 'clock'>,
  dry: DryRun,
  { owner, wanted }: { readonly owner: KubeObject; readonly wanted: readonly WantedObject[] },
): Promise<void> {
  const objects = new OwnedObjects({
    kube: dry,
    readOwner: () => Promise.resolve(owner),
    clock,
    known: () => undefined,
    record: () => undefined,
  })
  for (const each of wanted) await objects.make(owner, each)
}

/** A resource that does not exist, for what it would own. */
function madeUp({ namespace, random }: Pick<Trial, 'namespace' | 'random'>, { definition }: Descriptor): KubeObject {
  const { group, version, kind } = definition
  return { apiVersion: `${group}/${version}`, kind, metadata: metadataOf({ namespace, random }) }
}

function metadataOf({ namespace, random }: Pick<Trial, 'namespace' | 'random'>): KubeObject['metadata'] {
  return { name: NAME, namespace, uid: random.hex(16), resourceVersion: '0' }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
