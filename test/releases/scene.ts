import type { Resource, World, WorldOptions } from '../cluster/support/world.ts'

/** Flags of operators that publish what scenes ask for in DNSEndpoints. */
export const DNS_FLAGS = ['--dns-endpoints', '--dns-domains', '*.example.com']

/** What a person would call the state of an object, in the words of kstatus. */
export type Phase = 'Current' | 'InProgress' | 'Failed' | 'Terminating'

/**
 * What becomes of an object that a later version takes over: it gets or stays as its spec says (`Current`), its deletion ends
 * (`Gone`), it comes to an end without success (`Failed`), or it goes on waiting for what it waits for (`same`).
 */
export type After = 'Current' | 'Failed' | 'Gone' | 'same'

/** A custom resource of a scene that is not simply Ready. */
export interface Subject {
  readonly kind: string
  readonly name: string
  /** Default: the scene's namespace. */
  readonly namespace?: string
  /** The state in a few words; of those with a condition that says it, the reason. */
  readonly state: string
  readonly phase: Phase
  /** Default `same`. */
  readonly after?: After
}

/** A world brought to a point and held there: all that Culvert leaves behind is then recorded. */
export interface Scene {
  /** Of its folder. */
  readonly name: string
  /** One sentence. */
  readonly about: string
  readonly world?: WorldOptions
  /** `--allow-api-host` of the operator, beside the emulator's. */
  readonly allowHosts?: readonly string[]
  /** Files of CRDs of other projects that the cluster has. */
  readonly crds?: readonly string[]
  /** Whether the operator's requests to the apiserver go through a proxy that the scene may use. */
  readonly proxied?: boolean
  /** Plays up to the point, and names what is not Ready there. The operator is killed, and what it left is recorded. */
  play(stage: Stage): Promise<readonly Subject[]>
}

/** Where a scene is played. */
export interface Stage {
  readonly world: World
  /** Has every request of the operator to the apiserver that matches refused, until the scene is over. */
  forbid(method: string, path: RegExp): void
}

/** Waits until any condition of the CR has the reason. */
export function says(world: World, kind: string, name: string, reason: string): Promise<Resource> {
  const met = ({ status }: Resource): boolean => status?.conditions?.some((each) => each.reason === reason) ?? false
  return world.until(kind, name, `says ${reason}`, met, 90_000)
}

/** Waits until the CR says the reason, which is then its state. */
export async function saying(
  world: World,
  kind: string,
  name: string,
  reason: string,
  phase: Phase,
  after?: After,
): Promise<Subject> {
  await says(world, kind, name, reason)
  return { kind, name, state: reason, phase, ...(after === undefined ? {} : { after }) }
}
