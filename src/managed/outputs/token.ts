import type { RemoteObject } from '../../api/types.ts'
import type { Attempt, CreateAnswer } from '../attempt.ts'
import { type CustomResource, internalOf, nameOf, ownAttempt } from '../cr.ts'
import type { KeyRef } from '../descriptor/common.ts'
import type { OneTimeOutput, OutputTarget } from '../descriptor/output.ts'
import { resourceTypeOf } from '../kinds-registry.ts'
import { OUTPUT_KEYS, RESERVED_FOR } from '../names.ts'
import { keysNote, keysWritten } from '../ownership.ts'
import { ConflictError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { type Issued, tokenFingerprint, tokenPatch } from './held-token.ts'
import { OutputMemory } from './output-memory.ts'
import { type DataObject, encoded } from './place.ts'
import { naming, patchTarget, refuseImmutable, takeOwnership, wasOvertaken } from './take-ownership.ts'

const TRIES = 5

/** Where the token of a CR is stored; undefined for kinds without one. */
export interface TokenPlace {
  /** API field that holds the token in the answer to the create. */
  readonly field: string
  readonly key: string
  readonly target: OutputTarget
}

/** Where the token of a CR was found; `none` for kinds without tokens. */
export type TokenState = { readonly type: 'none' } | FoundToken

export type FoundToken =
  /** The current token is in its place; `tidy`: with all its metadata. */
  | (Placed & { readonly type: 'kept'; readonly token: string; readonly tidy: boolean })
  /** It is in another place, such as the one that the spec named before. */
  | (Placed & { readonly type: 'moved'; readonly token: string })
  /** The place belongs to another owner. */
  | (Placed & { readonly type: 'foreign'; readonly owner: string })
  /** It was not found. */
  | (Placed & { readonly type: 'lost'; readonly why: string })

interface Placed {
  readonly place: TokenPlace
}

export function tokenPlace({ descriptor, cr }: Reconciliation): TokenPlace | undefined {
  const output: OneTimeOutput<CustomResource['spec']> | undefined =
    descriptor.output?.type === 'one-time' ? descriptor.output : undefined
  if (output === undefined) return undefined
  const { name, key }: KeyRef = output.target(cr.spec, cr.metadata.name)
  return { field: output.field, key, target: { kind: 'Secret', name } }
}

/**
 * Called before a create: makes the Secret ours, and patches it for this attempt to prove that the answer can be
 * written. The patch also invalidates every version of the Secret that an earlier attempt might still write to. It
 * leaves the data alone, since a former token may be in use: whether data can be written is asked first.
 * @returns the Secret; undefined for kinds without a token.
 * @throws TerminalError if the Secret belongs to another owner, or is immutable.
 */
export async function reserveToken(run: Reconciliation, attempt: Attempt): Promise<DataObject | undefined> {
  const place = tokenPlace(run)
  if (place === undefined) return undefined
  const secret = await takeOwnership(run, place.target)
  refuseImmutable(place.target, secret)
  // What is empty was created just now, by the same rights.
  if (secret.data !== undefined) {
    const data = { [place.key]: encoded('Secret', attempt.nonce) }
    await naming(place.target, () => patchTarget(run, place.target, secret, { data }, true))
  }
  const annotations = {
    [RESERVED_FOR]: `${attempt.nonce}/${attempt.number}`,
    [OUTPUT_KEYS]: keysNote([...keysWritten(secret), place.key]),
  }
  return naming(place.target, () => patchTarget(run, place.target, secret, { metadata: { annotations } }))
}

/**
 * Writes the token in a create's answer, together with id and nonce, and notes where it is.
 * @param reserved the Secret as it was before the POST. Without it, or if someone changed it since, it is read again,
 *   and written unless the attempt has moved on.
 */
export async function storeToken(run: Reconciliation, answer: CreateAnswer, reserved?: DataObject): Promise<void> {
  const place = tokenPlace(run)
  if (place === undefined) return
  const token = tokenIn(answer.object, place)
  const issued = { id: answer.object.id, nonce: answer.nonce, token }
  let secret = reserved
  for (let tries = 1; ; tries++) {
    secret ??= await takeAgain(run, place, answer)
    const current = secret
    try {
      await naming(place.target, () =>
        patchTarget(run, place.target, current, tokenPatch(current, run.status, place.key, issued)),
      )
      break
    } catch (error) {
      if (!wasOvertaken(error) || tries === TRIES) throw error
      secret = undefined
    }
  }
  recordToken(run, place, issued)
}

/** Notes where the token of object `id` is. */
export function recordToken(
  run: Reconciliation,
  { target, key }: TokenPlace,
  { token, id }: Pick<Issued, 'token' | 'id'>,
): void {
  run.note({ output: { ...target, keys: [key] } })
  run.memory.of(OutputMemory).tokenSecret = target.name
  run.recordInternal({ tokenDigest: tokenFingerprint(run.context.fingerprints, token, id) })
}

/** The token in an answer that was accepted. */
function tokenIn(object: RemoteObject, { field }: TokenPlace): string {
  const token = object[field]
  if (typeof token !== 'string') throw new Error('a response without a token was not refused')
  return token
}

async function takeAgain(run: Reconciliation, { target }: TokenPlace, answer: CreateAnswer): Promise<DataObject> {
  const { context, cr, descriptor } = run
  const live = await context.kube.get<CustomResource>(resourceTypeOf(descriptor), nameOf(cr))
  const attempt = live === undefined ? undefined : ownAttempt(live)
  const isOurs =
    live?.metadata.uid === cr.metadata.uid &&
    attempt?.nonce === answer.nonce &&
    attempt.number === answer.number &&
    internalOf(live).create?.nonce !== answer.nonce
  if (!isOurs) throw new ConflictError(undefined)
  return takeOwnership(run, target)
}
