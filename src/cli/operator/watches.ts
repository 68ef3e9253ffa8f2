import type { KubeObject, ResourceType } from '../../kube/types.ts'
import type { AccountResource } from '../../managed/accounts/account-resource.ts'
import type { CommandResource } from '../../managed/commands/command.ts'
import type { CustomResource } from '../../managed/cr.ts'
import { configMapType, secretType } from '../../managed/inputs.ts'
import { type KindsRegistry, resourceTypeOf } from '../../managed/kinds-registry.ts'
import type { MirroredObject } from '../../managed/mirrors/mirrored.ts'
import { namespaceType } from '../../managed/namespaces.ts'
import type { Watches } from '../../managed/resource-store.ts'
import type { Descriptor } from '../../managed/types/descriptor.ts'
import { Reflector, type ReflectorOptions } from '../../runtime/reflector.ts'

export interface WatchScope {
  /** Namespaces to watch; empty: all, and with them the operator's own, where the Secrets of ClusterAccounts live. */
  readonly namespaces: readonly string[]
}

/** A watch for every kind, for Secrets, for ConfigMaps and for Namespaces, none of them started. */
export function createWatches(
  kinds: KindsRegistry,
  base: Omit<ReflectorOptions, 'type' | 'namespaces'>,
  { namespaces }: WatchScope,
): Watches {
  // Installations side by side, each with its own namespaces, must not compete for what belongs to the whole cluster.
  const all = namespaces.length === 0
  const reflect = <T extends KubeObject>(type: ResourceType): Reflector<T> => {
    return new Reflector<T>({ ...base, type, namespaces })
  }
  const byKind = <T extends KubeObject>(descriptors: readonly Descriptor[]) => {
    return new Map(
      descriptors.map((descriptor) => [descriptor.definition.kind, reflect<T>(resourceTypeOf(descriptor))]),
    )
  }
  return {
    managed: byKind<CustomResource>(kinds.managed),
    accounts: byKind<AccountResource>(
      kinds.accounts.filter(({ definition }) => all || definition.scope === 'Namespaced'),
    ),
    mirrors: byKind<MirroredObject>(kinds.mirrors),
    commands: byKind<CommandResource>(kinds.commands),
    secrets: reflect({ ...secretType, metadataOnly: true }),
    configMaps: reflect({ ...configMapType, metadataOnly: true }),
    namespaces: all ? reflect({ ...namespaceType, metadataOnly: true }) : undefined,
  }
}

/** Every watch, whatever it is of. */
export function allWatches(watches: Watches): readonly Pick<Reflector<KubeObject>, 'start' | 'synced'>[] {
  const { managed, accounts, mirrors, commands, secrets, configMaps, namespaces } = watches
  return [
    ...managed.values(),
    ...accounts.values(),
    ...mirrors.values(),
    ...commands.values(),
    secrets,
    configMaps,
    ...(namespaces === undefined ? [] : [namespaces]),
  ]
}
