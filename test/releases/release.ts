import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'
import type { Json, JsonObject } from '../../src/emulator/values/json.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { CURRENT_CRDS } from '../builders/install-crds.ts'
import type { Subject } from './scene.ts'

/** A folder for each release, named by its version. */
export const RELEASES = fileURLToPath(new URL('../fixtures/releases/', import.meta.url))
/** Replaces the origin of the API in recordings. */
export const ORIGIN = 'http://127.0.0.1:4040'
/** In a release's folder. */
export const INDEX = 'index.json'
/** In the folder of a release that is recorded as a whole: the CRDs, one per file. */
export const CRDS = 'crds'
/** In the same: one object of each shape that its operator creates. */
export const WRITES = 'writes.json'
/** In a scene's folder: the API's objects, as the emulator's snapshot. */
export const API_STATE = 'api.json'
/** In a scene's folder: Secrets, ConfigMaps, Leases and other objects that are not resources of Culvert. */
export const SURROUNDINGS = 'surroundings.yaml'

/** One custom resource in the index. */
export interface RecordedObject extends Required<Omit<Subject, 'namespace'>> {
  /** Below the release's folder: `<scene>/<kind>.<name>.yaml`. */
  readonly file: string
  /** Undefined if cluster-scoped. */
  readonly namespace?: string
}

/** One scene in the index. */
export interface RecordedScene {
  readonly name: string
  readonly about: string
  /** Time of the recording: everything in it must be interpreted as of then. */
  readonly recordedAt: string
  /** `--installation` of the operator that wrote it. */
  readonly installation: string
  readonly namespace: string
  /** The key in the Account's Secret. */
  readonly apiKey: string
  readonly watch: 'namespace' | 'cluster'
  readonly leaderElect: boolean
  /** `--allow-api-host` of the operator, besides the API's. */
  readonly allowHosts: readonly string[]
  /** Files of CRDs of other projects in the cluster, below `test/fixtures`. */
  readonly crds: readonly string[]
  readonly objects: readonly RecordedObject[]
}

export interface ReleaseIndex {
  /** Of package.json. */
  readonly version: string
  readonly scenes: readonly RecordedScene[]
}

/**
 * A recorded release.
 *
 * @example
 * const release = await Release.open('0.1.0')
 * for (const { object, recorded } of await release.resources()) expect(phaseOf(object)).toBe(recorded.phase)
 */
export class Release {
  readonly index: ReleaseIndex
  readonly folder: string
  /** Whether all scenes were recorded. Otherwise they are a sample of this version, which has not been released. */
  readonly isWhole: boolean

  private constructor(folder: string, index: ReleaseIndex) {
    this.folder = folder
    this.index = index
    this.isWhole = existsSync(join(folder, CRDS))
  }

  static async open(version: string): Promise<Release> {
    const folder = join(RELEASES, version)
    return new Release(folder, JSON.parse(await readFile(join(folder, INDEX), 'utf8')) as ReleaseIndex)
  }

  /** All recorded releases. */
  static async all(): Promise<readonly Release[]> {
    const entries = await readdir(RELEASES, { withFileTypes: true })
    return Promise.all(entries.filter((entry) => entry.isDirectory()).map(({ name }) => Release.open(name)))
  }

  /** Folder of its CRDs. */
  get crds(): string {
    return this.isWhole ? join(this.folder, CRDS) : CURRENT_CRDS
  }

  /** Every custom resource of every scene. */
  async resources(): Promise<readonly { readonly recorded: RecordedObject; readonly object: KubeObject }[]> {
    return Promise.all(this.index.scenes.flatMap(({ objects }) => objects).map((recorded) => this.#read(recorded)))
  }

  async objectsOf({ objects }: RecordedScene, origin: string): Promise<readonly KubeObject[]> {
    return (await Promise.all(objects.map((recorded) => this.#read(recorded, origin)))).map(({ object }) => object)
  }

  async surroundingsOf({ name }: RecordedScene, origin: string): Promise<readonly KubeObject[]> {
    const file = await this.#text(join(name, SURROUNDINGS), origin)
    return parseAllDocuments(file).map((document) => document.toJS() as KubeObject)
  }

  async apiStateOf({ name }: RecordedScene, origin: string): Promise<JsonObject> {
    return JSON.parse(await this.#text(join(name, API_STATE), origin)) as Json as JsonObject
  }

  async #read(recorded: RecordedObject, origin = ORIGIN) {
    return { recorded, object: parse(await this.#text(recorded.file, origin)) as KubeObject }
  }

  async #text(file: string, origin: string): Promise<string> {
    return (await readFile(join(this.folder, file), 'utf8')).replaceAll(ORIGIN, origin)
  }
}
