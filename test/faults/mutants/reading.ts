import { type Aim, type Mutant, mutant } from './mutant.ts'

const TRANSPORT = 'src/api/transport.ts'
const CLIENT = 'src/api/client.ts'
const CACHE = 'src/api/account-cache.ts'
const OPERATOR = 'src/operator/operator.ts'

const interrupted = (cases: string): Aim => ({ suite: 'interrupted', cases })
const unknown = interrupted('^(Backend group|SSHCredential key|APIKey apikey) / create')
const reads: Aim = { suite: 'api-faults-reads', cases: '' }
const writes: Aim = { suite: 'api-faults-writes', cases: '' }
const lists: Aim = { suite: 'restored', cases: 'lists, 3 times' }
const paused: Aim = { suite: 'paused-leader', cases: '' }
const watches: Aim = { suite: 'watch-faults', cases: '' }

/** Defects in what an operator trusts, and in who may write. */
export const reading: readonly Mutant[] = [
  mutant(
    'retry a POST',
    TRANSPORT,
    ["if (method !== 'GET' || attempt >= GET_ATTEMPTS || !", 'if (attempt >= GET_ATTEMPTS || !'],
    unknown,
  ),
  mutant(
    "take the word of something on the way for the API's",
    'src/api/failure.ts',
    ['definite: status >= 400 && status < 500 && status !== 408 && error !== undefined,', 'definite: true,'],
    unknown,
  ),
  mutant(
    'take a lost connection for a request that was never sent',
    'src/api/failure.ts',
    ['    definite: nothingSent(cause),\n', '    definite: true,\n'],
    unknown,
  ),
  mutant(
    'take a time-out for a refusal',
    TRANSPORT,
    ['} s`, {\n          definite: false,', '} s`, {\n          definite: true,'],
    unknown,
  ),
  mutant(
    'take a 404 for a deletion',
    'src/managed/identity/gone.ts',
    ["run.because(reason))) === 'deleted') {", 'run.because(reason))) !== undefined) {'],
    { suite: 'gone', cases: '' },
  ),
  {
    title: 'treat the 404 of a list as an empty list',
    file: CLIENT,
    edits: [
      [
        "const answer: Answer = await this.#transport.send({ method: 'GET', url, collection: collection.path, options })",
        "const answer: Answer = await this.#transport.send({ method: 'GET', url, collection: collection.path, options, mayBeAbsent: true })\n" +
          '      if (answer.status === 404) return listing.complete()',
      ],
    ],
    first: lists,
  },
  mutant(
    'treat half a list as whole',
    CLIENT,
    [
      'if (listing.pages === 0 || attempt >= LIST_ATTEMPTS || !cursorLost(error)) throw error',
      'if (listing.pages === 0) throw error\n        return listing.complete()',
    ],
    lists,
  ),
  mutant(
    'read the first page of a list only',
    CLIENT,
    [
      'url = page.nextPageURI === undefined ? undefined : nextPageURL(page.nextPageURI, url, this.#base, label)',
      'url = undefined',
    ],
    reads,
  ),
  mutant(
    'let an older list do',
    CACHE,
    ['if (listedAt !== undefined && listedAt >= since) return', 'if (listedAt !== undefined) return'],
    unknown,
  ),
  mutant(
    'take an update without an answer for one that did nothing',
    CACHE,
    ['else if (!(error instanceof ApiError && error.definite)) shelf.cache.wroteUnknown(id, endedAt)', ''],
    { ...writes, cases: '^(Backend group|IPPolicyRule rule) / update', isWhole: true },
  ),
  mutant(
    'believe reads that began before the last write was answered',
    'src/api/collection-cache.ts',
    ['return beganAt > entry.writtenAt && beganAt >= entry.readAt', 'return beganAt >= entry.readAt'],
    { suite: 'transitions-1', cases: '' },
  ),
  mutant('send on after a 429', TRANSPORT, ['        budget.hold(error.retryAfterMs)\n', ''], reads),
  mutant(
    'ignore NotLeader before API writes',
    OPERATOR,
    ['if (!this.#options.leaderElect || this.#election.isLeader()) return\n', 'return\n'],
    paused,
  ),
  mutant(
    'ignore NotLeader before writes to Kubernetes',
    OPERATOR,
    ['if (this.#options.leaderElect) this.#election.assertLeader()', ''],
    paused,
  ),
  mutant(
    'lead for ever once the Lease was taken',
    'src/runtime/leader-election.ts',
    ['return this.#term !== undefined && this.#isFresh(this.#term.renewed)', 'return this.#term !== undefined'],
    paused,
  ),
  mutant(
    "take another's Lease before it has run out",
    'src/runtime/lease-lock.ts',
    ['return now - this.#observed.at >= heldFor', 'return now - this.#observed.at >= heldFor / 10'],
    paused,
  ),
  mutant(
    'let a frame from before change what is known',
    'src/runtime/replica.ts',
    ['    if (isOlder && !regardless) return\n', ''],
    { suite: 'watch-faults', cases: '^IPPolicy policy / change of rules: watch of its kind', isWhole: true },
  ),
  mutant(
    'begin a term with what was known before it',
    'src/runtime/follower.ts',
    ['if (this.#listedAt >= since) return false', 'if (this.#listedAt > Number.NEGATIVE_INFINITY) return false'],
    { suite: 'stalled-standby', cases: '' },
  ),
  mutant(
    'pass over an older state in a complete list',
    'src/runtime/replica.ts',
    ['this.#enter(object, restored || known)', 'this.#enter(object, restored)'],
    { suite: 'etcd-put-back', cases: '' },
  ),
  mutant(
    'wait for ever for a watch that says nothing',
    'src/runtime/follower.ts',
    [
      'return this.#clock.setTimer(this.#ms, () => this.#controller.abort())',
      'return this.#clock.setTimer(this.#ms, () => undefined)',
    ],
    watches,
  ),
  mutant(
    'watch on from where history has been forgotten',
    'src/runtime/follower.ts',
    ['      if (isGone(error) || !(isOpen || isBusy(error))) this.#from = undefined\n', ''],
    watches,
  ),
  mutant(
    'forget a change that comes while its resource is worked on',
    'src/runtime/work-queue.ts',
    ['if (busy.again !== undefined && !this.#stopped) this.#enqueue(busy.again)', ''],
    { suite: 'transitions-1', cases: '' },
  ),
  mutant(
    'write the status although somebody has changed the resource meanwhile',
    'src/managed/reconcile/reconciliation.ts',
    ['const options = { resourceVersion, uid, ...', 'const options = { uid, ...'],
    watches,
  ),
  mutant(
    'trust a list of the cluster from before',
    'src/runtime/follower.ts',
    ['if (restored && ++this.#staleLists < LISTS_UNTIL_RESTORED) {', 'if (restored && ++this.#staleLists < 0) {'],
    { suite: 'watch-faults', cases: '', isWhole: true },
  ),
]
