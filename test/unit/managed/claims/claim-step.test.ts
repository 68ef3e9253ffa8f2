import { describe, expect, test } from 'vitest'
import {
  type ClaimFacts,
  type ClaimStep,
  claimStep,
  TAKEOVER_MS,
  wantedClaim,
} from '../../../../src/managed/claims/claim-step.ts'

const NEVER = Number.NEGATIVE_INFINITY
const self = { operator: 'culvert-system/red', term: 'now' }
const earlier = { ...self, term: 'before' }
const other = { operator: 'culvert-system/blue', term: 'now' }
const facts: ClaimFacts = {
  self,
  claims: true,
  isSelected: true,
  claim: undefined,
  hold: undefined,
  listedAt: NEVER,
  silentMs: undefined,
}
const open = { listsFrom: NEVER, isOpen: true }
const waiting = { listsFrom: 100, isOpen: false }

function decide(changes: Partial<ClaimFacts>): ClaimStep {
  return claimStep({ ...facts, ...changes })
}

describe('an operator with a selector', () => {
  test.each<[title: string, Partial<ClaimFacts>, ClaimStep]>([
    ['claims a selected account that nobody works on', {}, 'write'],
    ['leaves an unselected account alone', { isSelected: false }, 'rest'],
    ['rewrites the claim of its earlier term before anything else', { claim: earlier }, 'write'],
    [
      'removes the claim of its earlier term from an account that it no longer selects',
      { claim: earlier, isSelected: false },
      'release',
    ],
    ['notes a claim of its own whose answer was lost', { claim: self }, 'hold'],
    ['lists everything before it opens an account', { claim: self, hold: waiting }, 'list'],
    ['lists again if the lists began too early', { claim: self, hold: waiting, listedAt: 99 }, 'list'],
    ['opens an account once everything is listed', { claim: self, hold: waiting, listedAt: 100 }, 'open'],
    [
      'opens an account at once on which nobody else has worked',
      { claim: self, hold: { ...open, isOpen: false } },
      'open',
    ],
    ['rests while it works on an account', { claim: self, hold: open }, 'rest'],
    ['gives up an account that it no longer selects', { claim: self, hold: open, isSelected: false }, 'release'],
    ['gives up an account before it is open', { claim: self, hold: waiting, isSelected: false }, 'release'],
    ['removes its claim once it has given up', { claim: self, isSelected: false }, 'release'],
    ['stops if its claim was removed', { hold: open }, 'leave'],
    ['stops if its claim was removed, selected or not', { hold: open, isSelected: false }, 'leave'],
    ['stops if another operator has its claim', { claim: other, hold: open }, 'leave'],
    ['stops if its claim became that of an earlier term', { claim: earlier, hold: open }, 'leave'],
    ['defers to another operator', { claim: other }, 'defer'],
    ['defers while the Lease of the other may still be held', { claim: other, silentMs: TAKEOVER_MS - 1 }, 'defer'],
    ['takes over from an operator that is dead', { claim: other, silentMs: TAKEOVER_MS }, 'write'],
    ['takes nothing over that it does not select', { claim: other, silentMs: TAKEOVER_MS, isSelected: false }, 'rest'],
  ])('%s', (_title, changes, step) => {
    expect(decide(changes)).toBe(step)
  })
})

describe('an operator without selectors', () => {
  const without = { claims: false }

  test.each<[title: string, Partial<ClaimFacts>, ClaimStep]>([
    ['works on an account without a claim', { hold: open }, 'rest'],
    ['stops when another operator claims an account', { claim: other, hold: open }, 'leave'],
    ['defers to another operator', { claim: other }, 'defer'],
    ['removes the claim of a dead operator', { claim: other, silentMs: TAKEOVER_MS }, 'write'],
    ['removes a claim from when it had a selector', { claim: earlier }, 'write'],
    ['lists everything after another operator has given up an account', { hold: undefined }, 'hold'],
    ['lists everything before it opens such an account', { hold: waiting }, 'list'],
    ['opens it afterwards', { hold: waiting, listedAt: 100 }, 'open'],
  ])('%s', (_title, changes, step) => {
    expect(decide({ ...without, ...changes })).toBe(step)
  })

  test('writes no claim', () => {
    expect(wantedClaim({ self, claims: false })).toBeUndefined()
    expect(wantedClaim({ self, claims: true })).toBe(self)
  })
})
