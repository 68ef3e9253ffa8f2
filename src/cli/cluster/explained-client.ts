import type { ClosableKubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/kube-error.ts'
import { listAll } from '../../kube/list-every-page.ts'
import type { ReviewStatus } from '../../kube/reviews.ts'
import { type LogOptions, pods } from '../../kube/streams.ts'
import type {
  DeleteOptions,
  KubeList,
  KubeObject,
  ListOptions,
  ObjectKey,
  PatchOptions,
  ResourceType,
  WatchFrame,
  WatchOptions,
} from '../../kube/types.ts'
import { GROUP, VERSION } from '../../managed/names.ts'
import { namespaceFlag } from '../flags.ts'
import { CommandError } from './command-error.ts'

/** A call to the API server, for messages. */
export interface Call {
  readonly verb: string
  readonly type: ResourceType
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** The calls of commands, each of whose failures is a `CommandError` that names what failed and one command. */
export class ExplainedClient {
  readonly #kube: ClosableKubeClient
  readonly #server: string

  constructor(kube: ClosableKubeClient, server: string) {
    this.#kube = kube
    this.#server = server
  }

  /** @throws CommandError `NotInstalled` if the cluster does not have the type; one that lacks the object has none */
  async get<T extends KubeObject>(type: ResourceType, { namespace, name }: ObjectKey): Promise<T | undefined> {
    const call = { verb: 'get', type, namespace, name }
    const found = await this.#explained(call, () => this.#kube.get<T>(type, { namespace, name }))
    if (found === undefined && !(await this.serves(type))) throw notInstalled(type)
    return found
  }

  list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<KubeList<T>> {
    const { namespace } = options
    return this.#explained({ verb: 'list', type, namespace }, () => this.#kube.list<T>(type, options))
  }

  /** Every object of a type in these namespaces or, if none are given, in all; none without the type's CRD. */
  listAll<T extends KubeObject>(type: ResourceType, namespaces: readonly string[]): Promise<readonly T[]> {
    const call = { verb: 'list', type, namespace: namespaces[0] }
    return this.#explained(call, () => listAll<T>(this.#kube, type, namespaces))
  }

  /** Runs the operator's own code with the plain client; failures are explained as the call that it makes. */
  run<T>(call: Call, use: (kube: ClosableKubeClient) => Promise<T>): Promise<T> {
    return this.#explained(call, () => use(this.#kube))
  }

  /** The objects of a type with these labels, in one namespace or in all. */
  async listSelected<T extends KubeObject>(
    type: ResourceType,
    namespace: string | undefined,
    labelSelector: string | undefined,
  ): Promise<readonly T[]> {
    if (labelSelector === undefined) return this.listAll<T>(type, namespace === undefined ? [] : [namespace])
    return (await this.list<T>(type, { namespace, labelSelector })).items
  }

  async *watch<T extends KubeObject>(
    type: ResourceType,
    name: string,
    options: Omit<WatchOptions, 'fieldSelector'>,
  ): AsyncGenerator<WatchFrame<T>> {
    try {
      yield* this.#kube.watch<T>(type, { ...options, fieldSelector: `metadata.name=${name}` })
    } catch (error) {
      throw this.#explanation({ verb: 'watch', type, namespace: options.namespace, name }, error)
    }
  }

  async *podLog(pod: ObjectKey, options: LogOptions): AsyncGenerator<string> {
    try {
      yield* this.#kube.podLog(pod, options)
    } catch (error) {
      const type = { ...pods, plural: 'pods/log' }
      throw this.#explanation({ verb: 'get', type, namespace: pod.namespace, name: pod.name }, error)
    }
  }

  create<T extends KubeObject>(
    type: ResourceType,
    { namespace, name }: ObjectKey,
    body: Readonly<Record<string, unknown>>,
  ): Promise<T> {
    const call = { verb: 'create', type, namespace, name }
    return this.#explained(call, () => this.#kube.create<T>(type, { namespace, name }, body))
  }

  mergePatch<T extends KubeObject>(
    type: ResourceType,
    { namespace, name }: ObjectKey,
    patch: Readonly<Record<string, unknown>>,
    options: PatchOptions = {},
  ): Promise<T> {
    const call = { verb: 'patch', type, namespace, name }
    return this.#explained(call, () => this.#kube.mergePatch<T>(type, { namespace, name }, patch, options))
  }

  delete(type: ResourceType, { namespace, name }: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    const call = { verb: 'delete', type, namespace, name }
    return this.#explained(call, () => this.#kube.delete(type, { namespace, name }, options))
  }

  /** Whether the cluster has the type. */
  serves(type: ResourceType): Promise<boolean> {
    return this.#explained({ verb: 'get', type }, () => this.#kube.serves(type))
  }

  review(type: ResourceType, spec: Readonly<Record<string, unknown>>): Promise<ReviewStatus> {
    return this.#explained({ verb: 'create', type }, () => this.#kube.review(type, spec))
  }

  async #explained<T>(call: Call, send: () => Promise<T>): Promise<T> {
    try {
      return await send()
    } catch (error) {
      throw this.#explanation(call, error)
    }
  }

  #explanation(call: Call, error: unknown): unknown {
    return error instanceof KubeError ? explain(error, call, this.#server) : error
  }
}

/** The error for a cluster without the CRD of a kind. */
function notInstalled({ kind, plural, group, version }: ResourceType): CommandError {
  const isOurs = group === GROUP && version === VERSION
  return new CommandError(
    'NotInstalled',
    `this cluster does not serve ${plural}.${group}/${version}${isOurs ? ': the CRD of this version is not installed' : ''}`,
    isOurs ? 'kubectl apply --server-side -f crds/' : `kubectl explain ${kind}`,
  )
}

function explain(error: KubeError, call: Call, server: string): CommandError {
  const options = { cause: error }
  switch (error.code) {
    case 'Forbidden':
      return forbidden(error, call)
    case 'Unauthorized':
      return new CommandError(
        'Unauthorized',
        `the cluster at ${server} does not accept your credentials`,
        'kubectl auth whoami',
        options,
      )
    case 'Network':
    case 'Timeout':
    case 'Unavailable':
      return new CommandError(
        'Unreachable',
        `the cluster at ${server} does not answer (${error.message})`,
        'kubectl cluster-info',
        options,
      )
    default:
      return new CommandError('Refused', error.message, undefined, options)
  }
}

/** RBAC's 403 has a reason of its own; an admission policy's says what it holds against the write. */
function forbidden(error: KubeError, { verb, type, namespace, name }: Call): CommandError {
  const resource = type.group === '' ? type.plural : `${type.plural}.${type.group}`
  const place = namespace === undefined ? '' : ` in namespace ${namespace}`
  const flags = type.namespaced ? namespaceFlag(namespace) || ' --all-namespaces' : ''
  const object = name === undefined ? resource : `${resource}/${name}`
  const isRight = / cannot \w+ resource\b/.test(error.message)
  return new CommandError(
    'Forbidden',
    isRight
      ? `you lack the right to ${verb} ${resource}${place}: ask an administrator for it, then check it`
      : error.message,
    `kubectl auth can-i ${verb} ${object}${flags}`,
    { cause: error },
  )
}
