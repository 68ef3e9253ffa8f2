import type { KubeObject } from '../../kube/types.ts'
import type { ObjectSource } from '../../runtime/object-source.ts'
import { isOtherwise, type ObjectEvent } from '../../runtime/replica.ts'
import { keyString } from '../../runtime/store.ts'
import { accountKey, accountText, keyOfAccount } from '../account-resource.ts'
import { nameOf, type ResourceName, statusOf } from '../cr.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import type { CoreWatches } from '../store/watches.ts'
import { TUNNEL, type TunnelResource, type TunnelWatches, tunnelStatus } from './tunnel-resource.ts'

const BACKEND = 'backend'
const CREDENTIAL = 'credential'
const ACCOUNT = 'account'

/** What a change wakes. */
export interface TunnelWakeups {
  readonly tunnel: (name: ResourceName) => void
  /** Has the Backend read again at the API, which knows its tunnels. */
  readonly backend: (name: ResourceName) => void
}

/**
 * Wakes a Tunnel when another client changes it or anything that it consists of; when its Backend or its credential
 * changes; and when its account gets another gateway. Wakes its Backend when agents connect or go.
 */
export function subscribeTunnels(
  kinds: KindsRegistry,
  ownWrites: { readonly recording: boolean },
  watches: Pick<CoreWatches, 'managed' | 'accounts' | 'secrets'> & TunnelWatches,
  { tunnel: wake, backend: readAgain }: TunnelWakeups,
): void {
  for (const { definition, backend, credentials } of kinds.composed) {
    const tunnels = watches.composed.get(definition.kind)
    if (tunnels === undefined) continue
    const { kind } = definition
    const ownerOf = ({ object }: ObjectEvent<KubeObject>): void => {
      const { namespace, labels, ownerReferences = [] } = object.metadata
      const name = labels?.[TUNNEL] ?? ownerReferences.find((owner) => owner.kind === kind)?.name
      if (name !== undefined) wake({ kind, namespace, name })
    }
    addIndexes(tunnels)
    tunnels.subscribe(({ object, previous }) => {
      if (!ownWrites.recording) wake(nameOf(object))
      const { namespace } = object.metadata
      const isOther = previous !== undefined && tunnelStatus(previous).online !== tunnelStatus(object).online
      if (isOther) readAgain({ kind: backend, namespace, name: object.spec.backendRef.name })
    })
    for (const workload of watches.workloads.values()) workload.subscribe(ownerOf)
    watches.secrets.subscribe(ownerOf)
    const wakeBy = (index: string, value: string): void => {
      for (const tunnel of tunnels.store.byIndex(index, value)) wake(nameOf(tunnel))
    }
    watches.managed.get(backend)?.subscribe((event) => {
      const isOther = isOtherwise(event, ({ spec }) => spec) || isOtherwise(event, (cr) => statusOf(cr).accountRef)
      if (isOther) wakeBy(BACKEND, keyString(event.object.metadata))
    })
    watches.managed.get(credentials.key)?.subscribe((event) => {
      ownerOf(event)
      wakeBy(CREDENTIAL, keyString(event.object.metadata))
    })
    watches.managed.get(credentials.token)?.subscribe(ownerOf)
    for (const accounts of watches.accounts.values()) {
      accounts.subscribe((event) => {
        if (isOtherwise(event, ({ spec }) => spec.sshGateway)) wakeBy(ACCOUNT, accountText(keyOfAccount(event.object)))
      })
    }
  }
}

function addIndexes(tunnels: ObjectSource<TunnelResource>): void {
  tunnels.addIndex(BACKEND, ({ metadata, spec }) => [`${metadata.namespace}/${spec.backendRef.name}`])
  tunnels.addIndex(CREDENTIAL, ({ metadata, spec }) => {
    return spec.credentialRef === undefined ? [] : [`${metadata.namespace}/${spec.credentialRef.name}`]
  })
  tunnels.addIndex(ACCOUNT, (tunnel) => {
    const { accountRef } = tunnelStatus(tunnel)
    return accountRef === undefined ? [] : [accountText(accountKey(accountRef, tunnel.metadata.namespace ?? ''))]
  })
}
