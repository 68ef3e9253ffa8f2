import { type Aim, type Mutant, mutant } from './mutant.ts'

const heldTwice: Aim = { suite: 'adoption', cases: 'in both statuses' }
const rivals: Aim = { suite: 'adoption', cases: 'adopted twice' }
const overlap: Aim = { suite: 'old-manifests', cases: 'during the overlap' }
const commands: Aim = { suite: 'sessions', cases: 'Restart of all.*SIGKILL', isWhole: true }

/** Defects where resources name one object, where old manifests come back, and in commands. */
export const sharing: readonly Mutant[] = [
  mutant(
    'take the attempt of what was replaced for an open one',
    'src/managed/cr.ts',
    [
      'return create?.nonce === nonce || superseded.some((former) => former.nonce === nonce)',
      'return create?.nonce === nonce',
    ],
    overlap,
  ),
  mutant(
    'leave the attempt of what was replaced in the annotations',
    'src/managed/identity/create.ts',
    [
      'attempt === undefined || attempt.nonce === internalOf(run.cr).create?.nonce) return',
      'attempt === undefined || internalOf(run.cr).superseded !== undefined) return',
    ],
    { suite: 'old-manifests', cases: '(APIKey|TunnelCredential).* / rotate', isWhole: true },
  ),
  mutant(
    'do not ask whose an object without a mark is',
    'src/managed/identity/taken-over.ts',
    ["return isOurs ? undefined : { type: 'rival', holder }", 'return undefined'],
    heldTwice,
  ),
  mutant(
    'note an object without a claim',
    'src/managed/identity/adopt.ts',
    ['  refuseHeld(run, id, context.resources.claim(session.key, id, cr))\n', ''],
    rivals,
  ),
  mutant('keep a claim for ever', 'src/managed/reconcile/reconciler.ts', ['this.#context.resources.unclaim(cr)', ''], {
    suite: 'adoption',
    cases: 'adopted by another',
  }),
  mutant(
    'let the resource that was asked about last have the object',
    'src/managed/identity/holder.ts',
    ['return first === undefined || goesBefore(next, first) ? next : first', 'return next'],
    heldTwice,
  ),
  mutant(
    'send a command again whose answer was lost',
    'src/managed/commands/progress.ts',
    ["?? { state: 'Unknown', message: LOST }", "?? { state: 'Pending', message: LOST }"],
    commands,
  ),
]
