import { type Aim, type Mutant, mutant } from './mutant.ts'

const APPLY = 'src/managed/plan/apply.ts'
const FIND_OBJECT = 'src/managed/identity/find-object.ts'
const REPLACE = 'src/managed/plan/replace.ts'
const DELETE = 'src/managed/delete/delete.ts'
const LAST_LOOK = '  refuseWhileReferred(run)\n  run.memory.delete.heldUp = undefined\n  await deleteOwn'
const PROTOCOL = 'src/managed/identity/create-step.ts'
const RULES = 'src/kinds/ip-policy/rules.ts'

const kills = (cases: string): Aim => ({ suite: 'kills', cases })
const interrupted = (cases: string): Aim => ({ suite: 'interrupted', cases })
const looks = interrupted('^(Backend group|IPPolicy policy) / (update|drift)')
const restored: Aim = { suite: 'restored', cases: '' }
const references = (cases: string): Aim => ({ suite: 'references', cases, isWhole: true })
const replacement = kills('^(SSHCredential key|CertificateAuthority ca) / replace')
const rotation = kills('^(APIKey apikey|TunnelCredential tunnelcredential) / rotate')
const rules = kills('^IPPolicy (policy|full) / (create|change of rules)')

/** Defects while an object exists: in updates, replacement, recovery and deletion. */
export const keeping: readonly Mutant[] = [
  mutant(
    'delete the former object before the new one is in place',
    REPLACE,
    ["if (descriptor.replacement?.first === 'delete') {", 'if (descriptor.replacement !== undefined) {'],
    replacement,
  ),
  mutant(
    'delete the former object before the new id is stored',
    'src/managed/plan/retire-former.ts',
    ['  if (run.unstored || unresolvedAttempt(run.cr) !== undefined) return 0\n', ''],
    replacement,
  ),
  mutant(
    'forget the former object',
    'src/managed/identity/take-object.ts',
    ['    run.noteInternal({ superseded: [...superseded.filter((entry) => entry.id !== id), former] })\n', ''],
    replacement,
  ),
  mutant(
    'do not wait for the overlap of two tokens',
    'src/managed/plan/retire-former.ts',
    ['const early = overlapLeft(run, former)', 'const early = 0'],
    rotation,
  ),
  mutant(
    'believe a time that a clock has noted which was ahead',
    'src/util/noted-time.ts',
    ['return noted > now + CLOCK_SKEW_MS ? now : noted', 'return noted'],
    { suite: 'seeds-failed', cases: '' },
  ),
  mutant(
    'keep to looks that a wrong clock has planned',
    'src/managed/accounts/resync.ts',
    ['if (hasCopies || isMistimed) add(cr)', 'if (hasCopies) add(cr)'],
    {
      suite: 'clocks',
      cases: 'SSH(User|Host)Certificate .* / deleted by somebody.*40 days behind',
      isWhole: true,
    },
  ),
  mutant(
    'create no placeholder while a rule is replaced',
    REPLACE,
    ['    await createPlaceholder(run, wanted, former, reason)\n', ''],
    kills('^IPPolicyRule rule / replace'),
  ),
  mutant(
    'leave the placeholder where it was',
    'src/managed/identity/copies.ts',
    ['  await deleteCopies(run, listed)\n', ''],
    kills('^IPPolicyRule rule / replace'),
  ),
  {
    title: 'say Ready of an object in which one field differs',
    file: 'src/managed/plan/plan.ts',
    edits: [['  if (fields.length === 0) return undefined\n', '  if (fields.length <= 1) return undefined\n']],
    isForAll: true,
  },
  mutant(
    'send fields that did not change',
    'src/managed/plan/plan.ts',
    ['return resent || changed.has(field)', 'return resent || changed.size > 0'],
    kills('/ update'),
  ),
  mutant(
    'empty a policy on the way from one set of rules to another',
    RULES,
    [
      '  return emptiesMeanwhile(state.held.length, operations)\n    ? [standIn(state), ...operations]\n    : besideOther(state.held, operations)\n',
      '  return operations\n',
    ],
    rules,
  ),
  mutant(
    'delete rules before adding new ones',
    RULES,
    [
      "  return [\n    ...fresh('deny').flatMap(create),\n",
      "  return [\n    ...going.splice(0).map(remove),\n    ...fresh('deny').flatMap(create),\n",
    ],
    rules,
  ),
  mutant(
    'make rules of a policy before its id is stored',
    APPLY,
    ['  if (run.unstored || intended) {', '  if (intended) {'],
    rules,
  ),
  mutant(
    'make a rule again while another process may still be making it',
    APPLY,
    ['  if (createsChild) await quarantineChildren(run, remote, describeAll(operations))\n', ''],
    interrupted('^IPPolicy (policy|full) / (create|change of rules)'),
  ),
  mutant(
    "let `rawMetadata` take the mark's place without a note",
    APPLY,
    [
      '  if (operations.some((operation) => replacesMarker(descriptor, operation, remote))) await noteOwnership(run, remote.id)\n',
      '',
    ],
    restored,
  ),
  mutant(
    'make a vanished object again after one list',
    'src/managed/identity/lists-needed.ts',
    ['last - counting >= pauseMs ?', 'last >= counting ?'],
    { suite: 'gone', cases: '' },
  ),
  mutant(
    'take an object for gone while reads may lag behind its create',
    'src/managed/identity/lists-needed.ts',
    ['misses.find((at) => at >= notBefore)', 'misses.find((at) => at <= last)'],
    { suite: 'lagging-reads', cases: 'Backend group / create' },
  ),
  mutant(
    'trust a list that misses an object',
    'src/managed/identity/read-object.ts',
    [
      'return cached.object\n  return confirm(run, collection, id)\n',
      'return cached.object\n  return cached?.object\n',
    ],
    looks,
  ),
  mutant(
    'let the finalizer go without the object',
    DELETE,
    ['  else if (deletionNeedsAccount(run) && !isLeft(run)) await removeObject(run)\n', ''],
    kills('^Backend group / '),
  ),
  mutant(
    'let the finalizer go while a create is open',
    DELETE,
    ['const settled = await settleIdentity(run)', 'const settled = statusOf(run.cr).id'],
    interrupted('^(Backend group|SSHCredential key) / create'),
  ),
  mutant(
    'delete only the present object, not those that it replaced',
    DELETE,
    ['new Set([settled, statusOf(run.cr).id, ...former])', 'new Set([settled, statusOf(run.cr).id])'],
    { ...interrupted('/ (rotate|replace)'), isWhole: true },
  ),
  {
    title: 'delete what others still refer to',
    file: DELETE,
    edits: [
      ['  refuseWhileReferred(run)\n  await run', '  await run'],
      ['  await refuseWhileUsed(run, id)\n', ''],
      [LAST_LOOK, '  await deleteOwn'],
    ],
    first: kills('^(IPRestriction restriction|Edge full) / '),
  },
  mutant(
    'delete what others came to refer to while lists were waited for',
    DELETE,
    [LAST_LOOK, '  await deleteOwn'],
    references('IPPolicy / delete'),
  ),
  mutant(
    'make what refers to an object that has been given up since',
    'src/managed/identity/create.ts',
    ['  await confirmTargets(run, wanted, attempt)\n', ''],
    references('IPPolicy / delete'),
  ),
  mutant(
    'delete the last rule of a policy in use',
    DELETE,
    ['await awaitPart(run)', 'await Promise.resolve()'],
    references('IPPolicyRule, the last'),
  ),
  mutant(
    'know dependents of a policy by their names only',
    'src/managed/store/resource-store.ts',
    ['ids.flatMap((id) => this.#findIn(account, id, TARGET_IDS, idText(kind, id)))', '[]'],
    references('IPPolicy / delete'),
  ),
  mutant(
    'delete a rule beside one that somebody has deleted',
    'src/managed/plan/children.ts',
    ['      await confirmBeside(run, collection, operation)\n', ''],
    references('deleted by hand'),
  ),
  mutant(
    'take the rule of an open create for that of somebody else',
    'src/managed/delete/part.ts',
    [' ?? bearerOf(context, object, cr.kind)', ''],
    references('create.* unanswered'),
  ),
  mutant(
    'forget what requests under way name',
    'src/managed/identity/ids-in-flight.ts',
    ['return isOpen ? undefined : Math.max(since, flights.settledAt)', 'return since'],
    references('another namespace by id comes'),
  ),
  mutant(
    'write to an object that another resource notes as its own',
    'src/managed/identity/taken-over.ts',
    ["return counts ? { type: 'noted', holder } : undefined", 'return undefined'],
    { suite: 'restored', cases: 'statuses', isWhole: true },
  ),
  mutant(
    'delete an object that another cluster has taken',
    DELETE,
    ['  if (await isTakenLive(run, id)) return\n', ''],
    restored,
  ),
  mutant(
    'write to an object that another cluster has taken',
    FIND_OBJECT,
    ['if (object !== undefined) return refuseTaken(run, object)', 'if (object !== undefined) return object'],
    restored,
  ),
  mutant(
    'take an object of another installation',
    PROTOCOL,
    [
      'return marker.installation === installation && isNamesake(marker, cr) && marker.nonce !== PLACEHOLDER_NONCE',
      'return isNamesake(marker, cr) && marker.nonce !== PLACEHOLDER_NONCE',
    ],
    restored,
  ),
  mutant(
    'take any object with our mark',
    PROTOCOL,
    [
      'return marker.installation === installation && isNamesake(marker, cr) && marker.nonce !== PLACEHOLDER_NONCE',
      'return marker.installation === installation && marker.kind === cr.kind',
    ],
    restored,
  ),
  mutant(
    'take an object that another resource holds',
    'src/managed/identity/recovery.ts',
    ['candidates.filter(({ id }) => context.resources.holderOf(key, id) === undefined)', 'candidates'],
    { ...restored, cases: 'renamed with its status' },
  ),
  mutant(
    'find nothing of a former life',
    'src/managed/identity/recovery.ts',
    [
      'const own = (await withItsToken(run, [...free].reverse())) ?? free.at(-1)',
      'const own = free.find(({ id }) => id === undefined)',
    ],
    restored,
  ),
  mutant(
    'trust a copied annotation',
    PROTOCOL,
    [
      'if (note === undefined || note.namespace !== namespace || note.name !== name) return',
      'if (note === undefined) return',
    ],
    restored,
  ),
  mutant(
    'trust the note of a former life',
    PROTOCOL,
    ['const own = note.uid === cr.metadata.uid && isSealed(note, seal)', 'const own = isSealed(note, seal)'],
    { ...restored, isWhole: true },
  ),
  mutant(
    'believe a swapped key',
    'src/managed/accounts/identity-doubt.ts',
    ['  if (confirmed) return undefined\n', '  if (confirmed || changed || noneFound) return undefined\n'],
    restored,
  ),
  mutant(
    'work on what bears the mark of another resource',
    'src/managed/identity/taken-over.ts',
    ["return { type: 'neighbour', marker }", 'return undefined'],
    { suite: 'restored', cases: 'statuses', isWhole: true },
  ),
]
