import { isOwnKey, keyProblems } from '../descriptor/metadata-keys.ts'
import { AGENT, KEY_VOLUME, OWN_FOLDER, OWN_VARIABLES } from '../descriptor/pod/container.ts'
import type { TunnelTemplate } from '../descriptor/pod/template.ts'
import { CONFINED, type Container, type Pod } from './pod.ts'
import { given, type Named, nonEmpty, variableOf } from './pod-fields.ts'

type PodOverrides = NonNullable<TunnelTemplate['spec']>
type ContainerOverrides = NonNullable<PodOverrides['containers']>[number]

/**
 * The Pods of agents with the template of their Tunnel: maps are merged by key, and lists of what has a name by that
 * name. Pure. The CRD has no field for what is fixed, and what is not taken here by name is not taken at all: a CRD
 * that somebody changed gives nobody more (docs/decisions/0045-templates-of-agents.md).
 */
export function withTemplate(pod: Pod, template: TunnelTemplate | undefined): Pod {
  if (template === undefined) return pod
  const { metadata = {}, spec = {} } = template
  const { containers = [] } = spec
  const annotations = { ...withoutOwn(metadata.annotations), ...pod.metadata.annotations }
  return {
    metadata: {
      labels: { ...pod.metadata.labels, ...withoutOwn(metadata.labels) },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      ...pod.spec,
      ...takenPlainly(spec),
      securityContext: { ...pod.spec.securityContext, ...usersOf(spec.securityContext) },
      topologySpreadConstraints: spread(pod, spec.topologySpreadConstraints ?? []),
      containers: [
        ...pod.spec.containers.map((container) => changed(container, containers)),
        ...containers.filter(({ name }) => !has(pod.spec.containers, name)).flatMap(added),
      ],
      volumes: [
        ...pod.spec.volumes,
        ...(spec.volumes ?? []).filter(({ name }) => !has(pod.spec.volumes, name)).map(volumeOf),
      ],
    },
  }
}

/** Keys in a template that no object can have, or that are Culvert's own. */
export function templateProblems({ metadata, spec }: TunnelTemplate): readonly string[] {
  return [
    ...keyProblems('spec.template.metadata.labels', metadata?.labels),
    ...keyProblems('spec.template.metadata.annotations', metadata?.annotations),
    ...keyProblems('spec.template.spec.nodeSelector', spec?.nodeSelector),
  ]
}

/** Culvert finds its Pods by its own labels. */
function withoutOwn(texts: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !isOwnKey(key)))
}

/** Fields that Culvert does not write. The grace period is in the Pods already, since agents drain by it. */
function takenPlainly({
  nodeSelector,
  affinity,
  tolerations,
  priorityClassName,
  imagePullSecrets,
}: PodOverrides): object {
  const pullSecrets = imagePullSecrets?.map(({ name }) => ({ name }))
  return given({ nodeSelector, affinity, tolerations, priorityClassName, imagePullSecrets: pullSecrets })
}

function usersOf({ runAsUser, runAsGroup, fsGroup }: NonNullable<PodOverrides['securityContext']> = {}): object {
  return given({ runAsUser, runAsGroup, fsGroup })
}

/** A constraint counts the agents, as those of Culvert do. */
function spread(
  { spec: { topologySpreadConstraints: own } }: Pod,
  overrides: NonNullable<PodOverrides['topologySpreadConstraints']>,
): Pod['spec']['topologySpreadConstraints'] {
  const labelSelector = (own[0] as { readonly labelSelector?: object } | undefined)?.labelSelector
  const set = overrides.map(({ topologyKey, maxSkew, whenUnsatisfiable, ...rest }) => {
    const { minDomains, nodeAffinityPolicy, nodeTaintsPolicy } = rest
    return {
      topologyKey,
      maxSkew,
      whenUnsatisfiable,
      labelSelector,
      ...given({ minDomains, nodeAffinityPolicy, nodeTaintsPolicy }),
    }
  })
  const kept = own.filter(({ topologyKey }) => !set.some((each) => each.topologyKey === topologyKey))
  return [...kept, ...set]
}

function changed(container: Container, overrides: readonly ContainerOverrides[]): Container {
  const override = overrides.find(({ name }) => name === container.name)
  return override === undefined ? container : { ...container, ...beside(container, override) }
}

/** A container beside the agent, as confined as that. None without an image. */
function added({ name, image, command, args, ...rest }: ContainerOverrides): readonly Container[] {
  if (image === undefined || name === AGENT) return []
  return [{ name, image, ...given({ command, args }), securityContext: CONFINED, ...beside(undefined, rest) }]
}

function beside(
  container: Container | undefined,
  { env, resources, volumeMounts }: Pick<ContainerOverrides, 'env' | 'resources' | 'volumeMounts'>,
): object {
  const mounts = container?.volumeMounts ?? []
  const taken = (volumeMounts ?? []).filter(
    ({ name, mountPath }) => name !== KEY_VOLUME && mountPath !== OWN_FOLDER && !mountPath.startsWith(`${OWN_FOLDER}/`),
  )
  return given({
    env: nonEmpty(variables(container?.env ?? [], (env ?? []).map(variableOf))),
    resources:
      resources === undefined
        ? container?.resources
        : given({
            requests: combined(container?.resources?.requests, resources.requests),
            limits: combined(container?.resources?.limits, resources.limits),
          }),
    volumeMounts: nonEmpty([
      ...mounts,
      ...taken.map(({ name, mountPath, subPath, readOnly }) => {
        return { name, mountPath, ...given({ subPath, readOnly: readOnly === true ? true : undefined }) }
      }),
    ]),
  })
}

/** Culvert's own come first, since `$(NAME)` stands for variables before it, and stay as they are. */
function variables(own: readonly Named[], overrides: readonly Named[]): readonly Named[] {
  const taken = overrides.filter(({ name }) => !name.startsWith(OWN_VARIABLES))
  return [...own.filter(({ name }) => !has(taken, name)), ...taken]
}

function volumeOf({ name, configMap, emptyDir }: NonNullable<PodOverrides['volumes']>[number]): Named {
  return { name, ...(configMap === undefined ? { emptyDir: emptyDir ?? {} } : { configMap }) }
}

function combined<T>(own: Readonly<Record<string, T>> = {}, override: Readonly<Record<string, T>> = {}) {
  const both = { ...own, ...override }
  return Object.keys(both).length === 0 ? undefined : both
}

function has(list: readonly { readonly name: string }[], name: string): boolean {
  return list.some((each) => each.name === name)
}
