import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Claim, isSameClaim } from '../../../../src/managed/claims/claim.ts'
import {
  type ClaimFacts,
  claimStep,
  type Hold,
  TAKEOVER_MS,
  wantedClaim,
} from '../../../../src/managed/claims/claim-step.ts'

/** The account in Kubernetes. */
interface Stored {
  readonly version: number
  readonly claim: Claim | undefined
  /** The operator that its label names. */
  readonly label: string
}

type Action =
  | { readonly type: 'label'; readonly to: string }
  | {
      readonly type: 'watch' | 'step' | 'poll' | 'progress' | 'crash' | 'start' | 'list' | 'lose answer'
      readonly of: number
    }

const NAMES = ['red', 'blue'] as const
const operators = fc.constantFrom(0, 1)
const labels = fc.constantFrom(...NAMES, 'both', 'both', 'none')
/** Progress is more frequent than trouble, or hardly any account would ever be open. */
const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('progress' as const), of: operators }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom('watch' as const, 'step' as const, 'step' as const, 'list' as const, 'poll' as const),
      of: operators,
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('crash' as const, 'start' as const), of: operators }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('lose answer' as const), of: operators }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('label' as const), to: labels }) },
)

/** One operator with its watch, which may lag behind for as long as it likes. */
class Modelled {
  readonly name: string
  readonly world: World
  claims: boolean = true
  isAlive: boolean = false
  /** What its watch has shown. */
  seen: Stored
  self: Claim
  hold: Hold | undefined
  inherited: Claim | undefined
  listedAt: number = Number.NEGATIVE_INFINITY
  startedAt: number = 0
  losesAnswer: boolean = false
  /** The claim whose operator has been found dead; it may have started again since. */
  deserted: Claim | undefined

  constructor(name: string, world: World) {
    this.name = name
    this.world = world
    this.seen = world.stored
    this.self = { operator: name, term: '' }
    this.start()
  }

  start(): void {
    if (this.isAlive) return
    this.isAlive = true
    this.startedAt = this.world.now()
    this.self = { operator: this.name, term: String(this.startedAt) }
    this.hold = undefined
    this.listedAt = Number.NEGATIVE_INFINITY
    this.seen = this.world.stored
    const { claim } = this.seen
    this.inherited = claim?.operator === this.name ? claim : undefined
  }

  get isOpen(): boolean {
    const isOurs = isSameClaim(this.seen.claim, wantedClaim(this))
    return this.isAlive && isOurs && this.hold?.isOpen === true && this.selects(this.seen)
  }

  selects({ label }: Stored): boolean {
    return label === this.name || label === 'both'
  }

  step(): void {
    if (!this.isAlive) return
    const { self, claims, hold, listedAt, seen } = this
    const facts: ClaimFacts = {
      self,
      claims,
      hold,
      listedAt,
      isSelected: this.selects(seen),
      claim: seen.claim,
      silentMs: seen.claim !== undefined && isSameClaim(seen.claim, this.deserted) ? TAKEOVER_MS : undefined,
    }
    const step = claimStep(facts)
    switch (step) {
      case 'write': {
        const isInherited = seen.claim !== undefined && isSameClaim(seen.claim, this.inherited)
        this.write(wantedClaim(facts), () => {
          this.hold = { listsFrom: isInherited ? Number.NEGATIVE_INFINITY : this.world.now(), isOpen: false }
        })
        break
      }
      case 'hold':
        this.hold = { listsFrom: this.world.now(), isOpen: false }
        break
      case 'open':
        this.hold = { ...(hold as Hold), isOpen: true }
        break
      case 'leave':
        this.hold = undefined
        break
      case 'release':
        if (hold !== undefined) this.hold = undefined
        else this.write(undefined, () => undefined)
        break
      default:
    }
  }

  write(claim: Claim | undefined, taken: () => void): void {
    const isLost = this.losesAnswer
    this.losesAnswer = false
    if (this.seen.version !== this.world.stored.version) return
    this.world.put({ claim })
    if (isLost) return
    taken()
    this.seen = this.world.stored
  }

  /** Reads the Lease of the operator in the claim for long enough. */
  poll(): void {
    const { claim } = this.seen
    const rival = this.world.operators.find(({ name }) => name === claim?.operator)
    if (rival?.isAlive === false) this.deserted = claim
  }

  /** Comes to rest on what it has seen by then. */
  progress(): void {
    this.seen = this.world.stored
    for (let step = 0; step < 4; step++) {
      this.step()
      this.list()
    }
  }

  list(): void {
    if (!this.isAlive) return
    this.listedAt = this.world.now()
  }
}

class World {
  stored: Stored = { version: 0, claim: undefined, label: 'both' }
  readonly operators: Modelled[]
  /** When each operator last worked on the account. */
  readonly worked = new Map<string, number>()
  #time = 0

  constructor() {
    this.operators = NAMES.map((name) => new Modelled(name, this))
  }

  now(): number {
    return ++this.#time
  }

  put(change: Partial<Stored>): void {
    this.stored = { ...this.stored, ...change, version: this.stored.version + 1 }
  }

  act(action: Action): void {
    if (action.type === 'label') {
      this.put({ label: action.to })
      return
    }
    const operator = this.operators[action.of] as Modelled
    switch (action.type) {
      case 'watch':
        if (operator.isAlive) operator.seen = this.stored
        break
      case 'step':
        operator.step()
        break
      case 'progress':
        operator.progress()
        break
      case 'crash':
        operator.isAlive = false
        break
      case 'start':
        operator.start()
        break
      case 'list':
        operator.list()
        break
      case 'poll':
        operator.poll()
        break
      case 'lose answer':
        operator.losesAnswer = true
        break
      default:
    }
    for (const each of this.operators) if (each.isOpen) this.worked.set(each.name, this.now())
  }

  /** Runs without faults until nothing changes any more. */
  settle(): void {
    for (const operator of this.operators) operator.start()
    for (let turn = 0; turn < 40; turn++) {
      for (const operator of this.operators) {
        operator.seen = this.stored
        operator.list()
        operator.step()
      }
    }
  }
}

test('two operators never both work on an account, whatever their watches have not shown them', () => {
  fc.assert(
    fc.property(fc.array(actions, { maxLength: 80, size: 'max' }), (story) => {
      const world = new World()
      for (const action of story) {
        world.act(action)
        expect(world.operators.filter(({ isOpen }) => isOpen).length).toBeLessThanOrEqual(1)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('an operator works on an account only on what it has read since all others stopped', () => {
  fc.assert(
    fc.property(fc.array(actions, { maxLength: 80, size: 'max' }), (story) => {
      const world = new World()
      for (const action of story) {
        world.act(action)
        for (const operator of world.operators) {
          if (!operator.isOpen) continue
          const isInherited = operator.hold?.listsFrom === Number.NEGATIVE_INFINITY
          const since = isInherited ? operator.startedAt : operator.listedAt
          const others = world.operators.filter(({ name }) => name !== operator.name)
          for (const { name } of others) expect(world.worked.get(name) ?? 0).toBeLessThan(since)
        }
      }
    }),
    { numRuns: 2_000 },
  )
})

test('whatever happened, the operator that an account names works on it in the end', () => {
  fc.assert(
    fc.property(
      fc.array(actions, { maxLength: 60, size: 'max' }),
      fc.constantFrom(...NAMES, 'both', 'none'),
      (story, label) => {
        const world = new World()
        for (const action of story) world.act(action)
        world.put({ label })
        world.settle()
        const open = world.operators.filter(({ isOpen }) => isOpen).map(({ name }) => name)
        if (label === 'both') expect(open).toHaveLength(1)
        else expect(open).toEqual(label === 'none' ? [] : [label])
        if (label === 'none') expect(world.stored.claim).toBeUndefined()
      },
    ),
    { numRuns: 1_000 },
  )
})
