/** A Pod template, as far as it applies here. Everything else in it is for a kubelet and its nodes. */
export interface PodTemplate {
  readonly spec: {
    readonly serviceAccountName?: string
    readonly automountServiceAccountToken?: boolean
    readonly containers: readonly Container[]
    readonly volumes?: readonly Volume[]
  }
}

interface Container {
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly Variable[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
}

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string }
    readonly secretKeyRef?: KeyOf
    readonly configMapKeyRef?: KeyOf
  }
}

interface KeyOf {
  readonly name: string
  readonly key: string
}

interface Volume {
  readonly name: string
  readonly configMap?: { readonly name: string }
  readonly secret?: { readonly secretName: string }
  readonly emptyDir?: object
}

/** The identity of the Pod. */
export interface PodIdentity {
  readonly name: string
  readonly namespace: string
}

/** Reads the data of a ConfigMap or Secret, decoded. */
export type ReadData = (kind: 'ConfigMap' | 'Secret', name: string) => Promise<Readonly<Record<string, string>>>

/** The inputs of a process. */
export interface ResolvedContainer {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Files of its volumes, by path. */
  readonly files: ReadonlyMap<string, string>
}

/**
 * The only container of a Pod template, with every reference resolved that a kubelet resolves. An emptyDir is omitted:
 * the process uses the machine's temporary folder.
 *
 * @throws Error for a reference that is not supported here
 */
export async function resolveContainer(
  template: PodTemplate,
  identity: PodIdentity,
  read: ReadData,
): Promise<ResolvedContainer> {
  const [container, ...others] = template.spec.containers
  if (container === undefined || others.length > 0) throw new Error('only a Pod of one container can be run')
  if (container.command !== undefined) throw new Error('only the entry point of the image can be run')
  const env: Record<string, string> = {}
  for (const variable of container.env ?? [])
    env[variable.name] = expand(await variableValue(variable, identity, read), env)
  const files = new Map<string, string>()
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const volume = template.spec.volumes?.find((each) => each.name === name)
    for (const [key, text] of Object.entries(await dataOf(volume, read))) files.set(`${mountPath}/${key}`, text)
  }
  return { args: (container.args ?? []).map((arg) => expand(arg, env)), env, files }
}

async function variableValue({ name, value, valueFrom }: Variable, pod: PodIdentity, read: ReadData): Promise<string> {
  if (valueFrom === undefined) return value ?? ''
  const { fieldRef, secretKeyRef, configMapKeyRef } = valueFrom
  const fields: Readonly<Record<string, string>> = { 'metadata.name': pod.name, 'metadata.namespace': pod.namespace }
  const found =
    (fieldRef && fields[fieldRef.fieldPath]) ??
    (secretKeyRef && (await read('Secret', secretKeyRef.name))[secretKeyRef.key]) ??
    (configMapKeyRef && (await read('ConfigMap', configMapKeyRef.name))[configMapKeyRef.key])
  if (found === undefined) throw new Error(`the variable ${name} has no value: ${JSON.stringify(valueFrom)}`)
  return found
}

async function dataOf(volume: Volume | undefined, read: ReadData): Promise<Readonly<Record<string, string>>> {
  if (volume?.configMap !== undefined) return read('ConfigMap', volume.configMap.name)
  if (volume?.secret !== undefined) return read('Secret', volume.secret.secretName)
  if (volume?.emptyDir !== undefined) return {}
  throw new Error(`there is no such volume: ${JSON.stringify(volume)}`)
}

/** `$(NAME)` refers to an earlier variable. */
function expand(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\((\w+)\)/g, (reference, name: string) => env[name] ?? reference)
}
