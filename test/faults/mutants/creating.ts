import { type Aim, type Mutant, mutant } from './mutant.ts'

const CREATE = 'src/managed/identity/create.ts'
const RESOLVE = 'src/managed/identity/resolve-unknown.ts'
const TAKE = 'src/managed/identity/take-object.ts'
const CR = 'src/managed/cr.ts'
const TOKEN = 'src/managed/outputs/token.ts'
const PROTOCOL = 'src/managed/identity/create-step.ts'

const kills = (cases: string): Aim => ({ suite: 'kills', cases })
const interrupted = (cases: string): Aim => ({ suite: 'interrupted', cases })

const anObject = kills('^(Backend group|SSHCredential key) / create')
const aToken = kills('^(APIKey apikey|TunnelCredential tunnelcredential) / (create|rotate)')
const lateCreate = interrupted('^(Backend group|SSHCredential key|APIKey apikey) / create')

/** Defects in creating an object. */
export const creating: readonly Mutant[] = [
  mutant(
    'skip the finalizer before the first POST',
    CREATE,
    [
      '    finalizers: withFinalizer(run.cr),\n    annotations: { [CREATE_ATTEMPT]',
      '    annotations: { [CREATE_ATTEMPT]',
    ],
    anObject,
  ),
  mutant('record no attempt before the POST', CREATE, ['  await recordAttempt(run, attempt)\n', ''], anObject),
  mutant(
    'send the POST before the attempt is stored',
    CREATE,
    ['  await recordAttempt(run, attempt)\n', '  void recordAttempt(run, attempt)\n'],
    anObject,
  ),
  mutant(
    'let the number of an attempt stand still',
    CREATE,
    ["number: step.type === 'attempt' ? step.number : 1,", 'number: 1,'],
    lateCreate,
  ),
  mutant(
    'make each try under a nonce of its own',
    CREATE,
    [
      "const nonce = step.type === 'attempt' ? step.nonce : context.random.hex(16)",
      'const nonce = context.random.hex(16)',
    ],
    lateCreate,
  ),
  mutant(
    "forget the attempt's uid: take one that was copied for one's own",
    CR,
    ['return attempt?.uid === cr.metadata.uid ? attempt : undefined', 'return attempt'],
    { suite: 'restored', cases: '' },
  ),
  mutant(
    'forget an attempt once the process that made it is gone',
    PROTOCOL,
    ["return { type: 'resolve', attempt, scan: nextScan(memory, moment) }", "return { type: 'begin' }"],
    lateCreate,
  ),
  mutant(
    'make the next try without finding out about the last one',
    PROTOCOL,
    [
      "return { type: 'resolve', attempt, scan: nextScan(memory, moment) }",
      "return { type: 'attempt', nonce: attempt.nonce, number: attempt.number + 1 }",
    ],
    anObject,
  ),
  mutant('trust the first scan', RESOLVE, ['  if (!scan.isLast) {\n', '  if (scan.waitMs < 0) {\n'], lateCreate),
  mutant(
    'drop the pause before the second scan',
    PROTOCOL,
    ['isLast ? firstScanAt + times.scanPauseMs', 'isLast ? firstScanAt'],
    lateCreate,
  ),
  mutant(
    'scan before the last request of a former process must be over',
    PROTOCOL,
    ['Math.max(leadingSince + times.requestTimeoutMs, unknownUntil)', 'Math.max(leadingSince, unknownUntil)'],
    lateCreate,
  ),
  mutant(
    'scan before a POST of its own that got no answer must be over',
    CREATE,
    [
      'run.memory.identity.unknownUntil = clock.monotonic() + times.requestTimeoutMs\n    return undefined',
      'run.memory.identity.unknownUntil = clock.monotonic()\n    return undefined',
    ],
    lateCreate,
  ),
  mutant(
    'take a POST without an answer for one that was refused',
    CREATE,
    ['if (!(error instanceof ApiError) || !error.definite) {', 'if (!(error instanceof ApiError)) {'],
    lateCreate,
  ),
  mutant(
    'scan the list that is known already',
    TAKE,
    [
      '  await session.cache.ensureListed(collection, { since })\n  const own',
      '  await session.cache.ensureListed(collection)\n  const own',
    ],
    lateCreate,
  ),
  mutant('keep no answer in memory until it is stored', CREATE, ['  memory.identity.answer = answer\n', ''], {
    suite: 'kubernetes-faults',
    cases: '(Backend group|APIKey apikey) / create',
  }),
  mutant(
    'look for the nonce of no attempt: any object of the same UID will do',
    PROTOCOL,
    ['marker.uid === own.uid && marker.nonce === own.nonce', 'marker.uid === own.uid'],
    kills('^(APIKey apikey|TunnelCredential tunnelcredential) / rotate'),
  ),
  mutant(
    'look for no UID: an object with the mark of any life will do',
    PROTOCOL,
    [
      'marker.installation === own.installation && marker.uid === own.uid && marker.nonce === own.nonce',
      'marker.nonce === own.nonce',
    ],
    { suite: 'restored', cases: '' },
  ),
  mutant(
    "send `rawMetadata` with the POST in the mark's place",
    'src/managed/plan/plan.ts',
    ['[descriptor.identity.markedBy]: marker,', '[descriptor.identity.markedBy]: desired.spec.rawMetadata ?? marker,'],
    kills('full / create'),
  ),
  mutant(
    'reserve no Secret before the POST of a token',
    CREATE,
    ['const reserved = await reserveToken(run, attempt)', 'const reserved = undefined'],
    aToken,
  ),
  mutant(
    'write the status before the Secret',
    CREATE,
    [
      '  await storeToken(run, answer, reserved)\n  return take(run, answer.object, attempt)',
      "  const taken = take(run, answer.object, attempt)\n  await run.store('')\n" +
        '  await storeToken(run, answer, reserved)\n  return taken',
    ],
    aToken,
  ),
  mutant(
    'store no token that another process found the answer to',
    CREATE,
    ['await storeToken(run, step.answer)', ''],
    { suite: 'kubernetes-faults', cases: '(APIKey apikey|TunnelCredential tunnelcredential) / (create|rotate)' },
  ),
  mutant(
    'take an object whose token is lost',
    RESOLVE,
    ['const own = await withItsToken(run, found)', 'const own = found[0]'],
    aToken,
  ),
  mutant(
    'write the token into a status field',
    TOKEN,
    [
      'run.noteInternal({ tokenDigest: tokenFingerprint(run.context.fingerprints, token, id) })',
      'run.noteInternal({ tokenDigest: token })',
    ],
    aToken,
  ),
  mutant(
    'look for a stored token where the spec wants it, and nowhere else',
    'src/managed/outputs/token-recovery.ts',
    ['[...new Set([place.key, ...keysWritten(secret)])]', '[place.key]'],
    { suite: 'edited-meanwhile', cases: '^(APIKey|TunnelCredential) ', isWhole: true },
  ),
  mutant(
    'take what an edge was made with for somebody else’s once its spec names it no more',
    TAKE,
    ['run.cr.spec, {}, attempt.modules)', 'run.cr.spec, {})'],
    { suite: 'edited-meanwhile', cases: '^Edge ', isWhole: true },
  ),
  mutant(
    'take an answer that comes twice for the answer to the next create',
    'src/api/account-cache.ts',
    ['if (this.#answered.has(object.id) || !this.#mayHaveMade(body, object)) {', 'if (object === undefined) {'],
    { suite: 'seeds-1', cases: '', isWhole: true },
  ),
]
