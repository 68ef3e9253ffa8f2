import type { Sighting } from '../../simulation/faults.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'

export interface Metadata {
  readonly uid: string
  readonly resourceVersion: string
}

export interface Frame {
  readonly type: string
  readonly object: { readonly metadata: Metadata }
}

interface List {
  readonly metadata: { readonly resourceVersion: string }
  readonly items: readonly { readonly metadata: Metadata }[]
}

const PARTIAL = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'

/** Whether a line contains no object, only the server's position. */
export function isBookmark(line: string): boolean {
  return line.startsWith('{"type":"BOOKMARK"')
}

/** One watched collection and its state before any change. */
export class Scene {
  readonly world: SimulatedWorld
  /** Frames since then, in order. */
  readonly frames: string[] = []
  /** The list at that time, full and metadata only. */
  readonly #before: readonly [whole: string, partial: string]

  /** @param path of the collection */
  constructor(world: SimulatedWorld, path: string) {
    this.world = world
    const list = (accept: string): string => {
      const answer = world.server.answer({ method: 'GET', path, headers: { accept }, body: '' })
      if ('follow' in answer || answer.status !== 200) throw new Error(`${path} cannot be listed`)
      return answer.body
    }
    this.#before = [list('application/json'), list(PARTIAL)]
  }

  /** The list at that time, in the form that the request asks for. */
  before({ headers }: Sighting): string {
    const [whole, partial] = this.#before
    return headers.accept?.includes('PartialObjectMetadata') ? partial : whole
  }

  /** The frames of a watch that begins with the objects at that time, up to the latest frame. */
  replay(watch: Sighting): readonly string[] {
    const { items } = JSON.parse(this.before(watch)) as List
    return [...items.map((object) => JSON.stringify({ type: 'ADDED', object })), ...this.frames]
  }

  /** The frame's object in its earlier state, or as first reported; and a bookmark from then. */
  backwards(watch: Sighting, frame: Frame): readonly string[] {
    const { metadata, items } = JSON.parse(this.before(watch)) as List
    const { uid } = frame.object.metadata
    const told = this.frames.map((line) => JSON.parse(line) as Frame).find(({ object }) => object.metadata.uid === uid)
    const object = items.find((item) => item.metadata.uid === uid) ?? told?.object ?? frame.object
    return [
      JSON.stringify({ type: 'MODIFIED', object }),
      JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: metadata.resourceVersion } } }),
    ]
  }
}
