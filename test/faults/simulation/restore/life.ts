import { configMapType, secretType } from '../../../../src/kube/core-types.ts'
import type { KubeObject } from '../../../../src/kube/types.ts'
import { type CustomResource, statusOf } from '../../../../src/managed/cr.ts'
import { OUTPUT_OF } from '../../../../src/managed/names.ts'
import { events } from '../../../../src/runtime/events.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'
import { type SpecCase, specsOf } from '../../../kinds/lookup.ts'
import { SEED } from '../../../kinds/shared/account.ts'
import { headersOf, KEY } from '../api-server.ts'
import { Oracle } from '../oracle.ts'
import { managed } from '../spec-families.ts'
import { type Laboratory, NAMESPACE, type SimulatedWorld, type WorldOptions } from '../world.ts'

/** The subject of a case. The bystander, of the same kind and spec, stays undisturbed. */
export const SUBJECT = 'subject'
export const BYSTANDER = 'bystander'
/** Two resyncs of an account. */
export const LOOKS_MS = 130_000

/** A minimal and a full spec of every kind. */
export const subjects: readonly SpecCase[] = managed.flatMap(({ definition }) => specsOf(definition.kind).slice(0, 2))

/** A cluster with a subject, a bystander and their dependencies. */
export class Life {
  readonly world: SimulatedWorld
  readonly oracle: Oracle
  readonly subject: SpecCase

  private constructor(world: SimulatedWorld, oracle: Oracle, subject: SpecCase) {
    this.world = world
    this.oracle = oracle
    this.subject = subject
  }

  /** Opens it, without resources. */
  static async open(laboratory: Laboratory, subject: SpecCase, options: WorldOptions = {}): Promise<Life> {
    const kinds = new Set([subject.kind, ...subject.needs(SUBJECT).map(({ kind }) => kind)])
    const world = laboratory.world({ kinds, ...options })
    if (options.beside === undefined) world.api.emulator.admin.seed(SEED)
    return new Life(world, await Oracle.watch(world), subject)
  }

  /** Its resources. */
  manifests(more: Readonly<Record<string, unknown>> = {}): readonly Manifest[] {
    const { kind, spec, needs } = this.subject
    return [SUBJECT, BYSTANDER].flatMap((name) => [...needs(name), { kind, name, spec: { ...spec(name), ...more } }])
  }

  /** Creates everything, and waits until it is at rest; returns what is not. */
  async begin(more: Readonly<Record<string, unknown>> = {}): Promise<readonly string[]> {
    for (const { kind, name, spec } of this.manifests(more)) this.world.apply(kind, name, spec)
    const unrest = await this.oracle.untilRest()
    await this.world.advance(1_000)
    return unrest
  }

  /** Ids of the resources' objects, by `Kind/name`. */
  ids(): ReadonlyMap<string, string> {
    return new Map(
      this.world.all().flatMap((cr) => {
        const { id } = statusOf(cr)
        return id === undefined ? [] : [[nameOf(cr), id]]
      }),
    )
  }

  /** The account's objects, by id: of the resources whose names begin with the prefix, or all. */
  async bodies(prefix = ''): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    for (const cr of this.world.all()) {
      const place = cr.metadata.name.startsWith(prefix) ? this.world.placeOf(cr) : undefined
      if (place === undefined) continue
      const path = `/${place.path}/${place.id}`
      const { body } = await this.world.api.answer({ method: 'GET', path, headers: headersOf(KEY), body: '' })
      found.set(place.id, body)
    }
    return found
  }

  /** Whether an Event with this reason was sent for the resource. */
  wasTold({ kind, metadata: { name } }: CustomResource, reason: string): boolean {
    return this.world.kube.list<KubeObject>(events).items.some((event) => {
      const regarding = event.regarding as { readonly kind: string; readonly name: string }
      return event.reason === reason && regarding.kind === kind && regarding.name === name
    })
  }
}

export function nameOf({ kind, metadata: { name } }: CustomResource): string {
  return `${kind}/${name}`
}

/** Whether the object of a resource carries its marker: `rawMetadata`, or the name of a bot, replaces it. */
export function isMarked(cr: CustomResource): boolean {
  const { markedBy } = descriptorOf(cr.kind).identity
  return markedBy === 'metadata' && (cr.spec as Readonly<Record<string, unknown>>).rawMetadata === undefined
}

export function hasToken(kind: string): boolean {
  return descriptorOf(kind).output?.type === 'one-time'
}

function descriptorOf(kind: string) {
  const found = managed.find(({ definition }) => definition.kind === kind)
  if (found === undefined) throw new Error(`there is no ${kind}`)
  return found
}

/** The content of a backup of the namespace. */
export interface Backup {
  readonly resources: readonly CustomResource[]
  /** Secrets and ConfigMaps with outputs. */
  readonly outputs: readonly KubeObject[]
}

export function backUp(world: SimulatedWorld): Backup {
  const kept = [secretType, configMapType].flatMap((type) => world.kube.list<KubeObject>(type).items)
  return {
    resources: world.all(),
    outputs: kept.filter(({ metadata }) => metadata.annotations?.[OUTPUT_OF] !== undefined),
  }
}

/** Removes resources from the cluster by hand, by default all with their outputs, without changing the account. */
export function wipe(world: SimulatedWorld, only?: readonly CustomResource[]): void {
  const { resources, outputs } = only === undefined ? backUp(world) : { resources: only, outputs: [] }
  for (const cr of resources) {
    const key = keyOf(cr)
    world.kube.mergePatch(world.typeOf(cr.kind), key, { metadata: { finalizers: null } })
    world.kube.delete(world.typeOf(cr.kind), key)
  }
  for (const output of outputs) world.kube.delete(typeOfOutput(output), keyOf(output))
}

/** Restores a resource as backup tools do: with another UID, without status. */
export function putBack(world: SimulatedWorld, cr: CustomResource, metadata: object = {}): void {
  const { annotations, labels, finalizers } = cr.metadata
  const kept = { ...(annotations && { annotations }), ...(labels && { labels }), ...(finalizers && { finalizers }) }
  world.server.create(world.typeOf(cr.kind), keyOf(cr), { metadata: { ...kept, ...metadata }, spec: cr.spec })
}

/** Restores a Secret or ConfigMap, with or without the owner references, whose UIDs no longer exist. */
export function putBackOutput(world: SimulatedWorld, output: KubeObject, isOwned: boolean): void {
  const { annotations, labels, ownerReferences } = output.metadata
  const metadata = { annotations, ...(labels && { labels }), ...(isOwned && { ownerReferences }) }
  const { data, type } = output
  world.server.create(typeOfOutput(output), keyOf(output), { metadata, data, ...(type === undefined ? {} : { type }) })
}

export function keyOf({ metadata: { namespace = NAMESPACE, name } }: KubeObject) {
  return { namespace, name }
}

function typeOfOutput({ kind }: KubeObject) {
  return kind === 'ConfigMap' ? configMapType : secretType
}
