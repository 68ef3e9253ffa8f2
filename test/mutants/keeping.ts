import { AccountCache } from '../../src/api/account-cache.ts'
import { planRules } from '../../src/kinds/ip-policy/rules.ts'
import { deletionNeedsAccount } from '../../src/managed/delete/delete.ts'
import { markerOf } from '../../src/managed/markers/marker.ts'
import { namesakeKey } from '../../src/managed/markers/object-keys.ts'
import { recoverable } from '../../src/managed/markers/own-objects.ts'
import { parseOwnership, recordedOwnership } from '../../src/managed/markers/sealed-note.ts'
import { REMOTE_ID } from '../../src/managed/names.ts'
import { planUpdate } from '../../src/managed/plan/plan.ts'
import { dependentsOf, referringDependents } from '../../src/managed/references/dependents.ts'
import { overlapLeft } from '../../src/managed/rotation/rotation.ts'
import { LeaderElection } from '../../src/runtime/leader-election.ts'
import { AT_REST } from './at-rest.ts'
import { type Aim, type Mutant, replaced, replacedMethod } from './seam.ts'

const kills = (cases: string): Aim => ({ suite: 'kills', cases })
const restored = (cases = ''): Aim => ({ suite: 'restored', cases })

/** Processes that once led, for the mutant below. */
const led = new WeakSet<LeaderElection>()

/** Defects while an object exists: in updates, replacement, recovery and deletion. */
export const keeping: readonly Mutant[] = [
  {
    title: 'say Ready of an object in which one field differs',
    seams: [
      replaced(planUpdate, (original) => (...args) => {
        const update = original(...args)
        return update?.fields.length === 1 ? undefined : update
      }),
    ],
    killers: AT_REST,
  },
  {
    title: 'delete rules before others are added, and put nothing in their place',
    seams: [
      replaced(planRules, (original) => (state) => {
        const kept = original(state).filter((each) => each.type !== 'create' || each.placeholder === undefined)
        return [...kept.filter(({ type }) => type === 'delete'), ...kept.filter(({ type }) => type !== 'delete')]
      }),
    ],
    killers: [kills('^IPPolicy (policy|full) / (create|change of rules)'), { suite: 'rule-edits' }],
  },
  {
    title: 'take a 404 for a deletion',
    seams: [
      replacedMethod(AccountCache, 'delete', (original) => {
        return async function (this: AccountCache, ...args) {
          await original.apply(this, args)
          return 'deleted'
        }
      }),
    ],
    killers: [{ suite: 'gone', cases: '' }],
  },
  {
    title: 'let the finalizer go without the object',
    seams: [replaced(deletionNeedsAccount, () => () => false)],
    killers: [kills('^Backend group / ')],
  },
  {
    title: 'delete what others still refer to',
    seams: [replaced(referringDependents, () => () => []), replaced(dependentsOf, () => async () => [])],
    killers: [kills('^(IPRestriction restriction|Edge full) / ')],
  },
  {
    title: 'do not wait for the overlap of two tokens',
    seams: [replaced(overlapLeft, () => () => 0)],
    killers: [kills('^(APIKey apikey|TunnelCredential tunnelcredential) / rotate')],
  },
  {
    title: 'take any object with our marker after a restore',
    seams: [
      replaced(
        namesakeKey,
        () =>
          ({ kind }) =>
            kind,
      ),
      replaced(recoverable, () => (objects, { kind }, installation) => {
        return [...objects].filter((object) => {
          const marker = markerOf(object)
          return marker?.installation === installation && marker.kind === kind
        })
      }),
    ],
    killers: [restored()],
  },
  {
    title: 'trust a copied annotation',
    seams: [
      replaced(recordedOwnership, () => (cr) => {
        const note = parseOwnership(cr.metadata.annotations?.[REMOTE_ID])
        return note === undefined ? { type: 'none' } : { type: 'own', id: note.id }
      }),
    ],
    killers: [restored('^(IPPolicy|Edge) full .*without status .*annotations swapped')],
  },
  {
    title: 'lead for ever once the Lease was taken',
    seams: [
      replacedMethod(LeaderElection, 'isLeader', (original) => {
        return function (this: LeaderElection) {
          if (original.call(this)) led.add(this)
          return led.has(this)
        }
      }),
    ],
    killers: [{ suite: 'paused-leader', cases: '' }],
  },
]
