import type { ObjectKey } from '../../kube/types.ts'
import type { Condition } from '../../managed/descriptor/common.ts'
import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import { partKinds, roleOf } from '../../managed/services/objects.ts'
import {
  SERVICE,
  SERVICE_READY,
  type ServiceResource,
  serviceOwning,
  serviceType,
} from '../../managed/services/service.ts'
import type { Cluster } from './ask-cluster.ts'
import { CommandError } from './command-error.ts'
import type { StatedResource } from './resource-state.ts'

const NAMES: ReadonlySet<string> = new Set(['svc', 'service', 'services'])

/** The Service that `svc/NAME` or `svc NAME` names; undefined for arguments that name something else. */
export function serviceNamed(args: readonly string[], namespace: string): ObjectKey | undefined {
  const [kind = '', name, ...others] = args.length === 1 ? (args[0] ?? '').split('/') : args
  const isService = NAMES.has(kind.toLowerCase()) && name !== undefined && name !== '' && others.length === 0
  return isService ? { namespace, name } : undefined
}

/** A Service with its state in the conditions that Culvert's resources have, and what Culvert made for it. */
export interface ReadService {
  readonly service: StatedResource
  readonly parts: readonly StatedResource[]
}

/** @throws CommandError `NotFound` */
export async function readService({ kinds, kube }: Cluster, key: ObjectKey): Promise<ReadService> {
  const { name, namespace } = key
  const found = await kube.get<ServiceResource>(serviceType, key)
  if (found === undefined) {
    const command = 'kubectl get services --all-namespaces'
    throw new CommandError('NotFound', `Service/${name} in namespace ${namespace} does not exist`, command)
  }
  const lists = partKinds.map((kind) => {
    return kube.listSelected<StatedResource>(resourceTypeOf(kinds.descriptor(kind)), namespace, `${SERVICE}=${name}`)
  })
  // What Edges listen on comes last: it is below them in a tree.
  const parts = (await Promise.all(lists)).flat().filter((part) => serviceOwning(part)?.name === name)
  const isPlace = ({ kind }: StatedResource): boolean => roleOf(kind) === 'place'
  const service = { ...found, kind: serviceType.kind, status: { conditions: conditionsOf(found) } }
  return { service, parts: parts.toSorted((left, right) => Number(isPlace(left)) - Number(isPlace(right))) }
}

function conditionsOf(service: ServiceResource): readonly Condition[] {
  const ready = service.status?.conditions?.find(({ type }) => type === SERVICE_READY)
  if (ready === undefined) return []
  const addresses = addressesOfService(service).join(', ')
  const message = ready.status === 'True' ? `clients reach it at ${addresses}` : ready.message
  const state: Condition = { ...ready, type: 'Ready', message }
  return ready.status === 'True'
    ? [{ ...state, reason: 'Available' }]
    : [state, { ...state, type: 'Reconciling', status: 'True' }]
}

/** Where clients reach it, as `host:port`. */
function addressesOfService({ spec, status }: ServiceResource): readonly string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ hostname, ip, ports }) => {
    return (ports ?? spec.ports ?? []).map(({ port }) => `${hostname ?? ip ?? ''}:${port}`)
  })
}
