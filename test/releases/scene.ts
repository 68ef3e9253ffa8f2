import type { Resource, World, WorldOptions } from '../cluster/support/world.ts'

/** Flags of operators that publish the scenes' records in DNSEndpoints. */
export const DNS_FLAGS = ['--dns-endpoints', '--dns-domains', '*.example.com']

/** The state of an object for a person, in the words of kstatus. */
export type Phase = 'Current' | 'InProgress' | 'Failed' | 'Terminating'

/**
 * What happens to an object once a later version takes over: it reaches or keeps the state of its spec (`Current`), its
 * deletion completes (`Gone`), it ends without success (`Failed`), or it continues to wait for the same thing (`same`).
 */
export type After = 'Current' | 'Failed' | 'Gone' | 'same'

/** A custom resource of a scene that is not simply Ready. */
export interface Subject {
  readonly kind: string
  readonly name: string
  /** Default: the scene's namespace. */
  readonly namespace?: string
  /** The state in a few words; if a condition has it, the reason. */
  readonly state: string
  readonly phase: Phase
  /** Default `same`. */
  readonly after?: After
}

/** A world brought to a certain point and stopped: everything that Culvert leaves behind is then recorded. */
export interface Scene {
  /** Of its folder. */
  readonly name: string
  /** One sentence. */
  readonly about: string
  readonly world?: WorldOptions
  /** `--allow-api-host` of the operator, besides the emulator's. */
  readonly allowHosts?: readonly string[]
  /** Files of CRDs of other projects in the cluster. */
  readonly crds?: readonly string[]
  /** Whether the operator's requests to the apiserver pass through a proxy that the scene may use. */
  readonly proxied?: boolean
  /**
   * Plays up to the point, and returns what is not Ready there. The operator is then killed, and what it left is
   * recorded.
   */
  play(stage: Stage): Promise<readonly Subject[]>
}

/** Where a scene is played. */
export interface Stage {
  readonly world: World
  /** Refuses every matching request of the operator to the apiserver, until the scene is over. */
  forbid(method: string, path: RegExp): void
}

/** Waits until any condition of the CR has the reason. */
export function says(world: World, kind: string, name: string, reason: string): Promise<Resource> {
  const met = ({ status }: Resource): boolean => status?.conditions?.some((each) => each.reason === reason) ?? false
  return world.until(kind, name, `says ${reason}`, met, 90_000)
}

/** Waits until the CR has the reason, which is then its state. */
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
