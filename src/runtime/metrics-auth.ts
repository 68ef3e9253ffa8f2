import { createHash } from 'node:crypto'
import { ConcurrencyLimit } from '../kube/concurrency-limit.ts'
import { KubeError } from '../kube/kube-error.ts'
import { type Reviewer, subjectAccessReviews, tokenReviews } from '../kube/reviews.ts'
import { type Clock, sleep } from '../util/clock.ts'
import { type Logger, Rarely } from '../util/logger.ts'
import { type AccessDecision, METRICS_PATH } from './health.ts'

/**
 * How long an answer is cached, in milliseconds, and so the longest that a revoked right or an expired token still
 * works.
 */
const ANSWER_MS = 10_000
/** How long an admitted token stays known: its next review does not wait behind those of unknown tokens. */
const FAMILIAR_MS = 3_600_000
/** Unknown tokens are reviewed one at a time with this pause: at most twenty a second reach the API server. */
const STRANGER_PAUSE_MS = 50
/** How many of them may wait; further ones are refused at once. */
const WAITING_STRANGERS = 20
/** How many answers are kept. */
const KEPT_REFUSALS = 256
const KEPT_ADMISSIONS = 64
/** Longer than any token; Node accepts 16 KiB of headers. */
const BEARER = /^Bearer ([\x21-\x7e]{1,12288})$/i

export interface MetricsAccessOptions {
  readonly reviewer: Reviewer
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Decides who may read the metrics: anyone whose bearer token the API server knows (TokenReview) and who may `get` the
 * non-resource URL `/metrics` (SubjectAccessReview), as in controller-runtime. Answers are cached for ten seconds;
 * without an answer no one is admitted. Only digests of tokens are kept.
 */
export class MetricsAuth {
  readonly #reviewer: Reviewer
  readonly #clock: Clock
  readonly #failures: Rarely
  readonly #strangers = new ConcurrencyLimit(1)
  #waiting = 0
  /** By digest: when the token was last admitted. */
  readonly #admitted = new Map<string, number>()
  /** By digest. */
  readonly #refused = new Map<string, { readonly access: AccessDecision; readonly at: number }>()
  readonly #underWay = new Map<string, Promise<AccessDecision>>()

  constructor({ reviewer, clock, logger }: MetricsAccessOptions) {
    this.#reviewer = reviewer
    this.#clock = clock
    this.#failures = new Rarely(clock, (error, times) => {
      // Without the error's message: an API server may quote what it was sent.
      const code = error instanceof KubeError ? error.code : 'unexpected'
      const remedy = code === 'Forbidden' ? `: ${REMEDY}` : ''
      logger.error({ code, times }, `metrics are refused: the API server did not authorize the request${remedy}`)
    })
  }

  /** @param authorization the request's Authorization header */
  async of(authorization: string | undefined): Promise<AccessDecision> {
    const token = BEARER.exec(authorization ?? '')?.[1]
    if (token === undefined) return 'unauthenticated'
    const digest = createHash('sha256').update(token).digest('base64')
    const known = this.#known(digest)
    if (known !== undefined) return known
    const underWay = this.#underWay.get(digest) ?? this.#ask(digest, token)
    this.#underWay.set(digest, underWay)
    return await underWay
  }

  /** Asks about a token that no one has, so that a right that the operator lacks is logged at the start. */
  async tryOut(): Promise<void> {
    await this.#review('culvert-asks-whether-it-may-ask').catch((error: unknown) => this.#failures.happened(error))
  }

  #known(digest: string): AccessDecision | undefined {
    const since = this.#clock.monotonic() - ANSWER_MS
    if ((this.#admitted.get(digest) ?? Number.NEGATIVE_INFINITY) > since) return 'allowed'
    const refusal = this.#refused.get(digest)
    return refusal !== undefined && refusal.at > since ? refusal.access : undefined
  }

  async #ask(digest: string, token: string): Promise<AccessDecision> {
    try {
      const access = this.#isFamiliar(digest) ? await this.#review(token) : await this.#reviewStranger(token)
      this.#note(digest, access)
      return access
    } catch (error) {
      this.#failures.happened(error)
      return 'unknown'
    } finally {
      this.#underWay.delete(digest)
    }
  }

  /** A flood of made-up tokens must neither load the API server nor delay those admitted before. */
  async #reviewStranger(token: string): Promise<AccessDecision> {
    if (this.#waiting >= WAITING_STRANGERS) return 'unknown'
    this.#waiting++
    const release = await this.#strangers.acquire().finally(() => this.#waiting--)
    try {
      return await this.#review(token)
    } finally {
      void sleep(this.#clock, STRANGER_PAUSE_MS).then(release)
    }
  }

  async #review(token: string): Promise<AccessDecision> {
    const { authenticated, user } = await this.#reviewer.review(tokenReviews, { token })
    if (authenticated !== true || typeof user !== 'object' || user === null) return 'unauthenticated'
    const { username, uid, groups, extra } = user as Readonly<Record<string, unknown>>
    const nonResourceAttributes = { path: METRICS_PATH, verb: 'get' }
    const spec = { user: username, uid, groups, extra, nonResourceAttributes }
    const { allowed, denied } = await this.#reviewer.review(subjectAccessReviews, spec)
    return allowed === true && denied !== true ? 'allowed' : 'forbidden'
  }

  #isFamiliar(digest: string): boolean {
    const at = this.#admitted.get(digest)
    return at !== undefined && at > this.#clock.monotonic() - FAMILIAR_MS
  }

  #note(digest: string, access: AccessDecision): void {
    this.#admitted.delete(digest)
    this.#refused.delete(digest)
    const at = this.#clock.monotonic()
    if (access === 'allowed') keep(this.#admitted, KEPT_ADMISSIONS, digest, at)
    else if (access !== 'unknown') keep(this.#refused, KEPT_REFUSALS, digest, { access, at })
  }
}

const REMEDY =
  'allow the operator to create tokenreviews.authentication.k8s.io and subjectaccessreviews.authorization.k8s.io, ' +
  'as the ClusterRole system:auth-delegator does, or run it without --metrics-authentication'

/** Drops the oldest entries beyond `size`. */
function keep<T>(map: Map<string, T>, size: number, key: string, value: T): void {
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= size) return
    map.delete(oldest)
  }
}
