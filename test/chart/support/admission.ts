import { join } from 'node:path'
import { KUBERNETES_VERSION } from '../../../controlplane/build.ts'
import { goProgram } from '../../../controlplane/go-program.ts'
import { runProgram } from '../../../controlplane/run-program.ts'

const MODULE = join(import.meta.dirname, '..', 'admission')

/** An object as it is sent to the API server, or as it is stored. */
export interface Sent {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

/** A write, as admission sees it: create without `oldObject`, delete without `object`. */
export interface Request {
  /** Its plural. */
  readonly resource: string
  readonly subresource?: 'status'
  readonly object?: Sent | undefined
  readonly oldObject?: Sent | undefined
}

/** The operation of a write, as admission calls it. */
export function operationOf({ object, oldObject }: Request): 'CREATE' | 'UPDATE' | 'DELETE' {
  if (oldObject === undefined) return 'CREATE'
  return object === undefined ? 'DELETE' : 'UPDATE'
}

/** What the API server's admission decides by a policy. */
export interface Judgement {
  /** Release of Kubernetes, as `1.31`. */
  readonly kubernetes: string
  /** What all expressions for one request may cost together. */
  readonly budget: number
  /** What one expression or variable may cost. */
  readonly limit: number
  /** Number of expressions that the release compiled, as it does for a new policy. */
  readonly expressions: number
  /** Those that it refuses. */
  readonly errors: readonly string[]
  readonly results: readonly Result[]
}

export interface Result {
  /** Messages; none if the request is admitted. */
  readonly denials: readonly string[]
  /** By expression, or `variables.NAME`. */
  readonly costs: Readonly<Record<string, number>>
  readonly milliseconds: number
}

/** A release of Kubernetes whose admission decides, and what its build needs. */
export interface Release {
  readonly name: string
  readonly flags: readonly string[]
}

export const PINNED: Release = { name: KUBERNETES_VERSION, flags: [] }

/** The pinned release, and the oldest that the chart supports. */
export const RELEASES: readonly Release[] = [
  PINNED,
  { name: '1.31', flags: ['-modfile=kubernetes131.mod', '-tags=kubernetes131'] },
]

/** How long a test may take that has to build the program first. */
export const BUILD_MS = 1_800_000

/**
 * Has requests by `user` decided by a policy. The program is built where this machine has not done so yet, which takes
 * minutes.
 */
export async function judge(
  { flags }: Release,
  { policy, user, requests }: { readonly policy: object; readonly user: string; readonly requests: readonly Request[] },
): Promise<Judgement> {
  const stdin = JSON.stringify({
    policy,
    requests: requests.map((request) => ({ ...request, operation: operationOf(request), user })),
  })
  const { code, stdout, stderr } = await runProgram(await goProgram(MODULE, flags), [], { stdin })
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Judgement
}
